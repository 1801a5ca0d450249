"""The captures of a path: the hosts that were profiled together, and what their files hold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING

from stepscope.errors import SourceError
from stepscope.model.diagnostic import Diagnostic
from stepscope.sources.format import Progress
from stepscope.sources.xplane.collectives import HostTrace
from stepscope.sources.xplane.cores import CoreTrace, core_id, read_core
from stepscope.sources.xplane.file import METADATA_PLANE, SpaceReader
from stepscope.sources.xplane.folders import Session, host_of
from stepscope.sources.xplane.hlo import Program
from stepscope.sources.xplane.plane import PlaneView
from stepscope.sources.xplane.transfers import (
    HOST_PLANE,
    TRACE_PLANE,
    TransferRows,
    read_transfers,
    together,
)

if TYPE_CHECKING:
    from stepscope.sources.xplane.lanes import PlaneLanes
    from stepscope.sources.xplane.ops import ProgramOps

_TASK_PLANE = "Task Environment"
_HLO_STATS = ("Hlo Proto", "HLO Proto", "hlo_proto")


class Lanes(Enum):
    """When the lanes of a file, which only profiles need, are read."""

    NEVER = "never"
    AT_ONCE = "at once"
    LATER = "later"


@dataclass
class Host:
    """One host's part of a capture.

    Attributes:
        trace: The collectives of the host.
        started_ns: When the profiler started, Unix ns; 0 when unknown.
        stopped_ns: When the profiler stopped, Unix ns; 0 when unknown.
    """

    trace: HostTrace
    started_ns: int = 0
    stopped_ns: int = 0
    _planes: list[PlaneView] = field(default_factory=list)
    _lanes: list[PlaneLanes] = field(default_factory=list)

    def add(self, view: PlaneView) -> None:
        """Keeps a plane whose lanes are read later."""
        self._planes.append(view)

    def program_ops(self) -> Mapping[int, ProgramOps]:
        """The instructions of the host's programs, by unsigned program id."""
        # Imported here, as the table of collectives shall not wait for it.
        from stepscope.sources.xplane.ops import ProgramOps

        return {key: ProgramOps(program) for key, program in self.trace.programs.items()}

    def lanes(self, programs: Mapping[int, ProgramOps]) -> list[PlaneLanes]:
        """The lanes of the host's planes, with those that wait being read now."""
        from stepscope.sources.xplane.lanes import read_lanes

        while self._planes:
            self._lanes.append(read_lanes(self._planes.pop(0), programs))
        return [plane for plane in self._lanes if plane.lanes]


@dataclass
class Capture:
    """The hosts that were profiled together."""

    session: Session
    hosts: list[Host]
    losses: list[Diagnostic]


def read_captures(
    sessions: Sequence[Session], lanes: Lanes, progress: Progress | None = None
) -> list[Capture]:
    """Reads sessions, and joins those that are the hosts of one capture.

    Raises:
        SourceError: No file can be read.
    """
    captures: list[Capture] = []
    failures: list[SourceError] = []
    for session in sessions:
        capture = Capture(session, hosts=[], losses=list(session.losses))
        for file in session.files:
            try:
                capture.hosts.append(_read_host(file, lanes, progress))
            except SourceError as error:
                failures.append(error)
                where = error.where or file.name
                capture.losses.append(Diagnostic(where, error.found, 0, error.remedy))
        if session.follows and captures and _is_one_job(captures[-1].hosts, capture.hosts):
            captures[-1].hosts += capture.hosts
            captures[-1].losses += capture.losses
        else:
            captures.append(capture)
    if failures and not any(capture.hosts for capture in captures):
        raise failures[0]
    return captures


def _read_host(path: Path, lanes: Lanes, progress: Progress | None) -> Host:
    reader = SpaceReader(path, progress)
    cores: list[CoreTrace] = []
    programs: dict[int, Program] = {}
    trace = HostTrace(
        name=host_of(path),
        source=path.name,
        seen=False,
        cores=cores,
        programs=programs,
        transfers=TransferRows(),
        losses=reader.losses,
    )
    host = Host(trace)
    ops: Mapping[int, ProgramOps] = {}
    for plane in reader.planes():
        view = PlaneView(plane)
        trace.seen = True
        number = core_id(view.name)
        if number is not None:
            cores.append(read_core(view, number))
        elif plane.name == METADATA_PLANE:
            programs.update(_programs(view))
            if lanes is Lanes.AT_ONCE:
                ops = host.program_ops()
        elif view.name in (HOST_PLANE, TRACE_PLANE):
            trace.transfers = together(trace.transfers, read_transfers(view))
        elif view.name == _TASK_PLANE:
            host.started_ns, host.stopped_ns = _session_ns(view)
        if lanes is not Lanes.NEVER:
            host.add(view)
        if lanes is Lanes.AT_ONCE:
            # One plane at a time, so that memory holds one plane and not the file.
            host.lanes(ops)
    damaged = sum(core.damaged for core in cores)
    if damaged:
        what = f"{damaged:,} events are damaged"
        reader.losses.append(Diagnostic(path.name, what, damaged, "Profile again"))
    return host


def _is_one_job(some: Sequence[Host], others: Sequence[Host]) -> bool:
    """Whether nothing says that hosts were profiled for different jobs or at different times.

    Hosts of one job run the same programs, and their profilers run at the same time.
    """
    some_programs = _program_names(some)
    other_programs = _program_names(others)
    if some_programs and other_programs and some_programs.isdisjoint(other_programs):
        return False
    for host in some:
        for other in others:
            are_known = host.stopped_ns and other.stopped_ns
            if are_known and not _overlap(host, other):
                return False
    return True


def _overlap(host: Host, other: Host) -> bool:
    return host.started_ns <= other.stopped_ns and other.started_ns <= host.stopped_ns


def _program_names(hosts: Sequence[Host]) -> set[str]:
    names: set[str] = set()
    for host in hosts:
        for core in host.trace.cores:
            names.update(core.programs)
    return names


def _session_ns(view: PlaneView) -> tuple[int, int]:
    """When the profiler started and stopped, Unix ns; 0 where the plane does not say."""
    stats = view.stats(view.plane.stats)
    return _time_ns(stats.get("profile_start_time")), _time_ns(stats.get("profile_stop_time"))


def _time_ns(value: object) -> int:
    return value if isinstance(value, int) and 0 < value < 2**63 else 0


def _programs(view: PlaneView) -> dict[int, Program]:
    """The programs of a metadata plane, by unsigned program id."""
    programs: dict[int, Program] = {}
    for key, metadata in view.plane.event_metadata.items():
        stats = view.stats(metadata.stats)
        body = next((stats[name] for name in _HLO_STATS if name in stats), None)
        program = Program.parse(body) if isinstance(body, bytes) else None
        if program is None:
            continue
        program_id = stats.get("program_id", key)
        if not isinstance(program_id, int):
            program_id = key
        programs[program_id % (1 << 64)] = program
    return programs

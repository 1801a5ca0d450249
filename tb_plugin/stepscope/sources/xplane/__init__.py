"""XPlane profiles of XLA, JAX, TensorFlow and PyTorch/XLA: a file, a profile folder, or a log directory.

`<log directory>/plugins/profile/<time>/<host>.xplane.pb` is how the profilers write them; every host writes a file, in
one folder or each in one of its own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from stepscope.errors import SourceError
from stepscope.model.collectives import Collectives
from stepscope.model.columns import Header
from stepscope.model.diagnostic import Diagnostic
from stepscope.model.wire import WireError, field_at
from stepscope.sources.format import Format, Imported, NamedRecord, Progress
from stepscope.sources.xplane.collectives import HostTrace, collectives_of
from stepscope.sources.xplane.cores import CoreTrace, core_id, read_core
from stepscope.sources.xplane.file import METADATA_PLANE, SpaceReader, plane_name
from stepscope.sources.xplane.folders import (
    RECORD_NAME,
    Session,
    group_files,
    host_of,
    is_profile_name,
    run_of,
    session_of_files,
    sessions_of,
)
from stepscope.sources.xplane.hlo import Program
from stepscope.sources.xplane.plane import PlaneView
from stepscope.sources.xplane.rates import rates_of
from stepscope.sources.xplane.transfers import HOST_PLANE, TRACE_PLANE, TransferRows, read_transfers, together

if TYPE_CHECKING:
    from stepscope.model.profile import Profile
    from stepscope.sources.xplane.lanes import PlaneLanes
    from stepscope.sources.xplane.ops import ProgramOps

_TASK_PLANE = "Task Environment"
_EPOCH_LIKE_NS = 10**18
_HLO_STATS = ("Hlo Proto", "HLO Proto", "hlo_proto")


def recognise(path: Path, head: bytes) -> bool:
    """Whether a path holds XPlane profiles: a folder with such files, or a file that starts with a plane."""
    if path.is_dir():
        return bool(sessions_of(path))
    return _starts_with_a_plane(head) or (is_profile_name(path) and (not head or head[:1] == b"\n"))


def read(path: Path, progress: Progress | None = None) -> Imported:
    """Reads the profiles of a path.

    Each capture gives the collectives over its hosts, and for each host its profile and the rate of
    the steps that the profiler saw.

    Raises:
        SourceError: No file can be read.
    """
    captures = _captures(sessions_of(path), progress, profiles=True)
    return Imported(tuple(_records(captures)), run_of(path))


def read_group(files: Sequence[Path], progress: Progress | None = None) -> Imported:
    """Reads the files of the hosts of one capture. Raises what `read` raises."""
    session = session_of_files(files)
    captures = _captures([session], progress, profiles=True)
    return Imported(tuple(_records(captures)), session.run)


def read_collectives(path: Path) -> list[Collectives]:
    """Only the collectives of a path's profiles, one record per capture; faster than `read`.

    Raises:
        SourceError: No file can be read.
    """
    captures = _captures(sessions_of(path), None, profiles=False)
    return [_collectives(capture) for capture in captures]


@dataclass(frozen=True)
class _Host:
    """One host's part of a capture.

    Attributes:
        started_ns: When the profiler started, Unix ns; 0 when unknown.
        stopped_ns: When the profiler stopped, Unix ns; 0 when unknown.
    """

    trace: HostTrace
    lanes: tuple[PlaneLanes, ...]
    programs: Mapping[int, ProgramOps]
    started_ns: int
    stopped_ns: int


@dataclass
class _Capture:
    """The hosts that were profiled together."""

    session: Session
    hosts: list[_Host]
    losses: list[Diagnostic]


def _captures(sessions: Sequence[Session], progress: Progress | None, *, profiles: bool) -> list[_Capture]:
    """Reads sessions, and joins those that are the hosts of one capture.

    Raises:
        SourceError: No file can be read.
    """
    captures: list[_Capture] = []
    failures: list[SourceError] = []
    for session in sessions:
        losses = list(session.losses)
        hosts: list[_Host] = []
        for file in session.files:
            try:
                hosts.append(_read_host(file, progress, profiles))
            except SourceError as error:
                failures.append(error)
                losses.append(Diagnostic(error.where or file.name, error.found, 0, error.remedy))
        if session.follows and captures and _is_one_job(captures[-1].hosts, hosts):
            captures[-1].hosts += hosts
            captures[-1].losses += losses
        else:
            captures.append(_Capture(session, hosts, losses))
    if failures and not any(capture.hosts for capture in captures):
        raise failures[0]
    return captures


def _is_one_job(some: Sequence[_Host], others: Sequence[_Host]) -> bool:
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


def _overlap(host: _Host, other: _Host) -> bool:
    return host.started_ns <= other.stopped_ns and other.started_ns <= host.stopped_ns


def _program_names(hosts: Sequence[_Host]) -> set[str]:
    names: set[str] = set()
    for host in hosts:
        for core in host.trace.cores:
            names.update(core.programs)
    return names


def _records(captures: Sequence[_Capture]) -> Iterator[NamedRecord]:
    """The records of captures. Where a run has several captures, names tell them apart."""
    captures_in = Counter(capture.session.run for capture in captures)
    for capture in captures:
        run = capture.session.run
        name = RECORD_NAME
        if captures_in[run] > 1:
            name = f"{RECORD_NAME} {capture.session.name}"
        yield NamedRecord(name, _collectives(capture), run=run)
        for host in capture.hosts:
            if not host.lanes:
                continue
            host_name = name
            if len(capture.hosts) > 1:
                host_name = name.replace(RECORD_NAME, host.trace.name, 1)
            profile = _profile(host, run)
            yield NamedRecord(host_name, profile, run=run)
            rates = rates_of(profile)
            if rates is not None:
                yield NamedRecord(host_name, rates, run=run)


def _collectives(capture: _Capture) -> Collectives:
    traces = [host.trace for host in capture.hosts]
    return collectives_of(traces, capture.session.run, capture.losses)


def _read_host(path: Path, progress: Progress | None, profiles: bool) -> _Host:
    reader = SpaceReader(path, progress)
    cores: list[CoreTrace] = []
    lanes: list[PlaneLanes] = []
    programs: dict[int, Program] = {}
    ops: dict[int, ProgramOps] = {}
    transfers, seen, session_ns = TransferRows(), False, (0, 0)
    for plane in reader.planes():
        view, seen = PlaneView(plane), True
        number = core_id(view.name)
        if number is not None:
            cores.append(read_core(view, number))
        elif plane.name == METADATA_PLANE:
            programs.update(_programs(view))
            ops = _program_ops(programs) if profiles else ops
        elif view.name in (HOST_PLANE, TRACE_PLANE):
            transfers = together(transfers, read_transfers(view))
        elif view.name == _TASK_PLANE:
            session_ns = _session_ns(view)
        if profiles:
            lanes.append(_lanes(view, ops))
    damaged = sum(core.damaged for core in cores)
    if damaged:
        reader.losses.append(Diagnostic(path.name, f"{damaged:,} events are damaged", damaged, "Profile again"))
    trace = HostTrace(host_of(path), path.name, seen, cores, programs, transfers, reader.losses)
    return _Host(
        trace=trace,
        lanes=tuple(plane for plane in lanes if plane.lanes),
        programs=ops,
        started_ns=session_ns[0],
        stopped_ns=session_ns[1],
    )


# What only profiles need is imported when they are asked for: the table of collectives shall not wait for it.
def _program_ops(programs: Mapping[int, Program]) -> dict[int, ProgramOps]:
    from stepscope.sources.xplane.ops import ProgramOps

    return {key: ProgramOps(program) for key, program in programs.items()}


def _lanes(view: PlaneView, programs: Mapping[int, ProgramOps]) -> PlaneLanes:
    from stepscope.sources.xplane.lanes import read_lanes

    return read_lanes(view, programs)


def _profile(host: _Host, run: str) -> Profile:
    from stepscope.sources.xplane.profile import ProfileBuilder

    builder = ProfileBuilder(host.lanes, host.programs)
    trace = host.trace
    header = Header(
        run=run,
        host=trace.name,
        producer="XPlane",
        wall_anchor_ns=_wall_ns(builder.base_ns, host.started_ns),
        losses=(*trace.losses, *builder.losses),
        source=trace.source,
    )
    return builder.build(header)


def _wall_ns(base_ns: int, started_ns: int) -> int:
    """Unix time of a base: time stamps count from the epoch, or from the start of the profile where that is known."""
    if base_ns >= _EPOCH_LIKE_NS:
        return base_ns
    return started_ns + base_ns if started_ns else 0


def _session_ns(view: PlaneView) -> tuple[int, int]:
    """When the profiler started and stopped, Unix ns; 0 where the plane does not say."""
    stats = view.stats(view.plane.stats)
    return _time_ns(stats.get("profile_start_time")), _time_ns(stats.get("profile_stop_time"))


def _time_ns(value: object) -> int:
    return value if isinstance(value, int) and 0 < value < 2**63 else 0


def _programs(view: PlaneView) -> dict[int, Program]:
    """The programs of a metadata plane, by unsigned program id."""
    programs = {}
    for key, metadata in view.plane.event_metadata.items():
        stats = view.stats(metadata.stats)
        body = next((stats[name] for name in _HLO_STATS if name in stats), None)
        program = Program.parse(body) if isinstance(body, bytes) else None
        if program:
            given = stats.get("program_id", key)
            programs[(given if isinstance(given, int) else key) % (1 << 64)] = program
    return programs


def _starts_with_a_plane(head: bytes) -> bool:
    """Whether the first field of a file is a plane, whose name stands at its beginning."""
    try:
        number, start, _ = field_at(head, 0)
    except WireError:
        return False
    name = plane_name(head, start) if number == 1 else b""
    return name.startswith((b"/host:", b"/device:")) or name == b"Task Environment"


FORMAT = Format(
    name="xplane",
    title="XPlane profiles of JAX, TensorFlow 2, PyTorch/XLA and XProf (*.xplane.pb, plugins/profile)",
    recognise=recognise,
    read=read,
    group=group_files,
    read_group=read_group,
)

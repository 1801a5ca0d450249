"""XPlane profiles of XLA, JAX, TensorFlow and PyTorch/XLA: a file, a profile folder, or a log directory.

`<log directory>/plugins/profile/<time>/<host>.xplane.pb` is how the profilers write them; every host writes a file, in
one folder or each in one of its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from stepscope.errors import SourceError
from stepscope.model.collectives import Collectives
from stepscope.model.columns import Header
from stepscope.model.diagnostic import Diagnostic
from stepscope.sources.format import Format, Imported, NamedRecord, Progress
from stepscope.sources.xplane.collectives import HostTrace, collectives_of
from stepscope.sources.xplane.cores import CoreTrace, core_id, read_core
from stepscope.sources.xplane.file import METADATA_PLANE, SpaceReader, plane_name, read_field
from stepscope.sources.xplane.folders import Session, host_of, is_profile_name, run_of, sessions_of
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
    """Reads the profiles of a path: per session the collectives over its hosts, and for each host its profile and the
    rate of the steps that the profiler saw.

    Raises:
        SourceError: Nothing can be read.
    """
    run, records = run_of(path), []
    for session in sessions_of(path):
        hosts, losses = _read_hosts(session, progress, profiles=True)
        records.append(NamedRecord("xplane", collectives_of([host.trace for host in hosts], run, losses)))
        for host in hosts:
            if host.lanes:
                name = "xplane" if len(hosts) == 1 else host.trace.name
                profile = _profile(host, run)
                records.append(NamedRecord(name, profile))
                rates = rates_of(profile)
                if rates is not None:
                    records.append(NamedRecord(name, rates))
    return Imported(tuple(records), run)


def read_collectives(path: Path) -> list[Collectives]:
    """Only the collectives of a path's profiles, one record per session; faster than all of it.

    Raises:
        SourceError: Nothing can be read.
    """
    found = [_read_hosts(session, None, profiles=False) for session in sessions_of(path)]
    return [collectives_of([host.trace for host in hosts], run_of(path), losses) for hosts, losses in found]


@dataclass(frozen=True)
class _Host:
    trace: HostTrace
    lanes: tuple[PlaneLanes, ...]
    programs: Mapping[int, ProgramOps]
    started_ns: int


def _read_hosts(session: Session, progress: Progress | None, *, profiles: bool) -> tuple[list[_Host], list[Diagnostic]]:
    hosts, losses, failures = [], list(session.losses), []
    for path in session.files:
        try:
            hosts.append(_read_host(path, progress, profiles))
        except SourceError as error:
            failures.append(error)
            losses.append(Diagnostic(error.where or path.name, error.found, 0, error.remedy))
    if failures and not hosts:
        raise failures[0]
    return hosts, losses


def _read_host(path: Path, progress: Progress | None, profiles: bool) -> _Host:
    reader = SpaceReader(path, progress)
    cores: list[CoreTrace] = []
    lanes: list[PlaneLanes] = []
    programs: dict[int, Program] = {}
    ops: dict[int, ProgramOps] = {}
    transfers, seen, started_ns = TransferRows(), False, 0
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
            started_ns = _started_ns(view)
        if profiles:
            lanes.append(_lanes(view, ops))
    damaged = sum(core.damaged for core in cores)
    if damaged:
        reader.losses.append(Diagnostic(path.name, f"{damaged:,} events are damaged", damaged, "Profile again"))
    trace = HostTrace(host_of(path), path.name, seen, cores, programs, transfers, reader.losses)
    return _Host(trace, tuple(found for found in lanes if found.lanes), ops, started_ns)


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
        losses=tuple(trace.losses),
        source=trace.source,
    )
    return builder.build(header)


def _wall_ns(base_ns: int, started_ns: int) -> int:
    """Unix time of a base: time stamps count from the epoch, or from the start of the profile where that is known."""
    if base_ns >= _EPOCH_LIKE_NS:
        return base_ns
    return started_ns + base_ns if started_ns else 0


def _started_ns(view: PlaneView) -> int:
    start = view.stats(view.plane.stats).get("profile_start_time", 0)
    return start if isinstance(start, int) and 0 < start < 2**63 else 0


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
        number, start, _ = read_field(head, 0)
    except ValueError:
        return False
    name = plane_name(head, start) if number == 1 else b""
    return name.startswith((b"/host:", b"/device:")) or name == b"Task Environment"


FORMAT = Format(
    "xplane",
    "XPlane profiles of JAX, TensorFlow 2, PyTorch/XLA and XProf (*.xplane.pb, plugins/profile)",
    recognise,
    read,
)

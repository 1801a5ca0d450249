"""XPlane profiles of XLA, JAX, TensorFlow and PyTorch/XLA: a file, a profile folder, or a log directory.

`<log directory>/plugins/profile/<time>/<host>.xplane.pb` is how the profilers write them; every host writes a file, in
one folder or each in one of its own.
"""

from __future__ import annotations

from pathlib import Path

from stepscope.errors import SourceError
from stepscope.model.collectives import Collectives
from stepscope.model.columns import Loss
from stepscope.sources.format import Format, Imported, NamedRecord, Progress
from stepscope.sources.xplane_collectives import HostTrace, collectives_of
from stepscope.sources.xplane_cores import core_id, read_core
from stepscope.sources.xplane_file import SpaceReader, read_field
from stepscope.sources.xplane_folders import Session, host_of, is_profile_name, run_of, sessions_of
from stepscope.sources.xplane_hlo import Program
from stepscope.sources.xplane_plane import PlaneView
from stepscope.sources.xplane_transfers import HOST_PLANE, TransferRows, read_transfers

METADATA_PLANE = "/host:metadata"
_HLO_STATS = ("Hlo Proto", "HLO Proto", "hlo_proto")


def recognise(path: Path, head: bytes) -> bool:
    """Whether a path holds XPlane profiles: a folder with such files, or a file that starts with a plane."""
    if path.is_dir():
        return bool(sessions_of(path))
    return _starts_with_a_plane(head) or (is_profile_name(path) and (not head or head[:1] == b"\n"))


def read(path: Path, progress: Progress | None = None) -> Imported:
    """Reads the profiles of a path.

    Raises:
        SourceError: Nothing can be read.
    """
    records = tuple(
        NamedRecord(session.name, _collectives(session, run_of(path), progress)) for session in sessions_of(path)
    )
    return Imported(records, run_of(path))


def read_collectives(path: Path) -> list[Collectives]:
    """Only the collectives of a path's profiles, one record per profiling session.

    Raises:
        SourceError: Nothing can be read.
    """
    return [_collectives(session, run_of(path), None) for session in sessions_of(path)]


def _collectives(session: Session, run: str, progress: Progress | None) -> Collectives:
    hosts, losses, failures = [], list(session.losses), []
    for path in session.files:
        try:
            hosts.append(_read_host(path, progress))
        except SourceError as error:
            failures.append(error)
            losses.append(Loss(error.where or path.name, error.found, 0, error.remedy))
    if failures and not hosts:
        raise failures[0]
    return collectives_of(hosts, run, losses)


def _read_host(path: Path, progress: Progress | None) -> HostTrace:
    reader = SpaceReader(path, progress)
    cores, programs, transfers, planes = [], {}, TransferRows(), 0
    for plane in reader.planes():
        view = PlaneView(plane)
        planes += 1
        number = core_id(view.name)
        if number is not None:
            cores.append(read_core(view, number))
        elif view.name == METADATA_PLANE:
            programs.update(_programs(view))
        elif view.name == HOST_PLANE:
            transfers = read_transfers(view)
    damaged = sum(core.damaged for core in cores)
    if damaged:
        reader.losses.append(Loss(path.name, f"{damaged:,} events are damaged", damaged, "Profile again"))
    return HostTrace(host_of(path), path.name, bool(planes), cores, programs, transfers, reader.losses)


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
        if number != 1:
            return False
        number, inner, end = read_field(head, start)
        if number == 1:
            number, inner, end = read_field(head, end)
    except ValueError:
        return False
    name = head[inner:end]
    return number == 2 and (name.startswith((b"/host:", b"/device:")) or name == b"Task Environment")


FORMAT = Format(
    "xplane",
    "XPlane profiles of JAX, TensorFlow 2, PyTorch/XLA and XProf (*.xplane.pb, plugins/profile)",
    recognise,
    read,
)

"""XPlane profiles of XLA, JAX, TensorFlow and PyTorch/XLA: a file, a folder, or a log directory.

Profilers write `<log directory>/plugins/profile/<time>/<host>.xplane.pb`; every host writes a file,
in one folder or each in one of its own. Source: tsl/profiler/protobuf/xplane.proto.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from stepscope.model.collectives import Collectives
from stepscope.model.columns import Header
from stepscope.model.profile import Profile
from stepscope.model.throughput import Throughput
from stepscope.model.wire import WireError, field_at
from stepscope.sources.format import Deferred, Format, Imported, NamedRecord, Progress
from stepscope.sources.xplane.captures import Capture, Host, Lanes, read_captures
from stepscope.sources.xplane.collectives import collectives_of
from stepscope.sources.xplane.file import plane_name
from stepscope.sources.xplane.folders import (
    RECORD_NAME,
    group_files,
    is_profile_name,
    run_of,
    session_of_files,
    sessions_of,
)

MOST_DEFERRED_BYTES = 256 << 20
"""Planes of larger files do not wait in memory for a question."""
_EPOCH_LIKE_NS = 10**18
_PROFILE_KINDS = frozenset({Profile.KIND, Throughput.KIND})


def recognise(path: Path, head: bytes) -> bool:
    """Whether a path is a folder with XPlane profiles, or a file that starts with a plane."""
    if path.is_dir():
        return bool(sessions_of(path))
    if _starts_with_a_plane(head):
        return True
    return is_profile_name(path) and (not head or head[:1] == b"\n")


def _starts_with_a_plane(head: bytes) -> bool:
    try:
        number, start, _ = field_at(head, 0)
    except WireError:
        return False
    if number != 1:
        return False
    name = plane_name(head, start)
    return name.startswith((b"/host:", b"/device:")) or name == b"Task Environment"


def read(path: Path, progress: Progress | None = None) -> Imported:
    """Reads the profiles of a path.

    Each capture gives the collectives over its hosts, and for each host its profile and the rate of
    the steps that the profiler saw.

    Raises:
        SourceError: No file can be read.
    """
    captures = read_captures(sessions_of(path), Lanes.AT_ONCE, progress)
    return Imported(_records(captures), run_of(path))


def open_path(path: Path) -> Imported:
    """Reads the collectives of a path, and defers its profiles. Raises what `read` raises."""
    sessions = sessions_of(path)
    sizes = [file.stat().st_size for session in sessions for file in session.files if file.exists()]
    if sum(sizes) > MOST_DEFERRED_BYTES:
        return read(path)
    captures = read_captures(sessions, Lanes.LATER)
    deferred = Deferred(_PROFILE_KINDS, lambda: tuple(_profile_records(captures)))
    return Imported(tuple(_collectives_records(captures)), run_of(path), deferred)


def read_group(files: Sequence[Path], progress: Progress | None = None) -> Imported:
    """Reads the files of the hosts of one capture. Raises what `read` raises."""
    session = session_of_files(files)
    captures = read_captures([session], Lanes.AT_ONCE, progress)
    return Imported(_records(captures), session.run)


def read_collectives(path: Path) -> list[Collectives]:
    """Only the collectives of a path's profiles, one record per capture; faster than `read`.

    Raises:
        SourceError: No file can be read.
    """
    captures = read_captures(sessions_of(path), Lanes.NEVER)
    return [_collectives(capture) for capture in captures]


def _records(captures: Sequence[Capture]) -> tuple[NamedRecord, ...]:
    return (*_collectives_records(captures), *_profile_records(captures))


def _named(captures: Sequence[Capture]) -> Iterator[tuple[str, Capture]]:
    """Captures with the name of their records, which tells several captures of a run apart."""
    captures_in = Counter(capture.session.run for capture in captures)
    for capture in captures:
        name = RECORD_NAME
        if captures_in[capture.session.run] > 1:
            name = f"{RECORD_NAME} {capture.session.name}"
        yield name, capture


def _collectives_records(captures: Sequence[Capture]) -> Iterator[NamedRecord]:
    for name, capture in _named(captures):
        yield NamedRecord(name, _collectives(capture), run=capture.session.run)


def _collectives(capture: Capture) -> Collectives:
    traces = [host.trace for host in capture.hosts]
    return collectives_of(traces, capture.session.run, capture.losses)


def _profile_records(captures: Sequence[Capture]) -> Iterator[NamedRecord]:
    from stepscope.sources.xplane.rates import rates_of

    for name, capture in _named(captures):
        run = capture.session.run
        for host in capture.hosts:
            profile = _profile(host, run)
            if profile is None:
                continue
            host_name = name
            if len(capture.hosts) > 1:
                host_name = name.replace(RECORD_NAME, host.trace.name, 1)
            yield NamedRecord(host_name, profile, run=run)
            rates = rates_of(profile)
            if rates is not None:
                yield NamedRecord(host_name, rates, run=run)


def _profile(host: Host, run: str) -> Profile | None:
    """The profile of a host, None where no plane has events of a host or device."""
    # Imported here, as the table of collectives shall not wait for it.
    from stepscope.sources.xplane.profile import ProfileBuilder

    programs = host.program_ops()
    lanes = host.lanes(programs)
    if not lanes:
        return None
    builder = ProfileBuilder(lanes, programs)
    header = Header(
        run=run,
        host=host.trace.name,
        producer="XPlane",
        wall_anchor_ns=_wall_ns(builder.base_ns, host.started_ns),
        losses=tuple(host.trace.losses),
        source=host.trace.source,
    )
    return builder.build(header)


def _wall_ns(base_ns: int, started_ns: int) -> int:
    """Unix time of a base.

    Time stamps count from the epoch, or from the start of the profile where that is known.
    """
    if base_ns >= _EPOCH_LIKE_NS:
        return base_ns
    return started_ns + base_ns if started_ns else 0


FORMAT = Format(
    name="xplane",
    title="XPlane profiles of JAX, TensorFlow 2, PyTorch/XLA and XProf (*.xplane.pb, plugins/profile)",
    recognise=recognise,
    read=read,
    open=open_path,
    group=group_files,
    read_group=read_group,
)

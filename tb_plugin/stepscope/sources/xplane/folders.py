"""The profile files of a path: which run and which capture each belongs to.

The profilers of JAX, TensorFlow and PyTorch/XLA write `<run>/plugins/profile/<time>/<host>.xplane.pb`.
The folder above `plugins/profile` is the run, as in TensorBoard's Profile tab. The hosts of one
time-stamped folder are one capture. Where every host writes a time-stamped folder of its own, the
folders of one run that lie within a minute and hold different hosts are candidates for one capture;
`stepscope.sources.xplane` joins them unless their programs or times contradict.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from pathlib import Path

from stepscope.model.diagnostic import Diagnostic
from stepscope.sources.format import FileGroup

RECORD_NAME = "xplane"
_NAME = re.compile(r"(.*)\.xplane\.pb(?:\.gz)?", re.IGNORECASE)
_TIME = re.compile(r"(\d{4})_(\d{2})_(\d{2})_(\d{2})_(\d{2})_(\d{2})")
_TOGETHER_SECONDS = 60.0
_DEEPEST_RUN = 3
_MOST_FOLDERS = 10_000
_LISTED = 4


@dataclass(frozen=True)
class Session:
    """The files of one capture, or of one host's part of it.

    Attributes:
        run: The name of the run.
        name: The folder's name where it is a time, else `xplane`.
        files: One file per host.
        follows: Whether the files may belong to the capture of the session before.
        losses: Files of the capture that StepScope does not read.
    """

    run: str
    name: str
    files: tuple[Path, ...]
    follows: bool = False
    losses: tuple[Diagnostic, ...] = ()


def is_profile_name(path: Path) -> bool:
    """Whether a file has the name that profilers give."""
    return _NAME.fullmatch(path.name) is not None


def host_of(path: Path) -> str:
    """The host that wrote a file, by the file's name."""
    match = _NAME.fullmatch(path.name)
    return match[1] if match else path.stem


def run_of(path: Path) -> str:
    """The run of a path: the folder above `plugins/profile`, else the folder, else the file's host."""
    above = _above_profiles(path)
    if above is not None:
        return above.name
    return path.resolve().name if path.is_dir() else host_of(path)


def sessions_of(path: Path) -> list[Session]:
    """The sessions of a path, by run and in order of time; empty where there is no profile."""
    if not path.is_dir():
        return [Session(run_of(path), RECORD_NAME, (path,), losses=_unread(path.parent, [path]))]
    folders_of: dict[str, list[Path]] = {}
    for folder in _profile_folders(path):
        folders_of.setdefault(_run_in(path, folder), []).append(folder)
    sessions: list[Session] = []
    for run in sorted(folders_of):
        sessions += _sessions_of_run(run, folders_of[run])
    return sessions


def group_files(files: Sequence[Path]) -> list[FileGroup]:
    """Joins files of one folder: they are the hosts of one capture."""
    files_in: dict[Path, list[Path]] = {}
    for file in dict.fromkeys(files):
        files_in.setdefault(file.resolve().parent, []).append(file)
    groups: list[FileGroup] = []
    for folder, members in files_in.items():
        hosts = _one_per_host(members)
        note = ""
        if len(hosts) > 1:
            names = _listed([host_of(file) for file in hosts])
            note = f"Joined {len(hosts)} hosts of one capture in {folder}: {names}."
        groups.append(FileGroup(tuple(hosts), note))
    if len(groups) > 1:
        apart = _listed([str(folder) for folder in files_in])
        note = (
            f"Kept {len(groups)} captures apart because their files lie in different folders: {apart}. "
            "To join hosts of one capture, put their files into one folder."
        )
        groups[0] = FileGroup(groups[0].files, f"{groups[0].note} {note}".strip())
    return groups


def session_of_files(files: Sequence[Path]) -> Session:
    """The session of files of one folder that `group_files` joined."""
    folder = files[0].resolve().parent
    return Session(run_of(folder), RECORD_NAME, tuple(files), losses=_unread(folder, files))


def _above_profiles(path: Path) -> Path | None:
    """The folder above the last `plugins/profile` of a path, or above a `plugins` at its end."""
    parts = path.resolve().parts
    for index in range(len(parts) - 1, 0, -1):
        is_last = index + 1 == len(parts)
        if parts[index] == "plugins" and (is_last or parts[index + 1] == "profile"):
            return Path(*parts[:index])
    return None


def _run_in(path: Path, folder: Path) -> str:
    """The run of a profile folder below a path: runs below the path keep their way from it."""
    above = _above_profiles(folder)
    root = path.resolve()
    if above is not None and above != root and above.is_relative_to(root):
        return above.relative_to(root).as_posix()
    is_loose = above is None and folder != path and _time(folder) is None
    return folder.name if is_loose else run_of(path)


def _profile_folders(path: Path) -> list[Path]:
    """The folders of a path that hold profiles, at the places where profilers put them."""
    candidates = [path, *_subfolders(path), *_subfolders(path / "profile")]
    for run in islice(_runs_below(path, _DEEPEST_RUN), _MOST_FOLDERS):
        candidates += _subfolders(run / "plugins" / "profile")
    return [folder for folder in dict.fromkeys(candidates) if _files(folder) or _riegeli(folder)]


def _runs_below(path: Path, depth: int) -> Iterator[Path]:
    """A folder and the folders below it that may be runs."""
    yield path
    if depth:
        for folder in _subfolders(path):
            if folder.name != "plugins":
                yield from _runs_below(folder, depth - 1)


def _subfolders(path: Path) -> list[Path]:
    try:
        with os.scandir(path) as entries:
            names = sorted(entry.name for entry in entries if entry.is_dir())
    except OSError:
        return []
    return [path / name for name in names]


def _files(folder: Path) -> list[Path]:
    files = sorted(file for file in folder.iterdir() if file.is_file() and is_profile_name(file))
    return _one_per_host(files)


def _one_per_host(files: Sequence[Path]) -> list[Path]:
    """One file per host: where a host has two, the one that is not compressed."""
    file_of: dict[str, Path] = {}
    for file in sorted(files):
        file_of.setdefault(host_of(file), file)
    return list(file_of.values())


def _riegeli(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.xplane.riegeli"))


def _sessions_of_run(run: str, folders: Sequence[Path]) -> list[Session]:
    sessions: list[Session] = []
    capture: list[Path] = []
    for folder in sorted(folders, key=lambda folder: (folder.name, str(folder))):
        follows = bool(capture) and _may_follow(capture, folder)
        capture = [*capture, folder] if follows else [folder]
        files = _files(folder)
        session = Session(
            run=run,
            name=folder.name if _time(folder) else RECORD_NAME,
            files=tuple(files),
            follows=follows,
            losses=_unread(folder, files),
        )
        sessions.append(session)
    return sessions


def _may_follow(capture: Sequence[Path], folder: Path) -> bool:
    """Whether a folder may hold further hosts of a capture: near in time, beside it, other hosts."""
    first_time = _time(capture[0])
    time = _time(folder)
    if first_time is None or time is None or capture[0].parent != folder.parent:
        return False
    known_hosts = {host_of(file) for other in capture for file in _files(other)}
    if known_hosts & {host_of(file) for file in _files(folder)}:
        return False
    return abs((time - first_time).total_seconds()) <= _TOGETHER_SECONDS


def _time(folder: Path) -> datetime | None:
    match = _TIME.search(folder.name)
    if match is None:
        return None
    year, month, day, hour, minute, second = (int(part) for part in match.groups())
    try:
        return datetime(year, month, day, hour, minute, second)
    except ValueError:
        return None


def _unread(folder: Path, files: Sequence[Path]) -> tuple[Diagnostic, ...]:
    """The .riegeli files of a folder whose host has no complete .xplane.pb beside it."""
    losses: list[Diagnostic] = []
    for file in _riegeli(folder):
        host = file.name.removesuffix(".xplane.riegeli")
        if not any(host_of(other) == host and other.stat().st_size for other in files):
            losses.append(
                Diagnostic(
                    where=file.name,
                    what="a .riegeli file is not read",
                    count=1,
                    remedy="Convert it to .xplane.pb, or profile fewer steps",
                )
            )
    return tuple(losses)


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - _LISTED} more" if len(names) > _LISTED else ""
    return ", ".join(names[:_LISTED]) + more

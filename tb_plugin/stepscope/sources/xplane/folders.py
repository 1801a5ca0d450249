"""Which profile files belong together.

A session is one capture over the hosts of a job. Where every host writes its own time-stamped folder, the folders of
one capture lie seconds apart and hold different hosts; a second capture of the same host starts a new session.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from stepscope.model.diagnostic import Diagnostic

_NAME = re.compile(r"(.*)\.xplane\.pb(?:\.gz)?", re.IGNORECASE)
_LAYOUTS = ("", "*", "profile/*", "plugins/profile/*", "*/plugins/profile/*")
_TIME = re.compile(r"(\d{4})_(\d{2})_(\d{2})_(\d{2})_(\d{2})_(\d{2})")
_TOGETHER_SECONDS = 60.0


@dataclass(frozen=True)
class Session:
    """The files of one capture.

    Attributes:
        name: The folder's name, or of the first of several; `xplane` for a file or a folder without a time.
        losses: Files of the capture that are not read.
    """

    name: str
    files: tuple[Path, ...]
    losses: tuple[Diagnostic, ...] = ()


def is_profile_name(path: Path) -> bool:
    """Whether a file is called as profilers call theirs."""
    return _NAME.fullmatch(path.name) is not None


def host_of(path: Path) -> str:
    """The host that wrote a file, by the file's name."""
    match = _NAME.fullmatch(path.name)
    return match[1] if match else path.stem


def run_of(path: Path) -> str:
    """A run name for what is read from a path: the log directory's, or the file's host."""
    if not path.is_dir():
        return host_of(path)
    parts = list(path.resolve().parts)
    if "plugins" in parts[1:]:
        parts = parts[: parts.index("plugins", 1)]
    return parts[-1]


def sessions_of(path: Path) -> list[Session]:
    """The sessions of a path in order of time; empty where there is no profile."""
    if not path.is_dir():
        return [Session("xplane", (path,), _unread(path.parent, [path]))]
    folders = sorted({f for layout in _LAYOUTS for f in _folders(path, layout)}, key=lambda f: (f.name, str(f)))
    groups: list[list[Path]] = []
    for folder in folders:
        if groups and _belongs(groups[-1], folder):
            groups[-1].append(folder)
        else:
            groups.append([folder])
    return [_session(group) for group in groups]


def _folders(path: Path, layout: str) -> list[Path]:
    candidates = path.glob(layout) if layout else [path]
    return [folder for folder in candidates if folder.is_dir() and (_files(folder) or _riegeli(folder))]


def _files(folder: Path) -> list[Path]:
    """The profiles of a folder, one per host: where a host's is there twice, the one that is not compressed."""
    found = sorted(file for file in folder.iterdir() if file.is_file() and is_profile_name(file))
    return list({host_of(file): file for file in reversed(found)}.values())[::-1]


def _riegeli(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.xplane.riegeli"))


def _belongs(group: Sequence[Path], folder: Path) -> bool:
    known = {host_of(file) for other in group for file in _files(other)}
    first, this = _time(group[0]), _time(folder)
    if known & {host_of(file) for file in _files(folder)} or first is None or this is None:
        return False
    return abs((this - first).total_seconds()) <= _TOGETHER_SECONDS


def _time(folder: Path) -> datetime | None:
    match = _TIME.search(folder.name)
    try:
        return datetime(*(int(part) for part in match.groups())) if match else None  # type: ignore[arg-type]
    except ValueError:
        return None


def _session(folders: Sequence[Path]) -> Session:
    files = [file for folder in folders for file in _files(folder)]
    name = folders[0].name if _time(folders[0]) else "xplane"
    return Session(name, tuple(files), tuple(loss for folder in folders for loss in _unread(folder, files)))


def _unread(folder: Path, files: Sequence[Path]) -> tuple[Diagnostic, ...]:
    """The files that only XProf's own reader opens, unless the same host's profile is there in full."""
    return tuple(
        Diagnostic(file.name, "a .riegeli file is not read", 1, "Convert it to .xplane.pb, or profile fewer steps")
        for file in _riegeli(folder)
        if not any(host_of(f) == file.name.removesuffix(".xplane.riegeli") and f.stat().st_size for f in files)
    )

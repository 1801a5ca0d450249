"""The run directories of a log directory, named as TensorBoard names them."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from stepscope.model.diagnostic import Diagnostic

_URI = re.compile(r"[a-zA-Z][0-9a-zA-Z.]*://.*")


def roots(logdir: str, logdir_spec: str) -> dict[str, str]:
    """The directories that TensorBoard walks for `--logdir` and `--logdir_spec`, each with the prefix of its runs."""
    if logdir:
        return {os.path.expanduser(logdir): ""}
    prefixes: dict[str, str] = {}
    for part in logdir_spec.split(","):
        if not logdir_spec:
            break
        name = ""
        path = part
        if _has_name(part):
            name, _, path = part.partition(":")
        if not _URI.match(path):
            path = os.path.realpath(os.path.expanduser(path))
        prefixes[path] = name
    return prefixes


def _has_name(part: str) -> bool:
    """Whether a part of `--logdir_spec` is `name:path`, and not a path with a colon."""
    is_path = _URI.match(part) or part.startswith("/") or os.path.splitdrive(part)[0]
    return ":" in part and not is_path


def find(
    root: str, prefix: str, problems: list[Diagnostic]
) -> Iterator[tuple[str, list[os.DirEntry[str]]]]:
    """The runs under a directory: the name and the event files of each directory that holds any.

    Links are followed, as TensorBoard does, but not into a directory that they stand in. Directories that cannot be
    listed are noted in `problems`.
    """
    stack: list[tuple[str, frozenset[tuple[int, int]]]] = [(root, frozenset())]
    while stack:
        path, above = stack.pop()
        try:
            status = os.stat(path)
            identity = status.st_dev, status.st_ino
            if identity in above and status.st_ino:
                continue
            files, directories = _list(path)
        except FileNotFoundError:
            continue
        except OSError as error:
            what = f"directory cannot be listed ({error.strerror or error})"
            problems.append(Diagnostic(path, what, remedy="Check its permissions"))
            continue
        if files:
            relative = os.path.relpath(path, root)
            name = os.path.join(prefix, relative) if prefix else relative
            yield name, files
        stack += [(directory, above | {identity}) for directory in directories]


def _list(path: str) -> tuple[list[os.DirEntry[str]], list[str]]:
    files: list[os.DirEntry[str]] = []
    directories: list[str] = []
    with os.scandir(path) as listing:
        for item in listing:
            if _is_directory(item):
                directories.append(item.path)
            elif "tfevents" in item.name:
                files.append(item)
    files.sort(key=lambda item: item.name)
    return files, directories


def _is_directory(item: os.DirEntry[str]) -> bool:
    try:
        return item.is_dir()
    except OSError:
        return False

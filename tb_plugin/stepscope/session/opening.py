"""Opening a source: a log directory, a run in it, or any recognised foreign file or folder."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from stepscope.errors import SourceError, StepscopeError, UnrecognisedSource
from stepscope.model.diagnostic import Diagnostic
from stepscope.session.catalog import Catalog, FileCatalog, StoreCatalog
from stepscope.session.selection import Selection
from stepscope.session.source import Source
from stepscope.sources import registry
from stepscope.sources.format import Imported
from stepscope.store.local import LocalStore


def open(
    source: str | os.PathLike[str],
    *,
    run: str | Sequence[str] | None = None,
    name: str | None = None,
    record_step: int | None = None,
) -> Source:
    """Opens a source, to be loaded once and asked often.

    Args:
        source: A log directory, a run in it, or a file or folder of a recognised foreign format.
        run: The run, a pattern with `*` and `?`, or several of them.
        name: The record's name.
        record_step: The training step of the record.

    Raises:
        SourceError: There is nothing at the path, the file is of no recognised format, or nothing can be read from it.
        OptionError: The run, the name or the step is of another type.
    """
    if not os.fspath(source):
        raise SourceError("an empty path", remedy='Give "." for the current folder')
    runs = () if run is None else tuple(run) if isinstance(run, Sequence) and not isinstance(run, str) else (run,)
    return Source(catalog(Path(source)), Selection(runs, name, record_step), where=str(source))


def catalog(path: Path) -> Catalog:
    """The records at a path.

    Raises:
        SourceError: See `open`.
    """
    try:
        return _catalog(path)
    except OSError as error:
        found = f"cannot be read ({error.strerror or error})"
        where = str(error.filename or path)
        raise SourceError(found, where=f"{where:.500}", remedy="Check the path and its permissions") from error


def _catalog(path: Path) -> Catalog:
    if not path.exists():
        raise SourceError("there is no such file or folder", where=str(path), remedy="Check the path")
    if path.is_dir():
        return _log_directory(path) if has_event_files(path) else _folder(path)
    if _is_event_file(path):
        return _log_directory(path.parent)
    return FileCatalog([(path, registry.open_path(path))])


def _is_event_file(path: Path) -> bool:
    return "tfevents" in path.name


def has_event_files(folder: Path) -> bool:
    """Whether event files lie anywhere below a folder."""
    return any("tfevents" in name for _, _, names in os.walk(folder) for name in names)


def _log_directory(path: Path) -> Catalog:
    found = StoreCatalog(LocalStore(str(path)))
    found.refresh()
    return found


def _folder(path: Path) -> Catalog:
    try:
        return FileCatalog([(path, registry.open_path(path))])
    except SourceError as error:
        files = sorted(p for p in path.rglob("*") if p.is_file())
        found, problems = read_files(files)
        if not found:
            raise error
        return FileCatalog(found, problems)


def read_files(files: Iterable[Path]) -> tuple[list[tuple[Path, Imported]], list[Diagnostic]]:
    """Reads each file that is of a recognised format; what is recognised but cannot be read becomes a problem."""
    found: list[tuple[Path, Imported]] = []
    problems: list[Diagnostic] = []
    for file in files:
        try:
            found.append((file, registry.open_path(file)))
        except UnrecognisedSource:
            continue
        except StepscopeError as error:
            problems.append(Diagnostic(str(file), error.found, 0, error.remedy, run=file.name))
    return found, problems

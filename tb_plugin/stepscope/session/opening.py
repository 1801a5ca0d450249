"""Opening a source: a log directory, a run in it, or any recognised file or folder."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from stepscope.errors import SourceError, StepscopeError, UnrecognisedSource
from stepscope.model.diagnostic import Diagnostic
from stepscope.session.catalog import Catalog, FileCatalog
from stepscope.session.selection import Selection
from stepscope.session.source import Source
from stepscope.session.store_catalog import StoreCatalog
from stepscope.sources import registry
from stepscope.sources.format import Imported
from stepscope.store.local import LocalStore

ReadFile = tuple[Path, Imported]


def open(
    source: str | os.PathLike[str],
    *,
    run: str | Sequence[str] | None = None,
    name: str | None = None,
    record_step: int | None = None,
) -> Source:
    """Opens a source. It is parsed once, then queried.

    Args:
        source: A log directory, a run in it, or a file or folder of a recognised format.
        run: The run, a pattern with `*` and `?`, or several of them.
        name: The record's name.
        record_step: The training step of the record.

    Raises:
        SourceError: The path does not exist, its format is unrecognised, or nothing can be read from it.
        OptionError: The run, the name or the step has another type.
    """
    if not os.fspath(source):
        raise SourceError("the path is empty", remedy='Give "." for the current folder')
    selection = Selection(runs=_runs(run), name=name, record_step=record_step)
    return Source(catalog(Path(source)), selection, where=str(source))


def _runs(run: str | Sequence[str] | None) -> tuple[str, ...]:
    if run is None:
        return ()
    if isinstance(run, Sequence) and not isinstance(run, str):
        return tuple(run)
    return (run,)


def catalog(path: Path) -> Catalog:
    """The records at a path.

    Raises:
        SourceError: See `open`.
    """
    try:
        return _catalog(path)
    except OSError as error:
        where = str(error.filename or path)
        raise SourceError(
            f"cannot be read ({error.strerror or error})",
            where=f"{where:.500}",
            remedy="Check the path and its permissions",
        ) from error


def _catalog(path: Path) -> Catalog:
    if not path.exists():
        raise SourceError("file or folder not found", where=str(path), remedy="Check the path")
    if path.is_dir():
        return _log_directory(path) if has_event_files(path) else _folder(path)
    if _is_event_file(path.name):
        return _log_directory(path.parent)
    return FileCatalog([(path, registry.open_path(path))])


def _is_event_file(name: str) -> bool:
    return "tfevents" in name


def has_event_files(folder: Path) -> bool:
    """Whether there are event files anywhere below a folder."""
    for _, _, names in os.walk(folder):
        if any(_is_event_file(name) for name in names):
            return True
    return False


def _log_directory(path: Path) -> Catalog:
    store_catalog = StoreCatalog(LocalStore(str(path)))
    store_catalog.refresh()
    return store_catalog


def _folder(path: Path) -> Catalog:
    """The records of a folder that is a source itself, else those of all files below it."""
    try:
        return FileCatalog([(path, registry.open_path(path))])
    except SourceError as error:
        files = sorted(file for file in path.rglob("*") if file.is_file())
        imported, problems = read_files(files)
        if not imported:
            raise error
        return FileCatalog(imported, problems)


def read_files(files: Iterable[Path]) -> tuple[list[ReadFile], list[Diagnostic]]:
    """Reads the files that have a recognised format. Those of them that cannot be read become problems."""
    imported: list[ReadFile] = []
    problems: list[Diagnostic] = []
    for file in files:
        try:
            imported.append((file, registry.open_path(file)))
        except UnrecognisedSource:
            continue
        except StepscopeError as error:
            problem = Diagnostic(str(file), error.found, remedy=error.remedy, run=file.name)
            problems.append(problem)
    return imported, problems

"""Importing foreign files into a log directory, on one process, many, or a cluster."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor, Future, ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path, PurePath

from stepscope.errors import OptionError, StepscopeError, UnrecognisedSource
from stepscope.lenses.throughput.scalars import rate_scalars
from stepscope.model.diagnostic import Diagnostic
from stepscope.model.throughput import Throughput
from stepscope.sources import registry
from stepscope.sources.format import FileGroup, Imported, NamedRecord
from stepscope.store.sink import EventFileSink
from stepscope.store.writing import RecordWriter


@dataclass(frozen=True)
class Outcome:
    """What became of one file.

    Attributes:
        written: The tags of the records written.
        warnings: What of the file was lost.
        error: Why nothing was written, empty when something was.
    """

    path: str
    run: str = ""
    written: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    error: str = ""


@dataclass(frozen=True)
class Found:
    """What is to be imported.

    Attributes:
        files: Each group of files, with the folder that its run goes into: files of two folders are
            two runs, also where they have one name.
        skipped: Files in given folders that match no format.
    """

    files: tuple[tuple[FileGroup, str], ...]
    skipped: tuple[Path, ...]


def expand(sources: Sequence[str]) -> Found:
    """The files and folders to import: a folder that is of no format stands for the recognised files in it.

    Raises:
        UnrecognisedSource: There is none.
    """
    given: list[Path] = []
    found: list[tuple[FileGroup, str]] = []
    skipped: list[Path] = []
    for path in map(Path, sources):
        if not path.is_dir() or registry.recognises(path):
            given.append(path)
            continue
        for file in sorted(inner for inner in path.rglob("*") if inner.is_file()):
            if registry.recognises(file):
                found.append((FileGroup((file,)), file.parent.relative_to(path).as_posix()))
            else:
                skipped.append(file)
    found = [(group, "") for group in registry.group(given)] + found
    if not found:
        raise UnrecognisedSource(
            "no file of a recognised format",
            where=", ".join(sources),
            remedy="See: stepscope formats",
        )
    return Found(tuple(found), tuple(skipped))


@contextlib.contextmanager
def executor(jobs: int, scheduler: str | None, files: int) -> Iterator[Executor | None]:
    """What the files are read on: None is this process.

    Raises:
        OptionError: A Dask scheduler is asked for, and Dask is not installed; or a negative number of jobs.
    """
    if jobs < 0:
        raise OptionError(
            f"jobs is {jobs}", remedy="Give a number of processes, or 0 for one per processor"
        )
    workers = min(jobs or os.cpu_count() or 1, files)
    if scheduler:
        try:
            from distributed import Client
        except ImportError:
            raise OptionError(
                "a scheduler is asked for, but Dask is not installed",
                remedy="pip install 'tensorboard-plugin-stepscope[dask]'",
            ) from None
        with Client(scheduler) as client:
            yield client.get_executor()
    elif workers <= 1:
        yield None
    else:
        with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
            yield pool


def import_files(
    files: Sequence[tuple[FileGroup, str]],
    logdir: str,
    pool: Executor | None = None,
    *,
    run: str | None = None,
    name: str | None = None,
    bar: bool = False,
) -> Iterator[Outcome]:
    """Imports files one by one. An unreadable file does not stop the others.

    Args:
        files: The groups of files, each with the folder that its run goes into, from `expand`.
        logdir: The log directory to write to.
        pool: Any executor; None reads in this process.
        run: The run to write to; by default the run that the file names.
        name: The name of the records; by default the one that the source gives.
        bar: Whether to show a progress bar on a terminal.
    """
    from tqdm import tqdm

    shown = bar and sys.stderr.isatty()
    if pool is None:
        for group, folder in files:
            target = os.path.join(logdir, folder)
            yield import_group(group, target, run=run, name=name, bar=shown)
        return
    waiting: list[Future[Outcome]] = []
    for group, folder in files:
        target = os.path.join(logdir, folder)
        waiting.append(pool.submit(import_group, group, target, run=run, name=name))
    for done in tqdm(as_completed(waiting), total=len(waiting), unit="file", disable=not shown):
        yield done.result()


def import_file(
    path: Path, logdir: str, run: str | None, name: str | None, bar: bool = False
) -> Outcome:
    """Imports one file or folder. Never raises: an import of hundreds goes on."""
    return import_group(FileGroup((path,)), logdir, run=run, name=name, bar=bar)


def import_group(
    group: FileGroup, logdir: str, run: str | None, name: str | None, bar: bool = False
) -> Outcome:
    """Imports files that belong together. Never raises: an import of hundreds goes on."""
    path = group.files[0]
    label = ", ".join(str(file) for file in group.files)
    try:
        imported = _read(group.files, bar)
        written: list[str] = []
        records_of = _by_run(imported, run or "", path.name)
        for run_name, records in records_of.items():
            written += _write(records, _directory(logdir, run_name), name)
    except StepscopeError as error:
        return Outcome(label, error=str(error))
    except Exception as error:
        message = f"{path}: {type(error).__name__}: {error}. Report this with the file."
        return Outcome(label, error=message)
    losses: dict[Diagnostic, None] = {}
    for named in imported.records:
        losses.update(dict.fromkeys(named.record.header.losses))
    warnings = []
    for loss in losses:
        warnings.append(f"{path}: {loss.where}: {loss.what}. {loss.remedy}".rstrip())
    return Outcome(
        path=label,
        run=", ".join(records_of),
        written=tuple(written),
        warnings=tuple(warnings),
    )


def _by_run(imported: Imported, run: str, file_name: str) -> dict[str, list[NamedRecord]]:
    """Groups records by run. Several runs go below the run that the user names."""
    names = {imported.run_of(named) for named in imported.records}
    records_of: dict[str, list[NamedRecord]] = {}
    for named in imported.records:
        run_name = imported.run_of(named) or file_name
        if run:
            run_name = run if len(names) == 1 else f"{run}/{run_name}"
        # A file name may hold bytes that are not valid UTF-8.
        readable_name = run_name.encode("utf-8", "replace").decode()
        records_of.setdefault(readable_name, []).append(named)
    return records_of


def _directory(logdir: str, run: str) -> Path:
    """Returns the directory of a run.

    Raises:
        OptionError: The run lies outside the log directory.
    """
    # The content of a file may name the run, so the name is not to be trusted.
    if PurePath(run).is_absolute() or ".." in PurePath(run).parts:
        raise OptionError(
            f"run {run!r:.200} lies outside the log directory", remedy="Choose a name with --run"
        )
    return Path(logdir, run)


def _read(files: Sequence[Path], bar: bool) -> Imported:
    if not bar:
        return registry.read_group(files)
    from tqdm import tqdm

    with tqdm(desc=files[0].name, unit="B", unit_scale=True) as progress:

        def tell(done_bytes: int, total_bytes: int) -> None:
            progress.total = total_bytes
            progress.update(done_bytes - progress.n)

        return registry.read_group(files, tell)


def _write_scalars(sink: EventFileSink, record: Throughput) -> None:
    for scalar in rate_scalars(record):
        values = {scalar.tag: scalar.value}
        sink.add_scalars(values, step=scalar.step, wall_time_s=scalar.wall_time_s)


def _write(records: Sequence[NamedRecord], directory: Path, name: str | None) -> list[str]:
    sink = EventFileSink(str(directory))
    try:
        writer = RecordWriter(sink)
        tags = []
        for named in records:
            steps = None if named.step is None else (named.step, named.step)
            tags.append(writer.write(named.record, name=name or named.name, steps=steps))
            if isinstance(named.record, Throughput):
                _write_scalars(sink, named.record)
        return tags
    finally:
        sink.close()

"""The supported formats, recognized by content and not by name.

StepScope imports a format's module when it first looks at a file.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from stepscope.errors import NotFound, RecordError, SourceError, UnrecognisedSource
from stepscope.model.diagnostic import Diagnostic
from stepscope.sources.content import head, noted_losses
from stepscope.sources.format import FileGroup, Format, Imported, NamedRecord, Progress
from stepscope.sources.unsupported import describe

MODULES = (
    "tfprof",
    "tfprof.raw",
    "incore",
    "swimlane",
    "simulator_pipes",
    "proton",
    "xplane",
    "torch_trace",
    "throughput.mlperf_log",
    "throughput.cerebras_log",
    "throughput.hf_trainer_state",
    "throughput.lightning_csv",
    "throughput.cerebras_performance",
    "throughput.llamafactory_log",
    "throughput.megatron_progress",
    "throughput.megatron_log",
    "throughput.torchtitan_log",
    "throughput.maxtext_log",
    "throughput.deepspeed_log",
    "throughput.lightning_log",
    "throughput.keras_log",
)
"""In the order of recognition."""


@functools.cache
def formats() -> tuple[Format, ...]:
    """All formats, in the order of recognition."""
    modules = (importlib.import_module(f"stepscope.sources.{name}") for name in MODULES)
    return tuple(module.FORMAT for module in modules)


def recognise(path: Path) -> Format:
    """The format of a file or folder.

    Raises:
        NotFound: The path does not exist.
        UnrecognisedSource: No format matches.
        SourceError: The file cannot be opened.
    """
    if not path.exists():
        raise NotFound("no such file or folder", where=str(path), remedy="Check the path")
    start = head(path)
    for known in formats():
        if known.recognise(path, start):
            return known
    kind = describe(path, start)
    raise UnrecognisedSource(
        f"Unsupported format: {kind.title}", where=str(path), remedy=kind.remedy
    )


def recognises(path: Path) -> bool:
    """Whether a file or folder can be opened and matches a format."""
    try:
        recognise(path)
    except (SourceError, NotFound):
        return False
    return True


def group(paths: Sequence[Path]) -> list[FileGroup]:
    """The files and folders to read, where files that belong together are one group.

    Files that cannot be recognized are groups of their own: reading them raises the error.
    """
    groups: list[FileGroup] = []
    files_of: dict[Format, list[Path]] = {}
    for path in paths:
        known = _format_of_file(path)
        if known is None or known.group is None:
            groups.append(FileGroup((path,)))
        else:
            files_of.setdefault(known, []).append(path)
    for known, files in files_of.items():
        assert known.group is not None
        groups += known.group(files)
    return groups


def _format_of_file(path: Path) -> Format | None:
    if path.is_dir():
        return None
    try:
        return recognise(path)
    except (SourceError, NotFound):
        return None


def read(path: Path, progress: Progress | None = None) -> Imported:
    """Reads a file or folder of any format.

    Raises:
        RecordError: A record breaks a rule of its model.
        StepscopeError: See `recognise` and the format's `read`.
    """
    known = recognise(path)
    return _read_valid(path, lambda: known.read(path, progress))


def open_path(path: Path) -> Imported:
    """Reads a file or folder, and defers the records that cost much. Raises what `read` raises."""
    known = recognise(path)
    if known.open is None:
        return _read_valid(path, lambda: known.read(path, None))
    open_format = known.open
    imported = _read_valid(path, lambda: open_format(path))
    deferred = imported.deferred
    if deferred is None:
        return imported

    def load() -> tuple[NamedRecord, ...]:
        return _read_valid(path, lambda: Imported(deferred.load(), imported.run)).records

    return replace(imported, deferred=replace(deferred, load=load))


def read_group(files: Sequence[Path], progress: Progress | None = None) -> Imported:
    """Reads files that `group` joined. Raises what `read` raises."""
    first = files[0]
    if len(files) == 1:
        return read(first, progress)
    known = recognise(first)
    assert known.read_group is not None
    read_together = known.read_group
    return _read_valid(first, lambda: read_together(files, progress))


def _read_valid(path: Path, read_records: Callable[[], Imported]) -> Imported:
    """The records of a path, valid, with the losses of the files that were opened for them."""
    try:
        with noted_losses() as losses:
            imported = read_records()
        for named in imported.records:
            named.record.validate()
    except RecordError as error:
        raise error.within(str(path)) from error
    return _with_losses(imported, losses) if losses else imported


def _with_losses(imported: Imported, losses: list[Diagnostic]) -> Imported:
    records = []
    for named in imported.records:
        header = named.record.header
        all_losses = tuple(dict.fromkeys((*header.losses, *losses)))
        record = replace(named.record, header=replace(header, losses=all_losses))
        records.append(replace(named, record=record))
    return replace(imported, records=tuple(records))

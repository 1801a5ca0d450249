"""The foreign formats that are recognised, by content and not by name.

A format's module is imported when it is asked for the first time.
"""

from __future__ import annotations

import functools
import importlib
from dataclasses import replace
from pathlib import Path

from stepscope.errors import NotFound, RecordError, SourceError, UnrecognisedSource
from stepscope.model.diagnostic import Diagnostic
from stepscope.sources.content import head, noted_losses
from stepscope.sources.format import Format, Imported, Progress
from stepscope.sources.unsupported import describe

# In the order in which they are asked.
MODULES = (
    "tfprof",
    "tfprof.raw",
    "incore",
    "swimlane",
    "simulator_pipes",
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


@functools.cache
def formats() -> tuple[Format, ...]:
    """All formats, in the order in which they are asked."""
    modules = (importlib.import_module(f"stepscope.sources.{name}") for name in MODULES)
    return tuple(module.FORMAT for module in modules)


def recognise(path: Path) -> Format:
    """The format of a file or folder.

    Raises:
        NotFound: There is nothing at the path.
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
    raise UnrecognisedSource(f"Unsupported format: {kind.title}", where=str(path), remedy=kind.remedy)


def recognises(path: Path) -> bool:
    """Whether a file or folder can be opened and is of any format."""
    try:
        recognise(path)
    except (SourceError, NotFound):
        return False
    return True


def read(path: Path, progress: Progress | None = None) -> Imported:
    """Reads a file or folder of any format.

    Raises:
        RecordError: What it holds breaks a rule of the record's model.
        StepscopeError: What `recognise` and the format's `read` raise.
    """
    known = recognise(path)
    try:
        with noted_losses() as losses:
            found = known.read(path, progress)
        for named in found.records:
            named.record.validate()
    except RecordError as error:
        raise error.within(str(path)) from error
    return _with_losses(found, losses) if losses else found


def _with_losses(found: Imported, losses: list[Diagnostic]) -> Imported:
    records = []
    for named in found.records:
        header = named.record.header
        told = replace(header, losses=tuple(dict.fromkeys((*header.losses, *losses))))
        records.append(replace(named, record=replace(named.record, header=told)))
    return replace(found, records=tuple(records))

"""Swimlane captures of Ascend chips, in every generation: which task ran on which core.

The keys of a capture show its generation. StepScope refuses an unknown one: an empty chart would
mislead.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from stepscope.errors import SourceError, UnrecognisedSource, UnsupportedSource
from stepscope.model.diagnostic import Diagnostic
from stepscope.model.incore import InCore
from stepscope.sources.content import head as read_head
from stepscope.sources.format import Format, Imported, NamedRecord, Progress
from stepscope.sources.swimlane.cycles import read_cycles
from stepscope.sources.swimlane.deps import add_neighbours
from stepscope.sources.swimlane.draft import Draft, record_of
from stepscope.sources.swimlane.json import load
from stepscope.sources.swimlane.micros import read_micros
from stepscope.sources.swimlane.profile import profile_of
from stepscope.sources.swimlane.trace import is_trace, read_trace

_MARKERS = re.compile(
    rb'"(chip_swimlane_level|l2_swimlane_level|l2_perf_level|aicore_tasks|scheduler_tasks)"\s*:',
)
_TASK = re.compile(rb'"tasks"\s*:\s*\[')
_FIELDS = (b'"core_id"', b'"start_time_us"')
_ROWS = re.compile(rb'"aicore_tasks"\s*:')
_CARDS = ("d*", "rank*", "rank*/d*")


def recognise(path: Path, head: bytes) -> bool:
    """Whether a file is a capture or its trace, or a folder holds one."""
    if path.is_dir():
        return bool(_captures(path))
    return _is_capture(head) or is_trace(head)


def read(path: Path, progress: Progress | None = None) -> Imported:
    """Reads a capture, all captures of a folder, or a trace that was made from one.

    Raises:
        SourceError: None of them can be read.
    """
    if path.is_dir():
        captures, losses = _read_folder(path)
        run = path.name
    else:
        captures = {path: read_capture(path)}
        losses = []
        run = path.stem
    if progress:
        progress(1, 1)

    records = []
    profiles = []
    for capture, record in captures.items():
        name = "swimlane"
        if len(captures) > 1:
            name = str(capture.relative_to(path).with_suffix(""))
        record = _with_losses(record, losses)
        records.append(NamedRecord(name, record))
        profiles.append(NamedRecord(name, profile_of(record)))
    return Imported((*records, *profiles), run)


def _read_folder(folder: Path) -> tuple[dict[Path, InCore], list[Diagnostic]]:
    """The distinct captures of a folder, and a loss for each that cannot be read.

    Raises:
        SourceError: None can be read; the error is that of the first.
    """
    captures: dict[Path, InCore] = {}
    errors: dict[Path, SourceError] = {}
    for path in _captures(folder):
        try:
            record = read_capture(path)
        except SourceError as error:
            errors[path] = error
            continue
        # Runtimes write the same capture under several names.
        if not any(record.tasks == other.tasks for other in captures.values()):
            captures[path] = record
    if not captures:
        nothing = UnrecognisedSource("no capture", where=str(folder), remedy="Check the path")
        raise next(iter(errors.values()), nothing)

    losses = []
    for path, failure in errors.items():
        loss = Diagnostic(
            where=str(path.relative_to(folder)),
            what=failure.found,
            count=1,
            remedy=failure.remedy,
        )
        losses.append(loss)
    return captures, losses


def read_capture(path: Path) -> InCore:
    """The record of one capture file, with the task graph and names that lie beside it.

    Raises:
        SourceError: The file is damaged, or of an unknown generation.
    """
    document = load(path)
    if "traceEvents" in document:
        return record_of(read_trace(document, str(path)), path.name)
    draft = draft_of(document, str(path))
    add_neighbours(draft, path.parent)
    return record_of(draft, path.name)


def draft_of(document: Mapping[str, Any], where: str) -> Draft:
    """The draft of a capture, by its generation.

    Raises:
        SourceError: The capture is damaged, or of an unknown generation.
    """
    if "aicore_tasks" in document:
        return read_cycles(document, where)
    if isinstance(document.get("tasks"), list):
        return read_micros(document, where)
    keys = ", ".join(sorted(document)[:12])
    raise UnsupportedSource(
        f"a swimlane capture of an unknown generation, with the keys {keys}",
        where=where,
        remedy="Update StepScope, or report the writer and its version",
    )


def _is_capture(head: bytes) -> bool:
    if not head.lstrip().startswith(b"{") or b'"traceEvents"' in head:
        return False
    if _MARKERS.search(head):
        return True
    return _TASK.search(head) is not None and all(name in head for name in _FIELDS)


def _captures(folder: Path) -> list[Path]:
    """The captures of a folder and of its cards' folders."""
    captures = _captures_of_one(folder)
    for pattern in _CARDS:
        for card in sorted(folder.glob(pattern)):
            if card.is_dir():
                captures += _captures_of_one(card)
    return captures


def _captures_of_one(folder: Path) -> list[Path]:
    """The captures in cycles, or else those in microseconds, or else the first trace.

    The others are conversions of the first, and would show the same tasks again.
    """
    files = [path for path in sorted(folder.glob("*.json")) if path.is_file()]
    heads = {path: read_head(path) for path in files}
    captures = [path for path in files if _is_capture(heads[path])]
    in_cycles = [path for path in captures if _ROWS.search(heads[path])]
    traces = [path for path in files if is_trace(heads[path])]
    return in_cycles or captures or traces[:1]


def _with_losses(record: InCore, losses: list[Diagnostic]) -> InCore:
    header = dataclasses.replace(record.header, losses=(*record.header.losses, *losses))
    return dataclasses.replace(record, header=header)


FORMAT = Format(
    "swimlane",
    "task captures of Ascend chips and the traces made from them",
    recognise,
    read,
)

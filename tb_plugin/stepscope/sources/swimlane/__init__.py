"""Swimlane captures of Ascend chips: which task ran on which core, in every generation of the format.

The generations are told by their keys. One that is not known is refused with what was found: an empty chart would be
no answer.
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

_MARKERS = re.compile(rb'"(chip_swimlane_level|l2_swimlane_level|l2_perf_level|aicore_tasks|scheduler_tasks)"\s*:')
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
        SourceError: None of them can be had.
    """
    captures, losses = _read_folder(path) if path.is_dir() else ({path: read_capture(path)}, [])
    if progress:
        progress(1, 1)
    named = {_name(path, found, len(captures)): _with_losses(record, losses) for found, record in captures.items()}
    records = [NamedRecord(name, record) for name, record in named.items()]
    profiles = [NamedRecord(name, profile_of(record)) for name, record in named.items()]
    return Imported((*records, *profiles), path.stem if path.is_file() else path.name)


def _read_folder(folder: Path) -> tuple[dict[Path, InCore], list[Diagnostic]]:
    """The distinct captures of a folder, and those that cannot be read; the first error where none can."""
    captures: dict[Path, InCore] = {}
    errors: dict[Path, SourceError] = {}
    for path in _captures(folder):
        try:
            record = read_capture(path)
        except SourceError as error:
            errors[path] = error
            continue
        if not any(record.tasks == other.tasks for other in captures.values()):
            captures[path] = record
    if not captures:
        raise next(iter(errors.values()), UnrecognisedSource("no capture", where=str(folder), remedy="Check the path"))
    losses = [Diagnostic(str(path.relative_to(folder)), error.found, 1, error.remedy) for path, error in errors.items()]
    return captures, losses


def _name(source: Path, found: Path, captures: int) -> str:
    return "swimlane" if captures == 1 else str(found.relative_to(source).with_suffix(""))


def read_capture(path: Path) -> InCore:
    """The record of one capture file, with what lies beside it.

    Raises:
        SourceError: The file is damaged, or of a generation that is not known.
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
        SourceError: It is damaged, or of a generation that is not known.
    """
    if "aicore_tasks" in document:
        return read_cycles(document, where)
    if isinstance(document.get("tasks"), list):
        return read_micros(document, where)
    raise UnsupportedSource(
        f"a swimlane capture of an unknown generation, with the keys {', '.join(sorted(document)[:12])}",
        where=where,
        remedy="Update StepScope, or report the writer and its version",
    )


def _is_capture(head: bytes) -> bool:
    if not head.lstrip().startswith(b"{") or b'"traceEvents"' in head:
        return False
    old = _TASK.search(head) is not None and all(name in head for name in _FIELDS)
    return old or _MARKERS.search(head) is not None


def _captures(folder: Path) -> list[Path]:
    """The captures of a folder and of its cards' folders."""
    folders = [part for pattern in _CARDS for part in sorted(folder.glob(pattern)) if part.is_dir()]
    return [path for part in (folder, *folders) for path in _captures_of_one(part)]


def _captures_of_one(folder: Path) -> list[Path]:
    """The captures in cycles, or else what else there is: those in microseconds, or the first trace made from one."""
    heads = {path: read_head(path) for path in sorted(folder.glob("*.json")) if path.is_file()}
    captures = [path for path, head in heads.items() if _is_capture(head)]
    traces = [path for path, head in heads.items() if is_trace(head)]
    return [path for path in captures if _ROWS.search(heads[path])] or captures or traces[:1]


def _with_losses(record: InCore, losses: list[Diagnostic]) -> InCore:
    header = dataclasses.replace(record.header, losses=(*record.header.losses, *losses))
    return dataclasses.replace(record, header=header)


FORMAT = Format("swimlane", "task captures of Ascend chips and the traces made from them", recognise, read)

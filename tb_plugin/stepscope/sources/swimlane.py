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

from stepscope.errors import DamagedSource, SourceError, UnsupportedSource
from stepscope.model.columns import Loss
from stepscope.model.incore import InCore
from stepscope.sources.content import head as read_head
from stepscope.sources.format import Format, Imported, NamedRecord, Progress
from stepscope.sources.swimlane_cycles import read_cycles
from stepscope.sources.swimlane_deps import add_neighbours
from stepscope.sources.swimlane_draft import Draft, record_of
from stepscope.sources.swimlane_json import load
from stepscope.sources.swimlane_micros import read_micros
from stepscope.sources.swimlane_profile import profile_of
from stepscope.sources.swimlane_trace import is_trace, read_trace

_MARKERS = re.compile(rb'"(chip_swimlane_level|l2_swimlane_level|l2_perf_level|aicore_tasks|scheduler_tasks)"\s*:')
_TASK = re.compile(rb'"tasks"\s*:\s*\[')
_FIELDS = (b'"core_id"', b'"start_time_us"')
_DEPTH = ("*.json", "d*/*.json", "rank*/*.json", "rank*/d*/*.json")


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
    paths = _captures(path) if path.is_dir() else [path]
    captures: list[tuple[str, InCore]] = []
    losses: list[Loss] = []
    for found in paths:
        name = "swimlane" if len(paths) == 1 else str(found.parent.relative_to(path) / found.stem)
        try:
            captures.append((name, read_capture(found)))
        except SourceError as error:
            if len(paths) == 1:
                raise
            losses.append(Loss(str(found.relative_to(path)), error.found, 1, error.remedy))
        if progress:
            progress(found.stat().st_size, found.stat().st_size)
    if not captures:
        raise DamagedSource(losses[0].what, where=str(path / losses[0].where), remedy=losses[0].remedy)
    captures = [(name, _with_losses(record, losses)) for name, record in captures]
    records = [NamedRecord(name, record) for name, record in captures]
    profiles = [NamedRecord(name, profile_of(record)) for name, record in captures]
    return Imported((*records, *profiles), path.stem if path.is_file() else path.name)


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
    """The captures of a folder; where there are none, the traces made from them."""
    files = [path for pattern in _DEPTH for path in sorted(folder.glob(pattern)) if path.is_file()]
    heads = {path: read_head(path) for path in files}
    return [p for p in files if _is_capture(heads[p])] or [p for p in files if is_trace(heads[p])][:1]


def _with_losses(record: InCore, losses: list[Loss]) -> InCore:
    header = dataclasses.replace(record.header, losses=(*record.header.losses, *losses))
    return dataclasses.replace(record, header=header)


FORMAT = Format("swimlane", "task captures of Ascend chips and the traces made from them", recognise, read)

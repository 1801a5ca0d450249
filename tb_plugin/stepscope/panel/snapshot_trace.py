"""What a report holds of a profile's trace: steps, timeline, tables, memory and ranks.

Each document is what the route answers, cut to the report's extent. The timeline is stored as a picture of the whole.
Where that merges short executions, windows that overlap by half are stored too, so that any zoom lies in one of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from stepscope.errors import StepscopeError
from stepscope.lenses.trace.executions import MAX_WIDTH_PX, panes
from stepscope.panel import documents
from stepscope.panel.request import Query
from stepscope.panel.snapshot_entry import Extent, SnapshotEntry, entry
from stepscope.session.catalog import RecordRef
from stepscope.session.source import Source

MOST_ARROWS = 20
"""Launches of an execution that a report names."""

Json = dict[str, Any]
Question = dict[str, str]

_TABLES: dict[str, tuple[Question, ...]] = {
    "steps": ({"shape": "breakdown"},),
    "shapes": ({"shape": "shapes"},),
    "kernels": ({"shape": "kernels"}, {"shape": "kernels", "by": "launch"}),
    "launches": ({"shape": "launches"},),
    "critical-path": ({"shape": "critical-path"},),
    "ranks": ({"shape": "ranks"},),
}
"""The questions behind each table of the Trace tab."""

_LISTS = ("rows", "steps", "ops", "segments")
"""Lists of a document that are cut to the report's rows."""

# Places in a block of the timeline.
_DURATION = 2
_COUNT = 5
_EXECUTION = 6


def newest_profiles(refs: Sequence[RecordRef], extent: Extent) -> list[RecordRef]:
    """The profiles whose trace a report holds."""
    newest_first = sorted(refs, key=lambda ref: -ref.written_wall_ns)
    return newest_first[: extent.profiles]


def trace_entries(
    source: Source, refs: Sequence[RecordRef], extent: Extent
) -> Iterator[SnapshotEntry]:
    """The traces of the newest profiles."""
    for ref in newest_profiles(refs, extent):
        yield from _profile_entries(source, ref, extent)


def _profile_entries(source: Source, ref: RecordRef, extent: Extent) -> Iterator[SnapshotEntry]:
    record = {"run": ref.run, "name": ref.name}
    try:
        tables = panes(source.select(ref.run, ref.name).executions().profile)
    except StepscopeError:
        return  # Its views say why it cannot be read.
    for table in tables:
        for question in _TABLES.get(table, ()):
            yield _entry(source, record | question, extent)
    if "memory" in tables:
        yield from _memory(source, record, extent)
    if "trace" in tables:
        yield from _timeline(source, record, extent)


def _entry(source: Source, question: Question, extent: Extent) -> SnapshotEntry:
    return entry("views", (question,), partial(_document, source, question, extent))


def _document(source: Source, question: Question, extent: Extent) -> Json:
    texts = {name: [text] for name, text in question.items()}
    document = documents.views(Query(source, texts))
    for name in _LISTS:
        if name in document:
            document = document | {name: document[name][: extent.rows]}
    return document


def _under(question: Question, answer: SnapshotEntry) -> SnapshotEntry:
    """The same answer to a question without the resolution, which the panel asks for by its width."""
    return SnapshotEntry("views", (question,), answer.document, answer.error)


def _memory(source: Source, record: Question, extent: Extent) -> Iterator[SnapshotEntry]:
    """Memory of each device, and of the one with the highest peak where none is named."""
    question = record | {"shape": "memory"}
    resolution = {"width_px": str(min(extent.points, MAX_WIDTH_PX))}
    highest = _entry(source, question | resolution, extent)
    yield _under(question, highest)
    if highest.document is None:
        return
    for device in highest.document["devices"]:
        of_device = question | {"device": device}
        yield _under(of_device, _entry(source, of_device | resolution, extent))


def _timeline(source: Source, record: Question, extent: Extent) -> Iterator[SnapshotEntry]:
    """The timeline as a whole, windows of it, and the details of its longest executions."""
    question = record | {"shape": "timeline"}
    resolution = {"width_px": str(MAX_WIDTH_PX)}
    whole = _entry(source, question | resolution, extent)
    yield _under(question, whole)
    if whole.document is None:
        return

    blocks = []
    for lane in whole.document["lanes"]:
        blocks += lane["blocks"]
    single = [block for block in blocks if block[_COUNT] == 1]
    if len(single) < len(blocks):
        first_ps = whole.document["first_ps"]
        last_ps = whole.document["last_ps"]
        for start_ps, end_ps in _windows(first_ps, last_ps, extent.windows):
            window = question | {"start_ps": str(start_ps), "end_ps": str(end_ps)}
            yield _under(window, _entry(source, window | resolution, extent))

    single.sort(key=lambda block: -block[_DURATION])
    for block in single[: extent.details]:
        event = record | {"shape": "event", "id": str(block[_EXECUTION])}
        yield entry("views", (event,), partial(_event, source, event, extent))


def _event(source: Source, question: Question, extent: Extent) -> Json:
    document = _document(source, question, extent)
    return document | {"arrows": document["arrows"][:MOST_ARROWS]}


def _windows(first_ps: int, last_ps: int, count: int) -> Iterator[tuple[int, int]]:
    """Windows of one length that cover a time, each overlapping the next by half."""
    half_ps = -(-(last_ps - first_ps) // (count + 1))
    for number in range(count):
        start_ps = first_ps + number * half_ps
        yield start_ps, min(start_ps + 2 * half_ps, last_ps)

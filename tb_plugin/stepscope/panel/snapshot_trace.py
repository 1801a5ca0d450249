"""What a report holds of a profile's single executions: its steps, trace, tables, memory and ranks.

Each is answered as for the panel, cut to the report's extent. The trace is kept as a picture of the whole, and, where
that merges short executions, as windows that overlap by half, so that what is in sight lies in one of them.
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
_TABLES = {
    "steps": ({"shape": "breakdown"},),
    "shapes": ({"shape": "shapes"},),
    "kernels": ({"shape": "kernels"}, {"shape": "kernels", "by": "launch"}),
    "launches": ({"shape": "launches"},),
    "critical-path": ({"shape": "critical-path"},),
    "ranks": ({"shape": "ranks"},),
}
_CUT = ("rows", "steps", "ops", "segments")
_MERGED, _EXECUTION, _DURATION = 5, 6, 2
"""Places in a block of the timeline."""

Json = dict[str, Any]


def newest_profiles(refs: Sequence[RecordRef], extent: Extent) -> list[RecordRef]:
    """The profiles of which a report holds the single executions."""
    return sorted(refs, key=lambda ref: -ref.written_wall_ns)[: extent.profiles]


def trace_entries(source: Source, refs: Sequence[RecordRef], extent: Extent) -> Iterator[SnapshotEntry]:
    """The tables and pictures of the newest profiles."""
    for ref in newest_profiles(refs, extent):
        yield from pane_documents(source, ref, extent)


def pane_documents(source: Source, ref: RecordRef, extent: Extent) -> Iterator[SnapshotEntry]:
    """The documents behind the panes of a profile."""
    named = {"run": ref.run, "name": ref.name}
    try:
        there = panes(source.select(ref.run, ref.name).executions().profile)
    except StepscopeError:
        return  # Its views say why it cannot be read.
    for question in (more for pane in there for more in _TABLES.get(pane, ())):
        yield _kept(source, named | question, extent)
    if "memory" in there:
        yield from _memory(source, named, extent)
    if "trace" in there:
        yield from _trace(source, named, extent)


def _kept(source: Source, question: dict[str, str], extent: Extent) -> SnapshotEntry:
    return entry("views", (question,), partial(_asked, source, question, extent))


def _asked(source: Source, question: dict[str, str], extent: Extent) -> Json:
    document = documents.views(Query(source, {name: [text] for name, text in question.items()}))
    return document | {name: document[name][: extent.rows] for name in _CUT if name in document}


def _memory(source: Source, named: dict[str, str], extent: Extent) -> Iterator[SnapshotEntry]:
    """Of each device; without one, of that with the highest peak."""
    wide = named | {"shape": "memory", "width_px": str(min(extent.points, MAX_WIDTH_PX))}
    first = _kept(source, wide, extent)
    yield SnapshotEntry("views", (named | {"shape": "memory"},), first.document, first.error)
    for device in (first.document or {}).get("devices", ()):
        one = _kept(source, wide | {"device": device}, extent)
        yield SnapshotEntry("views", (named | {"shape": "memory", "device": device},), one.document, one.error)


def _trace(source: Source, named: dict[str, str], extent: Extent) -> Iterator[SnapshotEntry]:
    question = named | {"shape": "timeline"}
    wide = question | {"width_px": str(MAX_WIDTH_PX)}
    whole = _kept(source, wide, extent)
    yield SnapshotEntry("views", (question,), whole.document, whole.error)
    if whole.document is None:
        return
    blocks = [block for lane in whole.document["lanes"] for block in lane["blocks"]]
    if any(block[_MERGED] > 1 for block in blocks):
        for start, end in _windows(whole.document["first_ps"], whole.document["last_ps"], extent.windows):
            window = {"start_ps": str(start), "end_ps": str(end)}
            part = _kept(source, wide | window, extent)
            yield SnapshotEntry("views", (question | window,), part.document, part.error)
    blocks.sort(key=lambda block: -block[_DURATION])
    for block in [block for block in blocks if block[_MERGED] == 1][: extent.details]:
        event = named | {"shape": "event", "id": str(block[_EXECUTION])}
        yield entry("views", (event,), partial(_event, source, event, extent))


def _event(source: Source, question: dict[str, str], extent: Extent) -> Json:
    document = _asked(source, question, extent)
    return document | {"arrows": document["arrows"][:MOST_ARROWS]}


def _windows(first: int, last: int, count: int) -> Iterator[tuple[int, int]]:
    """Windows of one length that cover a time, each overlapping the next by half."""
    half = -(-(last - first) // (count + 1))
    for number in range(count):
        start = first + number * half
        yield start, min(start + 2 * half, last)

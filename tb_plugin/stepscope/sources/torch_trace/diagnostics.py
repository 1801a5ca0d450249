"""What of a trace could not be read, or cannot be right, each with its count and a remedy."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from stepscope.model.columns import Array
from stepscope.model.diagnostic import Diagnostic
from stepscope.sources.torch_trace.bytes import ByteChunks
from stepscope.sources.torch_trace.columns import EventColumns
from stepscope.sources.torch_trace.device import OVERRUN_NS, launches_without_work
from stepscope.sources.torch_trace.events import EventStream
from stepscope.sources.torch_trace.header import TraceHeader
from stepscope.sources.torch_trace.links import EventLinks
from stepscope.sources.torch_trace.nesting import Nesting

_WHERE = "traceEvents"
_AGAIN = "Export the trace again, and let the process end before copying the file"
_REPLACED = "unknown"
_LONGEST_NAME = 80


def file_diagnostics(
    chunks: ByteChunks, stream: EventStream, columns: EventColumns, top: TraceHeader
) -> list[Diagnostic]:
    """What was lost or repaired while a file was read."""
    return [
        *_damage(chunks, stream),
        *_header_damage(top),
        *_times(columns),
        *_categories(columns),
    ]


def _damage(chunks: ByteChunks, stream: EventStream) -> Iterator[Diagnostic]:
    if stream.arrays > 1:
        what = f"{stream.arrays} lists of events in one file, shown together"
        apart = "Import each trace from a file of its own: clocks of hosts may not agree"
        yield Diagnostic(_WHERE, what, stream.arrays, apart)
    if chunks.damage:
        yield Diagnostic(_WHERE, f"{chunks.damage}; what comes before is shown", 0, _AGAIN)
    elif stream.cut_off:
        what = "the file is cut off; the events before the cut are shown"
        yield Diagnostic(_WHERE, what, 0, _AGAIN)
    if stream.repaired:
        what = f"repaired {_events(stream.repaired)}: not valid JSON"
        newer = "Nothing is lost; a newer PyTorch writes such names correctly"
        yield Diagnostic(_WHERE, what, stream.repaired, newer)
    if stream.dropped:
        what = f"dropped {_events(stream.dropped)}: nothing could be understood"
        yield Diagnostic(_WHERE, what, stream.dropped, _AGAIN)
    if stream.replaced:
        what = "replaced bytes that are not UTF-8 in names"
        newer = "Nothing is lost; a newer PyTorch writes such names correctly"
        yield Diagnostic(_WHERE, what, stream.replaced, newer)


def _header_damage(top: TraceHeader) -> Iterator[Diagnostic]:
    if top.damaged:
        what = "the file's properties are not valid JSON: devices and rank are unknown"
        yield Diagnostic(_WHERE, what, 0, _AGAIN)
    if top.trailing:
        yield Diagnostic(_WHERE, "something after the end of the trace is left out", 0, _AGAIN)
    if top.base_lost:
        what = "the time base cannot be used: the time of day is unknown"
        yield Diagnostic(_WHERE, what, 0, _AGAIN)


def _times(columns: EventColumns) -> Iterator[Diagnostic]:
    if columns.without_time:
        count = columns.without_time
        yield Diagnostic(_WHERE, f"{_events(count)} without a start time", count, "")
    if columns.far:
        what = f"{_events(columns.far)} more than 100 days away from the others"
        yield Diagnostic(_WHERE, what, columns.far, "")
    if columns.without_duration:
        count = columns.without_duration
        yield Diagnostic(_WHERE, f"{_events(count)} without a duration, taken as 0", count, "")
    if columns.negative:
        what = f"{_events(columns.negative)} of negative duration, taken as 0"
        yield Diagnostic(_WHERE, what, columns.negative, "")
    if columns.unpaired:
        what = f"{columns.unpaired} begins or ends of ranges without the other, left out"
        yield Diagnostic(_WHERE, what, columns.unpaired, "")


def _categories(columns: EventColumns) -> Iterator[Diagnostic]:
    if columns.unknown:
        common = columns.unknown.most_common(8)
        names = ", ".join(f"{name} ({count})" for name, count in common)
        what = f"events of unknown categories: {names}"
        yield Diagnostic(_WHERE, what, columns.unknown.total(), "Report the categories")
    if not columns.count:
        schedule = "Check that the profiler's schedule had an active step (prof.step() in the loop)"
        yield Diagnostic(_WHERE, "no events", 0, schedule)


def event_diagnostics(
    columns: EventColumns, nesting: Nesting, links: EventLinks
) -> list[Diagnostic]:
    """What the events of one rank say that cannot be right, or is not in the file."""
    return [
        *_lost_work(columns, links),
        *_overruns(columns, links),
        *_crossings(columns, nesting),
        *_replaced_names(columns, nesting),
    ]


def _lost_work(columns: EventColumns, links: EventLinks) -> Iterator[Diagnostic]:
    rows = launches_without_work(columns, links.launches)
    if not len(rows):
        return
    launched = links.launches
    largest = _largest(columns, launched.name[rows], launched.duration[rows])
    what = f"{_count(rows, 'launch', 'launches')} without device work in the trace"
    remedy = "Device time is missing. Let the device finish before the profiler stops, and profile fewer steps"
    yield Diagnostic(_WHERE, f"{what}; the longest call is {largest}", len(rows), remedy)


def _overruns(columns: EventColumns, links: EventLinks) -> Iterator[Diagnostic]:
    work = links.device
    cut = np.flatnonzero(work.cut > 0)
    if len(cut):
        durations = "duration of device work contains", "durations of device work contain"
        what = f"{_count(cut, *durations)} the end of later work of the same stream"
        largest = _largest(columns, work.name[cut], (work.duration + work.cut)[cut])
        what = f"{what}; StepScope cuts it at the start of that work. The largest is {largest}"
        yield Diagnostic(_WHERE, what, len(cut), "Update the driver: its timestamps are wrong")
    over = np.flatnonzero((work.overrun > OVERRUN_NS) & (work.cut == 0))
    if len(over):
        durations = "duration of device work overruns", "durations of device work overrun"
        what = f"{_count(over, *durations)} the next start on the same stream"
        largest = _largest(columns, work.name[over], work.overrun[over])
        yield Diagnostic(_WHERE, f"{what}; the largest overrun is {largest}", len(over), "")


def _crossings(columns: EventColumns, nesting: Nesting) -> Iterator[Diagnostic]:
    ops = nesting.ops
    rows = np.flatnonzero(ops.overrun > 0)
    if not len(rows):
        return
    what = _count(rows, "host range crosses", "host ranges cross")
    largest = _largest(columns, ops.name[rows], ops.overrun[rows])
    what = (
        f"{what} the end of another; StepScope clips them there. The largest overrun is {largest}"
    )
    yield Diagnostic(_WHERE, what, len(rows), "")


def _replaced_names(columns: EventColumns, nesting: Nesting) -> Iterator[Diagnostic]:
    number = columns.names.index.get(_REPLACED, -1)
    of_ops = nesting.ops.duration[nesting.ops.name == number]
    of_frames = nesting.frames.duration[nesting.frames.name == number]
    durations = np.concatenate([of_ops, of_frames])
    if not len(durations):
        return
    names = _count(durations, "name", "names")
    largest = _time(int(durations.max()))
    what = f"{names} that PyTorch replaced by 'unknown'; the longest range takes {largest}"
    remedy = "Use printable ASCII in names of ranges and functions"
    yield Diagnostic(_WHERE, what, len(durations), remedy)


def _largest(columns: EventColumns, names: Array, values_ns: Array) -> str:
    """The name and the time of the largest."""
    row = int(np.argmax(values_ns))
    name = columns.names.values()[int(names[row])]
    if len(name) > _LONGEST_NAME:
        name = f"{name[:_LONGEST_NAME]}..."
    return f"{name} ({_time(int(values_ns[row]))})"


def _time(duration_ns: int) -> str:
    return f"{duration_ns / 1000:,.3f}".rstrip("0").rstrip(".") + " us"


def _count(rows: Array, singular: str, plural: str) -> str:
    return f"{len(rows):,} {singular if len(rows) == 1 else plural}"


def _events(count: int) -> str:
    return "1 event" if count == 1 else f"{count} events"

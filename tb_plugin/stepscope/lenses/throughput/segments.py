"""Segments of a series without a reset, and the time in them that is not training."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from stepscope.model.arrays import I64
from stepscope.model.throughput import SPAN_KINDS, UNKNOWN_NS, ResetKind, Throughput

_CAUSES = {ResetKind.RESET: "reset", ResetKind.SESSION: "resume"}


@dataclass(frozen=True)
class Segment:
    """Marks that one average may span: from a start, a reset or a resume to the next.

    Attributes:
        cause: What it begins with: start, excerpt (the start is not known), reset, resume.
        begin_ns: From when samples are counted.
        end_ns: The last mark.
        low: The first mark that is counted.
        high: The end of the marks.
        base_step: The step before the first one counted.
    """

    cause: str
    begin_ns: int
    end_ns: int
    low: int
    high: int
    base_step: int

    def count(self, record: Throughput) -> int:
        """The samples counted in it."""
        return int(np.maximum(record.marks.count[self.low : self.high], 0).sum())

    def steps(self, record: Throughput) -> int:
        """The steps taken in it, 0 when steps are not known."""
        last = int(record.marks.step[self.high - 1])
        if last < 0:
            return 0
        return max(last - self.base_step, 0)


def segments(record: Throughput) -> list[Segment]:
    """The segments that have marks, in order."""
    starts = _starts(record)
    ends = [start.mark for start in starts[1:]]
    ends.append(len(record.marks))
    parts = []
    for start, end in zip(starts, ends, strict=True):
        segment = _segment(record, start, end)
        if segment is not None:
            parts.append(segment)
    return parts


@dataclass(frozen=True)
class _Start:
    """Where a segment begins: why, when, and at which mark."""

    cause: str
    begin_ns: int
    mark: int


def _starts(record: Throughput) -> list[_Start]:
    cause = "start"
    if record.start_ns == UNKNOWN_NS:
        cause = "excerpt"
    starts = [_Start(cause, record.start_ns, 0)]
    resets = record.resets
    for index, kind in enumerate(resets.kind.tolist()):
        # A reset of the clock alone leaves the counts: the segment goes on.
        if kind not in _CAUSES:
            continue
        begin_ns = int(resets.time_ns[index] - resets.offset_ns[index])
        starts.append(_Start(_CAUSES[ResetKind(kind)], begin_ns, int(resets.mark_end[index])))
    return starts


def _segment(record: Throughput, start: _Start, high: int) -> Segment | None:
    """The segment from a start to a mark, None where no mark is counted in it."""
    marks = record.marks
    low = start.mark
    begin_ns = start.begin_ns
    if begin_ns == UNKNOWN_NS and low < high:
        # Without a start the first mark is where counting begins.
        begin_ns = int(marks.time_ns[low])
        low += 1
    if low >= high:
        return None
    return Segment(
        cause=start.cause,
        begin_ns=begin_ns,
        end_ns=int(marks.time_ns[low:high].max()),
        low=low,
        high=high,
        base_step=_base_step(record, start.cause, low, high),
    )


def _base_step(record: Throughput, cause: str, low: int, high: int) -> int:
    """The step before the first one counted."""
    marks = record.marks
    if cause == "excerpt":
        return int(marks.step[low - 1])
    first = int(marks.step[low])
    if record.batch_size:
        counted = int(marks.count[low]) // record.batch_size
        if 0 < counted <= first:
            return first - counted
    stride = _stride(marks.step[low:high])
    if first >= stride:
        return first - stride
    # A log that prints step 1 and then every 100th has not taken 100 steps by its first line.
    return min(first - 1, 0)


def _stride(step: I64) -> int:
    """The steps from the first mark to the first one of a later step."""
    later = step > step[0]
    if not later.any():
        return 1
    return int(step[int(np.argmax(later))] - step[0])


def after_warm_up(record: Throughput, segment: Segment, steps: int) -> Segment | None:
    """The segment without its first steps: their samples and their time are both left out."""
    if not steps:
        return segment
    step = record.marks.step[segment.low : segment.high]
    if int(step[-1]) >= 0:
        reached = np.maximum.accumulate(step)
        skipped = int(np.searchsorted(reached, segment.base_step + steps, side="right"))
    else:
        skipped = min(steps, len(step))
    return _from_mark(record, segment, segment.low + skipped)


def last_steps(record: Throughput, segment: Segment, steps: int) -> Segment | None:
    """The last steps of a segment."""
    step = record.marks.step[segment.low : segment.high]
    if int(step[-1]) >= 0:
        reached = np.maximum.accumulate(step)
        first = int(np.searchsorted(reached, int(step[-1]) - steps, side="right"))
    else:
        first = max(len(step) - steps, 0)
    return _from_mark(record, segment, segment.low + first)


def _from_mark(record: Throughput, segment: Segment, low: int) -> Segment | None:
    if low == segment.low:
        return segment
    if low >= segment.high:
        return None
    marks = record.marks
    return replace(
        segment,
        begin_ns=int(marks.time_ns[low - 1]),
        low=low,
        base_step=int(marks.step[low - 1]),
    )


@dataclass(frozen=True, eq=False)
class Intervals:
    """Disjoint intervals in order of time."""

    start_ns: I64
    end_ns: I64

    def inside(self, begin_ns: int, end_ns: int) -> int:
        """How much of [begin, end) they cover."""
        low = np.maximum(self.start_ns, begin_ns)
        high = np.minimum(self.end_ns, end_ns)
        return int(np.maximum(high - low, 0).sum())


def span_intervals(record: Throughput, kinds: Iterable[str] = SPAN_KINDS) -> Intervals:
    """The union of the spans of these kinds."""
    if not len(record.spans):
        none = np.empty(0, np.int64)
        return Intervals(none, none)
    wanted = set(kinds)
    numbers = [index for index, text in enumerate(record.strings) if text in wanted]
    spans = record.spans
    chosen = np.flatnonzero(np.isin(spans.kind, numbers) & (spans.end_ns > spans.start_ns))
    ordered = chosen[np.argsort(spans.start_ns[chosen], kind="stable")]
    start = spans.start_ns[ordered]
    end = np.maximum.accumulate(spans.end_ns[ordered])
    if not len(start):
        return Intervals(start, end)
    first = np.append(True, start[1:] > end[:-1])
    last = np.append(first[1:], True)
    return Intervals(start[first], end[last])

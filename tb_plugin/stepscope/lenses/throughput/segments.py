"""Stretches of a series without a reset, and the time in them that is not training."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

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
        return max(last - self.base_step, 0) if last >= 0 else 0


def segments(record: Throughput) -> list[Segment]:
    """The stretches that have marks, in order."""
    starts = [("start" if record.start_ns != UNKNOWN_NS else "excerpt", record.start_ns, 0)]
    resets = record.resets
    for kind, at, offset, mark in zip(resets.kind, resets.time_ns, resets.offset_ns, resets.mark_end, strict=True):
        if kind in _CAUSES:
            starts.append((_CAUSES[ResetKind(kind)], int(at - offset), int(mark)))
    ends = [*(low for _, _, low in starts[1:]), len(record.marks)]
    found = (_stretch(record, cause, begin, low, high) for (cause, begin, low), high in zip(starts, ends, strict=True))
    return [stretch for stretch in found if stretch is not None]


def _stretch(record: Throughput, cause: str, begin: int, low: int, high: int) -> Segment | None:
    marks = record.marks
    if begin == UNKNOWN_NS and low < high:
        begin, low = int(marks.time_ns[low]), low + 1
    if low >= high:
        return None
    first = int(marks.step[low])
    if cause == "excerpt":
        base = int(marks.step[low - 1])
    else:
        counted = int(marks.count[low]) // record.batch_size if record.batch_size else 0
        base = max(first - counted, 0) if 0 < counted <= first else _before(first, _stride(marks.step[low:high]))
    return Segment(cause, begin, int(marks.time_ns[low:high].max()), low, high, base)


def _before(first: int, stride: int) -> int:
    """The step before the first mark: a log that prints step 1 and then every 100th has not taken 100 steps by then."""
    if first >= stride:
        return first - stride
    return 0 if first > 0 else first - 1


def _stride(step: I64) -> int:
    later = step > step[0]
    return int(step[int(np.argmax(later))] - step[0]) if later.any() else 1


def after_warm_up(record: Throughput, stretch: Segment, steps: int) -> Segment | None:
    """The stretch without its first steps: their samples and their time are both left out."""
    if not steps:
        return stretch
    step = record.marks.step[stretch.low : stretch.high]
    if int(step[-1]) >= 0:
        skipped = int(np.searchsorted(np.maximum.accumulate(step), stretch.base_step + steps, side="right"))
    else:
        skipped = min(steps, len(step))
    return _from_mark(record, stretch, stretch.low + skipped)


def last_steps(record: Throughput, stretch: Segment, steps: int) -> Segment | None:
    """The last steps of a stretch."""
    step = record.marks.step[stretch.low : stretch.high]
    if int(step[-1]) >= 0:
        first = int(np.searchsorted(np.maximum.accumulate(step), int(step[-1]) - steps, side="right"))
    else:
        first = max(len(step) - steps, 0)
    return _from_mark(record, stretch, stretch.low + first)


def _from_mark(record: Throughput, stretch: Segment, low: int) -> Segment | None:
    if low == stretch.low:
        return stretch
    if low >= stretch.high:
        return None
    marks = record.marks
    begin, base = int(marks.time_ns[low - 1]), int(marks.step[low - 1])
    return Segment(stretch.cause, begin, stretch.end_ns, low, stretch.high, base)


@dataclass(frozen=True, eq=False)
class Intervals:
    """Disjoint intervals in order of time."""

    start_ns: I64
    end_ns: I64

    def inside(self, begin_ns: int, end_ns: int) -> int:
        """How much of [begin, end) they cover."""
        low, high = np.maximum(self.start_ns, begin_ns), np.minimum(self.end_ns, end_ns)
        return int(np.maximum(high - low, 0).sum())


def span_intervals(record: Throughput, kinds: Iterable[str] = SPAN_KINDS) -> Intervals:
    """The union of the spans of these kinds."""
    if not len(record.spans):
        none = np.empty(0, np.int64)
        return Intervals(none, none)
    wanted = [index for index, text in enumerate(record.strings) if text in set(kinds)]
    spans = record.spans
    chosen = np.isin(spans.kind, wanted) & (spans.end_ns > spans.start_ns)
    start, end = spans.start_ns[chosen], spans.end_ns[chosen]
    order = np.argsort(start, kind="stable")
    start, end = start[order], np.maximum.accumulate(end[order])
    if not len(start):
        return Intervals(start, end)
    first = np.append(True, start[1:] > end[:-1])
    last = np.append(first[1:], True)
    return Intervals(start[first], end[last])

"""How long each step, or each stretch of steps between two marks, took: what disturbances are looked for in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from stepscope.lenses.throughput.segments import Segment
from stepscope.model.throughput import Throughput

I64 = NDArray[np.int64]
F64 = NDArray[np.float64]
Bools = NDArray[np.bool_]

SECOND_NS = 1_000_000_000
FEW = 100


@dataclass(frozen=True, eq=False)
class Pace:
    """The intervals between the last marks of successive steps.

    Attributes:
        begin_ns: The mark before, or the start.
        end_ns: The last mark of the step.
        step: The step at the end.
        steps: How many steps it covers.
        first: Whether it is the first of a stretch whose start is known.
        resolution_ns: The stamps' resolution: a second where all are whole seconds.
    """

    begin_ns: I64
    end_ns: I64
    step: I64
    steps: I64
    first: Bools
    resolution_ns: int

    def __len__(self) -> int:
        return len(self.step)

    @cached_property
    def per_step_ns(self) -> F64:
        """Time per step."""
        passed = self.end_ns - self.begin_ns
        per_step: F64 = passed / self.steps
        return per_step

    @cached_property
    def stride(self) -> int:
        """How many steps an interval usually covers."""
        if not len(self.steps) or int(self.steps.max()) == 1:
            return 1
        return int(np.median(self.steps))

    def only(self, chosen: Bools) -> Pace:
        """Some of the intervals."""
        if chosen.all():
            return self
        return Pace(
            self.begin_ns[chosen],
            self.end_ns[chosen],
            self.step[chosen],
            self.steps[chosen],
            self.first[chosen],
            self.resolution_ns,
        )

    def grouped(self, starts: I64) -> Pace:
        """Intervals put together: one begins at each of these and holds all up to the next; the first begins at 0."""
        low = np.union1d([0], starts)
        high = np.append(low[1:], len(self)) - 1
        return Pace(
            self.begin_ns[low],
            self.end_ns[high],
            self.step[high],
            np.add.reduceat(self.steps, low),
            np.logical_or.reduceat(self.first, low),
            self.resolution_ns,
        )

    def touched(self, start_ns: I64, end_ns: I64) -> Bools:
        """Which intervals overlap any of these, given in order of time."""
        if not len(start_ns):
            return np.zeros(len(self), np.bool_)
        ended = np.maximum.accumulate(end_ns)
        before = np.searchsorted(start_ns, self.end_ns, side="left")
        return (before > 0) & (ended[np.maximum(before - 1, 0)] > self.begin_ns)


def pace(record: Throughput, parts: Sequence[Segment]) -> Pace:
    """The pace over all stretches."""
    rows = [_rows(record, part) for part in parts]
    if not rows:
        none = np.empty(0, np.int64)
        return Pace(none, none, none, none, np.empty(0, np.bool_), 1)
    begin, end, step, steps, first = rows[0] if len(rows) == 1 else map(np.concatenate, zip(*rows, strict=True))
    return Pace(begin, end, step, steps, first.astype(np.bool_), _resolution(record.marks.time_ns))


def _resolution(time_ns: I64) -> int:
    whole = not ((time_ns[:FEW] - time_ns[0]) % SECOND_NS).any()
    return SECOND_NS if whole and not ((time_ns - time_ns[0]) % SECOND_NS).any() else 1


def _rows(record: Throughput, part: Segment) -> tuple[I64, I64, I64, I64, Bools]:
    step, time = record.marks.step[part.low : part.high], record.marks.time_ns[part.low : part.high]
    if int(step[-1]) >= 0:
        last = np.append(step[1:] != step[:-1], True)
        step, time = step[last], time[last]
        steps = np.maximum(np.diff(step, prepend=part.base_step), 1)
    else:
        steps = np.ones(len(step), np.int64)
    first = np.zeros(len(step), np.bool_)
    first[0] = part.cause != "excerpt"
    return np.concatenate([[part.begin_ns], time[:-1]]), time, step, steps, first

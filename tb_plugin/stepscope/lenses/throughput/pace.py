"""The time of each step, or of all steps between two marks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from stepscope.lenses.throughput.segments import Segment
from stepscope.model.arrays import F64, I64, Bools
from stepscope.model.throughput import Throughput

SECOND_NS = 1_000_000_000
MILLISECOND_NS = 1_000_000
FEW = 100


@dataclass(frozen=True, eq=False)
class Pace:
    """The intervals between the last marks of successive steps.

    Attributes:
        begin_ns: The mark before, or the start.
        end_ns: The last mark of the step.
        step: The step at the end.
        steps: How many steps it covers.
        taken: Steps since the segment began, at the end.
        first: Whether it is the first of a segment whose start is known.
        resolution_ns: See `resolution_ns`.
    """

    begin_ns: I64
    end_ns: I64
    step: I64
    steps: I64
    taken: I64
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
            begin_ns=self.begin_ns[chosen],
            end_ns=self.end_ns[chosen],
            step=self.step[chosen],
            steps=self.steps[chosen],
            taken=self.taken[chosen],
            first=self.first[chosen],
            resolution_ns=self.resolution_ns,
        )

    def touched(self, start_ns: I64, end_ns: I64) -> Bools:
        """Which intervals overlap any of these, given in order of time."""
        if not len(start_ns):
            return np.zeros(len(self), np.bool_)
        ended = np.maximum.accumulate(end_ns)
        before = np.searchsorted(start_ns, self.end_ns, side="left")
        return (before > 0) & (ended[np.maximum(before - 1, 0)] > self.begin_ns)


def pace(record: Throughput, parts: Sequence[Segment]) -> Pace:
    """The pace over all segments."""
    rows = [_rows(record, part) for part in parts]
    if not rows:
        none = np.empty(0, np.int64)
        return Pace(
            begin_ns=none,
            end_ns=none,
            step=none,
            steps=none,
            taken=none,
            first=np.empty(0, np.bool_),
            resolution_ns=1,
        )
    if len(rows) == 1:
        return rows[0]
    return Pace(
        begin_ns=np.concatenate([part.begin_ns for part in rows]),
        end_ns=np.concatenate([part.end_ns for part in rows]),
        step=np.concatenate([part.step for part in rows]),
        steps=np.concatenate([part.steps for part in rows]),
        taken=np.concatenate([part.taken for part in rows]),
        first=np.concatenate([part.first for part in rows]),
        resolution_ns=rows[0].resolution_ns,
    )


def resolution_ns(time_ns: I64) -> int:
    """The resolution of timestamps: a second, a millisecond or a nanosecond."""
    for unit in (SECOND_NS, MILLISECOND_NS):
        # A few timestamps rule most units out without a look at all of them.
        if _divides(unit, time_ns[:FEW]) and _divides(unit, time_ns):
            return unit
    return 1


def _divides(unit: int, time_ns: I64) -> bool:
    """Whether all timestamps lie whole units after the first one."""
    return not ((time_ns - time_ns[:1]) % unit).any()


def _rows(record: Throughput, part: Segment) -> Pace:
    step = record.marks.step[part.low : part.high]
    time = record.marks.time_ns[part.low : part.high]
    if int(step[-1]) >= 0:
        last = np.append(step[1:] != step[:-1], True)
        step = step[last]
        time = time[last]
        steps = np.maximum(np.diff(step, prepend=part.base_step), 1)
        taken = step
        # Blocks are counted from the run's begin: of an excerpt that is step 0.
        if part.cause != "excerpt":
            taken = step - part.base_step
    else:
        steps = np.ones(len(step), np.int64)
        taken = np.arange(1, len(step) + 1)
    first = np.zeros(len(step), np.bool_)
    first[0] = part.cause != "excerpt"
    return Pace(
        begin_ns=np.concatenate([[part.begin_ns], time[:-1]]),
        end_ns=time,
        step=step,
        steps=steps,
        taken=taken,
        first=first,
        resolution_ns=resolution_ns(record.marks.time_ns),
    )

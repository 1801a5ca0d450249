"""Parts of a run that an average may span: none begins or ends amid queued results.

While results queue up and then arrive at once, the host counts first too little and then too much.
An average between two moments at which all finished work had arrived never exceeds the device.
Where results arrive in blocks, these moments are the ends of blocks. Else they are all marks but
those of a catch-up.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from stepscope.lenses.throughput.diagnosis import Diagnosis
from stepscope.lenses.throughput.segments import Segment, after_warm_up, last_steps
from stepscope.model.arrays import F64, I64
from stepscope.model.throughput import Throughput


@dataclass(frozen=True)
class Part:
    """A part of a run.

    Attributes:
        begin_ns: Its begin.
        end_ns: Its end.
        steps: Steps taken in it.
        count: Samples counted in it; a fraction where a block ends between two marks.
    """

    begin_ns: int
    end_ns: int
    steps: int
    count: float


@dataclass(frozen=True, eq=False)
class Moments:
    """Moments of a segment, ascending, at which all that was done had arrived.

    Attributes:
        time_ns: When.
        taken: Steps taken since the segment began.
        count: Samples counted since then.
    """

    time_ns: I64
    taken: I64
    count: F64

    def between(self, low: int, high: int) -> Part:
        """The part from one moment to another."""
        return Part(
            begin_ns=int(self.time_ns[low]),
            end_ns=int(self.time_ns[high]),
            steps=int(self.taken[high] - self.taken[low]),
            count=float(self.count[high] - self.count[low]),
        )

    def after(self, warm_up: int) -> Part | None:
        """All but the first steps; None where nothing is left."""
        low = self._after_steps(warm_up)
        high = len(self.taken) - 1
        if low >= high:
            return None
        return self.between(low, high)

    def last(self, window: int, warm_up: int) -> Part | None:
        """The last steps, as many as asked for or the nearest number of whole blocks."""
        earliest = self._after_steps(warm_up)
        high = len(self.taken) - 1
        if earliest >= high:
            return None
        wanted = int(self.taken[high]) - window
        low = int(np.searchsorted(self.taken, wanted, side="right")) - 1
        low = min(max(low, 0), high - 1)
        if low + 1 < high:
            away = np.abs(self.taken[low : low + 2] - wanted)
            low += int(away[1] < away[0])
        return self.between(max(low, earliest), high)

    def _after_steps(self, warm_up: int) -> int:
        """The first moment by which the first steps were taken."""
        if not warm_up:
            return 0
        return int(np.searchsorted(self.taken, warm_up, side="left"))


def moments(record: Throughput, segment: Segment, diagnosis: Diagnosis) -> Moments | None:
    """The moments of a segment, None where every mark is one and the segment itself will do."""
    if diagnosis.blocks is not None:
        return _block_ends(record, segment, diagnosis)
    if not diagnosis.catch_ups:
        return None
    return _marks(record, segment, diagnosis)


def mark_moments(record: Throughput, segment: Segment) -> Moments:
    """The segment's begin and each of its marks."""
    marks = record.marks
    step = marks.step[segment.low : segment.high]
    taken = np.arange(1, len(step) + 1)
    if int(step[-1]) >= 0:
        taken = np.maximum.accumulate(step - segment.base_step)
    time_ns = np.maximum.accumulate(marks.time_ns[segment.low : segment.high])
    counted = np.cumsum(np.maximum(marks.count[segment.low : segment.high], 0))
    return Moments(
        time_ns=np.append(segment.begin_ns, time_ns),
        taken=np.append(0, taken),
        count=np.append(0.0, counted),
    )


def _marks(record: Throughput, segment: Segment, diagnosis: Diagnosis) -> Moments:
    every = mark_moments(record, segment)
    kept = np.ones(len(every.time_ns), np.bool_)
    run = diagnosis.run
    for catch in diagnosis.catch_ups:
        begin_ns = int(run.begin_ns[catch.index])
        end_ns = int(run.end_ns[catch.last])
        kept &= (every.time_ns <= begin_ns) | (every.time_ns >= end_ns)
    return Moments(every.time_ns[kept], every.taken[kept], every.count[kept])


def _block_ends(record: Throughput, segment: Segment, diagnosis: Diagnosis) -> Moments | None:
    run = diagnosis.run
    inside = (run.begin_ns >= segment.begin_ns) & (run.end_ns <= segment.end_ns)
    if not inside.any():
        return None
    every = mark_moments(record, segment)
    first = int(np.argmax(inside))
    offset = 0
    if segment.cause == "excerpt":
        # The pace of an excerpt counts steps from the run's begin, its moments from the excerpt's.
        offset = segment.base_step
    taken = np.append(run.taken[first] - run.steps[first], run.taken[inside])
    return Moments(
        time_ns=np.append(run.begin_ns[first], run.end_ns[inside]),
        taken=taken,
        count=np.interp(taken - offset, every.taken, every.count),
    )


def training_part(
    record: Throughput,
    segment: Segment,
    diagnosis: Diagnosis,
    warm_up: int,
) -> Part | None:
    """A segment without its first steps; None where nothing is left."""
    whole = moments(record, segment, diagnosis)
    if whole is not None:
        return whole.after(warm_up)
    trained = after_warm_up(record, segment, warm_up)
    if trained is None:
        return None
    return _part_of(record, trained)


def window_part(
    record: Throughput,
    segment: Segment,
    diagnosis: Diagnosis,
    *,
    window: int,
    warm_up: int,
) -> Part | None:
    """The last steps of a segment without its first ones; None where nothing is left."""
    whole = moments(record, segment, diagnosis)
    if whole is not None:
        return whole.last(window, warm_up)
    trained = after_warm_up(record, segment, warm_up)
    if trained is None:
        return None
    last = last_steps(record, trained, window)
    if last is None:
        return None
    return _part_of(record, last)


def _part_of(record: Throughput, segment: Segment) -> Part:
    return Part(
        begin_ns=segment.begin_ns,
        end_ns=segment.end_ns,
        steps=segment.steps(record),
        count=segment.count(record),
    )

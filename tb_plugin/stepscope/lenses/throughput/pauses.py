"""Single disturbances: the first step, pauses, and the results that catch up after one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from stepscope.lenses.throughput.pace import SECOND_NS, Pace
from stepscope.lenses.throughput.segments import span_intervals
from stepscope.model.arrays import Bools
from stepscope.model.throughput import PAUSE_KINDS, Throughput

FIRST_RATIO = 1.3
FIRST_OVER_SLOW = 1.25
FIRST_SPREADS = 2.5
FEW_RATIO = 2.0
LEAST_OTHERS = 3
FAR_RATIO = 10.0
NEARLY = 0.9
ONE_OF = 500
STALL_RATIO_SINGLE = 10.0
STALL_RATIO_COARSE = 3.0
LEAST_STALL_NS = SECOND_NS // 10
BURST_RATIO = 0.67
STILL_FAST = 0.97
CAUGHT_UP_SHARE = 0.1
PAUSE_RATIO = 2.0
PAUSE_CAUGHT_UP_SHARE = 0.5
MOST_CAUGHT_UP_SHARE = 1.2
"""What is caught up cannot be more than what was lost, but for noise."""
MOST_IN_A_ROW = 3
CHUNK = 1024
MOST_SPANS = 10_000


@dataclass(frozen=True)
class Pause:
    """An interval that took much longer than others.

    Attributes:
        index: The interval.
        extra_ns: What it took more than its steps usually take.
        ratio: How much longer a step took than usual.
    """

    index: int
    extra_ns: int
    ratio: float


@dataclass(frozen=True)
class CatchUp:
    """A pause of the host during which the device went on, and the queued results after it.

    Attributes:
        kind: The span's word, empty for a pause without a span.
        index: The interval with the pause.
        last: The last interval that is faster than the device because of it.
        paused_ns: How long the pause was: of the span, else what the interval took more than usual.
        net_ns: What all these intervals took more than their steps usually take: the time lost.
        burst_steps: Steps that arrived much faster than usual.
        burst_ns: How long they took.
    """

    kind: str
    index: int
    last: int
    paused_ns: int
    net_ns: int
    burst_steps: int
    burst_ns: int

    @property
    def saved_ns(self) -> int:
        """How much of the pause was caught up."""
        return max(self.paused_ns - self.net_ns, 0)


def first_step(pace: Pace, disturbed: Bools) -> Pause | None:
    """The first interval, where it was much slower than nearly all others.

    A first interval is usual where some others are as slow, unless it is ten times the typical one.
    """
    calm = ~pace.first & ~disturbed
    if 2 * int(calm.sum()) < len(pace) - 1:
        # Where nearly every interval has a pause in it, those are the usual ones.
        calm = ~pace.first
    others = pace.per_step_ns[calm]
    others = others[others > 0]
    if not len(pace) or not pace.first[0] or not len(others):
        return None
    typical, slow = np.quantile(others, [0.5, 0.9]).tolist()
    first_ns = float(pace.per_step_ns[0])
    ratio = FIRST_RATIO + FEW_RATIO / len(others)
    over_slow = FIRST_OVER_SLOW
    if len(others) < LEAST_OTHERS:
        # Few others say what is usual only roughly.
        ratio = over_slow = FAR_RATIO
    least = max(ratio * typical, over_slow * slow, typical + FIRST_SPREADS * (slow - typical))
    alike = int((others > NEARLY * first_ns).sum())
    usual = first_ns < FAR_RATIO * typical and alike > 1 + len(others) // ONE_OF
    if first_ns <= least or usual:
        return None
    return pause_at(pace, 0, typical)


def pause_at(pace: Pace, index: int, typical: float) -> Pause:
    """What an interval took more than usual."""
    duration = int(pace.end_ns[index] - pace.begin_ns[index])
    extra = duration - typical * int(pace.steps[index])
    return Pause(index, round(extra), float(pace.per_step_ns[index]) / max(typical, 1.0))


def stalls(pace: Pace, calm: Bools, typical: float, most: int) -> list[Pause]:
    """The longest intervals of no known cause, many times as long as usual, in order of time."""
    if int(calm.sum()) <= LEAST_OTHERS or typical <= 0:
        return []
    times = pace.per_step_ns
    ratio = STALL_RATIO_COARSE
    least = PAUSE_RATIO
    if pace.stride == 1:
        ratio = least = STALL_RATIO_SINGLE
    slow = np.flatnonzero(_single(calm & (times > least * typical)))
    extra = (times[slow] - typical) * pace.steps[slow]
    enough = extra > max(LEAST_STALL_NS, 3 * pace.resolution_ns)
    lesser = np.flatnonzero(enough & (times[slow] <= ratio * typical))
    enough[lesser] = False
    for at in lesser[np.argsort(-extra[lesser], kind="stable")[:most]].tolist():
        # A lesser pause is told from a slow interval by what catches up after it.
        index = int(slow[at])
        caught = catch_up(
            pace,
            index,
            typical,
            kind="",
            paused_ns=round(extra[at]),
            share=PAUSE_CAUGHT_UP_SHARE,
        )
        enough[at] = caught is not None
    slow = slow[enough]
    extra = extra[enough]
    longest = np.sort(slow[np.argsort(-extra, kind="stable")[:most]])
    return [pause_at(pace, int(index), typical) for index in longest]


def _single(slow: Bools) -> Bools:
    """Slow intervals that are not among several in a row: those are a change of speed."""
    size = len(slow)
    edges = np.flatnonzero(np.diff(np.concatenate([[0], slow.astype(np.int8), [0]])))
    starts = edges[::2]
    ends = edges[1::2]
    long = ends - starts > MOST_IN_A_ROW
    change = np.zeros(size + 1, np.int64)
    np.add.at(change, starts[long], 1)
    np.add.at(change, ends[long], -1)
    single: Bools = slow & (np.cumsum(change)[:size] == 0)
    return single


def catch_up(
    pace: Pace,
    index: int,
    typical: float,
    *,
    kind: str,
    paused_ns: int,
    share: float = CAUGHT_UP_SHARE,
) -> CatchUp | None:
    """The burst after a pause: successive intervals much faster than usual, as a queue drains.

    They are a burst where they catch up at least this share of the pause, and not more than the
    pause. A single fast step is chance unless it catches up most of it.
    """
    first = index + 1
    stop = _burst_end(pace, first, typical)
    length = stop - first
    drained = slice(first, stop)
    saved = float(((typical - pace.per_step_ns[drained]) * pace.steps[drained]).sum())
    least = share
    if pace.stride == length == 1:
        least = PAUSE_CAUGHT_UP_SHARE
    most = MOST_CAUGHT_UP_SHARE * paused_ns + typical * int(pace.steps[index])
    if not length or not least * paused_ns <= saved <= most:
        return None
    last = stop - 1
    if stop < len(pace) and not pace.first[stop] and pace.per_step_ns[stop] < STILL_FAST * typical:
        # The interval in which the queue runs empty is still partly too fast.
        last = stop
    steps = int(pace.steps[index : last + 1].sum())
    net = int(pace.end_ns[last] - pace.begin_ns[index]) - typical * steps
    return CatchUp(
        kind=kind,
        index=index,
        last=last,
        paused_ns=paused_ns,
        net_ns=min(max(round(net), 0), paused_ns),
        burst_steps=int(pace.steps[drained].sum()),
        burst_ns=int(pace.end_ns[stop - 1] - pace.end_ns[index]),
    )


def _burst_end(pace: Pace, first: int, typical: float) -> int:
    """The end of the intervals from this one on that are much faster than usual."""
    stop = first
    while stop < len(pace):
        # In chunks: most bursts are short, and a run may have millions of intervals.
        fast = pace.per_step_ns[stop : stop + CHUNK] < BURST_RATIO * typical
        if not fast.all():
            return stop + int(np.argmin(fast))
        stop += len(fast)
    return stop


def span_catch_ups(record: Throughput, pace: Pace, typical: float) -> Iterator[CatchUp]:
    """The catch-ups after known pauses, in order of kind and time."""
    if not len(pace) or typical <= 0:
        return
    for kind in PAUSE_KINDS:
        spans = span_intervals(record, [kind])
        inside = (spans.end_ns > pace.begin_ns[0]) & (spans.start_ns < pace.end_ns[-1])
        for span in np.flatnonzero(inside)[:MOST_SPANS].tolist():
            end_ns = int(spans.end_ns[span])
            index = min(int(np.searchsorted(pace.end_ns, end_ns)), len(pace) - 1)
            paused_ns = end_ns - int(spans.start_ns[span])
            found = catch_up(pace, index, typical, kind=kind, paused_ns=paused_ns)
            if found is not None:
                yield found

"""Single disturbances: the first step, known and unknown pauses, and the burst of results after one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from stepscope.lenses.throughput.pace import SECOND_NS, Pace

Bools = NDArray[np.bool_]
I64 = NDArray[np.int64]

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
CAUGHT_UP_SHARE = 0.1
PAUSE_RATIO = 2.0
PAUSE_CAUGHT_UP_SHARE = 0.5
CHUNK = 1024


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


def first_step(pace: Pace, disturbed: Bools) -> Pause | None:
    """The first interval, where it was much slower than nearly all others, and not as slow as some of them are."""
    calm = ~pace.first & ~disturbed
    # Where nearly every interval has a pause in it, those are the usual ones.
    others = pace.per_step_ns[calm if 2 * int(calm.sum()) >= len(pace) - 1 else ~pace.first]
    if not len(pace) or not pace.first[0] or not len(others):
        return None
    typical, slow = np.quantile(others, [0.5, 0.9]).tolist()
    mine = float(pace.per_step_ns[0])
    # Few others say what is usual only roughly.
    few = len(others) < LEAST_OTHERS
    ratio, over_slow = (FAR_RATIO, FAR_RATIO) if few else (FIRST_RATIO + FEW_RATIO / len(others), FIRST_OVER_SLOW)
    least = max(ratio * typical, over_slow * slow, typical + FIRST_SPREADS * (slow - typical))
    alike = int((others > NEARLY * mine).sum())
    usual = mine < FAR_RATIO * typical and alike > 1 + len(others) // ONE_OF
    return None if mine <= least or usual else _pause(pace, 0, typical)


def _pause(pace: Pace, index: int, typical: float) -> Pause:
    duration = int(pace.end_ns[index] - pace.begin_ns[index])
    extra = duration - typical * int(pace.steps[index])
    return Pause(index, round(extra), float(pace.per_step_ns[index]) / max(typical, 1.0))


def stalls(pace: Pace, disturbed: Bools, typical: float, most: int) -> list[Pause]:
    """Intervals of no known cause that took many times as long as usual: the longest, in order of time."""
    calm = ~pace.first & ~disturbed
    if int(calm.sum()) <= LEAST_OTHERS:
        return []
    times = pace.per_step_ns
    ratio, least = (STALL_RATIO_SINGLE,) * 2 if pace.stride == 1 else (STALL_RATIO_COARSE, PAUSE_RATIO)
    slow = np.flatnonzero(calm & (times > least * typical))
    extra = (times[slow] - typical) * pace.steps[slow]
    enough = extra > max(LEAST_STALL_NS, 3 * pace.resolution_ns)
    lesser = np.flatnonzero(enough & (times[slow] <= ratio * typical))
    enough[lesser] = False
    for at in lesser[np.argsort(-extra[lesser], kind="stable")[:most]].tolist():
        # A lesser pause is told from a slow interval by what catches up after it.
        enough[at] = burst(pace, int(slow[at]), typical, extra[at], PAUSE_CAUGHT_UP_SHARE) > 0
    slow, extra = slow[enough], extra[enough]
    longest = np.sort(slow[np.argsort(-extra, kind="stable")[:most]])
    return [_pause(pace, int(index), typical) for index in longest]


def burst(pace: Pace, after: int, typical: float, paused_ns: float, share: float = CAUGHT_UP_SHARE) -> int:
    """How many intervals after a pause are much faster than usual, one after the other: queued results that drain.

    They are a burst where they catch up at least this share of the pause; a single fast step is chance unless it
    catches up most of it.
    """
    first = stop = after + 1
    while stop < len(pace) and (fast := pace.per_step_ns[stop : stop + CHUNK] < BURST_RATIO * typical)[0]:
        stop += len(fast) if fast.all() else int(np.argmin(fast))
    length = stop - first
    drained = slice(first, stop)
    saved = float(((typical - pace.per_step_ns[drained]) * pace.steps[drained]).sum())
    least = PAUSE_CAUGHT_UP_SHARE if pace.stride == length == 1 else share
    return length if saved >= least * paused_ns else 0

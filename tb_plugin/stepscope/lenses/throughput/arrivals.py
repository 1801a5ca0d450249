"""Blocks: results that reach the host many steps at a time, recognised by when they arrive.

A device that hands over its results every B steps lets nothing arrive while it computes a block.
Then all B results arrive as fast as the host takes them in. A log interval of L steps that ends at
step s thus holds `ceil(s/B) - ceil((s - L)/B)` blocks: q or q + 1 of them, with q = L // B. Its
length has two values only, and B determines which interval has which. Three facts identify blocks:

* the lengths fall into two clusters,
* a whole B puts every interval into the right one,
* what remains of an interval without its blocks is far shorter than its steps take on average:
  queued results.

Where several B fit, all of them are given: no log of these moments can tell them apart. Cerebras'
guide to measuring throughput describes the effect (`rate_global_rate.html`, "Rate fluctuates in
pipeline mode").
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from stepscope.lenses.throughput.pace import Pace
from stepscope.model.arrays import F64, I64, Bools

LEAST_INTERVALS = 8
"""With fewer log intervals blocks cannot be told from other causes."""
MOST_INTERVALS = 4096
LONGEST_INTERVAL = 2**24
QUEUED_SHARE = 0.1
"""Queued results arrive at least ten times as fast as results are computed."""
LONG_INTERVAL_QUEUED_SHARE = 0.15
"""The same where an interval holds several blocks: a remainder has the error of all of them."""
LEAST_LEFT_SHARE = -0.1
EXPLAINED = 0.8
EXPLAINED_OF_FEW = 0.95
FEW = 24
LEAST_GAPS = 3
LIKE_THE_FIRST = 0.25
EXACT = 0.01
EXACT_LEFT = 0.15
MISMATCHES = 0.06
MISMATCHES_OF_MINORITY = 0.2
RESOLUTIONS = 3
LEAST_LAST_SHARE = 0.05
MOST_TRIALS = 1 << 22


@dataclass(frozen=True, eq=False)
class Blocks:
    """Results that arrive in blocks.

    Attributes:
        steps: Steps of a block, the likeliest of those that fit.
        low: The least that fits.
        high: The greatest that fits.
        intake_ns: How long the host takes for each result of a block.
        gap_ns: How long nothing arrives, typically.
        dispatched: Whether steps arrive before the wait and not after it: the loop runs ahead of
            the device.
        ends: The intervals in which a block arrived, as indices.
        taken: Steps that were done by then, of the segment.
        time_ns: When they were done.
    """

    steps: int
    low: int
    high: int
    intake_ns: float
    gap_ns: int
    dispatched: bool
    ends: I64
    taken: I64
    time_ns: I64

    @property
    def exact(self) -> bool:
        """Whether only one number of steps fits."""
        return self.low == self.high

    def pace(self, run: Pace) -> Pace:
        """The run's intervals block by block."""
        fresh = run.first[self.ends] | np.append(True, self.taken[1:] <= self.taken[:-1])
        # A segment's first block begins where the segment does.
        starts = np.flatnonzero(np.append(True, run.taken[1:] <= run.taken[:-1]))
        own_start = starts[np.searchsorted(starts, self.ends, side="right") - 1]
        begin_ns = np.where(fresh, run.begin_ns[own_start], np.append(0, self.time_ns[:-1]))
        taken_at_start = run.taken[own_start] - run.steps[own_start]
        taken_before = np.where(fresh, taken_at_start, np.append(0, self.taken[:-1]))
        kept = (self.time_ns > begin_ns) & (self.taken > taken_before)
        return Pace(
            begin_ns=begin_ns[kept],
            end_ns=self.time_ns[kept],
            step=run.step[self.ends][kept],
            steps=(self.taken - taken_before)[kept],
            taken=self.taken[kept],
            first=(fresh & run.first[own_start])[kept],
            resolution_ns=run.resolution_ns,
        )


@dataclass(frozen=True)
class Clusters:
    """Lengths of intervals in two clusters.

    Attributes:
        long: Which intervals are of the longer one.
        short_ns: Mean of the shorter one.
        long_ns: Mean of the longer one.
        explained: The share of the variance that the clusters explain.
    """

    long: Bools
    short_ns: float
    long_ns: float
    explained: float


def blocks(run: Pace, known: Bools) -> Blocks | None:
    """The blocks of a run, None where its intervals do not show any.

    Args:
        run: Its intervals.
        known: Intervals with a known pause in them: their lengths say nothing of blocks.
    """
    run_steps = run.steps[:MOST_INTERVALS]
    # Counting lengths takes memory for the longest of them.
    if not len(run_steps) or int(run_steps.max()) >= LONGEST_INTERVAL:
        return None
    length = int(np.bincount(run_steps).argmax())
    plain = ~run.first[:MOST_INTERVALS] & ~known[:MOST_INTERVALS]
    usable = np.flatnonzero((run_steps == length) & plain)
    if not length or len(usable) < LEAST_INTERVALS - 1:
        return None
    duration = run.end_ns - run.begin_ns
    best: tuple[float, Blocks] | None = None
    for chosen in (*_without_last_block(usable, duration[usable]), usable):
        found = _blocks_of(run, chosen, length)
        if found is not None and (best is None or found[0] > best[0]):
            best = found
    if best is None:
        return None
    return best[1]


def _without_last_block(usable: I64, duration: I64) -> list[I64]:
    """The intervals without that of the last block, which may be shorter than the others."""
    choices = []
    for share in (0.5, LEAST_LAST_SHARE):
        arrivals = usable[duration > share * duration.mean()]
        choices.append(usable[usable != arrivals[-1]])
    return choices


def _blocks_of(run: Pace, usable: I64, length: int) -> tuple[float, Blocks] | None:
    """The blocks that explain these intervals, all of one length in steps.

    Beside them is the share of the variance that they explain.
    """
    duration = (run.end_ns - run.begin_ns)[usable].astype(np.float64)
    found = clusters(duration)
    if found is None or not _clear(found, len(usable), run.resolution_ns):
        return None
    mean = float(duration.mean())
    for whole in _wholes(found, mean):
        fit = _fit(run, usable, found, length=length, whole=whole)
        if fit is None or not _certain(run, found, duration, whole):
            continue
        block_ns = found.long_ns - found.short_ns
        intake_ns = max((found.short_ns - whole * block_ns) / length, 0.0)
        return found.explained, _blocks(run, found, fit, intake_ns=intake_ns, length=length)
    return None


def clusters(values: F64) -> Clusters | None:
    """The split into two clusters that explains most of the variance, None where all are equal.

    Otsu, A threshold selection method from gray-level histograms (IEEE Trans. SMC, 1979).
    """
    order = np.sort(values)
    size = len(order)
    total = float(((order - order.mean()) ** 2).sum())
    if size < 2 or total <= 0:
        return None
    low = np.arange(1, size)
    sums = np.cumsum(order)
    mean_low = sums[:-1] / low
    mean_high = (sums[-1] - sums[:-1]) / (size - low)
    between = low * (size - low) / size * (mean_high - mean_low) ** 2
    # Equal values are of one cluster.
    between[order[1:] == order[:-1]] = 0.0
    at = int(np.argmax(between))
    return Clusters(
        long=values > (order[at] + order[at + 1]) / 2,
        short_ns=float(mean_low[at]),
        long_ns=float(mean_high[at]),
        explained=float(between[at]) / total,
    )


def _clear(found: Clusters, intervals: int, resolution_ns: int) -> bool:
    """Whether there are two clusters at all, and not one whose halves lie apart."""
    least = EXPLAINED
    if intervals < FEW:
        least = EXPLAINED_OF_FEW
    apart = found.long_ns - found.short_ns
    return found.explained >= least and apart > RESOLUTIONS * resolution_ns


def _wholes(found: Clusters, mean_ns: float) -> list[int]:
    """How many blocks a short interval may hold with little time beside them, likeliest first."""
    block_ns = found.long_ns - found.short_ns
    most = found.short_ns / block_ns
    candidates = []
    for whole in range(math.floor(most + 0.5), -1, -1):
        left = (found.short_ns - whole * block_ns) / mean_ns
        most_left = QUEUED_SHARE
        if whole:
            most_left = LONG_INTERVAL_QUEUED_SHARE
        if left > most_left:
            break
        if left >= LEAST_LEFT_SHARE:
            candidates.append(whole)
    return candidates


def _fit(
    run: Pace,
    usable: I64,
    found: Clusters,
    *,
    length: int,
    whole: int,
) -> tuple[int, int] | None:
    """The least and greatest steps of a block that put the intervals into the right clusters."""
    size = len(usable)
    share = float(found.long.mean())
    slack = (2.0 + 2.0 * math.sqrt(size) * MISMATCHES) / size
    low = max(math.floor(length / (whole + min(share + slack, 1.0))), 1)
    high = math.ceil(length / max(whole + share - slack, 1.0 / (2 * size)))
    if (high - low + 1) * size > MOST_TRIALS:
        return None
    candidates = np.arange(low, high + 1)
    end = run.taken[usable]
    # Blocks that had arrived by an interval's end and before its begin, rounded up.
    arrived = -(-end[:, None] // candidates)
    before = -((length - end)[:, None] // candidates)
    wrong = (arrived - before - whole != found.long[:, None]).sum(axis=0)
    least = int(wrong.min())
    minority = min(int(found.long.sum()), size - int(found.long.sum()))
    if least > min(MISMATCHES * size, MISMATCHES_OF_MINORITY * minority):
        return None
    fits = candidates[wrong == least]
    return int(fits[0]), int(fits[-1])


def _certain(run: Pace, found: Clusters, duration: F64, whole: int) -> bool:
    """Whether enough blocks were seen.

    Few gaps are blocks and not pauses where they are as long as the first one. Few other lengths
    are blocks where they are exact multiples of what a block takes.
    """
    gaps = int(found.long.sum())
    shorts = len(found.long) - gaps
    if min(gaps, shorts) >= LEAST_GAPS or (whole == 0 and gaps >= LEAST_GAPS):
        return True
    if whole == 0 and run.first[0]:
        first_ns = float(run.end_ns[0] - run.begin_ns[0])
        return abs(first_ns / found.long_ns - 1) < LIKE_THE_FIRST
    block_ns = found.long_ns - found.short_ns
    centre = np.where(found.long, found.long_ns, found.short_ns)
    spread = float(np.abs(duration - centre).max())
    left = abs(found.short_ns - whole * block_ns) / block_ns
    return spread <= max(2 * run.resolution_ns, EXACT * block_ns) and left < EXACT_LEFT


def _blocks(
    run: Pace,
    found: Clusters,
    fit: tuple[int, int],
    *,
    intake_ns: float,
    length: int,
) -> Blocks:
    low, high = fit
    # The least size that fits: averages of whole blocks are then never higher than the device was.
    done = -(-run.taken // low)
    before = -(-(run.taken - run.steps) // low)
    arrived = done > before
    # Nobody knows whether the last block of a segment was a whole one.
    last = np.append(run.taken[1:] <= run.taken[:-1], True)
    lasts = np.flatnonzero(last)
    segment_end = run.taken[lasts[np.searchsorted(lasts, np.arange(len(run)))]]
    ends = np.flatnonzero(arrived & (done * low <= segment_end))
    position = run.taken[ends] - (done[ends] - 1) * low
    return Blocks(
        steps=likeliest(low, high, length),
        low=low,
        high=high,
        intake_ns=intake_ns,
        gap_ns=round(found.long_ns),
        dispatched=False,
        ends=ends,
        taken=done[ends] * low,
        time_ns=run.end_ns[ends] - np.rint(intake_ns * position).astype(np.int64),
    )


def dispatch_bursts(run: Pace, known: Bools) -> Blocks | None:
    """Steps that are counted in bursts: the loop runs ahead of the device and then waits for it.

    A loop that dispatches steps asynchronously, as JAX and PyTorch do, waits where it reads a
    result: at every log step. The wait then ends with the last step of a burst. Only marks of
    single steps show it.
    """
    if run.stride != 1 or len(run) < LEAST_INTERVALS:
        return None
    duration = run.end_ns - run.begin_ns
    usable = ~run.first & ~known
    total = float(duration[usable].sum())
    found = clusters(np.log(np.maximum(duration[usable], 1).astype(np.float64)))
    if found is None or total <= 0:
        return None
    waits = np.flatnonzero(usable)[found.long]
    distances = np.diff(run.taken[waits])
    if len(waits) < LEAST_GAPS or duration[waits].sum() < (1 - QUEUED_SHARE) * total:
        return None
    distances = distances[distances > 0]
    if not len(distances):
        return None
    steps = int(np.bincount(distances[distances < len(run) + 1]).argmax())
    if steps < 2 or float((distances == steps).mean()) < EXPLAINED:
        return None
    return Blocks(
        steps=steps,
        low=steps,
        high=steps,
        intake_ns=float(np.median(duration[usable][~found.long])),
        gap_ns=int(np.median(duration[waits])),
        dispatched=True,
        ends=waits,
        taken=run.taken[waits],
        time_ns=run.end_ns[waits],
    )


def likeliest(low: int, high: int, length: int) -> int:
    """The roundest number of a range: a multiple of the log interval, else of a round number."""
    multiple = -(-low // length) * length
    if multiple <= high:
        return multiple
    for unit in (1000, 500, 100, 50, 64, 32, 20, 10, 16, 8, 5, 4, 2):
        round_number = -(-low // unit) * unit
        if round_number <= high:
            return round_number
    return low

"""Regular fluctuation: results that arrive in blocks, and what a log interval makes of them."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from stepscope.lenses.throughput.pace import Pace

F64 = NDArray[np.float64]
I64 = NDArray[np.int64]
Bools = NDArray[np.bool_]

GAP_RATIO = 10.0
LEAST_GAPS = 3
REGULAR_SHARE = 0.8
GAPS_SHARE = 0.8
LONGEST_PERIOD = 20
LEAST_CYCLES = 3
EXPLAINED_SHARE = 0.8
EMPTY = 0.1
MOST_BLOCKS_RATIO = 2.2
AMPLITUDE = 0.1
FLUCTUATION = 0.1
LEAST_INTERVALS = 6


@dataclass(frozen=True, eq=False)
class Blocks:
    """Results that arrive in blocks of so many marks. `starts` are the intervals before the blocks: the gaps."""

    marks: int
    steps: int
    gap_ns: int
    starts: I64

    @property
    def count(self) -> int:
        """How many blocks there are."""
        return len(self.starts) + 1


def blocks(pace: Pace, known: Bools) -> Blocks | None:
    """Blocks seen mark by mark: long gaps at equal distances, and little time between. Known pauses are no gaps."""
    duration = pace.end_ns - pace.begin_ns
    if len(duration) < LEAST_GAPS * 2:
        return None
    typical = max(float(np.median(duration)), 1.0)
    gaps = np.flatnonzero((duration > GAP_RATIO * typical) & ~pace.first & ~known)
    if len(gaps) < LEAST_GAPS or duration[gaps].sum() < GAPS_SHARE * duration[~pace.first & ~known].sum():
        return None
    distance = np.diff(gaps)
    size = int(np.bincount(distance).argmax())
    if size < 2 or float((distance == size).mean()) < REGULAR_SHARE:
        return None
    steps = round(float(np.median(pace.step[gaps[1:]] - pace.step[gaps[:-1]])))
    return Blocks(size, steps if steps > 0 else size, int(np.median(duration[gaps])), gaps)


@dataclass(frozen=True)
class Period:
    """Log intervals that repeat in length after so many.

    Attributes:
        amplitude: Longest less shortest mean time of a place in the period, of the mean.
        explained: The share of the variance that the period explains.
    """

    intervals: int
    amplitude: float
    explained: float
    shortest_ns: int
    longest_ns: int


def period(pace: Pace, calm: Bools) -> Period | None:
    """The shortest period in the lengths of the calm log intervals that explains nearly all of their variation.

    An interval holds so many blocks or one more: what takes over twice as long as others, which hold some too, is no
    matter of blocks.
    """
    times, position = pace.per_step_ns[calm], np.flatnonzero(calm)
    mean = float(times.mean()) if len(times) else 0.0
    spread = float(((times - mean) ** 2).sum())
    for size in range(2, min(LONGEST_PERIOD, len(times) // LEAST_CYCLES) + 1):
        means = _means(times, position % size, size)
        left = float(((times - means[position % size]) ** 2).sum()) / (len(times) - size)
        explained = 1.0 - left * (len(times) - 1) / spread if spread else 0.0
        low, high = float(means.min()), float(means.max())
        resolved = (high - low) * pace.stride > 3 * pace.resolution_ns
        if explained >= EXPLAINED_SHARE and high - low >= AMPLITUDE * mean and resolved:
            if EMPTY * mean < low < high / MOST_BLOCKS_RATIO:
                return None
            shortest_ns, longest_ns = round(low * pace.stride), round(high * pace.stride)
            return Period(size, (high - low) / mean, explained, shortest_ns, longest_ns)
    return None


def _means(values: F64, place: I64, size: int) -> F64:
    """The mean of the values at each place, of all values where a place has none."""
    count = np.bincount(place, minlength=size)
    means: F64 = np.bincount(place, values, minlength=size) / np.maximum(count, 1)
    return np.where(count > 0, means, values.mean())


def fluctuation(pace: Pace, calm: Bools) -> float | None:
    """The standard deviation of the calm intervals' time per step around its trend, of its mean.

    None unless it is large by more than half of its own standard error, and above the stamps' resolution.
    """
    times, position = pace.per_step_ns[calm], np.flatnonzero(calm)
    if len(times) < LEAST_INTERVALS:
        return None
    trend = np.polynomial.Polynomial.fit(position, times, 1)
    deviation = float(np.sqrt(((times - trend(position)) ** 2).sum() / (len(times) - 2)))
    sure = deviation * (1 - 0.5 / math.sqrt(2 * len(times)))
    mean = float(times.mean())
    return deviation / mean if sure > FLUCTUATION * mean and sure * pace.stride > 3 * pace.resolution_ns else None


def flat_interval(block_steps: int, log_steps: int) -> int:
    """The smallest log interval, not below the one in use, in which whole blocks fit."""
    return block_steps * max(math.ceil(log_steps / block_steps), 1)

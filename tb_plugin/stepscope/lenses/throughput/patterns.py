"""Regular fluctuation: results that arrive in blocks, and what a log interval makes of them."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from stepscope.lenses.throughput.pace import Pace

F64 = NDArray[np.float64]
I64 = NDArray[np.int64]

GAP_RATIO = 10.0
LEAST_GAPS = 3
REGULAR_SHARE = 0.8
LONGEST_PERIOD = 6
LEAST_CYCLES = 3
EXPLAINED_SHARE = 0.8
AMPLITUDE = 0.1
FLUCTUATION = 0.1
LEAST_INTERVALS = 6


@dataclass(frozen=True)
class Blocks:
    """Results that arrive in blocks of so many marks."""

    marks: int
    steps: int
    gap_ns: int
    count: int


def blocks(pace: Pace) -> Blocks | None:
    """Blocks seen mark by mark: long gaps at equal distances, and next to no time between."""
    duration = pace.end_ns - pace.begin_ns
    if len(duration) < LEAST_GAPS * 2:
        return None
    typical = max(float(np.median(duration)), 1.0)
    gaps = np.flatnonzero(duration > GAP_RATIO * typical)
    gaps = gaps[~pace.first[gaps]]
    if len(gaps) < LEAST_GAPS:
        return None
    distance = np.diff(gaps)
    size = int(np.bincount(distance).argmax())
    if size < 2 or float((distance == size).mean()) < REGULAR_SHARE:
        return None
    steps = round(float(np.median(pace.step[gaps[1:]] - pace.step[gaps[:-1]])))
    return Blocks(size, steps if steps > 0 else size, int(np.median(duration[gaps])), len(gaps) + 1)


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


def period(pace: Pace) -> Period | None:
    """The shortest period in the lengths of log intervals that explains nearly all of their variation."""
    times = pace.per_step_ns
    spread = float(((times - times.mean()) ** 2).sum()) if len(times) else 0.0
    for size in range(2, min(LONGEST_PERIOD, len(times) // LEAST_CYCLES) + 1):
        place = np.arange(len(times)) % size
        means = np.bincount(place, times) / np.bincount(place)
        explained = 1.0 - float(((times - means[place]) ** 2).sum()) / spread if spread else 0.0
        difference = float(means.max() - means.min())
        resolved = difference * pace.stride > 3 * pace.resolution_ns
        if explained >= EXPLAINED_SHARE and difference >= AMPLITUDE * times.mean() and resolved:
            lengths = means * pace.stride
            return Period(size, difference / float(times.mean()), explained, round(lengths.min()), round(lengths.max()))
    return None


def fluctuation(pace: Pace) -> float | None:
    """The standard deviation of the time per step, of its mean, where it is large and above the stamps' resolution."""
    times = pace.per_step_ns
    if len(times) < LEAST_INTERVALS:
        return None
    deviation, mean = float(times.std()), float(times.mean())
    resolved = deviation * pace.stride > 3 * pace.resolution_ns
    return deviation / mean if deviation > FLUCTUATION * mean and resolved else None


def flat_interval(block_steps: int, log_steps: int) -> int:
    """The smallest log interval, not below the one in use, in which whole blocks fit."""
    return block_steps * max(math.ceil(log_steps / block_steps), 1)

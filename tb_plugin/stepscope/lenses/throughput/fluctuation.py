"""Log intervals that vary in length without a pattern."""

from __future__ import annotations

import math

import numpy as np

from stepscope.lenses.throughput.pace import Pace
from stepscope.model.arrays import Bools

FLUCTUATION = 0.1
LEAST_INTERVALS = 6


def fluctuation(pace: Pace, calm: Bools) -> float | None:
    """The standard deviation of the calm intervals' time per step around its trend, of its mean.

    None unless it is large by more than half of its standard error, and above the resolution of
    timestamps.
    """
    times = pace.per_step_ns[calm]
    position = np.flatnonzero(calm)
    if len(times) < LEAST_INTERVALS:
        return None
    trend = np.polynomial.Polynomial.fit(position, times, 1)
    deviation = float(np.sqrt(((times - trend(position)) ** 2).sum() / (len(times) - 2)))
    # A standard deviation of n values has a standard error of 1 / sqrt(2 n) of itself.
    sure = deviation * (1 - 0.5 / math.sqrt(2 * len(times)))
    mean = float(times.mean())
    if sure <= FLUCTUATION * mean or sure * pace.stride <= 3 * pace.resolution_ns:
        return None
    return deviation / mean

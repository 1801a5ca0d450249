"""Where a series of figures changes its level: step times of a run, or a metric over many runs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from stepscope.statistics.student import student_quantile

F64 = NDArray[np.float64]
I64 = NDArray[np.int64]

LEAST_LENGTH = 3
"""The fewest values between two changes: one odd value is no level."""
_MOST_VALUES = 4000
_PENALTY = 3.0
_CONSISTENT = 1.4826
"""Scales a median absolute deviation to the standard deviation of a normal distribution."""
_FAR = 3.0
"""Values farther from their level than this many standard deviations pull no harder than that."""


@dataclass(frozen=True)
class Change:
    """A change of level.

    Attributes:
        index: The first value of the new level.
        low, high: The first and last index that the change may lie at, at the confidence asked for.
        before, after: The means on both sides, from the change before to the one after.
        difference: after - before.
        difference_low, difference_high: The interval of the difference.
    """

    index: int
    low: int
    high: int
    before: float
    after: float
    difference: float
    difference_low: float
    difference_high: float


def change_points(
    values: ArrayLike, *, confidence: float = 0.95, least_length: int = LEAST_LENGTH
) -> list[Change]:
    """Finds the changes of level in a series of independent values with one scatter.

    The levels minimize the squared distance from the values plus a penalty of 3 σ² log n for each change: optimal
    partitioning (Jackson et al., IEEE Signal Processing Letters 2005), exact. σ comes from differences of neighbours
    (von Neumann 1941) by their median, so that neither levels nor a few odd values are taken for scatter; values more
    than 3 σ from the running median of their surroundings are moved to that distance before (as biweight losses do:
    Fearnhead & Rigaill, Changepoint Detection in the Presence of Outliers, JASA 2019).

    A change's interval holds the places at which the likelihood is not significantly lower than at the best one: twice
    the log likelihood ratio stays under -2 log(1 - sqrt(confidence)), its limit (Yao, Biometrika 1987).

    Args:
        values: In order, shape (n,), n up to 4,000: fold longer series into blocks first. NaNs are not allowed.
        confidence: Of the intervals.
        least_length: The fewest values between two changes.

    Raises:
        ValueError: More values than that, or NaNs.
    """
    series = np.asarray(values, np.float64)
    if len(series) > _MOST_VALUES:
        raise ValueError(f"at most {_MOST_VALUES} values: {len(series)}")
    if np.isnan(series).any():
        raise ValueError("values must not be NaN")
    if len(series) < 2 * least_length:
        return []
    sigma = _scatter(series)
    if not sigma:
        sigma = _smallest_step(series)
    if not sigma:
        return []
    clipped = _without_outliers(series, sigma)
    penalty = _PENALTY * sigma**2 * math.log(len(series))
    ends = _partition(clipped, penalty, least_length)
    bounds = [0, *ends, len(series)]
    changes: list[Change] = []
    for place in range(1, len(bounds) - 1):
        start, index, end = bounds[place - 1 : place + 2]
        low, high = _location_interval(clipped[start:end], index - start, sigma, confidence)
        change = _change(series, (start, index, end), (start + low, start + high), confidence)
        changes.append(change)
    return changes


def _scatter(series: F64) -> float:
    """The standard deviation around the levels, from differences of neighbours."""
    differences = np.diff(series)
    return float(np.median(np.abs(differences))) * _CONSISTENT / math.sqrt(2.0)


def _smallest_step(series: F64) -> float:
    """What stands for the scatter of a series that mostly repeats itself: a part of its smallest change."""
    steps = np.abs(np.diff(series))
    steps = steps[steps > 0.0]
    return float(steps.min()) / 10.0 if len(steps) else 0.0


def _without_outliers(series: F64, sigma: float) -> F64:
    """The series with values that stand alone moved towards their surroundings."""
    width = 2 * LEAST_LENGTH + 1
    half = width // 2
    padded = np.pad(series, half, mode="reflect")
    surroundings = np.median(np.lib.stride_tricks.sliding_window_view(padded, width), axis=1)
    reach = _FAR * sigma
    return np.clip(series, surroundings - reach, surroundings + reach)


def _partition(series: F64, penalty: float, least_length: int) -> list[int]:
    """The starts of all levels but the first, by optimal partitioning."""
    count = len(series)
    # Sums around the mean keep their digits.
    centred = series - series.mean()
    sums = np.concatenate([[0.0], np.cumsum(centred)])
    squares = np.concatenate([[0.0], np.cumsum(centred**2)])
    best = np.full(count + 1, math.inf)
    best[0] = -penalty
    previous = np.zeros(count + 1, np.int64)
    for end in range(least_length, count + 1):
        starts = np.arange(end - least_length + 1)
        lengths = end - starts
        total = sums[end] - sums[starts]
        cost = squares[end] - squares[starts] - total**2 / lengths
        candidates = best[starts] + cost + penalty
        choice = int(np.argmin(candidates))
        best[end] = candidates[choice]
        previous[end] = choice
    ends: list[int] = []
    end = int(previous[count])
    while end > 0:
        ends.append(end)
        end = int(previous[end])
    return ends[::-1]


def _location_interval(values: F64, index: int, sigma: float, confidence: float) -> tuple[int, int]:
    """The first and last place of the change between two levels that the likelihood does not rule out."""
    count = len(values)
    places = np.arange(1, count)
    sums = np.cumsum(values - values.mean())[:-1]
    gain = sums**2 * (1.0 / places + 1.0 / (count - places))
    threshold = -2.0 * math.log(1.0 - math.sqrt(confidence)) * sigma**2
    likely = places[gain >= gain[index - 1] - threshold]
    return min(int(likely.min()), index), max(int(likely.max()), index)


def _change(
    series: F64, bounds: Sequence[int], location: tuple[int, int], confidence: float
) -> Change:
    start, index, end = bounds
    before = series[start:index]
    after = series[index:end]
    difference = float(after.mean() - before.mean())
    degrees = len(before) + len(after) - 2
    squares = float(((before - before.mean()) ** 2).sum() + ((after - after.mean()) ** 2).sum())
    error = math.sqrt(squares / degrees * (1.0 / len(before) + 1.0 / len(after)))
    half = student_quantile(confidence, float(degrees)) * error
    return Change(
        index=index,
        low=location[0],
        high=location[1],
        before=float(before.mean()),
        after=float(after.mean()),
        difference=difference,
        difference_low=difference - half,
        difference_high=difference + half,
    )

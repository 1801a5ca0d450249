"""The batch size and the start of a log of rates that prints neither.

At step k the printed GlobalRate is batch * k / (t - start). Points (k / GlobalRate, t) thus lie on
a line whose slope is the batch size and whose intercept is the start. Both are given only where they
are certain: the log begins at its first interval, the slope is a whole number, and every point lies
on the line within the precision of the printed digits.

With the batch size whole, only the start is free. A least-squares fit of the relative errors of all
printed rates, Rate and GlobalRate, determines it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from stepscope.model.arrays import F64
from stepscope.model.throughput import SAME_RATE, Throughput
from stepscope.sources.throughput.console_lines import NS_PER_SECOND, Point

STAMP_ERROR_S = 0.001
LARGEST_DEVIATION_S = 0.25
LEAST_POINTS = 3
FIT_ROUNDS = 8
UNLIKE = 0.02
UNLIKE_SHARE = 0.25
LEAST_UNLIKE = 2
LEAST_RATE = 1e-9
"""Samples per second. A lower rate is that of a stopped clock, and its reciprocal overflows."""


@dataclass(frozen=True)
class Origin:
    """Where counting began, and how much one step counts."""

    batch_size: int
    start_ns: int


def origin(points: Sequence[Point], begin_ns: int | None, batch_size: int) -> Origin | None:
    """The batch size and start of a series, None where they are not certain.

    Args:
        points: Printed points, in order.
        begin_ns: When the loop began, where the log says so.
        batch_size: The batch size, where the log says so; else 0.
    """
    if len(points) > 1 and points[0].step == 0 and points[0].global_rate == 0:
        # A loop that prints before its first batch prints when counting began.
        begin_ns = points[0].time_ns
        points = points[1:]
    if not _from_the_start(points, begin_ns):
        return None
    first_ns = points[0].time_ns or 0
    time_s = np.array([(point.time_ns or 0) - first_ns for point in points]) / NS_PER_SECOND
    step = np.array([point.step for point in points], np.float64)
    rate = np.array([point.global_rate for point in points])
    per_sample = step / rate
    error = _precision(points) / rate
    batch = batch_size or _slope(per_sample, time_s, error)
    if not batch:
        return None
    allowed = STAMP_ERROR_S + batch * per_sample * error
    starts = time_s - batch * per_sample
    start = float(np.average(starts, weights=allowed**-2))
    if np.abs(starts - start).max() > LARGEST_DEVIATION_S + 3 * allowed.max():
        return None
    start = _best_start(points, time_s, batch * step, start)
    start_ns = first_ns + round(start * NS_PER_SECOND)
    if begin_ns is not None and start_ns < begin_ns - NS_PER_SECOND:
        return None
    return Origin(batch, start_ns)


def asked_per_batch(points: Sequence[Point]) -> bool:
    """Whether Rate was sampled after every batch, not only at log steps.

    Then it differs from GlobalRate at the first point, since only a tracker's first Rate equals
    GlobalRate. Where the first point is the first step, many later ones differ from the rate of the
    log interval by GlobalRate. A few do where lines are missing.
    """
    first = points[0]
    if abs(first.rate - first.global_rate) > SAME_RATE * first.global_rate + 2 * first.precision:
        return True
    if not begins([point.step for point in points]):
        return False
    if any(point.global_rate <= LEAST_RATE for point in points):
        return False
    return int(_unlike(points).sum()) >= max(LEAST_UNLIKE, UNLIKE_SHARE * len(points))


def _unlike(points: Sequence[Point]) -> NDArray[np.bool_]:
    """Where Rate differs from one sampled at log steps by more than the printed digits explain."""
    step = np.array([point.step for point in points], np.float64)
    average = np.array([point.global_rate for point in points])
    local = np.array([point.rate for point in points])
    # Steps over GlobalRate is the time since the start, in a unit that cancels out.
    since = step / average
    rounding = 4 * (since * _precision(points) / average)[1:]
    passed = np.diff(since)
    told = (1 - Throughput.smoothing) * np.diff(step)
    answer = local[1:] - Throughput.smoothing * local[:-1]
    allowed = told * UNLIKE + np.abs(answer) * rounding
    unlike: NDArray[np.bool_] = (np.abs(answer * passed - told) > allowed) & (passed > 0)
    return unlike


def begins(steps: Sequence[int]) -> bool:
    """Whether the first of these ascending steps ends the first log interval."""
    ascending = all(low < high for low, high in pairwise(steps))
    return ascending and len(steps) > 1 and 0 < steps[0] <= steps[1] - steps[0]


def _precision(points: Sequence[Point]) -> F64:
    return np.array([point.precision for point in points])


def _best_start(points: Sequence[Point], time_s: F64, total: F64, start: float) -> float:
    """The start with the least squared relative errors of the printed rates, by Gauss-Newton.

    The start moves the first Rate, and later ones by the part of it that smoothing carries on.
    """
    printed = np.array([point.global_rate for point in points])
    local = np.array([point.rate for point in points])
    regular = bool((local > LEAST_RATE).all() and (np.diff(time_s) > 0).all())
    fits_local = regular and not asked_per_batch(points)
    carried = Throughput.smoothing ** np.arange(len(points))
    first = float(time_s[0])
    if start >= first:
        return start
    for _ in range(FIT_ROUNDS):
        average = total / (time_s - start)
        error = average / printed - 1
        slope = average / (time_s - start) / printed
        if fits_local:
            error = np.append(error, _smoothed(total, time_s, start) / local - 1)
            slope = np.append(slope, carried * average[0] / (first - start) / local)
        # Counting began before the first point, however far a step would lead.
        step = float(error @ slope / (slope @ slope))
        start = min(start - step, (start + first) / 2)
    return start


def _smoothed(total: F64, time_s: F64, start: float) -> F64:
    """Rate, sampled at each of these times."""
    current = np.diff(total, prepend=0) / np.diff(time_s, prepend=start)
    rates = [float(current[0])]
    for value in current[1:].tolist():
        rates.append((1 - Throughput.smoothing) * value + Throughput.smoothing * rates[-1])
    return np.array(rates)


def _from_the_start(points: Sequence[Point], begin_ns: int | None) -> bool:
    steps = [point.step for point in points]
    timed = all(point.time_ns is not None and point.global_rate > LEAST_RATE for point in points)
    ascending = all(low < high for low, high in pairwise(steps))
    if not timed:
        return False
    if begin_ns is not None and ascending and steps[0] > 0:
        return True
    return begins(steps)


def _slope(per_sample: np.ndarray, time_s: np.ndarray, error: np.ndarray) -> int:
    """The whole batch size, 0 where the points do not determine it."""
    if len(time_s) < LEAST_POINTS or per_sample[-1] <= per_sample[0]:
        return 0
    rough = (time_s[-1] - time_s[0]) / (per_sample[-1] - per_sample[0])
    weight = 1.0 / (STAMP_ERROR_S + rough * per_sample * error)
    slope = float(np.polyfit(per_sample, time_s, 1, w=weight)[0])
    whole = round(slope)
    if whole <= 0 or abs(slope - whole) > max(0.02, 3e-4 * whole):
        return 0
    return whole

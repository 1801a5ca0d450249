"""Rates of intervals that stamps cannot resolve: there the printed ones are better than computed ones."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from stepscope.lenses.throughput.pace import resolution_ns
from stepscope.lenses.throughput.rates import SamplePoints
from stepscope.model.throughput import SAME_RATE, UNKNOWN_NS, Throughput

F64 = NDArray[np.float64]
LEAST_UNITS = 10
"""An interval of so many units of the stamps is known to a tenth."""
NS_PER_SECOND = 1e9


def with_printed(
    record: Throughput,
    points: SamplePoints,
    *,
    local: F64,
    stated: F64,
    smoothing: float,
) -> tuple[F64, int]:
    """Computed Rates with the printed ones where stamps do not resolve the interval, and how many these are.

    The Rate after a printed one is smoothed with it: that is what the tracker remembered.
    """
    unit = resolution_ns(record.marks.time_ns)
    if unit == 1 or not len(stated) or record.start_ns == UNKNOWN_NS or not len(local):
        return local, 0
    passed = np.diff(points.time_ns, prepend=record.start_ns)
    unresolved = (passed < LEAST_UNITS * unit) & ~np.isnan(stated)
    if not (np.abs(local - stated)[unresolved] > SAME_RATE * np.abs(stated[unresolved])).any():
        return local, 0
    counted = np.append(0, np.cumsum(np.maximum(record.marks.count, 0)))
    fresh = np.diff(counted[points.mark_end], prepend=0)
    merged = local.copy()
    for at in np.flatnonzero(unresolved | np.append(False, unresolved[:-1])).tolist():
        if unresolved[at]:
            merged[at] = stated[at]
            continue
        stop = at
        while stop < len(merged) and not unresolved[stop]:
            current = fresh[stop] / (passed[stop] / NS_PER_SECOND)
            merged[stop] = (1 - smoothing) * current + smoothing * merged[stop - 1]
            stop += 1
    return merged, int(unresolved.sum())

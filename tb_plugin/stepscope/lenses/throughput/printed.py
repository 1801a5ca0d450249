"""Printed rates for intervals that timestamps cannot resolve."""

from __future__ import annotations

import numpy as np

from stepscope.lenses.throughput.pace import resolution_ns
from stepscope.lenses.throughput.rates import SamplePoints
from stepscope.model.arrays import F64
from stepscope.model.throughput import SAME_RATE, UNKNOWN_NS, Throughput

LEAST_UNITS = 10
"""An interval of this many units of the timestamps is known to a tenth."""
NS_PER_SECOND = 1e9


def with_printed(
    record: Throughput,
    points: SamplePoints,
    *,
    local: F64,
    stated: F64,
    smoothing: float,
) -> tuple[F64, int]:
    """Computed Rates, with printed ones where timestamps do not resolve the interval.

    The Rate after a printed one is smoothed with it: that is what the tracker remembered.

    Returns:
        The rates, and how many of them are printed ones.
    """
    unit = resolution_ns(record.marks.time_ns)
    if unit == 1 or not len(stated) or record.start_ns == UNKNOWN_NS or not len(local):
        return local, 0
    passed = np.diff(points.time_ns, prepend=record.start_ns)
    unresolved = (passed < LEAST_UNITS * unit) & ~np.isnan(stated)
    away = np.abs(local - stated)[unresolved]
    if not (away > SAME_RATE * np.abs(stated[unresolved])).any():
        return local, 0
    counted = np.append(0, np.cumsum(np.maximum(record.marks.count, 0)))
    fresh = np.diff(counted[points.mark_end], prepend=0)
    merged = local.copy()
    after_unresolved = np.append(False, unresolved[:-1])
    for at in np.flatnonzero(unresolved | after_unresolved).tolist():
        if unresolved[at]:
            merged[at] = stated[at]
            continue
        stop = at
        while stop < len(merged) and not unresolved[stop]:
            current = fresh[stop] / (passed[stop] / NS_PER_SECOND)
            merged[stop] = (1 - smoothing) * current + smoothing * merged[stop - 1]
            stop += 1
    return merged, int(unresolved.sum())

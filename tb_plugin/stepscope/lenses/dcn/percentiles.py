"""Percentiles of integers, each the figure of a real occurrence."""

from __future__ import annotations

import numpy as np

from stepscope.lenses.dcn.pairing import I64

PERCENTS = {"min": 0, "p50": 50, "p95": 95, "max": 100}


def percentiles(values: I64) -> dict[str, int]:
    """Least, median, 95th percentile and largest by nearest rank."""
    ordered = np.sort(values)
    return {name: int(ordered[max(-(-len(ordered) * p // 100) - 1, 0)]) for name, p in PERCENTS.items()}

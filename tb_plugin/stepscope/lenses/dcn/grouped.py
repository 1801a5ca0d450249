"""Groups of rows, and percentiles that are values of real rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stepscope.model.arrays import I64
from stepscope.statistics import nearest_rank

PERCENTS = {"min": 0, "p50": 50, "p95": 95, "max": 100}


def percentiles(values: I64) -> dict[str, int]:
    """Least, median, 95th percentile and largest by nearest rank."""
    ordered = np.sort(values)
    result = {}
    for name, percent in PERCENTS.items():
        result[name] = nearest_rank(ordered, percent)
    return result


def by_key(key: NDArray[Any]) -> Iterator[tuple[int, I64]]:
    """Each key, ascending, with the rows that have it."""
    order = np.argsort(key, kind="stable")
    keys, first = np.unique(key[order], return_index=True)
    yield from zip(keys.tolist(), np.split(order, first[1:]), strict=len(keys) > 0)

"""Percentiles, by the one definition that StepScope has (docs/time.md)."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

Count = TypeVar("Count", int, NDArray[np.int64])


def rank_place(count: Count, percent: int) -> Count:
    """Where a percentile stands in so many ordered values: the nearest rank, counted from 0.

    The nearest rank of p is the smallest value that p percent of the values do not exceed. It is the first definition
    of Hyndman and Fan, "Sample Quantiles in Statistical Packages" (1996), and
    `numpy.percentile(method="inverted_cdf")`.

    Args:
        count: How many values there are, one count or several; at least one each.
        percent: 0 to 100; 0 is the place of the least value.
    """
    rank = -(-count * percent // 100)
    return rank - (rank > 0)


def nearest_rank(ordered: NDArray[Any], percent: int) -> int:
    """A percentile of ordered integers: always one of them, exact.

    Args:
        ordered: The values, ascending, at least one.
        percent: 0 to 100; 0 gives the least value.
    """
    return int(ordered[rank_place(len(ordered), percent)])

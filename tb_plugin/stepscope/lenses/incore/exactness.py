"""Integer arithmetic on 64-bit counter values that never passes through a float."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from stepscope.model.arrays import Array
from stepscope.statistics import nearest_rank as ordered_nearest_rank

"""int64, or Python integers in an object array where 64 bits do not suffice."""

TOP = np.uint64((1 << 64) - 1)


_MOST_DIGITS = 20


def counter_value(text: str) -> int | None:
    """The 64-bit counter value of a text, None where the text is not one."""
    # The length first: int() of a long text takes long.
    if not text.isdecimal() or len(text) > _MOST_DIGITS:
        return None
    value = int(text)
    if value > TOP:
        return None
    return value


def difference(later: NDArray[np.uint64], earlier: NDArray[np.uint64]) -> Array:
    """`later - earlier`, negative where later is the smaller, exact for any two counter values."""
    wrapped: Array = (later - earlier).view(np.int64)
    if np.array_equal(wrapped < 0, later < earlier):
        return wrapped
    exact: Array = later.astype(object) - earlier.astype(object)
    return exact


def median_x2(values: Array) -> int | None:
    """Twice the median, so that it stays an integer; None of nothing."""
    if not len(values):
        return None
    ordered = np.sort(values)
    middle = len(ordered) // 2
    if len(ordered) % 2:
        return 2 * int(ordered[middle])
    return int(ordered[middle - 1]) + int(ordered[middle])


def nearest_rank(values: Array, percent: int) -> int | None:
    """The smallest value that at least `percent` of the values do not exceed; None of nothing."""
    if not len(values):
        return None
    return ordered_nearest_rank(np.sort(values), percent)

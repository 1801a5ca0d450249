"""Numbers of foreign text files, which may hold anything."""

from __future__ import annotations

import math
from typing import Any

LARGEST = 2**62


def rate(value: Any) -> float | None:
    """A finite number that is not negative, None for anything else."""
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return (
        number if math.isfinite(number) and number >= 0.0 and not isinstance(value, bool) else None
    )


def whole(value: Any) -> int | None:
    """A whole number that fits a column, None for anything else."""
    try:
        number = int(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return number if -LARGEST < number < LARGEST and not isinstance(value, bool) else None

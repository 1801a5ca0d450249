"""How values spread over invocations, and which invocations stand apart."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

OUTLIER_DEVIATIONS = 8
"""An outlier lies so many median absolute deviations from the median."""
OUTLIER_SHARE = 0.1
"""An outlier differs from the median by at least this part of it."""


def quartiles(values: Sequence[int]) -> dict[str, float | None]:
    """Minimum, quartiles (nearest rank), median and maximum; None without values."""
    if not values:
        return dict.fromkeys(("min", "p25", "median", "p75", "max"))
    ordered = sorted(values)
    count = len(ordered)
    middle = median(ordered)
    return {
        "min": ordered[0],
        "p25": ordered[-(-count // 4) - 1],
        "median": int(middle) if middle == int(middle) else middle,
        "p75": ordered[-(-3 * count // 4) - 1],
        "max": ordered[-1],
    }


def outliers(values: Sequence[int]) -> list[int]:
    """The places of values that stand apart, the farthest first.

    Follows the modified z-score of Iglewicz and Hoaglin (1993) with a wider limit, and asks for a
    tenth of the median besides, so that a steady kernel's noise is no outlier.
    """
    if len(values) < 5:
        return []
    middle = median(values)
    deviations = [abs(value - middle) for value in values]
    limit = max(OUTLIER_DEVIATIONS * median(deviations), OUTLIER_SHARE * abs(middle))
    far = [place for place, deviation in enumerate(deviations) if deviation > limit]
    return sorted(far, key=lambda place: -deviations[place])

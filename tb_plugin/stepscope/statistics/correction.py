"""Corrections for looking at several figures at once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def corrected_alpha(alpha: float, comparisons: int) -> float:
    """The level of each of several comparisons, so that with probability 1 - alpha none is a false alarm.

    Bonferroni's correction (Dunn, Multiple comparisons among means, JASA 1961). It holds for figures that depend on
    each other, as step time and phases do, and it is the correction that intervals can follow.
    """
    return alpha / max(comparisons, 1)


def holm(p_values: Sequence[float]) -> list[float]:
    """P values that may each be compared with alpha, so that with probability 1 - alpha none is a false alarm.

    Holm's step-down method (A simple sequentially rejective multiple test procedure, Scandinavian Journal of
    Statistics 1979). It finds at least what Bonferroni's correction finds.
    """
    values = np.asarray(p_values, np.float64)
    if not len(values):
        return []
    order = np.argsort(values, kind="stable")
    factors = len(values) - np.arange(len(values))
    stepped = np.maximum.accumulate(values[order] * factors)
    corrected = np.empty(len(values))
    corrected[order] = np.minimum(stepped, 1.0)
    return [float(value) for value in corrected]

"""Student's t distribution: tail probabilities and quantiles, for any number of degrees of freedom.

The tail is the regularized incomplete beta function (Abramowitz & Stegun, Handbook of Mathematical Functions, 26.7.1
and 26.5.2), evaluated by its continued fraction with Lentz's method (Press et al., Numerical Recipes, section 6.4).
"""

from __future__ import annotations

import math
from functools import lru_cache
from statistics import NormalDist

_NORMAL = NormalDist()
_NORMAL_FROM = 1e6
"""Degrees of freedom from which the normal distribution is as good."""
_TINY = 1e-300
_PRECISION = 1e-14
_MOST_TERMS = 10_000
_HALVINGS = 200


def two_sided_p_value(statistic: float, degrees: float) -> float:
    """The probability that |t| is at least |statistic|.

    Args:
        statistic: A t value. Infinity gives 0.
        degrees: Degrees of freedom, above 0; infinity is the normal distribution.
    """
    if math.isinf(statistic):
        return 0.0
    if degrees >= _NORMAL_FROM:
        return 2.0 * _NORMAL.cdf(-abs(statistic))
    share = degrees / (degrees + statistic * statistic)
    return _incomplete_beta(share, degrees / 2.0, 0.5)


@lru_cache(maxsize=4096)
def student_quantile(confidence: float, degrees: float) -> float:
    """The t value that |t| exceeds with probability 1 - confidence: half the width of a two-sided interval.

    Args:
        confidence: Above 0 and below 1, such as 0.95.
        degrees: Degrees of freedom, above 0; infinity is the normal distribution.
    """
    alpha = 1.0 - confidence
    if degrees >= _NORMAL_FROM:
        return _NORMAL.inv_cdf(1.0 - alpha / 2.0)
    low = 0.0
    high = 1.0
    while two_sided_p_value(high, degrees) > alpha:
        high *= 2.0
    for _ in range(_HALVINGS):
        middle = (low + high) / 2.0
        if middle in (low, high):
            break
        if two_sided_p_value(middle, degrees) > alpha:
            low = middle
        else:
            high = middle
    return high


def _incomplete_beta(x: float, a: float, b: float) -> float:
    """The regularized incomplete beta function I_x(a, b)."""
    if x <= 0.0:
        return 0.0
    if x >= 1.0:
        return 1.0
    log_factor = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b)
    log_factor += a * math.log(x) + b * math.log1p(-x)
    factor = math.exp(log_factor)
    # The fraction converges fast on this side of the mean only; the other side follows by symmetry.
    if x < (a + 1.0) / (a + b + 2.0):
        return factor * _beta_fraction(x, a, b) / a
    return 1.0 - factor * _beta_fraction(1.0 - x, b, a) / b


def _beta_fraction(x: float, a: float, b: float) -> float:
    """The continued fraction of the incomplete beta function, by Lentz's method."""
    numerator = 1.0
    denominator = _away_from_zero(1.0 - (a + b) * x / (a + 1.0))
    denominator = 1.0 / denominator
    fraction = denominator
    for term in range(1, _MOST_TERMS):
        even = term * (b - term) * x / ((a + 2 * term - 1.0) * (a + 2 * term))
        odd = -(a + term) * (a + b + term) * x / ((a + 2 * term) * (a + 2 * term + 1.0))
        for coefficient in (even, odd):
            denominator = 1.0 / _away_from_zero(1.0 + coefficient * denominator)
            numerator = _away_from_zero(1.0 + coefficient / numerator)
            change = denominator * numerator
            fraction *= change
        if abs(change - 1.0) < _PRECISION:
            break
    return fraction


def _away_from_zero(value: float) -> float:
    return value if abs(value) > _TINY else _TINY

"""The mean of a run's steps, and how well the run determines it although neighbouring steps are correlated."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from stepscope.statistics.student import student_quantile

F64 = NDArray[np.float64]

LEAST_INTERVALS = 8
"""Fewer intervals say nothing about their long-run variance."""
MOST_BLOCKS = 64
"""Longer series are folded into so many sums of neighbours, whose correlation is that of slow changes alone."""
_COSINE_FACTOR = 0.4
_MOST_CORRELATED = 0.95


@dataclass(frozen=True)
class Mean:
    """A figure of one run, with its error within the run.

    The error says how far the figure would move if the same run, on the same machine in the same state, went on. It
    does not hold what changes from one run to the next.

    Attributes:
        value: The figure: a sum over a sum, such as nanoseconds per step.
        standard_error: In the figure's unit. NaN where the run is too short to say; 0 for a figure without noise.
        degrees: Degrees of freedom of the standard error; infinity where it is known exactly.
        intervals: How many measured intervals the figure rests on.
        effective_intervals: How many independent intervals would determine the figure as well; NaN where unknown.
    """

    value: float
    standard_error: float
    degrees: float
    intervals: int
    effective_intervals: float

    @property
    def error_known(self) -> bool:
        """Whether the run is long enough for a standard error."""
        return not math.isnan(self.standard_error)

    def interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """The interval that holds the mean of this run with this confidence; NaNs where it is unknown."""
        if not self.error_known:
            return math.nan, math.nan
        if not self.standard_error:
            return self.value, self.value
        half = student_quantile(confidence, self.degrees) * self.standard_error
        if self.value <= 0.0:
            return self.value - half, self.value + half
        # On the scale of logarithms the interval is one of ratios, and never below zero.
        factor = math.exp(half / self.value)
        return self.value / factor, self.value * factor

    def inverse(self, scale: float = 1.0) -> Mean:
        """The mean of scale / figure, such as samples per second from nanoseconds per sample."""
        value = scale / self.value
        error = self.standard_error / self.value * value
        return Mean(
            value=value,
            standard_error=error,
            degrees=self.degrees,
            intervals=self.intervals,
            effective_intervals=self.effective_intervals,
        )


def mean_of_figure(value: float) -> Mean:
    """A figure of a run whose error within the run is not known, such as its peak memory."""
    return Mean(
        value=value,
        standard_error=math.nan,
        degrees=math.inf,
        intervals=1,
        effective_intervals=math.nan,
    )


def ratio_of_sums(amount: ArrayLike, weight: ArrayLike | None = None) -> Mean:
    """The sum of amounts over the sum of weights, with the standard error of that ratio.

    Neither a mean of ratios nor of rates: an interval counts by its weight. The error is that of the linearized ratio
    (Cochran, Sampling Techniques, section 2.11): that of the sum of residuals `amount - ratio * weight`. Neighbours
    are correlated, so residuals are folded into at most 64 blocks, the correlation of neighbouring blocks is taken out
    (prewhitening: Andrews & Monahan, Econometrica 1992; its bias by Marriott & Pope, Biometrika 1954), and the
    long-run variance is the mean square of the lowest cosine transforms of the rest (the equal-weighted cosine
    estimator of Lazarus, Lewis, Stock & Watson, HAR Inference, JBES 2018, with their 0.4 n^(2/3) cosines). The ratio
    over its error then follows Student's t with that many degrees of freedom. A drift or a slow wave counts as noise,
    which widens the interval.

    Args:
        amount: One number for each interval in order of time, such as nanoseconds. Shape (n,).
        weight: What the amount is for, such as steps. Shape (n,). One for each interval when None.

    Raises:
        ValueError: No intervals, unequal shapes, or weights that do not add up to more than 0.
    """
    amounts = np.asarray(amount, np.float64)
    weights = np.ones(len(amounts)) if weight is None else np.asarray(weight, np.float64)
    if amounts.shape != weights.shape or amounts.ndim != 1:
        raise ValueError("amount and weight must be of one length")
    total_weight = float(weights.sum())
    if not total_weight > 0.0:
        raise ValueError("weights must add up to more than 0")
    count = len(amounts)
    ratio = float(amounts.sum()) / total_weight
    if count < LEAST_INTERVALS:
        return Mean(
            value=ratio,
            standard_error=math.nan,
            degrees=math.inf,
            intervals=count,
            effective_intervals=math.nan,
        )

    residuals = amounts - ratio * weights
    blocks = _folded(residuals)
    sum_variance = _variance_of_sum(blocks)
    if sum_variance <= _rounding(amounts):
        return Mean(
            value=ratio,
            standard_error=0.0,
            degrees=math.inf,
            intervals=count,
            effective_intervals=float(count),
        )
    independent_variance = count * float(residuals.var())
    effective = min(count * independent_variance / sum_variance, float(count))
    return Mean(
        value=ratio,
        standard_error=math.sqrt(sum_variance) / total_weight,
        degrees=float(cosine_count(len(blocks))),
        intervals=count,
        effective_intervals=effective,
    )


def cosine_count(blocks: int) -> int:
    """How many cosines the long-run variance of so many blocks is estimated from."""
    cosines = round(_COSINE_FACTOR * math.pow(blocks, 2.0 / 3.0))
    return max(cosines, 2)


def _folded(residuals: F64) -> F64:
    """Sums of neighbours, in as many blocks of nearly equal length as are wanted at most."""
    count = len(residuals)
    if count <= MOST_BLOCKS:
        return residuals
    starts = np.arange(MOST_BLOCKS) * count // MOST_BLOCKS
    sums: F64 = np.add.reduceat(residuals, starts)
    return sums


def _variance_of_sum(blocks: F64) -> float:
    """The variance of the sum of stationary blocks, by prewhitened cosines."""
    count = len(blocks)
    correlation = _neighbour_correlation(blocks)
    white = blocks
    if correlation:
        white = blocks[1:] - correlation * blocks[:-1]
        white = white - white.mean()
    cosines = cosine_count(count)
    middle = (np.arange(len(white)) + 0.5) / len(white)
    waves = np.cos(np.pi * np.outer(np.arange(1, cosines + 1), middle))
    transforms = math.sqrt(2.0) * (waves @ white)
    variance = float((transforms**2).mean()) * count / len(white)
    return variance / (1.0 - correlation) ** 2


def _neighbour_correlation(blocks: F64) -> float:
    """The correlation of neighbouring blocks where it is clearly positive, else 0."""
    count = len(blocks)
    spread = float((blocks**2).sum())
    if not spread:
        return 0.0
    estimate = float((blocks[1:] * blocks[:-1]).sum()) / spread
    unbiased = estimate + (1.0 + 4.0 * estimate) / count
    if unbiased < 2.0 / math.sqrt(count):
        return 0.0
    return min(unbiased, _MOST_CORRELATED)


def _rounding(amounts: F64) -> float:
    """A variance that rounding alone can make."""
    largest = float(np.abs(amounts).max())
    rounding = largest * float(np.finfo(np.float64).eps)
    return rounding**2 * len(amounts)

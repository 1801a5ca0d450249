"""Whether the runs on one side differ from the runs on the other, by how much, and how sure that is."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from stepscope.statistics.means import Mean
from stepscope.statistics.student import student_quantile, two_sided_p_value

F64 = NDArray[np.float64]

ASSUMED_SPREAD = 0.02
"""How far repeated runs scatter, as a share (standard deviation), where there are too few runs to measure it."""
LEAST_DEGREES = 3
"""With fewer degrees of freedom the scatter of runs is assumed, or measured if that is larger."""
_LEAST_RUNS_TO_COMPARE_SPREADS = 4
_SPREADS_DIFFER = 0.05
_MOST_RUNS_NEEDED = 1000


@dataclass(frozen=True)
class Comparison:
    """The difference of the candidate's runs from the baseline's, as a share of the baseline.

    Attributes:
        difference: (candidate - baseline) / baseline, 0.03 for 3 % more. In the figure's unit where `relative` is
            False.
        low, high: The interval that holds the true difference with probability 1 - alpha. NaN where unknown.
        p_value: The probability of a difference at least this large if both sides were the same. NaN where unknown.
        alpha: The level of the interval.
        standard_error: Of the difference, before or after the logarithm alike. NaN where unknown.
        degrees: Its degrees of freedom.
        spread: The standard deviation of runs of one side, as used: measured, or assumed.
        spread_assumed: Whether there were too few runs to measure it.
        within_spread: The part of the scatter of runs that steps within runs account for (standard deviation).
        candidates, baselines: How many runs.
        relative: False where the baseline is 0 or below, so that there is nothing to be a share of.
        baseline, candidate: The mean of each side: geometric where all figures are above 0.
    """

    difference: float
    low: float
    high: float
    p_value: float
    alpha: float
    standard_error: float
    degrees: float
    spread: float
    spread_assumed: bool
    within_spread: float
    candidates: int
    baselines: int
    relative: bool
    baseline: float
    candidate: float

    @property
    def known(self) -> bool:
        """Whether there is an interval at all."""
        return not math.isnan(self.low)

    @property
    def differs(self) -> bool:
        """Whether the interval excludes no difference."""
        return self.known and not self.low <= 0.0 <= self.high

    @property
    def verdict(self) -> str:
        """`higher`, `lower`, `indistinguishable`, or `unknown`."""
        if not self.known:
            return "unknown"
        if not self.differs:
            return "indistinguishable"
        return "higher" if self.difference > 0.0 else "lower"


def compare_means(
    candidates: Sequence[Mean],
    baselines: Sequence[Mean],
    *,
    alpha: float = 0.01,
    assumed_spread: float = ASSUMED_SPREAD,
) -> Comparison:
    """Compares one figure of two sides of one or more runs each.

    The unit of observation is the run: steps of one run share its machine, its placement and its luck, so however many
    there are they are one draw (Kalibera & Jones, Rigorous Benchmarking in Reasonable Time, ISMM 2013). Figures above
    0 are compared as logarithms, so that the difference is a ratio; others as they are.

    * Three or more degrees of freedom (five runs in all, however divided): Student's two-sample t test with the
      pooled scatter of runs. It assumes that runs scatter alike on both sides. Where each side has four runs and a
      test at 5 % says otherwise, Welch's test (The generalization of Student's problem, Biometrika 1947) takes its
      place if its interval is wider. Where a side's runs are shorter, so that their steps determine them less, their
      larger error within the run is added.
    * Fewer runs: the scatter of runs is `assumed_spread`, or the measured one if that is larger, and the error within
      the runs is added. False alarms are then as rare as stated only while runs scatter no more than assumed.

    Args:
        candidates: The figure of each run in question.
        baselines: The figure of each run that they are compared with.
        alpha: The probability of calling equal sides different.
        assumed_spread: Standard deviation of repeated runs, as a share, for when it cannot be measured.

    Raises:
        ValueError: A side without runs, or an alpha outside 0 to 1.
    """
    if not candidates or not baselines:
        raise ValueError("each side must have a run")
    if not 0.0 < alpha < 1.0:
        raise ValueError(f"alpha must be between 0 and 1: {alpha}")
    sides = _on_one_scale(candidates, baselines)
    error = _standard_error(sides, assumed_spread, alpha)
    shift = sides.candidate.mean - sides.baseline.mean
    half = _half_width(error, alpha)
    return Comparison(
        difference=sides.as_share(shift),
        low=sides.as_share(shift - half),
        high=sides.as_share(shift + half),
        p_value=_p_value(shift, error),
        alpha=alpha,
        standard_error=error.value * sides.unit,
        degrees=error.degrees,
        spread=error.spread * sides.unit,
        spread_assumed=error.assumed,
        within_spread=sides.within_spread * sides.unit,
        candidates=len(candidates),
        baselines=len(baselines),
        relative=sides.relative,
        baseline=sides.figure(sides.baseline.mean),
        candidate=sides.figure(sides.candidate.mean),
    )


@dataclass(frozen=True, eq=False)
class _Side:
    """The runs of one side, on the scale on which they are compared.

    Attributes:
        figures: One for each run.
        within: Squared error of each within its run, NaN where unknown.
        within_degrees: Degrees of freedom of each of those.
    """

    figures: F64
    within: F64
    within_degrees: F64

    @property
    def runs(self) -> int:
        return len(self.figures)

    @property
    def mean(self) -> float:
        return float(self.figures.mean())

    @property
    def squares(self) -> float:
        """The sum of squared distances from the mean."""
        return float(((self.figures - self.figures.mean()) ** 2).sum())

    @property
    def variance(self) -> float:
        return self.squares / (self.runs - 1)

    @property
    def mean_within(self) -> float:
        """The mean squared error within runs; 0 where it is unknown, and the scatter of runs has to hold it."""
        known = self.within[~np.isnan(self.within)]
        return float(known.mean()) if len(known) else 0.0


@dataclass(frozen=True, eq=False)
class _Sides:
    """Both sides on one scale.

    Attributes:
        logarithmic: Whether figures are logarithms.
        relative: Whether differences are shares of the baseline.
        scale: What linear figures were divided by.
    """

    candidate: _Side
    baseline: _Side
    logarithmic: bool
    relative: bool
    scale: float

    @property
    def unit(self) -> float:
        """What a difference on this scale is multiplied by to be in the unit of the answer."""
        return 1.0 if self.relative else self.scale

    @property
    def degrees(self) -> int:
        return self.candidate.runs + self.baseline.runs - 2

    @property
    def pooled_variance(self) -> float:
        """The variance of runs around the mean of their side; 0 where there is one run on each."""
        return (
            (self.candidate.squares + self.baseline.squares) / self.degrees if self.degrees else 0.0
        )

    @property
    def within_spread(self) -> float:
        """The standard deviation of figures that noise within runs alone would make."""
        within = self.candidate.mean_within * self.candidate.runs
        within += self.baseline.mean_within * self.baseline.runs
        return math.sqrt(within / (self.candidate.runs + self.baseline.runs))

    def as_share(self, shift: float) -> float:
        """A difference on this scale, in the unit of the answer."""
        return math.expm1(shift) if self.logarithmic else shift * self.unit

    def figure(self, value: float) -> float:
        """A mean on this scale, in the figure's unit."""
        return math.exp(value) if self.logarithmic else value * self.scale


@dataclass(frozen=True)
class _Error:
    """The standard error of the difference of two sides."""

    value: float
    degrees: float
    spread: float
    assumed: bool


def _on_one_scale(candidates: Sequence[Mean], baselines: Sequence[Mean]) -> _Sides:
    figures = [mean.value for mean in (*candidates, *baselines)]
    if min(figures) > 0.0:
        return _Sides(
            candidate=_logarithms(candidates),
            baseline=_logarithms(baselines),
            logarithmic=True,
            relative=True,
            scale=1.0,
        )
    baseline_mean = sum(mean.value for mean in baselines) / len(baselines)
    relative = baseline_mean > 0.0
    largest = max(abs(figure) for figure in figures)
    scale = baseline_mean if relative else largest or 1.0
    return _Sides(
        candidate=_scaled(candidates, scale),
        baseline=_scaled(baselines, scale),
        logarithmic=False,
        relative=relative,
        scale=scale,
    )


def _logarithms(means: Sequence[Mean]) -> _Side:
    values = np.array([mean.value for mean in means])
    errors = np.array([mean.standard_error for mean in means])
    degrees = np.array([mean.degrees for mean in means])
    return _Side(figures=np.log(values), within=(errors / values) ** 2, within_degrees=degrees)


def _scaled(means: Sequence[Mean], scale: float) -> _Side:
    values = np.array([mean.value for mean in means])
    errors = np.array([mean.standard_error for mean in means])
    degrees = np.array([mean.degrees for mean in means])
    return _Side(figures=values / scale, within=(errors / scale) ** 2, within_degrees=degrees)


def _standard_error(sides: _Sides, assumed_spread: float, alpha: float) -> _Error:
    if sides.degrees < LEAST_DEGREES:
        return _assumed_error(sides, assumed_spread)
    pooled = _pooled_error(sides)
    if not _spreads_differ(sides):
        return pooled
    # Scatter that is small by chance must not make a difference surer.
    welch = _welch_error(sides)
    return max(pooled, welch, key=lambda error: _half_width(error, alpha))


def _assumed_error(sides: _Sides, assumed_spread: float) -> _Error:
    """The scatter of runs is taken as known and errors within runs are added; degrees as Satterthwaite (1946)."""
    spread = max(assumed_spread, math.sqrt(sides.pooled_variance))
    squared = 0.0
    uncertainty = 0.0
    for side in (sides.candidate, sides.baseline):
        within = side.within / side.runs**2
        squared += spread**2 / side.runs + float(within.sum())
        uncertainty += float((within**2 / side.within_degrees).sum())
    degrees = squared**2 / uncertainty if uncertainty else math.inf
    return _Error(value=math.sqrt(squared), degrees=degrees, spread=spread, assumed=True)


def _pooled_error(sides: _Sides) -> _Error:
    """Student's error, with what the shorter runs of a side are less sure of."""
    candidate = sides.candidate
    baseline = sides.baseline
    pooled_within = (candidate.runs - 1) * candidate.mean_within + (
        baseline.runs - 1
    ) * baseline.mean_within
    pooled_within /= sides.degrees
    squared = 0.0
    for side in (candidate, baseline):
        excess = max(side.mean_within - pooled_within, 0.0)
        squared += (sides.pooled_variance + excess) / side.runs
    return _Error(
        value=math.sqrt(squared),
        degrees=float(sides.degrees),
        spread=math.sqrt(sides.pooled_variance),
        assumed=False,
    )


def _welch_error(sides: _Sides) -> _Error:
    squared = 0.0
    uncertainty = 0.0
    for side in (sides.candidate, sides.baseline):
        share = side.variance / side.runs
        squared += share
        uncertainty += share**2 / (side.runs - 1)
    degrees = squared**2 / uncertainty if uncertainty else math.inf
    spread = math.sqrt(sides.pooled_variance)
    return _Error(value=math.sqrt(squared), degrees=degrees, spread=spread, assumed=False)


def _spreads_differ(sides: _Sides) -> bool:
    """Whether the runs of both sides scatter unlike, at 5 %."""
    if min(sides.candidate.runs, sides.baseline.runs) < _LEAST_RUNS_TO_COMPARE_SPREADS:
        return False
    variances = (sides.candidate.variance, sides.baseline.variance)
    if not min(variances):
        return max(variances) > 0.0
    # Logarithms of variances are nearly normal (Bartlett & Kendall 1946), which spares a table of F.
    error = math.sqrt(2.0 / (sides.candidate.runs - 1) + 2.0 / (sides.baseline.runs - 1))
    statistic = math.log(variances[0] / variances[1]) / error
    return two_sided_p_value(statistic, math.inf) < _SPREADS_DIFFER


def _half_width(error: _Error, alpha: float) -> float:
    if not error.value or math.isnan(error.value):
        return error.value
    return student_quantile(1.0 - alpha, error.degrees) * error.value


def _p_value(shift: float, error: _Error) -> float:
    if math.isnan(error.value):
        return math.nan
    if not error.value:
        return 0.0 if shift else 1.0
    return two_sided_p_value(shift / error.value, error.degrees)


def runs_needed(
    spread: float, difference: float, *, alpha: float = 0.01, baselines: int | None = None
) -> int | None:
    """How many candidate runs make the interval's half width no larger than a difference.

    Args:
        spread: Standard deviation of repeated runs, as a share.
        difference: The half width, as a share, above 0.
        alpha: The level of the interval.
        baselines: Runs of the baseline; as many as of the candidate when None.

    Returns:
        The number, at least 1; None where even a thousand do not suffice.
    """
    for runs in range(1, _MOST_RUNS_NEEDED + 1):
        others = baselines or runs
        degrees = runs + others - 2
        if degrees < LEAST_DEGREES:
            continue
        error = spread * math.sqrt(1.0 / runs + 1.0 / others)
        if student_quantile(1.0 - alpha, float(degrees)) * error <= difference:
            return runs
    return None

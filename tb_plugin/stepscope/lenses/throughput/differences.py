"""How sure the difference of each displayed rate is: in the rate's own unit, and in a sentence.

A verdict is of the rate it stands beside. The whole-time rate counts pauses, so pauses are part of
its error. The training-only rate leaves them out of both. Errors are those of a ratio of sums over
correlated intervals (see `stepscope.statistics.means`). They hold for these two runs, not for
repetitions of them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from stepscope.lenses.throughput.result import Series
from stepscope.model.arrays import F64
from stepscope.statistics.means import Mean, ratio_of_sums
from stepscope.statistics.student import student_quantile

NS_PER_SECOND = 1e9
CONFIDENCE = 0.95
WHOLE_FROM = 1000
"""Rates from here on are printed without decimals."""
TITLES = {
    "whole_time": "GlobalRate",
    "windowed": "Windowed rate",
    "training_only": "Training-only rate",
}


def differences(a: Series, b: Series, outside_a: F64, outside_b: F64) -> dict[str, Any]:
    """For each rate: difference a - b, its 95 % interval, unit, verdict and sentence.

    Args:
        a: The series in question.
        b: The series that it is compared with.
        outside_a: Time before each of its samples that lies in spans beside training, ns.
        outside_b: The same of the other.
    """
    found = {}
    for average, title in TITLES.items():
        rate_a = a.statistics[average]["per_sec"]
        rate_b = b.statistics[average]["per_sec"]
        if rate_a is None or rate_b is None:
            continue
        means = (_mean(a, average, outside_a), _mean(b, average, outside_b))
        difference = _Difference(
            title=title,
            unit=f"{a.unit}/s",
            rate_a=rate_a,
            rate_b=rate_b,
            half_width=_half_width(means),
        )
        found[average] = difference.to_json()
    return found


def _mean(series: Series, average: str, outside: F64) -> Mean | None:
    """The rate over the intervals of an average, None where there are none."""
    counted = np.diff(series.total).astype(np.float64)
    passed = np.diff(series.time_ns).astype(np.float64)
    if average == "training_only":
        passed = passed - np.diff(outside)
    usable = (counted >= 0) & (passed > 0)
    steps: int | None = series.statistics[average].get("steps")
    if average == "windowed" and steps and int(series.step[-1]) >= 0:
        usable &= series.step[1:] > int(series.step[-1]) - steps
    counted = counted[usable]
    passed = passed[usable]
    if not counted.sum() > 0:
        return None
    return ratio_of_sums(passed, counted).inverse(NS_PER_SECOND)


def _half_width(means: tuple[Mean | None, Mean | None]) -> float | None:
    """Half of the interval of the difference, None where a run is too short to say."""
    known = [mean for mean in means if mean is not None and mean.error_known]
    if len(known) < len(means):
        return None
    error = math.hypot(*(mean.standard_error for mean in known))
    if not error:
        return 0.0
    degrees = min(mean.degrees for mean in known)
    return student_quantile(CONFIDENCE, degrees) * error


@dataclass(frozen=True)
class _Difference:
    """The difference of a rate between two runs.

    Attributes:
        title: The rate's name.
        unit: The rates' unit.
        rate_a: The rate of the series in question.
        rate_b: The rate that it is compared with.
        half_width: Half of the difference's 95 % interval, None where a run is too short to say.
    """

    title: str
    unit: str
    rate_a: float
    rate_b: float
    half_width: float | None

    def to_json(self) -> dict[str, Any]:
        """The difference as a document."""
        difference = self.rate_a - self.rate_b
        low: float | None = None
        high: float | None = None
        if self.half_width is not None:
            low = difference - self.half_width
            high = difference + self.half_width
        return {
            "difference": difference,
            "low": low,
            "high": high,
            "unit": self.unit,
            "verdict": self._verdict(),
            "sentence": self._sentence(),
        }

    def _verdict(self) -> str:
        if self.half_width is None:
            return "too_short"
        if abs(self.rate_a - self.rate_b) > self.half_width:
            return "different"
        return "indistinguishable"

    def _sentence(self) -> str:
        difference = self.rate_a - self.rate_b
        rates = f"{_rate(self.rate_a)} against {_rate(self.rate_b)} {self.unit}"
        head = f"{self.title}: {rates}, {_signed(difference)}"
        if self.half_width is None:
            return f"{head}. The runs are too short to test it."
        low = _signed(difference - self.half_width)
        high = _signed(difference + self.half_width)
        judged = "not a significant difference"
        if self._verdict() == "different":
            judged = "a significant difference"
        return f"{head} (95 % interval {low} to {high} {self.unit}): {judged}."


def _rate(value: float) -> str:
    if abs(value) >= WHOLE_FROM:
        return f"{value:,.0f}"
    return f"{value:.4g}"


def _signed(value: float) -> str:
    if abs(value) >= WHOLE_FROM:
        return f"{value:+,.0f}"
    return f"{value:+.3g}"

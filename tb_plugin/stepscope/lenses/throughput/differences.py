"""How sure the difference of each displayed rate is: in the rate's own unit, and in a sentence.

A verdict is of the figure it stands beside. The whole-time rate counts pauses, so pauses are part of its error; the
training-only rate leaves them out of both. Errors are those of a ratio of sums over correlated intervals (see
`stepscope.statistics.means`); they are of these two runs, not of others that might have been made.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
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
    for figure, title in TITLES.items():
        rates = a.statistics[figure]["per_sec"], b.statistics[figure]["per_sec"]
        if None not in rates:
            means = _mean(a, figure, outside_a), _mean(b, figure, outside_b)
            found[figure] = _difference(title, a.unit, rates, means)
    return found


def _mean(series: Series, figure: str, outside: F64) -> Mean | None:
    """The rate over the intervals between samples that the figure is of; None where there are none."""
    counted = np.diff(series.total).astype(np.float64)
    passed = np.diff(series.time_ns).astype(np.float64)
    if figure == "training_only":
        passed = passed - np.diff(outside)
    usable = (counted >= 0) & (passed > 0)
    steps: int | None = series.statistics[figure].get("steps")
    if figure == "windowed" and steps and int(series.step[-1]) >= 0:
        usable &= series.step[1:] > int(series.step[-1]) - steps
    counted, passed = counted[usable], passed[usable]
    if not counted.sum() > 0:
        return None
    return ratio_of_sums(passed, counted).inverse(NS_PER_SECOND)


def _difference(
    title: str, unit: str, rates: tuple[float, float], means: tuple[Mean | None, Mean | None]
) -> Mapping[str, Any]:
    mine, theirs = rates
    difference = mine - theirs
    half = _half_width(means)
    verdict = "too_short"
    if half is not None:
        verdict = "different" if abs(difference) > half else "indistinguishable"
    return {
        "difference": difference,
        "low": None if half is None else difference - half,
        "high": None if half is None else difference + half,
        "unit": f"{unit}/s",
        "verdict": verdict,
        "sentence": _sentence(title, f"{unit}/s", rates, half, verdict),
    }


def _half_width(means: tuple[Mean | None, Mean | None]) -> float | None:
    """Half of the interval of the difference, None where a run is too short to say."""
    known = [mean for mean in means if mean is not None and mean.error_known]
    if len(known) < len(means):
        return None
    error = math.hypot(*(mean.standard_error for mean in known))
    degrees = min(mean.degrees for mean in known)
    return student_quantile(CONFIDENCE, degrees) * error if error else 0.0


def _sentence(title: str, unit: str, rates: tuple[float, float], half: float | None, verdict: str) -> str:
    mine, theirs = rates
    difference = mine - theirs
    head = f"{title}: {_rate(mine)} against {_rate(theirs)} {unit}"
    if half is None:
        return f"{head}, {_signed(difference)}. The runs are too short to test it."
    interval = f"95 % interval {_signed(difference - half)} to {_signed(difference + half)} {unit}"
    judged = "a significant difference" if verdict == "different" else "not a significant difference"
    return f"{head}, {_signed(difference)} ({interval}): {judged}."


def _rate(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= WHOLE_FROM else f"{value:.4g}"


def _signed(value: float) -> str:
    return f"{value:+,.0f}" if abs(value) >= WHOLE_FROM else f"{value:+.3g}"

"""A metric over many runs, and where it changed."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from stepscope.session.check import metric_named
from stepscope.session.run_figures import Metric, RunFigures
from stepscope.statistics import Mean, change_points

_NUMBER = re.compile(r"(\d+)")


@dataclass(frozen=True)
class HistoryPoint:
    """One run."""

    run: str
    wall_ns: int
    mean: Mean


@dataclass(frozen=True)
class HistoryChange:
    """A change of level.

    Attributes:
        index: The first run of the new level.
        low, high: The first and last run that it may be.
        difference: As a share of the level before.
        difference_low, difference_high: Its interval.
        worse: Whether the metric got worse.
    """

    index: int
    low: int
    high: int
    difference: float
    difference_low: float
    difference_high: float
    worse: bool


@dataclass(frozen=True)
class History:
    """A metric over runs in order.

    Attributes:
        metric: Which.
        points: The runs that have it.
        changes: Where its level changed, in order.
        without: Runs that do not have the metric.
    """

    metric: Metric
    points: tuple[HistoryPoint, ...]
    changes: tuple[HistoryChange, ...]
    without: tuple[str, ...]

    def newest_is_worse(self, max_regression: float) -> bool:
        """Whether the last change made the metric worse by more than a share."""
        if not self.changes:
            return False
        last = self.changes[-1]
        return last.worse and abs(last.difference) > max_regression

    def to_json(self) -> dict[str, Any]:
        """The document. Stamps are decimal strings."""
        points = []
        for point in self.points:
            low, high = point.mean.interval()
            known = point.mean.error_known
            points.append(
                {
                    "run": point.run,
                    "wall_ns": str(point.wall_ns) if point.wall_ns else None,
                    "value": point.mean.value,
                    "low": low if known else None,
                    "high": high if known else None,
                }
            )
        changes = []
        for change in self.changes:
            changes.append(
                {
                    "run": self.points[change.index].run,
                    "before": self.points[change.index - 1].run,
                    "first_possible": self.points[change.low].run,
                    "last_possible": self.points[change.high].run,
                    "difference": change.difference,
                    "difference_low": change.difference_low,
                    "difference_high": change.difference_high,
                    "worse": change.worse,
                }
            )
        return {
            "metric": self.metric.name,
            "unit": self.metric.unit,
            "points": points,
            "changes": changes,
            "without": list(self.without),
        }


def history(
    runs: Sequence[RunFigures], *, metric: str = "step_time", order: str = "time"
) -> History:
    """The metric over runs.

    Changes are those of the logarithm where all figures are above 0: shares of the level before.

    Args:
        runs: In any order.
        metric: As `check` takes it.
        order: time, or name: by the numbers in the names, as commits that are counted. Runs whose time is unknown are
            ordered by name.

    Raises:
        OptionError: An unknown metric.
    """
    wanted = metric_named(metric)
    points = []
    without = []
    for run in sorted(runs, key=lambda item: _place(item, order)):
        mean = run.metric(metric)
        if mean is None:
            without.append(run.title)
        else:
            points.append(HistoryPoint(run=run.title, wall_ns=run.wall_ns, mean=mean))
    values = np.array([point.mean.value for point in points])
    changes = _changes(values, wanted)
    return History(
        metric=wanted, points=tuple(points), changes=tuple(changes), without=tuple(without)
    )


def _place(run: RunFigures, order: str) -> tuple[int, list[tuple[int, int, str]]]:
    time = run.wall_ns if order == "time" else 0
    words = [
        (0, int(word), "") if word.isdecimal() else (1, 0, word)
        for word in _NUMBER.split(run.title)
        if word
    ]
    return time, words


def _changes(values: np.ndarray[Any, np.dtype[np.float64]], metric: Metric) -> list[HistoryChange]:
    logarithmic = bool(len(values)) and bool((values > 0.0).all())
    levels = np.log(values) if logarithmic else values
    changes = []
    for change in change_points(levels):
        bounds = (change.difference, change.difference_low, change.difference_high)
        if logarithmic:
            shares = [float(np.expm1(bound)) for bound in bounds]
        else:
            shares = [bound / abs(change.before) if change.before else bound for bound in bounds]
        increased = change.difference > 0.0
        changes.append(
            HistoryChange(
                index=change.index,
                low=change.low,
                high=change.high,
                difference=shares[0],
                difference_low=shares[1],
                difference_high=shares[2],
                worse=increased != metric.higher_is_better,
            )
        )
    return changes

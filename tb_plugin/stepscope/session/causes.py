"""Why the steps of one side take longer: the rows whose difference explains the difference of the step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from stepscope.lenses.trace.step_costs import Path
from stepscope.model.arrays import F64
from stepscope.session.run_figures import RunFigures, steps_mean
from stepscope.statistics import Comparison, Mean, compare_means, holm

LEAST_SHARE = 0.05
"""Rows that explain less of the step's difference are no cause."""
_FOLLOW = 0.7
"""A row below another one that holds this share of its difference is the better name for it."""
_MOST_ROWS = 2000
_MOST_CAUSES = 8
_SPAN_NAMES = {"data": "input wait"}


@dataclass(frozen=True)
class Cause:
    """A row that takes longer.

    Attributes:
        kind: phase, host, or device.
        name: The call path, or the phase.
        difference_ns: Time per step, candidate minus baseline, above 0.
        share: Of the step's difference.
        sure: Whether the row differs beyond its own noise, all rows looked at being allowed for.
        comparison: The comparison of the row itself.
    """

    kind: str
    name: str
    difference_ns: float
    share: float
    sure: bool
    comparison: Comparison


def causes(
    candidates: Sequence[RunFigures], baselines: Sequence[RunFigures], *, alpha: float
) -> list[Cause]:
    """The rows that explain why the candidates' steps take longer, the largest share first; none where they do not.

    Phases are spans that the loop logged. Host and device rows are call paths of the profiles: from the whole step the
    search follows the row that holds at least 70 % of the difference above it, so that a cause is named as deep as one
    row holds it. P values are corrected for all rows with Holm's method.

    Args:
        candidates: Runs in question.
        baselines: Runs that they are compared with.
        alpha: The probability that any equal row is called different.
    """
    rows: list[tuple[str, str, list[Mean], list[Mean], float]] = []
    logged_step = _difference(
        [run.metric("step_time") for run in (*candidates,)],
        [run.metric("step_time") for run in baselines],
    )
    for name, mine, theirs in _phase_rows(candidates, baselines):
        rows.append(("phase", name, mine, theirs, logged_step))
    profiled_step = _difference(
        [run.profiled_step for run in candidates],
        [run.profiled_step for run in baselines],
    )
    for kind in ("device", "host"):
        for name, mine, theirs in _path_rows(kind, candidates, baselines, profiled_step):
            rows.append((kind, name, mine, theirs, profiled_step))
    comparisons = [compare_means(mine, theirs, alpha=alpha) for _, _, mine, theirs, _ in rows]
    corrected = holm([1.0 if np.isnan(row.p_value) else row.p_value for row in comparisons])
    explained: list[Cause] = []
    for (kind, name, mine, theirs, step), comparison, p_value in zip(
        rows, comparisons, corrected, strict=True
    ):
        difference = _mean(mine) - _mean(theirs)
        share = difference / step if step else 0.0
        if share >= LEAST_SHARE and difference > 0.0:
            cause = Cause(
                kind=kind,
                name=name,
                difference_ns=difference,
                share=share,
                sure=p_value < alpha,
                comparison=comparison,
            )
            explained.append(cause)
    explained.sort(key=lambda cause: (not cause.sure, -cause.share))
    return explained[:_MOST_CAUSES]


def _difference(mine: Sequence[Mean | None], theirs: Sequence[Mean | None]) -> float:
    candidate = [mean for mean in mine if mean is not None]
    baseline = [mean for mean in theirs if mean is not None]
    return _mean(candidate) - _mean(baseline) if candidate and baseline else 0.0


def _mean(means: Sequence[Mean]) -> float:
    return float(np.mean([mean.value for mean in means]))


def _phase_rows(
    candidates: Sequence[RunFigures], baselines: Sequence[RunFigures]
) -> list[tuple[str, list[Mean], list[Mean]]]:
    names: dict[str, None] = {}
    for run in (*candidates, *baselines):
        names.update(dict.fromkeys(run.phases))
    nothing = Mean(
        value=0.0, standard_error=0.0, degrees=np.inf, intervals=0, effective_intervals=0.0
    )
    rows = []
    for name in names:
        mine = [run.phases.get(name, nothing) for run in candidates]
        theirs = [run.phases.get(name, nothing) for run in baselines]
        rows.append((_SPAN_NAMES.get(name, name), mine, theirs))
    return rows


def _path_rows(
    kind: str,
    candidates: Sequence[RunFigures],
    baselines: Sequence[RunFigures],
    step_difference: float,
) -> list[tuple[str, list[Mean], list[Mean]]]:
    """The deepest paths that hold the differences of one resource."""
    mine = [run for run in candidates if run.profiled_step is not None]
    theirs = [run for run in baselines if run.profiled_step is not None]
    if not mine or not theirs or not step_difference:
        return []
    tables = [_with_parents(_paths(run, kind)) for run in (*mine, *theirs)]
    differences = _differences(tables, len(mine))
    if not differences:
        return []
    sign = 1.0 if step_difference > 0.0 else -1.0
    deepest = _deepest(differences, sign, LEAST_SHARE * abs(step_difference))
    rows = []
    for path in deepest[:_MOST_ROWS]:
        columns = [
            _row_mean(table, path, run) for table, run in zip(tables, (*mine, *theirs), strict=True)
        ]
        rows.append(("/".join(path), columns[: len(mine)], columns[len(mine) :]))
    return rows


def _paths(run: RunFigures, kind: str) -> Mapping[Path, F64]:
    return run.device if kind == "device" else run.host


def _with_parents(rows: Mapping[Path, F64]) -> dict[Path, F64]:
    """Totals: each row with all rows below it."""
    totals: dict[Path, F64] = {}
    for path, cost in rows.items():
        for depth in range(len(path) + 1):
            above = path[:depth]
            totals[above] = totals[above] + cost if above in totals else cost
    return totals


def _row_mean(table: Mapping[Path, F64], path: Path, run: RunFigures) -> Mean:
    if path in table:
        return steps_mean(table[path])
    steps = run.profiled_step.intervals if run.profiled_step is not None else 0
    return steps_mean(np.zeros(max(steps, 1)))


def _differences(tables: Sequence[Mapping[Path, F64]], candidates: int) -> dict[Path, float]:
    """Mean time per step of the first tables minus that of the others, for all paths."""
    sums: dict[Path, float] = {}
    for place, table in enumerate(tables):
        weight = 1.0 / candidates if place < candidates else -1.0 / (len(tables) - candidates)
        for path, cost in table.items():
            sums[path] = sums.get(path, 0.0) + weight * float(cost.mean())
    return sums


def _deepest(differences: Mapping[Path, float], sign: float, least: float) -> list[Path]:
    """From the whole step down: paths that hold a difference that no single path below holds most of."""
    children: dict[Path, list[Path]] = {}
    for path in differences:
        if path:
            children.setdefault(path[:-1], []).append(path)
    found: list[Path] = []
    waiting: list[Path] = [()]
    while waiting:
        path = waiting.pop()
        whole = sign * differences[path]
        below = [child for child in children.get(path, ()) if sign * differences[child] >= least]
        largest = max((sign * differences[child] for child in below), default=0.0)
        if path and (not below or largest < _FOLLOW * whole):
            found.append(path)
        if not path or largest >= _FOLLOW * whole:
            waiting.extend(below)
    return sorted(found, key=lambda path: -sign * differences[path])

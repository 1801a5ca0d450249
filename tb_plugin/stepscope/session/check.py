"""The gate: whether runs are worse than their baseline, by how much, how sure that is, and why."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from stepscope.errors import OptionError
from stepscope.session.causes import Cause, causes
from stepscope.session.run_figures import METRICS, Metric, RunFigures
from stepscope.statistics import (
    ASSUMED_SPREAD,
    Comparison,
    Mean,
    compare_means,
    corrected_alpha,
    runs_needed,
)

PASS = "pass"
REGRESSION = "regression"
CANNOT_TELL = "cannot tell"
EXIT_CODES = {PASS: 0, REGRESSION: 1, CANNOT_TELL: 2}


@dataclass(frozen=True)
class MetricCheck:
    """The verdict on one metric.

    Attributes:
        metric: Which.
        verdict: pass, regression, or cannot tell.
        comparison: None where a side does not have the metric.
        worse, worse_low, worse_high: How much worse the candidate is, as a share of the baseline, with its interval:
            above 0 is worse, whichever way the metric goes.
        missing: What would make it possible to tell.
    """

    metric: Metric
    verdict: str
    comparison: Comparison | None
    worse: float | None
    worse_low: float | None
    worse_high: float | None
    missing: tuple[str, ...]


@dataclass(frozen=True)
class Check:
    """The verdict on a candidate.

    Attributes:
        verdict: The worst of the metrics' verdicts: a regression before what cannot be told.
        metrics: Of each metric.
        causes: Rows that explain the step's difference.
        incomparable: Differences that explain a difference in speed by themselves.
        differences: Other differences of the environment.
        max_regression: The share that is allowed.
        alpha: The probability of a false alarm, over all metrics.
        candidates, baselines: The runs' names.
    """

    verdict: str
    metrics: tuple[MetricCheck, ...]
    causes: tuple[Cause, ...]
    incomparable: tuple[str, ...]
    differences: tuple[str, ...]
    max_regression: float
    alpha: float
    candidates: tuple[str, ...]
    baselines: tuple[str, ...]

    @property
    def exit_code(self) -> int:
        """0 pass, 1 regression, 2 cannot tell."""
        return EXIT_CODES[self.verdict]

    def to_json(self) -> dict[str, Any]:
        """The document. Times are ns, shares are fractions; unknown is null."""
        return {
            "verdict": self.verdict,
            "exit_code": self.exit_code,
            "max_regression": self.max_regression,
            "alpha": self.alpha,
            "candidates": list(self.candidates),
            "baselines": list(self.baselines),
            "metrics": [_metric_json(check) for check in self.metrics],
            "causes": [_cause_json(cause) for cause in self.causes],
            "incomparable": list(self.incomparable),
            "differences": list(self.differences),
        }


def check(
    candidates: Sequence[RunFigures],
    baselines: Sequence[RunFigures],
    *,
    metrics: Sequence[str] = ("step_time",),
    max_regression: float = 0.03,
    alpha: float = 0.01,
    run_spread: float = ASSUMED_SPREAD,
) -> Check:
    """Compares runs with a baseline.

    For each metric, with an interval at 1 - alpha / number of metrics of how much worse the candidate is:

    * pass: the interval ends at or below `max_regression`. The loss is shown to be allowed.
    * regression: it begins above 0 and ends above `max_regression`. The candidate is worse, and not shown to be within
      what is allowed.
    * cannot tell: it holds 0 and ends above `max_regression`, or there is no interval, or the sides are not comparable.

    Equal sides are thus called a regression with a probability of at most alpha.

    Args:
        candidates: Runs in question.
        baselines: Runs that they are compared with.
        metrics: step_time, rate, peak_memory, exposed_communication, goodput, phase:NAME or op:PATH.
        max_regression: The allowed loss, as a share.
        alpha: The probability of a false alarm, over all metrics.
        run_spread: Scatter of repeated runs, as a share, for when there are too few runs to measure it.

    Raises:
        OptionError: An unknown metric.
    """
    wanted = [metric_named(name) for name in dict.fromkeys(metrics)]
    each = corrected_alpha(alpha, len(wanted))
    incomparable = _incomparable(candidates, baselines)
    checks = []
    for metric in wanted:
        checks.append(
            _check_metric(
                metric, candidates, baselines, max_regression, each, run_spread, incomparable
            )
        )
    verdicts = {item.verdict for item in checks}
    verdict = next(word for word in (REGRESSION, CANNOT_TELL, PASS) if word in verdicts)
    reasons: list[Cause] = []
    if any(item.worse is not None and item.worse > 0.0 for item in checks):
        reasons = causes(candidates, baselines, alpha=alpha)
    return Check(
        verdict=verdict,
        metrics=tuple(checks),
        causes=tuple(reasons),
        incomparable=tuple(incomparable),
        differences=tuple(_details(candidates, baselines)),
        max_regression=max_regression,
        alpha=alpha,
        candidates=tuple(run.title for run in candidates),
        baselines=tuple(run.title for run in baselines),
    )


def metric_named(name: str) -> Metric:
    """The metric of that name.

    Raises:
        OptionError: There is none.
    """
    for metric in METRICS:
        if metric.name == name:
            return metric
    kind, colon, rest = name.partition(":")
    if kind in ("phase", "op") and colon and rest:
        return Metric(name=name, title=f"{kind} {rest}", unit="ns")
    known = ", ".join(metric.name for metric in METRICS)
    raise OptionError(
        f"metric must be known: {name!r}", remedy=f"Choose from {known}, phase:NAME, op:PATH"
    )


def _check_metric(
    metric: Metric,
    candidates: Sequence[RunFigures],
    baselines: Sequence[RunFigures],
    max_regression: float,
    alpha: float,
    run_spread: float,
    incomparable: Sequence[str],
) -> MetricCheck:
    mine = _figures(metric, candidates)
    theirs = _figures(metric, baselines)
    if not mine or not theirs:
        side = "new runs" if not mine else "baseline"
        return MetricCheck(
            metric=metric,
            verdict=CANNOT_TELL,
            comparison=None,
            worse=None,
            worse_low=None,
            worse_high=None,
            missing=(f"{metric.title} in the {side}",),
        )
    comparison = compare_means(mine, theirs, alpha=alpha, assumed_spread=run_spread)
    sign = -1.0 if metric.higher_is_better else 1.0
    worse = sign * comparison.difference
    low, high = sorted((sign * comparison.low, sign * comparison.high))
    if not comparison.known or incomparable:
        verdict = CANNOT_TELL
    elif high <= (max_regression if comparison.relative else 0.0):
        verdict = PASS
    elif low > 0.0:
        verdict = REGRESSION
    else:
        verdict = CANNOT_TELL
    missing: tuple[str, ...] = ()
    if verdict == CANNOT_TELL:
        missing = tuple(_missing(comparison, mine, theirs, max_regression, alpha, incomparable))
    return MetricCheck(
        metric=metric,
        verdict=verdict,
        comparison=comparison,
        worse=worse,
        worse_low=low if comparison.known else None,
        worse_high=high if comparison.known else None,
        missing=missing,
    )


def _figures(metric: Metric, runs: Sequence[RunFigures]) -> list[Mean]:
    means = []
    for run in runs:
        mean = run.metric(metric.name)
        if mean is not None:
            means.append(mean)
    return means


def _missing(
    comparison: Comparison,
    mine: Sequence[Mean],
    theirs: Sequence[Mean],
    max_regression: float,
    alpha: float,
    incomparable: Sequence[str],
) -> list[str]:
    """What would make it possible to tell."""
    missing = [
        f"the same {difference.partition(':')[0]} on both sides" for difference in incomparable
    ]
    if not comparison.known:
        shortest = min(mean.intervals for mean in (*mine, *theirs))
        missing.append(
            f"more steps: a run has {shortest} measured intervals, at least 8 are needed"
        )
        return missing
    if incomparable:
        return missing
    needed = (
        runs_needed(comparison.spread, max_regression, alpha=alpha) if comparison.relative else None
    )
    if comparison.spread_assumed:
        spread = f"{comparison.spread:.1%}"
        missing.append(
            f"more runs: with {len(mine)} against {len(theirs)} the scatter of runs is assumed ({spread})"
        )
    if needed is not None:
        missing.append(
            f"about {needed} runs on each side, to tell {max_regression:.1%} at this scatter"
        )
    else:
        missing.append("less noise: no number of runs up to 1,000 would do")
    return missing


def _incomparable(candidates: Sequence[RunFigures], baselines: Sequence[RunFigures]) -> list[str]:
    """What differs and explains a difference in speed by itself."""
    words: dict[str, None] = {}
    for run in (*candidates, *baselines):
        words.update(dict.fromkeys(run.environment))
    differences = []
    for word in words:
        mine = {run.environment[word] for run in candidates if word in run.environment}
        theirs = {run.environment[word] for run in baselines if word in run.environment}
        if mine and theirs and mine != theirs:
            differences.append(f"{word}: {_joined(mine)} against {_joined(theirs)}")
    return differences


def _details(candidates: Sequence[RunFigures], baselines: Sequence[RunFigures]) -> list[str]:
    """What else differs: a reader may want to know."""
    differences = []
    for word in ("framework", "host", "profiled steps", "steps"):
        mine = {run.details[word] for run in candidates if word in run.details}
        theirs = {run.details[word] for run in baselines if word in run.details}
        if mine and theirs and mine != theirs:
            differences.append(f"{word}: {_joined(mine)} against {_joined(theirs)}")
    return differences


def _joined(values: set[str]) -> str:
    ordered = sorted(values)
    shown = ", ".join(ordered[:3])
    return shown if len(ordered) <= 3 else f"{shown} and {len(ordered) - 3} more"


def _metric_json(check: MetricCheck) -> dict[str, Any]:
    comparison = check.comparison
    known = comparison is not None and comparison.known
    return {
        "metric": check.metric.name,
        "unit": check.metric.unit,
        "verdict": check.verdict,
        "baseline": comparison.baseline if comparison else None,
        "candidate": comparison.candidate if comparison else None,
        "relative": comparison.relative if comparison else None,
        "worse": check.worse,
        "worse_low": check.worse_low,
        "worse_high": check.worse_high,
        "p_value": comparison.p_value if comparison and known else None,
        "run_spread": comparison.spread if comparison and known else None,
        "run_spread_assumed": comparison.spread_assumed if comparison else None,
        "candidate_runs": comparison.candidates if comparison else 0,
        "baseline_runs": comparison.baselines if comparison else 0,
        "missing": list(check.missing),
    }


def _cause_json(cause: Cause) -> dict[str, Any]:
    return {
        "kind": cause.kind,
        "name": cause.name,
        "difference_ns": cause.difference_ns,
        "share": cause.share,
        "sure": cause.sure,
    }

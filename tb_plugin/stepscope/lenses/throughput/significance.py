"""Whether two runs train at different speeds, or only as their speed varies anyway.

Checkpoints, evaluations, compilation and pauses are known. Their time is left out, so that they do
not count as noise.

Neighbouring rates are correlated, so they cannot be counted as independent. The run is cut into
blocks that are long against the correlation, and the means of the blocks are compared: the method
of batch means (Law & Kelton, Simulation Modeling and Analysis). Where neighbouring blocks are still
correlated, the effective number of blocks is smaller and the error larger. Means that lie more than
2.5 standard errors apart differ.

`stepscope.statistics` estimates the same error from cosines, without blocks. `differences` uses it
for each displayed rate; the document's blocks are those of this module.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from stepscope.lenses.throughput.differences import differences
from stepscope.lenses.throughput.result import Series, ThroughputResult
from stepscope.model.arrays import F64
from stepscope.model.throughput import PAUSE_KINDS

LEFT_OUT = frozenset(PAUSE_KINDS)
BLOCKS = 16
LEAST_BLOCKS = 4
STANDARD_ERRORS = 2.5
MOST_CORRELATED = 0.9
NS_PER_SECOND = 1e9


def significance(a: ThroughputResult, b: ThroughputResult) -> list[dict[str, Any]]:
    """For each series of both results how sure the difference of their mean rates is.

    Returns:
        Per series its name, the mean rates, the difference a - b and its standard error (samples
        per second), the number of blocks of each, how many independent ones they are worth, and
        the verdict: `different`, `indistinguishable`, or `too_short` to say. `figures` has a
        verdict of its own for each displayed rate.
    """
    series_a = _by_name(a)
    series_b = _by_name(b)
    if len(series_a) == len(series_b) == 1:
        series_b = dict(zip(series_a, series_b.values(), strict=True))
    rows = []
    for name, series in series_a.items():
        if name in series_b:
            rows.append({"series": name} | _significance_of(series, series_b[name]))
    return rows


def _by_name(result: ThroughputResult) -> dict[str, Series]:
    return {series.name: series for series in result.series}


def _significance_of(a: Series, b: Series) -> dict[str, Any]:
    figures = differences(a, b, _outside_training(a), _outside_training(b))
    rates_a = block_rates(a)
    rates_b = block_rates(b)
    if min(len(rates_a), len(rates_b)) < LEAST_BLOCKS:
        return {"verdict": "too_short", "figures": figures}
    difference = float(rates_a.mean() - rates_b.mean())
    error = float(np.sqrt(_error_squared(rates_a) + _error_squared(rates_b)))
    verdict = "indistinguishable"
    if abs(difference) > STANDARD_ERRORS * error:
        verdict = "different"
    return {
        "a_per_sec": float(rates_a.mean()),
        "b_per_sec": float(rates_b.mean()),
        "difference": difference,
        "standard_error": error,
        "a_blocks": len(rates_a),
        "b_blocks": len(rates_b),
        "a_effective_blocks": _effective(rates_a),
        "b_effective_blocks": _effective(rates_b),
        "verdict": verdict,
        "figures": figures,
    }


def _error_squared(rates: F64) -> float:
    """The squared standard error of the blocks' mean."""
    return float(rates.var(ddof=1)) / _effective(rates)


def _effective(rates: F64) -> float:
    """How many independent blocks these are worth, as of a process of first order (AR(1))."""
    apart = rates - rates.mean()
    spread = float((apart**2).sum())
    if not spread:
        return float(len(rates))
    correlation = float((apart[1:] * apart[:-1]).sum()) / spread
    correlation = min(max(correlation, 0.0), MOST_CORRELATED)
    return len(rates) * (1 - correlation) / (1 + correlation)


def block_rates(series: Series) -> F64:
    """The mean rates of up to 16 blocks of equally many intervals, from the second sample on."""
    if not len(series.time_ns):
        return np.empty(0)
    counted = np.diff(series.total)
    passed = np.diff(series.time_ns) - np.diff(_outside_training(series))
    usable = (counted >= 0) & (passed > 0)
    counted = counted[usable]
    passed = passed[usable]
    blocks = min(BLOCKS, len(counted) // 2)
    if blocks < LEAST_BLOCKS:
        return np.empty(0)
    start = np.arange(blocks) * (len(counted) // blocks)
    rates: F64 = np.add.reduceat(counted, start) / (np.add.reduceat(passed, start) / NS_PER_SECOND)
    return rates


def _outside_training(series: Series) -> F64:
    """Time before each sample in spans that are neither training nor waiting for data, ns."""
    if not len(series.time_ns):
        return np.empty(0)
    origin = int(series.time_ns[0])
    spans = [span for span in series.spans if span.kind in LEFT_OUT]
    spans.sort(key=lambda span: (span.start_ns, span.end_ns))
    edges = [0.0]
    covered = [0.0]
    for span in spans:
        # Spans may overlap: each counts from where the ones before it end.
        low = max(float(span.start_ns - origin), edges[-1])
        high = max(float(span.end_ns - origin), low)
        edges += [low, high]
        covered += [covered[-1], covered[-1] + high - low]
    return np.interp(series.time_ns - origin, edges, covered)

"""Whether two runs train at different speeds, or only as their speed varies anyway.

Checkpoints, evaluations, compilation and pauses are known: their time is left out, so that they do not pass for chance.

Rates of neighbouring moments are alike, so that they cannot be counted as independent. The run is cut into blocks that
are long against that likeness, and the means of the blocks are compared: the method of batch means (Law & Kelton,
Simulation Modeling and Analysis). Where neighbouring blocks are still alike, the error is widened by what that takes
from their number. Means that lie more than 2.5 standard errors apart differ.
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
MOST_ALIKE = 0.9
NS_PER_SECOND = 1e9


def significance(a: ThroughputResult, b: ThroughputResult) -> list[dict[str, Any]]:
    """For each series of both results how sure the difference of their mean rates is.

    Returns:
        Per series its name, the mean rates, the difference a - b and its standard error (samples per second), the
        number of blocks of each, how many independent ones they are worth, and the verdict: `different`,
        `indistinguishable`, or `too_short` to say. `figures` has a verdict of its own for each displayed rate.
    """
    mine, theirs = ({series.name: series for series in result.series} for result in (a, b))
    if len(mine) == len(theirs) == 1:
        theirs = dict(zip(mine, theirs.values(), strict=True))
    return [{"series": name} | _of(mine[name], theirs[name]) for name in mine if name in theirs]


def _of(a: Series, b: Series) -> dict[str, Any]:
    figures = differences(a, b, _outside(a), _outside(b))
    mine, theirs = block_rates(a), block_rates(b)
    if min(len(mine), len(theirs)) < LEAST_BLOCKS:
        return {"verdict": "too_short", "figures": figures}
    difference = float(mine.mean() - theirs.mean())
    error = float(np.sqrt(_error_squared(mine) + _error_squared(theirs)))
    return {
        "a_per_sec": float(mine.mean()),
        "b_per_sec": float(theirs.mean()),
        "difference": difference,
        "standard_error": error,
        "a_blocks": len(mine),
        "b_blocks": len(theirs),
        "a_effective_blocks": _effective(mine),
        "b_effective_blocks": _effective(theirs),
        "verdict": "different" if abs(difference) > STANDARD_ERRORS * error else "indistinguishable",
        "figures": figures,
    }


def _outside(series: Series) -> F64:
    return _outside_training(series) if len(series.time_ns) else np.empty(0)


def _error_squared(rates: F64) -> float:
    """The squared standard error of the blocks' mean."""
    return float(rates.var(ddof=1)) / _effective(rates)


def _effective(rates: F64) -> float:
    """How many independent blocks these are worth, whose neighbours may be alike as in a process of first order."""
    apart = rates - rates.mean()
    spread = float((apart**2).sum())
    alike = float((apart[1:] * apart[:-1]).sum()) / spread if spread else 0.0
    alike = min(max(alike, 0.0), MOST_ALIKE)
    return len(rates) * (1 - alike) / (1 + alike)


def block_rates(series: Series) -> F64:
    """The mean rate of each of up to 16 blocks of equally many intervals, from the second question on."""
    if not len(series.time_ns):
        return np.empty(0)
    counted = np.diff(series.total)
    passed = np.diff(series.time_ns) - np.diff(_outside_training(series))
    usable = (counted >= 0) & (passed > 0)
    counted, passed = counted[usable], passed[usable]
    blocks = min(BLOCKS, len(counted) // 2)
    if blocks < LEAST_BLOCKS:
        return np.empty(0)
    start = np.arange(blocks) * (len(counted) // blocks)
    rates: F64 = np.add.reduceat(counted, start) / (np.add.reduceat(passed, start) / NS_PER_SECOND)
    return rates


def _outside_training(series: Series) -> F64:
    """How much of the time before each question lies in spans that are neither training nor waiting for data."""
    origin = int(series.time_ns[0])
    spans = sorted((span.start_ns, span.end_ns) for span in series.spans if span.kind in LEFT_OUT)
    edges, covered = [0.0], [0.0]
    for start, end in spans:
        low = max(float(start - origin), edges[-1])
        high = max(float(end - origin), low)
        edges += [low, high]
        covered += [covered[-1], covered[-1] + high - low]
    return np.interp(series.time_ns - origin, edges, covered)

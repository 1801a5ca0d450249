"""Why a run is slow where nothing was logged: slow steps, and speeds that change over the run.

Slow steps are a second population of step times: where a threshold splits their logarithms best
(Otsu, 1979), the slow ones lie far outside the spread of the others. Changes are sought in medians
of equal parts of the run: no change, a line, one change point or two are compared by the Bayesian
information criterion (Schwarz, 1978). A change is reported where it is certain and costs a few
per cent.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

import numpy as np

from stepscope.lenses.throughput.arrivals import clusters
from stepscope.model.arrays import F64, I64, Bools

LEAST_STEPS = 20
LEAST_SLOW = 5
MOST_SLOW_SHARE = 0.6
LEAST_GROUPS = 0.2
SLOW_RATIO = 1.25
SLOW_SPREADS = 5.0
LEAST_COST = 0.03
LOCAL = 64
LOCAL_QUANTILE = 0.4
ON_BEAT = 0.8
BEATS_KEPT = 0.7

PARTS = 24
LEAST_PARTS = 8
CERTAIN = 20.0
SMALLEST = 0.01
MAIN_JUMP = 0.7
LEVEL_PARTS = 2
"""A level holds for this many parts of the run at least."""


@dataclass(frozen=True, eq=False)
class SlowSteps:
    """A second population of steps.

    Attributes:
        slow: Which of the given steps are slow.
        share: Their share of the steps.
        time_share: Their share of the time.
        every: They come every so many steps; 0 where they come at random.
        typical_ns: How long other steps take.
        slow_ns: How long slow steps take.
        extra_ns: What all of them took more than other steps.
    """

    slow: Bools
    share: float
    time_share: float
    every: int
    typical_ns: float
    slow_ns: float
    extra_ns: float


def slow_steps(per_step_ns: F64, steps: I64, taken: I64) -> SlowSteps | None:
    """The slow steps among these, None where their times are of one population.

    Args:
        per_step_ns: Time per step of each interval.
        steps: Steps of each interval.
        taken: Steps taken by its end.
    """
    if len(per_step_ns) < LEAST_STEPS or float(per_step_ns.min()) <= 0:
        return None
    level = local_level(per_step_ns)
    relative = np.log(per_step_ns / level)
    found = clusters(relative)
    if found is None or not _populations(relative, found.long):
        return None
    slow = found.long
    fast_level = level * math.exp(found.short_ns)
    extra = float(((per_step_ns - fast_level) * steps)[slow].sum())
    total = float((per_step_ns * steps).sum())
    if extra < LEAST_COST * total:
        return None
    return SlowSteps(
        slow=slow,
        share=float(steps[slow].sum() / steps.sum()),
        time_share=float((per_step_ns * steps)[slow].sum() / total),
        every=beat(taken[slow], steps, taken),
        typical_ns=float(np.median(per_step_ns[~slow])),
        slow_ns=float(np.median(per_step_ns[slow])),
        extra_ns=extra,
    )


def _populations(relative: F64, slow: Bools) -> bool:
    """Whether the slow ones are a second population and not the upper half of one."""
    count = int(slow.sum())
    if not LEAST_SLOW <= count <= MOST_SLOW_SHARE * len(slow):
        return False
    groups = int((slow[1:] & ~slow[:-1]).sum()) + int(slow[0])
    if groups < max(LEAST_SLOW, LEAST_GROUPS * count):
        # Slow steps one after the other are a change of speed.
        return False
    fast = relative[~slow]
    middle, low = np.quantile(fast, [0.5, 0.1])
    # From the half that slow steps do not reach: the lowest tenth of a normal distribution lies
    # 1.28 deviations below its middle.
    spread = max(float(middle - low) / 1.28, float(fast.std()) / 2)
    distance = float(np.median(relative[slow]) - middle)
    return distance > math.log(SLOW_RATIO) and distance > SLOW_SPREADS * spread


def local_level(values: F64) -> F64:
    """Usual step time around each step: a low quantile of parts of the run, joined by lines."""
    parts = max(len(values) // LOCAL, 1)
    bounds = np.linspace(0, len(values), parts + 1).astype(np.int64)
    levels = _part_quantiles(values, bounds, LOCAL_QUANTILE)
    centres = (bounds[:-1] + bounds[1:] - 1) / 2
    smooth: F64 = np.interp(np.arange(len(values)), centres, levels)
    return np.maximum(smooth, 1.0)


def _part_quantiles(values: F64, bounds: I64, quantile: float) -> F64:
    """A quantile of each part of the values: the middle of the order statistics around it."""
    length = np.diff(bounds)
    part = np.repeat(np.arange(len(length)), length)
    ordered = values[np.lexsort((values, part))]
    low = bounds[:-1] + ((length - 1) * quantile).astype(np.int64)
    high = bounds[:-1] + np.ceil((length - 1) * quantile).astype(np.int64)
    middle: F64 = (ordered[low] + ordered[high]) / 2
    return middle


def beat(slow_taken: I64, steps: I64, taken: I64) -> int:
    """Every how many steps the slow ones come, 0 where they come at random."""
    distances = np.diff(slow_taken)
    distances = distances[(distances > 0) & (distances < 1 << 20)]
    if len(distances) < LEAST_SLOW - 1:
        return 0
    every = int(np.bincount(distances).argmax())
    if every < 2 and int(steps.max()) == 1:
        return 0
    phase = int(np.bincount(slow_taken % every).argmax())
    on_beat = float((slow_taken % every == phase).mean())
    slots = int((taken % every == phase).sum())
    kept = float((slow_taken % every == phase).sum()) / max(slots, 1)
    if on_beat < ON_BEAT or kept < BEATS_KEPT:
        return 0
    return every


@dataclass(frozen=True)
class Change:
    """A speed that changes over the run.

    Attributes:
        kind: drift (gradually), plateau (from one step to another), warm_up (slow until a step).
        low: The first interval that is slow.
        high: The end of those that are.
        before_ns: Time per step at the start of the run, for a warm-up at its start.
        after_ns: Time per step at the end of the run, or of the plateau.
        extra_ns: What the run took more than at its better speed.
    """

    kind: str
    low: int
    high: int
    before_ns: float
    after_ns: float
    extra_ns: float


def change(per_step_ns: F64, steps: I64) -> Change | None:
    """How the speed changed over these intervals, None where no change is certain."""
    parts = min(PARTS, len(per_step_ns) // 2)
    if parts < LEAST_PARTS:
        return None
    bounds = np.linspace(0, len(per_step_ns), parts + 1).astype(np.int64)
    medians = _part_quantiles(per_step_ns, bounds, 0.5)
    best, fitted = _best_model(medians)
    if best is None:
        return None
    level = np.repeat(fitted, np.diff(bounds))
    total = float((per_step_ns * steps).sum())
    lowest = float(fitted.min())
    extra_ns = float(((level - lowest) * steps).sum())
    if lowest <= 0 or extra_ns < LEAST_COST * total:
        return None
    return _described(best, fitted, bounds, extra_ns)


def _main_jump(
    cuts: tuple[int, ...],
    levels: list[float],
) -> tuple[tuple[int, ...] | None, list[float]]:
    """Three levels in one direction as two where one jump is most of the way, else as a drift.

    A drift has no cuts.
    """
    jumps = np.diff(levels)
    if jumps[0] * jumps[1] <= 0:
        return cuts, levels
    main = int(np.argmax(np.abs(jumps)))
    if abs(jumps[main]) < MAIN_JUMP * abs(jumps.sum()):
        return None, levels
    return (cuts[main],), [levels[main], levels[main + 1]]


@dataclass(frozen=True)
class _Model:
    """A model of the parts' medians: a line, or levels between change points."""

    score: float
    cuts: tuple[int, ...] | None
    """None for a line."""


def _best_model(medians: F64) -> tuple[_Model | None, F64]:
    """The model of the least criterion, None where no change is certain."""
    size = len(medians)
    errors = _level_errors(medians)
    none = errors[0, size]
    # Differences below this are of no use to anybody, however certain.
    floor = size * (SMALLEST * float(medians.mean())) ** 2
    price = math.log(size)

    def score(squares: float, parameters: float) -> float:
        return size * math.log(max(squares, floor)) + price * parameters

    position = np.arange(size)
    slope, start = np.polyfit(position, medians, 1)
    line = start + slope * position
    models = [_Model(score(float(((medians - line) ** 2).sum()), 2), None)]
    cuts = np.arange(LEVEL_PARTS, size - LEVEL_PARTS + 1)
    single = errors[0, cuts] + errors[cuts, size]
    at = int(np.argmin(single))
    models.append(_Model(score(float(single[at]), 3), (int(cuts[at]),)))
    pairs = errors[0, cuts][:, None] + errors[np.ix_(cuts, cuts)] + errors[cuts, size][None, :]
    pairs[cuts[None, :] - cuts[:, None] < LEVEL_PARTS] = np.inf
    first, second = np.unravel_index(int(np.argmin(pairs)), pairs.shape)
    squares = float(pairs[first, second])
    if math.isfinite(squares):
        models.append(_Model(score(squares, 5), (int(cuts[first]), int(cuts[second]))))
    best = min(models, key=lambda model: model.score)
    if score(none, 1) - best.score < CERTAIN:
        return None, line
    if best.cuts is None:
        return best, line
    bounds = (0, *best.cuts, size)
    levels = np.empty(size)
    for low, high in itertools.pairwise(bounds):
        levels[low:high] = medians[low:high].mean()
    return best, levels


def _level_errors(medians: F64) -> F64:
    """The squared errors of a constant level over [low, high) for all low and high."""
    sums = np.concatenate([[0.0], np.cumsum(medians)])
    squares = np.concatenate([[0.0], np.cumsum(medians**2)])
    count = np.arange(len(medians) + 1)
    length = np.maximum(count[None, :] - count[:, None], 1)
    total = sums[None, :] - sums[:, None]
    errors: F64 = np.maximum(squares[None, :] - squares[:, None] - total**2 / length, 0.0)
    return errors


def _described(model: _Model, fitted: F64, bounds: I64, extra_ns: float) -> Change:
    """A model in words: what is slow, and what it costs against the better speed."""
    size = int(bounds[-1])
    first_ns = float(fitted[0])
    last_ns = float(fitted[-1])
    cuts = model.cuts
    levels: list[float] = []
    if cuts is not None:
        levels = fitted[[0, *cuts]].tolist()
    if cuts is not None and len(levels) == 3:
        cuts, levels = _main_jump(cuts, levels)

    kind = "plateau"
    low = 0
    high = size
    before_ns = first_ns
    after_ns = last_ns
    if cuts is None:
        kind = "drift"
    elif len(levels) == 2 and last_ns > first_ns:
        low = int(bounds[cuts[0]])
    elif len(levels) == 2:
        kind = "warm_up"
        high = int(bounds[cuts[0]])
    elif levels[1] > max(levels[0], levels[2]):
        low = int(bounds[cuts[0]])
        high = int(bounds[cuts[1]])
        after_ns = levels[1]
    elif levels[0] > levels[2]:
        # Fast only in between: the slower end says which part is out of the ordinary.
        kind = "warm_up"
        high = int(bounds[cuts[0]])
        after_ns = levels[1]
    else:
        low = int(bounds[cuts[1]])
        before_ns = levels[1]
    return Change(
        kind=kind,
        low=low,
        high=high,
        before_ns=before_ns,
        after_ns=after_ns,
        extra_ns=extra_ns,
    )

"""Rate and GlobalRate, computed for all samples at once.

The definitions are those of the trackers of torch_xla and Cerebras. At a sample, with d the time
since the sample before: if d > 0, the throughput in between is c = fresh / d, and Rate is c at
first and then (1 - s) c + s Rate. If d <= 0, Rate reads 0 and nothing changes. GlobalRate is the
count over the time since the start, and 0 before any time has passed.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from stepscope.errors import OptionError
from stepscope.lenses.throughput.options import ThroughputOptions
from stepscope.model.arrays import F64, I64
from stepscope.model.throughput import UNKNOWN_NS, ResetKind, Throughput

NS_PER_SECOND = 1e9
BLOCK = 64
MOST_SAMPLES = 5_000_000
_RULES = {
    "log_step": "at each log step",
    "batch": "after every batch",
    "call": "when the program asked",
}


@dataclass(frozen=True, eq=False)
class SamplePoints:
    """The moments at which the rate is sampled.

    Attributes:
        step: Training step, -1 when unknown.
        time_ns: Relative to the record's base.
        mark_end: How many marks came before.
        reset_end: For each reset of the record, how many samples came before it.
        rule: Which moments these are, in words.
    """

    step: I64
    time_ns: I64
    mark_end: I64
    reset_end: I64
    rule: str


@dataclass(frozen=True, eq=False)
class Rates:
    """The rates at all samples. NaN is a rate that cannot be known.

    Attributes:
        total: Samples since the last reset.
        local: Rate, per second.
        average: GlobalRate, per second.
    """

    total: I64
    local: F64
    average: F64


def sample_points(record: Throughput, options: ThroughputOptions) -> SamplePoints:
    """The recorded samples, or others where options say so or none are recorded."""
    marks = record.marks
    if options.sample_seconds is not None:
        return _by_time(record, options.sample_seconds)
    if options.sample_steps is not None:
        chosen = _step_marks(marks.step, options.sample_steps)
        return _at_marks(record, chosen, f"every {options.sample_steps} steps")
    samples = record.samples
    if len(samples) or not len(marks):
        return SamplePoints(
            step=samples.step,
            time_ns=samples.time_ns,
            mark_end=samples.mark_end,
            reset_end=record.resets.sample_end,
            rule=recorded_rule(record),
        )
    return _at_marks(record, np.arange(len(marks)), "after every batch (no sampling was recorded)")


def recorded_rule(record: Throughput) -> str:
    """When the rate was sampled while the run went on, in words."""
    if record.sampling_rule == "log_step" and record.log_every:
        return f"every {record.log_every} steps"
    return _RULES.get(record.sampling_rule, record.sampling_rule)


def _step_marks(step: I64, every: int) -> I64:
    if not len(step) or int(step.max()) < 0:
        return np.arange(every - 1, len(step), every)
    last_of_step = np.append(step[1:] != step[:-1], True)
    return np.flatnonzero(last_of_step & (step % every == 0) & (step > 0))


def _at_marks(record: Throughput, chosen: I64, rule: str) -> SamplePoints:
    marks = record.marks
    ends = chosen + 1
    resets = np.searchsorted(ends, record.resets.mark_end, side="right")
    return SamplePoints(
        step=marks.step[chosen],
        time_ns=marks.time_ns[chosen],
        mark_end=ends,
        reset_end=resets.astype(np.int64),
        rule=rule,
    )


def _by_time(record: Throughput, every_s: float) -> SamplePoints:
    marks = record.marks
    rule = f"every {every_s:g} s"
    if not len(marks):
        none = np.empty(0, np.int64)
        return SamplePoints(
            step=none,
            time_ns=none,
            mark_end=none,
            reset_end=np.zeros(len(record.resets), np.int64),
            rule=rule,
        )
    # A clock that stepped back passes each moment when it first gets there.
    clock = np.maximum.accumulate(marks.time_ns)
    start = record.start_ns
    if start == UNKNOWN_NS:
        start = int(clock[0])
    interval = max(round(every_s * NS_PER_SECOND), 1)
    moments = max((int(clock[-1]) - start) // interval, 0)
    if moments > MOST_SAMPLES:
        raise OptionError(
            f"sample_seconds is {every_s}, which asks {moments} times",
            where=f"series {record.name}",
            remedy=f"Choose at least {every_s * moments / MOST_SAMPLES:.3g} seconds",
        )
    times = start + interval * np.arange(1, moments + 1)
    ends = np.searchsorted(clock, times, side="right").astype(np.int64)
    steps = np.where(ends > 0, marks.step[np.maximum(ends - 1, 0)], -1)
    resets = np.searchsorted(times, record.resets.time_ns, side="right")
    return SamplePoints(
        step=steps,
        time_ns=times,
        mark_end=ends,
        reset_end=resets.astype(np.int64),
        rule=rule,
    )


@dataclass
class _Tracker:
    """The tracker's state between two groups of samples."""

    start: int | None
    last: int | None
    base: int = 0
    taken: int = 0
    previous: float | None = None


def rates(record: Throughput, samples: SamplePoints, smoothing: float) -> Rates:
    """The rates at all samples, in O(n)."""
    counted = np.concatenate([[0], np.cumsum(np.maximum(record.marks.count, 0))])
    totals = counted[samples.mark_end]
    size = len(totals)
    out = Rates(totals.copy(), np.zeros(size), np.zeros(size))
    start: int | None = None
    if record.start_ns != UNKNOWN_NS:
        start = record.start_ns
    tracker = _Tracker(start, start)
    resets = record.resets
    bounds = [0, *samples.reset_end.tolist(), size]
    for index, (low, high) in enumerate(pairwise(bounds)):
        if high > low:
            _sample(
                tracker,
                times=samples.time_ns[low:high],
                totals=totals[low:high],
                smoothing=smoothing,
                out=out,
                where=slice(low, high),
            )
        if index < len(resets):
            begin_ns = int(resets.time_ns[index] - resets.offset_ns[index])
            _reset(tracker, resets.kind[index], begin_ns)
            if resets.kind[index] != ResetKind.RESET_TIME:
                tracker.base = tracker.taken = int(counted[resets.mark_end[index]])
    return out


def _reset(tracker: _Tracker, kind: int, start: int) -> None:
    tracker.start = tracker.last = start
    if kind != ResetKind.RESET_TIME:
        tracker.previous = None


def _sample(
    tracker: _Tracker,
    *,
    times: I64,
    totals: I64,
    smoothing: float,
    out: Rates,
    where: slice,
) -> None:
    """Writes the rates at the samples between two resets and moves the tracker to their end."""
    out.total[where] = totals - tracker.base
    out.average[where] = _average(tracker, times, totals)
    local = out.local[where]
    if tracker.last is None:
        # Nobody knows when the first interval began: it only says where the second one begins.
        local[0] = np.nan
        tracker.last = int(times[0])
        tracker.taken = int(totals[0])
    highest = np.maximum.accumulate(np.concatenate([[tracker.last], times]))
    later = times > highest[:-1]
    if not later.any():
        return
    answered: slice | I64 = slice(None)
    if not later.all():
        # Seldom: a slice spares copies where every sample has a rate.
        answered = np.flatnonzero(later)
    times = times[answered]
    totals = totals[answered]
    passed = np.diff(times, prepend=tracker.last)
    fresh = np.diff(totals, prepend=tracker.taken)
    rate = smooth(fresh / (passed / NS_PER_SECOND), smoothing, tracker.previous)
    local[answered] = rate
    tracker.last = int(times[-1])
    tracker.taken = int(totals[-1])
    tracker.previous = float(rate[-1])


def _average(tracker: _Tracker, times: I64, totals: I64) -> F64 | float:
    if tracker.start is None:
        return float("nan")
    elapsed = times - tracker.start
    seconds = np.where(elapsed > 0, elapsed, 1) / NS_PER_SECOND
    return np.where(elapsed > 0, (totals - tracker.base) / seconds, 0.0)


def smooth(current: F64, smoothing: float, previous: float | None) -> F64:
    """The recursion r[k] = (1 - s) c[k] + s r[k-1].

    r[-1] is the previous rate. Where there is none, r[0] = c[0].
    """
    terms = (1.0 - smoothing) * current
    if previous is None:
        terms[0] = current[0]
    else:
        terms[0] += smoothing * previous
    return _decay(terms, smoothing)


def _decay(terms: F64, factor: float) -> F64:
    """y[k] = terms[k] + factor y[k-1], block by block.

    Inside a block it is a product with a triangle of powers. All terms are positive, so the sums
    lose nothing but float rounding.
    """
    blocks = -(-len(terms) // BLOCK)
    padded = np.zeros(blocks * BLOCK)
    padded[: len(terms)] = terms
    powers = factor ** np.arange(BLOCK + 1)
    distance = np.subtract.outer(np.arange(BLOCK), np.arange(BLOCK)).T
    triangle = np.where(distance >= 0, powers[np.maximum(distance, 0)], 0.0)
    inside: F64 = padded.reshape(blocks, BLOCK) @ triangle
    if blocks > 1:
        carried = _decay(inside[:-1, -1].copy(), float(powers[BLOCK]))
        inside[1:] += carried[:, None] * powers[1:]
    return inside.reshape(-1)[: len(terms)]

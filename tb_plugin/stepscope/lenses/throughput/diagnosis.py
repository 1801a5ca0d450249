"""Blocks, pauses and catch-ups in the arrivals of a run. Statistics and annotations share them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from stepscope.lenses.throughput import arrivals, causes, pauses
from stepscope.lenses.throughput.arrivals import Blocks
from stepscope.lenses.throughput.pace import Pace
from stepscope.lenses.throughput.segments import span_intervals
from stepscope.model.arrays import Bools
from stepscope.model.throughput import PAUSE_KINDS, Throughput

MOST_STALLS = 20
UNEVEN = 3.0
ALONE_SHARE = 0.9
FEW_GAPS = 2


@dataclass(frozen=True, eq=False)
class Diagnosis:
    """What lies in the arrivals of a run.

    Attributes:
        run: Its intervals; block by block where results arrive in blocks.
        single: Its intervals as they were marked.
        blocks: The blocks, None where there are none.
        disturbed: Intervals with a known pause, a stall or a catch-up.
        typical_ns: Time per step of the others.
        catch_ups: Pauses after which results catch up.
        stalls: Pauses without a span, whether or not results catch up after them.
        slow: Slow steps among fast ones.
        unclear: Too few intervals to tell blocks from stalls.
    """

    run: Pace
    single: Pace
    blocks: Blocks | None
    disturbed: Bools
    typical_ns: float
    catch_ups: tuple[pauses.CatchUp, ...]
    stalls: tuple[pauses.Pause, ...]
    slow: causes.SlowSteps | None
    unclear: bool


def diagnose(record: Throughput, run: Pace) -> Diagnosis:
    """Looks at the arrivals of a run."""
    # Where a clock went back nothing can be measured; the step itself is reported.
    single = run.only(run.end_ns >= run.begin_ns)
    known = inside_spans(record, single)
    blocks = arrivals.blocks(single, known) or arrivals.dispatch_bursts(single, known)
    run = single
    if blocks is not None:
        run = blocks.pace(single)
    disturbed = inside_spans(record, run)
    typical = _typical(run, disturbed)
    found = list(pauses.span_catch_ups(record, run, typical))
    for catch in found:
        disturbed[catch.index : catch.last + 1] = True
    calm = ~disturbed & ~run.first
    unclear = blocks is None and _unclear(run, calm, typical)
    stalls: list[pauses.Pause] = []
    slow = None
    if not unclear:
        stalls, caught = _stalls(run, calm, typical)
        found += caught
        slow = _slow_steps(run, calm)
        if slow is not None:
            chosen = np.flatnonzero(calm)[slow.slow]
            disturbed[chosen] = True
            stalls = [pause for pause in stalls if not np.isin(pause.index, chosen)]
    for pause in stalls:
        disturbed[pause.index] = True
    for catch in found:
        disturbed[catch.index : catch.last + 1] = True
    return Diagnosis(
        run=run,
        single=single,
        blocks=blocks,
        disturbed=disturbed,
        typical_ns=typical,
        catch_ups=tuple(sorted(found, key=lambda catch: catch.index)),
        stalls=tuple(stalls),
        slow=slow,
        unclear=unclear,
    )


def inside_spans(record: Throughput, run: Pace) -> Bools:
    """Which intervals have a known pause in them."""
    spans = span_intervals(record, PAUSE_KINDS)
    return run.touched(spans.start_ns, spans.end_ns)


def _typical(run: Pace, disturbed: Bools) -> float:
    calm = run.per_step_ns[~disturbed & ~run.first]
    if len(calm):
        return float(np.median(calm))
    if len(run):
        return float(np.median(run.per_step_ns))
    return 0.0


def _stalls(
    run: Pace,
    calm: Bools,
    typical: float,
) -> tuple[list[pauses.Pause], list[pauses.CatchUp]]:
    """Pauses without a span, and catch-ups after some of them. `calm` loses what these cover."""
    stalls = []
    caught = []
    for pause in pauses.stalls(run, calm, typical, MOST_STALLS):
        if not calm[pause.index]:
            continue
        stalls.append(pause)
        catch = pauses.catch_up(
            run,
            pause.index,
            typical,
            kind="",
            paused_ns=pause.extra_ns,
        )
        if catch is not None:
            caught.append(catch)
            calm[catch.index : catch.last + 1] = False
    return stalls, caught


def _slow_steps(run: Pace, calm: Bools) -> causes.SlowSteps | None:
    return causes.slow_steps(run.per_step_ns[calm], run.steps[calm], run.taken[calm])


def _unclear(run: Pace, calm: Bools, typical: float) -> bool:
    """Whether lengths differ, but too few intervals, or gaps, are there to say why."""
    times = run.per_step_ns[calm]
    if len(times) < 2:
        return False
    uneven = float(times.max()) > UNEVEN * max(float(times.min()), 1.0)
    if len(run) < arrivals.LEAST_INTERVALS:
        return uneven
    # One or two gaps take nearly all of the time, as the first interval does: these are blocks
    # longer than the log, or stalls.
    duration = (run.end_ns - run.begin_ns)[calm]
    gaps = duration > 2 * float(duration.mean())
    if int(gaps.sum()) > FEW_GAPS:
        return False
    if float(duration[gaps].sum()) <= ALONE_SHARE * float(duration.sum()):
        return False
    first_ns = float(run.per_step_ns[0])
    return bool(run.first[0]) and first_ns > typical / arrivals.QUEUED_SHARE

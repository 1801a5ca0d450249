"""Rules over fused kernels: the longest phase, and the core that sets its end."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from stepscope.findings.finding import Finding
from stepscope.findings.rules import LensResult, Rule
from stepscope.lenses.incore import InCoreResult, Phases
from stepscope.lenses.incore.boundaries import CANONICAL, Boundary
from stepscope.lenses.incore.exactness import median_x2
from stepscope.model.incore import Reducer

_LEAST_SHARE = 0.3
_MOST_INVOCATIONS = 1000
"""Invocations in which the deciding slot is looked up."""
_OFTEN = 0.5
_LEAST_PROBE = 0.05
_SKEW = "arrival_skew"
_EVENTS = {name: event.replace("_", " ") for name, event, _, _ in CANONICAL}


def _long_phase(subject: LensResult[InCoreResult]) -> Iterator[Finding]:
    phases = subject.result.phases
    if phases is None or not len(phases.cycles) or not phases.cycles.shape[1]:
        return
    usable = np.flatnonzero(phases.verdict.usable & phases.ordered)
    cycles = phases.cycles[usable].sum(axis=0)
    whole = int(phases.total[usable].sum())
    if whole <= 0:
        return
    longest = int(np.argmax(cycles))
    share = int(cycles[longest]) / whole
    if share < _LEAST_SHARE:
        return
    # Where the phase is the skew of the collective, one finding says both.
    absorbs: tuple[tuple[str, str, str], ...] = ()
    if _skew_share(phases, usable, longest) >= _OFTEN:
        absorbs = (("collective-skew", subject.run, _SKEW),)
    decider = _decider(subject.result, phases, usable[:_MOST_INVOCATIONS].tolist(), longest + 1)
    shown_name = _shown_name(subject.result, phases, longest)
    yield Finding(
        rule="long-phase",
        title=f"Phase {_in_words(subject.result, phases, longest)} takes {share:.0%} of the kernel",
        cost_share=share,
        cost=int(cycles[longest]) / len(usable),
        unit="cycles",
        evidence=(subject.evidence(phases.names[longest], key=f"envelope/{shown_name}"),),
        advice=f"{decider}Balance or shorten what it does there",
        certainty="measured",
        absorbs=absorbs,
    )


def _in_words(result: InCoreResult, phases: Phases, phase: int) -> str:
    """A phase with the stamps at its ends."""
    start = _stamp(result, phases.boundaries[phase])
    end = _stamp(result, phases.boundaries[phase + 1])
    return f"{_shown_name(result, phases, phase)} (from the {start} to the {end})"


def _stamp(result: InCoreResult, boundary: Boundary) -> str:
    event = boundary.name
    if not len(result.record.boundaries):
        event = _EVENTS[boundary.name]
    if boundary.reducer is Reducer.MIN:
        return f"first {event}"
    return f"last {event}"


def _skew_share(phases: Phases, invocations: NDArray[np.intp], phase: int) -> float:
    """The part of the collective's arrival skew that lies in a phase, 0 to 1."""
    names = [boundary.name for boundary in phases.boundaries]
    if phases.collective is None or "B" not in names:
        return 0.0
    skew = phases.collective.arrival_skew[invocations]
    whole = int(skew.sum())
    if not whole:
        return 0.0
    cycles = phases.cycles[invocations]
    no_time = np.zeros_like(cycles[:, :1])
    edges = np.cumsum(np.concatenate((no_time, cycles), axis=1), axis=1)
    last_arrival = edges[:, names.index("B")]
    start = np.maximum(edges[:, phase], last_arrival - skew)
    end = np.minimum(edges[:, phase + 1], last_arrival)
    return int(np.maximum(end - start, 0).sum()) / whole


def _shown_name(result: InCoreResult, phases: Phases, phase: int) -> str:
    """The panel's name of a phase; one between the user's boundaries is named after both."""
    if not len(result.record.boundaries):
        return phases.names[phase]
    return f"{phases.boundaries[phase].name} → {phases.boundaries[phase + 1].name}"


def _decider(result: InCoreResult, phases: Phases, invocations: list[int], boundary: int) -> str:
    """The slot that most often sets a boundary, as a sentence; '' where none does so often."""
    slots: Counter[int] = Counter()
    for invocation in invocations:
        slots.update(phases.deciding_slots(result.record, invocation, boundary))
    if not slots:
        return ""
    slot, times = slots.most_common(1)[0]
    part = times / len(invocations)
    if part < _OFTEN:
        return ""
    return f"Slot {slot} sets its end in {part:.0%} of the invocations. "


def _unusable(subject: LensResult[InCoreResult]) -> Iterator[Finding]:
    problems = subject.result.problems
    codes = {problem.code for problem in problems.codes if problem.is_error}
    for of_invocation in problems.invocations.values():
        codes |= {problem.code for problem in of_invocation}
    if not codes:
        return
    errors = sorted(codes)
    yield Finding(
        rule="unusable-stamps",
        title=f"Stamps that cannot be believed: {', '.join(errors)}",
        cost_share=None,
        cost=None,
        unit="cycles",
        evidence=tuple(subject.evidence(code) for code in errors),
        advice="See the record's codes in the in-core lens, and check the probes and the masks",
        certainty="measured",
    )


def _collective_skew(subject: LensResult[InCoreResult]) -> Iterator[Finding]:
    phases = subject.result.phases
    if phases is None or phases.collective is None:
        return
    usable = np.flatnonzero(phases.verdict.usable & phases.ordered)
    whole = int(phases.total[usable].sum())
    skew = int(phases.collective.arrival_skew[usable].sum())
    if whole <= 0 or skew / whole < _LEAST_SHARE:
        return
    _, last_slots = np.nonzero(phases.collective.last_arrival[usable])
    late: Counter[int] = Counter(last_slots.tolist())
    slot, times = late.most_common(1)[0]
    yield Finding(
        rule="collective-skew",
        title=f"Cores arrive at the collective over {skew / whole:.0%} of the kernel",
        cost_share=skew / whole,
        cost=skew / len(usable),
        unit="cycles",
        evidence=(subject.evidence(_SKEW),),
        advice=(
            f"Slot {slot} is last in {times / len(usable):.0%} of the invocations: give it less to do before that"
        ),
        certainty="measured",
    )


def _probes(subject: LensResult[InCoreResult]) -> Iterator[Finding]:
    probes = subject.result.probes
    if probes.instrumented is None or probes.uninstrumented is None:
        return
    # Twice the medians, so that they stay integers.
    with_probes = median_x2(probes.instrumented.samples)
    without = median_x2(probes.uninstrumented.samples)
    if not with_probes or not without:
        return
    cost_x2 = with_probes - without
    if cost_x2 / without < _LEAST_PROBE:
        return
    yield Finding(
        rule="probe-cost",
        title=f"With probes the kernel takes {cost_x2 / without:.0%} longer",
        cost_share=None,
        cost=cost_x2 / 2,
        unit="cycles",
        evidence=(subject.evidence("envelopes"),),
        advice="Read phases as shares, not as times of the kernel without probes, and stamp fewer events",
        certainty="measured",
    )


RULES: tuple[Rule[InCoreResult], ...] = (
    Rule(
        name="long-phase",
        lens="incore",
        help="A phase that takes a large part of the kernel",
        check=_long_phase,
    ),
    Rule(
        name="collective-skew",
        lens="incore",
        help="Cores that arrive at the collective long after the first",
        check=_collective_skew,
    ),
    Rule(
        name="probe-cost",
        lens="incore",
        help="Probes that make the kernel 5% slower or more",
        check=_probes,
    ),
    Rule(
        name="unusable-stamps",
        lens="incore",
        help="Stamps that validation rejects, stale rows among them",
        check=_unusable,
    ),
)

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
_ASKED = 1000
_OFTEN = 0.5
_LEAST_PROBE = 0.05
_SKEW = "arrival_skew"
_EVENTS = {name: event.replace("_", " ") for name, event, _, _ in CANONICAL}


def _long_phase(subject: LensResult[InCoreResult]) -> Iterator[Finding]:
    phases = subject.result.phases
    if phases is None or not len(phases.cycles) or not phases.cycles.shape[1]:
        return
    usable = np.flatnonzero(phases.verdict.usable & phases.ordered)
    cycles, whole = phases.cycles[usable].sum(axis=0), int(phases.total[usable].sum())
    if whole <= 0:
        return
    longest = int(np.argmax(cycles))
    share = int(cycles[longest]) / whole
    if share < _LEAST_SHARE:
        return
    name = phases.names[longest]
    same = _skew_share(phases, usable, longest) >= _OFTEN
    decider = _decider(subject.result, phases, usable[:_ASKED].tolist(), longest + 1)
    yield Finding(
        "long-phase",
        f"Phase {_in_words(subject.result, phases, longest)} takes {share:.0%} of the kernel",
        share,
        int(cycles[longest]) / len(usable),
        "cycles",
        (subject.evidence(name, key=f"envelope/{_shown_name(subject.result, phases, longest)}"),),
        f"{decider}Balance or shorten what it does there",
        "measured",
        (("collective-skew", subject.run, _SKEW),) if same else (),
    )


def _in_words(result: InCoreResult, phases: Phases, phase: int) -> str:
    """A phase with what lies at its ends: which stamp of which event."""
    ends = " to the ".join(_stamp(result, boundary) for boundary in phases.boundaries[phase : phase + 2])
    return f"{_shown_name(result, phases, phase)} (from the {ends})"


def _stamp(result: InCoreResult, boundary: Boundary) -> str:
    which = "first" if boundary.reducer is Reducer.MIN else "last"
    event = boundary.name if len(result.record.boundaries) else _EVENTS[boundary.name]
    return f"{which} {event}"


def _skew_share(phases: Phases, invocations: NDArray[np.intp], phase: int) -> float:
    """How much of the time over which cores arrive at the collective lies in a phase."""
    names = [boundary.name for boundary in phases.boundaries]
    if phases.collective is None or "B" not in names:
        return 0.0
    cycles = phases.cycles[invocations]
    ends = np.cumsum(np.concatenate((np.zeros_like(cycles[:, :1]), cycles), axis=1), axis=1)
    last, skew = ends[:, names.index("B")], phases.collective.arrival_skew[invocations]
    common = np.minimum(ends[:, phase + 1], last) - np.maximum(ends[:, phase], last - skew)
    whole = int(skew.sum())
    return int(np.maximum(common, 0).sum()) / whole if whole else 0.0


def _shown_name(result: InCoreResult, phases: Phases, phase: int) -> str:
    """What the panel calls a phase: one between boundaries of the user's is named from start to end."""
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
    return f"Slot {slot} sets its end in {part:.0%} of the invocations. " if part >= _OFTEN else ""


def _unusable(subject: LensResult[InCoreResult]) -> Iterator[Finding]:
    problems = subject.result.problems
    errors = sorted({p.code for p in problems.codes if p.is_error} | _codes(subject.result))
    if errors:
        yield Finding(
            "unusable-stamps",
            f"Stamps that cannot be believed: {', '.join(errors)}",
            None,
            None,
            "cycles",
            tuple(subject.evidence(code) for code in errors),
            "See the record's codes in the in-core lens, and check the probes and the masks",
            "measured",
        )


def _codes(result: InCoreResult) -> set[str]:
    return {p.code for found in result.problems.invocations.values() for p in found}


def _residence(subject: LensResult[InCoreResult]) -> Iterator[Finding]:
    phases = subject.result.phases
    if phases is None or phases.collective is None:
        return
    usable = np.flatnonzero(phases.verdict.usable & phases.ordered)
    whole = int(phases.total[usable].sum())
    skew = int(phases.collective.arrival_skew[usable].sum())
    if whole <= 0 or skew / whole < _LEAST_SHARE:
        return
    late: Counter[int] = Counter(np.nonzero(phases.collective.last_arrival[usable])[1].tolist())
    slot, times = late.most_common(1)[0]
    yield Finding(
        "collective-skew",
        f"Cores arrive at the collective over {skew / whole:.0%} of the kernel",
        skew / whole,
        skew / len(usable),
        "cycles",
        (subject.evidence(_SKEW),),
        f"Slot {slot} is last in {times / len(usable):.0%} of the invocations: give it less to do before that",
        "measured",
    )


def _probes(subject: LensResult[InCoreResult]) -> Iterator[Finding]:
    probes = subject.result.probes
    if probes.instrumented is None or probes.uninstrumented is None:
        return
    with_probes, without = median_x2(probes.instrumented.samples), median_x2(probes.uninstrumented.samples)
    if not with_probes or not without or (with_probes - without) / without < _LEAST_PROBE:
        return
    yield Finding(
        "probe-cost",
        f"With probes the kernel takes {(with_probes - without) / without:.0%} longer",
        None,
        (with_probes - without) / 2,
        "cycles",
        (subject.evidence("envelopes"),),
        "Read phases as shares, not as times of the kernel without probes, and stamp fewer events",
        "measured",
    )


RULES: tuple[Rule[InCoreResult], ...] = (
    Rule("long-phase", "incore", "A phase that takes a large part of the kernel", _long_phase),
    Rule("collective-skew", "incore", "Cores that arrive at the collective long after the first", _residence),
    Rule("probe-cost", "incore", "Probes that make the kernel 5% slower or more", _probes),
    Rule("unusable-stamps", "incore", "Stamps that validation rejects, stale rows among them", _unusable),
)

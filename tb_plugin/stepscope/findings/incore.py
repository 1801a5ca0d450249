"""Rules over fused kernels: the longest phase, and the core that sets its end."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import numpy as np

from stepscope.findings.finding import Finding
from stepscope.findings.rules import Rule, Subject
from stepscope.lenses.incore import InCoreResult, Phases
from stepscope.lenses.incore.exactness import median_x2

_LEAST_SHARE = 0.3
_ASKED = 1000
_OFTEN = 0.5
_LEAST_PROBE = 0.05


def _long_phase(subject: Subject[InCoreResult]) -> Iterator[Finding]:
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
    decider = _decider(subject.result, phases, usable[:_ASKED].tolist(), longest + 1)
    yield Finding(
        "long-phase",
        f"Phase {name} takes {share:.0%} of the kernel",
        share,
        int(cycles[longest]) / len(usable),
        "cycles",
        (subject.evidence(name, key=f"envelope/{_shown_name(subject.result, phases, longest)}"),),
        f"{decider}Balance or shorten what it does there",
        "measured",
    )


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


def _unusable(subject: Subject[InCoreResult]) -> Iterator[Finding]:
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


def _residence(subject: Subject[InCoreResult]) -> Iterator[Finding]:
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
        (subject.evidence("arrival_skew"),),
        f"Slot {slot} is last in {times / len(usable):.0%} of the invocations: give it less to do before that",
        "measured",
    )


def _probes(subject: Subject[InCoreResult]) -> Iterator[Finding]:
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

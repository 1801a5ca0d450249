"""The rule about launches whose device work was not recorded: nothing can be said of idleness then."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np

from stepscope.findings.finding import Finding
from stepscope.findings.rules import LensResult, Rule
from stepscope.findings.step_facts import StepFacts, Views
from stepscope.findings.step_finding import facts_of, trace_place
from stepscope.model.profile import NodeKind

_LAUNCH = re.compile(
    r"^(?:cuda|hip|cu|mu)\w*(?:LaunchKernel|ModuleLaunchKernel|GraphLaunch|LaunchCooperative)"
)
_LEAST_MISSING = 0.05


def launches_without_work(facts: StepFacts) -> tuple[int, int]:
    """How many launches have no device work, and how many launches there are."""
    calls = np.flatnonzero(facts.named(_LAUNCH) & (facts.kind == NodeKind.RUNTIME))
    launched = np.unique(facts.launch[facts.launch >= 0])
    missing = len(calls) - int(np.isin(calls, launched).sum())
    return missing, len(calls)


def missing_device_work(result: LensResult[Views]) -> Iterator[Finding]:
    """Launches without device work."""
    facts = facts_of(result)
    if facts is None:
        return
    missing, launches = launches_without_work(facts)
    if not missing or missing < _LEAST_MISSING * launches:
        return
    calls = np.flatnonzero(facts.named(_LAUNCH) & (facts.kind == NodeKind.RUNTIME))
    lost = calls[~np.isin(calls, facts.launch)]
    yield Finding(
        rule="missing-device-work",
        title=f"{missing:,} of {launches:,} launches have no device work in the trace",
        cost_share=None,
        cost=None,
        unit="",
        evidence=(trace_place(result, facts, int(lost[0])), result.evidence("", pane="launches")),
        advice="The profiler dropped or never recorded it, so that idle time cannot be told from missing time",
        certainty="measured",
        changes=(
            "Profile fewer steps, so that the profiler's buffers suffice",
            "activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA], and warmup=1 in the schedule",
        ),
    )


RULE: Rule[Views] = Rule(
    "missing-device-work",
    "views",
    "Launches without device work: no verdict on idle time then",
    missing_device_work,
)
"""The rule of this module."""

"""What each run's step goes into, and the first thing to do about it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from stepscope.findings.finding import Finding
from stepscope.findings.format_time import PS_PER_US, time_words
from stepscope.findings.hot_spots import Cost, largest_costs
from stepscope.findings.kernel_kinds import kernel_kind
from stepscope.findings.rules import LensResult
from stepscope.findings.step_facts import StepFacts
from stepscope.findings.step_finding import facts_of
from stepscope.lenses.trace.categories import Category
from stepscope.lenses.trace.critical_path import path_of
from stepscope.lenses.trace.spans import Spans

_MOST_KINDS = 3
_LEAST_SHARE = 0.05
_KIND_OF_CATEGORY = {
    Category.MEMCPY: "copy",
    Category.MEMSET: "copy",
    Category.COMMUNICATION: "communication",
}
OUTSIDE = "outside every op"


@dataclass(frozen=True)
class KindShare:
    """The time of a step in one kind of work; each moment counts once, for the kind with the most time."""

    kind: str
    us: float
    share: float


@dataclass(frozen=True)
class RunSummary:
    """One run in a sentence.

    Attributes:
        run: The run, and `name` its profile; empty for a run without one.
        step_us: The mean elapsed time of a step; None where no steps are known.
        sentence: Where the step goes.
        first: The first thing to do; empty where nothing is found.
        saving_share: What that saves at most; None where unknown.
        kinds: The step by kind of work, the largest first.
        costs: The ops that take the most time; scopes or lines where no op stands out. They are no findings.
    """

    run: str
    name: str
    step_us: float | None
    sentence: str
    first: str
    saving_share: float | None
    kinds: tuple[KindShare, ...]
    costs: tuple[Cost, ...]

    def to_json(self) -> dict[str, Any]:
        """The summary as a document."""
        return asdict(self) | {"costs": [cost.to_json() for cost in self.costs]}


def summaries(results: Sequence[LensResult[Any]], findings: Sequence[Finding]) -> list[RunSummary]:
    """A summary of each run, the one with most to save first."""
    runs = dict.fromkeys(result.run for result in results)
    summed = [_summary(run, results, findings) for run in runs]
    return sorted(summed, key=_most_to_save)


def _most_to_save(summary: RunSummary) -> tuple[float, str]:
    return (-(summary.saving_share or 0.0), summary.run)


def _summary(
    run: str, results: Sequence[LensResult[Any]], findings: Sequence[Finding]
) -> RunSummary:
    own = [finding for finding in findings if any(place.run == run for place in finding.evidence)]
    first = own[0] if own else None
    profile = next(
        (result for result in results if result.run == run and result.lens == "views"), None
    )
    facts = None if profile is None else facts_of(profile)
    kinds = () if facts is None else kind_shares(facts)
    return RunSummary(
        run=run,
        name="" if profile is None else profile.name,
        step_us=None if facts is None else facts.step_us,
        sentence=_sentence(facts, kinds, first),
        first=_first_thing(first),
        saving_share=None if first is None else first.saving_share,
        kinds=kinds,
        costs=() if profile is None else _costs_of_one_view(largest_costs(profile)),
    )


def _costs_of_one_view(costs: Sequence[Cost]) -> tuple[Cost, ...]:
    """The costs of ops, else of scopes, else of lines: rows of two views hold each other's time."""
    for view in ("op", "scope", "code"):
        of_view = [cost for cost in costs if cost.view == view]
        if of_view:
            return tuple(of_view)
    return ()


def _first_thing(finding: Finding | None) -> str:
    if finding is None:
        return ""
    return finding.changes[0] if finding.changes else finding.advice


def _sentence(facts: StepFacts | None, kinds: Iterable[KindShare], first: Finding | None) -> str:
    if facts is None:
        return "" if first is None else f"{first.title}."
    parts = [f"{kind.share:.0%} {kind.kind}" for kind in kinds if kind.share >= _LEAST_SHARE][
        :_MOST_KINDS
    ]
    what = "A step takes" if len(facts.profile.steps) else "The profile takes"
    return f"{what} {time_words(facts.step_us)}: {', '.join(parts)}."


def kind_shares(facts: StepFacts) -> tuple[KindShare, ...]:
    """The step by kind of work: of the device with its idle time, or of the host where there is no device."""
    us = _device_kinds(facts) if facts.has_device else _host_kinds(facts)
    whole = facts.step_us
    shares = [KindShare(kind, time, time / whole) for kind, time in us.items() if time > 0]
    return tuple(sorted(shares, key=lambda share: -share.us))


def _device_kinds(facts: StepFacts) -> dict[str, float]:
    works = np.flatnonzero(facts.is_work)
    names = facts.profile.nodes.name[facts.profile.executions.node[works]]
    used, place = np.unique(names, return_inverse=True)
    kind_of_name = np.array(
        [kernel_kind(facts.profile.strings[name]) for name in used.tolist()], object
    )
    kind_of_work = kind_of_name[place]
    for category, word in _KIND_OF_CATEGORY.items():
        kind_of_work[facts.category[works] == category] = word
    start, end = facts.graph.steps.start[facts.complete], facts.graph.steps.end[facts.complete]
    spans = {}
    for kind in set(kind_of_work.tolist()):
        rows = works[kind_of_work == kind]
        spans[kind] = Spans.union(facts.start[rows], facts.end[rows])
    claimed = Spans.union(start[:0], start[:0])
    us: dict[str, float] = {}
    for kind in sorted(spans, key=lambda kind: -spans[kind].total):
        both = claimed | spans[kind]
        us[kind] = facts.per_step_us(
            int((both.within(start, end) - claimed.within(start, end)).sum())
        )
        claimed = both
    us["idle"] = facts.step_us - sum(us.values())
    return us


def _host_kinds(facts: StepFacts) -> dict[str, float]:
    document = path_of(facts.graph).to_json()
    us: dict[str, float] = {}
    for row in document["rows"]:
        kind = OUTSIDE if row["execution"] is None else kernel_kind(row["name"])
        us[kind] = us.get(kind, 0.0) + row["path_ps"] / PS_PER_US / max(facts.step_count, 1)
    return us

"""Rules over the ranks of a job: which of them the others wait for, and why."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from stepscope.findings.finding import Finding
from stepscope.findings.format_time import PS_PER_US, time_words
from stepscope.findings.rules import CrossRule, LensResult, RunResults
from stepscope.findings.step_facts import LEAST_SAVING_SHARE
from stepscope.findings.step_finding import facts_of
from stepscope.lenses.trace.categories import Category
from stepscope.lenses.trace.ranks import Ranks, ranks
from stepscope.lenses.trace.replay import Change

MOST_OF_IT = 0.6
"""The share of all waiting that one rank must cause."""
_BY_WORK = 0.5
"""A rank that computes longer by this share of the waiting is late because of its work."""

_OF_THE_RANK = ("host-bound", "slow-steps")


def late_rank(runs: RunResults) -> Iterator[Finding]:
    """One rank comes last to most collectives since something holds it up."""
    for job, worst in _held_up(runs):
        if not job.computes_longer(worst):
            yield from job.finding(
                worst,
                rule="late-rank",
                why=f"comes last to {int(job.found.last[worst])} collectives, though it computes no longer",
                advice="See what it does before its collectives: input, logging, checkpoints, or a slower host",
                changes=(
                    "Do logging and checkpoints in all ranks alike, or asynchronously",
                    "Give the rank's data loader as many workers and as fast a disk as the others have",
                ),
                saving=job.saving_if_on_time(worst),
            )


def imbalanced_ranks(runs: RunResults) -> Iterator[Finding]:
    """One rank computes longer than the others, which wait for it."""
    for job, worst in _held_up(runs):
        if job.computes_longer(worst):
            longer = time_words(job.extra_work_us(worst))
            yield from job.finding(
                worst,
                rule="imbalanced-ranks",
                why=f"computes {longer} longer a step than the others",
                advice="Give all ranks equally much to do: the step takes as long as the rank with most work",
                changes=(
                    "Balance by tokens, not by samples: sort or bucket by length, or pack sequences",
                    "Move layers or experts from this rank to the others",
                    "Check the clocks and power limit of its device: nvidia-smi -q -d CLOCK,POWER",
                ),
                saving=job.saving_if_level(worst),
            )


def _held_up(runs: RunResults) -> Iterator[tuple[_Job, int]]:
    """The job, and the rank that causes most of the waiting in it."""
    results = _one_of_each_rank(runs)
    if len(results) < 2:
        return
    job = _Job(results)
    worst = int(job.found.caused_ps.argmax())
    caused = int(job.found.caused_ps[worst])
    if caused and caused >= MOST_OF_IT * int(job.found.waiting_ps.sum()):
        yield job, worst


class _Job:
    """The ranks of a job in the order of `ranks`."""

    def __init__(self, results: Sequence[LensResult[Any]]) -> None:
        self.found: Ranks = ranks([result.result.profile for result in results])
        by_rank = {result.result.profile.header.rank: result for result in results}
        self.results = [by_rank[rank.rank] for rank in self.found.ranks]

    def extra_work_us(self, worst: int) -> float:
        """How much longer a rank computes than the median of the others, in us per step."""
        work = np.array([rank.computation_ps + rank.overlap_ps for rank in self.found.ranks])
        extra = int(work[worst] - np.median(np.delete(work, worst)))
        facts = facts_of(self.results[worst])
        steps = 1 if facts is None else max(facts.step_count, 1)
        return max(extra, 0) / steps / PS_PER_US

    def computes_longer(self, worst: int) -> bool:
        """Whether a rank's work is what the others wait for."""
        facts = facts_of(self.results[worst])
        steps = 1 if facts is None else max(facts.step_count, 1)
        caused_us = int(self.found.caused_ps[worst]) / (len(self.results) - 1) / steps / PS_PER_US
        return self.extra_work_us(worst) >= _BY_WORK * caused_us

    def saving_if_on_time(self, worst: int) -> float:
        """What the other ranks save in us per step if this one comes when the median of them does."""
        savings: list[float] = []
        for place, result in enumerate(self.results):
            facts = facts_of(result)
            if facts is None or place == worst:
                continue
            waits = self.found.waits[place]
            shorter = waits.level_ps // facts.profile.tick_ps
            savings.append(facts.saving(Change(shorter=((waits.run, shorter),))).us)
        return float(np.mean(savings)) if savings else 0.0

    def saving_if_level(self, worst: int) -> float:
        """What a rank saves in us per step if its work is shared out evenly."""
        facts = facts_of(self.results[worst])
        if facts is None:
            return 0.0
        kernels = facts.category_rows(Category.KERNEL)
        work_us = facts.covered_us(kernels)
        ranks_of_job = len(self.results)
        less = self.extra_work_us(worst) * (ranks_of_job - 1) / ranks_of_job
        factor = min(less / work_us, 1.0) if work_us else 0.0
        shorter = (facts.duration[kernels] * factor).astype(np.int64)
        return facts.saving(Change(shorter=((kernels, shorter),))).us

    def finding(
        self,
        worst: int,
        *,
        rule: str,
        why: str,
        advice: str,
        changes: tuple[str, ...],
        saving: float,
    ) -> Iterator[Finding]:
        """The finding about a rank, if bringing it level saves enough."""
        others = [place for place in range(len(self.results)) if place != worst]
        waits = [self._waited_and_step(place) for place in others]
        waited = float(np.mean([waited for waited, _ in waits]))
        whole = float(np.mean([step for _, step in waits]))
        share = saving / whole if whole else 0.0
        if share < LEAST_SAVING_SHARE:
            return
        rank = self.found.ranks[worst].rank
        yield Finding(
            rule=rule,
            title=f"Rank {rank} {why}: the others wait {time_words(waited)} of a step of {time_words(whole)} for it",
            cost_share=min(waited / whole, 1.0),
            cost=min(waited, whole),
            unit="us",
            evidence=(self.results[worst].evidence(f"rank {rank}", pane="ranks"),),
            advice=advice,
            certainty="derived",
            absorbs=self._explained(worst),
            saving=saving,
            saving_share=share,
            whole=whole,
            changes=changes,
        )

    def _explained(self, worst: int) -> tuple[tuple[str, str, str], ...]:
        """The waiting of all ranks in collectives, and what holds the one rank up."""
        exposed = [("exposed-communication", result.run, "*") for result in self.results]
        own = [(name, self.results[worst].run, "*") for name in _OF_THE_RANK]
        return (*exposed, *own)

    def _waited_and_step(self, place: int) -> tuple[float, float]:
        """How long a rank waits, and its step, in us per step."""
        facts = facts_of(self.results[place])
        if facts is None:
            return 0.0, 0.0
        waits = self.found.waits[place]
        inside = facts.in_steps[waits.run]
        waited = int(waits.waited_ps[inside].sum()) // facts.profile.tick_ps
        return facts.per_step_us(waited), facts.step_us


def _one_of_each_rank(runs: RunResults) -> list[LensResult[Any]]:
    """The profiles of a job's ranks; none where a rank has several, since it is not known which belong together."""
    profiles = [
        s for s in runs.of("views") if s.result.profile.nested and s.result.profile.header.rank >= 0
    ]
    distinct = {result.result.profile.header.rank for result in profiles}
    return profiles if len(distinct) == len(profiles) else []


RULES = (
    CrossRule(
        "late-rank",
        ("views",),
        "A rank that comes late to collectives, for which the others wait",
        late_rank,
    ),
    CrossRule(
        "imbalanced-ranks",
        ("views",),
        "A rank that computes longer than the others",
        imbalanced_ranks,
    ),
)
"""The rules of this module."""

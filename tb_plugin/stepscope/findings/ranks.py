"""Rules over the ranks of a job: which of them the others wait for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from stepscope.findings.finding import Finding
from stepscope.findings.format_time import PS_PER_US
from stepscope.findings.rules import CrossRule, LensResult, RunResults
from stepscope.lenses.trace.ranks import ranks

LEAST_WAIT = 0.1
MOST_OF_IT = 0.6


def _late_rank(together: RunResults) -> Iterator[Finding]:
    """One rank comes last to most collectives, and the others wait for it."""
    subjects = _one_of_each_rank(together)
    if len(subjects) < 2:
        return
    found = ranks([subject.result.profile for subject in subjects])
    whole = sum(one.span_ps for one in found.ranks)
    worst = int(found.caused_ps.argmax())
    caused, waited = int(found.caused_ps[worst]), int(found.waiting_ps.sum())
    if not whole or caused < LEAST_WAIT * whole or caused < MOST_OF_IT * waited:
        return
    late = found.ranks[worst]
    place = next(subject for subject in subjects if subject.result.profile.header.rank == late.rank)
    yield Finding(
        "late-rank",
        f"the other ranks wait {caused / whole:.0%} of all ranks' time for rank {late.rank}",
        caused / whole,
        caused / PS_PER_US,
        "us",
        (place.evidence(f"rank {late.rank}", pane="ranks"),),
        f"It comes last to {int(found.last[worst])} of {len(late.calls.start)} collectives: "
        "see what it does before them, and give all ranks equally much to do",
        "derived",
        tuple(("exposed-communication", subject.run, "*") for subject in subjects),
    )


def _one_of_each_rank(together: RunResults) -> list[LensResult[Any]]:
    """The profiles of a job's ranks; none where a rank has several, since it is not known which belong together."""
    profiles = [s for s in together.of("views") if s.result.profile.nested and s.result.profile.header.rank >= 0]
    distinct = {subject.result.profile.header.rank for subject in profiles}
    return profiles if len(distinct) == len(profiles) else []


RULES = (
    CrossRule(
        "late-rank",
        ("views",),
        "A rank for which the others wait a tenth of the time or more in collectives",
        _late_rank,
    ),
)
"""The rules of this module."""

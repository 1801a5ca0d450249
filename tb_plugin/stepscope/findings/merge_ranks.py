"""What several ranks of a job have in common, told once."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable, Mapping
from typing import Any

from stepscope.findings.finding import Evidence, Finding

MOST_PLACES = 8
"""Places of evidence that a finding over ranks keeps: one of each rank, the worst first, then more of the worst."""

Place = tuple[str, str, str]
_DEVICE = re.compile(r"(PU|cuda)(\s*:?\s*)\d+$")
"""A device such as GPU7 or cuda:7: each rank has its own."""


def over_ranks(found: Iterable[Finding], jobs: Mapping[Place, str]) -> list[Finding]:
    """Findings where those of one rule and subject over the ranks of a job are one, with the worst rank's cost.

    Args:
        found: The findings.
        jobs: The job of each lens, run and record that are a rank's.
    """
    groups: dict[tuple[Any, ...], list[Finding]] = {}
    for number, finding in enumerate(found):
        groups.setdefault(_subject(finding, jobs) or (number,), []).append(finding)
    return [one for group in groups.values() for one in _joined(group)]


def subject_key(document: Mapping[str, Any]) -> str:
    """The row that a finding as a document is about, whichever device it is on."""
    evidence = document["evidence"]
    return _DEVICE.sub(r"\1\2", evidence[0]["key"]) if evidence else ""


def _subject(finding: Finding, jobs: Mapping[Place, str]) -> tuple[str, ...]:
    """What a finding of a rank is about, whichever rank it is; () where it is of no rank."""
    if not finding.evidence or finding.rule == "unreadable-record":
        return ()
    place = finding.evidence[0]
    job = jobs.get((place.lens, place.run, place.name), "")
    return (
        (job, finding.rule, place.lens, place.name, _DEVICE.sub(r"\1\2", place.key)) if job else ()
    )


def _joined(group: list[Finding]) -> list[Finding]:
    runs = {finding.evidence[0].run for finding in group if finding.evidence}
    if len(runs) < 2:
        return group
    first, *others = sorted(
        group, key=lambda one: (one.cost_share or 0, one.cost or 0), reverse=True
    )
    which = "such as" if first.cost is None else "of which the worst is"
    title = f"{first.title}, in {len(runs)} ranks, {which} {first.evidence[0].run}"
    return [dataclasses.replace(first, title=title, evidence=_places(first, others))]


def _places(first: Finding, others: list[Finding]) -> tuple[Evidence, ...]:
    every = dict.fromkeys(
        (first.evidence[0], *(other.evidence[0] for other in others), *first.evidence)
    )
    return tuple(every)[:MOST_PLACES]

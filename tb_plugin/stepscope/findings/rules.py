"""How rules are declared and asked.

A rule looks at what one lens says of one record, a cross rule at what several lenses say of one run or job. Rules know
no other rule and keep nothing.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from stepscope.errors import StepscopeError
from stepscope.findings.finding import Certainty, Evidence, Finding, panel_hash
from stepscope.findings.merge_ranks import over_ranks

T = TypeVar("T")


@dataclass(frozen=True)
class LensResult(Generic[T]):
    """What rules look at.

    Attributes:
        lens: The lens.
        run: The run, and `name` the record, that the result is of.
        result: The lens's result; of the views lens the engine, so that rules can ask for the views they need.
        job: The job that the run is a rank of; empty where it is its own.
    """

    lens: str
    run: str
    name: str
    result: T
    job: str = ""

    def evidence(self, key: str, /, **state: str) -> Evidence:
        """A place in the lens, shown by the panel in the given state."""
        address = panel_hash(lens=self.lens, run=self.run, name=self.name, **state)
        return Evidence(self.lens, self.run, self.name, key, address)


@dataclass(frozen=True)
class Rule(Generic[T]):
    """A rule.

    Attributes:
        name: A short word, unique.
        lens: The lens whose results it looks at.
        help: What it looks for, in one sentence.
        check: Gives what it finds.
        certainty: How sure its findings are.
    """

    name: str
    lens: str
    help: str
    check: Callable[[LensResult[T]], Iterable[Finding]]
    certainty: Certainty = "measured"

    @property
    def lenses(self) -> tuple[str, ...]:
        """The lenses that it looks at."""
        return (self.lens,)


@dataclass(frozen=True)
class RunResults:
    """What several lenses say of one run, or of the runs of one job."""

    subjects: tuple[LensResult[Any], ...]

    def of(self, lens: str) -> list[LensResult[Any]]:
        """The subjects of a lens."""
        return [subject for subject in self.subjects if subject.lens == lens]

    def pairs(self, one: str, other: str) -> Iterator[tuple[LensResult[Any], LensResult[Any]]]:
        """Each subject of a lens with those of another lens: of its own run, else of the job."""
        for subject in self.of(one):
            others = self.of(other)
            yield from ((subject, found) for found in [o for o in others if o.run == subject.run] or others[:1])


@dataclass(frozen=True)
class CrossRule:
    """A rule over several lenses; its attributes are those of `Rule`."""

    name: str
    lenses: tuple[str, ...]
    help: str
    check: Callable[[RunResults], Iterable[Finding]]
    certainty: Certainty = "derived"


AnyRule = Rule[Any] | CrossRule


def find(subjects: Iterable[LensResult[Any]], rules: Iterable[AnyRule]) -> list[Finding]:
    """What the rules find in the subjects, each cause once, also where several ranks of a job have it.

    The largest share comes first; findings without a known share come last, what was measured before mere hints.
    A subject that a rule cannot judge is a finding itself: see `unreadable`.
    """
    given = list(subjects)
    found = dict.fromkeys(finding for rule in rules for finding in _asked(rule, given))
    jobs = {(subject.lens, subject.run, subject.name): subject.job for subject in given}
    return sorted(over_ranks(_once(list(found)), jobs), key=rank)


def _asked(rule: AnyRule, subjects: Sequence[LensResult[Any]]) -> Iterator[Finding]:
    if isinstance(rule, Rule):
        for subject in subjects:
            if subject.lens == rule.lens:
                yield from _checked(rule.check, subject, subject)
    else:
        for group in _groups(subjects):
            yield from _checked(rule.check, RunResults(group), group[0])


def _groups(subjects: Sequence[LensResult[Any]]) -> list[tuple[LensResult[Any], ...]]:
    """The subjects of each job, and of each run that is no part of one."""
    groups: dict[str, list[LensResult[Any]]] = {}
    for subject in subjects:
        groups.setdefault(f"job {subject.job}" if subject.job else f"run {subject.run}", []).append(subject)
    return [tuple(group) for group in groups.values()]


def _checked(check: Callable[[T], Iterable[Finding]], asked: T, subject: LensResult[Any]) -> Iterator[Finding]:
    try:
        yield from check(asked)
    except StepscopeError as error:
        yield unreadable(subject, error)


def unreadable(subject: LensResult[Any], error: StepscopeError) -> Finding:
    """Says of a record that it cannot be judged, and why: it hides no other's findings, and is no silence."""
    title = f"{subject.run}: {subject.lens} record {subject.name} cannot be judged: {error.found}"
    evidence = (subject.evidence(error.where),)
    return Finding("unreadable-record", title, None, None, "", evidence, error.remedy, "measured")


def _once(found: list[Finding]) -> list[Finding]:
    """Findings without those that another one absorbs, whose evidence it takes over."""
    left: list[Finding] = []
    for finding in found:
        if not any(_absorbs(other, finding) for other in found if other is not finding):
            same = [one for one in found if one is not finding and _absorbs(finding, one)]
            places = dict.fromkeys((*finding.evidence, *(place for one in same for place in one.evidence)))
            left.append(dataclasses.replace(finding, evidence=tuple(places)))
    return left


def _absorbs(one: Finding, other: Finding) -> bool:
    return any((other.rule, place.run, key) in one.absorbs for place in other.evidence for key in (place.key, "*"))


CERTAIN: tuple[Certainty, ...] = ("measured", "derived", "hint")


def rank(finding: Finding) -> tuple[float, int]:
    """What findings are sorted by, ascending."""
    share = -1.0 if finding.cost_share is None else finding.cost_share
    return (-share, CERTAIN.index(finding.certainty))

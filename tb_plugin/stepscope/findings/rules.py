"""How rules are declared and asked.

A rule looks at what one lens says of one record, a cross rule at what several lenses say of one run or job. A residual
rule looks at what is left of a record once the findings of the others are fixed. Rules keep nothing.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from stepscope.errors import StepscopeError
from stepscope.findings.finding import Certainty, Evidence, Finding, panel_hash
from stepscope.findings.merge_ranks import over_ranks

T = TypeVar("T")
F = TypeVar("F")


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
    _facts: dict[Any, Any] = field(default_factory=dict, compare=False, repr=False)

    def facts(self, build: Callable[[T], F]) -> F:
        """What a function works out of the result, once for all rules that ask for it."""
        if build not in self._facts:
            self._facts[build] = build(self.result)
        facts: F = self._facts[build]
        return facts

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
            yield from (
                (subject, found)
                for found in [o for o in others if o.run == subject.run] or others[:1]
            )


@dataclass(frozen=True)
class CrossRule:
    """A rule over several lenses; its attributes are those of `Rule`."""

    name: str
    lenses: tuple[str, ...]
    help: str
    check: Callable[[RunResults], Iterable[Finding]]
    certainty: Certainty = "derived"


@dataclass(frozen=True)
class ResidualRule(Generic[T]):
    """A rule over what the findings of the other rules leave; its attributes are those of `Rule`."""

    name: str
    lens: str
    help: str
    check: Callable[[LensResult[T], Sequence[Finding]], Iterable[Finding]]
    certainty: Certainty = "derived"

    @property
    def lenses(self) -> tuple[str, ...]:
        """The lenses that it looks at."""
        return (self.lens,)


AnyRule = Rule[Any] | CrossRule | ResidualRule[Any]


def find(results: Iterable[LensResult[Any]], rules: Iterable[AnyRule]) -> list[Finding]:
    """What the rules find in the results, each cause once, also where several ranks of a job have it.

    The largest saving comes first, see `rank`. A record that a rule cannot judge is a finding itself, see `unreadable`.
    """
    given = list(results)
    findings: dict[Finding, None] = {}
    for rule in rules:
        if isinstance(rule, ResidualRule):
            found = _residual(rule, given, list(findings))
        else:
            found = list(_of_rule(rule, given))
        findings.update(dict.fromkeys(found))
    jobs = {(result.lens, result.run, result.name): result.job for result in given}
    each_once = over_ranks(_once(_merged_failures(list(findings))), jobs)
    return [dataclasses.replace(finding, change=None) for finding in sorted(each_once, key=rank)]


def _of_rule(rule: Rule[Any] | CrossRule, results: Sequence[LensResult[Any]]) -> Iterator[Finding]:
    if isinstance(rule, Rule):
        for result in results:
            if result.lens == rule.lens:
                yield from _checked(rule, lambda: rule.check(result), result)  # noqa: B023
        return
    for group in _groups(results):
        yield from _checked(rule, lambda: rule.check(RunResults(group)), group[0])  # noqa: B023


def _residual(
    rule: ResidualRule[Any], results: Sequence[LensResult[Any]], findings: Sequence[Finding]
) -> list[Finding]:
    found: list[Finding] = []
    for result in results:
        if result.lens == rule.lens:
            own = [finding for finding in findings if _is_about(finding, result)]
            found += _checked(rule, lambda: rule.check(result, own), result)  # noqa: B023
    return found


def _is_about(finding: Finding, result: LensResult[Any]) -> bool:
    places = finding.evidence
    return any(
        (place.lens, place.run, place.name) == (result.lens, result.run, result.name)
        for place in places
    )


def _groups(results: Sequence[LensResult[Any]]) -> list[tuple[LensResult[Any], ...]]:
    """The results of each job, and of each run that is no part of one."""
    groups: dict[str, list[LensResult[Any]]] = {}
    for result in results:
        groups.setdefault(f"job {result.job}" if result.job else f"run {result.run}", []).append(
            result
        )
    return [tuple(group) for group in groups.values()]


def _checked(
    rule: AnyRule, check: Callable[[], Iterable[Finding]], result: LensResult[Any]
) -> list[Finding]:
    """What a rule finds. One that fails costs only what it would still have found, and is named."""
    findings: list[Finding] = []
    try:
        findings.extend(check())
    except StepscopeError as error:
        findings.append(unreadable(result, error))
    except Exception as error:  # A fault of one rule must not hide what the others find.
        findings.append(_failed(rule, result, error))
    return findings


def _failed(rule: AnyRule, result: LensResult[Any], error: Exception) -> Finding:
    title = f"Rule {rule.name} failed on {result.lens} record {result.name}: {type(error).__name__}"
    return Finding(
        rule=FAILED_RULE,
        title=title,
        cost_share=None,
        cost=None,
        unit="",
        evidence=(result.evidence(rule.name),),
        advice="Report this with the record; the other rules are not affected",
        certainty="measured",
    )


FAILED_RULE = "failed-rule"


def _merged_failures(findings: list[Finding]) -> list[Finding]:
    """Findings in which rules that failed on one record are one finding, which names them."""
    failures: dict[str, list[Finding]] = {}
    for finding in findings:
        if finding.rule == FAILED_RULE:
            failures.setdefault(finding.evidence[0].run, []).append(finding)
    merged = [finding for finding in findings if finding.rule != FAILED_RULE]
    for group in failures.values():
        names = ", ".join(finding.evidence[0].key for finding in group)
        first = group[0]
        title = first.title if len(group) == 1 else f"{len(group)} rules failed: {names}"
        merged.append(dataclasses.replace(first, title=title))
    return merged


def unreadable(result: LensResult[Any], error: StepscopeError) -> Finding:
    """Says of a record that it cannot be judged, and why: it hides no other's findings, and is no silence."""
    return Finding(
        rule="unreadable-record",
        title=f"{result.run}: {result.lens} record {result.name} cannot be judged: {error.found}",
        cost_share=None,
        cost=None,
        unit="",
        evidence=(result.evidence(error.where),),
        advice=error.remedy,
        certainty="measured",
    )


def _once(findings: list[Finding]) -> list[Finding]:
    """Findings without those that another one absorbs, whose evidence it takes over."""
    left: list[Finding] = []
    for finding in findings:
        if any(_absorbs(other, finding) for other in findings if other is not finding):
            continue
        same = [other for other in findings if other is not finding and _absorbs(finding, other)]
        places = dict.fromkeys(finding.evidence)
        for other in same:
            places.update(dict.fromkeys(other.evidence))
        left.append(dataclasses.replace(finding, evidence=tuple(places)))
    return left


def _absorbs(finding: Finding, other: Finding) -> bool:
    if _outweighs(other, finding):
        return False
    if other.rule in SAME_CAUSE.get(finding.rule, ()) and _runs(finding) & _runs(other):
        return True
    for place in other.evidence:
        for key in (place.key, "*"):
            if (other.rule, place.run, key) in finding.absorbs:
                return True
    return False


def _runs(finding: Finding) -> set[str]:
    return {place.run for place in finding.evidence}


def _outweighs(other: Finding, finding: Finding) -> bool:
    """Whether a finding saves so much more that another cannot be all of its cause."""
    if finding.saving_share is None or other.saving_share is None:
        return False
    return other.saving_share > _MUCH_MORE * finding.saving_share


_MUCH_MORE = 2

SAME_CAUSE: dict[str, tuple[str, ...]] = {
    "lost-to-checkpoint": ("slow-steps",),
    "lost-to-evaluation": ("slow-steps",),
    "lost-to-compile": ("slow-steps", "recompilation"),
    "lost-to-data-wait": ("data-loader-wait",),
    "lost-to-stall": ("slow-steps",),
}
"""Findings of a run's rates, and what the profile of the same run tells of the same cause."""

CERTAIN: tuple[Certainty, ...] = ("measured", "derived", "hint")


def rank(finding: Finding) -> tuple[float, int]:
    """What findings are sorted by, ascending: the largest saving first.

    A finding whose saving is not known stands as if half of what it costs could be saved.
    """
    return document_rank(finding.to_json())


def document_rank(document: Mapping[str, Any]) -> tuple[float, int]:
    """The same of a finding as a document."""
    share = document["saving_share"]
    if share is None:
        share = -1.0 if document["cost_share"] is None else document["cost_share"] / 2
    return (-share, CERTAIN.index(document["certainty"]))

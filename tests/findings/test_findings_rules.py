"""Rules are asked one after the other: what one of them cannot judge costs nothing of what the others find."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from typing import Any

from stepscope.errors import LimitExceeded
from stepscope.findings import CrossRule, Finding, LensResult, ResidualRule, Rule, find
from stepscope.findings.rules import RunResults

FINE, LARGE = (
    LensResult("views", "a", "profile", 1),
    LensResult("views", "b", "profile", 2, job="j"),
)


def finding(rule: str, run: str) -> Finding:
    return Finding(rule, f"{rule} in {run}", 0.5, None, "", (), "", "measured")


def large() -> LimitExceeded:
    return LimitExceeded("paths of 9 GB", where="views, scope", remedy="Profile fewer steps")


def fails_late(subject: LensResult[Any]) -> Iterator[Finding]:
    yield finding("late", subject.run)
    if subject is LARGE:
        raise large()


def fails_at_once(subject: LensResult[Any]) -> list[Finding]:
    if subject is LARGE:
        raise large()
    return [finding("at-once", subject.run)]


def together(group: RunResults) -> list[Finding]:
    if LARGE in group.subjects:
        raise large()
    return [finding("cross", group.subjects[0].run)]


RULES = [
    Rule("late", "views", "Fails after its first finding", fails_late),
    Rule("at-once", "views", "Fails before it", fails_at_once),
    CrossRule("cross", ("views",), "Fails for a job", together),
]


def test_what_a_rule_cannot_judge_hides_nothing_that_others_find() -> None:
    found = [one.title for one in find([LARGE, FINE], RULES)]
    assert found[:-1] == ["late in b", "late in a", "at-once in a", "cross in a"]
    assert found[-1] == "b: views record profile cannot be judged: paths of 9 GB"


def divides_by_nothing(result: LensResult[Any]) -> list[Finding]:
    return [finding("never", result.run)] * (1 // 0)


def test_a_rule_that_fails_costs_only_itself_and_is_named() -> None:
    broken = [
        Rule(name, "views", "Divides by nothing", divides_by_nothing)
        for name in ("first", "second")
    ]
    found = find([FINE], [*RULES, *broken])
    assert [one.rule for one in found] == ["late", "at-once", "cross", "failed-rule"]
    assert found[-1].title == "2 rules failed: first, second"
    (alone,) = find([FINE], broken[:1])
    assert alone.title == "Rule first failed on views record profile: ZeroDivisionError"


def test_residual_rules_are_given_what_others_found_in_the_record() -> None:
    def about(result: LensResult[Any]) -> list[Finding]:
        return [Finding("told", result.run, 0.5, None, "", (result.evidence("x"),), "", "measured")]

    def residual(result: LensResult[Any], findings: Sequence[Finding]) -> list[Finding]:
        return [finding(f"left of {len(findings)}", result.run)]

    given = [Rule("told", "views", "", about), ResidualRule("left", "views", "", residual)]
    assert {one.rule for one in find([FINE, LARGE], given)} == {"told", "left of 1"}


def test_the_largest_saving_comes_first_and_an_unknown_one_counts_half_of_its_cost() -> None:
    def three(result: LensResult[Any]) -> Iterator[Finding]:
        for name, saving, cost in (
            ("known", 0.3, 0.9),
            ("unknown", None, 0.5),
            ("large", 0.4, 0.4),
            ("hint", None, None),
        ):
            yield dataclasses.replace(finding(name, "a"), saving_share=saving, cost_share=cost)

    assert [one.rule for one in find([FINE], [Rule("three", "views", "", three)])] == [
        "large",
        "known",
        "unknown",
        "hint",
    ]


def test_a_record_that_cannot_be_judged_is_told_once_with_its_place_and_remedy() -> None:
    (told,) = [one for one in find([FINE, LARGE], RULES) if one.rule == "unreadable-record"]
    assert (told.advice, told.cost_share) == ("Profile fewer steps", None)
    assert [(place.run, place.name, place.key) for place in told.evidence] == [
        ("b", "profile", "views, scope")
    ]

"""Rules are asked one after the other: what one of them cannot judge costs nothing of what the others find."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from stepscope.errors import LimitExceeded
from stepscope.findings import CrossRule, Finding, LensResult, Rule, find
from stepscope.findings.rules import RunResults

FINE, LARGE = LensResult("views", "a", "profile", 1), LensResult("views", "b", "profile", 2, job="j")


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


def test_a_record_that_cannot_be_judged_is_told_once_with_its_place_and_remedy() -> None:
    (told,) = [one for one in find([FINE, LARGE], RULES) if one.rule == "unreadable-record"]
    assert (told.advice, told.cost_share) == ("Profile fewer steps", None)
    assert [(place.run, place.name, place.key) for place in told.evidence] == [("b", "profile", "views, scope")]

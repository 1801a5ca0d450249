"""What several ranks of a job have in common is one finding, with the worst rank's cost."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import stepscope
from stepscope.findings import Finding, LensResult, Rule, find
from stepscope.findings.merge_ranks import MOST_PLACES


def check(subject: LensResult[Any]) -> Iterator[Finding]:
    for key, share in subject.result.items():
        places = (subject.evidence(key), subject.evidence("inner"))
        yield Finding(
            "slow", f"{key} takes {share}", share, share * 100, "us", places, "", "measured"
        )


RULES = [Rule("slow", "views", "What the results say", check)]


def rank(number: int, job: str = "j", name: str = "torch", **shares: float) -> LensResult[Any]:
    return LensResult("views", f"rank{number}", name, shares, job)


def titles(*subjects: LensResult[Any]) -> list[str]:
    return [finding.title for finding in find(subjects, RULES)]


def test_a_cause_of_several_ranks_is_told_once_with_the_worst_rank() -> None:
    (found,) = find([rank(0, op=0.2), rank(1, op=0.5), rank(2, op=0.3)], RULES)
    assert found.title == "op takes 0.5, in 3 ranks, of which the worst is rank1"
    assert (found.cost_share, found.cost) == (0.5, 50)
    assert [(place.run, place.key) for place in found.evidence] == [
        ("rank1", "op"),
        ("rank2", "op"),
        ("rank0", "op"),
        ("rank1", "inner"),
    ]


def test_evidence_is_kept_of_so_many_ranks() -> None:
    (found,) = find([rank(number, op=number / 100) for number in range(1, 65)], RULES)
    assert found.title.endswith("in 64 ranks, of which the worst is rank64")
    assert [place.run for place in found.evidence] == [
        f"rank{number}" for number in range(64, 64 - MOST_PLACES, -1)
    ]


def test_what_differs_in_job_subject_or_record_is_not_joined() -> None:
    assert len(titles(rank(0, op=0.2), rank(1, other=0.2))) == 2
    assert len(titles(rank(0, "j", op=0.2), rank(1, "k", op=0.2))) == 2
    assert len(titles(rank(0, "", op=0.2), rank(1, "", op=0.2))) == 2
    assert len(titles(rank(0, name="a", op=0.2), rank(1, name="b", op=0.2))) == 2


def test_each_rank_has_a_device_of_its_own_and_they_are_one_subject() -> None:
    assert titles(rank(0, GPU0=0.2), rank(1, GPU1=0.4)) == [
        "GPU1 takes 0.4, in 2 ranks, of which the worst is rank1"
    ]
    assert len(titles(rank(0, **{"layers.0": 0.2}), rank(1, **{"layers.1": 0.4}))) == 2


def test_a_cause_without_cost_names_a_rank_as_an_example() -> None:
    def hint(subject: LensResult[Any]) -> Iterator[Finding]:
        yield Finding("h", "Gloo is used", None, None, "", (subject.evidence("gloo"),), "", "hint")

    (found,) = find([rank(0), rank(1)], [Rule("h", "views", "", hint)])
    assert found.title == "Gloo is used, in 2 ranks, such as rank0"


def test_real_ranks_repeat_no_rule_for_one_subject(shared: Path) -> None:
    folder = shared / "data" / "torch" / "param" / "dlrm_kineto"
    found = stepscope.open(folder).findings()
    subjects = [(one["rule"], one["evidence"][0]["key"]) for one in found]
    assert len(set(subjects)) == len(subjects) < 25
    (optimizer,) = [one for one in found if one["rule"] == "unfused-optimizer"]
    assert "in 8 ranks, of which the worst is" in optimizer["title"]

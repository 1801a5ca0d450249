"""Beside a baseline findings say what is new, gone, larger or smaller, and which of them explains the difference."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import pytest
from planted_traces import Workload, simulate

import stepscope
from stepscope.findings.baseline import compared
from stepscope.session.source import Source

CLEAN = Workload(seed=5, layers=8)


def finding(rule: str, saving: float | None, key: str = "row") -> dict[str, Any]:
    return {
        "rule": rule,
        "saving": saving,
        "cost": saving,
        "unit": "us",
        "evidence": [{"key": key}],
    }


def job(folder: Path, **changes: Any) -> Source:
    simulate(dataclasses.replace(CLEAN, **changes), folder)
    return stepscope.open(folder)


def test_findings_are_new_larger_smaller_same_or_gone() -> None:
    now = [finding("a", 10), finding("b", 10), finding("c", 10), finding("d", 10)]
    before = [finding("b", 5), finding("c", 20), finding("d", 10.5), finding("e", 7)]
    states = {one["rule"]: (one["state"], one["baseline_saving"]) for one in compared(now, before)}
    assert states == {
        "a": ("new", None),
        "b": ("larger", 5),
        "c": ("smaller", 20),
        "d": ("same", 10.5),
        "e": ("gone", 7),
    }


def test_rows_of_one_rule_are_paired_by_what_they_are_about() -> None:
    now = [finding("a", 10, "x"), finding("a", 20, "y")]
    before = [finding("a", 20, "y"), finding("a", 7, "z")]
    states = [(one["evidence"][0]["key"], one["state"]) for one in compared(now, before)]
    assert states == [("x", "new"), ("y", "same"), ("z", "gone")]


def test_slower_run_is_told_with_the_finding_that_explains_it(tmp_path: Path) -> None:
    slow, base = job(tmp_path / "slow", items=2, logs=2), job(tmp_path / "base")
    (summary,) = slow.summary(compare=base)
    assert "slower than in" in summary["difference"]
    assert "host-sync is new" in summary["difference"]
    (other,) = base.summary(compare=slow)
    assert "faster than in" in other["difference"]
    assert "host-sync is gone" in other["difference"]


def test_run_beside_itself_has_no_difference(tmp_path: Path) -> None:
    source = job(tmp_path, pageable_us=400)
    (summary,) = source.summary(compare=source)
    assert summary["difference"].startswith("A step takes as long as in ")
    assert {one["state"] for one in source.findings(compare=source)} == {"same"}


def test_summary_says_where_the_step_goes_and_what_to_do_first(tmp_path: Path) -> None:
    (summary,) = job(tmp_path, pageable_us=900).summary()
    assert summary["sentence"].startswith("A step takes ")
    assert "matrix multiply" in summary["sentence"]
    assert "pin_memory=True" in summary["first"]
    assert sum(kind["us"] for kind in summary["kinds"]) == pytest.approx(summary["step_us"])
    assert all(cost["kind"] for cost in summary["costs"])

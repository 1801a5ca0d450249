"""Who the other ranks wait for is one finding, in place of the communication that it causes in each of them."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from planted_traces import Workload, simulate

import stepscope
from stepscope.findings import RULES, LensResult, find
from stepscope.lenses.views import ViewEngine
from stepscope.sources import torch_trace

LATE = Workload(seed=3, layers=4, steps=3, ranks=2, late_ms=2)


def ranks_of(workload: Workload, folder: Path) -> list[LensResult[Any]]:
    """The profiles of a simulated job."""
    simulate(workload, folder)
    results = []
    for path in sorted(folder.iterdir()):
        record = torch_trace.read(path).records[0].record
        results.append(LensResult("views", path.name[:5], "torch", ViewEngine(record), "job"))
    return results


def rules_of(results: Sequence[LensResult[Any]]) -> set[str]:
    return {finding.rule for finding in find(results, RULES)}


def test_a_rank_that_comes_last_is_named_with_what_the_others_lose(tmp_path: Path) -> None:
    late, *others = find(ranks_of(LATE, tmp_path / "job"), RULES)
    assert late.rule == "late-rank"
    assert late.title.startswith("Rank 1 comes last to ")
    assert late.evidence[0].run == "rank1"
    true_us = simulate(LATE, tmp_path / "with") - simulate(
        dataclasses.replace(LATE, late_ms=0), tmp_path / "without"
    )
    assert late.saving == pytest.approx(true_us, rel=0.15)
    assert {finding.rule for finding in others}.isdisjoint(
        {"exposed-communication", "host-bound", "imbalanced-ranks"}
    )


def test_a_rank_with_more_work_is_told_from_one_that_is_held_up(tmp_path: Path) -> None:
    uneven = dataclasses.replace(LATE, late_ms=0, uneven_work=0.5)
    (first, *_) = find(ranks_of(uneven, tmp_path), RULES)
    assert first.rule == "imbalanced-ranks"
    assert first.title.startswith("Rank 1 computes ")


def test_ranks_that_come_last_in_turn_are_no_late_rank(tmp_path: Path) -> None:
    in_turn = dataclasses.replace(LATE, ranks=3, steps=6, logs=1, items=1, late_in_turn=True)
    assert "late-rank" not in rules_of(ranks_of(in_turn, tmp_path))


def test_runs_of_one_rank_are_not_taken_for_a_job(tmp_path: Path) -> None:
    late = ranks_of(LATE, tmp_path)[1]
    assert "late-rank" not in rules_of([late, dataclasses.replace(late, run="b")])


def test_ranks_of_a_job_without_a_name_are_those_beside_each_other(shared: Path) -> None:
    every = stepscope.open(shared / "data/torch/param/dlrm_kineto").findings()
    (late,) = [one for one in every if one["rule"] == "late-rank"]
    assert late["title"].startswith("Rank 7 comes last")


@pytest.mark.parametrize(("ranks", "together"), [((0, 1), 1), ((0, 0), 2), ((0, 1, 1), 3)])
def test_runs_beside_each_other_are_a_job_where_no_rank_is_there_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ranks: Sequence[int], together: int
) -> None:
    for place, number in enumerate(ranks):
        with stepscope.Writer(str(tmp_path), rank=number, world_size=2) as writer:
            writer.throughput("train").add(8, step=1)
        (tmp_path / f"rank_{number}").rename(tmp_path / f"{place}")
    asked: list[LensResult[Any]] = []
    monkeypatch.setattr(
        "stepscope.session.findings.find", lambda subjects, _: asked.extend(subjects) or []
    )
    stepscope.open(tmp_path).findings()
    assert len({subject.job or subject.run for subject in asked}) == together

"""Who the other ranks wait for is one finding, in place of the communication that it causes in each of them."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

import stepscope
from stepscope.findings import RULES, Finding, LensResult, find
from stepscope.lenses.views import ViewEngine
from stepscope.sources import torch_trace

MakeRank = Callable[..., LensResult[Any]]


@pytest.fixture
def rank(tmp_path: Path) -> MakeRank:
    """Makes a step of 100 us on a rank, with collectives of the given lengths."""

    def make(number: int, durations: Sequence[int], run: str = "") -> LensResult[Any]:
        step = slice_of("user_annotation", "ProfilerStep#1", 0, 100)
        calls = [slice_of("kernel", "ncclDevKernel_AllReduce", 10 + 30 * i, t) for i, t in enumerate(durations)]
        path = tmp_path / f"{number}{run}.json"
        trace = {"distributedInfo": {"rank": number, "world_size": 2}, "traceEvents": [step, *calls]}
        path.write_text(json.dumps({"schemaVersion": 1, **trace}))
        record = torch_trace.read(path).records[0].record
        return LensResult("views", run or f"rank{number}", "torch", ViewEngine(record), "job")

    return make


def slice_of(category: str, name: str, start: int, duration: int) -> dict[str, Any]:
    """An event of a trace, on the host or on a stream of a device."""
    place = {"pid": 0, "tid": 9, "args": {"device": 0, "stream": 9}} if category == "kernel" else {"pid": 1, "tid": 1}
    return {"ph": "X", "cat": category, "name": name, "ts": start, "dur": duration, **place}


def found(*subjects: LensResult[Any]) -> list[Finding]:
    return [one for one in find(subjects, RULES) if one.rule in ("late-rank", "exposed-communication")]


def test_a_rank_that_comes_last_is_named_with_what_the_others_lose(rank: MakeRank) -> None:
    (late,) = found(rank(0, (25, 25)), rank(1, (5, 5)))
    assert late.title == "the other ranks wait 20% of all ranks' time for rank 1"
    assert (late.cost_share, late.cost, late.unit) == (0.2, 40, "us")
    assert late.advice.startswith("It comes last to 2 of 2 collectives")
    assert {place.run for place in late.evidence} == {"rank0", "rank1"}


def test_ranks_that_come_last_in_turn_are_no_late_rank(rank: MakeRank) -> None:
    assert {one.rule for one in found(rank(0, (25, 5)), rank(1, (5, 25)))} == {"exposed-communication"}


def test_runs_of_one_rank_are_not_taken_for_a_job(rank: MakeRank) -> None:
    assert {one.rule for one in found(rank(1, (25, 25), "a"), rank(1, (5, 5), "b"))} == {"exposed-communication"}


def test_ranks_of_a_job_without_a_name_are_those_beside_each_other(shared: Path) -> None:
    every = stepscope.open(shared / "data/torch/param/dlrm_kineto").findings()
    (late,) = [one for one in every if one["rule"] == "late-rank"]
    assert late["title"].endswith("for rank 7")
    assert len({place["run"] for place in late["evidence"]}) == 8
    assert "exposed-communication" not in {one["rule"] for one in every}


@pytest.mark.parametrize(("ranks", "together"), [((0, 1), 1), ((0, 0), 2), ((0, 1, 1), 3)])
def test_runs_beside_each_other_are_a_job_where_no_rank_is_there_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ranks: Sequence[int], together: int
) -> None:
    for place, number in enumerate(ranks):
        with stepscope.Writer(str(tmp_path), rank=number, world_size=2) as writer:
            writer.throughput("train").add(8, step=1)
        (tmp_path / f"rank_{number}").rename(tmp_path / f"{place}")
    asked: list[LensResult[Any]] = []
    monkeypatch.setattr("stepscope.session.findings.find", lambda subjects, _: asked.extend(subjects) or [])
    stepscope.open(tmp_path).findings()
    assert len({subject.job or subject.run for subject in asked}) == together

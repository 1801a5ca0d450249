"""What disturbed a run is found and named, and nothing is named where there is nothing."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from stepscope.lenses.throughput import analyze
from stepscope.lenses.throughput.result import Annotation
from stepscope.model.columns import Strings
from stepscope.model.throughput import (
    Marks,
    RateSamples,
    Reported,
    ResetKind,
    Resets,
    Spans,
    Throughput,
)
from stepscope.sources import registry

SECOND = 10**9

LOGS: dict[str, dict[str, list[str]]] = {
    "log_00": {"train": ["checkpoint"]},
    "log_02": {"train": ["per_batch", "checkpoint", "burst"]},
    "log_03": {"train": []},
    "log_04": {"train": []},
    "log_05": {"train": ["fluctuation"]},
    "log_06": {"train": []},
    "log_08": {"train": ["aliasing"]},
    "log_09": {"train": ["aliasing"]},
    "log_10": {"train": ["first_step"]},
    "log_11": {"train xla:0/0": ["first_step"], "train xla:0/1": ["first_step"]},
    "log_12": {"eval": ["per_batch"]},
    "log_14": {"train": []},
    # One line of a device alone says nothing of the others.
    "log_15": {
        "train xla:0/1": [],
        "train xla:0/2": ["first_step"],
        "train xla:0/3": ["first_step"],
    },
    "log_16": {"train": ["per_batch", "checkpoint"]},
    "log_17": {"train": ["checkpoint"]},
    "log_19": {"train": []},
    "log_21": {"eval": ["per_batch"]},
    "log_23": {"train": ["excerpt"]},
}
MLPERF = {
    "bert_d54u": [],
    "llama2_eos_n8": ["evaluation"] * 5,
    "resnet_n316": [],
    "sd_4xH100": ["pause", "first_step"],
    "unet3d_d74h": [],
}
SEQUENCES = {
    "g01_constant": [],
    "g02_jitter": [],
    "g03_checkpoint_burst": ["burst", "burst"],
    "g04_blocks_misaligned": ["aliasing"],
    "g05_blocks_aligned": ["blocks"],
    "g06_first_step_outlier": ["first_step"],
    "g07_zero_elapsed": [],
    "g08_query_twice": [],
    "g09_resets": ["reset", "reset"],
    "g10_variable_batch": [],
    "g11_missing_batch": ["unknown_batch"],
    "g12_clock_back": ["clock_step"],
    "g14_real_clock_float": [],
    "g15_real_sd_4xH100": ["first_step"],
}


def kinds(record: Throughput) -> list[str]:
    return [annotation.kind for annotation in annotations(record)]


def annotations(record: Throughput) -> tuple[Annotation, ...]:
    return analyze(record).series[0].annotations


@pytest.mark.parametrize("log", LOGS)
def test_each_real_logs_disturbance_is_named(shared: Path, log: str) -> None:
    found = registry.read(shared / "data" / "throughput" / "cerebras" / f"{log}.txt").records
    assert {one.name: kinds(one.record) for one in found} == LOGS[log]  # type: ignore[arg-type]


@pytest.mark.parametrize("log", MLPERF)
def test_each_mlperf_logs_disturbance_is_named(shared: Path, log: str) -> None:
    (named,) = registry.read(shared / "data" / "throughput" / "mlperf" / f"{log}.mllog.txt").records
    assert kinds(named.record) == MLPERF[log]  # type: ignore[arg-type]


def test_the_tables_hold_every_real_log(shared: Path) -> None:
    folder = shared / "data" / "throughput"
    assert {path.stem for path in (folder / "cerebras").glob("log_*.txt")} == set(LOGS)
    assert {path.name.partition(".")[0] for path in (folder / "mlperf").glob("*.txt")} == set(
        MLPERF
    )


@pytest.mark.parametrize("name", SEQUENCES)
def test_each_sequences_disturbance_is_named(shared: Path, name: str) -> None:
    case = json.loads((shared / "golden" / "throughput" / f"{name}.json").read_text())
    assert kinds(sequence(case)) == SEQUENCES[name]


def sequence(case: dict[str, Any]) -> Throughput:
    start, marks, samples, resets = case["start_ns"], [], [], []
    for event in case["events"]:
        step, time_ns = event.get("step", -1), event["t_ns"] - start
        if event["op"] == "add":
            marks.append((step, time_ns, -1 if event["count"] is None else event["count"]))
        elif event["op"] == "query":
            samples.append((step, time_ns, len(marks)))
        else:
            kind = ResetKind.RESET if event["op"] == "reset" else ResetKind.RESET_TIME
            resets.append(
                (time_ns, int(event.get("offset_s", 0) * 1e9), kind, len(marks), len(samples))
            )
    return Throughput(
        start_ns=0,
        marks=Marks(*np.array(marks, np.int64).T),
        samples=RateSamples(*np.array(samples, np.int64).T),
        resets=Resets(*np.array(resets, np.int64).reshape(-1, 5).T),
    )


def regular(steps: int = 100, step_ns: int = SECOND) -> Throughput:
    marks = Marks(
        step=np.arange(1, steps + 1),
        time_ns=np.arange(1, steps + 1) * step_ns,
        count=np.full(steps, 8),
    )
    return Throughput(start_ns=0, marks=marks)


def slowed(record: Throughput, after_step: int, extra_ns: int) -> Throughput:
    time = record.marks.time_ns + np.where(record.marks.step > after_step, extra_ns, 0)
    return dataclasses.replace(record, marks=dataclasses.replace(record.marks, time_ns=time))


def test_the_block_size_and_the_flat_interval_are_given(shared: Path) -> None:
    case = json.loads((shared / "golden" / "throughput" / "g04_blocks_misaligned.json").read_text())
    (found,) = annotations(sequence(case))
    assert (
        found.evidence["block_steps"],
        found.evidence["log_steps"],
        found.evidence["flat_steps"],
    ) == (100, 30, 100)
    assert "Log every 100 steps" in found.text


def test_alternating_log_intervals_name_the_flat_one(shared: Path) -> None:
    (named,) = registry.read(shared / "data" / "throughput" / "cerebras" / "log_08.txt").records
    (found,) = annotations(named.record)  # type: ignore[arg-type]
    assert (found.evidence["log_steps"], found.evidence["flat_steps"]) == (100, 40)


def test_a_stall_without_a_queue_is_no_checkpoint() -> None:
    (found,) = annotations(slowed(regular(), 40, 60 * SECOND))
    assert (found.kind, found.step, found.evidence["extra_ns"]) == ("stall", 41, 60 * SECOND)


def test_a_checkpoint_and_the_burst_after_it_are_told_apart(shared: Path) -> None:
    (named,) = registry.read(shared / "data" / "throughput" / "cerebras" / "log_02.txt").records
    _, checkpoint, burst = annotations(named.record)  # type: ignore[arg-type]
    assert checkpoint.step == 220
    assert round(checkpoint.evidence["duration_ns"] / 1e9) == 181
    assert burst.evidence["steps"] == 140
    assert burst.evidence["times_faster"] == pytest.approx(6.5, abs=0.3)


def test_many_evaluations_are_one_annotation() -> None:
    starts = np.arange(10) * 10 * SECOND + SECOND // 2
    spans = Spans(kind=np.zeros(10), start_ns=starts, end_ns=starts + 1000)
    record = dataclasses.replace(regular(), strings=Strings.of(["evaluation"]), spans=spans)
    (found,) = annotations(record)
    assert (found.kind, found.evidence["spans"]) == ("evaluation", 10)


@pytest.mark.parametrize(("share", "named"), [(0.05, []), (0.3, ["data_wait"])])
def test_waiting_for_data_is_named_where_it_matters(share: float, named: list[str]) -> None:
    starts = np.arange(100) * SECOND
    spans = Spans(kind=np.zeros(100), start_ns=starts, end_ns=starts + round(share * SECOND))
    record = dataclasses.replace(regular(), strings=Strings.of(["data"]), spans=spans)
    assert kinds(record) == named


@pytest.mark.parametrize(("first", "named"), [(10, []), (1950, ["excerpt"]), (-1, [])])
def test_a_source_without_a_start_is_an_excerpt_where_its_steps_begin_late(
    first: int, named: list[str]
) -> None:
    step = np.arange(5) * 10 + first if first >= 0 else np.full(5, -1)
    samples = RateSamples(step=step, time_ns=np.arange(5) * SECOND)
    rates = Reported(sample=np.arange(5), avg_samples_per_sec=np.full(5, 8.0))
    assert kinds(Throughput(samples=samples, reported=rates)) == named


def test_a_first_interval_of_more_steps_than_others_is_no_slow_one() -> None:
    step = np.array([40, *range(50, 200, 10)])
    marks = Marks(step=step, time_ns=step * SECOND, count=np.diff(step, prepend=0) * 8)
    assert kinds(Throughput(start_ns=0, batch_size=8, marks=marks)) == []


def test_a_reset_does_not_look_like_a_first_step() -> None:
    record = dataclasses.replace(
        regular(), resets=Resets(time_ns=[50 * SECOND], kind=[ResetKind.SESSION], mark_end=[50])
    )
    (found,) = annotations(record)
    assert (found.kind, found.step) == ("resume", 51)


def test_annotations_have_absolute_stamps_as_text() -> None:
    record = dataclasses.replace(slowed(regular(), 40, 60 * SECOND), base_ns=2**60)
    (found,) = analyze(record).to_json()["series"][0]["annotations"]
    assert found["start_ns"] == str(2**60 + 40 * SECOND)
    assert found["end_ns"] == str(2**60 + 101 * SECOND)

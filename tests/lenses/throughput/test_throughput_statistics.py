"""Each average says what it is over, and none goes silently across a reset or a resume."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from stepscope.errors import OptionError
from stepscope.lenses.throughput import ThroughputOptions, analyze, compare
from stepscope.model.columns import Header, Strings
from stepscope.model.throughput import Marks, Resets, Spans, Throughput
from stepscope.model.throughput_merge import merge

SECOND = 10**9


def steady(steps: int = 100, batch: int = 32, **more: object) -> Throughput:
    """`batch` samples a second."""
    marks = Marks(
        step=np.arange(1, steps + 1),
        time_ns=np.arange(1, steps + 1) * SECOND,
        count=np.full(steps, batch),
    )
    return Throughput(start_ns=0, marks=marks, **more)  # type: ignore[arg-type]


def statistics(record: Throughput, **options: object) -> dict[str, object]:
    return analyze(record, ThroughputOptions(**options)).series[0].statistics  # type: ignore[arg-type]


def paused() -> Throughput:
    """100 steps of 1 s with a checkpoint of 50 s between steps 50 and 51."""
    record = steady()
    time = record.marks.time_ns + np.where(record.marks.step > 50, 50 * SECOND, 0)
    spans = Spans(
        kind=[0, 0], start_ns=[50 * SECOND, 60 * SECOND], end_ns=[100 * SECOND, 90 * SECOND]
    )
    marks = dataclasses.replace(record.marks, time_ns=time)
    return dataclasses.replace(record, marks=marks, strings=Strings.of(["checkpoint"]), spans=spans)


def test_training_only_leaves_out_the_checkpoint_once() -> None:
    found = statistics(paused())
    assert found["whole_time"]["per_sec"] == pytest.approx(3200 / 150)
    assert found["training_only"]["per_sec"] == pytest.approx(32.0)
    assert found["training_only"]["left_out_ns"]["checkpoint"] == 50 * SECOND
    assert found["windowed"]["per_sec"] == pytest.approx(3200 / 150)
    assert statistics(paused(), window=20)["windowed"]["per_sec"] == pytest.approx(32.0)


def test_warm_up_leaves_out_as_many_samples_as_seconds() -> None:
    record = steady()
    slow = dataclasses.replace(record.marks, time_ns=record.marks.time_ns + 500 * SECOND)
    found = statistics(dataclasses.replace(record, marks=slow), warm_up=1)
    assert found["training_only"]["per_sec"] == pytest.approx(32.0)
    assert found["training_only"]["samples"] == 99 * 32
    assert found["whole_time"]["per_sec"] == pytest.approx(3200 / 600)


def test_the_whole_time_average_begins_at_the_last_reset() -> None:
    record = dataclasses.replace(
        steady(), resets=Resets(time_ns=[40 * SECOND], kind=[0], mark_end=[40], sample_end=[0])
    )
    found = statistics(record)
    assert found["stretches"] == 2
    assert found["whole_time"]["since"] == "reset"
    assert found["whole_time"]["samples"] == 60 * 32
    assert "over 2 stretches" in found["training_only"]["label"]


def test_a_resumed_run_is_not_averaged_over_the_time_between() -> None:
    anchor = 1_700_000_000 * SECOND
    first = dataclasses.replace(steady(), session="a", header=Header(wall_anchor_ns=anchor))
    second = dataclasses.replace(
        steady(), session="b", header=Header(wall_anchor_ns=anchor + 9000 * SECOND)
    )
    record = merge([second, first])
    assert record.marks.time_ns[100] == 9001 * SECOND
    found = statistics(record)
    assert found["whole_time"] | {"label": ""} == found["whole_time"] | {
        "label": "",
        "since": "resume",
    }
    assert found["training_only"]["per_sec"] == pytest.approx(32.0)
    series = analyze(record).series[0]
    assert series.average.tolist() == pytest.approx([32.0] * 200)
    assert series.time_ns[0] == anchor + SECOND


def test_step_times_are_exact_and_the_histogram_holds_all_steps() -> None:
    found = statistics(paused())["step_time"]
    assert (found["p50_ns"], found["max_ns"], found["max_step"]) == (SECOND, 51 * SECOND, 51)
    assert sum(found["histogram"]["count"]) == found["count"] == 99
    assert len(found["histogram"]["edge_ns"]) == len(found["histogram"]["count"]) + 1


def test_steps_of_several_microbatches_are_counted_once() -> None:
    marks = Marks(step=[1, 1, 2, 2, 3, 3], time_ns=np.arange(1, 7) * SECOND, count=[4] * 6)
    found = statistics(Throughput(start_ns=0, marks=marks))
    assert found["step_time"]["p50_ns"] == 2 * SECOND
    assert found["steps_per_sec"] == pytest.approx(0.5)
    assert found["samples_to_date"] == 24


def test_utilisation_time_left_and_per_device_need_what_they_rest_on() -> None:
    bare = statistics(steady())
    assert bare["mfu"] is None
    assert bare["time_left_ns"] is None
    assert bare["whole_time"]["per_sec_per_device"] is None
    full = steady(flops_per_sample=1e12, peak_flops_per_sec=20e12, devices=4, planned_steps=160)
    found = statistics(full)
    assert found["mfu"] == pytest.approx(32e12 / 80e12)
    assert found["time_left_ns"] == 60 * SECOND
    assert found["whole_time"]["per_sec_per_device"] == pytest.approx(8.0)


def test_the_data_wait_share_is_of_the_time_of_the_marks() -> None:
    spans = Spans(
        kind=[0] * 10, start_ns=np.arange(10) * SECOND, end_ns=np.arange(10) * SECOND + SECOND // 2
    )
    record = dataclasses.replace(steady(10), strings=Strings.of(["data"]), spans=spans)
    assert statistics(record)["data_wait_share"] == pytest.approx(0.5)


def test_ranks_of_a_job_are_added_and_the_slowest_is_named() -> None:
    ranks = []
    for rank, stretch in ((0, 1), (1, 2)):
        record = steady(header=Header(job="j", run=f"r{rank}", rank=rank))
        marks = dataclasses.replace(record.marks, time_ns=record.marks.time_ns * stretch)
        ranks.append(dataclasses.replace(record, marks=marks))
    (job,) = analyze(ranks).to_json()["jobs"]
    assert (job["slowest_rank"], job["slowest_run"], job["ranks"]) == (1, "r1", [0, 1])
    assert job["per_sec"]["whole_time"] == pytest.approx(48.0)


def test_the_rates_of_ranks_are_added_by_time_while_all_run() -> None:
    ranks = []
    for rank, (late, batch) in enumerate(((0, 8), (2, 16))):
        header = Header(job="j", run=f"r{rank}", rank=rank, wall_anchor_ns=10**18 + late * SECOND)
        ranks.append(steady(4, batch, header=header))
    (job,) = analyze(ranks).to_json()["jobs"]
    assert job["time_ns"] == [str(10**18 + second * SECOND) for second in (3, 4)]
    assert job["total"] == [3 * 8 + 16, 4 * 8 + 2 * 16]
    assert job["step"] == [1, 2], "what all ranks have reached"
    assert job["local_samples_per_sec"] == pytest.approx([24.0, 24.0])
    assert job["avg_samples_per_sec"] == pytest.approx([24.0, 24.0])


def test_ranks_whose_clocks_share_no_origin_are_not_added_by_time() -> None:
    ranks = [steady(header=Header(job="j", run=f"r{rank}", rank=rank)) for rank in (0, 1)]
    (job,) = analyze(ranks).to_json()["jobs"]
    assert (job["time_ns"], job["total"]) == ([], [])


def test_a_comparison_is_source_minus_the_other_with_the_speed_up() -> None:
    a, b = analyze(steady(batch=64)), analyze(steady(batch=32, name="other"))
    document = compare(a, b).to_json()
    row = next(row for row in document["rows"] if row["key"] == "train/whole_time")
    assert row["delta"] == {"per_sec": pytest.approx(32.0)}
    assert row["speed_up"] == pytest.approx(2.0)
    assert row["state"] == "both"
    assert document["unmatched_share"] == 0.0


def test_a_series_of_one_side_only_is_unmatched() -> None:
    both = analyze([steady(), steady(name="eval")])
    document = compare(both, analyze(steady())).to_json()
    assert {row["state"] for row in document["rows"] if row["key"].startswith("eval/")} == {"added"}
    assert document["unmatched_share"] == 0.5


@pytest.mark.parametrize(
    "bad", [{"smoothing": 2.0}, {"window": 0}, {"points": 1}, {"figures": "guessed"}]
)
def test_options_out_of_range_are_refused(bad: dict[str, object]) -> None:
    with pytest.raises(OptionError):
        ThroughputOptions(**bad)  # type: ignore[arg-type]


def test_a_record_without_marks_answers_without_figures() -> None:
    document = analyze(Throughput()).to_json()["series"][0]
    assert document["step"] == []
    assert document["statistics"]["whole_time"]["per_sec"] is None

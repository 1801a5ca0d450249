"""The lens gives the answers of the trackers, for all questions at once."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stepscope import RateTracker
from stepscope.errors import OptionError
from stepscope.lenses.throughput import ThroughputOptions, analyze
from stepscope.lenses.throughput.rates import smooth
from stepscope.model.throughput import Marks, RateSamples, ResetKind, Resets, Throughput

LOCAL = Path(__file__).resolve().parents[2] / "data" / "throughput"
Event = tuple[str, int, int]


def record_of(events: list[dict[str, Any]], start_ns: int, smoothing: float) -> Throughput:
    """A record of the events of a recorded sequence, with the start as its base."""
    marks: list[tuple[int, int, int]] = []
    samples: list[tuple[int, int, int]] = []
    resets: list[tuple[int, int, int, int, int]] = []
    for event in events:
        time_ns, step = event["t_ns"] - start_ns, event.get("step", -1)
        match event["op"]:
            case "add":
                marks.append((step, time_ns, -1 if event["count"] is None else event["count"]))
            case "query":
                samples.append((step, time_ns, len(marks)))
            case "reset" | "reset_time":
                kind = ResetKind.RESET if event["op"] == "reset" else ResetKind.RESET_TIME
                offset = round(event.get("offset_s", 0) * 1e9)
                resets.append((time_ns, offset, kind, len(marks), len(samples)))
    return Throughput(
        base_ns=start_ns,
        start_ns=0,
        smoothing=smoothing,
        marks=Marks(*_columns(marks, 3)),
        samples=RateSamples(*_columns(samples, 3)),
        resets=Resets(*_columns(resets, 5)),
    )


def _columns(rows: list[tuple[int, ...]], width: int) -> np.ndarray[Any, Any]:
    return np.array(rows, np.int64).reshape(-1, width).T


def check(case: dict[str, Any]) -> None:
    record = record_of(case["events"], case["start_ns"], case["smooth"])
    record.validate()
    series = analyze(record).to_json()["series"][0]
    expected = [want for want in case["expected"] if case["events"][want["i"]]["op"] == "query"]
    local_key = "every_batch_local" if "every_batch_local" in expected[0] else "local"
    tolerance = case["rel_tol"]
    assert series["local_samples_per_sec"] == pytest.approx(
        [w[local_key] for w in expected], rel=tolerance, abs=0
    )
    assert series["avg_samples_per_sec"] == pytest.approx(
        [w["avg"] for w in expected], rel=tolerance, abs=0
    )
    assert series["time_ns"] == [str(want["t_ns"]) for want in expected]
    assert series["step"] == [want["step"] for want in expected]
    if "total" in expected[0]:
        assert series["total"] == [want["total"] for want in expected]


@pytest.mark.parametrize("path", sorted(LOCAL.glob("*.json")), ids=lambda path: path.stem)
def test_small_sequences_are_answered_as_the_reference_trackers_do(path: Path) -> None:
    check(json.loads(path.read_text()))


def test_every_recorded_sequence_is_answered_as_the_reference_trackers_do(shared: Path) -> None:
    cases = sorted((shared / "golden" / "throughput").glob("*.json"))
    assert len(cases) >= 15
    for path in cases:
        check(json.loads(path.read_text()))


def test_asking_per_log_step_afterwards_gives_the_per_log_rates(shared: Path) -> None:
    case = json.loads(
        (shared / "golden" / "throughput" / "g13_every_batch_vs_per_log.json").read_text()
    )
    record = record_of(case["events"], case["start_ns"], case["smooth"])
    logged = [want for want in case["expected"] if "per_log_local" in want]
    assert len(logged) > 5
    every = logged[1]["step"] - logged[0]["step"]
    # The recorded question comes 5 us after its mark; the one chosen afterwards at the mark.
    series = analyze(record, ThroughputOptions(sample_steps=every)).series[0]
    want = {w["step"]: w["per_log_local"] for w in logged}
    found = dict(zip(series.step.tolist(), series.local.tolist(), strict=True))
    assert {step: found[step] for step in want} == pytest.approx(want, rel=1e-4)


events = st.lists(
    st.tuples(
        st.sampled_from(["add", "add", "query", "query", "reset", "reset_time"]),
        st.integers(-2, 5),
        st.integers(0, 1000),
    ),
    max_size=200,
)


@given(events, st.sampled_from([0.0, 0.4, 0.9, 1.0]))
def test_the_lens_and_the_tracker_agree_on_any_sequence(
    given_events: list[Event], smoothing: float
) -> None:
    now = [0]
    tracker = RateTracker(smoothing, lambda: now[0])
    replayed, want = [], []
    for op, moved, count in given_events:
        now[0] += moved * 100_000_000
        replayed.append(
            {"op": op, "t_ns": now[0], "count": count, "step": 1, "offset_s": count / 100}
        )
        match op:
            case "add":
                tracker.add(count)
            case "query":
                want.append((tracker.rate(), tracker.global_rate(), tracker.total_count))
            case "reset":
                replayed[-1]["offset_s"] = 0
                tracker.reset()
            case "reset_time":
                tracker.reset_time(count / 100)
    series = analyze(
        record_of(replayed, 0, smoothing), ThroughputOptions(disturbances=False)
    ).series[0]
    if want:
        assert series.local.tolist() == pytest.approx([w[0] for w in want], rel=1e-12)
        assert series.average.tolist() == pytest.approx([w[1] for w in want], rel=1e-12)
        assert series.total.tolist() == [w[2] for w in want]


@pytest.mark.parametrize("smoothing", [0.0, 0.4, 0.999, 1.0])
@pytest.mark.parametrize("size", [1, 2, 63, 64, 65, 4096, 10_000])
def test_the_blockwise_recursion_is_the_plain_one(size: int, smoothing: float) -> None:
    current = np.random.default_rng(size).random(size) * 1e6
    want = [current[0]]
    for value in current[1:]:
        want.append((1 - smoothing) * value + smoothing * want[-1])
    assert smooth(current, smoothing, None) == pytest.approx(want, rel=1e-12)


def test_without_a_start_the_first_rate_and_the_average_are_unknown() -> None:
    marks = Marks(step=[9950, 10000, 10050], time_ns=[0, 10**9, 2 * 10**9], count=[50, 50, 100])
    series = analyze(Throughput(marks=marks)).to_json()["series"][0]
    assert series["local_samples_per_sec"] == pytest.approx([None, 50.0, 80.0])
    assert series["avg_samples_per_sec"] == [None, None, None]


def test_an_unknown_batch_size_shows_no_rate() -> None:
    marks = Marks(step=[1, 2, 3], time_ns=[10**9, 2 * 10**9, 3 * 10**9], count=[-1, -1, -1])
    series = analyze(Throughput(start_ns=0, marks=marks)).series[0]
    assert np.isnan(series.local).all()
    assert series.figures == "unknown"
    assert series.statistics["whole_time"]["per_sec"] is None
    assert series.statistics["steps_per_sec"] == 1.0


def test_asking_by_time_counts_what_came_before_each_moment() -> None:
    marks = Marks(
        step=[1, 2, 3], time_ns=[400_000_000, 1_000_000_000, 2_500_000_000], count=[10, 10, 10]
    )
    series = analyze(
        Throughput(start_ns=0, marks=marks), ThroughputOptions(sample_seconds=1.0, smoothing=0.0)
    ).series[0]
    assert series.total.tolist() == [20, 20]
    assert series.local.tolist() == [20.0, 0.0]


def test_more_questions_than_can_be_answered_are_refused() -> None:
    marks = Marks(step=[1, 2], time_ns=[0, 10**15], count=[1, 1])
    with pytest.raises(OptionError, match="sample_seconds"):
        analyze(Throughput(start_ns=0, marks=marks), ThroughputOptions(sample_seconds=0.001))


def test_thinning_keeps_first_last_and_every_spike() -> None:
    size = 100_000
    count = np.full(size, 10)
    count[[12_345, 77_777]] = 10_000
    marks = Marks(step=np.arange(size), time_ns=np.arange(1, size + 1) * 10**6, count=count)
    record = Throughput(start_ns=0, marks=marks)
    whole, few = analyze(record).series[0], analyze(record, ThroughputOptions(points=400)).series[0]
    assert len(few.step) <= 400
    assert few.recorded == size
    assert {0, 12_345, 77_777, size - 1} <= set(few.step.tolist())
    assert few.local.max() == whole.local.max()
    assert few.statistics == whole.statistics

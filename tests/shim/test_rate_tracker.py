"""The tracker gives the answers of torch_xla's and Cerebras's trackers."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import stepscope

LOCAL = Path(__file__).resolve().parent.parent / "data" / "throughput"


class Clock:
    """A clock that shows what it is set to."""

    def __init__(self, now: int = 0) -> None:
        self.now = now

    def __call__(self) -> int:
        return self.now


def replay(
    case: dict[str, Any], smoothing: float | None = None
) -> dict[int, tuple[float, float, float, float]]:
    clock = Clock(case["start_ns"])
    tracker = stepscope.RateTracker(case["smooth"] if smoothing is None else smoothing, clock)
    answers = {}
    for index, event in enumerate(case["events"]):
        clock.now = event["t_ns"]
        match event["op"]:
            case "add" if event["count"] is not None:
                tracker.add(event["count"])
            case "query":
                answers[index] = (
                    tracker.rate(),
                    tracker.global_rate(),
                    tracker.total_count,
                    tracker.elapsed_seconds(),
                )
            case "avg":
                answers[index] = (
                    0.0,
                    tracker.global_rate(),
                    tracker.total_count,
                    tracker.elapsed_seconds(),
                )
            case "reset":
                tracker.reset()
            case "reset_time":
                tracker.reset_time(event["offset_s"])
    return answers


def check(case: dict[str, Any]) -> None:
    answers = replay(case)
    assert len(answers) == len(case["expected"])
    for want in case["expected"]:
        local, average, total, elapsed = answers[want["i"]]
        tolerance = case["rel_tol"]
        if "local" in want or "every_batch_local" in want:
            expected = want["local"] if "local" in want else want["every_batch_local"]
            assert local == pytest.approx(expected, rel=tolerance, abs=0)
        assert average == pytest.approx(want["avg"], rel=tolerance, abs=0)
        if "total" in want:
            assert total == want["total"]
            assert elapsed == pytest.approx(want["elapsed_ns"] / 1e9)


@pytest.mark.parametrize("path", sorted(LOCAL.glob("*.json")), ids=lambda path: path.stem)
def test_small_sequences_are_answered_as_the_reference_trackers_do(path: Path) -> None:
    check(json.loads(path.read_text()))


def test_every_recorded_sequence_is_answered_as_the_reference_trackers_do(shared: Path) -> None:
    cases = sorted((shared / "golden" / "throughput").glob("*.json"))
    assert len(cases) >= 15
    for path in cases:
        check(json.loads(path.read_text()))


def test_integer_nanoseconds_stay_exact_near_the_unix_time_of_today(shared: Path) -> None:
    case = json.loads((shared / "golden" / "throughput" / "g14_real_clock_float.json").read_text())
    answers = replay(case)
    for want in case["expected"]:
        assert answers[want["i"]][0] == pytest.approx(want["exact_local"], rel=1e-12)
        assert answers[want["i"]][1] == pytest.approx(want["exact_avg"], rel=1e-12)


def test_an_empty_interval_after_a_reset_becomes_the_previous_rate() -> None:
    clock = Clock()
    tracker = stepscope.RateTracker(0.4, clock)
    tracker.add(10)
    tracker.reset()
    clock.now = 1_000_000_000
    assert tracker.rate() == 0.0
    tracker.add(100)
    clock.now = 2_000_000_000
    assert tracker.rate() == pytest.approx(60.0)


def test_the_average_is_zero_not_negative_before_the_start() -> None:
    clock = Clock(5)
    tracker = stepscope.RateTracker(0.4, clock)
    tracker.add(10)
    clock.now = 1
    assert tracker.global_rate() == 0.0


@pytest.mark.parametrize(("smoothing", "second"), [(0.0, 30.0), (1.0, 10.0)])
def test_smoothing_at_its_ends_is_plain_or_frozen(smoothing: float, second: float) -> None:
    clock = Clock()
    tracker = stepscope.RateTracker(smoothing, clock)
    for count, rate in ((10, 10.0), (30, second)):
        clock.now += 1_000_000_000
        tracker.add(count)
        assert tracker.rate() == rate


def test_smoothing_comes_from_the_argument_its_alias_or_the_environment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("RATE_TRACKER_SMOOTHING", raising=False)
    assert stepscope.RateTracker().smoothing == 0.4
    monkeypatch.setenv("RATE_TRACKER_SMOOTHING", "0.9")
    assert stepscope.RateTracker().smoothing == 0.9
    assert stepscope.RateTracker(smooth_factor=0.2).smoothing == 0.2
    assert stepscope.RateTracker(0.1).smoothing == 0.1


class Formulas:
    """The two formulas written down plainly, in fractions, which do not round."""

    def __init__(self, smoothing: Fraction, now: int) -> None:
        self.smoothing = smoothing
        self.clear(now)

    def clear(self, now: int) -> None:
        self.start = self.last = now
        self.done = self.fresh = 0
        self.previous: Fraction | None = None

    def rate(self, now: int) -> Fraction:
        passed = now - self.last
        if passed <= 0:
            return Fraction(0)
        current = Fraction(self.fresh * 10**9, passed)
        before = current if self.previous is None else self.previous
        self.done, self.fresh, self.last = self.done + self.fresh, 0, now
        self.previous = (1 - self.smoothing) * current + self.smoothing * before
        return self.previous

    def global_rate(self, now: int) -> Fraction:
        passed = now - self.start
        return Fraction((self.done + self.fresh) * 10**9, passed) if passed > 0 else Fraction(0)


# What is done, by how much the clock moves before it, and the samples or the offset in quarters of a second.
WORDS = st.sampled_from(["add", "add", "rate", "rate", "global_rate", "reset", "reset_time"])
STEPS = st.tuples(WORDS, st.integers(-(10**9), 10**11), st.integers(0, 10**6))


@given(
    st.lists(STEPS, max_size=40),
    st.integers(0, 64).map(lambda part: Fraction(part, 64)),
    st.sampled_from([0, 1_700_000_000 * 10**9]),
)
def test_any_sequence_is_answered_as_the_formulas_say(
    steps: list[tuple[str, int, int]], smoothing: Fraction, start: int
) -> None:
    clock = Clock(start)
    tracker, formulas = stepscope.RateTracker(float(smoothing), clock), Formulas(smoothing, start)
    for word, passed, number in steps:
        clock.now += passed
        match word:
            case "add":
                tracker.add(number)
                formulas.fresh += number
            case "rate":
                assert tracker.rate() == pytest.approx(float(formulas.rate(clock.now)), rel=1e-12)
            case "global_rate":
                assert tracker.global_rate() == pytest.approx(
                    float(formulas.global_rate(clock.now)), rel=1e-12
                )
            case "reset":
                tracker.reset()
                formulas.clear(clock.now)
            case "reset_time":
                tracker.reset_time(number / 4)
                formulas.start = formulas.last = clock.now - number * 10**9 // 4
        assert tracker.total_count == formulas.done + formulas.fresh
        assert tracker.elapsed_seconds() == pytest.approx(
            (clock.now - formulas.start) / 1e9, abs=1e-9
        )

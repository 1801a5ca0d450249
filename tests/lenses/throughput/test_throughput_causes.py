"""Planted causes are found with their share, and runs without one are given none: a small part of the benchmark."""

from __future__ import annotations

import numpy as np
import pytest
from planted_series import FALSE, KINDS, autoregressive, found_share, plant

from stepscope.lenses.throughput import analyze
from stepscope.lenses.throughput.causes import beat, change, slow_steps

NOISES = [autoregressive(amount, alike, 0.004) for amount in (0.01, 0.04) for alike in (0.0, 0.7)]
SERIES = 20


@pytest.mark.parametrize("cause", [cause for cause in KINDS if cause != "nothing"])
def test_a_planted_cause_that_costs_a_tenth_is_found_with_its_share(cause: str) -> None:
    random = np.random.default_rng(sum(map(ord, cause)))
    found = 0
    for number in range(SERIES):
        cost = float(random.uniform(0.1, 0.4))
        planted = plant(cause, random, NOISES[number % len(NOISES)], cost)
        (series,) = analyze(planted.record).series
        if not {note.kind for note in series.annotations} & set(planted.kinds):
            continue
        found += 1
        training = series.statistics["training_only"]
        whole_ns = training["duration_ns"] + sum(training["left_out_ns"].values())
        if planted.share:
            share = found_share(planted, series.annotations, training["left_out_ns"], whole_ns)
            assert share == pytest.approx(planted.share, abs=0.07)
    assert found >= 0.95 * SERIES


def test_runs_without_a_cause_are_given_none() -> None:
    random = np.random.default_rng(3)
    false = 0
    for number in range(100):
        planted = plant("nothing", random, NOISES[number % len(NOISES)], 0.0)
        (series,) = analyze(planted.record).series
        false += bool({note.kind for note in series.annotations} & set(FALSE))
    assert false <= 1


@pytest.mark.parametrize("every", [2, 7, 10, 50])
def test_the_beat_of_slow_steps_is_their_distance(every: int) -> None:
    times = np.full(600, 2e6)
    times[every - 1 :: every] = 17e6
    found = slow_steps(times, np.ones(600, np.int64), np.arange(1, 601))
    assert found is not None
    assert (found.every, round(found.slow_ns)) == (every, 17_000_000)
    assert found.extra_ns == pytest.approx(15e6 * (600 // every))


def test_slow_steps_at_random_have_no_beat() -> None:
    random = np.random.default_rng(1)
    taken = np.sort(random.choice(np.arange(1, 1001), 60, replace=False))
    assert beat(taken, np.ones(1000, np.int64), np.arange(1, 1001)) == 0


def test_a_slow_stretch_in_the_middle_is_a_plateau_with_both_ends() -> None:
    times = np.full(600, 1e6)
    times[200:400] = 2e6
    found = change(times, np.ones(600, np.int64))
    assert found is not None
    assert (found.kind, found.low, found.high, found.extra_ns) == ("plateau", 200, 400, 200e6)


def test_a_constant_speed_has_no_change() -> None:
    assert change(np.full(600, 1e6), np.ones(600, np.int64)) is None

"""Comparisons of runs against runs whose truth is known."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from simulated_runs import Loop

from stepscope.statistics import (
    Mean,
    compare_means,
    corrected_alpha,
    holm,
    mean_of_figure,
    ratio_of_sums,
    runs_needed,
)


def side(values: list[float]) -> list[Mean]:
    return [mean_of_figure(value) for value in values]


def measured(loop: Loop, rng: np.random.Generator, count: int, slowdown: float = 0.0) -> list[Mean]:
    return [ratio_of_sums(run) for run in loop.runs(rng, count, slowdown)]


def test_comparison_of_five_runs_is_students_test() -> None:
    logarithms = np.array([0.00, 0.01, 0.03]), np.array([0.05, 0.06, 0.08])
    a, b = (side(np.exp(values).tolist()) for values in logarithms)
    comparison = compare_means(b, a, alpha=0.05)
    # By hand: s^2 = 4.667e-4 / 2 for each side, t(0.975, 4) = 2.7764.
    error = math.sqrt(4.6667e-4 / 2 * (2 / 3))
    assert comparison.difference == pytest.approx(math.expm1(0.05))
    assert comparison.standard_error == pytest.approx(error, rel=1e-4)
    assert comparison.low == pytest.approx(math.expm1(0.05 - 2.77645 * error), rel=1e-4)
    assert comparison.degrees == 4
    assert not comparison.spread_assumed


def test_comparison_of_one_run_a_side_assumes_the_spread() -> None:
    comparison = compare_means(
        [Mean(1.05, 0.0, math.inf, 100, 100.0)], [Mean(1.0, 0.0, math.inf, 100, 100.0)], alpha=0.05
    )
    assert comparison.spread_assumed
    assert comparison.standard_error == pytest.approx(0.02 * math.sqrt(2))
    assert comparison.verdict == "indistinguishable"


def test_comparison_of_runs_too_short_for_an_error_is_unknown() -> None:
    assert compare_means(side([2.0]), side([1.0])).verdict == "unknown"


def test_comparison_with_a_baseline_of_zero_is_absolute() -> None:
    comparison = compare_means(side([5.0, 6.0, 5.5]), side([0.0, 0.0, 0.0]))
    assert not comparison.relative
    assert comparison.difference == pytest.approx(5.5)
    assert comparison.verdict == "higher"


@given(
    st.lists(st.floats(0.5, 2.0), min_size=3, max_size=8),
    st.lists(st.floats(0.5, 2.0), min_size=3, max_size=8),
    st.floats(1e-3, 1e6),
)
def test_comparison_in_another_unit_or_the_other_way_round_is_the_same(
    a: list[float], b: list[float], unit: float
) -> None:
    here = compare_means(side(a), side(b))
    scaled = compare_means(side([unit * value for value in a]), side([unit * value for value in b]))
    back = compare_means(side(b), side(a))
    assert scaled.difference == pytest.approx(here.difference, rel=1e-6, abs=1e-9)
    assert (1.0 + back.difference) * (1.0 + here.difference) == pytest.approx(1.0)
    assert back.p_value == pytest.approx(here.p_value, rel=1e-6)


@pytest.mark.parametrize(("new", "base"), [(1, 1), (1, 5), (5, 5), (5, 20)])
def test_comparison_of_equal_runs_rarely_differs(new: int, base: int) -> None:
    rng = np.random.default_rng(1000 * new + base)
    loop = Loop(steps=200)
    alarms = sum(
        compare_means(measured(loop, rng, new), measured(loop, rng, base)).differs
        for _ in range(300)
    )
    # 1 % of 300 and three standard errors.
    assert alarms <= 3 + 3 * math.sqrt(3)


def test_comparison_of_five_slower_runs_with_twenty_is_sure() -> None:
    rng = np.random.default_rng(8)
    loop = Loop(steps=200)
    sure = 0
    for _ in range(200):
        comparison = compare_means(measured(loop, rng, 5, slowdown=0.03), measured(loop, rng, 20))
        sure += comparison.verdict == "higher"
    assert sure >= 190


def test_holm_against_its_paper_is_equal() -> None:
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert holm([]) == []
    assert corrected_alpha(0.01, 4) == 0.0025


def test_runs_needed_make_the_interval_narrow_enough() -> None:
    needed = runs_needed(0.01, 0.03)
    assert needed is not None
    wide, narrow = (runs_needed(0.02, 0.03), runs_needed(0.005, 0.03))
    assert wide is not None
    assert narrow is not None
    assert narrow <= needed <= wide
    assert runs_needed(10.0, 0.001) is None

"""A verdict is of the figure that it stands beside, with an interval in the figure's unit."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from queue_simulator import Training, record_of

from stepscope.lenses.throughput import analyze
from stepscope.lenses.throughput.result import ThroughputResult
from stepscope.lenses.throughput.significance import significance
from stepscope.model.throughput import Throughput
from stepscope.sources import registry


def run(
    seed: int, step_s: float, pauses: dict[int, float] | None = None, kind: str = ""
) -> ThroughputResult:
    random = np.random.default_rng(seed)
    training = Training(step_s * random.normal(1, 0.02, 1000), queue=1, pauses=pauses or {})
    return analyze(record_of(training, log_every=10, kind=kind))


def test_a_pause_makes_whole_time_rates_differ_and_not_training_only_ones() -> None:
    (found,) = significance(run(1, 0.1, {500: 120.0}, "checkpoint"), run(2, 0.1))
    figures = found["figures"]
    assert figures["training_only"]["verdict"] == "indistinguishable"
    assert figures["whole_time"]["difference"] == pytest.approx(1000 * 32 / 220 - 320, rel=0.02)
    for figure in figures.values():
        assert figure["unit"] == "samples/s"
        assert figure["low"] <= figure["difference"] <= figure["high"]
        zero_inside = figure["low"] <= 0 <= figure["high"]
        assert zero_inside == (figure["verdict"] == "indistinguishable")


def test_a_real_difference_is_significant_in_each_rate() -> None:
    (found,) = significance(run(1, 0.1), run(2, 0.103))
    verdicts = {figure: row["verdict"] for figure, row in found["figures"].items()}
    assert verdicts == {
        "whole_time": "different",
        "windowed": "different",
        "training_only": "different",
    }
    assert "a significant difference" in found["figures"]["whole_time"]["sentence"]


def test_equal_runs_are_rarely_called_different() -> None:
    false = 0
    for seed in range(60):
        (found,) = significance(run(2 * seed, 0.1), run(2 * seed + 1, 0.1))
        false += found["figures"]["training_only"]["verdict"] == "different"
    assert false <= 8


def test_one_process_logged_over_600_and_3000_steps_does_not_differ(shared: Path) -> None:
    results = []
    for name in ("pipe30", "pl_30"):
        (named,) = registry.read(shared / "cases" / "throughput" / f"{name}.log").records
        assert isinstance(named.record, Throughput)
        results.append(analyze(named.record))
    (found,) = significance(*results)
    assert found["figures"]["whole_time"]["sentence"].startswith(
        "GlobalRate: 319.7 against 319.9 samples/s"
    )
    assert {row["verdict"] for row in found["figures"].values()} <= {
        "indistinguishable",
        "too_short",
    }

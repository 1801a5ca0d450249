"""Against a simulator of device, queue and host: blocks are named, and no figure exceeds what is true."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from queue_simulator import SECOND, Training, record_of

from stepscope.lenses.throughput import analyze
from stepscope.lenses.throughput.result import Series
from stepscope.model.throughput import Throughput
from stepscope.sources import registry

STEP_S, INTAKE_S, MILLISECOND = 0.1, 0.0005, 10**6
FALSE = {"stall", "burst", "slow_steps", "drift", "plateau", "warm_up", "fluctuation"}


def series(record: Throughput) -> Series:
    return analyze(record).series[0]


def test_blocks_of_any_size_are_named_from_any_log_interval() -> None:
    random = np.random.default_rng(15)
    named = 0
    for _ in range(250):
        block, log = int(random.integers(1, 201)), int(random.integers(1, 151))
        steps = int(random.integers(4, 3001))
        # Runs end with a whole block: a last one that is shorter is tried in the benchmark.
        training = Training(
            np.full(max(steps // block, 1) * block, STEP_S), block, intake_s=INTAKE_S
        )
        if log > len(training.step_s):
            continue
        record = record_of(training, log_every=log, resolution_ns=MILLISECOND)
        result = series(record)
        what = (block, log, len(training.step_s))
        notes = {note.kind: note for note in result.annotations}
        assert not FALSE & set(notes), (what, list(notes))
        blocks = notes.get("aliasing") or notes.get("blocks")
        if blocks is not None:
            named += 1
            assert (
                blocks.evidence["least_block_steps"] <= block <= blocks.evidence["most_block_steps"]
            ), what
            for average in ("windowed", "training_only"):
                rate = result.statistics[average]["per_sec"]
                assert rate is None or rate <= 320 * 1.01, (what, average, rate)
            continue
        lengths = np.diff(record.marks.time_ns)
        if len(lengths) >= 7 and "unclear" not in notes:
            # Blocks that every log interval holds alike, or one block only, leave nothing to see.
            assert lengths.max() - lengths.min() <= 3 * MILLISECOND, what
    assert named > 100


@pytest.mark.parametrize("log", [1, 7, 10])
@pytest.mark.parametrize("kind", ["checkpoint", ""])
def test_a_pause_costs_what_the_device_lost(log: int, kind: str) -> None:
    random = np.random.default_rng(log)
    for _ in range(10):
        pause_s, queue = float(random.uniform(12, 40)), int(random.integers(100, 250))
        step_s = STEP_S * random.normal(1, 0.01, 1000)
        paused = Training(step_s, queue=queue, intake_s=INTAKE_S, pauses={500: pause_s})
        plain = Training(step_s, queue=queue, intake_s=INTAKE_S)
        lost_s = float(paused.arrivals()[0][-1] - plain.arrivals()[0][-1])
        result = series(record_of(paused, log_every=log, kind=kind))
        (burst,) = [note for note in result.annotations if note.kind == "burst"]
        assert burst.evidence["net_ns"] / SECOND == pytest.approx(lost_s, abs=0.03 * pause_s)
        for average in ("windowed", "training_only"):
            assert result.statistics[average]["per_sec"] <= 320 * 1.01
        if kind:
            left_out = result.statistics["training_only"]["left_out_ns"]["checkpoint"]
            assert left_out / SECOND == pytest.approx(lost_s, abs=0.03 * pause_s)
            assert result.statistics["training_only"]["per_sec"] == pytest.approx(320, rel=0.01)


def shared_log(shared: Path, name: str) -> Series:
    (path,) = list((shared / "cases" / "throughput").glob(f"{name}.log*"))
    (named,) = registry.read(path).records
    assert isinstance(named.record, Throughput)
    return series(named.record)


@pytest.mark.parametrize("name", ["pipe30", "pl_7", "pl_30", "pl_150"])
def test_the_shared_logs_of_a_constant_device_are_blocks_of_100_steps(
    shared: Path, name: str
) -> None:
    result = shared_log(shared, name)
    (note,) = result.annotations
    assert (note.kind, note.evidence["block_steps"], note.evidence["flat_steps"]) == (
        "aliasing",
        100,
        100,
    )
    assert result.statistics["windowed"]["per_sec"] == pytest.approx(320, rel=1e-3)
    assert result.statistics["training_only"]["per_sec"] == pytest.approx(320, rel=1e-4)
    assert result.statistics["whole_time"]["per_sec"] == pytest.approx(320, rel=2e-3)


def test_a_rate_that_stamps_cannot_resolve_is_the_printed_one(shared: Path) -> None:
    result = shared_log(shared, "pipe1")
    assert result.local.min() > 0
    unresolved = np.arange(600) % 100 > 0
    assert result.local[unresolved].tolist() == result.reported_local[unresolved].tolist()
    assert any("594 of 600" in problem for problem in result.problems)
    assert [note.kind for note in result.annotations] == ["aliasing"]


def test_a_pause_without_a_span_is_told_with_its_net_loss(shared: Path) -> None:
    right = json.loads((shared / "cases" / "throughput" / "ckpt.right.json").read_text())
    assert "5.4" in right["what"]
    result = shared_log(shared, "ckpt")
    (note,) = result.annotations
    assert (note.kind, note.step) == ("burst", 310)
    assert note.evidence["net_ns"] / SECOND == pytest.approx(5.4, abs=0.2)
    assert result.statistics["windowed"]["per_sec"] < 320

"""Sequences that the published trackers answered, from the clock to the log directory and back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from shim_records import Clock, scalars

import stepscope

SMALL = Path(__file__).resolve().parent.parent / "data" / "throughput"


def replay(case: dict[str, Any], logdir: Path) -> None:
    clock = Clock()
    clock.now = case["start_ns"]
    with stepscope.Writer(logdir, flush_secs=3600, clock=clock) as writer:
        rate = writer.throughput(smoothing=case["smooth"])
        for event in case["events"]:
            clock.now = event["t_ns"]
            match event["op"]:
                case "add":
                    rate.add(event["count"], step=event["step"])
                case "query":
                    rate.sample(event["step"])
                case "reset":
                    rate.reset()
                case "reset_time":
                    rate.reset_time(event["offset_s"])


def check_replay(path: Path, logdir: Path) -> None:
    case = json.loads(path.read_text())
    replay(case, logdir)
    series = stepscope.open(str(logdir)).throughput().to_json()["series"][0]
    expected = [want for want in case["expected"] if case["events"][want["i"]]["op"] == "query"]
    local = "every_batch_local" if "every_batch_local" in expected[0] else "local"
    tolerance = case["rel_tol"]
    assert series["local_samples_per_sec"] == pytest.approx(
        [w[local] for w in expected], rel=tolerance, abs=0
    )
    assert series["avg_samples_per_sec"] == pytest.approx(
        [w["avg"] for w in expected], rel=tolerance, abs=0
    )
    written = scalars(logdir)["avg_samples_per_sec"].value.tolist()
    assert written == pytest.approx([w["avg"] for w in expected], rel=max(tolerance, 1e-6), abs=0)


@pytest.mark.parametrize("path", sorted(SMALL.glob("*.json")), ids=lambda path: path.stem)
def test_small_sequences_come_out_of_the_log_directory_as_the_trackers_answer(
    path: Path, tmp_path: Path
) -> None:
    check_replay(path, tmp_path)


def test_every_recorded_sequence_comes_out_of_the_log_directory(
    shared: Path, tmp_path: Path
) -> None:
    paths = sorted((shared / "golden" / "throughput").glob("*.json"))
    assert len(paths) >= 15
    for path in paths:
        check_replay(path, tmp_path / path.stem)

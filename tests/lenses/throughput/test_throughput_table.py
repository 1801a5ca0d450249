"""Several runs are one table, and the slowest ranks of a job are named."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest
from queue_simulator import Training, record_of

import stepscope
from stepscope.cli.main import main
from stepscope.lenses.throughput import analyze
from stepscope.lenses.throughput.table import series_rows
from stepscope.model.throughput import Throughput
from stepscope.store.sink import EventFileSink
from stepscope.store.writing import RecordWriter


def record(step_s: float, rank: int = -1) -> Throughput:
    made = record_of(Training(np.full(100, step_s)))
    return dataclasses.replace(
        made, header=dataclasses.replace(made.header, rank=rank, job="job", wall_anchor_ns=10**18)
    )


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    for name, step_s in (("fast", 0.1), ("slow", 0.2)):
        sink = EventFileSink(str(tmp_path / name))
        RecordWriter(sink).write(record(step_s), name="train")
        sink.close()
    return tmp_path


def test_a_log_directory_of_several_runs_is_one_table(
    runs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["throughput", str(runs)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 3
    assert [line.split()[0] for line in lines] == ["run", "fast", "slow"]


def test_several_runs_in_python_are_one_answer_with_a_compact_table(runs: Path) -> None:
    answer = stepscope.open(runs).throughput()
    assert [series.run for series in answer.series] == ["fast", "slow"]
    head, fast, slow = repr(answer).splitlines()
    assert "vs best" in head
    assert fast.split()[:3] == ["fast", "train", "320.0"]
    assert slow.split()[-1] == "50.0%"


def test_rates_are_ranked_among_series_of_one_unit() -> None:
    tokens = dataclasses.replace(record(0.001), unit="tokens", name="tokens")
    rows = series_rows(analyze([record(0.1), tokens]).to_json())
    assert [row["vs_best"] for row in rows] == [1.0, 1.0]


def test_the_eight_slowest_of_many_ranks_are_named() -> None:
    slow = {3: 0.3, 50: 0.29, 77: 0.28, 90: 0.27, 5: 0.26, 6: 0.25, 7: 0.24, 8: 0.23}
    records = []
    for rank in range(100):
        made = record(slow.get(rank, 0.1), rank)
        records.append(
            dataclasses.replace(made, header=dataclasses.replace(made.header, run=f"rank_{rank}"))
        )
    (job,) = analyze(records).jobs
    assert [place["rank"] for place in job["slowest_ranks"]] == list(slow)
    assert job["slowest_ranks"][0] == {"rank": 3, "run": "rank_3", "p50_ns": 300_000_000}


def test_many_samples_of_many_ranks_are_added_up_at_one_ranks_times() -> None:
    records = [record_of(Training(np.full(6000, 0.1 + rank * 1e-6))) for rank in range(10)]
    ranked = []
    for rank, made in enumerate(records):
        header = dataclasses.replace(
            made.header, rank=rank, run=str(rank), job="job", wall_anchor_ns=10**18
        )
        ranked.append(dataclasses.replace(made, header=header))
    (job,) = analyze(ranked).jobs
    assert len(job["time_ns"]) <= 6000
    assert job["avg_samples_per_sec"][-1] == pytest.approx(3200, rel=1e-3)

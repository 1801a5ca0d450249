"""Goodput against jobs whose parts are planned second by second."""

from __future__ import annotations

import json
import random
import time

import numpy as np
import pytest

import stepscope
from stepscope.cli.main import main
from stepscope.lenses.throughput.goodput import goodput
from stepscope.model.columns import Header, Strings
from stepscope.model.throughput import Marks, Spans, Throughput

ANCHOR_NS = 1_700_000_000_000_000_000


def process(rank, start_ns, first_step, steps, step_ns, start_up_ns, checkpoint_ns=0):
    first = start_up_ns
    times = first + step_ns * np.arange(steps, dtype=np.int64)
    spans = Spans()
    if checkpoint_ns:
        times[steps // 2 :] += checkpoint_ns
        begin = int(times[steps // 2 - 1])
        spans = Spans(
            kind=np.array([0], np.int32),
            start_ns=np.array([begin]),
            end_ns=np.array([begin + checkpoint_ns]),
            open=np.zeros(1, np.int8),
        )
    return Throughput(
        header=Header(job="j", rank=rank, wall_anchor_ns=ANCHOR_NS + start_ns),
        start_ns=0,
        strings=Strings.of(["checkpoint"]),
        marks=Marks(
            step=first_step + np.arange(steps, dtype=np.int64),
            time_ns=times,
            count=np.ones(steps, np.int64),
        ),
        spans=spans,
    )


def scenario(seed):
    """Records of a random job and the truth of its parts."""
    rng = random.Random(seed)
    ranks, restarts = rng.randint(1, 64), rng.randint(0, 20)
    truth = dict.fromkeys(("training", "checkpoint", "start_up", "lost_work", "downtime"), 0)
    records, now, first_step, lost_steps = [], 0, 0, 0
    for attempt in range(restarts + 1):
        steps, step_ns = rng.randint(4, 30), rng.randint(10, 10**9)
        start_up_ns, save_ns = rng.randint(1, 10**10), rng.randint(1, 5 * step_ns)
        present = [rank for rank in range(ranks) if rank == 0 or rng.random() < 0.9]
        for rank in present:
            records.append(process(rank, now, first_step, steps, step_ns, start_up_ns, save_ns))
        redone = rng.randint(0, steps - steps // 2 - 1) if attempt < restarts else 0
        truth["start_up"] += start_up_ns
        truth["checkpoint"] += save_ns
        truth["training"] += (steps - 1 - redone) * step_ns
        truth["lost_work"] += redone * step_ns
        lost_steps += redone
        now += start_up_ns + (steps - 1) * step_ns + save_ns
        first_step += steps - redone
        if attempt < restarts:
            down_ns = rng.randint(1, 10**11)
            truth["downtime"] += down_ns
            now += down_ns
    rng.shuffle(records)
    return records, truth, now, lost_steps, restarts


@pytest.mark.parametrize("seed", range(12))
def test_random_job_parts_equal_truth_to_the_nanosecond(seed):
    records, truth, wall_ns, lost_steps, restarts = scenario(seed)
    (document,) = goodput(records)
    parts = document["parts_ns"]
    assert sum(parts.values()) == document["wall_ns"] == wall_ns
    assert {part: parts[part] for part in truth} == truth
    assert document["lost_steps"] == lost_steps
    assert len(document["attempts"]) == restarts + 1
    assert (
        sum(sum(a["parts_ns"].values()) for a in document["attempts"])
        == wall_ns - truth["downtime"]
    )


def test_record_without_wall_clock_is_listed_as_unplaced():
    (document,) = goodput([Throughput(name="lost")])
    assert document["unplaced"] == ["lost"]
    assert document["wall_ns"] == 0


def test_long_step_counts_its_excess_as_stall():
    record = process(0, 0, 0, 20, 100, 50)
    record.marks.time_ns[10:] += 2000
    (document,) = goodput([record])
    assert document["parts_ns"]["stall"] == 2000
    assert document["parts_ns"]["training"] == 1900


def test_clock_step_back_keeps_parts_adding_up():
    record = process(0, 0, 0, 20, 100, 50)
    record.marks.time_ns[10:] -= 700
    (document,) = goodput([record])
    assert sum(document["parts_ns"].values()) == document["wall_ns"]


def test_written_job_with_restart_reads_the_same_in_python_and_command(tmp_path, capsys):
    for attempt in range(2):
        with stepscope.Writer(str(tmp_path), job="j", rank=0, world_size=1) as writer:
            rate = writer.throughput("train", unit="samples", log_every=2)
            for step in range(6):
                time.sleep(0.002)
                rate.add(4, step=3 * attempt + step)
        time.sleep(0.02)
    (document,) = stepscope.open(str(tmp_path)).goodput()
    assert len(document["attempts"]) == 2
    assert document["lost_steps"] == 3
    assert document["parts_ns"]["downtime"] >= 20_000_000
    assert sum(document["parts_ns"].values()) == document["wall_ns"]
    assert main(["goodput", str(tmp_path), "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out) == [document]
    assert main(["goodput", str(tmp_path)]) == 0
    assert "downtime" in capsys.readouterr().out

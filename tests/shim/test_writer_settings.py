"""What a writer and its series are told before the loop starts."""

from __future__ import annotations

import signal
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from shim_records import stored

import stepscope
from stepscope.errors import OptionError
from stepscope.store.local import LocalStore


@pytest.mark.parametrize(
    "bad",
    [
        {"flush_secs": 0},
        {"flush_secs": float("nan")},
        {"flush_secs": 1e300},
        {"flush_secs": "2"},
        {"rank": 1.5},
        {"rank": 2**70},
        {"world_size": -1},
        {"job": 7},
        {"clock": time.time},
    ],
)
def test_arguments_out_of_range_are_refused_before_the_loop(
    tmp_path: Path, bad: dict[str, Any]
) -> None:
    with pytest.raises(OptionError, match=next(iter(bad))):
        stepscope.Writer(tmp_path, **bad)
    assert list(tmp_path.iterdir()) == []


def test_a_rank_in_the_environment_that_is_none_is_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RANK", "9" * 30)
    with stepscope.Writer(tmp_path) as writer:
        writer.throughput().add(1)
    assert writer.failures == 0
    assert stored(tmp_path).header.rank == -1


def test_a_smoothing_in_the_environment_that_is_none_is_said(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("RATE_TRACKER_SMOOTHING", "much")
    with pytest.raises(OptionError, match="RATE_TRACKER_SMOOTHING is 'much'"):
        stepscope.RateTracker()


@pytest.mark.parametrize(
    "bad",
    [
        {"smoothing": 1.5},
        {"smoothing": "x"},
        {"log_every": 0},
        {"print_every": 2.5},
        {"name": 7},
        {"unit": None},
        {"measured_at": b"here"},
        {"batch_size": -1},
        {"devices": "8"},
        {"planned_steps": 2**70},
        {"flops_per_sample": float("nan")},
        {"peak_flops_per_sec": float("inf")},
    ],
)
def test_settings_out_of_range_are_refused_before_the_loop(
    tmp_path: Path, bad: dict[str, Any]
) -> None:
    with stepscope.Writer(tmp_path) as writer, pytest.raises(OptionError, match=next(iter(bad))):
        writer.throughput(**bad)


def test_settings_of_other_types_are_taken_as_what_they_mean(tmp_path: Path) -> None:
    with stepscope.Writer(tmp_path) as writer:
        rate = writer.throughput(
            log_every=np.int64(2), planned_steps=1e5, batch_size=np.int32(8), smoothing=0
        )
        for _ in range(4):
            rate.add(8)
    record = stored(tmp_path)
    assert (record.log_every, record.planned_steps, record.batch_size) == (2, 100_000, 8)
    assert record.samples.step.tolist() == [2, 4]


def test_rank_and_job_come_from_the_launcher(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in {"RANK": "3", "WORLD_SIZE": "8", "TORCHELASTIC_RUN_ID": "j7"}.items():
        monkeypatch.setenv(name, value)
    with stepscope.Writer(tmp_path) as writer:
        writer.throughput().add(1)
    header = stored(tmp_path).header
    assert (header.rank, header.world_size, header.job) == (3, 8, "j7")


def test_each_rank_of_several_is_a_run_of_its_own(tmp_path: Path) -> None:
    for rank in (0, 1):
        with stepscope.Writer(tmp_path, rank=rank, world_size=2, job="j") as writer:
            writer.throughput().add(1)
    with stepscope.Writer(tmp_path / "alone", rank=0, world_size=1) as writer:
        writer.throughput().add(1)
    store = LocalStore(logdir=str(tmp_path))
    store.refresh()
    assert sorted(store.runs()) == ["alone", "rank_0", "rank_1"]


def test_sigterm_is_left_alone_unless_asked_for(tmp_path: Path) -> None:
    before = signal.getsignal(signal.SIGTERM)
    stepscope.Writer(tmp_path).close()
    assert signal.getsignal(signal.SIGTERM) is before

"""Runs whose causes are planted with sleeps, logged by a real Writer: the cause comes first, with its share."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import stepscope
from paths import ROOT

SECOND_US = 1_000_000
NEAR = 0.05
FIVE = {
    "b-slow-loader-untimed": ("reading-untimed-input", None),
    "c-slow-loader-timed": ("lost-to-data-wait", 1200 * 0.004),
    "d-stalls": ("lost-to-slow-steps", 120 * 0.015),
    "e-big-checkpoints": ("lost-to-checkpoint", 3 * 1.0),
    "f-getting-slower": ("lost-to-drift", 1200 * 0.004 / 2),
}
"""The first finding of each run, and how many seconds its script sleeps for the cause."""
STALL = {
    "e10x15": 60 * 0.015,
    "e10x40": 60 * 0.040,
    "e30x100": 20 * 0.100,
    "e100x300": 6 * 0.300,
    "e7x40": 85 * 0.040,
}
"""How many seconds the slow steps of each run sleep more than the others."""


FAKE_CLOCK = """
import runpy, sys, threading, time

class Now(threading.local):
    ns = 10**12

now = Now()

def sleep(seconds):
    now.ns += round(seconds * 1e9) + 60_000

def perf_counter_ns():
    now.ns += 500
    return now.ns

time.sleep = sleep
time.perf_counter_ns = perf_counter_ns
runpy.run_path(sys.argv[1], run_name="__main__")
"""
"""Runs a script whose threads each have a clock that moves when they sleep: a busy machine changes nothing."""


def run_case(shared: Path, folder: Path, name: str) -> Path:
    """Runs a script of the shared cases in an empty folder; returns its log directory."""
    paths = [str(ROOT / "tb_plugin"), os.environ.get("PYTHONPATH", "")]
    subprocess.run(
        [sys.executable, "-c", FAKE_CLOCK, str(shared / "cases" / "throughput" / f"{name}.py")],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, paths))},
        check=True,
        timeout=120,
    )
    return folder / name


@pytest.fixture(scope="module")
def five(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return run_case(shared, tmp_path_factory.mktemp("five"), "five")


@pytest.fixture(scope="module")
def stall(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return run_case(shared, tmp_path_factory.mktemp("stall"), "stall")


def assert_share(finding: dict[str, Any], planted_s: float) -> None:
    share = planted_s * SECOND_US / finding["whole"]
    assert finding["saving_share"] == pytest.approx(share, abs=NEAR)


@pytest.mark.parametrize("run", FIVE)
def test_a_planted_cause_comes_first_with_its_share(five: Path, run: str) -> None:
    rule, planted_s = FIVE[run]
    first = stepscope.open(five / run).findings()[0]
    assert first["rule"] == rule
    if planted_s is not None:
        assert_share(first, planted_s)


def test_a_run_without_a_cause_has_no_finding_that_costs_time(five: Path) -> None:
    findings = stepscope.open(five / "a-good").findings()
    assert [finding["rule"] for finding in findings if finding["saving_share"] is not None] == []


@pytest.mark.parametrize("run", STALL)
def test_slow_steps_every_nth_time_come_first_with_their_share(stall: Path, run: str) -> None:
    every = run.removeprefix("e").partition("x")[0]
    first = stepscope.open(stall / run).findings()[0]
    assert first["rule"] == "lost-to-slow-steps"
    assert f"every {every}th" in first["title"]
    assert_share(first, STALL[run])


def test_a_checkpoint_costs_what_queued_results_do_not_catch_up(
    shared: Path, tmp_path: Path
) -> None:
    source = stepscope.open(run_case(shared, tmp_path, "checkpoint_burst"))
    first = source.findings()[0]
    assert first["rule"] == "lost-to-checkpoint"
    assert first["saving_share"] == pytest.approx(5.3 / 55.3, abs=0.005)
    (series,) = source.throughput().to_json()["series"]
    assert series["statistics"]["training_only"]["per_sec"] <= 320 * 1.001

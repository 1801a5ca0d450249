"""Any number of runs side by side."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import stepscope
from stepscope.cli.main import main
from stepscope.errors import NotFound, OptionError


class Clock:
    """A clock that stands still until it is moved."""

    def __init__(self) -> None:
        self.now_ns = 10**15

    def __call__(self) -> int:
        return self.now_ns


def log_run(folder: Path, *, stall_ms: float = 0.0, wait_ms: float = 0.0, steps: int = 600) -> None:
    """Steps of 10 ms, some of which stall or wait for input."""
    rng = np.random.default_rng(len(folder.name))
    clock = Clock()
    with stepscope.Writer(folder, clock=clock) as writer:
        rate = writer.throughput("train", log_every=1)
        for step in range(1, steps + 1):
            slow = step % 10 == 0
            with rate.span("data"):
                clock.now_ns += int(1e5 + slow * wait_ms * 1e6)
            clock.now_ns += int(1e7 * rng.uniform(0.98, 1.02) + slow * stall_ms * 1e6)
            rate.add(32, step=step)


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("compare")
    log_run(folder / "a-good")
    log_run(folder / "b-same")
    log_run(folder / "d-stalls", wait_ms=40.0)
    log_run(folder / "e-stalls", stall_ms=20.0)
    return folder


def test_compare_orders_runs_and_says_which_differ(runs: Path) -> None:
    rows = stepscope.compare([runs]).rows()
    assert {row["run"] for row in rows[:2]} == {"a-good", "b-same"}
    assert [row["run"] for row in rows[2:]] == ["e-stalls", "d-stalls"]
    assert [row["verdict"] for row in rows] == ["baseline", "no difference", "slower", "slower"]
    assert rows[3]["difference"] == pytest.approx(4.0 / 10.1, abs=0.01)
    assert rows[3]["rate_per_sec"] == pytest.approx(32 / rows[3]["step_ns"] * 1e9, rel=1e-9)


def test_compare_says_in_how_many_steps_the_difference_lies_and_why(runs: Path) -> None:
    sentences = stepscope.compare([runs], baseline="a-good").sentences()
    (waits,) = [sentence for sentence in sentences if sentence.startswith("d-stalls")]
    assert "% slower than a-good." in waits
    assert waits.endswith("of it lies in 10 % of the steps, waiting for input.")


def test_compare_aligns_rows_by_path_with_a_column_per_run(runs: Path) -> None:
    row = stepscope.compare([runs]).scopes()[0]
    assert (row["kind"], row["name"], len(row["values_ns"])) == ("phase", "data", 4)
    assert row["spread_ns"] == pytest.approx(4e6, rel=0.01)


def test_compare_of_an_absent_baseline_raises(runs: Path) -> None:
    with pytest.raises(NotFound, match="baseline run not found"):
        stepscope.compare([runs], baseline="x")


def test_compare_of_more_than_fifty_runs_raises(runs: Path) -> None:
    with pytest.raises(OptionError, match="at most 50 runs"):
        stepscope.compare([runs] * 13)


@pytest.mark.parametrize("form", ["table", "json", "csv", "markdown"])
def test_compare_command_names_every_run(
    runs: Path, form: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["compare", str(runs), "--format", form]) == 0
    out = capsys.readouterr().out
    assert all(run in out for run in ("a-good", "b-same", "d-stalls", "e-stalls"))
    if form == "json":
        assert json.loads(out)["runs"][0]["verdict"] == "baseline"

"""The gate on runs that a loop with a made-up clock logged, and on the shared logs."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

import stepscope
from stepscope.cli.main import main
from stepscope.errors import OptionError
from stepscope.session.check import check
from stepscope.session.history import history
from stepscope.session.opening import open as open_source
from stepscope.session.run_figures import RunFigures, figures_of


class Clock:
    """A clock that stands still until it is moved."""

    def __init__(self) -> None:
        self.now_ns = 10**15

    def __call__(self) -> int:
        return self.now_ns


def log_run(
    folder: Path, seed: int, *, step_ms: float = 100.0, wait_ms: float = 5.0, steps: int = 120
) -> None:
    """A run of steps with noise, input waits and a checkpoint; whole runs scatter by 0.5 %."""
    rng = np.random.default_rng(seed)
    clock = Clock()
    luck = 1.0 + 0.005 * rng.standard_normal()
    with stepscope.Writer(folder, clock=clock) as writer:
        rate = writer.throughput("train", log_every=10)
        for step in range(1, steps + 1):
            with rate.span("data"):
                clock.now_ns += int(wait_ms * 1e6 * luck * rng.uniform(0.9, 1.1))
            if step == steps // 2:
                with rate.span("checkpoint"):
                    clock.now_ns += 5 * 10**9
            clock.now_ns += int(step_ms * 1e6 * luck * rng.uniform(0.97, 1.03))
            rate.add(32, step=step)


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("check")
    for number in range(6):
        log_run(folder / "base" / f"r{number}", number)
        log_run(folder / "same" / f"r{number}", 100 + number)
    for number in range(3):
        log_run(folder / "slow" / f"r{number}", 200 + number, step_ms=110.0)
        log_run(folder / "loader" / f"r{number}", 300 + number, wait_ms=15.0)
    return folder


def of(folder: Path) -> list[RunFigures]:
    return figures_of(open_source(folder))


def test_check_of_equal_runs_passes(runs: Path) -> None:
    verdict = check(of(runs / "same"), of(runs / "base"))
    assert (verdict.verdict, verdict.exit_code) == ("pass", 0)


def test_check_of_slower_runs_is_a_regression_of_the_planted_size(runs: Path) -> None:
    verdict = check(of(runs / "slow"), of(runs / "base"), metrics=["step_time", "rate"])
    assert (verdict.verdict, verdict.exit_code) == ("regression", 1)
    step_time = verdict.metrics[0]
    assert step_time.worse_low is not None
    assert step_time.worse_high is not None
    assert step_time.worse_low < 10.0 / 105.0 < step_time.worse_high
    assert [item.verdict for item in verdict.metrics] == ["regression", "regression"]


def test_check_of_a_slow_loader_names_input_wait_first(runs: Path) -> None:
    verdict = check(of(runs / "loader"), of(runs / "base"))
    assert verdict.exit_code == 1
    assert verdict.causes[0].name == "input wait"
    assert verdict.causes[0].sure
    assert verdict.causes[0].share == pytest.approx(1.0, abs=0.15)


def test_check_of_faster_runs_passes(runs: Path) -> None:
    assert check(of(runs / "base"), of(runs / "slow")).verdict == "pass"


def test_check_of_one_run_a_side_cannot_tell_and_says_what_is_missing(runs: Path) -> None:
    verdict = check(of(runs / "same")[:1], of(runs / "base")[:1])
    assert verdict.exit_code == 2
    assert "more runs" in verdict.metrics[0].missing[0]


def test_check_of_an_absent_metric_cannot_tell(runs: Path) -> None:
    verdict = check(of(runs / "same"), of(runs / "base"), metrics=["peak_memory"])
    assert verdict.exit_code == 2
    assert verdict.metrics[0].missing == ("peak memory in the new runs",)


def test_check_of_an_unknown_metric_raises(runs: Path) -> None:
    with pytest.raises(OptionError, match="metric must be known"):
        check(of(runs / "same"), of(runs / "base"), metrics=["speed"])


def test_rate_of_a_run_is_that_of_training_only(runs: Path) -> None:
    source = open_source(runs / "base", run="r0")
    stated = source.throughput().to_json()["series"][0]["statistics"]["training_only"]["per_sec"]
    rate = figures_of(source)[0].metric("rate")
    assert rate is not None
    assert rate.value == pytest.approx(stated, rel=1e-12)


@pytest.mark.parametrize("metric", ["step_time", "rate"])
def test_one_process_logged_over_600_and_3000_steps_does_not_differ(
    shared: Path, metric: str
) -> None:
    folder = shared / "cases" / "throughput"
    verdict = check(of(folder / "pipe30.log"), of(folder / "pl_30.log"), metrics=[metric])
    item = verdict.metrics[0]
    assert item.verdict != "regression"
    assert item.worse == pytest.approx(0.0, abs=1e-4)
    assert item.missing == ("more steps: a run has 6 measured intervals, at least 8 are needed",)


def test_pauses_of_a_minute_count_in_the_rate(tmp_path: Path) -> None:
    for name, seed in (("a", 1), ("b", 2)):
        rng = np.random.default_rng(seed)
        clock = Clock()
        with stepscope.Writer(tmp_path / name, clock=clock) as writer:
            rate = writer.throughput("train", log_every=10)
            for step in range(1, 2001):
                clock.now_ns += int(1e8 * (1.0 + 0.02 * rng.random()))
                if step % 500 == 250:
                    clock.now_ns += 60 * 10**9
                rate.add(32, step=step)
    a, b = of(tmp_path)
    mean = a.metric("rate")
    assert mean is not None
    assert mean.value == pytest.approx(144.8, abs=0.3)
    assert check([a], [b], metrics=["rate"]).verdict != "regression"


def test_history_of_runs_finds_the_planted_change(tmp_path: Path) -> None:
    for number in range(16):
        log_run(tmp_path / f"run{number}", number, step_ms=100.0 if number < 9 else 106.0, steps=40)
    answer = history(of(tmp_path), order="name")
    assert [point.run for point in answer.points] == [f"run{number}" for number in range(16)]
    (change,) = answer.changes
    assert change.low <= 9 <= change.high
    assert change.worse
    assert change.difference_low < 6.0 / 105.0 < change.difference_high


@pytest.mark.parametrize(("new", "code"), [("same", 0), ("slow", 1), ("absent", 2)])
def test_check_command_exits_with_the_verdict(runs: Path, new: str, code: int) -> None:
    assert main(["check", str(runs / new), "--against", str(runs / "base")]) == code


def test_check_command_for_bisect_skips_what_it_cannot_tell(runs: Path) -> None:
    assert main(["check", str(runs / "absent"), "--against", str(runs / "base"), "--bisect"]) == 125


def test_check_command_writes_markdown_json_and_junit(
    runs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = [
        "check",
        str(runs / "slow"),
        "--against",
        str(runs / "base"),
        "--metric",
        "step_time",
        "--metric",
        "rate",
    ]
    assert main([*command, "--format", "markdown", "--report", "https://example.org/r.html"]) == 1
    markdown = capsys.readouterr().out
    assert markdown.startswith("### StepScope: Regression")
    assert "[Report](https://example.org/r.html)" in markdown
    assert len(markdown.splitlines()) <= 60
    main([*command, "--format", "json"])
    assert json.loads(capsys.readouterr().out)["exit_code"] == 1
    main([*command, "--format", "junit"])
    suite = ElementTree.fromstring(capsys.readouterr().out.split("\n", 1)[1])
    assert (suite.get("tests"), suite.get("failures")) == ("2", "2")


def test_baseline_command_keeps_runs_that_check_takes_by_name(
    runs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = ["--baselines", str(tmp_path / "kept")]
    assert main(["baseline", "add", "release-1", str(runs / "base"), *folder]) == 0
    assert main(["baseline", "list", *folder, "--format", "json"]) == 0
    assert main(["check", str(runs / "slow"), "--against", "release-1", *folder]) == 1
    assert main(["check", str(runs / "same"), "--against", "release-1", *folder]) == 0
    assert main(["baseline", "show", "release-1", *folder]) == 0
    assert "6 runs" in capsys.readouterr().out
    assert main(["baseline", "remove", "release-1", *folder]) == 0
    assert main(["baseline", "show", "release-1", *folder]) == 2


@pytest.mark.parametrize("name", ["../up", "", ".hidden", "a/b"])
def test_baseline_name_that_leaves_the_folder_is_refused(
    runs: Path, tmp_path: Path, name: str
) -> None:
    assert main(["baseline", "add", name, str(runs / "base"), "--baselines", str(tmp_path)]) == 2

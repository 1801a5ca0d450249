"""Logs of other tools become throughput series: computed where the log says enough, as stated where it does not."""

from __future__ import annotations

import json
import re
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import stepscope
from stepscope.errors import DamagedSource, StepscopeError
from stepscope.lenses.throughput import ThroughputOptions, analyze
from stepscope.lenses.throughput.result import Series
from stepscope.model.throughput import UNKNOWN_NS, Throughput
from stepscope.shim.settings import SeriesSettings
from stepscope.shim.throughput_log import console_line
from stepscope.sources import registry

LINE = "| Train Device=CSX, Step={}, Loss=7.0, Rate={} samples/sec, GlobalRate={} samples/sec{}\n"


def records(path: Path) -> dict[str, Throughput]:
    named = registry.read(path).records
    for one in named:
        one.record.validate()
    return {one.name: one.record for one in named}  # type: ignore[misc]


def series(record: Throughput, **options: Any) -> Series:
    return analyze(record, ThroughputOptions(**options)).series[0]


def write(tmp_path: Path, text: str, name: str = "run.log") -> Path:
    path = tmp_path / name
    path.write_text(text)
    return path


def test_every_printed_rate_is_kept_as_the_parsed_logs_have_it(shared: Path) -> None:
    paths = sorted((shared / "data" / "throughput" / "cerebras").glob("log_*.txt"))
    assert len(paths) >= 15
    for path in paths:
        assert registry.recognise(path).name == "cerebras_log"
        points = json.loads(path.with_suffix(".json").read_text())["points"]
        found = [
            (step, rate, average)
            for record in records(path).values()
            for step, rate, average in zip(
                record.samples.step.tolist(),
                record.reported.local_samples_per_sec.tolist(),
                record.reported.avg_samples_per_sec.tolist(),
                strict=True,
            )
        ]
        want = [(point["step"], point["rate"], point["global_rate"]) for point in points]
        if points[0]["kind"] == "eval":
            # Evaluation counts batches within one global step.
            found, want = [row[1:] for row in found], [row[1:] for row in want]  # type: ignore[misc]
        assert sorted(found) == sorted(want), path.name


def test_printed_rates_come_out_within_the_error_of_the_formula_check(shared: Path) -> None:
    """The greatest errors are those of the check within a tenth: it fitted two numbers, here only the start is free.

    A batch size with fractions, such as the check's 2047.985, takes up the rounding of single stamps; samples are whole
    here, and a log of four points shows the difference.
    """
    folder = shared / "data" / "throughput" / "cerebras"
    checks = json.loads((folder / "FORMULA_CHECK.json").read_text())
    reproduced = 0
    for check in checks:
        rate, rate_max, average, average_max = map(
            float, re.findall(r"\d\.\d+e[-+]\d+", check["agreement"])
        )
        found = series(records(folder / f"{check['log']}.txt")["train"], figures="computed")
        error = np.abs(found.average / found.reported_average - 1)
        assert error.max() <= (1.1 if len(error) > 4 else 1.4) * average_max, check["log"]
        assert np.median(error) <= 1.5 * average, check["log"]
        if rate < 1e-4:
            reproduced += 1
            error = np.abs(found.local / found.reported_local - 1)
            assert error.max() <= 1.1 * rate_max, check["log"]
            assert np.median(error) <= 1.5 * rate, check["log"]
    assert reproduced >= 9


BATCH_SIZES = {
    "00": 112,
    "02": 1168,
    "03": 99,
    "04": 1024,
    "05": 1024,
    "06": 130,
    "08": 1024,
    "09": 1024,
} | {
    "14": 130,
    "16": 2048,
    "17": 2048,
    "19": 1024,
}


@pytest.mark.parametrize("number", BATCH_SIZES)
def test_the_batch_size_follows_from_the_log(shared: Path, number: str) -> None:
    record = records(shared / "data" / "throughput" / "cerebras" / f"log_{number}.txt")["train"]
    assert record.batch_size == BATCH_SIZES[number]
    assert record.start_ns == 0


@pytest.mark.parametrize("number", ["02", "12", "16", "21"])
def test_a_rate_asked_after_every_batch_is_shown_as_printed(shared: Path, number: str) -> None:
    for record in records(
        shared / "data" / "throughput" / "cerebras" / f"log_{number}.txt"
    ).values():
        assert record.sampling_rule == "batch"
        assert series(record).figures == "reported"


def console(every_batch: bool, first: int = 1, batch: int = 112, drop: int = -1) -> str:
    """A log whose first interval is one step, of a loop in which results arrive in bursts."""
    random, clock = np.random.default_rng(5), Clock()
    tracker, lines = stepscope.RateTracker(0.4, clock), []
    for step in range(1, 801):
        burst = step % 50 > 10
        clock.now += (
            round((0.005 if burst else 0.4) * 1e9 * random.uniform(0.9, 1.1))
            if step > 1
            else 24_000_000
        )
        tracker.add(batch)
        logged = step == first or step % 50 == 0
        if every_batch or logged:
            rate = tracker.rate()
        if logged and step // 50 != drop:
            stamp = datetime.fromtimestamp(1_734_742_561 + clock.now / 1e9, timezone.utc)
            line = LINE.format(step, f"{rate:.2f}", f"{tracker.global_rate():.2f}", "")
            lines.append(f"{stamp:%Y-%m-%d %H:%M:%S},{stamp.microsecond // 1000:03} INFO:   {line}")
    return "".join(lines)


class Clock:
    """A clock that shows what it is set to."""

    now = 0

    def __call__(self) -> int:
        return self.now


@pytest.mark.parametrize(("every_batch", "rule"), [(True, "batch"), (False, "log_step")])
@pytest.mark.parametrize("drop", [-1, 8])
def test_asking_after_every_batch_is_told_though_the_first_step_hides_it(
    tmp_path: Path, every_batch: bool, rule: str, drop: int
) -> None:
    record = records(write(tmp_path, console(every_batch, drop=drop)))["train"]
    assert (record.sampling_rule, record.batch_size) == (rule, 112)
    assert record.reported.local_samples_per_sec[0] == record.reported.avg_samples_per_sec[0]
    assert series(record).figures == ("reported" if every_batch else "computed")


def test_an_excerpt_that_starts_late_gets_no_start(shared: Path) -> None:
    record = records(shared / "data" / "throughput" / "cerebras" / "log_23.txt")["train"]
    assert record.start_ns == UNKNOWN_NS
    found = series(record)
    assert found.figures == "reported"
    assert found.local.tolist() == [397.31, 395.69]
    assert found.statistics["training_only"]["per_sec"] is None


@pytest.mark.parametrize("year", ["2262", "5807", "9999", "9223372036854775807"])
def test_a_stamp_beyond_nanoseconds_is_no_time(tmp_path: Path, year: str) -> None:
    text = "\n".join(
        f"{year}-03-14 04:18:{step:02d},055 INFO:   | Train Device=CSX, Step={step}, Loss=3.4, Rate=2.00 samples/sec, "
        "GlobalRate=2.00 samples/sec"
        for step in range(1, 4)
    )
    record = records(write(tmp_path, text))["train"]
    assert record.samples.step.tolist() == [1, 2, 3]
    assert "no time is printed" in [loss.what for loss in record.header.losses]


def test_lines_without_a_time_are_shown_by_step(tmp_path: Path) -> None:
    record = records(write(tmp_path, "".join(LINE.format(s, 10.0, 10.0, "") for s in (100, 200))))[
        "train"
    ]
    assert record.samples.step.tolist() == [100, 200]
    assert any("no time" in loss.what for loss in record.header.losses)


def test_colours_time_left_and_small_rates_are_read(tmp_path: Path) -> None:
    text = "\x1b[32m2024-12-21 00:56:01,022\x1b[0m INFO:   " + LINE.format(
        1, 0.0123, 0.12, ", LoopTimeRemaining=0:02:50, TimeRemaining>0:02:50"
    )
    record = records(write(tmp_path, text))["train"]
    assert record.reported.local_samples_per_sec.tolist() == [0.0123]
    assert record.header.wall_anchor_ns == 1_734_742_561_022_000_000


def test_devices_are_series_of_their_own_and_the_day_may_wrap(tmp_path: Path) -> None:
    line = "| Training Device=xla:0/{} Epoch=1 Step={} Loss=6.9 Rate=4.6 GlobalRate=4.6 Time={}\n"
    text = "".join(
        line.format(d, s, t) for s, t in ((20, "23:59:50"), (40, "00:00:10")) for d in (0, 1)
    )
    found = records(write(tmp_path, text))
    assert set(found) == {"train xla:0/0", "train xla:0/1"}
    record = found["train xla:0/1"]
    assert np.diff(record.samples.time_ns).tolist() == [20 * 10**9]
    assert (record.header.rank, record.header.wall_anchor_ns) == (1, 0)


def test_the_lines_that_we_print_are_read_back(tmp_path: Path) -> None:
    settings_of_run = SeriesSettings(unit="tokens")
    lines = [
        console_line(settings_of_run, step, rate, rate)
        for step, rate in ((10, 0.00001234), (20, 123.456))
    ]
    record = records(write(tmp_path, "\n".join(lines)))["train"]
    assert record.unit == "tokens"
    assert record.reported.local_samples_per_sec.tolist() == [1.23e-05, 123.46]


def test_checkpoints_are_spans(shared: Path) -> None:
    record = records(shared / "data" / "throughput" / "cerebras" / "log_02.txt")["train"]
    assert {record.strings[kind] for kind in record.spans.kind} == {"checkpoint"}
    assert [round(ns / 1e9) for ns in record.spans.end_ns - record.spans.start_ns] == [181, 179]


def test_a_cut_line_costs_that_line(tmp_path: Path) -> None:
    text = (
        LINE.format(100, 10.0, 10.0, "")
        + LINE.format("", 10.0, "1.2.3", "")
        + LINE.format(300, 10.0, 10.0, "")
    )
    record = records(write(tmp_path, text))["train"]
    assert record.samples.step.tolist() == [100, 300]
    assert record.header.losses[0].count == 1


def test_a_log_of_broken_lines_only_is_damaged(tmp_path: Path) -> None:
    with pytest.raises(DamagedSource, match="line"):
        registry.read(write(tmp_path, LINE.format("x", 1.0, 1.0, "")))


def test_mlperf_blocks_are_counted_and_their_rate_is_as_stated(shared: Path) -> None:
    folder = shared / "data" / "throughput"
    record = records(folder / "mlperf" / "sd_4xH100.mllog.txt")["train"]
    golden = json.loads((shared / "golden" / "throughput" / "g15_real_sd_4xH100.json").read_text())
    found = series(record, disturbances=False)
    assert found.local.tolist() == pytest.approx(
        [want["local"] for want in golden["expected"]], rel=1e-8
    )
    assert found.average.tolist() == pytest.approx(
        [want["avg"] for want in golden["expected"]], rel=1e-8
    )
    blocks = np.diff(found.total, prepend=0) / np.array(
        [stop - start for start, stop, _, _ in _blocks(folder / "mlperf" / "sd_4xH100.json")]
    )
    assert found.reported_local.tolist() == pytest.approx((blocks * 1000).tolist(), rel=5e-5)
    # Block samples over block time, first block included.
    assert found.statistics["training_only"]["per_sec"] == pytest.approx(513.78, abs=0.01)


def _blocks(path: Path) -> list[list[int]]:
    blocks: list[list[int]] = json.loads(path.read_text())["blocks_ms_samples"]
    return blocks


def test_every_mlperf_log_is_recognised_and_tells_of_throughput(shared: Path) -> None:
    for path in sorted((shared / "data" / "throughput" / "mlperf").glob("*.txt")):
        assert registry.recognise(path).name == "mlperf_log"
        assert not np.isnan(series(records(path)["train"]).local).any()


def test_evaluations_between_blocks_are_left_out_of_training(shared: Path) -> None:
    record = records(shared / "data" / "throughput" / "mlperf" / "llama2_eos_n8.mllog.txt")["train"]
    found = series(record).statistics
    assert found["training_only"]["left_out_ns"]["evaluation"] > 40 * 10**9
    assert found["training_only"]["per_sec"] > found["whole_time"]["per_sec"]


def test_a_trainers_state_gives_its_rates_without_a_course(tmp_path: Path) -> None:
    state = {
        "best_metric": None,
        "max_steps": 200,
        "log_history": [
            {"loss": 1.0, "step": 100},
            {"eval_runtime": 2.0, "eval_samples_per_second": 50.0, "step": 100},
            {
                "train_runtime": 0.1,
                "train_samples_per_second": 15261123.0,
                "train_tokens_per_second": 9.0,
                "step": 200,
            },
        ],
    }
    path = write(tmp_path, json.dumps(state), "trainer_state.json")
    found = registry.read(path)
    assert [(one.name, one.record.unit) for one in found.records] == [  # type: ignore[attr-defined]
        ("train", "samples"),
        ("train", "tokens"),
        ("eval", "samples"),
    ]
    train = series(found.records[0].record)  # type: ignore[arg-type]
    assert train.average.tolist() == [15261123.0]
    assert any("resume" in problem for problem in train.problems)


def test_a_state_without_rates_says_what_is_missing(tmp_path: Path) -> None:
    with pytest.raises(DamagedSource, match="samples_per_second"):
        registry.read(
            write(tmp_path, json.dumps({"best_metric": 1, "log_history": [{"loss": 1}]}), "s.json")
        )


def test_lightning_totals_are_counted(tmp_path: Path) -> None:
    text = (
        "epoch,step,train/device/samples_per_sec,train/loss,train/samples,train/time\n"
        "0,10,,0.5,,\n0,10,64.0,,640,10.0\n0,20,32.0,,960,20.0\n"
    )
    record = records(write(tmp_path, text, "metrics.csv"))["train"]
    found = series(record, figures="computed", smoothing=0.0)
    assert found.local.tolist() == [64.0, 32.0]
    assert found.average.tolist() == [64.0, 48.0]
    assert found.reported_local.tolist() == [64.0, 32.0]


def test_a_lightning_table_without_totals_keeps_the_stated_rates(tmp_path: Path) -> None:
    text = "step,train/device/samples_per_sec\n10,64.0\n20,32.0\n"
    found = series(records(write(tmp_path, text, "metrics.csv"))["train"])
    assert (found.figures, found.local.tolist()) == ("reported", [64.0, 32.0])


ODD = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=8),
    st.lists(st.integers(), max_size=2),
    st.sampled_from(
        [10**30, -1, "nan", "1e999", {"throughput": 1.0}, {"throughput": float("nan")}]
    ),
)
KEYS = st.sampled_from(
    ["block_start", "block_stop", "eval_start", "eval_stop", "tracked_stats", "global_batch_size"]
)
TIMES = st.one_of(st.integers(0, 2**41), ODD)
FIELDS = st.dictionaries(
    st.sampled_from(["samples_count", "step", "epoch_num"]), st.one_of(ODD, st.integers(1, 99))
)


def read_or_refuse(path: Path) -> None:
    """Whatever the file holds: records that can be shown, or an error of ours."""
    try:
        found = registry.read(path)
    except StepscopeError:
        return
    for named in found.records:
        named.record.validate()
        analyze(named.record).to_json()  # type: ignore[arg-type]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    st.lists(
        st.fixed_dictionaries({"key": KEYS, "time_ms": TIMES, "value": ODD, "metadata": FIELDS}),
        max_size=12,
    )
)
def test_any_mlperf_line_is_read_or_counted(tmp_path: Path, lines: list[dict[str, Any]]) -> None:
    read_or_refuse(write(tmp_path, "".join(f":::MLLOG {json.dumps(line)}\n" for line in lines)))


NAMES = st.sampled_from(
    [
        "train_samples_per_second",
        "train_runtime",
        "eval_samples_per_second",
        "train_tokens_per_second",
        "step",
        "loss",
    ]
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.lists(st.dictionaries(NAMES, st.one_of(ODD, st.floats(0, 1e6))), max_size=5), ODD)
def test_any_trainer_state_is_read_or_refused(
    tmp_path: Path, history: list[Any], steps: Any
) -> None:
    state = {"best_metric": None, "log_history": history, "max_steps": steps}
    read_or_refuse(write(tmp_path, json.dumps(state), "trainer_state.json"))


CELLS = st.sampled_from(["", "1", "2.5", "nan", "inf", "-1", "x", "1e300", "100"])


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.lists(st.lists(CELLS, min_size=2, max_size=5), max_size=6))
def test_any_table_is_read_or_refused(tmp_path: Path, rows: list[list[str]]) -> None:
    header = "step,train/device/samples_per_sec,train/samples,train/time\n"
    read_or_refuse(
        write(tmp_path, header + "".join(",".join(row) + "\n" for row in rows), "metrics.csv")
    )


PIECES = st.sampled_from(
    [
        "| Train ",
        "| Eval ",
        "Device=CSX, ",
        "Step=100, ",
        "Step=-3, ",
        "Step=9999999999999999999999, ",
        "Rate=1.5 samples/sec, ",
        "Rate=nan, ",
        "GlobalRate=1.5 samples/sec",
        "GlobalRate=0.00",
        "GlobalRate=",
        "2024-12-21 00:56:01,022 ",
        "2024-99-99 00:00:00,000 ",
        " Time=23:59:59",
        " Time=99:99:99",
        "Beginning appliance run",
        "Saving checkpoint at step 5",
        "Saved checkpoint",
        "Effective batch size is 0",
        "\n",
    ]
)


@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=200
)
@given(st.lists(PIECES, max_size=40))
def test_any_console_log_is_read_or_refused(tmp_path: Path, pieces: list[str]) -> None:
    read_or_refuse(write(tmp_path, LINE.format(1, 1.0, 1.0, "") + "".join(pieces)))

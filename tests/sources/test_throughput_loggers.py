"""Logs of training frameworks: counts, stated rates, and what launchers put around lines."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import numpy as np
import pytest

from stepscope.errors import DamagedSource, UnrecognisedSource
from stepscope.lenses.throughput import analyze
from stepscope.lenses.throughput.result import Series
from stepscope.model.throughput import UNKNOWN_NS, ResetKind, Throughput
from stepscope.session.importing import import_file
from stepscope.sources import registry
from stepscope.store.local import LocalStore

SECOND = 10**9


def read(tmp_path: Path, text: str, name: str = "run.log") -> list[Throughput]:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return records(path)


def records(path: Path) -> list[Throughput]:
    named = registry.read(path).records
    for one in named:
        one.record.validate()
        assert isinstance(one.record, Throughput)
    return [one.record for one in named]  # type: ignore[misc]


def series(record: Throughput) -> Series:
    return analyze(record).series[0]


def problems(record: Throughput) -> str:
    return " | ".join(f"{loss.where}: {loss.what}" for loss in record.header.losses)


@pytest.mark.parametrize(
    "case",
    ["block_at_start", "block_per_block", "block_per_block_uneven", "cumulative", "long_preamble"],
)
def test_mlperf_block_counts_give_the_right_answers(shared: Path, case: str) -> None:
    folder = shared / "cases" / "throughput"
    right = json.loads((folder / f"mlperf_{case}.json").read_text())
    (path,) = folder.glob(f"mlperf_{case}.txt*")
    (record,) = records(path)
    result = series(record)
    assert result.statistics["samples_to_date"] == right["total"]
    assert result.average[0] == pytest.approx(right["avg_at_first_block_stop"])
    assert result.average[-1] == pytest.approx(right["avg_samples_per_sec_at_last_block_stop"])
    assert len(result.step) == right["points"]
    assert not result.problems
    if "local_at_first" in right:
        assert result.local[0] == pytest.approx(right["local_at_first"])


def mllog(key: str, time_ms: int, value: object = None, **metadata: object) -> str:
    event = {
        "time_ms": 1_700_000_000_000 + time_ms,
        "key": key,
        "value": value,
        "metadata": metadata,
    }
    return f":::MLLOG {json.dumps(event)}\n"


def blocks(
    sizes: list[int], kind: str, *, evidence: bool = True, batch: int = 10, step_s: float = 0.01
) -> str:
    """An MLPerf log of blocks whose samples_count is of a kind."""
    text = mllog("global_batch_size", 0, batch) + mllog("run_start", 0)
    now, total = 0, 0
    for size in sizes:
        at_start = {"per block": size, "at start": total, "cumulative": total, "stop only": None}[
            kind
        ]
        at_end = {
            "per block": size,
            "at start": total,
            "cumulative": total + size,
            "stop only": total + size,
        }[kind]
        text += mllog(
            "block_start", now, **({} if at_start is None else {"samples_count": at_start})
        )
        now, total = now + round(size * step_s * 1000), total + size
        text += mllog("block_stop", now, samples_count=at_end)
        if evidence:
            text += mllog("eval_start", now, samples_count=total) + mllog(
                "eval_stop", now + 500, samples_count=total
            )
        now += 1000
    return text + (
        mllog("run_stop", now, status="success", samples_count=total) if evidence else ""
    )


@pytest.mark.parametrize("kind", ["per block", "at start", "cumulative", "stop only"])
@pytest.mark.parametrize(
    "sizes", [[1000] * 4, [1000, 1500, 2500], [2500, 1500, 1000], [10, 5000], [640] * 30]
)
def test_mlperf_counts_of_each_kind_are_told_apart(
    tmp_path: Path, kind: str, sizes: list[int]
) -> None:
    (record,) = read(tmp_path, blocks(sizes, kind))
    assert np.cumsum(record.marks.count).tolist() == np.cumsum(sizes).tolist()
    assert not record.header.losses


@pytest.mark.parametrize("kind", ["per block", "cumulative", "stop only"])
def test_mlperf_equal_blocks_need_no_evidence(tmp_path: Path, kind: str) -> None:
    (record,) = read(tmp_path, blocks([1000] * 4, kind, evidence=False))
    assert record.marks.count.tolist() == [1000] * 4


def test_mlperf_last_block_without_a_total_is_left_out_and_said(tmp_path: Path) -> None:
    (record,) = read(tmp_path, blocks([1000] * 4, "at start", evidence=False))
    assert record.marks.count.tolist() == [1000] * 3
    assert "last block" in problems(record)


def test_mlperf_lines_that_contradict_each_other_are_said(tmp_path: Path) -> None:
    text = blocks([1000] * 4, "cumulative").replace('"samples_count": 2000, "status"', '"status"')
    wrong = text.replace(
        mllog("eval_start", 21_000, samples_count=2000),
        mllog("eval_start", 21_000, samples_count=7),
    )
    assert wrong != text
    (record,) = read(tmp_path, wrong)
    assert record.marks.count.tolist() == [1000] * 4
    assert "eval_start says 7 samples, the blocks 2,000" in problems(record)


def test_mlperf_ranks_that_log_the_whole_job_are_taken_once(tmp_path: Path) -> None:
    text = blocks([1000] * 4, "cumulative").splitlines(keepends=True)
    (record,) = read(tmp_path, "".join(f"{rank}: {line}" for line in text for rank in (1, 0, 2)))
    assert record.marks.count.tolist() == [1000] * 4


def test_mlperf_lines_of_2019_are_read(tmp_path: Path) -> None:
    head = '{"value": %s, "metadata": {"lineno": 1%s}}\n'
    text = ":::MLL 1558631910.424 train_samples: " + head % (2000, "")
    text += ":::MLL 1558631910.500 run_start: " + head % ("null", "")
    for block in range(3):
        begin = 1558631911 + 11 * block
        text += f":::MLL {begin}.25 block_start: " + head % (
            "null",
            f', "first_epoch_num": {block}, "epoch_count": 1',
        )
        text += f":::MLL {begin + 10}.25 block_stop: " + head % (
            "null",
            f', "first_epoch_num": {block}',
        )
    (record,) = read(tmp_path, text)
    assert record.marks.count.tolist() == [2000] * 3
    assert record.marks.time_ns.tolist() == [10 * SECOND, 21 * SECOND, 32 * SECOND]


def test_mlperf_lines_of_2018_are_read(tmp_path: Path) -> None:
    start = ":::MLPv0.5.0 resnet 15416334{:02}.500000000 (train.py:12) {}\n"
    text = start.format(0, "input_size: 1000") + start.format(0, "run_start")
    text += "".join(start.format(10 * number, f"train_epoch: {number}") for number in range(4))
    (record,) = read(tmp_path, text + start.format(40, 'run_stop: {"success": true}'))
    assert record.marks.count.tolist() == [1000] * 4
    assert record.marks.time_ns.tolist() == [10 * SECOND, 20 * SECOND, 30 * SECOND, 40 * SECOND]


def test_mlperf_evaluations_that_count_samples_are_enough(tmp_path: Path) -> None:
    text = (
        mllog("global_batch_size", 0, 448)
        + mllog("run_start", 0)
        + mllog("train_samples", 0, 10**8)
    )
    for number in range(1, 4):
        text += mllog("eval_start", 10_000 * number, epoch_num=448 * 100 * number)
    (record,) = read(tmp_path, text)
    assert record.marks.count.tolist() == [44_800] * 3


@pytest.mark.parametrize("pack", [False, True])
@pytest.mark.parametrize("lines", [0, 3000, 60_000])
def test_the_first_known_line_may_come_after_any_preamble(
    tmp_path: Path, lines: int, pack: bool
) -> None:
    preamble = "".join(f"step {number:05} of the installer: ok\n" for number in range(lines))
    data = (preamble + megatron_lines()).encode()
    path = tmp_path / ("run.log.gz" if pack else "run.log")
    path.write_bytes(gzip.compress(data) if pack else data)
    (record,) = records(path)
    assert len(record.marks) == 10


def test_a_text_without_known_lines_is_still_refused(tmp_path: Path) -> None:
    with pytest.raises(UnrecognisedSource):
        read(
            tmp_path, "".join(f"step {number:05} of the installer: ok\n" for number in range(5000))
        )


def megatron_lines(
    *,
    first: int = 1,
    lines: int = 10,
    every: int = 10,
    batch: int = 64,
    ms: float = 3000.0,
    prefix: str = " {stamp}",
) -> str:
    text = ""
    for number in range(first, first + lines):
        step = number * every
        second = round(number * every * ms / 1000)
        stamp = f"[2026-11-01 {10 + second // 3600:02}:{second // 60 % 60:02}:{second % 60:02}]"
        text += (
            prefix.format(stamp=stamp)
            + f" iteration {step:8}/    2000 | consumed samples: {step * batch:12} |"
        )
        text += f" elapsed time per iteration (ms): {ms:.1f} | throughput per GPU (TFLOP/s/GPU): 180.0 |"
        text += f" learning rate: 1.0E-04 | global batch size: {batch:5} | lm loss: 3.0E+00 |\n"
    return text


def test_the_shared_megatron_log_gives_its_rate(shared: Path) -> None:
    (record,) = records(shared / "cases" / "throughput" / "megatron.log")
    result = series(record)
    assert result.figures == "computed"
    assert result.statistics["whole_time"]["per_sec"] == pytest.approx(64 / 3)
    assert result.statistics["samples_to_date"] == 6400
    assert record.reported.tflops_per_device.tolist() == [180.0] * 10
    assert (record.batch_size, record.planned_steps, result.annotations) == (64, 200, ())


@pytest.mark.parametrize(
    "prefix",
    [" {stamp}", "7: {stamp}", "[default7]:{stamp}", "", "worker-3: 0: {stamp}", "\x1b[32m{stamp}"],
)
@pytest.mark.parametrize(
    ("every", "batch", "ms"), [(1, 8, 1000.0), (10, 64, 3000.0), (100, 1536, 12_345.6)]
)
def test_megatron_lines_are_read_behind_any_prefix(
    tmp_path: Path, prefix: str, every: int, batch: int, ms: float
) -> None:
    (record,) = read(tmp_path, megatron_lines(every=every, batch=batch, ms=ms, prefix=prefix))
    assert series(record).statistics["whole_time"]["per_sec"] == pytest.approx(
        batch / (ms / 1000), rel=1e-3
    )


def test_megatron_pauses_between_lines_are_named(tmp_path: Path) -> None:
    early = megatron_lines(lines=5)
    late = megatron_lines(first=6, lines=5).replace("2026-11-01 10:", "2026-11-01 11:")
    (record,) = read(tmp_path, early + "  saving checkpoint at iteration      50 to /ckpt\n" + late)
    (note,) = series(record).annotations
    assert (note.kind, note.evidence["duration_ns"]) == ("checkpoint", 3600 * SECOND)
    assert series(record).statistics["training_only"]["per_sec"] == pytest.approx(64 / 3)


def test_megatron_resumes_are_sessions(tmp_path: Path) -> None:
    text = megatron_lines(lines=6) + megatron_lines(first=4, lines=3).replace(
        "2026-11-01 10:", "2026-11-01 12:"
    )
    (record,) = read(tmp_path, text)
    assert record.resets.kind.tolist() == [ResetKind.SESSION]
    assert record.marks.count.tolist() == [640] * 9
    assert series(record).statistics["training_only"]["per_sec"] == pytest.approx(64 / 3)


def test_megatron_deepspeed_rates_are_checked_against_its_counts(tmp_path: Path) -> None:
    text = megatron_lines()
    stated = text.replace(
        " lm loss: 3.0E+00 |", " lm loss: 3.0E+00 | samples per second: 42.667 | TFLOPs: 69.85 |"
    )
    (record,) = read(tmp_path, stated)
    assert record.reported.local_samples_per_sec.tolist() == [42.667] * 10
    assert "42.667 samples/s is stated, 21.3333 is counted" in problems(record)


def test_megatron_progress_gives_tokens_at_checkpoints(tmp_path: Path) -> None:
    entry = "2026-11-0{} 10:00:00\tJob ID: 77\t# GPUs: 8\t{}\n"
    saved = (
        "Saved checkpoint\tIteration: {}\tJob throughput: 180.5 TFLOP/s/GPU\tCumulative throughput: 170.0 TFLOP/s/GPU\t"
        "Floating-point operations: 1.00e+20\tTokens (in billions): {}"
    )
    text = entry.format(1, "Starting job") + entry.format(2, saved.format(1000, "8.64"))
    text += entry.format(3, saved.format(2000, "17.28")) + entry.format(4, "Starting job")
    text += entry.format(5, saved.format(3000, "25.92"))
    (record,) = read(tmp_path, text, "progress.txt")
    assert record.marks.count.tolist() == [8_640_000_000] * 3
    assert (record.unit, record.devices, record.header.job) == ("tokens", 8, "77")
    assert record.resets.kind.tolist() == [ResetKind.SESSION]
    assert series(record).statistics["training_only"]["per_sec"] == pytest.approx(100_000)


TITAN = "[titan] 2026-11-01 10:{:02}:{:02},000 - root - INFO - {}\n"
COLOURED = (
    "\x1b[31mstep: {step:2}  \x1b[32mloss:  3.0000  \x1b[38;2;180;60;0mgrad_norm:  1.0000  \x1b[33mmemory: 40.00GiB"
    "(50.00%)  \x1b[34mtps: {tps:,}  \x1b[36mtflops: 250.00  \x1b[35mmfu: 25.28%\x1b[39m"
)


def titan_lines(prefix: str = "", tps: int = 5461) -> str:
    lines = [
        TITAN.format(5 * n // 10, 30 * n % 60, COLOURED.format(step=10 * n, tps=tps))
        for n in range(1, 11)
    ]
    return "".join(prefix + line for line in lines)


def test_the_shared_torchtitan_log_is_shown_as_stated(shared: Path) -> None:
    (record,) = records(shared / "cases" / "throughput" / "torchtitan.log")
    result = series(record)
    assert (result.figures, result.unit) == ("reported", "tokens")
    assert result.local.tolist() == [5461.0] * 10
    assert record.reported.mfu.tolist() == pytest.approx([0.2528] * 10)
    assert record.reported.tflops_per_device.tolist() == [250.0] * 10
    assert result.statistics["windowed"]["per_sec_per_device"] == pytest.approx(5461)


@pytest.mark.parametrize("prefix", ["", "[rank0]:", "0: ", "\x1b[0m"])
def test_torchtitan_colours_and_prefixes_do_not_matter(tmp_path: Path, prefix: str) -> None:
    (record,) = read(tmp_path, titan_lines(prefix))
    assert record.reported.local_samples_per_sec.tolist() == [5461.0] * 10


def test_torchtitan_ranks_of_one_file_are_series(tmp_path: Path) -> None:
    one, two = read(tmp_path, titan_lines("[rank0]:") + titan_lines("[rank1]:", 6000))
    assert (one.header.rank, two.header.rank) == (0, 1)
    assert two.reported.local_samples_per_sec.tolist() == [6000.0] * 10


def test_torchtitan_tokens_are_counted_where_the_job_is_printed(tmp_path: Path) -> None:
    head = TITAN.format(0, 0, "Building 1-D device mesh with ['dp_shard'], [8]")
    settings = "Training starts at step 1, with local batch size 8, global batch size 64, sequence length 2048"
    head += TITAN.format(0, 0, settings + ", total steps 1000 (warmup 200)")
    (record,) = read(tmp_path, head + titan_lines())
    assert record.marks.count.tolist() == [64 * 2048 * 10] * 10
    assert (record.devices, record.planned_steps) == (8, 1000)
    assert record.reported.local_samples_per_sec[0] == 8 * 5461
    assert not record.header.losses


def test_the_shared_maxtext_log_says_what_contradicts_its_counts(shared: Path) -> None:
    (record,) = records(shared / "cases" / "throughput" / "maxtext.log")
    result = series(record)
    assert (record.unit, record.devices, record.batch_size) == ("tokens", 8, 65_536)
    assert result.statistics["whole_time"]["samples"] == 30 * 65_536
    assert result.statistics["step_time"]["p50_ns"] == 3 * SECOND
    assert "2,730.67 tokens/s per device is stated, 182.45 is counted" in problems(record)


@pytest.mark.parametrize(
    "prefix", ["", "0: ", "I0501 10:00:00.123456 140 metric_logger.py:182] ", "[rank1]:"]
)
def test_maxtext_lines_are_read_behind_any_prefix(tmp_path: Path, prefix: str) -> None:
    line = "completed step: {}, seconds: 2.000, TFLOP/s/device: 180.0, Tokens/s/device: 4096.0, total_weights: 32768\n"
    (record,) = read(tmp_path, "".join(prefix + line.format(step) for step in range(20)))
    assert record.devices == 4
    assert series(record).statistics["whole_time"]["per_sec"] == pytest.approx(16_384)


def test_maxtext_hosts_that_print_the_whole_job_are_taken_once(tmp_path: Path) -> None:
    line = (
        "{}: completed step: {}, seconds: 2.000, TFLOP/s/device: 1.0, "
        "Tokens/s/device: 4096.000, total_weights: 32768\n"
    )
    (record,) = read(
        tmp_path, "".join(line.format(host, step) for step in range(9) for host in (0, 1))
    )
    assert series(record).statistics["whole_time"]["per_sec"] == pytest.approx(16_384)
    assert "lowest rank" in problems(record)


def test_the_shared_deepspeed_log_gives_its_batch_size(shared: Path) -> None:
    (record,) = records(shared / "cases" / "throughput" / "deepspeed.log")
    result = series(record)
    assert record.batch_size == 64
    assert result.local.tolist() == [21.30] * 10
    assert result.average.tolist() == [21.33] * 10
    assert result.statistics["windowed"]["per_sec"] == pytest.approx(64 / 3)


BOTH_RATES = "RunningAvgSamplesPerSec=21.333, CurrSamplesPerSec=21.333, MemAllocated=4GB"
DEEPSPEED = {
    "0.12": "[timer.py:260:stop] epoch=0/micro_step={micro}/global_step={step}, " + BOTH_RATES,
    "0.7": "[timer.py:198:stop] 0/{step}, " + BOTH_RATES,
    "0.3": "[timer.py:157:stop] 0/{step}, SamplesPerSec=21.333",
    "pipeline": "[engine.py:9] steps: {step} loss: 1.2 iter time (s): 3.000 samples/sec: 21.333",
}


@pytest.mark.parametrize("style", DEEPSPEED)
def test_deepspeed_timers_of_all_versions_are_read(tmp_path: Path, style: str) -> None:
    text = ""
    for number in range(1, 9):
        stamp = f"2026-11-01 10:{number // 2:02}:{30 * number % 60:02}"
        text += (
            f"[{stamp},000] [INFO] "
            + DEEPSPEED[style].format(step=10 * number, micro=40 * number)
            + "\n"
        )
    (record,) = read(tmp_path, text)
    assert record.samples.step.tolist() == list(range(10, 81, 10))
    assert record.reported.local_samples_per_sec.tolist() == [21.333] * 8
    assert record.batch_size == 64


def llama_entry(step: int, elapsed: str, tokens: int | None, throughput: float = 0.0) -> str:
    entry = {
        "current_steps": step,
        "total_steps": 100,
        "loss": 1.0,
        "percentage": step,
        "elapsed_time": elapsed,
    }
    if tokens is not None:
        entry |= {"throughput": throughput, "total_tokens": tokens}
    return json.dumps(entry | {"remaining_time": "0:10:00"}) + "\n"


def test_llamafactory_tokens_are_counted(tmp_path: Path) -> None:
    text = "".join(
        llama_entry(10 * n, f"0:00:{10 * n:02}", 40_960 * n, 4096.0) for n in range(1, 6)
    )
    text += (
        json.dumps(
            {"current_steps": 50, "total_steps": 100, "eval_loss": 1.0, "elapsed_time": "0:00:59"}
        )
        + "\n"
    )
    (record,) = read(tmp_path, text, "trainer_log.jsonl")
    result = series(record)
    assert (record.unit, result.statistics["whole_time"]["per_sec"]) == ("tokens", 4096.0)
    assert record.planned_steps == 100
    assert not record.header.losses


def test_llamafactory_resume_does_not_count_earlier_tokens_again(tmp_path: Path) -> None:
    text = "".join(
        llama_entry(10 * n, f"0:00:{10 * n:02}", 40_960 * n, 4096.0) for n in range(1, 4)
    )
    text += "".join(
        llama_entry(10 * n, f"0:00:{10 * (n - 3):02}", 40_960 * n, 9999.0) for n in range(4, 6)
    )
    (record,) = read(tmp_path, text, "trainer_log.jsonl")
    assert record.resets.kind.tolist() == [ResetKind.SESSION]
    assert series(record).statistics["training_only"]["per_sec"] == 4096.0


def test_llamafactory_without_tokens_counts_steps(tmp_path: Path) -> None:
    text = "".join(llama_entry(10 * n, f"1 day, 0:00:{10 * n:02}", None) for n in range(1, 4))
    (record,) = read(tmp_path, text, "trainer_log.jsonl")
    assert (record.unit, record.marks.count.tolist()) == ("steps", [10, 10, 10])


KERAS_3 = (
    "Epoch 1/2\n\r\x1b[1m 1/32\x1b[0m \x1b[37m━━━\x1b[0m \x1b[1m9s\x1b[0m 300ms/step - loss: 2.0"
)
KERAS_3 += "\r\x1b[1m32/32\x1b[0m \x1b[32m━━━━\x1b[0m\x1b[37m\x1b[0m \x1b[1m4s\x1b[0m 125ms/step - loss: 1.0\n"
KERAS_3 += (
    "Epoch 2/2\n\r\x1b[1m32/32\x1b[0m \x1b[32m━━━━\x1b[0m \x1b[1m4s\x1b[0m 125ms/step - loss: 1.0\n"
)
KERAS_2 = "Epoch 1/2\n 1/32 [>...........] - ETA: 9s - loss: 2.0\b\b\b\b32/32 [==========] - 4s 125ms/step - loss: 1\n"
KERAS_2 += "Epoch 2/2\n32/32 [==========] - 4s 125ms/step - loss: 1.0 - val_loss: 2.0\n10/10 [=====] - 0s 2ms/step\n"
PLAIN = "Epoch 1/2\n32/32 - 4s - 125ms/step - loss: 1.0\nEpoch 2/2\n32/32 - 4s - 125ms/step - loss: 1.0\n"


@pytest.mark.parametrize("text", [KERAS_3, KERAS_2, PLAIN], ids=["3", "2", "verbose=2"])
def test_keras_epochs_give_steps_per_second(tmp_path: Path, text: str) -> None:
    (record,) = read(tmp_path, text)
    assert record.samples.step.tolist() == [32, 64]
    assert (record.unit, series(record).statistics["whole_time"]["per_sec"]) == ("steps", 8.0)


def test_lightning_bars_give_steps_per_second(tmp_path: Path) -> None:
    bar = "Epoch {e}: {p:3}%|###   | {n}/100 [00:{s:02}<00:{r:02}, 10.00it/s, v_num=0, loss=1.2]"
    text = "Sanity Checking DataLoader 0: 100%|###| 2/2 [00:00<00:00, 9.0it/s]\n"
    for epoch in range(2):
        states = [
            bar.format(e=epoch, p=n, n=n, s=n // 10, r=10 - n // 10) for n in range(0, 101, 20)
        ]
        text += (
            "\r".join(states) + "\rValidation DataLoader 0:  50%|###| 5/10 [00:01<00:01, 5.0it/s]\n"
        )
    (record,) = read(tmp_path, text)
    assert record.samples.step.tolist() == [20, 40, 60, 80, 100, 120, 140, 160, 180, 200]
    assert series(record).statistics["whole_time"]["per_sec"] == pytest.approx(10.0)


def test_lightning_rich_bars_are_read(tmp_path: Path) -> None:
    bar = "Epoch 0/1 ━━━━━━━━ {}/100 0:00:{:02} • 0:00:10 10.00it/s v_num: 0.000"
    (record,) = read(tmp_path, "\n".join(bar.format(n, n // 10) for n in range(20, 101, 20)))
    assert record.samples.step.tolist() == [20, 40, 60, 80, 100]


def test_cerebras_performance_json_is_one_point(tmp_path: Path) -> None:
    values = {
        "total_samples": 6400,
        "total_time": 20.0,
        "rate": 319.0,
        "global_rate": 320.0,
        "samples_per_sec": 320.0,
    }
    (record,) = read(tmp_path, json.dumps(values), "performance.json")
    result = series(record)
    assert (result.local.tolist(), result.statistics["whole_time"]["per_sec"]) == ([320.0], 320.0)
    assert result.reported_average.tolist() == [320.0]


def test_a_trainer_state_with_a_resume_says_the_true_rate(tmp_path: Path) -> None:
    state = {
        "best_metric": None,
        "log_history": [
            {
                "step": 100,
                "train_runtime": 100.0,
                "train_samples_per_second": 32.0,
                "train_steps_per_second": 1.0,
            },
            {
                "step": 300,
                "train_runtime": 200.0,
                "train_samples_per_second": 48.0,
                "train_steps_per_second": 1.5,
            },
        ],
    }
    (record,) = read(tmp_path, json.dumps(state), "trainer_state.json")
    assert "48 samples/s are stated, 32 were trained" in problems(record)


def test_torch_xla_devices_of_two_hosts_are_ranks_that_add_up(shared: Path) -> None:
    result = analyze(records(shared / "cases" / "throughput" / "xla_four_devices.log"))
    right = json.loads((shared / "cases" / "throughput" / "xla_four_devices.json").read_text())
    assert sorted(one.rank for one in result.series) == [0, 1, 2, 3]
    assert [one.statistics["whole_time"]["per_sec"] for one in result.series] == [
        right["per_device"]
    ] * 4
    (job,) = result.jobs
    assert job["per_sec"]["whole_time"] == right["sum_of_devices"]
    assert sum(len(one.problems) for one in result.series) == 1


def test_a_cerebras_log_after_a_long_preamble_is_read(shared: Path) -> None:
    folder = shared / "cases" / "throughput"
    right = json.loads((folder / "cerebras_long_preamble.json").read_text())
    (record,) = records(folder / "cerebras_long_preamble.log.gz")
    result = series(record)
    assert result.local.tolist() == pytest.approx([right["rate"]] * right["points"])
    assert result.average.tolist() == pytest.approx([right["global_rate"]] * right["points"])


@pytest.mark.parametrize(
    "text",
    [
        " iteration 10/ 200 | consumed samples: x | elapsed time per iteration (ms): lots |\n",
        '{"current_steps": 1, "total_st\n',
        ":::MLLOG not json\n:::MLL 1558631910.424 run_start: {\n",
        "Epoch 1/2\n32/32 [===] - ETA: 4s/step\n",
    ],
)
def test_lines_that_cannot_be_read_are_a_clear_error(tmp_path: Path, text: str) -> None:
    with pytest.raises((DamagedSource, UnrecognisedSource)):
        read(tmp_path, text)


def test_a_log_that_starts_late_claims_no_start(tmp_path: Path) -> None:
    (record,) = read(tmp_path, titan_lines())
    assert record.start_ns == UNKNOWN_NS


def test_imported_logs_write_the_scalars_that_the_shim_writes(tmp_path: Path) -> None:
    log = tmp_path / "megatron.log"
    log.write_text(megatron_lines())
    outcome = import_file(log, str(tmp_path / "runs"), None, None)
    assert not outcome.error
    store = LocalStore(logdir=str(tmp_path / "runs"))
    store.refresh()
    scalars = store.scalar_series()
    assert {one.tag for one in scalars} == {
        "local_samples_per_sec",
        "avg_samples_per_sec",
        "avg_steps_per_sec",
    }
    for one in scalars:
        want = 1 / 3 if "steps" in one.tag else 64 / 3
        assert one.value.tolist() == pytest.approx([want] * 10)
        assert one.step.tolist() == list(range(10, 101, 10))

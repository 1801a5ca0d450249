"""Every form in which other tools leave their rates is read: each log, table and tag in one table."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from stepscope.lenses.throughput import analyze
from stepscope.model.throughput import Throughput
from stepscope.session.store_catalog import StoreCatalog
from stepscope.sources import registry
from stepscope.store.local import LocalStore

STAMP = "2024-12-21 00:56:01,022 INFO:   "
CONSOLE: dict[str, tuple[str, str, int, str, bool]] = {
    "Cerebras": (
        STAMP + "| Train Device=CSX, Step=20, Loss=7.00964, Rate=12.50 samples/sec, GlobalRate=12.25 samples/sec",
        "train", 20, "samples", True,
    ),
    "Cerebras with the time left": (
        STAMP + "| Train Device=CSX, Step=20, Loss=7.0, Rate=12.50 samples/sec, GlobalRate=12.25 samples/sec, "
        "LoopTimeRemaining=0:02:50, TimeRemaining>0:02:50",
        "train", 20, "samples", True,
    ),
    "Cerebras, evaluation": (
        STAMP + "| Eval Device=CSX, GlobalStep=400, Batch=20, Loss=5.1, Rate=12.50 samples/sec, "
        "GlobalRate=12.25 samples/sec",
        "eval", 20, "samples", True,
    ),
    "Cerebras without a stamp": (
        "| Train Device=xla:0, Step=20, Loss=7.0, Rate=12.50 samples/sec, GlobalRate=12.25 samples/sec",
        "train", 20, "samples", False,
    ),
    "another unit": (
        STAMP + "| Train Step=20, Rate=12.50 tokens/sec, GlobalRate=12.25 tokens/sec",
        "train", 20, "tokens", True,
    ),
    "torch_xla": (
        "| Training Device=xla:0/3 Epoch=1 Step=20 Loss=6.89059 Rate=12.50 GlobalRate=12.25 Time=23:10:54",
        "train", 20, "samples", True,
    ),
    "torch_xla, its first form": (
        "[xla:1/3](20) Loss=6.89059 Rate=12.50 GlobalRate=12.25 Time=Fri Nov  9 20:08:14 2019",
        "train", 20, "samples", True,
    ),
    "torch_xla, by tabs and without a time": (
        "[xla:0](20)\tLoss=6.890\tRate=12.50\tGlobalRate=12.25",
        "train", 20, "samples", False,
    ),
    "a loop on torch_xla": (
        "training/ 23:10:54, device xla:1, step 20, Rate=12.50, GlobalRate=12.25, loss=2.0, nll_loss=1.0",
        "train", 20, "samples", True,
    ),
}  # fmt: skip


def records(path: Path) -> list[Throughput]:
    found = [named.record for named in registry.read(path).records]
    for record in found:
        record.validate()
    return found  # type: ignore[return-value]


@pytest.mark.parametrize("form", CONSOLE)
def test_each_form_of_a_console_line_is_read(tmp_path: Path, form: str) -> None:
    line, name, step, unit, timed = CONSOLE[form]
    path = tmp_path / "console.log"
    path.write_text(f"Something else\n{line}\n")
    assert registry.recognise(path).name == "cerebras_log"
    (record,) = records(path)
    assert (record.name, record.unit, record.samples.step.tolist()) == (name, unit, [step])
    assert record.reported.local_samples_per_sec.tolist() == [12.5]
    assert record.reported.avg_samples_per_sec.tolist() == [12.25]
    assert any("no time" in loss.what for loss in record.header.losses) is not timed


@pytest.mark.parametrize(
    "line",
    [
        STAMP + "Saving checkpoint at step {n}",
        STAMP + "Effective batch size is {n}",
        STAMP
        + "| Train Device=xla:0/{n}, Step=10, Rate=12.50 samples/sec, GlobalRate=12.25 samples/sec",
    ],
)
def test_numbers_of_thousands_of_digits_are_none(tmp_path: Path, line: str) -> None:
    path = tmp_path / "run.log"
    path.write_text(line.format(n="9" * 5000) + "\n" + CONSOLE["Cerebras"][0] + "\n")
    found = records(path)[-1]
    assert found.samples.step.tolist() == [20]
    assert (found.batch_size, found.header.rank) == (0, -1)


@pytest.mark.parametrize(
    ("entry", "want"),
    [
        ({"train_samples_per_second": 5.0, "train_runtime": 2.0}, [("train", "samples")]),
        ({"train_samples_per_second": 5.0, "train_tokens_per_second": 9.0},
         [("train", "samples"), ("train", "tokens")]),
        ({"eval_samples_per_second": 5.0, "eval_steps_per_second": 1.0}, [("eval", "samples")]),
        ({"eval_news_samples_per_second": 5.0, "eval_web_samples_per_second": 6.0},
         [("eval_news", "samples"), ("eval_web", "samples")]),
    ],
)  # fmt: skip
def test_each_rate_of_a_trainers_state_is_read(
    tmp_path: Path, entry: dict[str, Any], want: list[tuple[str, str]]
) -> None:
    path = tmp_path / "trainer_state.json"
    path.write_text(json.dumps({"best_metric": None, "log_history": [entry | {"step": 7}]}))
    found = records(path)
    assert [(record.name, record.unit) for record in found] == want
    assert all(record.samples.step.tolist() == [7] for record in found)


@pytest.mark.parametrize(
    ("header", "row", "want"),
    [
        ("step,train/device/samples_per_sec", "7,5.0", [("train", "samples", 5.0)]),
        ("step,train/samples_per_sec,train/device/samples_per_sec", "7,5.0,2.5", [("train", "samples", 5.0)]),
        ("step,train/device/samples_per_sec,validate/device/samples_per_sec", "7,5.0,6.0",
         [("train", "samples", 5.0), ("validate", "samples", 6.0)]),
        ("step,train/device/samples_per_sec,train/device/items_per_sec", "7,5.0,80.0",
         [("train", "samples", 5.0), ("train", "items", 80.0)]),
    ],
)  # fmt: skip
def test_each_rate_of_a_lightning_table_is_read(
    tmp_path: Path, header: str, row: str, want: list[tuple[str, str, float]]
) -> None:
    path = tmp_path / "metrics.csv"
    path.write_text(f"{header}\n{row}\n")
    found = records(path)
    assert [(one.name, one.unit, one.reported.local_samples_per_sec[0]) for one in found] == want


TAGS: dict[str, tuple[list[str], int | None, str, str]] = {
    "Cerebras": (
        ["local_samples_per_sec", "avg_samples_per_sec", "avg_steps_per_sec"],
        10,
        "train",
        "samples",
    ),
    "only the average": (["avg_samples_per_sec"], 10, "train", "samples"),
    "only the local one": (["local_samples_per_sec"], 10, "train", "samples"),
    "with a name": (["eval/local_tokens_per_sec", "eval/avg_tokens_per_sec"], 10, "eval", "tokens"),
    "torch_xla": (["examples/sec", "average_examples/sec"], None, "train", "examples"),
}


@pytest.mark.parametrize("form", TAGS)
def test_each_tag_of_a_rate_is_read_from_an_event_file(tmp_path: Path, form: str) -> None:
    tags, every, name, unit = TAGS[form]
    tensorboard = pytest.importorskip("torch.utils.tensorboard", reason="torch is not installed")
    with tensorboard.SummaryWriter(str(tmp_path / "run")) as writer:
        for at in range(3):
            for tag in tags:
                value = 100.0 + at if "steps" not in tag else 1.0
                writer.add_scalar(tag, value, every and every * at, walltime=1.7e9 + at)
    catalog = StoreCatalog(LocalStore(tmp_path))
    catalog.refresh()
    (ref,) = catalog.refs()
    record = catalog.read(ref)
    assert isinstance(record, Throughput)
    assert (record.name, record.unit) == (name, unit)
    assert record.samples.step.tolist() == ([0, 10, 20] if every else [-1, -1, -1])
    (series,) = analyze(record).series
    known = [
        kind
        for kind in ("local", "average")
        if getattr(series, kind).tolist() == [100.0, 101.0, 102.0]
    ]
    assert known == [kind for kind in ("local", "average") if _has(tags, kind)]


def _has(tags: list[str], kind: str) -> bool:
    averages = [tag for tag in tags if "avg_" in tag or "average_" in tag]
    return bool(averages) if kind == "average" else len(averages) < len(tags)

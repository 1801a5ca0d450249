"""Real frameworks' loops are counted right: accumulation, a smaller last batch, resume, evaluation, checkpoints."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import stepscope
from stepscope.integrations.batches import batch_size
from stepscope.model.throughput import Throughput
from stepscope.model.throughput_merge import merge
from stepscope.shim.loops import timed_batches
from stepscope.store.local import LocalStore

pytestmark = pytest.mark.filterwarnings("ignore")


def framework(name: str) -> Any:
    """The framework, or a skip where it is not installed. What its import warns of is its own."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return pytest.importorskip(name)


def sessions(logdir: Path) -> list[Throughput]:
    store = LocalStore(logdir=str(logdir))
    store.refresh()
    assert store.problems() == []
    blocks: dict[str, list[Throughput]] = {}
    for entry in store.entries():
        blocks.setdefault(entry.session, []).append(store.read(entry))  # type: ignore[arg-type]
    return sorted(
        (merge(found) for found in blocks.values()), key=lambda record: record.header.wall_anchor_ns
    )


def spans(record: Throughput) -> list[str]:
    return [record.strings[kind] for kind in record.spans.kind]


@pytest.mark.parametrize(
    ("batch", "size"),
    [
        (np.zeros((4, 3)), 4),
        ({"ids": np.zeros((5, 2)), "mask": np.zeros((5, 2))}, 5),
        ([np.float32(1), (np.zeros(()), np.zeros(6))], 6),
        (["a", "b"], 2),
        ([], None),
        (object(), None),
    ],
)
def test_the_size_of_a_batch_is_its_first_arrays_first_dimension(
    batch: Any, size: int | None
) -> None:
    assert batch_size(batch) == size


def test_waiting_for_a_loader_is_a_data_span(tmp_path: Path) -> None:
    with stepscope.Writer(tmp_path) as writer:
        rate = writer.throughput()
        for batch in timed_batches([[1, 2], [3]], rate):
            rate.add(len(batch))
    (record,) = sessions(tmp_path)
    assert record.marks.count.tolist() == [2, 1]
    assert spans(record) == ["data"] * 3
    assert not record.spans.open.any()


def test_a_torch_loader_is_passed_through(tmp_path: Path) -> None:
    torch = framework("torch")
    loader = torch.utils.data.DataLoader(torch.arange(10), batch_size=4)
    with stepscope.Writer(tmp_path) as writer:
        rate = writer.throughput()
        for batch in timed_batches(loader, rate):
            rate.add(batch_size(batch))
    (record,) = sessions(tmp_path)
    assert record.marks.count.tolist() == [4, 4, 2]


class Pairs:
    """Ten samples of two features, as a map-style dataset of dictionaries."""

    def __len__(self) -> int:
        return 10

    def __getitem__(self, index: int) -> Any:
        torch = sys.modules["torch"]
        return {"x": torch.full((2,), float(index)), "labels": torch.tensor([0.0])}


@pytest.mark.parametrize("package", ["lightning.pytorch", "pytorch_lightning"])
def test_lightning_counts_accumulated_and_smaller_batches(
    tmp_path: Path, package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    lightning = framework(package)
    torch = framework("torch")
    monkeypatch.delitem(sys.modules, "stepscope.integrations.lightning", raising=False)
    if package == "pytorch_lightning":
        # As where only the older package is installed.
        monkeypatch.setitem(sys.modules, "lightning.pytorch", None)
    from stepscope.integrations.lightning import ThroughputCallback

    assert issubclass(ThroughputCallback, lightning.Callback)

    class Model(lightning.LightningModule):  # type: ignore[name-defined,misc]
        def __init__(self) -> None:
            super().__init__()
            self.layer = torch.nn.Linear(2, 1)

        def training_step(self, batch: Any, index: int) -> Any:
            return self.layer(batch["x"]).mean()

        def validation_step(self, batch: Any, index: int) -> None:
            self.layer(batch["x"])

        def configure_optimizers(self) -> Any:
            return torch.optim.SGD(self.parameters(), 0.1)

    def fit(epochs: int, checkpoint: str | None = None) -> Any:
        loader = torch.utils.data.DataLoader(Pairs(), batch_size=4)
        trainer = lightning.Trainer(
            max_epochs=epochs,
            accumulate_grad_batches=2,
            accelerator="cpu",
            logger=False,
            enable_progress_bar=False,
            enable_model_summary=False,
            default_root_dir=str(tmp_path / "root"),
            callbacks=[ThroughputCallback(tmp_path / "log", log_every=1)],
        )
        trainer.fit(Model(), loader, loader, ckpt_path=checkpoint)
        trainer.save_checkpoint(tmp_path / "last.ckpt")

    fit(2)
    (record,) = sessions(tmp_path / "log")
    assert record.marks.count.tolist() == [4, 4, 2] * 2
    assert record.marks.step.tolist() == [1, 1, 2, 3, 3, 4]
    assert record.samples.step.tolist() == [1, 2, 3, 4]
    assert spans(record).count("evaluation") == 2
    assert spans(record).count("checkpoint") == 2
    assert spans(record).count("data") >= 6
    assert record.planned_steps == 4

    fit(3, str(tmp_path / "last.ckpt"))
    _, resumed = sessions(tmp_path / "log")
    assert resumed.marks.step.tolist() == [5, 5, 6]
    assert resumed.marks.count.tolist() == [4, 4, 2]


def test_transformers_counts_accumulated_and_smaller_batches(tmp_path: Path) -> None:
    transformers = framework("transformers")
    framework("accelerate")
    torch = framework("torch")
    from stepscope.integrations.transformers import ThroughputCallback

    class Model(torch.nn.Module):  # type: ignore[name-defined,misc]
        def __init__(self) -> None:
            super().__init__()
            self.layer = torch.nn.Linear(2, 1)

        def forward(self, x: Any, labels: Any = None) -> Any:
            found = self.layer(x)
            return {"loss": (found - labels).square().mean(), "logits": found}

    def train(epochs: int, resume: str | None = None) -> None:
        arguments = transformers.TrainingArguments(
            output_dir=str(tmp_path / "out"),
            num_train_epochs=epochs,
            per_device_train_batch_size=4,
            gradient_accumulation_steps=2,
            eval_strategy="epoch",
            save_strategy="epoch",
            report_to=[],
            disable_tqdm=True,
            use_cpu=True,
        )
        callback = ThroughputCallback(tmp_path / "log", log_every=1)
        trainer = transformers.Trainer(
            Model(), arguments, train_dataset=Pairs(), eval_dataset=Pairs(), callbacks=[callback]
        )
        trainer.train(resume_from_checkpoint=resume)

    train(2)
    (record,) = sessions(tmp_path / "log")
    assert int(record.marks.count.sum()) == 20
    assert record.marks.count.tolist() == [4, 4, 2] * 2
    assert record.marks.step.tolist() == [1, 1, 2, 3, 3, 4]
    assert spans(record).count("evaluation") == 2
    assert spans(record).count("checkpoint") == 2
    assert record.planned_steps == 4

    train(3, str(tmp_path / "out" / "checkpoint-4"))
    _, resumed = sessions(tmp_path / "log")
    assert resumed.marks.step.tolist() == [5, 5, 6]


def test_keras_counts_what_it_is_told_and_claims_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if "keras" not in sys.modules:
        monkeypatch.setenv("KERAS_BACKEND", "torch" if _has("torch") else "tensorflow")
    keras = framework("keras")
    from stepscope.integrations.keras import ThroughputCallback

    model = keras.Sequential([keras.layers.Input((2,)), keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    data = (np.zeros((10, 2)), np.zeros((10, 1)))
    told = ThroughputCallback(tmp_path / "told", batch_size=4, samples=10, log_every=1)
    model.fit(*data, batch_size=4, epochs=2, validation_data=data, verbose=0, callbacks=[told])
    (record,) = sessions(tmp_path / "told")
    assert record.marks.count.tolist() == [4, 4, 2] * 2
    assert record.marks.step.tolist() == list(range(1, 7))
    assert spans(record) == ["evaluation"] * 2

    untold = ThroughputCallback(tmp_path / "untold")
    model.fit(*data, batch_size=4, epochs=1, verbose=0, callbacks=[untold])
    (record,) = sessions(tmp_path / "untold")
    assert record.marks.count.tolist() == [-1, -1, -1]
    assert record.marks.step.tolist() == [7, 8, 9]


def _has(module: str) -> bool:
    import importlib.util

    return importlib.util.find_spec(module) is not None


def test_jax_steps_are_counted_when_their_outputs_are_there(tmp_path: Path) -> None:
    jax = framework("jax")
    from stepscope.integrations.jax import Received

    @jax.jit
    def step_of(value: Any) -> Any:
        return value @ value

    with stepscope.Writer(tmp_path) as writer:
        rate = writer.throughput()
        received = Received(rate, ahead=2)
        value = jax.numpy.ones((8, 8)) / 8
        for step in range(1, 6):
            value = step_of(value)
            received.add(value, 32, step)
            assert len(rate._buffers.time_ns) == max(step - 2, 0)
        received.close()
    (record,) = sessions(tmp_path)
    assert record.marks.step.tolist() == [1, 2, 3, 4, 5]
    assert record.marks.count.tolist() == [32] * 5

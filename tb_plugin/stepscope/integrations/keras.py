"""Keras: throughput of `Model.fit`.

    model.fit(..., batch_size=32, callbacks=[ThroughputCallback("runs/a", batch_size=32, log_every=10)])

Keras tells callbacks neither the batch nor its size. Without `batch_size` steps are counted and no rate of samples is
claimed. Where `samples` of an epoch is given too, the last, smaller batch of each epoch is counted right.
"""

from __future__ import annotations

from typing import Any

from keras.callbacks import Callback

from stepscope.integrations.spans import SpanSwitch
from stepscope.shim.throughput_log import ThroughputLog
from stepscope.shim.writer import Writer


class ThroughputCallback(Callback):  # type: ignore[misc]
    """Logs the throughput of training.

    Args:
        target: A Writer, or what one takes: a log directory or a summary writer.
        batch_size: Samples of a batch.
        samples: Samples of an epoch.
        name: The series' name.
        **settings: See `stepscope.shim.settings.SeriesSettings`.
    """

    def __init__(
        self,
        target: Any,
        *,
        batch_size: int | None = None,
        samples: int | None = None,
        name: str = "train",
        **settings: Any,
    ) -> None:
        super().__init__()
        self._target = target
        self._batch_size = batch_size
        self._samples = samples
        self._name = name
        self._settings = settings
        self._owned: Writer | None = None
        self._step = 0
        self._last_batch = -1
        self.series: ThroughputLog | None = None
        self._spans: SpanSwitch

    def on_train_begin(self, logs: Any = None) -> None:
        """Begins the series, at the optimizer's step where a model goes on training."""
        writer = self._target
        if not isinstance(writer, Writer):
            writer = self._owned = Writer(writer)
        self._step = int(self.model.optimizer.iterations)
        steps = self.params.get("steps")
        planned = self._step + steps * self.params["epochs"] if steps else None
        settings: dict[str, Any] = {"planned_steps": planned} | self._settings
        self.series = writer.throughput(self._name, **settings)
        self._spans = SpanSwitch(self.series)

    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
        """Batches are numbered anew."""
        self._last_batch = -1

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        """Counts the batches since the last call: several where `steps_per_execution` is set."""
        if self.series is None:
            return
        self._step += batch - self._last_batch
        self.series.add(self._counted(batch), step=self._step)
        self._last_batch = batch

    def _counted(self, batch: int) -> int | None:
        if self._batch_size is None:
            return None
        before, after = (self._batch_size * (number + 1) for number in (self._last_batch, batch))
        return after - before if self._samples is None else min(after, self._samples) - min(before, self._samples)

    def on_test_begin(self, logs: Any = None) -> None:
        """Evaluation begins."""
        if self.series is not None:
            self._spans.begin("evaluation")

    def on_test_end(self, logs: Any = None) -> None:
        """Evaluation has ended."""
        if self.series is not None:
            self._spans.end()

    def on_train_end(self, logs: Any = None) -> None:
        """Ends the series."""
        if self.series is not None:
            self._spans.end()
            self.series.close()
            self.series = None
        if self._owned is not None:
            self._owned.close()
            self._owned = None

"""Keras: throughput of `Model.fit`.

    model.fit(..., batch_size=32, callbacks=[ThroughputCallback("runs/a", batch_size=32, log_every=10)])

Keras tells callbacks neither the batch nor its size. Without `batch_size` steps are counted and no rate of samples is
claimed. Where `samples` of an epoch is given too, the last, smaller batch of each epoch is counted right.
"""

from __future__ import annotations

from typing import Any

from keras.callbacks import Callback

from stepscope.integrations.series import CallbackSeries


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
        self._batch_size = batch_size
        self._samples = samples
        self._series = CallbackSeries(target, name, settings)
        self._step = 0
        self._last_batch = -1

    def on_train_begin(self, logs: Any = None) -> None:
        """Begins the series, at the optimizer's step where a model goes on training."""
        self._step = int(self.model.optimizer.iterations)
        steps = self.params.get("steps")
        self._series.begin(self._step + steps * self.params["epochs"] if steps else None)

    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
        """Batches are numbered anew."""
        self._last_batch = -1

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        """Counts the batches since the last call: several where `steps_per_execution` is set.

        Keras numbers the last execution of an epoch as if it were a whole one: an epoch never has more than its steps.
        """
        steps = self.params.get("steps")
        if steps:
            batch = min(batch, steps - 1)
        self._step += batch - self._last_batch
        self._series.add(self._counted(batch), step=self._step)
        self._last_batch = batch

    def _counted(self, batch: int) -> int | None:
        if self._batch_size is None:
            return None
        before, after = (self._batch_size * (number + 1) for number in (self._last_batch, batch))
        return (
            after - before
            if self._samples is None
            else min(after, self._samples) - min(before, self._samples)
        )

    def on_test_begin(self, logs: Any = None) -> None:
        """Evaluation begins."""
        self._series.begin_span("evaluation")

    def on_test_end(self, logs: Any = None) -> None:
        """Evaluation has ended."""
        self._series.end_span()

    def on_train_end(self, logs: Any = None) -> None:
        """Ends the series."""
        self._series.close()

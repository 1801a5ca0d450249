"""PyTorch Lightning: throughput of a Trainer.

    trainer = Trainer(callbacks=[ThroughputCallback("runs/a", log_every=10)])

A sample is counted when its batch has ended; a step is an optimizer step, so that accumulated batches share one. Waits
for data, validation and checkpoints are spans. After a resume the series goes on at the trainer's step, as a session.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

from stepscope.integrations.batches import batch_size
from stepscope.integrations.series import CallbackSeries
from stepscope.shim.throughput_log import ThroughputLog

try:
    from lightning.pytorch import Callback, LightningModule, Trainer
except ModuleNotFoundError:
    # The same code is also published alone, under its older name.
    from pytorch_lightning import Callback, LightningModule, Trainer


class ThroughputCallback(Callback):  # type: ignore[misc]
    """Logs the throughput of training.

    Args:
        target: A Writer, or what one takes: a log directory or a summary writer.
        count: Gives the samples of a batch; by default the first dimension of its first tensor.
        name: The series' name.
        **settings: See `stepscope.shim.settings.SeriesSettings`.
    """

    def __init__(
        self,
        target: Any,
        *,
        count: Callable[[Any], int | None] = batch_size,
        name: str = "train",
        **settings: Any,
    ) -> None:
        super().__init__()
        self._count = count
        self._series = CallbackSeries(target, name, settings)
        self._restore = ExitStack()

    def on_train_start(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Begins the series."""
        planned = (
            trainer.max_steps
            if trainer.max_steps > 0
            else int(min(trainer.estimated_stepping_batches, 2**53))
        )
        log = self._series.begin(planned, trainer.global_rank, trainer.world_size)
        self._time_checkpoints(trainer, log)
        self._series.begin_span("data")

    def _time_checkpoints(self, trainer: Trainer, log: ThroughputLog) -> None:
        """Lightning has no hook for the end of a checkpoint, so the strategy's own method is wrapped while fitting."""
        strategy = trainer.strategy
        save = strategy.save_checkpoint

        def timed(*args: Any, **kwargs: Any) -> Any:
            with log.span("checkpoint"):
                return save(*args, **kwargs)

        strategy.save_checkpoint = timed
        self._restore.callback(delattr, strategy, "save_checkpoint")

    def on_train_batch_start(
        self, trainer: Trainer, pl_module: LightningModule, batch: Any, batch_idx: int
    ) -> None:
        """The wait for data is over."""
        self._series.end_span()

    def on_train_batch_end(
        self, trainer: Trainer, pl_module: LightningModule, outputs: Any, batch: Any, batch_idx: int
    ) -> None:
        """Counts the batch; the next one is waited for."""
        self._series.add(self._count(batch), step=self._step(trainer))
        self._series.begin_span("data")

    def _step(self, trainer: Trainer) -> int:
        """The optimizer step that the batch belongs to: one that is being accumulated is the next."""
        accumulating = trainer.fit_loop._should_accumulate()
        return int(trainer.global_step) + int(accumulating)

    def on_validation_start(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Evaluation begins, unless it is the check before training."""
        if not trainer.sanity_checking:
            self._series.begin_span("evaluation")

    def on_validation_end(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Evaluation has ended."""
        if self._series.span_kind == "evaluation":
            self._series.end_span()

    def on_train_end(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Ends the series."""
        self.close()

    def on_exception(
        self, trainer: Trainer, pl_module: LightningModule, exception: BaseException
    ) -> None:
        """Ends the series of a run that failed."""
        self.close()

    def close(self) -> None:
        """Ends the series, and the writer where it was made here."""
        self._restore.close()
        self._series.close()

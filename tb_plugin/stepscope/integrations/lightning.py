"""PyTorch Lightning: throughput of a Trainer.

    trainer = Trainer(callbacks=[ThroughputCallback("runs/a", log_every=10)])

A sample is counted when its batch has ended; a step is an optimizer step, so that accumulated batches share one. Waits
for data, validation and checkpoints are spans. After a resume the series goes on at the trainer's step, as a session.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

from lightning.pytorch import Callback, LightningModule, Trainer

from stepscope.integrations.batches import batch_size
from stepscope.integrations.spans import SpanSwitch
from stepscope.shim.throughput_log import ThroughputLog
from stepscope.shim.writer import Writer


class ThroughputCallback(Callback):  # type: ignore[misc]
    """Logs the throughput of training.

    Args:
        target: A Writer, or what one takes: a log directory or a summary writer.
        count: Gives the samples of a batch; by default the first dimension of its first tensor.
        name: The series' name.
        **settings: See `stepscope.shim.settings.SeriesSettings`.
    """

    def __init__(
        self, target: Any, *, count: Callable[[Any], int | None] = batch_size, name: str = "train", **settings: Any
    ) -> None:
        super().__init__()
        self._target = target
        self._count = count
        self._name = name
        self._settings = settings
        self._owned: Writer | None = None
        self._restore = ExitStack()
        self.series: ThroughputLog | None = None
        self._spans: SpanSwitch

    def on_train_start(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Begins the series."""
        writer = self._target
        if not isinstance(writer, Writer):
            rank, ranks = trainer.global_rank, trainer.world_size
            writer = self._owned = Writer(writer, rank=rank if ranks > 1 else None, world_size=ranks)
        planned = trainer.max_steps if trainer.max_steps > 0 else int(min(trainer.estimated_stepping_batches, 2**53))
        settings: dict[str, Any] = {"planned_steps": planned} | self._settings
        self.series = writer.throughput(self._name, **settings)
        self._spans = SpanSwitch(self.series)
        self._time_checkpoints(trainer)
        self._spans.begin("data")

    def _time_checkpoints(self, trainer: Trainer) -> None:
        """Lightning has no hook for the end of a checkpoint, so the strategy's own method is wrapped while fitting."""
        strategy, series = trainer.strategy, self.series
        save = strategy.save_checkpoint

        def timed(*args: Any, **kwargs: Any) -> Any:
            assert series is not None
            with series.span("checkpoint"):
                return save(*args, **kwargs)

        strategy.save_checkpoint = timed
        self._restore.callback(delattr, strategy, "save_checkpoint")

    def on_train_batch_start(self, trainer: Trainer, pl_module: LightningModule, batch: Any, batch_idx: int) -> None:
        """The wait for data is over."""
        self._spans.end()

    def on_train_batch_end(
        self, trainer: Trainer, pl_module: LightningModule, outputs: Any, batch: Any, batch_idx: int
    ) -> None:
        """Counts the batch; the next one is waited for."""
        if self.series is not None:
            self.series.add(self._count(batch), step=self._step(trainer))
            self._spans.begin("data")

    def _step(self, trainer: Trainer) -> int:
        """The optimizer step that the batch belongs to: one that is being accumulated is the next."""
        accumulating = trainer.fit_loop._should_accumulate()
        return int(trainer.global_step) + int(accumulating)

    def on_validation_start(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Evaluation begins, unless it is the check before training."""
        if self.series is not None and not trainer.sanity_checking:
            self._spans.begin("evaluation")

    def on_validation_end(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Evaluation has ended."""
        if self.series is not None and self._spans.kind == "evaluation":
            self._spans.end()

    def on_train_end(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Ends the series."""
        self.close()

    def on_exception(self, trainer: Trainer, pl_module: LightningModule, exception: BaseException) -> None:
        """Ends the series of a run that failed."""
        self.close()

    def close(self) -> None:
        """Ends the series, and the writer where it was made here."""
        self._restore.close()
        if self.series is not None:
            self._spans.end()
            self.series.close()
            self.series = None
        if self._owned is not None:
            self._owned.close()
            self._owned = None

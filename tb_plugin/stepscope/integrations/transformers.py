"""Hugging Face Transformers: throughput of a Trainer.

    trainer = Trainer(..., callbacks=[ThroughputCallback("runs/a", log_every=10)])

The trainer does not hand batches to callbacks, so the samples of each forward pass of the training model are counted by
a hook on the model: true for a last, smaller batch and for accumulated ones. Evaluation and checkpoints are spans.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from transformers import TrainerCallback, TrainerControl, TrainerState, TrainingArguments

from stepscope.integrations.batches import batch_size
from stepscope.integrations.series import CallbackSeries


class ThroughputCallback(TrainerCallback):  # type: ignore[misc]
    """Logs the throughput of training.

    Args:
        target: A Writer, or what one takes: a log directory or a summary writer.
        count: Gives the samples of a forward pass from its arguments; by default its first tensor's first dimension.
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
        self._count = count
        self._series = CallbackSeries(target, name, settings)
        self._hook: Any = None
        self._fresh: int | None = 0

    def on_train_begin(
        self,
        args: TrainingArguments,
        state: TrainerState,
        control: TrainerControl,
        model: Any = None,
        **kwargs: Any,
    ) -> None:
        """Begins the series; after a resume at the step that the trainer goes on from."""
        self._series.begin(max(state.max_steps, 0), args.process_index, args.world_size)
        self._fresh = 0
        self._hook = model.register_forward_pre_hook(self._forward, with_kwargs=True)

    def _forward(self, module: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        if module.training:
            found = self._count([*args, kwargs])
            self._fresh = None if found is None or self._fresh is None else self._fresh + found

    def _received(self, step: int) -> None:
        self._series.add(self._fresh, step=step)
        self._fresh = 0

    def on_substep_end(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **kwargs: Any
    ) -> None:
        """Counts an accumulated batch under the step that it belongs to."""
        self._received(state.global_step + 1)

    def on_step_end(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **kwargs: Any
    ) -> None:
        """Counts the last batch of the step."""
        self._received(state.global_step)
        if control.should_save and not control.should_evaluate:
            self._series.begin_span("checkpoint")

    def on_prediction_step(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **kwargs: Any
    ) -> None:
        """Evaluation is going on."""
        self._series.begin_span("evaluation")

    def on_evaluate(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **kwargs: Any
    ) -> None:
        """Evaluation has ended; a checkpoint may follow."""
        self._series.end_span()
        if control.should_save:
            self._series.begin_span("checkpoint")

    def on_save(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **kwargs: Any
    ) -> None:
        """The checkpoint is written."""
        self._series.end_span()

    def on_train_end(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **kwargs: Any
    ) -> None:
        """Ends the series."""
        if self._hook is not None:
            self._hook.remove()
            self._hook = None
        self._series.close()

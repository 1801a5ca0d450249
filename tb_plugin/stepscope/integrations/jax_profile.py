"""JAX: profiles of chosen steps straight from a training loop.

JAX is imported when something here is called, not before.

    with stepscope.Writer("runs/a") as writer, profile_steps(writer, steps=range(10, 13)) as profiler:
        for batch in loader:
            state, loss = train_step(state, batch)
            profiler.step(loss)

A profile gives the views of the host and its devices, and on several TPU slices the collectives between them.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from stepscope.errors import OptionError
from stepscope.shim.writer import Writer


@contextmanager
def profile_steps(
    writer: Writer, *, steps: int | Iterable[int], name: str = "jax"
) -> Iterator[StepProfiler]:
    """Profiles chosen steps of a loop and logs each run of consecutive ones.

    Call `step()` on what this gives at the end of every step of the loop. While a trace is stopped and logged, a span
    `profile` is open on the writer's throughput series.

    Args:
        writer: Where to log.
        steps: The chosen steps, counted from 0: one, a range, or any collection.
        name: The name of the records.

    Raises:
        OptionError: No step is chosen, or one is negative.
    """
    chosen = frozenset([steps] if isinstance(steps, int) else steps)
    if not chosen or min(chosen) < 0:
        raise OptionError(
            f"steps to profile are {sorted(chosen)}",
            remedy="Choose steps from 0, such as range(10, 13)",
        )
    profiler = StepProfiler(writer, chosen, name)
    profiler.begin()
    try:
        yield profiler
    finally:
        profiler.end()


class StepProfiler:
    """Starts and stops JAX's profiler around chosen steps. A trace that fails does not stop the loop."""

    def __init__(self, writer: Writer, steps: frozenset[int], name: str) -> None:
        self._writer = writer
        self._steps = steps
        self._name = name
        self._number = 0
        self._directory: tempfile.TemporaryDirectory[str] | None = None
        self._mark: Any = None

    def begin(self) -> None:
        """Begins the current step; a trace starts where it is chosen and none is under way."""
        if self._number not in self._steps:
            return
        if self._directory is None and not self._start():
            return
        import jax

        self._mark = jax.profiler.StepTraceAnnotation("train", step_num=self._number)
        self._mark.__enter__()

    def step(self, outputs: Any = None) -> None:
        """Ends a step.

        Args:
            outputs: What the step returned, any tree of arrays: before a trace stops, they are waited for, because JAX
                returns before its devices are done.
        """
        self._close_mark()
        self._number += 1
        if self._directory is not None and self._number not in self._steps:
            self._stop(outputs)
        self.begin()

    def end(self) -> None:
        """Ends the loop, and the trace where one is under way."""
        self._close_mark()
        if self._directory is not None:
            self._stop(None)

    def _close_mark(self) -> None:
        if self._mark is not None:
            self._mark.__exit__(None, None, None)
            self._mark = None

    def _start(self) -> bool:
        import jax

        directory = tempfile.TemporaryDirectory(prefix="stepscope-")
        try:
            jax.profiler.start_trace(directory.name)
        except (RuntimeError, OSError) as error:
            directory.cleanup()
            self._writer.failed(f"profile {self._name}", error)
            return False
        self._directory = directory
        return True

    def _stop(self, outputs: Any) -> None:
        import jax

        directory, self._directory = self._directory, None
        assert directory is not None
        with directory, ExitStack() as span:
            try:
                jax.block_until_ready(outputs)
                span.enter_context(self._writer.span("profile"))
                jax.profiler.stop_trace()
            except (RuntimeError, OSError) as error:
                self._writer.failed(f"profile {self._name}", error)
                return
            self._writer.log_profile(directory.name, step=self._number - 1, name=self._name)

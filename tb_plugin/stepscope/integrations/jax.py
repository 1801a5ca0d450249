"""JAX: throughput of a plain loop, and profiles of chosen steps (`profile_steps`, see `jax_profile`).

    received = Received(rate)
    for step, batch in enumerate(loader):
        state, loss = train_step(state, batch)
        received.add(loss, len(batch), step)
    received.close()

JAX returns before the device is done. A step is counted when its outputs are there, and to keep the device busy that is
waited for only some steps later.
"""

from __future__ import annotations

from collections import deque
from typing import Any

import jax

from stepscope.integrations.jax_profile import StepProfiler, profile_steps
from stepscope.shim.throughput_log import ThroughputLog

__all__ = ["Received", "StepProfiler", "profile_steps"]


class Received:
    """Counts steps whose outputs have been computed.

    Args:
        log: The series.
        ahead: How many steps may be under way before the oldest is waited for; 0 waits for each.
    """

    def __init__(self, log: ThroughputLog, ahead: int = 2) -> None:
        self._log = log
        self._ahead = ahead
        self._waiting: deque[tuple[Any, int | None, int | None]] = deque()

    def add(self, outputs: Any, count: int | None, step: int | None = None) -> None:
        """Takes the outputs of a step, and counts the steps that are `ahead` before it.

        Args:
            outputs: Any tree of arrays that the step returned and that no later step is given to reuse.
            count: Samples of the step, None when unknown.
            step: The training step.
        """
        self._waiting.append((outputs, count, step))
        while len(self._waiting) > self._ahead:
            self._count_oldest()

    def _count_oldest(self) -> None:
        outputs, count, step = self._waiting.popleft()
        jax.block_until_ready(outputs)
        self._log.add(count, step)

    def close(self) -> None:
        """Waits for all steps under way and counts them."""
        while self._waiting:
            self._count_oldest()

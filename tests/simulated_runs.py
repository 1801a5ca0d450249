"""Runs whose truth is known: step times as training loops have them. Shares no code with the package."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

F64 = NDArray[np.float64]


@dataclass(frozen=True)
class Loop:
    """How the steps of a training loop scatter; all as shares of the step time.

    Attributes:
        spread: Standard deviation of the speed of whole runs.
        correlation: Of neighbouring steps.
        noise: Standard deviation of the correlated part.
        tail_share: How many steps are slow by chance, and by how much on average (`tail`).
        stall_every: Every how many steps one is slower by `stall`; 0 for never.
        drift: How much slower the last step is than the first, drawn for each run around 0.
        steps: Steps of a run.
    """

    spread: float = 0.008
    correlation: float = 0.6
    noise: float = 0.04
    tail_share: float = 0.02
    tail: float = 0.5
    stall_every: int = 50
    stall: float = 1.0
    drift: float = 0.002
    steps: int = 400

    @property
    def mean(self) -> float:
        """The expected time of a step, where the plain step is 1."""
        stall = self.stall / self.stall_every if self.stall_every else 0.0
        return 1.0 + self.tail_share * self.tail + stall

    def runs(self, rng: np.random.Generator, count: int, slowdown: float = 0.0) -> F64:
        """Step times of several runs, shape (count, steps)."""
        shape = (count, self.steps)
        shocks = rng.standard_normal(shape) * self.noise * np.sqrt(1.0 - self.correlation**2)
        slow = np.empty(shape)
        slow[:, 0] = rng.standard_normal(count) * self.noise
        for step in range(1, self.steps):
            slow[:, step] = self.correlation * slow[:, step - 1] + shocks[:, step]
        times = 1.0 + slow
        times += (rng.random(shape) < self.tail_share) * rng.exponential(self.tail, shape)
        if self.stall_every:
            phase = rng.integers(0, self.stall_every, count)[:, None]
            times += self.stall * ((np.arange(self.steps) + phase) % self.stall_every == 0)
        ramp = np.linspace(-0.5, 0.5, self.steps)
        times += rng.standard_normal(count)[:, None] * self.drift * ramp
        # The expectation of exp(x) of a normal x is exp(variance / 2): means of runs then have no bias.
        between = np.exp(rng.standard_normal(count) * self.spread - self.spread**2 / 2.0)
        return times * between[:, None] * (1.0 + slowdown)

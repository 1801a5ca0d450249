"""Training runs with one planted cause each, and runs without any: what the lens must find, and must not."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from queue_simulator import SECOND, Training, record_of

from stepscope.model.throughput import Throughput

F64 = np.ndarray[Any, np.dtype[np.float64]]
Random = np.random.Generator
Noise = Callable[[Random, int], F64]


@dataclass(frozen=True)
class Planted:
    """A run and its truth.

    Attributes:
        cause: What was planted.
        kinds: Annotations that name it.
        share: The share of the run's time that it costs.
        coarse: Whether only log steps are marked.
    """

    record: Throughput
    cause: str
    kinds: tuple[str, ...]
    share: float
    coarse: bool


KINDS: dict[str, tuple[str, ...]] = {
    "nothing": (),
    "loader every n-th": ("slow_steps",),
    "random stalls": ("slow_steps",),
    "single stalls": ("stall",),
    "drift": ("drift",),
    "plateau": ("plateau",),
    "warm-up": ("warm_up", "drift"),
    "checkpoints": ("checkpoint",),
    "evaluation": ("evaluation",),
    "unnamed checkpoints": ("burst", "stall", "slow_steps"),
    "restarts": ("resume",),
    "input": ("data_wait",),
}
FALSE = (
    "slow_steps",
    "stall",
    "burst",
    "drift",
    "plateau",
    "warm_up",
    "first_step",
    "fluctuation",
    "aliasing",
    "blocks",
)
"""Annotations that a run without a cause must not have."""


def autoregressive(amount: float, alike: float, outliers: float) -> Noise:
    """Noise whose neighbours are alike, with now and then a step of up to twice the time."""

    def draw(random: Random, steps: int) -> F64:
        fresh = random.normal(0, amount * np.sqrt(1 - alike**2), steps)
        noise = np.zeros(steps)
        for at in range(1, steps):
            noise[at] = alike * noise[at - 1] + fresh[at]
        late = random.random(steps) < outliers
        return np.exp(noise) * np.where(late, random.uniform(1.2, 2.0, steps), 1.0)

    return draw


def resampled(ratios: Sequence[F64], run: int = 6) -> Noise:
    """Noise of real runs: their intervals over their medians, in pieces of a few neighbours."""

    def draw(random: Random, steps: int) -> F64:
        pool = ratios[int(random.integers(len(ratios)))]
        pieces = []
        while sum(map(len, pieces)) < steps:
            start = int(random.integers(max(len(pool) - run, 1)))
            pieces.append(pool[start : start + run])
        return np.concatenate(pieces)[:steps]

    return draw


def plant(cause: str, random: Random, noise: Noise, cost: float) -> Planted:
    """A run of 300 to 2,000 steps with a cause that costs this share of its time."""
    steps = int(random.integers(300, 2001))
    coarse = bool(random.random() < 0.3) and cause in (
        "nothing",
        "drift",
        "plateau",
        "warm-up",
        "checkpoints",
    )
    log = int(random.integers(5, max(steps // 30, 6))) if coarse else 1
    step_s = float(np.exp(random.uniform(np.log(0.01), np.log(2)))) * noise(random, steps)
    plain_s = float(step_s.sum())
    extra_s = plain_s * cost / (1 - cost)
    pauses: dict[int, float] = {}
    data_s, kind, resumed_at, queue = None, "", 0, 1
    match cause:
        case "loader every n-th":
            every = int(random.integers(2, min(51, steps // 8)))
            slow = np.arange(int(random.integers(every)), steps, every)
            step_s[slow] += extra_s / len(slow)
        case "random stalls":
            slow = np.flatnonzero(random.random(steps) < random.uniform(0.01, 0.1))
            slow = slow if len(slow) > 7 else random.choice(steps, 8, replace=False)
            weight = random.uniform(0.6, 1.4, len(slow))
            step_s[slow] += extra_s * weight / weight.sum()
        case "single stalls":
            slow = np.sort(
                random.choice(np.arange(10, steps), int(random.integers(1, 4)), replace=False)
            )
            step_s[slow] += extra_s / len(slow)
        case "drift":
            # The mean of a line that starts at 1 is 1 + half of what it rises by.
            step_s *= 1 + 2 * cost / (1 - cost) * np.arange(steps) / steps
        case "plateau":
            start = int(steps * random.uniform(0.25, 0.75))
            step_s[start:] *= 1 + extra_s / step_s[start:].sum()
        case "warm-up":
            end = int(steps * random.uniform(0.15, 0.4))
            step_s[:end] *= 1 + extra_s / step_s[:end].sum()
        case "checkpoints" | "evaluation" | "unnamed checkpoints":
            count = int(random.integers(1, 5))
            places = np.linspace(0, steps, count + 2)[1:-1].astype(int) + 1
            pauses = {int(place): extra_s / count for place in places}
            kind = {"checkpoints": "checkpoint", "evaluation": "evaluation"}.get(cause, "")
        case "restarts":
            resumed_at = int(steps * random.uniform(0.3, 0.7))
        case "input":
            data_s = cost * step_s
    training = Training(step_s, queue=queue, pauses=pauses)
    record = record_of(training, log_every=log, kind=kind, data_s=data_s, resumed_at=resumed_at)
    share = 0.0 if cause in ("nothing", "restarts") else cost
    return Planted(record, cause, KINDS[cause], share, coarse)


def found_share(
    planted: Planted, annotations: Sequence[Any], left_out_ns: dict[str, int], whole_ns: int
) -> float:
    """The share of the time that the lens says the cause takes."""
    if planted.cause in ("checkpoints", "evaluation"):
        return left_out_ns[planted.kinds[0]] / whole_ns
    if planted.cause == "input":
        return left_out_ns["data"] / whole_ns
    notes = [note for note in annotations if note.kind in planted.kinds]
    return float(sum(note.evidence.get("extra_ns", 0) for note in notes)) / whole_ns


__all__ = [
    "FALSE",
    "KINDS",
    "SECOND",
    "Planted",
    "autoregressive",
    "found_share",
    "plant",
    "resampled",
]

"""Trains with three things planted that cost a known share of the time, to see that the findings name them.

    python examples/planted_run.py runs
    stepscope findings runs --run input-bound

Each run waits for its input, writes checkpoints, and has one layer that sorts far too much. `train` answers how much of
the run each of them took, by its own clock.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import nn

import stepscope
from stepscope.integrations.torch import profile_steps

BATCH = 16
STEP_S = 0.15
CHECKPOINT_EVERY = 10


@dataclass(frozen=True)
class Plan:
    """What is planted, each as a share of the run."""

    data_wait: float
    slow_op: float
    checkpoint: float


PLANS = {"input-bound": Plan(0.35, 0.25, 0.20), "compute-bound": Plan(0.25, 0.35, 0.20)}


class Planter:
    """Takes time, and remembers for what."""

    def __init__(self) -> None:
        self.taken_s = {"data_wait": 0.0, "slow_op": 0.0, "checkpoint": 0.0}

    def wait(self, cause: str, seconds: float) -> None:
        """Waits, as for a disk."""
        start = time.perf_counter()
        time.sleep(seconds)
        self.taken_s[cause] += time.perf_counter() - start

    def work(self, cause: str, seconds: float, values: torch.Tensor) -> None:
        """Sorts until the time is over."""
        start = time.perf_counter()
        while time.perf_counter() - start < seconds:
            torch.sort(values)
        self.taken_s[cause] += time.perf_counter() - start


class SlowLayer(nn.Module):
    """A layer that passes its input on, and sorts beside it."""

    def __init__(self, planter: Planter, seconds: float) -> None:
        super().__init__()
        self.planter, self.seconds = planter, seconds
        self.values = torch.randn(100_000)

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        """The input."""
        with torch.no_grad():
            self.planter.work("slow_op", self.seconds, self.values)
        return inputs


def train(directory: Path, plan: Plan, steps: int = 30) -> dict[str, float]:
    """Trains for some steps, logging to a run directory.

    Returns:
        The share of the run that each planted cause took.
    """
    torch.set_num_threads(1)
    planter = Planter()
    slow = SlowLayer(planter, plan.slow_op * STEP_S)
    model = nn.Sequential(nn.Linear(32, 64), slow, nn.ReLU(), nn.Linear(64, 10))
    optimizer, loss_of = torch.optim.SGD(model.parameters(), lr=0.01), nn.CrossEntropyLoss()
    inputs, labels = torch.randn(BATCH, 32), torch.randint(10, (BATCH,))
    with stepscope.Writer(directory) as writer:
        rate = writer.throughput("train", log_every=5)
        with profile_steps(writer, steps=range(steps), model=model) as profiler:
            start = time.perf_counter()
            for step in range(steps):
                ready = time.perf_counter() + (1 - plan.checkpoint) * STEP_S
                with rate.span("data"):
                    planter.wait("data_wait", plan.data_wait * STEP_S)
                optimizer.zero_grad()
                loss_of(model(inputs), labels).backward()
                optimizer.step()
                time.sleep(max(ready - time.perf_counter(), 0.0))
                if step % CHECKPOINT_EVERY == CHECKPOINT_EVERY - 1:
                    with rate.span("checkpoint"):
                        planter.wait("checkpoint", plan.checkpoint * CHECKPOINT_EVERY * STEP_S)
                rate.add(BATCH, step=step)
                whole = time.perf_counter() - start
                profiler.step()
    return {cause: taken / whole for cause, taken in planter.taken_s.items()}


def main() -> None:
    """Trains all plans."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("logdir", type=Path, help="the log directory")
    parser.add_argument("--steps", type=int, default=30, help="training steps of each run")
    options = parser.parse_args()
    torch.manual_seed(0)
    for name, plan in PLANS.items():
        shares = train(options.logdir / name, plan, options.steps)
        print(name, ", ".join(f"{cause} {share:.1%}" for cause, share in shares.items()))


if __name__ == "__main__":
    main()

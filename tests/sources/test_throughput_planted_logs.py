"""Console logs of loops with planted causes: the batch size is found, and the cause is named from the printed lines."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timezone
from pathlib import Path

import numpy as np
import pytest

import stepscope
from stepscope.lenses.throughput import analyze
from stepscope.model.throughput import Throughput
from stepscope.sources import registry

UNIX_S = 1_734_742_561
STEPS, LOG, STEP_S = 1000, 50, 0.5


@dataclass
class Loop:
    """A training loop: how long steps take, what comes before some, and when their outputs arrive."""

    batch: int
    step_s: np.ndarray
    saving_s: dict[int, float] = field(default_factory=dict)
    block: int = 1
    every_batch: bool = False
    now_ns: int = 0

    def log(self) -> str:
        before = np.zeros(STEPS)
        before[list(self.saving_s)] = list(self.saving_s.values())
        arrives = np.cumsum(self.step_s + before)
        at = np.arange(STEPS)
        seen = (
            arrives[np.minimum((at // self.block + 1) * self.block, STEPS) - 1]
            + (at % self.block) * 1e-4
        )
        tracker = stepscope.RateTracker(0.4, lambda: self.now_ns)
        lines = [line(-0.05, "Beginning appliance run")]
        for index in range(STEPS):
            if index in self.saving_s:
                begun = seen[index - 1] + 0.001
                lines.append(line(begun, f"Saving checkpoint at step {index}"))
                lines.append(
                    line(
                        begun + self.saving_s[index] - 0.002,
                        "Saved checkpoint model/checkpoint.mdl",
                    )
                )
            lines += self.step(index + 1, int(seen[index] * 1e9), tracker)
        return "".join(lines)

    def step(self, step: int, now_ns: int, tracker: stepscope.RateTracker) -> list[str]:
        self.now_ns = now_ns
        tracker.add(self.batch)
        rate = tracker.rate() if self.every_batch or step % LOG == 0 else 0.0
        if step % LOG:
            return []
        rates = f"Rate={rate:.2f} samples/sec, GlobalRate={tracker.global_rate():.2f} samples/sec"
        return [line(now_ns / 1e9 + 0.0004, f"| Train Device=CSX, Step={step}, Loss=7.0, {rates}")]


def line(second: float, text: str) -> str:
    ms = int((UNIX_S + second) * 1000)
    stamp = datetime.fromtimestamp(ms // 1000, timezone.utc)
    return f"{stamp:%Y-%m-%d %H:%M:%S},{ms % 1000:03} INFO:   {text}\n"


def planted(cause: str, loop: Loop) -> None:
    interval_s = LOG * STEP_S
    match cause:
        case "slow first step":
            loop.step_s[0] += 2 * interval_s
        case "checkpoint" | "checkpoint and burst":
            loop.saving_s = {STEPS // 2 + 1: 2 * interval_s}
            if cause.endswith("burst"):
                loop.step_s[STEPS // 2 + 1 :][: 2 * LOG] *= 0.1
        case "stall":
            loop.step_s[STEPS // 2 + 3] += 5 * interval_s
        case "blocks that do not fit":
            loop.block = LOG * 3 // 2
        case "blocks that fit":
            loop.block = LOG // 2
        case "asked after every batch":
            loop.every_batch = True


CAUSES = {
    "nothing": set(),
    "slow first step": {"first_step"},
    "checkpoint": {"checkpoint"},
    "checkpoint and burst": {"checkpoint", "burst"},
    "stall": {"stall"},
    "blocks that do not fit": {"aliasing"},
    "blocks that fit": set(),
    "asked after every batch": {"per_batch"},
}


@pytest.mark.parametrize("jitter", [0.05, 0.1, 0.2])
@pytest.mark.parametrize("batch", [16, 130, 2048])
@pytest.mark.parametrize("cause", CAUSES)
def test_a_planted_cause_is_named_from_the_printed_log(
    tmp_path: Path, cause: str, batch: int, jitter: float
) -> None:
    random = np.random.default_rng(batch)
    loop = Loop(batch, STEP_S * np.maximum(1 + random.normal(0, jitter, STEPS), 0.05))
    planted(cause, loop)
    path = tmp_path / "run.log"
    path.write_text(loop.log())
    (named,) = registry.read(path).records
    assert isinstance(named.record, Throughput)
    assert named.record.batch_size == batch
    assert {one.kind for one in analyze(named.record).series[0].annotations} == CAUSES[cause]

"""A device, its queue of results and a host that trains: what arrives when, and what is true of it.

An oracle for the throughput lens: it shares no code with the analysis and knows the truth that the lens must infer.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from stepscope.model.columns import Strings
from stepscope.model.throughput import Marks, RateSamples, Resets, Spans, Throughput

F64 = np.ndarray[Any, np.dtype[np.float64]]
SECOND = 10**9


@dataclass
class Training:
    """A run to simulate.

    Attributes:
        step_s: How long the device computes each step.
        block: Steps whose results are handed over together.
        queue: Steps that the device may be ahead of the host.
        intake_s: How long the host takes for a result.
        pauses: Before which step the host does something else, and for how long.
        batch: Samples of a step.
    """

    step_s: F64
    block: int = 1
    queue: int = 10**9
    intake_s: float = 0.0
    pauses: Mapping[int, float] = field(default_factory=dict)
    batch: int = 32

    def arrivals(self) -> tuple[F64, list[tuple[float, float]]]:
        """When the host has each result, and when its pauses began and ended."""
        steps = len(self.step_s)
        done = np.zeros(steps + 1)
        received = np.zeros(steps + 1)
        pauses = []
        for begin in range(0, steps, self.block):
            end = min(begin + self.block, steps)
            for step in range(begin + 1, end + 1):
                # A full queue stops the device until the host takes a result.
                room = received[step - self.queue] if step - self.queue > 0 else 0.0
                done[step] = max(done[step - 1], room) + self.step_s[step - 1]
            for step in range(begin + 1, end + 1):
                free = received[step - 1]
                if step in self.pauses:
                    pauses.append((free, free + self.pauses[step]))
                    free += self.pauses[step]
                received[step] = max(free, done[end]) + self.intake_s
        return received[1:], pauses

    @property
    def best_rate(self) -> float:
        """Samples per second at the fastest that the device ever was."""
        return self.batch / float(self.step_s.min())


def record_of(
    training: Training,
    *,
    log_every: int = 1,
    resolution_ns: int = 1,
    kind: str = "",
    data_s: F64 | None = None,
    resumed_at: int = 0,
) -> Throughput:
    """What is logged of a run: marks at log steps, and spans of a kind for its pauses where it is given."""
    arrived, pauses = training.arrivals()
    step = np.arange(log_every, len(arrived) + 1, log_every)
    time_ns = (arrived[step - 1] * SECOND).astype(np.int64) // resolution_ns * resolution_ns
    rows = [(0, begin, end) for begin, end in pauses if kind]
    if data_s is not None:
        ends = arrived - training.intake_s
        rows += [(1, float(end - wait), float(end)) for end, wait in zip(ends, data_s, strict=True)]
    rows.sort(key=lambda row: row[1])
    word, begins, finishes = np.array(rows, np.float64).reshape(-1, 3).T
    resets = Resets()
    if resumed_at:
        before = int(np.searchsorted(step, resumed_at))
        resets = Resets(
            time_ns=time_ns[before - 1 : before],
            kind=np.array([2], np.int8),
            mark_end=np.array([before]),
            sample_end=np.array([before]),
        )
    return Throughput(
        start_ns=0,
        batch_size=training.batch,
        log_every=log_every,
        strings=Strings.of([kind or "pause", "data"]),
        marks=Marks(step=step, time_ns=time_ns, count=np.diff(step, prepend=0) * training.batch),
        samples=RateSamples(step=step, time_ns=time_ns, mark_end=np.arange(1, len(step) + 1)),
        spans=Spans(
            kind=word.astype(np.int32),
            start_ns=(begins * SECOND).astype(np.int64),
            end_ns=(finishes * SECOND).astype(np.int64),
        ),
        resets=resets,
    )

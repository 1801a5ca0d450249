"""The two rates of a training run, as torch_xla's and Cerebras's trackers answer them."""

from __future__ import annotations

import os
import time
from collections.abc import Callable

from stepscope.shim import values

NS_PER_SECOND = 1_000_000_000
DEFAULT_SMOOTHING = "0.4"


def default_smoothing() -> float:
    """The smoothing where none is given: the environment's RATE_TRACKER_SMOOTHING, or 0.4.

    Raises:
        OptionError: The environment's is no number from 0 to 1.
    """
    return values.real(
        "RATE_TRACKER_SMOOTHING", os.environ.get("RATE_TRACKER_SMOOTHING", DEFAULT_SMOOTHING), 1.0
    )


class RateTracker:
    """Counts samples and answers how many a second were received.

    `rate` is (1 - s) times the throughput since the last time it was asked plus s times its previous answer: s weighs
    the old value, once per question. `global_rate` is all samples over all time since the start. Time is integer ns of
    one monotonic clock.

    Args:
        smoothing: s, from 0 (none) to 1 (the first answer for ever). None: RATE_TRACKER_SMOOTHING, or 0.4.
        clock: Returns the time in ns.
        smooth_factor: The name of `smoothing` in torch_xla and Cerebras's package.
    """

    def __init__(
        self,
        smoothing: float | None = None,
        clock: Callable[[], int] = time.perf_counter_ns,
        *,
        smooth_factor: float | None = None,
    ) -> None:
        if smoothing is None:
            smoothing = smooth_factor
        if smoothing is None:
            smoothing = default_smoothing()
        self.smoothing = smoothing
        self._clock = clock
        self._start: int
        self._last: int
        self._done: float
        self._fresh: float
        self._previous: float | None
        self.reset()

    def add(self, count: float) -> None:
        """Counts samples whose outputs were received."""
        self._fresh += count

    def rate(self) -> float:
        """Samples per second now. Asking ends an interval, unless no time has passed since the last: then 0.0."""
        now = self._clock()
        elapsed_ns = now - self._last
        if elapsed_ns <= 0:
            return 0.0
        answer = self._fresh / (elapsed_ns / NS_PER_SECOND)
        if self._previous is not None:
            answer = (1.0 - self.smoothing) * answer + self.smoothing * self._previous
        self._done += self._fresh
        self._fresh = 0
        self._last = now
        self._previous = answer
        return answer

    def global_rate(self) -> float:
        """Samples per second since the start, 0.0 before any time has passed. Asking changes nothing."""
        elapsed_ns = self._clock() - self._start
        if elapsed_ns <= 0:
            return 0.0
        return self.total_count / (elapsed_ns / NS_PER_SECOND)

    def reset(self) -> None:
        """Forgets the counts and the previous rate, and starts now."""
        self._done = self._fresh = 0
        self._previous = None
        self.reset_time()

    def reset_time(self, offset: float = 0) -> None:
        """Moves the start and the last sampling point to `offset` seconds ago; counts and the previous rate stay."""
        self._start = self._last = self._clock() - round(offset * NS_PER_SECOND)

    @property
    def total_count(self) -> float:
        """Samples since the last reset."""
        return self._done + self._fresh

    def elapsed_seconds(self) -> float:
        """Seconds since the start."""
        return (self._clock() - self._start) / NS_PER_SECOND

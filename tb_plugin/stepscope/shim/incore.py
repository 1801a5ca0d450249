"""Catching in-core stamps in a kernel's test: the device's own output, and pairs of merged and split runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from stepscope.model.incore import InCore
from stepscope.model.incore_description import Clock, Description, MeasuredRuns, Probes, Setup
from stepscope.model.incore_timing import incore_record

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

Comparator = Callable[..., Any]


class Capture:
    """A comparator callback that keeps a copy of what the device wrote.

    Attributes:
        outputs: A copy of every output that was compared, oldest first.
    """

    def __init__(self, comparator: Comparator | None = None) -> None:
        self.outputs: list[Any] = []
        self._comparator = comparator

    def __call__(self, actual: Any, expected: Any = None, *args: Any, **kwargs: Any) -> Any:
        """Copies the actual output and answers as the comparator does, `(True, "")` without one."""
        self.outputs.append(_copy(actual))
        return (
            (True, "")
            if self._comparator is None
            else self._comparator(actual, expected, *args, **kwargs)
        )

    @property
    def timing(self) -> Any:
        """The newest output.

        Raises:
            LookupError: The comparator was not called.
        """
        if not self.outputs:
            raise LookupError(
                "capture was never called. Pass it as the comparator of the timing tensor and run the kernel first"
            )
        return self.outputs[-1]


def capture(comparator: Comparator | None = None) -> Capture:
    """A callback to give as the comparator of the timing tensor.

    It takes `(actual, expected, ...)`, copies `actual`, and changes nothing else. The file that a harness saves as the
    expected output is written before the device runs and is all zero; what the comparator receives is the device's.

    Args:
        comparator: Called with the same arguments; its answer is handed on. Without one every output passes, so
            use that only for the timing tensor and leave the numerical outputs their own comparators.
    """
    return Capture(comparator)


def _copy(output: Any) -> Any:
    if hasattr(output, "detach"):
        return output.detach().clone()
    return np.array(output, copy=True)


class PairedRuns:
    """Collects alternating runs of the merged and the split kernel.

    Args:
        device: What they run on.
        inputs: What they run with.
        configuration: How they are built, where both are the same.
        clock_freq_hz: Counts a second of the counter, if known.
    """

    def __init__(
        self,
        *,
        device: str = "",
        inputs: str = "",
        configuration: str = "",
        clock_freq_hz: int | None = None,
    ) -> None:
        self._setup = {"device": device, "inputs": inputs, "configuration": configuration}
        self._clock = clock_freq_hz
        self._pairs: dict[int, dict[str, Any]] = {}

    def schedule(self, pairs: int) -> Iterator[tuple[int, str]]:
        """The runs to make, in order: (pair, "merged" or "split"). The order within a pair alternates."""
        for pair in range(pairs):
            order = ("split", "merged") if pair % 2 else ("merged", "split")
            self._pairs[pair] = {"pair": pair, "order": f"{order[0]}-first", **self._setup}
            yield from ((pair, variant) for variant in order)

    def add(self, pair: int, variant: str, **stamps: int | str) -> None:
        """Adds a run.

        Args:
            pair: Its pair's number.
            variant: "merged" with stamps M0, B, A, M1, or "split" with P0, P1, C0, C1.
            **stamps: Counter values; `device`, `inputs` or `configuration` where this run's differ.
        """
        self._pairs.setdefault(pair, {"pair": pair, **self._setup})[variant] = stamps

    def record(
        self,
        *,
        read_pairs: ArrayLike | None = None,
        instrumented_total_cycles: Sequence[int] = (),
        uninstrumented_total_cycles: Sequence[int] = (),
    ) -> InCore:
        """The record, for `writer.log_incore`.

        Args:
            read_pairs: Counter values [sample, 2] of reads with nothing between them.
            instrumented_total_cycles: Lengths of runs with probes.
            uninstrumented_total_cycles: Lengths of runs without probes.

        Raises:
            RecordError: A run lacks a timestamp.
        """
        made = [pair for pair in self._pairs.values() if "merged" in pair or "split" in pair]
        probes = Probes(
            read_pairs=read_pairs,
            instrumented_total_cycles=instrumented_total_cycles,
            uninstrumented_total_cycles=uninstrumented_total_cycles,
        )
        description = Description(
            clock=Clock(clock_freq_hz=self._clock),
            runs=MeasuredRuns(pairs=made),
            probes=probes,
            setup=Setup(
                device=self._setup["device"],
                inputs=self._setup["inputs"],
                configuration=self._setup["configuration"],
            ),
        )
        return incore_record(None, description)

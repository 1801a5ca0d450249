"""Plain wrappers around what a training loop iterates over."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeVar

from stepscope.shim.throughput_log import ThroughputLog

T = TypeVar("T")


def timed_batches(loader: Iterable[T], log: ThroughputLog) -> Iterator[T]:
    """Yields what the loader gives; the time that the loop waits for each is a `data` span.

    It works with any iterable: a torch DataLoader, a tf.data dataset, a generator.
    """
    batches = iter(loader)
    while True:
        with log.span("data"):
            try:
                batch = next(batches)
            except StopIteration:
                return
        yield batch

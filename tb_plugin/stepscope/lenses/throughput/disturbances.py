"""What disturbed the run."""

from __future__ import annotations

from collections.abc import Iterator

from stepscope.lenses.throughput.rates import Questions, Rates
from stepscope.lenses.throughput.result import Annotation
from stepscope.model.throughput import Throughput


def disturbances(record: Throughput, asked: Questions, answered: Rates, base_ns: int) -> Iterator[Annotation]:
    """Everything found, in order of time."""
    yield from ()

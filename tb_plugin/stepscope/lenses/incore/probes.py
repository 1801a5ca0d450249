"""What the probes themselves cost, as distributions to stand beside a result: never to be subtracted from it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from stepscope.lenses.incore.exactness import difference, median_x2, nearest_rank
from stepscope.model.arrays import Array
from stepscope.model.incore import InCore


@dataclass(frozen=True)
class Distribution:
    """Samples in cycles, with the figures that need no interpolation."""

    samples: Array

    @property
    def min(self) -> int:
        """The smallest sample."""
        return int(np.min(self.samples))

    @property
    def max(self) -> int:
        """The largest sample."""
        return int(np.max(self.samples))

    @property
    def median_x2(self) -> int | None:
        """Twice the median."""
        return median_x2(self.samples)

    @property
    def p99_nearest_rank(self) -> int | None:
        """The 99th percentile by nearest rank."""
        return nearest_rank(self.samples, 99)


@dataclass(frozen=True)
class ProbeCost:
    """The cost of probes, each None where it was not measured.

    Attributes:
        reads: Between two reads of the counter with nothing between them.
        instrumented: Whole runs with probes.
        uninstrumented: Whole runs without.
    """

    reads: Distribution | None
    instrumented: Distribution | None
    uninstrumented: Distribution | None


def probe_cost(record: InCore) -> ProbeCost:
    """The probe samples of a record."""
    reads = difference(record.read_pairs.second, record.read_pairs.first)
    totals = record.envelopes.total_cycles
    is_instrumented = record.envelopes.instrumented
    return ProbeCost(
        reads=_distribution(reads),
        instrumented=_distribution(totals[is_instrumented]),
        uninstrumented=_distribution(totals[~is_instrumented]),
    )


def _distribution(samples: Array) -> Distribution | None:
    if not len(samples):
        return None
    return Distribution(samples)

"""The phases of a timing matrix."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from stepscope.lenses.incore.boundaries import Boundary
from stepscope.lenses.incore.collective import Collective
from stepscope.lenses.incore.task import TaskLink
from stepscope.lenses.incore.validation import Verdict
from stepscope.model.arrays import U64, Array, Bools
from stepscope.model.incore import InCore


@dataclass(frozen=True)
class Phases:
    """The phases of a timing matrix.

    Attributes:
        boundaries: The boundaries in order; neighbours bound a phase.
        participating: [row, slot], one row for all invocations or one each.
        verdict: What validation found. Figures of unusable invocations mean nothing.
        values: [invocation, boundary]: the boundaries' stamps.
        cycles: [invocation, phase].
        total: [invocation]: last boundary - first.
        ordered: [invocation]: whether no boundary lies before the one ahead of it.
        collective: None where arrival or release is not stamped, or the boundaries are the user's.
        task: None where the task's bounds are not known.
    """

    boundaries: tuple[Boundary, ...]
    participating: Bools
    verdict: Verdict
    values: U64
    cycles: Array
    total: Array
    ordered: Bools
    collective: Collective | None
    task: TaskLink | None

    @property
    def names(self) -> list[str]:
        """The name of each phase: later boundary - earlier boundary."""
        return [f"{later.name}-{earlier.name}" for earlier, later in pairwise(self.boundaries)]

    def deciding_slots(self, record: InCore, invocation: int, boundary: int) -> list[int]:
        """The slots whose stamp is the boundary."""
        rule = self.boundaries[boundary]
        stamps = record.matrix()[invocation, :, rule.word]
        members = rule.members[invocation if len(rule.members) > 1 else 0]
        slots: list[int] = np.flatnonzero(members & (stamps == self.values[invocation, boundary])).tolist()
        return slots

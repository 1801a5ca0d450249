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
        verdict: The result of validation. Figures of unusable invocations mean nothing.
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

    def stamps(self, invocation: int) -> dict[str, int]:
        """The stamp of each boundary in an invocation, by its name."""
        names = [boundary.name for boundary in self.boundaries]
        return dict(zip(names, self.values[invocation].tolist(), strict=True))

    def deciding_slots(self, record: InCore, invocation: int, boundary: int) -> list[int]:
        """The slots whose stamp is the boundary."""
        rule = self.boundaries[boundary]
        stamps = record.matrix()[invocation, :, rule.word]
        # One row of members stands for all invocations.
        members = rule.members[0]
        if len(rule.members) > 1:
            members = rule.members[invocation]
        decides = members & (stamps == self.values[invocation, boundary])
        slots: list[int] = np.flatnonzero(decides).tolist()
        return slots

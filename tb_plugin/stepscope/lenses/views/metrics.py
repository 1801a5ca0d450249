"""What each node of a profile cost: its own figures in the steps that are asked for, as exact integers.

Figures are kept as integers over a common `divisor`, so that averages stay exact and sums of them too.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from stepscope.errors import OptionError
from stepscope.lenses.launchers import fold_device_time
from stepscope.lenses.views.options import Resolved
from stepscope.model.columns import Array, Ints
from stepscope.model.profile import Profile

SELF_FIELDS = (
    "exec_micros",
    "accelerator_exec_micros",
    "cpu_exec_micros",
    "requested_bytes",
    "peak_bytes",
    "residual_bytes",
    "output_bytes",
    "parameters",
    "float_ops",
    "run_count",
)
"""The figures of a node, by the names of tfprof's protobuf messages. Times are in ticks here."""

TIMES = ("exec_micros", "cpu_exec_micros", "accelerator_exec_micros")
"""The figures that are times."""

_COLUMNS = {"shared_host": "shared_host_ticks", "enclosed_host": "enclosed_host_ticks"}
"""Figures by names of our own, and the columns of `node_steps` that they are sums of."""

_LARGEST_DIVISOR = 1 << 20


@dataclass(frozen=True)
class StepChoice:
    """Which steps count, and how they are put together.

    Attributes:
        index: The one step, as an index of `profile.steps`; None for all.
        average_over: '' for sums, 'node' or 'steps' as in the options.
        tfprof: Whether averages are integers, cut towards zero, and time on a node's other devices is left out.
    """

    index: int | None = None
    average_over: str = ""
    tfprof: bool = False


def choose_step(profile: Profile, resolved: Resolved) -> StepChoice | None:
    """The steps that the options ask for; None when tfprof would answer nothing because there is no such step.

    Raises:
        OptionError: There is no such step, outside tfprof's ways.
    """
    if resolved.average:
        return StepChoice(None, resolved.options.average_over, resolved.tfprof)
    if resolved.step is None:
        return StepChoice(tfprof=resolved.tfprof)
    found = np.flatnonzero(profile.steps.id == resolved.step)
    if len(found):
        return StepChoice(int(found[0]), tfprof=resolved.tfprof)
    if resolved.tfprof:
        return None
    known = ", ".join(map(str, profile.steps.id[:20].tolist())) or "none"
    raise OptionError(
        f"the profile has no step {resolved.step}", where="step", remedy=f"Its steps are {known}"
    )


class NodeFigures:
    """The own figures of all nodes for one choice of steps, computed when asked for.

    Attributes:
        divisor: What every figure is to be divided by.
    """

    def __init__(self, profile: Profile, choice: StepChoice) -> None:
        self._profile = profile
        self._choice = choice
        steps = profile.node_steps
        counted = self.counts_step(steps.step)
        rows = slice(None) if counted.all() else np.flatnonzero(counted)
        self._rows: Ints | slice = rows
        self._node = steps.node[rows].astype(np.int64)
        self._nodes = len(profile.nodes)
        self._ran_in = np.bincount(self._node, minlength=self._nodes).astype(np.int64)
        self.divisor = _divisor(profile, choice, self._ran_in)
        self._cache: dict[str, Ints] = {}

    @cached_property
    def knows_enclosed(self) -> bool:
        """Whether the record says which time of modules the ranges around them have, too. Older records do not."""
        return int(self["shared_host"].sum()) == int(self["enclosed_host"].sum())

    def counts_step(self, step: Array) -> Array:
        """Which of the given steps (indices) count."""
        if self._choice.index is not None:
            counted: Array = step == self._choice.index
        elif self._choice.average_over and len(self._profile.steps):
            counted = step >= 0
        else:
            counted = np.ones(len(step), bool)
        return counted

    def __getitem__(self, field: str) -> Ints:
        """The figure of each node, times `divisor`."""
        if field not in self._cache:
            self._cache[field] = self._compute(field)
        return self._cache[field]

    def _compute(self, field: str) -> Ints:
        if field == "parameters":
            parameters: Ints = self._profile.nodes.parameters * self.divisor
            return parameters
        if field == "float_ops":
            return self._float_ops()
        return self._over_steps(self._sum(field))

    def _sum(self, field: str) -> Ints:
        if field == "exec_micros":
            return self._sum("cpu_exec_micros") + self._sum("accelerator_exec_micros")
        if field == "cpu_exec_micros":
            return self._ticks("host_ticks")
        if field == "accelerator_exec_micros":
            return fold_device_time(self._profile, self._ticks("accelerator_ticks"))
        return self._scatter(_COLUMNS.get(field, field))

    def _ticks(self, column: str) -> Ints:
        counted = self._scatter(column)
        return counted if self._choice.tfprof else counted + self._scatter(f"uncounted_{column}")

    def _scatter(self, column: str) -> Ints:
        out = np.zeros(self._nodes, np.int64)
        values = getattr(self._profile.node_steps, column)
        if not values.any():
            return out
        if self._profile.nested and column.endswith("_ticks"):
            values = clipped_ticks(self._profile, column)
        np.add.at(out, self._node, values[self._rows])
        return out

    def _over_steps(self, sums: Ints) -> Ints:
        if self._choice.average_over != "node":
            return sums
        ran_in = np.maximum(self._ran_in, 1)
        if self._choice.tfprof:
            averages: Ints = np.sign(sums) * (np.abs(sums) // ran_in)
        else:
            averages = (sums * self.divisor + ran_in // 2) // ran_in
        return averages

    def _float_ops(self) -> Ints:
        static = self._profile.nodes.float_ops
        has_runs = np.zeros(self._nodes, bool)
        has_runs[self._profile.node_steps.node] = True
        runs: Ints = np.where(has_runs, self["run_count"], self.divisor)
        float_ops: Ints = static * runs
        return float_ops


def clipped_ticks(profile: Profile, column: str) -> Ints:
    """A column of times of `node_steps` without what is negative, or more than the self time that it is a part of.

    Where ops call ops, a callee that outlasts its caller leaves the caller a negative self time.
    """
    values: Ints = np.maximum(getattr(profile.node_steps, column), 0)
    if column in _COLUMNS.values():
        values = np.minimum(values, np.maximum(profile.node_steps.host_ticks, 0))
    return values


def clipped(profile: Profile) -> int:
    """How many self times of a profile with nested calls are negative in its record."""
    if not profile.nested:
        return 0
    steps = profile.node_steps
    return int(np.count_nonzero((steps.host_ticks < 0) | (steps.accelerator_ticks < 0)))


def _divisor(profile: Profile, choice: StepChoice, ran_in: Ints) -> int:
    if choice.tfprof or not choice.average_over:
        return 1
    if choice.average_over == "steps":
        return max(len(profile.steps), 1)
    exact = math.lcm(*np.unique(ran_in[ran_in > 0]).tolist())
    return exact if exact <= _LARGEST_DIVISOR else _LARGEST_DIVISOR

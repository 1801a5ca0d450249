"""The largest costs: ops, scopes and lines that take the most time, each cause once.

What a row covers is the set of profile nodes whose time is in it, weighed by their own time. Two rows that cover nearly
the same are one cause: `aten::conv2d` and what it calls, a scope and its only op, a line and the scope that it runs.
Ops come first, since they say what to change; scopes and lines follow where ops do not explain them.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from stepscope.findings.finding import Evidence
from stepscope.findings.format_time import PS_PER_US, time_words
from stepscope.findings.kernel_kinds import kernel_kind
from stepscope.findings.rules import LensResult
from stepscope.findings.step_facts import Views
from stepscope.findings.user_code import of_users
from stepscope.lenses.launchers import launchers
from stepscope.lenses.views import ViewResult, ViewsOptions
from stepscope.lenses.views.code_layout import UNATTRIBUTED
from stepscope.model.columns import Array
from stepscope.model.profile import NodeKind, Profile

LEAST_SHARE = 0.1
SAME = 0.8
"""Rows that have so much of their time in common are one cause."""
EXPLAINED = 0.7
"""A row of which so much lies in rows that are already found says nothing new."""
MOST_OF_A_VIEW = 3
_MOST_ASKED = 24
_WRAPPER = "autograd::engine::evaluate_function: "
"""What PyTorch's autograd puts around each op of the backward pass."""

_WHOLES = {"accelerator_exec_micros": "device time", "cpu_exec_micros": "host time"}
_WORDS = {"op": "op", "scope": "scope", "code": "line"}


@dataclass(eq=False)
class HotSpot:
    """A row that costs much, and the rows of the same cause.

    Attributes:
        view: The view, and `row` the row in it.
        covers: For each node of the profile whether its time is in the row.
        weight: The own time of those nodes, in ticks.
        micros: What the view says that the row takes.
        same: View and name of rows with the same cause.
    """

    view: str
    row: int
    name: str
    covers: Array
    weight: float
    micros: float
    same: list[tuple[str, str]] = field(default_factory=list)


class HotSpots:
    """Looks for what costs the most in one profile."""

    def __init__(self, views: Views) -> None:
        self._views = views
        self._profile = views.profile
        self._own = _own_ticks(self._profile, self.time_field)
        self._kind = self._profile.nodes.kind

    def find(self) -> list[HotSpot]:
        """The causes, the largest first."""
        found: list[HotSpot] = []
        for spot in (*self._ops(), *self._places("scope"), *self._places("code")):
            self._place(found, spot)
        return sorted(found, key=lambda spot: -spot.micros)

    @cached_property
    def time_field(self) -> str:
        """The time that costs are of: the device's where one works, else the host's; tfprof's sum of both."""
        return self._view("op").time_field

    @cached_property
    def whole_micros(self) -> float:
        """The summed self time of the profile on that resource."""
        result = self._view("op")
        if not len(result):
            return 0.0
        return float(result.column(f"total_{self.time_field}")[0])

    def _view(self, view: str) -> ViewResult:
        return self._views.analyze(ViewsOptions(view=view, order_by="micros"))

    def _place(self, found: list[HotSpot], spot: HotSpot) -> None:
        """Adds a cause, or the row to the cause that it belongs to."""
        alike = [other for other in found if self._common(other, spot) >= SAME]
        if alike:
            alike[0].same.append((spot.view, spot.name))
        elif not found or self._explained(found, spot) < EXPLAINED:
            found.append(spot)

    def _weigh(self, covers: Array) -> float:
        return float(self._own[covers].sum())

    def _common(self, one: HotSpot, other: HotSpot) -> float:
        larger = max(one.weight, other.weight)
        return self._weigh(one.covers & other.covers) / larger if larger else 0.0

    def _explained(self, found: list[HotSpot], spot: HotSpot) -> float:
        covered = np.logical_or.reduce([other.covers for other in found])
        return self._weigh(covered & spot.covers) / spot.weight if spot.weight else 0.0

    def _ops(self) -> Iterator[HotSpot]:
        """Ops with much time of their own, each as the outermost op that is little more than a way to it."""
        result = self._view("op")
        if not len(result) or self.whole_micros <= 0:
            return
        own = _added_micros(result)
        total = result.column(f"total_{self.time_field}")
        large = [
            row
            for row in np.argsort(-total, kind="stable").tolist()
            if row and self._is_op(result, row)
        ]
        large = [row for row in large if total[row] >= LEAST_SHARE * self.whole_micros][
            :_MOST_ASKED
        ]
        members = [self._members(result, [row]) for row in large]
        spots = [
            self._op(result, row, covers)
            for row, covers in zip(large, self._called(members), strict=True)
        ]
        chosen: list[HotSpot] = []
        for spot in (one for one in spots if own[one.row] >= LEAST_SHARE / 2 * self.whole_micros):
            outer = next(one for one in spots if one is spot or self._common(one, spot) >= SAME)
            if outer is not spot:
                outer.same.append(("op", spot.name))
            if outer not in chosen and outer.micros >= LEAST_SHARE * self.whole_micros:
                chosen.append(outer)
        yield from sorted(chosen, key=lambda spot: -spot.weight)

    def _op(self, result: ViewResult, row: int, covers: Array) -> HotSpot:
        """An op with all that it calls, counted once also where it calls itself."""
        spot = self._spot(result, row, covers, float(_added_micros(result)[row]))
        if self._profile.nested:
            spot.micros = self._micros(spot)
        return spot

    def _is_op(self, result: ViewResult, row: int) -> bool:
        if result.names([row])[0].startswith(_WRAPPER):
            return False
        nodes = result.layout.members(int(result.rows[row]))
        return bool(len(nodes)) and bool((self._kind[nodes] != NodeKind.SCOPE).any())

    def _members(self, result: ViewResult, rows: Sequence[int] | range) -> Array:
        """Which nodes of the profile are in rows of a view."""
        chosen = np.zeros(len(result.layout) + 1, bool)
        chosen[result.rows[rows]] = True
        covers: Array = chosen[result.layout.row_of_node]
        return covers

    def _called(self, sets: list[Array]) -> list[Array]:
        """Sets of nodes, in a nested profile with all that those call."""
        if not self._profile.nested:
            return sets
        bits = np.zeros(len(self._profile.nodes), np.uint64)
        for at, covers in enumerate(sets):
            bits[covers] |= np.uint64(1 << at)
        caller = self._profile.nodes.caller
        inner = np.flatnonzero(caller >= 0)
        while True:
            reached = bits[inner] | bits[caller[inner]]
            if np.array_equal(reached, bits[inner]):
                return [(bits >> np.uint64(at)) & np.uint64(1) > 0 for at in range(len(sets))]
            bits[inner] = reached

    def _spot(self, result: ViewResult, row: int, covers: Array, micros: float) -> HotSpot:
        return HotSpot(
            result.view, row, result.paths([row])[0], covers, self._weigh(covers), micros
        )

    def _places(self, view: str) -> list[HotSpot]:
        """Scopes or lines with much time, below what holds everything."""
        result = self._view(view)
        if not len(result) or self.whole_micros <= 0:
            return []
        total = result.column(f"total_{self.time_field}")
        least, steps = LEAST_SHARE * self.whole_micros, {name for _, name in result.steps}
        rows = [
            row for row in _divided(result, total, per_branch=view == "code") if total[row] >= least
        ]
        if view == "code":
            rows = of_users(result, rows)
        named = [row for row in rows if not {result.names([row])[0]} & (steps | {UNATTRIBUTED})]
        best = sorted(named, key=lambda row: -float(total[row]))[:MOST_OF_A_VIEW]
        spots = []
        for row in best:
            covers = self._with_launched(self._members(result, range(row, int(result.end[row]))))
            spots.append(self._spot(result, row, covers, float(total[row])))
        return [spot for spot in spots if self._micros(spot) >= least]

    def _with_launched(self, covers: Array) -> Array:
        """A set of nodes with the kernels and runtime calls launched by them, which have no rows of their own here."""
        if not self._profile.nested:
            return covers
        launcher = launchers(self._profile)
        both: Array = np.where(launcher >= 0, covers[launcher], covers)
        return both

    def _micros(self, spot: HotSpot) -> float:
        return spot.weight * self._profile.tick_ps / PS_PER_US


def _added_micros(result: ViewResult) -> Array:
    """The time of each row that adds up: of launched work, whose self time its op has, the total."""
    total = f"total_{result.time_field}"
    return result.in_unit(result.field(total), result.addends(total))


def _own_ticks(profile: Profile, time_field: str) -> Array:
    """What each node takes itself on the resource that the field is of, every tick once.

    Runtime calls are in the host time of the op that makes them: here that op is without them. What a step takes
    itself is the time outside all that it holds, and says nothing of the line that began it.
    """
    rows = profile.node_steps
    ticks = {
        "accelerator_exec_micros": rows.accelerator_ticks,
        "cpu_exec_micros": rows.host_ticks,
    }.get(time_field, rows.host_ticks + rows.accelerator_ticks)
    own = np.bincount(rows.node, weights=ticks.astype(np.float64), minlength=len(profile.nodes))
    if profile.nested:
        calls = np.flatnonzero((profile.nodes.kind == NodeKind.RUNTIME) & (launchers(profile) >= 0))
        np.subtract.at(own, launchers(profile)[calls], own[calls])
        own[
            (profile.nodes.kind == NodeKind.SCOPE) & np.isin(profile.nodes.name, profile.steps.name)
        ] = 0
    return np.maximum(own, 0)


def _divided(result: ViewResult, total: Array, *, per_branch: bool) -> list[int]:
    """The rows where time divides: the costliest of each branch, below rows that are only a way to one other."""
    tops = _below(result, 0)
    if not per_branch:
        return [_down(result, total, row) for row in _below(result, _only_way(result, 0)) or tops]
    ends = [_only_way(result, top) for top in tops]
    return [row for end in ends for row in _below(result, end) or [end]]


def _below(result: ViewResult, row: int) -> list[int]:
    """The rows directly below a row."""
    rows, child, stop = [], row + 1, int(result.end[row])
    while child < stop:
        rows.append(child)
        child = int(result.end[child])
    return rows


def _only_way(result: ViewResult, row: int) -> int:
    """The first row at or below a row that has not exactly one row below it."""
    while row + 1 < result.end[row] == result.end[row + 1]:
        row += 1
    return row


def _down(result: ViewResult, total: Array, row: int) -> int:
    """The deepest row that still has nearly all of a row's time, and rows below it."""
    least = SAME * float(total[row])
    while True:
        inner = [
            child
            for child in _below(result, row)
            if total[child] >= least and result.end[child] > child + 1
        ]
        if len(inner) != 1:
            return row
        row = inner[0]


@dataclass(frozen=True)
class Cost:
    """A row that takes much of the time. It says nothing of what could be saved, so it is no finding.

    Attributes:
        view: The view that the row is of.
        title: The row with its share, as one clause.
        kind: What it does: one of `kernel_kinds.KINDS`.
        cost: Its time in us, and `share` its part of the profile's time.
        evidence: The rows of the same cause, the place to open first.
        note: Where in it the time is; empty where the row says it.
    """

    view: str
    title: str
    kind: str
    cost: float
    share: float
    evidence: tuple[Evidence, ...]
    note: str = ""

    def to_json(self) -> dict[str, Any]:
        """The cost as a document."""
        return dataclasses.asdict(self)


def largest_costs(result: LensResult[Any]) -> list[Cost]:
    """The ops, scopes and lines that take a tenth of the profile's time or more, the largest first."""
    spots = HotSpots(result.result)
    costs = []
    for spot in spots.find():
        share = spot.micros / spots.whole_micros
        if share >= LEAST_SHARE:
            costs.append(_cost(result, spot, share, _WHOLES.get(spots.time_field, "time")))
    return costs


def _cost(result: LensResult[Any], spot: HotSpot, share: float, whole: str) -> Cost:
    places = dict.fromkeys(((spot.view, spot.name), *spot.same))
    inner = [name for view, name in spot.same if view == "op" and name != spot.name]
    return Cost(
        view=spot.view,
        title=f"{_WORDS[spot.view]} {spot.name} takes {share:.1%} of the {whole} ({time_words(spot.micros)})",
        kind=kernel_kind(inner[-1] if inner else spot.name),
        cost=spot.micros,
        share=share,
        evidence=tuple(result.evidence(name, view=view, search=name) for view, name in places),
        note=f"Most of it is in {inner[0]}" if inner else "",
    )

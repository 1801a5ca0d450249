"""Executions laid out for a timeline: by lane and level, so that what runs inside a thing stands below it."""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from stepscope.lenses.trace.categories import execution_categories
from stepscope.model.columns import Array, Ints
from stepscope.model.profile import LaneKind, Profile


@dataclass(frozen=True, eq=False)
class LaneRow:
    """One level of a lane: executions that do not overlap, in order of time."""

    level: int
    run: Ints
    start: Ints
    end: Ints

    def window(self, start: int, end: int) -> slice:
        """Which of them lie in a window."""
        return slice(
            int(np.searchsorted(self.end, start, "right")),
            int(np.searchsorted(self.start, end, "left")),
        )


@dataclass(frozen=True, eq=False)
class LaidOut:
    """The rows of a profile's lanes.

    Attributes:
        lane: The lanes with executions, in `profile.lanes`: host threads first, busiest first.
        rows: The rows of each.
        category: Of each execution.
    """

    profile: Profile
    lane: tuple[int, ...]
    rows: tuple[tuple[LaneRow, ...], ...]
    category: Ints

    @cached_property
    def span(self) -> tuple[int, int]:
        """First start and last end, in ticks."""
        runs = self.profile.executions
        end = runs.start_ticks + runs.duration_ticks
        return int(runs.start_ticks.min(initial=0)), int(end.max(initial=1))


def laid_out(profile: Profile) -> LaidOut:
    """Lays all executions out. Threads and streams without any are left out."""
    runs, lanes = profile.executions, profile.lanes
    kinds = lanes.kind
    count = np.bincount(runs.lane[runs.lane >= 0], minlength=len(lanes))
    shown = [i for i in range(len(lanes)) if count[i] and kinds[i] != LaneKind.OTHER]
    shown.sort(key=lambda i: (int(kinds[i]), int(lanes.device[i]), -int(count[i])))
    order = np.lexsort((-runs.duration_ticks, runs.start_ticks, runs.lane))
    edges = np.searchsorted(runs.lane[order], np.arange(len(lanes) + 1))
    rows = tuple(_rows(profile, order[edges[i] : edges[i + 1]]) for i in shown)
    return LaidOut(profile, tuple(shown), rows, execution_categories(profile))


def _rows(profile: Profile, run: Ints) -> tuple[LaneRow, ...]:
    runs = profile.executions
    start = runs.start_ticks[run]
    end = start + runs.duration_ticks[run]
    level = levels(start, end)
    return tuple(
        LaneRow(depth, run[at], start[at], end[at])
        for depth in range(int(level.max(initial=-1)) + 1)
        if len(at := np.flatnonzero(level == depth))
    )


def levels(start: Ints, end: Ints) -> Ints:
    """The level of each range, so that ranges of one level do not overlap.

    Args:
        start, end: Ranges in order of their start, longest first: what is inside a range comes after it.
    """
    level: Ints = np.arange(len(start)) - np.searchsorted(np.sort(end), start, side="right")
    level = np.maximum(level, 0)
    return level if _apart(start, end, level).all() else _first_free(start, end)


def _apart(start: Ints, end: Ints, level: Ints) -> Array:
    order = np.lexsort((np.arange(len(start)), level))
    same = level[order][1:] == level[order][:-1]
    apart: Array = ~same | (start[order][1:] >= end[order][:-1])
    return apart


def _first_free(start: Ints, end: Ints) -> Ints:
    """For ranges that overlap without one containing the other: the first level below what is open that is free."""
    level = np.empty(len(start), np.int64)
    open_until: list[tuple[int, int]] = []
    free: list[int] = []
    used = 0
    for row, (begin, stop) in enumerate(zip(start.tolist(), end.tolist(), strict=True)):
        while open_until and open_until[0][0] <= begin:
            heapq.heappush(free, heapq.heappop(open_until)[1])
        if free:
            mine = heapq.heappop(free)
        else:
            mine, used = used, used + 1
        level[row] = mine
        heapq.heappush(open_until, (stop, mine))
    return level

"""Trees over time ranges and call paths, as parent columns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from stepscope.sources.torch_trace.numbers import Ints

Bools = NDArray[np.bool_]


def nesting_order(thread: Ints, start: Ints, end: Ints) -> Ints:
    """The order in which a range stands after all that may contain it; ties keep the order of the file."""
    return np.lexsort((-end, start, thread))


def nest(thread: Ints, start: Ints, end: Ints) -> Ints:
    """The parent of each range: the innermost one of its thread that is open when it starts, -1 at the top.

    Ranges must be in `nesting_order`. A range that outlasts its parent stays its child: nothing is dropped.
    """
    parent = np.empty(len(start), np.int64)
    open_ranges: list[int] = []
    open_ends: list[int] = []
    current = -1
    for row, (on, begin, stop) in enumerate(zip(thread.tolist(), start.tolist(), end.tolist(), strict=True)):
        if on != current:
            open_ranges.clear()
            open_ends.clear()
            current = on
        while open_ends and open_ends[-1] <= begin:
            open_ends.pop()
            open_ranges.pop()
        parent[row] = open_ranges[-1] if open_ranges else -1
        open_ranges.append(row)
        open_ends.append(stop)
    return parent


def self_time(parent: Ints, duration: Ints) -> Ints:
    """Each range's duration without its direct children."""
    children = np.zeros(len(parent) + 1, np.int64)
    np.add.at(children, parent, duration)
    own: Ints = duration - children[:-1]
    return own


def climb(row: Ints, parent: Ints, wrong: Callable[[Ints, Ints], Bools]) -> Ints:
    """Goes from rows up their parents while they are wrong; -1 where none is left.

    Args:
        wrong: Takes positions in `row` and the rows reached there, and tells which to leave.
    """
    found: Ints = row.copy()
    active = np.flatnonzero(found >= 0)
    while len(active):
        active = active[wrong(active, found[active])]
        found[active] = parent[found[active]]
        active = active[found[active] >= 0]
    return found


@dataclass(frozen=True)
class Ranges:
    """Time ranges on threads, by thread and start, with their tree."""

    thread: Ints
    start: Ints
    end: Ints
    parent: Ints

    def __len__(self) -> int:
        return len(self.start)

    def around(self, thread: Ints, start: Ints, until: Ints) -> Ints:
        """The innermost range of the thread that is open from `start` and at least to `until`, -1 where none is."""
        return climb(self._last_started(thread, start), self.parent, lambda at, rows: self.end[rows] <= until[at])

    def _last_started(self, thread: Ints, time: Ints) -> Ints:
        found = np.full(len(time), -1, np.int64)
        order = np.argsort(thread, kind="stable")
        threads, first = np.unique(thread[order], return_index=True)
        for on, rows in zip(threads.tolist(), np.split(order, first[1:]), strict=False):
            low, high = np.searchsorted(self.thread, (on, on + 1))
            place = np.searchsorted(self.start[low:high], time[rows], side="right") - 1
            found[rows] = np.where(place >= 0, low + place, -1)
        return found


def nearest(row: Ints, parent: Ints, allowed: Bools) -> Ints:
    """The nearest of each row and its ancestors that is allowed, -1 where none is."""
    return climb(row, parent, lambda _, rows: ~allowed[rows])


def depths(parent: Ints) -> Ints:
    """How many ancestors each row has, by pointer doubling: deep trees cost a logarithm."""
    depth = (parent >= 0).astype(np.int64)
    ancestor = parent.copy()
    while (active := np.flatnonzero(ancestor >= 0)).size:
        up = ancestor[active]
        depth[active] += depth[up]
        ancestor[active] = ancestor[up]
    return depth


@dataclass(frozen=True)
class Paths:
    """The distinct paths of a tree of rows, parents first.

    Attributes:
        of: The path of each row.
        parent: The parent of each path, -1 at the top.
        key: The key of each path's last row.
        first: The first row of each path.
    """

    of: Ints
    parent: Ints
    key: Ints
    first: Ints

    def __len__(self) -> int:
        return len(self.parent)


def paths(parent: Ints, key: Ints) -> Paths:
    """Gives rows with the same keys from the root down one path. Keys are small integers from 0."""
    depth = depths(parent)
    order = np.argsort(depth, kind="stable")
    levels = np.searchsorted(depth[order], np.arange(int(depth.max(initial=-1)) + 2))
    width = int(key.max(initial=0)) + 1
    of = np.empty(len(parent), np.int64)
    codes: list[Ints] = []
    firsts: list[Ints] = []
    count = 0
    for low, high in zip(levels[:-1].tolist(), levels[1:].tolist(), strict=True):
        rows = order[low:high]
        above = parent[rows]
        code = np.where(above >= 0, of[above] + 1, 0) * width + key[rows]
        distinct, first, inverse = np.unique(code, return_index=True, return_inverse=True)
        of[rows] = count + inverse
        codes.append(distinct)
        firsts.append(rows[first])
        count += len(distinct)
    code = np.concatenate(codes) if codes else np.empty(0, np.int64)
    first = np.concatenate(firsts) if firsts else np.empty(0, np.int64)
    return Paths(of, code // width - 1, code % width, first)


def distinct(*columns: Ints) -> tuple[Ints, Ints]:
    """Numbers the distinct rows of columns: the number of each row, and the first row of each number."""
    code = np.zeros(len(columns[0]), np.int64)
    for values in columns:
        _, number = np.unique(values, return_inverse=True)
        _, code = np.unique(code * (int(number.max(initial=0)) + 1) + number, return_inverse=True)
    _, first = np.unique(code, return_index=True)
    return code.astype(np.int64), first

"""Trees over time ranges and call paths, as parent columns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from stepscope.model.columns import Array

Bools = NDArray[np.bool_]

_CLIMB_STEPS = 32
_MOST_LEVELS = 1000
_ROWS_PER_LEVEL = 100
"""Below so many rows per level, a step per level costs more than one per row."""


def nesting_order(thread: Array, start: Array, end: Array) -> Array:
    """The order in which a range stands after all that may contain it; ties keep the order of the file."""
    return np.lexsort((-end, start, thread))


def nest(thread: Array, start: Array, end: Array) -> Array:
    """The parent of each range: the innermost one of its thread that is open when it starts, -1 at the top.

    Ranges must be in `nesting_order`. A range that outlasts its parent stays its child.
    """
    parent = _nest_by_depth(thread, start, end)
    return _nest_by_stack(thread, start, end) if parent is None else parent


def _nest_by_depth(thread: Array, start: Array, end: Array) -> Array | None:
    """`nest` of ranges that do not cross, by counting how many are open; None where some cross."""
    count = len(start)
    if not count:
        return np.empty(0, np.int64)
    rows = np.arange(count)
    depth = rows - _ended_before(thread, start, end)
    if (depth < 0).any():
        return None
    # The parent is the last row above, with one range less open.
    by_depth = np.argsort(depth, kind="stable")
    keys = depth[by_depth] * count + by_depth
    place = np.searchsorted(keys, (depth - 1) * count + rows) - 1
    parent = np.where(depth > 0, by_depth[place], -1)

    inner = np.flatnonzero(parent >= 0)
    above = parent[inner]
    is_level = (depth[above] == depth[inner] - 1) & (thread[above] == thread[inner])
    is_inside = (end[above] >= end[inner]) & (end[above] > start[inner])
    return parent if (is_level & is_inside).all() else None


def _ended_before(thread: Array, start: Array, end: Array) -> Array:
    """How many ranges before each have ended when it starts, those of earlier threads included."""
    count = len(start)
    moments = np.concatenate([end[np.lexsort((end, thread))], start])
    is_start = np.repeat([False, True], count)
    # At one moment ends come before starts.
    order = np.lexsort((is_start, moments, np.tile(thread, 2)))
    starts = np.flatnonzero(is_start[order])
    ended = np.empty(count, np.int64)
    ended[order[starts] - count] = starts - np.arange(count)

    # An empty range has not ended for itself, nor for those before it that start with it.
    is_empty = end == start
    if is_empty.any():
        empty_from = np.append(np.cumsum(is_empty[::-1])[::-1], 0)
        is_new = np.append(True, (start[1:] != start[:-1]) | (thread[1:] != thread[:-1]))
        next_group = np.append(np.flatnonzero(is_new)[1:], count)[np.cumsum(is_new) - 1]
        ended -= empty_from[:-1] - empty_from[next_group]
    return ended


def _nest_by_stack(thread: Array, start: Array, end: Array) -> Array:
    """`nest` of any ranges, one by one."""
    parent = np.empty(len(start), np.int64)
    open_ranges: list[int] = []
    open_ends: list[int] = []
    current = -1
    rows = zip(thread.tolist(), start.tolist(), end.tolist(), strict=True)
    for row, (on, begin, stop) in enumerate(rows):
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


def self_time(parent: Array, duration: Array) -> Array:
    """Each range's duration without its direct children."""
    children = np.zeros(len(parent) + 1, np.int64)
    np.add.at(children, parent, duration)
    own: Array = duration - children[:-1]
    return own


def clipped_ends(parent: Array, start: Array, end: Array) -> Array:
    """The end of each range, but not later than that of its parent.

    Two ranges of one thread that cross would count the time after the parent's end for the child,
    and take it from the parent.
    """
    has_parent = parent >= 0
    clipped: Array = np.where(has_parent, np.minimum(end, end[parent]), end) if len(end) else end
    if np.array_equal(clipped, end):
        return clipped
    ends = end.tolist()
    for row, above in enumerate(parent.tolist()):
        if above >= 0 and ends[row] > ends[above]:
            ends[row] = ends[above]
    return np.maximum(np.array(ends, np.int64), start)


def climb(row: Array, parent: Array, wrong: Callable[[Array, Array], Bools]) -> tuple[Array, Array]:
    """Goes from rows up their parents while they are wrong, `_CLIMB_STEPS` steps at most.

    Args:
        wrong: Takes positions in `row` and the rows reached there, and tells which to leave.

    Returns:
        The rows reached, -1 where none is left; and the positions of those that are still wrong.
    """
    reached: Array = row.copy()
    active = np.flatnonzero(reached >= 0)
    for _ in range(_CLIMB_STEPS):
        if not len(active):
            break
        active = active[wrong(active, reached[active])]
        reached[active] = parent[reached[active]]
        active = active[reached[active] >= 0]
    if len(active):
        active = active[wrong(active, reached[active])]
    return reached, active


def _open_ancestor(row: Array, parent: Array, end: Array, until: Array) -> Array:
    """The first of each row and its ancestors that ends after a moment, by jumps of powers of two."""
    count = len(parent)
    # Row `count` stands above all, and never ends.
    ancestor = np.append(np.where(parent >= 0, parent, count), count)
    latest = np.append(end, np.iinfo(np.int64).max)
    ancestors = [ancestor]
    latest_ends = [latest]
    while (ancestor != count).any():
        # The latest end of 2^k rows: the row itself and those above it.
        latest = np.maximum(latest, latest[ancestor])
        ancestor = ancestor[ancestor]
        ancestors.append(ancestor)
        latest_ends.append(latest)
    reached = row.copy()
    for ancestor, latest in zip(reversed(ancestors), reversed(latest_ends), strict=True):
        is_over = (reached != count) & (latest[reached] <= until)
        reached[is_over] = ancestor[reached[is_over]]
    return np.where(reached == count, -1, reached)


@dataclass(frozen=True)
class Ranges:
    """Time ranges on threads, by thread and start, with their tree."""

    thread: Array
    start: Array
    end: Array
    parent: Array

    def __len__(self) -> int:
        return len(self.start)

    def around(self, thread: Array, start: Array, until: Array) -> Array:
        """The innermost range of the thread that is open from `start` and at least to `until`.

        -1 where none is.
        """

        def is_over(at: Array, rows: Array) -> Bools:
            over: Bools = self.end[rows] <= until[at]
            return over

        reached, deep = climb(self._last_started(thread, start), self.parent, is_over)
        if len(deep):
            reached[deep] = _open_ancestor(reached[deep], self.parent, self.end, until[deep])
        return reached

    def _last_started(self, thread: Array, time: Array) -> Array:
        found = np.full(len(time), -1, np.int64)
        order = np.argsort(thread, kind="stable")
        threads, first = np.unique(thread[order], return_index=True)
        for on, rows in zip(threads.tolist(), np.split(order, first[1:]), strict=False):
            low, high = np.searchsorted(self.thread, (on, on + 1))
            place = np.searchsorted(self.start[low:high], time[rows], side="right") - 1
            found[rows] = np.where(place >= 0, low + place, -1)
        return found


def nearest(row: Array, parent: Array, allowed: Bools) -> Array:
    """The nearest of each row and its ancestors that is allowed, -1 where none is."""

    def is_other(_: Array, rows: Array) -> Bools:
        return ~allowed[rows]

    reached, deep = climb(row, parent, is_other)
    if len(deep):
        # Deep trees: for every row at once, by pointer doubling.
        jump = np.where(allowed, np.arange(len(parent)), parent)
        further = np.where(jump >= 0, jump[jump], -1)
        while not np.array_equal(further, jump):
            jump = further
            further = np.where(jump >= 0, jump[jump], -1)
        reached[deep] = jump[reached[deep]]
    return reached


def depths(parent: Array) -> Array:
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

    of: Array
    parent: Array
    key: Array
    first: Array

    def __len__(self) -> int:
        return len(self.parent)


def paths(parent: Array, key: Array) -> Paths:
    """Gives rows with the same keys from the root down one path. Keys are small integers from 0."""
    depth = depths(parent)
    level_count = int(depth.max(initial=-1)) + 1
    order = np.argsort(depth, kind="stable")
    if level_count > _MOST_LEVELS and level_count * _ROWS_PER_LEVEL > len(parent):
        return _paths_by_row(order, parent, key)
    levels = np.searchsorted(depth[order], np.arange(level_count + 1))
    width = int(key.max(initial=0)) + 1
    of = np.empty(len(parent), np.int64)
    codes: list[Array] = []
    firsts: list[Array] = []
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
    return Paths(of=of, parent=code // width - 1, key=code % width, first=first)


def _paths_by_row(order: Array, parent: Array, key: Array) -> Paths:
    """`paths` of a tree that is so deep that each of its levels holds few rows.

    Args:
        order: The rows, parents before their children.
    """
    numbers: dict[tuple[int, int], int] = {}
    parents = parent.tolist()
    keys = key.tolist()
    of = [-1] * len(parents)
    first: list[int] = []
    for row in order.tolist():
        above = parents[row]
        place = (of[above] if above >= 0 else -1, keys[row])
        number = numbers.get(place)
        if number is None:
            number = numbers[place] = len(first)
            first.append(row)
        of[row] = number
    places = np.array(list(numbers), np.int64).reshape(-1, 2)
    return Paths(
        of=np.array(of, np.int64),
        parent=places[:, 0],
        key=places[:, 1],
        first=np.array(first, np.int64),
    )


def distinct(*columns: Array) -> tuple[Array, Array]:
    """Numbers the distinct rows of columns: the number of each row, and the first row of each number."""
    code = np.zeros(len(columns[0]), np.int64)
    for values in columns:
        _, number = np.unique(values, return_inverse=True)
        _, code = np.unique(code * (int(number.max(initial=0)) + 1) + number, return_inverse=True)
    _, first = np.unique(code, return_index=True)
    return code.astype(np.int64), first

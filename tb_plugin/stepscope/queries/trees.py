"""Windows over a tree that is an array in preorder: what is open, in which order, and what an icicle shows.

A tree is three int columns: `parent` (-1 for the root at row 0), `depth`, and `end`, the row after the last descendant.
What travels to the browser does not grow with the tree: the rows in sight, and rectangles wider than a pixel.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Tree:
    """A tree in preorder."""

    parent: Ints
    depth: Ints
    end: Ints

    def __len__(self) -> int:
        return len(self.parent)

    @functools.cached_property
    def children(self) -> Ints:
        """The number of direct children of each row."""
        return np.bincount(self.parent[1:], minlength=len(self)).astype(np.int64)

    def ancestor_sum(self, values: NDArray[Any]) -> Ints:
        """For each row, the sum of integer values over the row and all its ancestors, exact below 2**53 in all."""
        gone = np.bincount(self.end, weights=values, minlength=len(self) + 1)[: len(self)]
        return np.cumsum(values.astype(np.int64) - np.rint(gone).astype(np.int64))

    def below(self, flags: Bools) -> Ints:
        """For each row, how many of its strict descendants are flagged."""
        before = np.concatenate(([0], np.cumsum(flags)))
        return np.asarray(before[self.end] - before[1:], np.int64)


def display_order(tree: Tree, keys: Sequence[NDArray[Any]]) -> Ints:
    """The position of each row when siblings are sorted.

    Args:
        tree: The tree.
        keys: Sort keys, the most important first, ascending; rows with equal keys keep their order.

    Returns:
        For each row its place in the preorder of the sorted tree.
    """
    count = len(tree)
    if not count:
        return np.empty(0, np.int64)
    size = tree.end - np.arange(count)
    order = np.lexsort((*reversed(keys), tree.parent))
    sizes, parents = size[order], tree.parent[order]
    before = np.cumsum(sizes) - sizes
    offset = np.empty(count, np.int64)
    offset[order] = before - _group_starts(parents, before)
    step = offset + 1
    step[0] = 0
    return tree.ancestor_sum(step)


def _group_starts(groups: Ints, values: NDArray[Any]) -> NDArray[Any]:
    """For each element the value of the first element of its group, where equal groups stand together."""
    first = np.flatnonzero(np.concatenate(([True], groups[1:] != groups[:-1])))
    return np.repeat(values[first], np.diff(np.append(first, len(groups))))


@dataclass(frozen=True)
class Opened:
    """Which rows are open: those down to a depth, except the toggled ones, and the ancestors of matches.

    Attributes:
        depth: Rows down to this depth are open.
        toggled: Rows that are open where they would be closed, and the other way round.
        below: Rows from which on all below are open, or, with a minus, closed; later ones win.
    """

    depth: int = 1
    toggled: tuple[int, ...] = ()
    below: tuple[int, ...] = ()


def open_rows(tree: Tree, opened: Opened, matched: Bools | None = None) -> Bools:
    """Whether each row shows its children."""
    flags: Bools = tree.depth < opened.depth
    for row in opened.below:
        if abs(row) < len(tree):
            flags[abs(row) : int(tree.end[abs(row)])] = row >= 0
    inside = [i for i in opened.toggled if 0 <= i < len(tree)]
    flags[inside] = ~flags[inside]
    if matched is not None:
        flags |= tree.below(matched) > 0
    return flags & (tree.children > 0)


def visible_rows(tree: Tree, is_open: Bools, position: Ints, root: int = 0) -> Ints:
    """The rows in sight below and including a root, in display order."""
    if not len(tree):
        return np.empty(0, np.int64)
    closed = (~is_open & (tree.children > 0)).astype(np.int64)
    closed_above = tree.ancestor_sum(closed) - closed
    stop = int(tree.end[root])
    rows = root + np.flatnonzero(closed_above[root:stop] == closed_above[root])
    return np.asarray(rows[np.argsort(position[rows], kind="stable")], np.int64)


@dataclass(frozen=True, eq=False)
class Rectangles:
    """The rectangles of an icicle. A folded one stands for `folded` rows and has row -1."""

    row: Ints
    depth: Ints
    start: Floats
    stop: Floats
    folded: Ints


@dataclass(frozen=True, eq=False)
class Icicle:
    """A tree laid out by a total: children side by side from their parent's start, the widest first.

    Where children have more than their parent together, because they overlap in time, they share its width.
    """

    tree: Tree
    value: NDArray[Any]

    @functools.cached_property
    def _width(self) -> Floats:
        value: Floats = np.maximum(self.value, 0).astype(np.float64)
        inside = np.bincount(self.tree.parent[1:], weights=value[1:], minlength=len(value))
        crowded = inside > value
        if not crowded.any():
            return value
        shrink = np.zeros(len(value))
        shrink[crowded] = np.log(np.maximum(value[crowded], 1e-9) / inside[crowded])
        return np.asarray(value * np.exp(self._above(shrink) - shrink))

    def _above(self, values: Floats) -> Floats:
        """For each row the sum over the row and its ancestors, as floats."""
        count = len(self.tree)
        gone = np.bincount(self.tree.end, weights=values, minlength=count + 1)[:count]
        return np.asarray(np.cumsum(values - gone))

    @functools.cached_property
    def _start(self) -> Floats:
        width = self._width
        order = np.lexsort((-width, self.tree.parent))
        before = np.cumsum(width[order]) - width[order]
        offset = np.empty(len(width))
        offset[order] = before - _group_starts(self.tree.parent[order], before)
        return self._above(offset)

    def rectangles(self, root: int, width_px: int, max_depth: int) -> Rectangles:
        """The rectangles below and including a root that are at least a pixel wide; the rest folded per parent."""
        tree, value = self.tree, self._width
        total = float(value[root]) if len(tree) else 0.0
        if total <= 0:
            empty = np.empty(0, np.int64)
            return Rectangles(empty, empty, empty.astype(float), empty.astype(float), empty)
        rows = np.arange(root, int(tree.end[root]))
        rows = rows[tree.depth[rows] - tree.depth[root] < max_depth]
        wide = value[rows] * max(width_px, 1) >= total
        shown = self._connected(rows[wide], root)
        folded_parent, folded_value, folded_count, folded_start = self._folded(rows[~wide], shown, value)
        start = (self._start[shown] - self._start[root]) / total
        fold_start = (folded_start - self._start[root]) / total
        return Rectangles(
            np.concatenate((shown, np.full(len(folded_parent), -1))),
            np.concatenate((tree.depth[shown], tree.depth[folded_parent] + 1)) - tree.depth[root],
            np.concatenate((start, fold_start)),
            np.minimum(np.concatenate((start + value[shown] / total, fold_start + folded_value / total)), 1.0),
            np.concatenate((np.zeros(len(shown), np.int64), folded_count)),
        )

    def _connected(self, rows: Ints, root: int) -> Ints:
        """Leaves out rows under a narrow ancestor, whose children may be wider than itself."""
        flags = np.zeros(len(self.tree), np.int64)
        flags[rows] = 1
        depth_below = self.tree.depth[rows] - self.tree.depth[root] + 1
        above = self.tree.ancestor_sum(flags)[rows]
        outside = int(self.tree.ancestor_sum(flags)[root]) - int(flags[root])
        return np.asarray(rows[above - outside == depth_below], np.int64)

    def _folded(self, narrow: Ints, shown: Ints, value: Floats) -> tuple[Ints, Floats, Ints, Floats]:
        flags = np.zeros(len(self.tree) + 1, bool)
        flags[shown] = True
        rows = narrow[flags[self.tree.parent[narrow]] & (value[narrow] > 0)]
        parents, inverse = np.unique(self.tree.parent[rows], return_inverse=True)
        start = np.full(len(parents), np.inf)
        np.minimum.at(start, inverse, self._start[rows])
        summed = np.bincount(inverse, weights=value[rows], minlength=len(parents)).astype(np.float64)
        counts = np.bincount(inverse, weights=self.tree.end[rows] - rows, minlength=len(parents))
        return parents.astype(np.int64), summed, counts.astype(np.int64), start

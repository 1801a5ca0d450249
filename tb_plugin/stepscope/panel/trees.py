"""Windows over a tree that is an array in preorder: what is open, in which order, and what an icicle shows.

A tree is three int columns: `parent` (-1 for the root at row 0), `depth`, and `end`, the row after the last descendant.
What travels to the browser does not grow with the tree: the rows in sight, and rectangles wider than a pixel.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stepscope.lenses.views.tree import Tree, inverse, levels
from stepscope.model.arrays import Bools, Floats, Ints

MAX_RECTANGLES = 1200
"""More could not be told apart, and would make answers large."""


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
    for signed_row in opened.below:
        row = abs(signed_row)
        if row < len(tree):
            flags[row : int(tree.end[row])] = signed_row >= 0
    toggled = [row for row in opened.toggled if 0 <= row < len(tree)]
    flags[toggled] = ~flags[toggled]
    if matched is not None:
        flags |= tree.sums(matched.astype(np.int64)) > matched
    return flags & (tree.children > 0)


def visible_rows(tree: Tree, is_open: Bools, root: int = 0) -> Ints:
    """The rows in sight below and including a root, in the order of the tree."""
    if not len(tree):
        return np.empty(0, np.int64)
    closed = (~is_open & (tree.children > 0)).astype(np.int64)
    closed_above = tree.path_sums(closed) - closed
    stop = int(tree.end[root])
    return root + np.flatnonzero(closed_above[root:stop] == closed_above[root])


def sorted_rows(tree: Tree, rows: Ints, key: Ints) -> Ints:
    """Rows in sight, siblings sorted by the key of each; ties keep their order. Rows out of sight cost nothing."""
    if not len(rows):
        return rows
    before = np.zeros(len(tree) + 1, np.int64)
    before[rows + 1] = 1
    np.cumsum(before, out=before)
    parent = before[tree.parent[rows]]
    parent[0] = -1
    in_sight = Tree(parent, tree.depth[rows], before[tree.end[rows]])
    return rows[inverse(in_sight.places([key]))]


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

    def rectangles(self, root: int, width_px: int, max_depth: int) -> Rectangles:
        """The rectangles below and including a root.

        Those at least a pixel wide are drawn, of more than MAX_RECTANGLES the widest. The rest is folded into one
        rectangle for each parent.
        """
        width = self._width
        total = float(width[root]) if len(width) else 0.0
        if total <= 0:
            empty = np.empty(0, np.int64)
            nowhere = np.empty(0, np.float64)
            return Rectangles(row=empty, depth=empty, start=nowhere, stop=nowhere, folded=empty)

        rows = np.arange(root, int(self.tree.end[root]))
        rows = rows[self.tree.depth[rows] - self.tree.depth[root] < max_depth]
        wide = width[rows] * max(width_px, 1) >= total
        if np.count_nonzero(wide) > MAX_RECTANGLES:
            # Among rows of one width ancestors come first, so that none is drawn without its parent.
            candidates = np.flatnonzero(wide)
            widest_first = candidates[np.argsort(-width[rows[candidates]], kind="stable")]
            wide[widest_first[MAX_RECTANGLES:]] = False
            wide[0] = True

        shown, start, used = self._placed(rows[wide], root)
        parents, folded_width, folded_count = self._folded(rows[~wide], shown)
        place = np.searchsorted(shown, parents)
        fold_start = start[place] + used[place]
        depth = np.concatenate((self.tree.depth[shown], self.tree.depth[parents] + 1))
        stop = np.concatenate((start + width[shown], fold_start + folded_width))
        return Rectangles(
            row=np.concatenate((shown, np.full(len(parents), -1))),
            depth=depth - self.tree.depth[root],
            start=np.concatenate((start, fold_start)) / total,
            stop=np.minimum(stop / total, 1.0),
            folded=np.concatenate((np.zeros(len(shown), np.int64), folded_count)),
        )

    def _placed(self, rows: Ints, root: int) -> tuple[Ints, Floats, Floats]:
        """Places rows from the root down, the widest child first.

        Rows under a narrow one, whose children may be wider than itself, are left out.

        Returns:
            The rows that are left, where each starts, and how much of each its children take.
        """
        depth = self.tree.depth[rows]
        parent = np.searchsorted(rows, self.tree.parent[rows])
        width = self._width[rows]
        start = np.zeros(len(rows))
        used = np.zeros(len(rows))
        is_placed = rows == root
        for level in levels(depth)[1:]:
            has_parent = (
                rows[np.minimum(parent[level], len(rows) - 1)] == self.tree.parent[rows[level]]
            )
            level = level[has_parent]
            level = level[is_placed[parent[level]]]
            level = level[np.lexsort((-width[level], parent[level]))]
            before = np.cumsum(width[level]) - width[level]
            first = np.flatnonzero(np.diff(parent[level], prepend=-1))
            siblings = np.diff(first, append=len(level))
            before_siblings = np.repeat(before[first], siblings)
            start[level] = start[parent[level]] + before - before_siblings
            is_placed[level] = True
            np.add.at(used, parent[level], width[level])
        return rows[is_placed], start[is_placed], used[is_placed]

    def _folded(self, narrow: Ints, shown: Ints) -> tuple[Ints, Floats, Ints]:
        """The parents of narrow rows among those shown, and how wide and how many the narrow ones are together."""
        flags = np.zeros(len(self.tree), bool)
        flags[shown] = True
        rows = narrow[flags[self.tree.parent[narrow]] & (self._width[narrow] > 0)]
        parents, which = np.unique(self.tree.parent[rows], return_inverse=True)
        width = np.bincount(which, weights=self._width[rows], minlength=len(parents)).astype(
            np.float64
        )
        count = np.bincount(which, weights=self.tree.end[rows] - rows, minlength=len(parents))
        return parents, width, count.astype(np.int64)

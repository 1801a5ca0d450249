"""A tree as arrays in preorder: every question about subtrees is a difference of prefix sums, every filter a mask."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from stepscope.model.columns import Array, Ints


@dataclass(frozen=True, eq=False)
class Tree:
    """Rows in preorder; row 0 is the root.

    Attributes:
        parent: The row's parent, -1 for the root.
        depth: Number of rows above it.
        end: The row after its subtree, so that `[row, end)` is the subtree.
    """

    parent: Ints
    depth: Ints
    end: Ints

    def __len__(self) -> int:
        return len(self.parent)

    def sums(self, values: Array) -> Array:
        """For each row the sum of `values` over its subtree, itself included."""
        running = np.zeros(len(self) + 1, values.dtype)
        np.cumsum(values, out=running[1:])
        sums: Array = running[self.end]
        sums -= running[:-1]
        return sums

    def sums_of(self, values: Array, rows: Sequence[int] | Ints) -> Array:
        """The same of some rows: for few it takes a fraction of the time."""
        first, last = np.asarray(rows, np.int64), self.end[rows]
        edges = np.sort(np.concatenate((first, last)))
        edges = edges[np.append(edges[1:] != edges[:-1], True)[: len(edges)]]
        running = np.zeros(len(edges), values.dtype)
        if len(edges):
            np.cumsum(np.add.reduceat(values[: edges[-1]], edges[:-1]), out=running[1:])
        return running[np.searchsorted(edges, last)] - running[np.searchsorted(edges, first)]

    def path_sums(self, values: Ints) -> Ints:
        """For each row the sum of `values` over itself and the rows above it."""
        change = np.zeros(len(self) + 1, np.int64)
        change[:-1] = values
        np.subtract.at(change, self.end, values)
        return np.cumsum(change[:-1], out=change[:-1])

    def below(self, marked: Array) -> Array:
        """Whether some row above the row is marked."""
        return self.path_sums(marked.astype(np.int64)) > marked

    def keep(self, mask: Array) -> tuple[Tree, Ints]:
        """Takes rows out; what hung below them moves up to the nearest row that stays. The root must stay.

        Returns:
            The new tree, and for each of its rows the row in this tree.
        """
        rows = np.flatnonzero(mask)
        near = np.where(mask, np.arange(len(self)), self.parent)
        while not mask[near].all():
            near = near[near]
        place = np.zeros(len(self) + 1, np.int64)
        np.cumsum(mask, out=place[1:])
        parent = place[near[self.parent[rows]]]
        parent[0] = -1
        depth = self.path_sums(mask.astype(np.int64))[rows] - 1
        return Tree(parent, depth, place[self.end[rows]]), rows

    def sort(self, keys: Sequence[Array]) -> tuple[Tree, Ints]:
        """Sorts siblings by the keys, the first one first; ties keep their order.

        Returns:
            The new tree, and for each of its rows the row in this tree.
        """
        place = self.places(keys)
        rows = inverse(place)
        parent = place[self.parent[rows]]
        parent[:1] = -1
        return Tree(parent, self.depth[rows], np.arange(len(self)) + self.sizes[rows]), rows

    def places(self, keys: Sequence[Array]) -> Ints:
        """Where each row stands when siblings are sorted by the keys, the first one first; ties keep their order."""
        order = stable_order((self.parent, *keys))
        return self.path_sums(_steps_before(order, self.parent, self.sizes))

    @property
    def sizes(self) -> Ints:
        """The number of rows in each subtree."""
        return self.end - np.arange(len(self))

    @cached_property
    def children(self) -> Ints:
        """The number of children of each row."""
        return np.bincount(self.parent[1:], minlength=len(self)).astype(np.int64)


def inverse(place: Ints) -> Ints:
    """What stands at each place, given the place of each."""
    found = np.empty(len(place), np.int64)
    found[place] = np.arange(len(place))
    return found


def stable_order(keys: Sequence[Array]) -> Ints:
    """Sorts by integer keys, the first one first; ties keep their order.

    All keys and the row are put into one number of 63 bits, which numpy sorts ten times faster than it tells the order
    of numbers. Where they do not fit, what was put together so far is replaced by its place in the order.
    """
    rows = max(len(keys[0]), 1)
    order: Ints | None = None
    joined, room = np.arange(len(keys[0])), rows
    for key in reversed(keys):
        low, high = int(key.min(initial=0)), int(key.max(initial=0))
        if room * (high - low + 1) >= 1 << 63:
            order = _sorted_rows(joined, rows, order)
            joined, room = inverse(order), rows
        if room * (high - low + 1) >= 1 << 63:
            distinct, key = np.unique(key, return_inverse=True)
            low, high = 0, len(distinct) - 1
        digit = np.subtract(key, low, dtype=np.int64)
        digit *= room
        joined += digit
        room *= high - low + 1
    return _sorted_rows(joined, rows, order)


def _sorted_rows(joined: Ints, rows: int, order: Ints | None) -> Ints:
    """The rows in the order of numbers whose last digit is the row, or its place in an order. Takes the numbers up."""
    joined.sort()
    joined %= rows
    return joined if order is None else order[joined]


def _steps_before(order: Ints, parent: Ints, size: Ints) -> Ints:
    """How far each row stands behind its parent, when siblings follow each other in `order`. 0 for the root."""
    sizes, grouped = size[order], parent[order]
    before = np.cumsum(sizes)
    before -= sizes
    first = np.ones(len(order), bool)
    np.not_equal(grouped[1:], grouped[:-1], out=first[1:])
    of_first = np.maximum.accumulate(before * first)
    before -= of_first
    before += 1
    steps = np.empty(len(order), np.int64)
    steps[order] = before
    steps[parent < 0] = 0
    return steps


def depths(parent: Ints) -> Ints:
    """The number of ancestors of each row of a forest, in any order; -1 marks the top."""
    depth = (parent >= 0).astype(np.int64)
    above = parent.copy()
    while True:
        inner = np.flatnonzero(above >= 0)
        if not len(inner):
            return depth
        up = above[inner]
        depth[inner] += depth[up]
        above[inner] = above[up]


def levels(depth: Ints) -> list[Ints]:
    """The rows of each depth, the top first."""
    # Short numbers are sorted by their digits.
    order = np.argsort(
        depth.astype(np.uint16) if int(depth.max(initial=0)) < 1 << 16 else depth, kind="stable"
    )
    return np.split(order, np.flatnonzero(np.diff(depth[order])) + 1) if len(order) else []


def preorder(parent: Ints, rank: Array) -> tuple[Tree, Ints]:
    """Lays a tree out in preorder.

    Args:
        parent: The parent of each row; exactly one row, the root, has -1.
        rank: What siblings are sorted by; ties keep their order.

    Returns:
        The tree, and for each of its rows the row of the input.
    """
    depth = depths(parent)
    rows_at = levels(depth)
    size = np.ones(len(parent), np.int64)
    for rows in reversed(rows_at[1:]):
        np.add.at(size, parent[rows], size[rows])
    order = stable_order((parent, rank))
    place = _steps_before(order, parent, size)
    for rows in rows_at[1:]:
        place[rows] += place[parent[rows]]
    rows = inverse(place)
    new_parent = place[parent[rows]]
    new_parent[0] = -1
    return Tree(new_parent, depth[rows], np.arange(len(parent)) + size[rows]), rows


def flat(rows: int) -> Tree:
    """A root with `rows` children."""
    parent = np.zeros(rows + 1, np.int64)
    parent[0] = -1
    end = np.arange(1, rows + 2)
    end[0] = rows + 1
    return Tree(parent, (parent == 0).astype(np.int64), end)


def chain(rows: int) -> Tree:
    """`rows` rows, each the only child of the one before; the first one is the root."""
    place = np.arange(rows)
    return Tree(place - 1, place, np.full(rows, rows))


EMPTY = Tree(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0, np.int64))
"""No rows at all, not even a root."""

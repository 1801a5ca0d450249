"""The layout of a view: its rows as a tree, before any option chooses among them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from stepscope.lenses.views.matching import contains, slices
from stepscope.lenses.views.tree import Tree, flat
from stepscope.model.columns import Array, Ints, Loss, Strings
from stepscope.model.profile import NodeKind

ROOT_NAME = "_TFProfRoot"
ROOT, NAMELESS = -1, -2


@dataclass(frozen=True, eq=False)
class Layout:
    """Rows of a view and the graph nodes in them.

    Attributes:
        tree: The rows in natural order; row 0 is the root.
        row_of_node: The row that each node of the profile belongs to, -1 for none.
        labels: The texts that rows are called by.
        label: The text of each row; ROOT for row 0, NAMELESS for an empty one.
        kind: NodeKind of each row.
        rank: Gives the place of each row's full name in byte order.
        node_rank: Gives the same for each node.
        joined: Whether a row's full name is made of the labels above it, joined by '/'.
        keys: The texts that tell rows apart, where labels are short forms of them.
        problems: What the view cannot show, and why.
    """

    tree: Tree
    row_of_node: Ints
    labels: Strings
    label: Ints
    kind: Array
    rank: Callable[[], Ints]
    node_rank: Callable[[], Ints]
    joined: bool = False
    keys: Strings | None = None
    problems: tuple[Loss, ...] = field(default=())

    def __len__(self) -> int:
        return len(self.tree)

    @cached_property
    def name_rank(self) -> Ints:
        """The place of each row's full name in byte order."""
        return self.rank()

    @cached_property
    def has_nodes(self) -> Array:
        """Which rows hold nodes themselves."""
        holds = np.zeros(len(self), bool)
        holds[self.row_of_node[self.row_of_node >= 0]] = True
        return holds

    @cached_property
    def _members(self) -> tuple[Ints, Ints]:
        order = np.lexsort((self.node_rank(), self.row_of_node))
        order = order[np.count_nonzero(self.row_of_node < 0) :]
        start = np.searchsorted(self.row_of_node[order], np.arange(len(self) + 1))
        return order, start

    def members(self, row: int) -> Ints:
        """The nodes in a row, by name."""
        order, start = self._members
        return order[start[row] : start[row + 1]]

    def short_names(self, rows: Sequence[int] | Ints) -> list[str]:
        """What rows are called below the row that holds them."""
        return [self._label(label) for label in self.label[rows].tolist()]

    def _label(self, label: int) -> str:
        if label < 0:
            return ROOT_NAME if label == ROOT else ""
        text: str = self.labels[label]
        return text

    def full_names(self, rows: Sequence[int] | Ints) -> list[str]:
        """The whole names of rows."""
        if not self.joined:
            return self.short_names(rows)
        if len(rows) > len(self) // 4:
            texts = self._paths
            return [texts[row].decode("utf-8", "replace") for row in np.asarray(rows).tolist()]
        lines = [self.line(row) for row in np.asarray(rows).tolist()]
        return ["/".join(self.short_names(line)) if len(line) else ROOT_NAME for line in lines]

    def line(self, row: int) -> Ints:
        """The rows from the top down to a row, without the root."""
        rows = []
        while row > 0:
            rows.append(row)
            row = int(self.tree.parent[row])
        return np.array(rows[::-1], np.int64)

    @cached_property
    def _paths(self) -> list[bytes]:
        texts = slices(self.labels)
        paths = [ROOT_NAME.encode()]
        for label, parent in zip(self.label[1:].tolist(), self.tree.parent[1:].tolist(), strict=True):
            paths.append(paths[parent] + b"/" + texts[label] if parent else texts[label])
        return paths

    def matches(self, test: Callable[[Sequence[bytes]], Array]) -> Array:
        """For each row whether its full name passes a test of texts."""
        if self.joined:
            return test(self._paths)
        used, which = np.unique(self.label, return_inverse=True)
        texts = [self._label(label).encode() for label in used.tolist()]
        return test(texts)[which]

    def search(self, text: str, *, regex: bool, ignore_case: bool) -> Array:
        """Which rows have a text, or a match of a regex, in their label; in their full name when it holds a '/'."""
        if self.joined and "/" in text.removeprefix("/"):
            table = Strings.of(path.decode("utf-8", "replace") for path in self._paths)
            return contains(table, text, regex=regex, ignore_case=ignore_case)
        by_label = contains(self.labels, text, regex=regex, ignore_case=ignore_case)
        found: Array = np.append(by_label, [False, False])[self.label]
        return found

    def stable_keys(self, rows: Sequence[int] | Ints) -> list[str]:
        """What rows are called in every profile of the same program."""
        if self.keys is None:
            return self.full_names(rows)
        lines = [self.label[self.line(row)].tolist() for row in np.asarray(rows).tolist()]
        return [" > ".join(self.keys[label] for label in line) or ROOT_NAME for line in lines]


def bare_layout(nodes: int) -> Layout:
    """A root and nothing else, which none of the profile's nodes is in."""
    return Layout(
        flat(0),
        np.full(nodes, -1, np.int64),
        Strings(),
        np.array([ROOT]),
        np.array([NodeKind.SCOPE], np.int8),
        rank=lambda: np.zeros(1, np.int64),
        node_rank=lambda: np.arange(nodes),
    )

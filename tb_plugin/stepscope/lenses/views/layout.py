"""The layout of a view: its rows as a tree, before any option chooses among them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from stepscope.errors import LimitExceeded
from stepscope.lenses.views.matching import SearchTable, chosen, slices
from stepscope.lenses.views.tree import Tree, flat, stable_order
from stepscope.model.columns import Array, Ints, Strings
from stepscope.model.diagnostic import Diagnostic
from stepscope.model.profile import NodeKind

ROOT_NAME = "_TFProfRoot"
ROOT = -1
_LARGEST_PATHS_BYTES = 1 << 30


@dataclass(frozen=True, eq=False)
class Layout:
    """Rows of a view and the graph nodes in them.

    Attributes:
        tree: The rows in natural order; row 0 is the root.
        row_of_node: The row that each node of the profile belongs to, -1 for none.
        labels: The texts that rows are called by.
        label: The text of each row; ROOT for row 0.
        kind: NodeKind of each row.
        rank: Gives the place of each row's full name in byte order.
        node_rank: Gives the same for each node.
        separator: What joins the labels above a row and its own to its full name; '' where the label is the full name.
        keys: The texts that tell rows apart in comparisons, where they are not the labels.
        key_separator: What joins them, '' where they tell rows apart as they are.
        divides_launches: Whether rows of launched work stand below the row of the op that launched it.
        nameless: A row that holds others without being a part of their full names, -1 for none.
        problems: What the view cannot show, and why.
    """

    tree: Tree
    row_of_node: Ints
    labels: Strings
    label: Ints
    kind: Array
    rank: Callable[[], Ints]
    node_rank: Callable[[], Ints]
    separator: str = ""
    keys: Strings | None = None
    key_separator: str = ""
    nameless: int = -1
    divides_launches: bool = False
    problems: tuple[Diagnostic, ...] = field(default=())

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
        nodes = np.flatnonzero(self.row_of_node >= 0)
        rows = self.row_of_node[nodes]
        count = np.bincount(rows, minlength=len(self))
        start = np.concatenate(([0], np.cumsum(count)))
        if int(count.max(initial=0)) > 1:
            return nodes[stable_order((rows, self.node_rank()[nodes]))], start
        node_of_row = np.empty(len(self), np.int64)
        node_of_row[rows] = nodes
        return node_of_row[count > 0], start

    def members(self, row: int) -> Ints:
        """The nodes in a row, by name."""
        order, start = self._members
        return order[start[row] : start[row + 1]]

    def short_names(self, rows: Sequence[int] | Ints) -> list[str]:
        """What rows are called below the row that holds them."""
        label, which = np.unique(self.label[rows], return_inverse=True)
        names = [text.decode("utf-8", "replace") for text in chosen(self.labels, label)]
        if len(label) and label[0] == ROOT:
            names[0] = ROOT_NAME
        return [names[at] for at in which.tolist()]

    def full_names(self, rows: Sequence[int] | Ints) -> list[str]:
        """The whole names of rows."""
        if not self.separator:
            return self.short_names(rows)
        chosen = np.asarray(rows).tolist()
        if len(chosen) > len(self) // 4:
            return [self._paths[row].decode("utf-8", "replace") for row in chosen]
        lines = [self._line(row) for row in chosen]
        return [
            self.separator.join(self.short_names(line)) if len(line) else ROOT_NAME
            for line in lines
        ]

    def _line(self, row: int) -> Ints:
        """The rows whose names make up a row's full name."""
        rows = [row] if row > 0 else []
        while (row := int(self.tree.parent[row])) > 0 and row != self.nameless:
            rows.append(row)
        return np.array(rows[::-1], np.int64)

    @cached_property
    def _paths(self) -> list[bytes]:
        return self._joined(slices(self.labels), self.separator.encode())

    def _joined(self, texts: list[bytes], separator: bytes) -> list[bytes]:
        """The texts of the labels from the top down to each row, joined.

        Raises:
            LimitExceeded: Rows hang so deep that all their paths do not fit into memory.
        """
        paths, size, tops = [ROOT_NAME.encode()], 0, (0, self.nameless)
        for label, parent in zip(
            self.label[1:].tolist(), self.tree.parent[1:].tolist(), strict=True
        ):
            path = paths[parent] + separator + texts[label] if parent not in tops else texts[label]
            paths.append(path)
            size += len(path)
            if size > _LARGEST_PATHS_BYTES:
                raise _too_deep(int(self.tree.depth.max()))
        return paths

    @cached_property
    def stable_keys(self) -> list[str]:
        """What each row is called in every profile of the same program; rows called alike are numbered."""
        texts = slices(self.labels if self.keys is None else self.keys)
        separator = self.key_separator or self.separator
        if separator:
            names = self._joined(texts, separator.encode())
        else:
            names = [ROOT_NAME.encode(), *(texts[label] for label in self.label[1:].tolist())]
        return _numbered([name.decode("utf-8", "replace") for name in names])

    def matches(self, test: Callable[[Sequence[bytes] | Strings], Array]) -> Array:
        """For each row whether its full name passes a test of texts."""
        if self.separator:
            return test(self._paths)
        passed = np.zeros(len(self.labels), bool)
        passed[self.label[1:]] = True
        used = np.flatnonzero(passed)
        if len(used) > len(passed) // 2:
            passed = test(self.labels)
        else:
            passed[used] = test(chosen(self.labels, used))
        return np.concatenate((test([ROOT_NAME.encode()]), passed[self.label[1:]]))

    def search(self, text: str, *, regex: bool, ignore_case: bool) -> Array:
        """Which rows have a text, or a match of a regex, in their label; in their full name when it holds a '/'."""
        if self.separator and self.separator in text.removeprefix("/"):
            return self._paths_table.contains(text, regex=regex, ignore_case=ignore_case)
        by_label = self._label_table.contains(text, regex=regex, ignore_case=ignore_case)
        found: Array = np.append(by_label, False)[self.label]
        return found

    @cached_property
    def _label_table(self) -> SearchTable:
        return SearchTable(self.labels)

    @cached_property
    def _paths_table(self) -> SearchTable:
        return SearchTable(Strings.of(path.decode("utf-8", "replace") for path in self._paths))


def _too_deep(depth: int) -> LimitExceeded:
    return LimitExceeded(
        f"the paths of rows {depth} levels deep take more than {_LARGEST_PATHS_BYTES >> 20} MiB",
        where="names",
        remedy="Use a view or max_depth that shows fewer levels, and no regexes on names",
    )


def _numbered(names: list[str]) -> list[str]:
    """The names, with the second and further ones of the same text numbered."""
    seen: dict[str, int] = {}
    numbered = []
    for name in names:
        count = seen[name] = seen.get(name, 0) + 1
        numbered.append(name if count == 1 else f"{name} #{count}")
    return numbered


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

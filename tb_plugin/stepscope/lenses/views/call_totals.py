"""Totals of ops that call each other: the time of the outermost calls of each op, with all that they called."""

from __future__ import annotations

import numpy as np

from stepscope.lenses.views.accounting import RowFigures
from stepscope.lenses.views.layout import Layout
from stepscope.lenses.views.tree import Tree
from stepscope.model.columns import Array, Ints


class CallTotals:
    """Totals of the rows of an op view, from the tree of calls and, for modules, from the tree of scopes.

    A call inside a call of the same op counts once, so that no total is more than the whole (docs/time.md).

    Args:
        layout: The op view.
        calls: The figures of the call tree.
        scopes: The figures of the scope tree.
        is_module: Which nodes are modules. What happens in them lies below them in the scope tree only.
    """

    def __init__(
        self, layout: Layout, calls: RowFigures, scopes: RowFigures, is_module: Array
    ) -> None:
        self._layout = layout
        self._calls = calls
        self._scopes = scopes
        counted = calls.accounting.nodes & (layout.row_of_node >= 0)
        self._outermost = _outermost(counted & ~is_module, layout, calls.layout)
        self._outermost_modules = _outermost(counted & is_module, layout, scopes.layout)

    def of_rows(self, field: str) -> Ints:
        """The total of each row; of row 0 nothing. Runs are all calls, the inner ones too."""
        total = np.zeros(len(self._layout), np.int64)
        if field == "run_count":
            counted = self._calls.accounting.nodes
            np.add.at(total, self._layout.row_of_node[counted], self._calls.nodes[field][counted])
            return total
        for outermost, figures in (
            (self._outermost, self._calls),
            (self._outermost_modules, self._scopes),
        ):
            row, inner_row = outermost
            np.add.at(total, row, figures.total(field)[inner_row])
        return total


def _outermost(nodes: Array, layout: Layout, inner: Layout) -> tuple[Ints, Ints]:
    """The rows of a tree that hold the outermost nodes of each row of another layout.

    Args:
        nodes: Which nodes are asked for.
        layout: The rows that group nodes.
        inner: The tree that says which node is inside which.

    Returns:
        For each outermost one its row in `layout` and its row in `inner`. A row of `inner` with several
        nodes of one row of `layout` comes once.
    """
    chosen = np.flatnonzero(nodes & (inner.row_of_node >= 0))
    pair = np.unique(layout.row_of_node[chosen] * len(inner) + inner.row_of_node[chosen])
    row = pair // len(inner)
    inner_row = pair % len(inner)
    is_inside = _inside_previous(inner.tree, row, inner_row)
    return row[~is_inside], inner_row[~is_inside]


def _inside_previous(tree: Tree, group: Ints, row: Ints) -> Array:
    """Which rows, in the order of group and row, are below an earlier one of their group."""
    rows = len(tree) + 1
    reached = np.maximum.accumulate(group * rows + tree.end[row])
    inside = np.zeros(len(row), bool)
    inside[1:] = group[1:] * rows + row[1:] < reached[:-1]
    return inside

"""Which nodes count, and what the rows of a view cost: own figures and totals, computed when asked for."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np

from stepscope.lenses.views.calls import CallTimes
from stepscope.lenses.views.layout import Layout
from stepscope.lenses.views.matching import full_matches
from stepscope.lenses.views.metrics import NodeFigures
from stepscope.lenses.views.options import EVERYTHING
from stepscope.lenses.views.tree import Tree
from stepscope.model.columns import Array, Ints
from stepscope.model.profile import Profile

SCOPE_TYPE = b"_kTFScopeParent"
_FEW = 64
_HOST_TIMES = ("cpu_exec_micros", "exec_micros")
DEFINITIONS = "definition_count"
"""The figure behind `total_definition_count`: how many graph nodes."""
_COUNTS = ("run_count", DEFINITIONS)
"""Figures that launched work has beside the op that launched it. All others of it are the op's."""


def counted_nodes(
    profile: Profile, texts: Sequence[bytes], types: Ints, regexes: Sequence[str]
) -> Array:
    """For each node whether some regex matches one of its types.

    Args:
        profile: The profile.
        texts: The distinct types.
        types: For each row of `profile.op_types` its place in `texts`.
        regexes: The `account_type_regexes`.
    """
    if tuple(regexes) == EVERYTHING:
        return np.ones(len(profile.nodes), bool)
    hits = np.zeros(len(types) + 1, np.int64)
    np.cumsum(full_matches(regexes, texts)[types], out=hits[1:])
    end = profile.nodes.op_type_end
    start = np.concatenate((end[:1] * 0, end[:-1]))
    return hits[end] > hits[start]


@dataclass(frozen=True, eq=False)
class Accounting:
    """What accounting decides about a layout.

    Attributes:
        nodes: Which nodes in the layout count.
        added: Which nodes' figures are added to their rows.
        rows: Which rows are accounted themselves.
        stay: Which rows stay: accounted ones and, where rows hold rows, those above them.
    """

    nodes: Array
    added: Array
    rows: Array
    stay: Array


def account(
    layout: Layout, view: str, nodes: Array, regexes: Sequence[str], tfprof: bool
) -> Accounting:
    """Decides which rows of a layout stay when only some nodes count."""
    placed = nodes & (layout.row_of_node >= 0)
    rows = np.zeros(len(layout), bool)
    rows[layout.row_of_node[placed]] = True
    everything = tuple(regexes) == EVERYTHING
    if view in ("op", "code") and everything:
        rows[:] = True
    if view == "scope" and tfprof and (everything or full_matches(regexes, [SCOPE_TYPE])[0]):
        rows |= ~layout.has_nodes
    stay = rows.copy()
    if view in ("scope", "code"):
        stay = layout.tree.sums(rows.astype(np.int64)) > 0
    stay[0] = True
    # tfprof adds an op's own figures wherever its row stays, even when the op itself does not count.
    added = layout.row_of_node >= 0 if view == "scope" and tfprof else placed
    rows[0] = False
    return Accounting(placed, added, rows, stay)


class RowTotals(Protocol):
    """Totals that do not follow from the tree of the rows."""

    def of_rows(self, field: str) -> Ints:
        """The total of each row of the layout."""


class RowFigures:
    """The figures of a layout's rows. Integers times the divisor of the node figures.

    Self figures of all rows add up to the total of row 0, which docs/time.md promises. So work that an op launched, and
    time that a range and a module in it both have, is the self time of one row only.

    Args:
        layout: The rows.
        nodes: The figures of the nodes.
        accounting: Which of them count.
        profile: The profile.
        launcher: For each node the op or range that launched it, -1 for none.
        scopes_are_definitions: Whether scopes without a node count as definitions, as tfprof has it.
        modules_in_ranges: Whether time in modules is the self time of the range around, as in the call tree. Else it is
            the self time of the module, as in the scope tree.
        totals: Where ops of some rows call those of others: the total of each row.
    """

    def __init__(
        self,
        layout: Layout,
        nodes: NodeFigures,
        accounting: Accounting,
        profile: Profile,
        *,
        launcher: Ints,
        scopes_are_definitions: bool = False,
        modules_in_ranges: bool = False,
        totals: RowTotals | None = None,
    ) -> None:
        self.layout = layout
        self.nodes = nodes
        self.accounting = accounting
        self._profile = profile
        self._launcher = launcher
        self._scopes_are_definitions = scopes_are_definitions
        self._modules_in_ranges = modules_in_ranges
        self._totals = totals
        self._tree: tuple[Tree, Ints | slice] = (layout.tree, slice(None))
        self._root_definitions = 0
        self._own: dict[str, Ints] = {}
        self._total: dict[str, Ints] = {}

    def over(self, tree: Tree, rows: Ints, root_definitions: int = 0) -> RowFigures:
        """The same self figures, with totals over another tree of (some of) the rows."""
        other = copy.copy(self)
        other._total = {}
        other._tree = (tree, rows)
        other._root_definitions = root_definitions
        other._totals = None
        if self._launched is not None:
            # What a hidden row launched has no other row any more that has its self time.
            other._own = {}
            other.__dict__.pop("launched_rows", None)
            shown = np.zeros(len(self.layout), bool)
            shown[rows] = True
            launched = self._launched & shown[self.layout.row_of_node[self._launcher]]
            other.__dict__["_launched"] = launched if launched.any() else None
        return other

    def own(self, field: str) -> Ints:
        """What each row costs itself."""
        if field not in self._own:
            self._own[field] = self._compute_own(field)
        return self._own[field]

    def total(self, field: str) -> Ints:
        """What each row costs with all below it."""
        if field not in self._total:
            self._total[field] = self._compute_total(field)
        return self._total[field]

    def total_of(self, field: str, wanted: Sequence[int] | Ints) -> Ints:
        """The totals of some rows, which for few is a fraction of the work."""
        tree, rows = self._tree
        follows_tree = isinstance(rows, slice) and self._totals is None and self._launched is None
        few = len(wanted) < len(self.layout) // _FEW
        if field in self._total or field == DEFINITIONS or not follows_tree or not few:
            return self.total(field)[wanted]
        return tree.sums_of(self._staying(self.own(field)), wanted)

    def addends(self, field: str) -> Ints:
        """The figure of each row that adds up: rows below a row have no more of it together than the row.

        Totals of ops that call each other contain each other. There the self figure adds up, and of
        launched work, which has none, the total.
        """
        if self._totals is None:
            return self.total(field)
        addends = np.where(self.launched_rows, self.total(field), self.own(field))
        addends[0] = self.total(field)[0]
        return addends

    @cached_property
    def call_times(self) -> CallTimes:
        """How long single calls of each row took."""
        calls = self._profile.executions
        counts = self.accounting.nodes[calls.node] & self.nodes.counts_step(calls.step)
        return CallTimes(
            calls, np.where(counts, self.layout.row_of_node[calls.node], -1), len(self.layout)
        )

    @cached_property
    def launched_rows(self) -> Array:
        """Rows of kernels, copies and runtime calls that stand below what launched them, which has their self time."""
        rows = np.zeros(len(self.layout), bool)
        if self._launched is not None and self.layout.divides_launches:
            rows[self.layout.row_of_node[self._launched]] = True
        return rows

    def _compute_own(self, field: str) -> Ints:
        if field == DEFINITIONS and self._scopes_are_definitions:
            counts = self.accounting.stay * self.nodes.divisor
            counts[0] = 0
            return counts
        mask = self.accounting.nodes if field == DEFINITIONS else self.accounting.added
        if self._launched is not None and field not in _COUNTS:
            mask = mask & ~self._launched
        return self._gather(self._of_nodes(field), mask)

    def _of_nodes(self, field: str) -> Ints:
        if field == DEFINITIONS:
            return np.full(len(self._profile.nodes), self.nodes.divisor, np.int64)
        if field not in _HOST_TIMES or not self._profile.nested:
            return self.nodes[field]
        if self._modules_in_ranges and self.nodes.knows_enclosed:
            return self.nodes[field] - self.nodes["enclosed_host"]
        return self.nodes[field] - self.nodes["shared_host"]

    @cached_property
    def _launched(self) -> Array | None:
        """Nodes in rows whose figures are also those of the op that launched them."""
        mask: Array = (self._launcher >= 0) & (self.layout.row_of_node >= 0)
        return mask if mask.any() else None

    def _gather(self, values: Ints, mask: Array) -> Ints:
        out = np.zeros(len(self.layout), np.int64)
        if mask.all():
            np.add.at(out, self.layout.row_of_node, values)
        else:
            np.add.at(out, self.layout.row_of_node[mask], values[mask])
        return out

    def _staying(self, values: Ints) -> Ints:
        stay = self.accounting.stay
        return values if stay.all() else np.where(stay, values, 0)

    def _compute_total(self, field: str) -> Ints:
        tree, rows = self._tree
        total = np.zeros(len(self.layout), np.int64)
        total[rows] = tree.sums(self._staying(self.own(field))[rows])
        if field == DEFINITIONS:
            total[0] += self._root_definitions
            return total
        if self._totals is not None:
            total[1:] = self._totals.of_rows(field)[1:]
        if field not in _COUNTS and self.launched_rows.any():
            self._add_launched(field, total)
        return total

    def _add_launched(self, field: str, total: Ints) -> None:
        """Gives rows of launched work, which have no self figures, a total."""
        assert self._launched is not None
        tree, rows = self._tree
        counted = self.accounting.added & self._launched & self.accounting.nodes[self._launcher]
        launched = self._staying(self._gather(self.nodes[field], counted))
        below = tree.sums((launched + self._staying(self.own(field)))[rows])
        is_launched = self.launched_rows[rows]
        above = tree.parent.copy()
        while (inner := is_launched[above] & (above > 0)).any():
            above[inner] = tree.parent[above[inner]]
        # A runtime call that outlasts the op that makes it takes no more than the op.
        below = np.minimum(below, total[rows][above])
        total[rows] = np.where(is_launched, below, total[rows])

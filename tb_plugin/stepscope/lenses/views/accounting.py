"""Which nodes count, and what the rows of a view cost: own figures and totals, computed when asked for."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from stepscope.lenses.launchers import launchers
from stepscope.lenses.views.calls import CallTimes
from stepscope.lenses.views.layout import Layout
from stepscope.lenses.views.matching import full_matches
from stepscope.lenses.views.metrics import NodeFigures
from stepscope.lenses.views.options import EVERYTHING
from stepscope.lenses.views.tree import Tree
from stepscope.model.columns import Array, Ints
from stepscope.model.profile import NodeKind, Profile

SCOPE_TYPE = b"_kTFScopeParent"
_FEW = 64
HOST_TIME = ("cpu_exec_micros", "exec_micros")
DEFINITIONS = "definition_count"
"""The figure behind `total_definition_count`: how many graph nodes."""


def counted_nodes(profile: Profile, texts: Sequence[bytes], types: Ints, regexes: Sequence[str]) -> Array:
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


def account(layout: Layout, view: str, nodes: Array, regexes: Sequence[str], tfprof: bool) -> Accounting:
    """Decides which rows of a layout stay when only some nodes count."""
    placed = nodes & (layout.row_of_node >= 0)
    rows = np.zeros(len(layout), bool)
    rows[layout.row_of_node[placed]] = True
    everything = tuple(regexes) == EVERYTHING
    if view in ("op", "code") and everything:
        rows[:] = True
    if view == "scope" and tfprof and (everything or full_matches(regexes, [SCOPE_TYPE])[0]):
        rows |= ~layout.has_nodes
    stay = layout.tree.sums(rows.astype(np.int64)) > 0 if view in ("scope", "code") else rows.copy()
    stay[0] = True
    # tfprof adds an op's own figures wherever its row stays, even when the op itself does not count.
    added = layout.row_of_node >= 0 if view == "scope" and tfprof else placed
    rows[0] = False
    return Accounting(placed, added, rows, stay)


class RowFigures:
    """The figures of a layout's rows. Integers times the divisor of the node figures.

    Args:
        layout: The rows.
        nodes: The figures of the nodes.
        accounting: Which of them count.
        profile: The profile.
        scopes_are_definitions: Whether scopes without a node count as definitions, as tfprof has it.
        shares_modules: Whether a range's own time holds that of modules inside, as in the call tree, in which modules
            have no place. Else it is the modules' alone; the root's total holds it once, either way.
        with_called: Where rows hold nodes that call nodes of other rows: gives what each node costs with what it
            called. The root's total stays the sum of what the rows cost themselves, for calls contain each other.
    """

    def __init__(
        self,
        layout: Layout,
        nodes: NodeFigures,
        accounting: Accounting,
        profile: Profile,
        scopes_are_definitions: bool,
        shares_modules: bool,
        with_called: Callable[[str], Ints] | None = None,
    ) -> None:
        self.layout = layout
        self.nodes = nodes
        self.accounting = accounting
        self._profile = profile
        self._scopes_are_definitions = scopes_are_definitions
        self._shares_modules = shares_modules
        self._with_called = with_called
        self._tree: tuple[Tree, Ints | slice] = (layout.tree, slice(None))
        self._root_definitions = 0
        self._own: dict[str, Ints] = {}
        self._total: dict[str, Ints] = {}

    def over(self, tree: Tree, rows: Ints, root_definitions: int = 0) -> RowFigures:
        """The same own figures, with totals over another tree of (some of) the rows."""
        other = copy.copy(self)
        other._total = {}
        other._tree = (tree, rows)
        other._root_definitions = root_definitions
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
        own_tree = isinstance(rows, slice) and self._launched is None and self._with_called is None
        few = len(wanted) < len(self.layout) // _FEW
        if field in self._total or field == DEFINITIONS or not own_tree or not few:
            return self.total(field)[wanted]
        twice = np.where(np.equal(wanted, 0), self._twice(field), 0)
        return tree.sums_of(self._shares(field), wanted) - twice

    @cached_property
    def call_times(self) -> CallTimes:
        """How long single calls of each row took."""
        calls = self._profile.executions
        counts = self.accounting.nodes[calls.node] & self.nodes.counts_step(calls.step)
        return CallTimes(calls, np.where(counts, self.layout.row_of_node[calls.node], -1), len(self.layout))

    def _compute_own(self, field: str) -> Ints:
        if field != DEFINITIONS:
            return self._gather(self._of_nodes(field), self.accounting.added)
        if not self._scopes_are_definitions:
            return self._gather(self._of_nodes(field), self.accounting.nodes)
        counts = self.accounting.stay * self.nodes.divisor
        counts[0] = 0
        return counts

    def _of_nodes(self, field: str) -> Ints:
        if field == DEFINITIONS:
            return np.full(len(self._profile.nodes), self.nodes.divisor, np.int64)
        if field in HOST_TIME and not self._shares_modules:
            return self.nodes[field] - self.nodes["shared_host"]
        return self.nodes[field]

    @cached_property
    def _launched(self) -> Array | None:
        """Nodes in rows of their own whose cost is also that of the op that launched them."""
        mask: Array = (launchers(self._profile) >= 0) & (self.layout.row_of_node >= 0)
        return mask if mask.any() else None

    @cached_property
    def launched_rows(self) -> Array:
        """Rows of kernels and runtime calls whose cost is also that of the rows that launched them."""
        rows = np.zeros(len(self.layout), bool)
        if self._launched is not None:
            rows[self.layout.row_of_node[self._launched]] = True
        return rows

    def _gather(self, values: Ints, mask: Array) -> Ints:
        out = np.zeros(len(self.layout), np.int64)
        if mask.all():
            np.add.at(out, self.layout.row_of_node, values)
        else:
            np.add.at(out, self.layout.row_of_node[mask], values[mask])
        return out

    def _shares(self, field: str) -> Ints:
        """What each row adds to the rows above it."""
        own = self.own(field)
        if self._launched is not None:
            own = self._gather(self._of_nodes(field), self.accounting.added & ~self._launched)
        stay = self.accounting.stay
        return own if stay.all() else np.where(stay, own, 0)

    def _compute_total(self, field: str) -> Ints:
        tree, rows = self._tree
        total = np.zeros(len(self.layout), np.int64)
        total[rows] = tree.sums(self._shares(field)[rows])
        if self._launched is not None:
            apart = np.isin(self.layout.kind, (NodeKind.DEVICE, NodeKind.RUNTIME))
            total[rows] = np.where(apart[rows], tree.sums(self.own(field)[rows]), total[rows])
        if field == DEFINITIONS:
            total[0] += self._root_definitions
        if self._with_called is not None and field != DEFINITIONS:
            total[1:] = self._gather(self._with_called(field), self.accounting.added)[1:]
        total[0] -= self._twice(field)
        return total

    def _twice(self, field: str) -> int:
        """What the rows together have more of than the root: time that is a range's own and that of modules inside."""
        if not self._shares_modules or field not in HOST_TIME or not self.nodes["shared_host"].any():
            return 0
        return int(self._gather(self.nodes["shared_host"], self.accounting.added)[self._tree[1]].sum())

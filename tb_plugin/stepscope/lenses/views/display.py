"""From accounted rows to displayed rows: start, trim, depth, thresholds, show and hide, order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from stepscope.lenses.views.accounting import DEFINITIONS, RowFigures
from stepscope.lenses.views.layout import Layout
from stepscope.lenses.views.options import (
    BOTH,
    DEVICE,
    EVERYTHING,
    HOST,
    ORDER_FIELDS,
    RESOURCES,
    SELF_ORDERS,
    Resolved,
)
from stepscope.lenses.views.tree import Tree, chain
from stepscope.model.columns import Array, Ints

Match = Callable[[Sequence[str]], Array]
"""For each row of the layout whether its name matches one of the regexes."""

_OWN_THRESHOLDS = ("parameters", "float_ops")


@dataclass(frozen=True, eq=False)
class Display:
    """The rows to be shown, in order.

    Attributes:
        tree: The displayed rows.
        rows: For each the row of the layout.
        figures: The figures of the layout's rows, with the totals that are displayed.
    """

    tree: Tree
    rows: Ints
    figures: RowFigures


def display(
    layout: Layout,
    figures: RowFigures,
    resolved: Resolved,
    match: Match,
    tick_ps: int,
    last: Array | None = None,
) -> Display:
    """Applies the options that choose and order rows.

    Args:
        layout: The rows.
        figures: What they cost.
        resolved: The options.
        match: Which rows have a name that matches regexes.
        tick_ps: Picoseconds per tick of the figures.
        last: Rows that stand behind their siblings, whatever they cost.
    """
    return _Displaying(layout, figures, resolved, match, tick_ps, last).run()


class _Displaying:
    def __init__(
        self,
        layout: Layout,
        figures: RowFigures,
        resolved: Resolved,
        match: Match,
        tick_ps: int,
        last: Array | None,
    ) -> None:
        self.layout = layout
        self.figures = figures
        self.resolved = resolved
        self.options = resolved.options
        self.match = match
        self.tick_ps = tick_ps
        self.last = last
        self.view = resolved.options.view
        # tfprof's op view is a chain: each row is the only child of the one before.
        self.is_chain = self.view == "op" and resolved.tfprof

    def run(self) -> Display:
        """Goes through tfprof's stages in their order."""
        tree, rows = self._accounted()
        if self.is_chain:
            self.figures = self.figures.over(tree, rows)
        tree, rows = self._start(tree, rows)
        tree, rows = _taken(tree, rows, self._shown(tree, rows))
        if self.options.account_displayed_op_only and not (
            self.view == "code" and self.resolved.tfprof
        ):
            root_definitions = int(self.resolved.tfprof and self.view in ("scope", "graph"))
            self.figures = self.figures.over(
                tree, rows, root_definitions * self.figures.nodes.divisor
            )
        if not self.is_chain:
            tree, rows = self._sorted(tree, rows)
        return Display(tree, rows, self.figures)

    def _accounted(self) -> tuple[Tree, Ints]:
        stay = self.figures.accounting.stay
        every = np.arange(len(self.layout))
        if not self.is_chain:
            return _taken(self.layout.tree, every, stay)
        rows = np.flatnonzero(stay)
        keys = self._keys(rows, self.figures.own)
        rows = rows[np.lexsort((*reversed(keys), rows > 0))] if keys else rows
        return chain(len(rows)), rows

    def _start(self, tree: Tree, rows: Ints) -> tuple[Tree, Ints]:
        regexes = self.options.start_name_regexes
        if tuple(regexes) == EVERYTHING or (self.is_chain and not regexes):
            return tree, rows
        found = self.match(regexes)[rows]
        found[0] = False
        kept = found | tree.below(found)
        kept[0] = True
        return _taken(tree, rows, kept)

    def _shown(self, tree: Tree, rows: Ints) -> Array:
        options = self.options
        shown = self._deep_enough(tree)
        if options.trim_name_regexes:
            shown &= ~self._trimmed(tree, self.match(options.trim_name_regexes)[rows])
        for values, least in self._thresholds():
            shown &= values[rows] >= least
        if tuple(options.show_name_regexes) != EVERYTHING:
            shown &= self.match(options.show_name_regexes)[rows]
        if options.hide_name_regexes:
            shown &= ~self.match(options.hide_name_regexes)[rows]
        shown[0] = True
        return shown

    def _deep_enough(self, tree: Tree) -> Array:
        # Depths are tfprof's: 1 is the root; in its op view 0 is the first row below the root.
        first = 1 if not self.is_chain else -1
        shown: Array = tree.depth + first <= self.resolved.max_depth
        return shown

    def _trimmed(self, tree: Tree, found: Array) -> Array:
        if self.view in ("scope", "graph"):
            return tree.below(found)
        if self.view == "op":
            found[0] = False
        return found | tree.below(found)

    def _thresholds(self) -> list[tuple[Array, int]]:
        """The figures that have to reach a least value, with that value."""
        wanted: list[tuple[Array, int]] = []
        divisor = self.figures.nodes.divisor
        for word, field in ORDER_FIELDS.items():
            least = getattr(self.options, f"min_{word}")
            if least:
                own = self.view in ("scope", "graph") and field in _OWN_THRESHOLDS
                values = self.figures.own(field) if own else self.figures.total(field)
                wanted.append((values, self._in_ticks(field, least * divisor)))
        if self.options.min_occurrence and not (self.view == "code" and self.resolved.tfprof):
            wanted.append((self._occurrence(), self.options.min_occurrence * divisor))
        return wanted

    def _in_ticks(self, field: str, least: int) -> int:
        return -(-least * 1_000_000 // self.tick_ps) if field.endswith("micros") else least

    def _occurrence(self) -> Array:
        if not self.resolved.tfprof:
            return self.figures.total("run_count")
        if self.view in ("scope", "graph"):
            return self.figures.own("run_count")
        return self.figures.own(DEFINITIONS)

    def _sorted(self, tree: Tree, rows: Ints) -> tuple[Tree, Ints]:
        keys = self._keys(rows, self.figures.total)
        if not keys:
            return tree, rows
        tree, order = tree.sort(keys)
        return tree, rows[order]

    def _keys(self, rows: Ints, figure: Callable[[str], Ints]) -> list[Array]:
        """What siblings are sorted by, the first key first."""
        order = self.resolved.order_by
        if not order:
            return []
        # tfprof sorts the code view in place: up to 16 siblings with the same figure keep their natural order.
        by_name = self.view == "op" or (self.view == "code" and not self.resolved.tfprof)
        names = [self.layout.name_rank[rows]] if by_name else []
        if self.resolved.default_order and not self.resolved.tfprof:
            return [*self._default_keys(rows), *names]
        if order in SELF_ORDERS:
            return [-self.figures.own(SELF_ORDERS[order])[rows], *names]
        if order in ORDER_FIELDS:
            return [-figure(ORDER_FIELDS[order])[rows], *names]
        if order == "occurrence" and not self.resolved.tfprof:
            return [-self.figures.total("run_count")[rows], *names]
        if order == "occurrence" and self.view in ("op", "code"):
            return [-self.figures.own(DEFINITIONS)[rows], *names]
        return [self.layout.name_rank[rows]]

    def _default_keys(self, rows: Ints) -> list[Array]:
        """By the time of the resource that is looked at: self among ops, total elsewhere. Then by that of the other."""
        keys = [] if self.last is None else [self.last[rows]]
        for resource in dict.fromkeys((self.resolved.resource, *_NEXT[self.resolved.resource])):
            field = RESOURCES[resource]
            if self.view == "op" and self.resolved.resource != BOTH:
                keys.append(-self.figures.own(field)[rows])
            keys.append(-self.figures.total(field)[rows])
        return keys


_NEXT = {DEVICE: (HOST,), HOST: (DEVICE,), BOTH: ()}
"""What decides between rows that have equally much of a resource."""


def _taken(tree: Tree, rows: Ints, mask: Array) -> tuple[Tree, Ints]:
    if mask.all():
        return tree, rows
    tree, kept = tree.keep(mask)
    return tree, rows[kept]

"""The answer of the views lens: displayed rows as columns, and the document made of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from stepscope.lenses.node_kinds import WORDS
from stepscope.lenses.views.accounting import DEFINITIONS, RowFigures
from stepscope.lenses.views.details import PS_PER_US, Details
from stepscope.lenses.views.document import document
from stepscope.lenses.views.fields import CALL_FIELDS, FieldSpec
from stepscope.lenses.views.layout import Layout
from stepscope.lenses.views.options import Resolved
from stepscope.lenses.views.tree import Tree
from stepscope.model.columns import Array, Ints
from stepscope.model.diagnostic import Diagnostic
from stepscope.model.profile import Profile


@dataclass(frozen=True, eq=False)
class ViewResult:
    """Rows in preorder; row 0 is the root. An answer that tfprof leaves empty has no rows.

    Figures are exact integers of ticks, bytes and counts, times `divisor` where they are averages (`exact`), or numbers
    in the units of their fields (`column`, `figures`).

    Attributes:
        profile: What the view is of.
        resolved: The options, with every decision made.
        tree: The rows' parent, depth and end.
        rows: For each row the row of the layout.
        layout: All rows of the view before options chose among them.
        row_figures: The figures of the layout's rows.
        row_kinds: Gives for each row of the layout the place of its kind in `node_kinds.WORDS`.
        fields: The figures that rows have.
        steps: Number and name of each profiled step.
        problems: What is not shown, and why.
    """

    profile: Profile
    resolved: Resolved
    tree: Tree
    rows: Ints
    layout: Layout
    row_figures: RowFigures
    row_kinds: Callable[[], Ints]
    fields: tuple[FieldSpec, ...]
    steps: tuple[tuple[int, str], ...]
    problems: tuple[Diagnostic, ...]

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def view(self) -> str:
        """The view that this is."""
        return self.resolved.options.view

    @property
    def parent(self) -> Ints:
        """The parent of each row, -1 for the root."""
        return self.tree.parent

    @property
    def depth(self) -> Ints:
        """The number of displayed rows above each row."""
        return self.tree.depth

    @property
    def end(self) -> Ints:
        """For each row the row after its subtree."""
        return self.tree.end

    @property
    def tick_ps(self) -> int:
        """Picoseconds per tick of exact times."""
        return self.profile.tick_ps

    @property
    def divisor(self) -> int:
        """What exact figures are to be divided by; 1 unless they are averages."""
        return self.row_figures.nodes.divisor

    def names(self, rows: Sequence[int] | Ints) -> list[str]:
        """What rows are called below the row that holds them."""
        return self.layout.short_names(self.rows[rows])

    def paths(self, rows: Sequence[int] | Ints) -> list[str]:
        """The full names of rows: scope path, node name, op type, or file, line and function."""
        return self.layout.full_names(self.rows[rows])

    @property
    def name_ranks(self) -> Ints:
        """The place of each row's full name in byte order, to sort by name."""
        ranks: Ints = self.layout.name_rank[self.rows]
        return ranks

    def field(self, name: str) -> FieldSpec:
        """The field of that name. KeyError when the view has none."""
        return self._by_name[name]

    @cached_property
    def _by_name(self) -> dict[str, FieldSpec]:
        return {spec.name: spec for spec in self.fields}

    def exact(self, name: str, rows: Sequence[int] | Ints | None = None) -> Ints:
        """A figure of every row, or of some, as exact integers: times in ticks, all times `divisor`."""
        spec = self._by_name[name]
        wanted = self.rows if rows is None else self.rows[rows]
        if spec in CALL_FIELDS:
            return self.row_figures.call_times.column(spec.name)[wanted] * self.divisor
        if not spec.total:
            return self.row_figures.own(spec.source)[wanted]
        if rows is None:
            return self.row_figures.total(spec.source)[wanted]
        return self.row_figures.total_of(spec.source, wanted)

    @property
    def time_field(self) -> str:
        """The self time that shares are of: the device's, the host's, or tfprof's sum of both."""
        return self.resolved.time

    def addends(self, name: str) -> Ints:
        """The exact figures of a total that add up: rows below a row have no more together than the row itself.

        Icicles, shares of a search and comparisons are made of them (docs/time.md).
        """
        return self.row_figures.addends(self._by_name[name].source)[self.rows]

    def shares(self, rows: Sequence[int] | Ints) -> list[float | None]:
        """The share of rows in the summed self time of the resource that is looked at; None where it has none."""
        addends = self.addends(f"total_{self.time_field}")
        whole = int(addends[0]) if len(addends) else 0
        if whole <= 0:
            return [None] * len(rows)
        shares: list[float | None] = (addends[rows] / whole).tolist()
        return shares

    def column(self, name: str) -> Array:
        """A figure of every row in the field's unit: int64 where all are whole, else float64."""
        return self.in_unit(self._by_name[name], self.exact(name))

    def in_unit(self, spec: FieldSpec, values: Ints) -> Array:
        """Exact values of a field in its unit: int64 where all are whole, else float64."""
        factor = self.tick_ps if spec.unit == "us" else 1
        divisor = self.divisor * (PS_PER_US if spec.unit == "us" else 1)
        common = math.gcd(factor, divisor)
        factor, divisor = factor // common, divisor // common
        if divisor == 1 or not (values % divisor).any():
            return values // divisor * factor
        return values / divisor * factor

    def figures(self, rows: Sequence[int] | Ints) -> dict[str, list[int | float | None]]:
        """All figures of some rows, in the fields' units; None where a figure is not known."""
        return {spec.name: self._known(spec, rows) for spec in self.fields}

    def _known(self, spec: FieldSpec, rows: Sequence[int] | Ints) -> list[int | float | None]:
        values: list[int | float | None] = self.in_unit(spec, self.exact(spec.name, rows)).tolist()
        if spec not in CALL_FIELDS:
            return values
        known = self.row_figures.call_times.known[self.rows[rows]].tolist()
        return [value if is_known else None for value, is_known in zip(values, known, strict=True)]

    def node_figure(self, spec: FieldSpec, node: int) -> int | float:
        """A figure of a single node, in the field's unit."""
        value: int | float = self.in_unit(
            spec, self.row_figures.nodes[spec.source][node : node + 1]
        ).tolist()[0]
        return value

    def graph_nodes(self) -> Ints:
        """The number of accounted graph nodes in each row itself."""
        return self.row_figures.own(DEFINITIONS)[self.rows] // self.divisor

    def kinds(self, rows: Sequence[int] | Ints) -> list[int]:
        """The NodeKind of rows."""
        kinds: list[int] = self.layout.kind[self.rows[rows]].tolist()
        return kinds

    def kind_words(self, rows: Sequence[int] | Ints) -> list[str]:
        """What rows are: op, range, module, step, kernel, copy, runtime, scope, line or total."""
        return [WORDS[at] for at in self.row_kinds()[self.rows[rows]].tolist()]

    def launched(self, rows: Sequence[int] | Ints) -> list[bool]:
        """Whether what rows cost themselves is also in the rows that launched them: of kernels and runtime calls."""
        launched: list[bool] = self.row_figures.launched_rows[self.rows[rows]].tolist()
        return launched

    def op_types(self, rows: Sequence[int] | Ints) -> list[str]:
        """The op of the first node of each row, '' where a row has no node: what rows are coloured by."""
        if self.view == "op":
            names = zip(self.rows[rows].tolist(), self.names(rows), strict=True)
            return [name if row else "" for row, name in names]
        return [self.details.op_type(row) for row in self.rows[rows].tolist()]

    @cached_property
    def accounted(self) -> Array:
        """Which rows are accounted themselves, not only kept because of rows below them."""
        rows: Array = self.row_figures.accounting.rows[self.rows]
        return rows

    @cached_property
    def details(self) -> Details:
        """Devices, shapes and graph nodes of the layout's rows."""
        return Details(self.profile, self.layout, self.row_figures, self.resolved)

    def search(self, text: str, *, regex: bool = False, ignore_case: bool = True) -> Array:
        """Which rows have a text, or a match of a regex, in their name; in their path when it holds a '/'.

        Raises:
            OptionError: The regex is not RE2's.
        """
        found: Array = self.layout.search(text, regex=regex, ignore_case=ignore_case)[self.rows]
        return found

    def stable_key(self, row: int) -> str:
        """What the row is called in every profile of the same program."""
        return self.layout.stable_keys[int(self.rows[row])]

    def stable_keys(self) -> list[str]:
        """The stable keys of all rows, each once."""
        keys = self.layout.stable_keys
        return [keys[row] for row in self.rows.tolist()]

    def row_detail(self, row: int) -> dict[str, Any]:
        """Everything that is known of one row."""
        figures = {name: values[0] for name, values in self.figures([row]).items()}
        return {
            "id": row,
            "name": self.names([row])[0],
            "path": self.paths([row])[0],
            "kind": self.kind_words([row])[0],
            "depth": int(self.depth[row]),
            "parent": int(self.parent[row]),
            **figures,
            **self.details.everything(int(self.rows[row])),
        }

    def to_json(self) -> dict[str, Any]:
        """The document of DESIGN section 6. In tfprof's ways figures that are 0 are left out, as its protobufs do."""
        return document(self)

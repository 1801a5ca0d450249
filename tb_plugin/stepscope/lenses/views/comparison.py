"""Two views side by side, aligned by what rows are called: scope path, node name, op, or the whole path of lines."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from stepscope.errors import OptionError
from stepscope.lenses.views.engine import analyze
from stepscope.lenses.views.fields import FieldSpec
from stepscope.lenses.views.options import HOST, ORDER_FIELDS, RESOURCES, SELF_ORDERS, ViewsOptions
from stepscope.lenses.views.result import ViewResult
from stepscope.model.columns import Array, Ints
from stepscope.model.profile import Profile

BOTH = "both"
ADDED = "added"
REMOVED = "removed"
COST = "cost_micros"
"""The time that rows are compared by: what adds up of the resource that is looked at."""


@dataclass(frozen=True, eq=False)
class Comparison:
    """What differs between two views. Deltas are `a` minus `b`; what one side lacks counts as 0.

    Attributes:
        a: The view in question.
        b: The view that it is compared with.
        keys: What rows are called.
        a_rows: For each key the row of `a`, -1 where it has none ("removed").
        b_rows: For each key the row of `b`, -1 where it has none ("added").
        fields: The figures that both have.
    """

    a: ViewResult
    b: ViewResult
    keys: list[str]
    a_rows: Ints
    b_rows: Ints
    fields: tuple[FieldSpec, ...]

    def __len__(self) -> int:
        return len(self.keys)

    def delta(self, name: str) -> Array:
        """The difference of a figure for every key, in the field's unit."""
        a, b = self.a.exact(name), self.b.exact(name)
        if (self.a.tick_ps, self.a.divisor) == (self.b.tick_ps, self.b.divisor):
            return self.a.in_unit(
                self.a.field(name), _taken(a, self.a_rows) - _taken(b, self.b_rows)
            )
        return _taken(self.a.column(name), self.a_rows) - _taken(self.b.column(name), self.b_rows)

    @property
    def time_field(self) -> str:
        """The self time that both sides are compared by: the host's where they are looked at by different ones."""
        return self.a.time_field if self.a.time_field == self.b.time_field else RESOURCES[HOST]

    @cached_property
    def costs(self) -> tuple[Array, Array]:
        """The time of every key on both sides, in us, by the figure that adds up (`ViewResult.addends`)."""
        total = f"total_{self.time_field}"
        a = self.a.in_unit(self.a.field(total), self.a.addends(total))
        b = self.b.in_unit(self.b.field(total), self.b.addends(total))
        return _taken(a, self.a_rows), _taken(b, self.b_rows)

    @cached_property
    def states(self) -> list[str]:
        """For each key whether both sides have it, or only `a` ("added") or `b` ("removed")."""
        states = np.where(self.b_rows < 0, ADDED, np.where(self.a_rows < 0, REMOVED, BOTH))
        words: list[str] = states.tolist()
        return words

    @property
    def unmatched_share(self) -> float:
        """The share of both sides' self time that belongs to rows that only one side has; of rows where no time is."""
        lone_a = self.a_rows[self.b_rows < 0]
        lone_b = self.b_rows[self.a_rows < 0]
        a = self.a.column(self.time_field)
        b = self.b.column(self.time_field)
        if not (a.any() or b.any()):
            a, b = np.ones(len(self.a)), np.ones(len(self.b))
        whole = float(a.sum() + b.sum())
        return float(a[lone_a].sum() + b[lone_b].sum()) / whole if whole else 0.0

    def to_json(self, limit: int | None = None) -> dict[str, Any]:
        """The document of a comparison, with the first rows where a limit is given: those that differ most."""
        rows = self._rows(min(len(self), len(self) if limit is None else max(limit, 0)))
        sides = {"a": _side(self.a), "b": _side(self.b)}
        whole = {
            "time": self.time_field,
            "unmatched_share": self.unmatched_share,
            "rows_total": len(self),
        }
        return sides | {"rows": rows} | whole

    def _rows(self, count: int) -> list[dict[str, Any]]:
        mine, theirs = _figures(self.a, self.a_rows[:count]), _figures(self.b, self.b_rows[:count])
        names = [spec.name for spec in self.fields]
        deltas = zip(*(self.delta(name)[:count].tolist() for name in names), strict=True)
        kinds = self._of_either(count, ViewResult.kind_words)
        launched = self._of_either(count, ViewResult.launched)
        costs_a, costs_b = (cost[:count] for cost in self.costs)
        cost_deltas = (costs_a - costs_b).tolist()
        rows: list[dict[str, Any]] = []
        for at, (a, b, figures) in enumerate(zip(mine, theirs, deltas, strict=True)):
            if a is not None:
                a[COST] = costs_a[at].item()
            if b is not None:
                b[COST] = costs_b[at].item()
            delta = dict(zip(names, figures, strict=True)) | {COST: cost_deltas[at]}
            row = {
                "key": self.keys[at],
                "a": a,
                "b": b,
                "delta": delta,
                "state": self.states[at],
                "kind": kinds[at],
            }
            if launched[at]:
                row["launched"] = True
            rows.append(row)
        return rows

    def _of_either(self, count: int, ask: Callable[[ViewResult, Ints], list[Any]]) -> list[Any]:
        """What is said of the first keys by the side that has them."""
        of_a = ask(self.a, np.maximum(self.a_rows[:count], 0))
        of_b = ask(self.b, np.maximum(self.b_rows[:count], 0))
        has_a = (self.a_rows[:count] >= 0).tolist()
        return [of_a[at] if has_a[at] else of_b[at] for at in range(count)]


def _taken(values: Array, rows: Ints) -> Array:
    taken: Array = np.append(values, 0)[rows]
    return taken


def _figures(side: ViewResult, rows: Ints) -> list[dict[str, Any] | None]:
    """The figures of some rows of a side, None where it has no row."""
    there = rows >= 0
    columns = side.figures(rows[there])
    figures = (
        dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)
    )
    return [next(figures) if has else None for has in there.tolist()]


def _side(result: ViewResult) -> dict[str, Any]:
    header = result.profile.header
    return {
        "view": result.view,
        "rows": len(result),
        "job": header.job,
        "run": header.run,
        "source": header.source,
    }


def compare(
    a: Profile | ViewResult, b: Profile | ViewResult, options: ViewsOptions | None = None
) -> Comparison:
    """Compares two profiles or two views of them, largest differences first.

    Args:
        a: What is in question.
        b: What it is compared with.
        options: How profiles are viewed, and by which figure rows are sorted; the default options where it is None.

    Raises:
        OptionError: The views are different ones.
    """
    options = options or (a.resolved.options if isinstance(a, ViewResult) else ViewsOptions())
    one, other = (
        side if isinstance(side, ViewResult) else analyze(side, options) for side in (a, b)
    )
    if one.view != other.view:
        raise OptionError(
            f"a {one.view} view cannot be compared with a {other.view} view",
            where="view",
            remedy="Build the same view of both",
        )
    keys, a_rows, b_rows = _aligned(*_keys(one, other))
    names = {spec.name for spec in other.fields}
    fields = tuple(spec for spec in one.fields if spec.name in names)
    found = Comparison(one, other, keys, a_rows, b_rows, fields)
    return _largest_first(found, options.order_by)


def _keys(a: ViewResult, b: ViewResult) -> tuple[list[str], list[str]]:
    """The keys of both sides' rows. Steps that have other numbers there are called by their order."""
    sides = a, b
    steps = [[name for _, name in side.steps] for side in sides]
    if steps[0] == steps[1]:
        return a.stable_keys(), b.stable_keys()
    one, other = (
        _by_order(side.stable_keys(), names) for side, names in zip(sides, steps, strict=True)
    )
    return one, other


def _by_order(keys: list[str], steps: list[str]) -> list[str]:
    # A bare number may be part of any other name.
    order = {
        name: f"step {place}"
        for place, name in enumerate(steps, 1)
        if name and not name.isdecimal()
    }
    if not order:
        return keys
    pattern = re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, order))})(?!\w)")
    return [pattern.sub(lambda found: order[found[0]], key) for key in keys]


def _aligned(a: list[str], b: list[str]) -> tuple[list[str], Ints, Ints]:
    row_of_b = {key: row for row, key in enumerate(b)}
    matched = np.array([row_of_b.get(key, -1) for key in a], np.int64)
    is_lone = np.ones(len(b), bool)
    is_lone[matched[matched >= 0]] = False
    lone = np.flatnonzero(is_lone)
    a_rows = np.concatenate((np.arange(len(a)), np.full(len(lone), -1)))
    return [*a, *(b[row] for row in lone.tolist())], a_rows, np.concatenate((matched, lone))


def _largest_first(found: Comparison, order_by: str | None) -> Comparison:
    if order_by is None:
        size = np.abs(found.costs[0] - found.costs[1])
    elif order_by in ORDER_FIELDS:
        size = np.abs(found.delta("total_" + ORDER_FIELDS[order_by]))
    elif order_by in SELF_ORDERS:
        size = np.abs(found.delta(SELF_ORDERS[order_by]))
    else:
        return found
    order = np.lexsort((-size, np.arange(len(found)) > 0))
    keys = [found.keys[i] for i in order.tolist()]
    return Comparison(
        found.a, found.b, keys, found.a_rows[order], found.b_rows[order], found.fields
    )

"""Two traces side by side: steps by category, kernels, launches, shapes and memory by name, ranks by rank."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from stepscope.errors import OptionError
from stepscope.lenses.comparison import Comparison
from stepscope.lenses.lens import Row
from stepscope.lenses.trace.options import COMPARABLE, TraceOptions
from stepscope.lenses.trace.order import merged
from stepscope.lenses.trace.result import TraceResult

KEYS: dict[str, tuple[str, ...]] = {
    "steps": ("category",),
    "kernels": (
        "category",
        "name",
        "op",
        "grid",
        "block",
        "registers_per_thread",
        "shared_memory",
    ),
    "launches": ("name",),
    "shapes": ("name", "input_shape"),
    "memory": ("device", "name"),
    "ranks": ("rank",),
}
"""What rows of a table are matched by. Columns that a table does not have are left out."""

METRICS = {
    "steps": "ps",
    "kernels": "total_ps",
    "launches": "delay_ps",
    "shapes": "device_ps",
    "memory": "self_allocated_bytes",
    "ranks": "span_ps",
}
"""The metric that a comparison is read by and sorted by."""

_OF_ONE_CALL = (
    "min_",
    "max_",
    "delay_p50_",
    "delay_p95_",
    "delay_max_",
    "blocks_per_sm",
    "occupancy",
)
"""Metrics of single calls, which do not grow with the number of steps."""


@dataclass(frozen=True)
class TraceComparison(Comparison):
    """Rows of two tables.

    Attributes:
        show: The table.
        metric: The metric that rows are sorted by, the largest change first.
        per: `step` where the profiles have unequally many steps: sums are divided by their number; else `total`.
    """

    show: str = ""
    metric: str = ""
    per: str = "total"

    def to_json(self, limit: int | None = None) -> dict[str, Any]:
        """The comparison document, with the table, the metric, and what sums are per."""
        more = {"show": self.show, "metric": self.metric, "per": self.per}
        return super().to_json(limit) | more


@dataclass(frozen=True)
class OrderComparison:
    """The scopes of two profiles in one order of time."""

    path: str
    keys: list[str]

    def to_json(self, limit: int | None = None) -> dict[str, Any]:
        """The document of `show="order"`."""
        return {"path": self.path, "keys": self.keys}


def compare(
    a: TraceResult, b: TraceResult, options: TraceOptions
) -> TraceComparison | OrderComparison:
    """Compares two tables of the same kind, row by row.

    Sums are per step where the profiles have unequally many steps, as in comparisons of views.

    Raises:
        OptionError: What is shown cannot be compared, such as a timeline.
    """
    show = options.show
    if show not in COMPARABLE:
        remedy = f"Choose from: {', '.join(COMPARABLE)}"
        raise OptionError(f"{show} cannot be compared", where="show", remedy=remedy)

    a_document = a.to_json()
    b_document = b.to_json()
    if show == "order":
        return OrderComparison(options.path, merged(a_document["keys"], b_document["keys"]))

    per_step = 0 < a.steps != b.steps > 0
    metric = METRICS[show]
    a_rows = _rows_by_key(show, a_document, divisor=a.steps if per_step else 1)
    b_rows = _rows_by_key(show, b_document, divisor=b.steps if per_step else 1)
    keys = [*a_rows, *(key for key in b_rows if key not in a_rows)]
    rows = [_compared(key, a_rows.get(key), b_rows.get(key)) for key in keys]
    rows.sort(key=lambda row: -abs(row["delta"].get(metric) or 0))
    return TraceComparison(
        a=a.run,
        b=b.run,
        rows=tuple(rows),
        unmatched_share=_unmatched_share(rows, metric),
        show=show,
        metric=metric,
        per="step" if per_step else "total",
    )


def _rows_by_key(show: str, document: dict[str, Any], *, divisor: int) -> dict[str, Row]:
    """The metrics of a table's rows by what the rows are called."""
    rows: dict[str, Row] = {}
    for row in _table(show, document):
        words = [str(row[column]) for column in KEYS[show] if row.get(column) not in (None, "")]
        metrics = {name: value for name, value in row.items() if _is_metric(show, name, value)}
        rows[" ".join(words)] = {
            name: _per_step(name, value, divisor) for name, value in metrics.items()
        }
    return rows


def _table(show: str, document: dict[str, Any]) -> Iterable[Row]:
    if show == "steps":
        return [{"category": category, "ps": ps} for category, ps in document["total_ps"].items()]
    if show == "memory":
        return [{"device": document["device"]} | row for row in document["ops"]]
    if show == "ranks":
        return list(document["ranks"])
    return list(document["rows"])


def _is_metric(show: str, name: str, value: object) -> bool:
    if name in KEYS[show] or isinstance(value, bool):
        return False
    return isinstance(value, int | float)


def _per_step(name: str, value: float, divisor: int) -> float:
    if divisor == 1 or name.startswith(_OF_ONE_CALL):
        return value
    return value / divisor


def _compared(key: str, a: Row | None, b: Row | None) -> Row:
    if a is None:
        state = "removed"
    elif b is None:
        state = "added"
    else:
        state = "both"
    left = a or {}
    right = b or {}
    names = dict.fromkeys([*left, *right])
    delta = {name: (left.get(name) or 0) - (right.get(name) or 0) for name in names}
    return {"key": key, "a": a, "b": b, "delta": delta, "state": state}


def _unmatched_share(rows: list[Row], metric: str) -> float:
    """The share of both sides' metric that lies in rows of one side only."""
    whole = 0.0
    unmatched = 0.0
    for row in rows:
        size = sum((row[side] or {}).get(metric) or 0 for side in ("a", "b"))
        whole += size
        if row["state"] != "both":
            unmatched += size
    return unmatched / whole if whole else 0.0

"""A view's document as flat rows."""

from __future__ import annotations

from typing import Any

from stepscope.lenses.lens import Document, Row
from stepscope.lenses.views.options import ORDER_FIELDS

_NOT_CELLS = ("name", "depth", "parent")
_READ_FIRST = ("name", "total_exec_micros", "share %", "exec_micros", "run_count")


def node_rows(document: Document) -> list[Row]:
    """One row for each node in preorder, with its name indented by its depth."""
    rows = []
    for node in document["nodes"]:
        row: Row = {"name": "  " * node["depth"] + node["name"]}
        for name, value in node.items():
            if name not in _NOT_CELLS and not isinstance(value, list | dict):
                row[name] = value
        rows.append(row)
    return rows


def leading_rows(document: Document) -> list[Row]:
    """The columns of a view to read first: names, time and its share, runs, and what the options select.

    Metrics that are 0 or unknown in every row are left out. Self values stand beside the totals for time, and for
    what rows are ordered by; `node_rows` has all of them.
    """
    rows = node_rows(document)
    _add_share(rows)
    columns = _columns(document["options"])
    used = [column for column in columns if any(row.get(column) not in (0, None) for row in rows)]
    return [{column: row.get(column) for column in used} for row in rows]


def _add_share(rows: list[Row]) -> None:
    whole = rows[0].get("total_exec_micros") if rows else None
    if not whole:
        return
    for row in rows:
        row["share %"] = 100 * row["total_exec_micros"] / whole


def _columns(options: dict[str, Any]) -> list[str]:
    """The columns for the options of a view, without repetition."""
    ordered = _metric(options["order_by"])
    columns = [*_READ_FIRST, f"total_{ordered}", ordered]
    columns += [f"total_{_metric(word)}" for word in options["select"]]
    columns += [word for word in options["select"] if word not in ORDER_FIELDS]
    return list(dict.fromkeys(columns))


def _metric(word: str) -> str:
    """The metric that a word of `order_by` or `select` stands for."""
    if word == "occurrence":
        return "definition_count"
    return ORDER_FIELDS.get(word, word)

"""A view's document as flat rows."""

from __future__ import annotations

from typing import Any

from stepscope.lenses.lens import Document, Row
from stepscope.lenses.views.fields import share_title, table_title
from stepscope.lenses.views.layout import ROOT_NAME
from stepscope.lenses.views.options import (
    BOTH,
    DETAIL_COLUMNS,
    DEVICE,
    HOST,
    ORDER_FIELDS,
    RESOURCES,
    SELF_ORDERS,
)

_NOT_CELLS = ("name", "depth", "parent")
_SHARE = "share %"
_OTHER = {DEVICE: HOST, HOST: DEVICE}
"""The resource whose time stands beside that of each resource."""


def node_rows(document: Document) -> list[Row]:
    """One row for each node in preorder, with its name indented by its depth."""
    rows = []
    for node in document["nodes"]:
        row: Row = {"name": "  " * node["depth"] + node["name"]}
        for name, value in node.items():
            if name in DETAIL_COLUMNS:
                row[name] = _detail_text(value)
            elif name not in _NOT_CELLS and not isinstance(value, list | dict):
                row[name] = value
        rows.append(row)
    return rows


def leading_rows(document: Document) -> list[Row]:
    """The columns of a view to read first: names, kinds, time and its share, runs, and what the options select.

    Metrics that are 0 or unknown in every row are left out; `node_rows` has all of them. With `compat="tfprof"`
    columns and the first row have tfprof's names.
    """
    rows = node_rows(document)
    tfprof = document["options"]["compat"] == "tfprof"
    _add_share(rows, tfprof=tfprof)
    columns = _columns(document)
    used = [
        column for column in columns if any(row.get(column) not in (0, None, "") for row in rows)
    ]
    if tfprof:
        return [{column: row.get(column) for column in used} for row in rows]

    titles = {column: table_title(column) for column in used}
    titles[_SHARE] = share_title(document["resource"])
    shown = [{titles[column]: row.get(column) for column in used} for row in rows]
    if shown and shown[0]["name"] == ROOT_NAME:
        shown[0]["name"] = "(total)"
    return shown


def _add_share(rows: list[Row], *, tfprof: bool) -> None:
    """Adds the share in percent. tfprof's is of its sum of host and device time."""
    whole = rows[0].get("total_exec_micros", 0) if rows else 0
    for row in rows:
        share = row.get("share")
        if tfprof and whole:
            share = row.get("total_exec_micros", 0) / whole
        row[_SHARE] = None if share is None else 100 * share


def _columns(document: Document) -> list[str]:
    """The columns for the options of a view, without repetition."""
    options = document["options"]
    resource = document["resource"]
    time = RESOURCES[resource]
    read_by_self = document["view"] == "op" and resource != BOTH
    if read_by_self:
        columns = ["name", "kind", time, _SHARE, f"total_{time}"]
    else:
        columns = ["name", "kind", f"total_{time}", _SHARE, time]
    if resource in _OTHER:
        other = RESOURCES[_OTHER[resource]]
        columns += [other, f"total_{other}"] if read_by_self else [f"total_{other}", other]
    columns.append("run_count")

    ordered = _metric(options["order_by"])
    columns += [f"total_{ordered}", ordered]
    for word in options["select"]:
        if word in DETAIL_COLUMNS:
            columns.append(word)
        elif word != "micros" or resource == BOTH:
            # tfprof's sum of host and device time is no column where time is read by resource.
            columns.append(f"total_{_metric(word)}")
    return list(dict.fromkeys(columns))


def _metric(word: str) -> str:
    """The metric that a word of `order_by` or `select` stands for."""
    if word == "occurrence":
        return "definition_count"
    return ORDER_FIELDS.get(word, SELF_ORDERS.get(word, word))


def _detail_text(value: Any) -> str:
    """Devices, types or shapes in one cell."""
    if isinstance(value, dict):
        return ", ".join(f"{slot}:{_shape_text(shape)}" for slot, shape in value.items())
    return "|".join(map(str, value))


def _shape_text(shape: Any) -> str:
    return "x".join(map(str, shape)) if isinstance(shape, list) else str(shape)

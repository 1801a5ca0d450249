"""A document of collectives as flat rows, the longest stall first."""

from __future__ import annotations

from typing import Any

from stepscope.lenses.lens import Document, Row


def core_rows(document: Document) -> list[Row]:
    """One row for each collective of each core."""
    rows = []
    for host, tables in document["hosts"].items():
        for core, table in tables["cores"].items():
            rows += [{"host": host, "core": core} | _cells(row) for row in table["rows"]]
    return sorted(rows, key=_stall, reverse=True)


def collective_rows(document: Document) -> list[Row]:
    """One row for each collective over all hosts and cores."""
    rows = [_cells(row) for row in document["all_hosts"]["all_cores"]]
    return sorted(rows, key=_stall, reverse=True)


def _stall(row: Row) -> float:
    return row.get("total_stall_ms") or 0.0


def _cells(row: dict[str, Any]) -> Row:
    return {key: value for key, value in row.items() if not isinstance(value, list | dict)}

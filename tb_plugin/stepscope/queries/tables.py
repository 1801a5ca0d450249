"""A lens's document as flat rows, for tables and CSV."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

Row = dict[str, Any]


def document_rows(lens: str, document: Mapping[str, Any]) -> list[Row]:
    """The rows of a document: nodes, samples, invocations or collectives; for a comparison its rows."""
    if "sources" in document:
        return [row for one in document["sources"] for row in document_rows(lens, one)]
    if "rows" in document and "unmatched_share" in document:
        return [_compared(row) for row in document["rows"]]
    return _ROWS[lens](document)


def _compared(row: Mapping[str, Any]) -> Row:
    flat: Row = {"key": _text(row["key"]), "state": row["state"]}
    for field in row["delta"] or row["a"] or row["b"] or {}:
        for side in ("a", "b", "delta"):
            values = row[side] or {}
            flat[f"{field} {side}"] = values.get(field)
    return flat


def _text(key: Any) -> str:
    return key if isinstance(key, str) else "/".join(str(part) for part in key)


def _views(document: Mapping[str, Any]) -> list[Row]:
    rows = []
    for node in document["nodes"]:
        figures = {
            k: v for k, v in node.items() if k not in ("name", "depth", "parent") and not isinstance(v, list | dict)
        }
        rows.append({"name": "  " * node["depth"] + node["name"]} | figures)
    return rows


def _throughput(document: Mapping[str, Any]) -> list[Row]:
    rows: list[Row] = []
    columns = ("step", "time_ns", "total", "local_samples_per_sec", "avg_samples_per_sec")
    for series in document["series"]:
        named = {"run": series.get("run", ""), "series": series["name"]}
        values = zip(*(series[column] for column in columns), strict=True)
        rows.extend(named | dict(zip(columns, row, strict=True)) for row in values)
    return rows


def _incore(document: Mapping[str, Any]) -> list[Row]:
    if "columns" in document and "per_invocation" in document:
        return [
            dict(zip(document["columns"], row, strict=True)) for row in document["per_invocation"] if row is not None
        ]
    rows: list[Row] = [{"figure": "status", "value": document.get("status")}]
    for key, value in document.items():
        if isinstance(value, Mapping):
            rows += [{"figure": f"{key} {name}", "value": _short(inner)} for name, inner in value.items()]
        elif key != "status":
            rows.append({"figure": key, "value": _short(value)})
    return rows


def _short(value: Any) -> Any:
    return ", ".join(str(part) for part in value) if isinstance(value, list) else value


def _dcn(document: Mapping[str, Any]) -> list[Row]:
    rows = []
    for host, found in document["hosts"].items():
        for core, table in found["cores"].items():
            rows += [{"host": host, "core": core} | _scalars(row) for row in table["rows"]]
    return sorted(rows, key=lambda row: -(row.get("total_stall_ms") or 0))


def _scalars(row: Mapping[str, Any]) -> Row:
    return {key: value for key, value in row.items() if not isinstance(value, list | dict)}


_ROWS: dict[str, Callable[[Mapping[str, Any]], list[Row]]] = {
    "views": _views,
    "throughput": _throughput,
    "incore": _incore,
    "dcn": _dcn,
}

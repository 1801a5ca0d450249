"""Documents of the lenses as flat rows, for tables, CSV and data frames."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stepscope.lenses.lens import Document, Leading, Row
from stepscope.lenses.registry import AnyLens


def document_rows(lens: AnyLens, document: Document, options: Any) -> list[Row]:
    """All rows of a document: nodes, samples, invocations or collectives; of a comparison its rows."""
    if "sources" in document:
        rows: list[Row] = []
        for part in document["sources"]:
            rows += document_rows(lens, part, options)
        return rows
    if is_comparison(document):
        return [_compared_cells(row) for row in document["rows"]]
    return lens.rows(document, options)


def is_comparison(document: Document) -> bool:
    """Whether a document compares two sources."""
    return "rows" in document and "unmatched_share" in document


def comparison_rows(lens: AnyLens, document: Document) -> list[Row]:
    """A comparison to be read: A, B, delta and delta % of the leading metric, the largest change first."""
    leading = lens.leading(document)
    rows: list[Row] = []
    for row in document["rows"]:
        rows += _metric_rows(row, leading)
    if leading is None:
        return rows
    return sorted(rows, key=_largest_change_first)


def comparison_notes(lens: AnyLens, document: Document) -> list[str]:
    """The sentences below a comparison's table."""
    sentences = lens.comparison_sentences(document)
    if document["unmatched_share"]:
        sentences.append(f"{document['unmatched_share']:.1%} has no counterpart.")
    return sentences


def _largest_change_first(row: Row) -> tuple[float, float]:
    whole = max(abs(row["A"] or 0), abs(row["B"] or 0))
    return -abs(row["delta"]), -whole


def _metric_rows(row: Mapping[str, Any], leading: Leading | None) -> list[Row]:
    """One row for each metric: of the leading ones, or of all that are numbers."""
    a = row["a"] or {}
    b = row["b"] or {}
    names = [
        name
        for name in dict.fromkeys([*a, *b])
        if _is_number(a.get(name)) or _is_number(b.get(name))
    ]
    if leading is None:
        return [
            _metric_row(row, f"{key_text(row['key'])} {name}", a.get(name), b.get(name))
            for name in names
        ]

    rows = []
    for name, (_, factor) in leading.items():
        if name in names:
            rows.append(
                _metric_row(
                    row,
                    key_text(row["key"]),
                    _times(a.get(name), factor),
                    _times(b.get(name), factor),
                )
            )
    return rows


def _metric_row(row: Mapping[str, Any], key: str, a: float | None, b: float | None) -> Row:
    delta = (a or 0) - (b or 0)
    return {
        "key": key,
        "A": a,
        "B": b,
        "delta": delta,
        "delta %": 100 * delta / b if b else None,
        "state": "" if row["state"] == "both" else row["state"],
    }


def _times(value: float | None, factor: float) -> float | None:
    return None if value is None else value * factor


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float)


def _compared_cells(row: Mapping[str, Any]) -> Row:
    """A row of a comparison with every field of both sides and the delta."""
    cells: Row = {"key": key_text(row["key"]), "state": row["state"]}
    for field in row["delta"] or row["a"] or row["b"] or {}:
        for side in ("a", "b", "delta"):
            values = row[side] or {}
            cells[f"{field} {side}"] = values.get(field)
    return cells


def key_text(key: Any) -> str:
    """A row's key as text."""
    return key if isinstance(key, str) else "/".join(str(part) for part in key)

"""An in-core document as flat rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stepscope.lenses.lens import Document, Row


def invocation_rows(document: Document) -> list[Row]:
    """One row for each valid invocation; where the document has none, one for each of its values."""
    if "columns" not in document or "per_invocation" not in document:
        return value_rows(document)
    columns = document["columns"]
    invocations = [values for values in document["per_invocation"] if values is not None]
    return [dict(zip(columns, values, strict=True)) for values in invocations]


def value_rows(document: Document) -> list[Row]:
    """One row for each value of the document, the status first."""
    rows: list[Row] = [{"figure": "status", "value": document.get("status")}]
    for key, value in document.items():
        if key == "status":
            continue
        if isinstance(value, Mapping):
            rows += [{"figure": f"{key} {name}", "value": _cell(inner)} for name, inner in value.items()]
        else:
            rows.append({"figure": key, "value": _cell(value)})
    return rows


def _cell(value: Any) -> Any:
    if isinstance(value, list):
        return ", ".join(str(part) for part in value)
    return value

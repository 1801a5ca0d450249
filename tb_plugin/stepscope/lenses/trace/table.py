"""The documents of the trace lens as flat rows."""

from __future__ import annotations

from collections.abc import Callable

from stepscope.lenses.lens import Document, Row


def rows_of(show: str, document: Document) -> list[Row]:
    """The rows of a document that shows steps, kernels, launches or another table."""
    return _ROWS[show](document)


def _steps(document: Document) -> list[Row]:
    rows = []
    for step in document["steps"]:
        row: Row = {
            "step": step["name"] or step["id"],
            "complete": step["complete"],
            "ps": step["duration_ps"],
        }
        for category, time_ps in step["parts_ps"].items():
            row[f"{category}_ps"] = time_ps
        rows.append(row)
    return rows


def _lanes(document: Document) -> list[Row]:
    rows = []
    for lane in document["lanes"]:
        row = {key: value for key, value in lane.items() if key != "blocks"}
        rows.append(row | {"blocks": len(lane["blocks"])})
    return rows


def _streams(document: Document) -> list[Row]:
    rows = []
    for stream in document["streams"]:
        total, count = stream["queue_mean"]
        rows.append(stream | {"queue_mean": total / count if count else None})
    return rows


def _memory(document: Document) -> list[Row]:
    return [{"device": document["device"]} | row for row in document["ops"]]


def _event(document: Document) -> list[Row]:
    return [{key: value for key, value in document.items() if not isinstance(value, dict | list)}]


def _order(document: Document) -> list[Row]:
    return [{"key": key} for key in document["keys"]]


def _ranks(document: Document) -> list[Row]:
    return list(document["ranks"])


def _listed(document: Document) -> list[Row]:
    return list(document["rows"])


_ROWS: dict[str, Callable[[Document], list[Row]]] = {
    "steps": _steps,
    "launches": _listed,
    "idle": _streams,
    "timeline": _lanes,
    "event": _event,
    "memory": _memory,
    "shapes": _listed,
    "kernels": _listed,
    "critical-path": _listed,
    "order": _order,
    "ranks": _ranks,
}

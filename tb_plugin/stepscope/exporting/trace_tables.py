"""The documents of `stepscope.lenses.trace.executions` as flat rows, for tables and CSV."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

Row = dict[str, Any]
Document = Mapping[str, Any]


def shape_rows(shape: str, document: Document) -> list[Row]:
    """The rows of a shape's document."""
    return _ROWS[shape](document)


def _steps(document: Document) -> list[Row]:
    rows = []
    for step in document["steps"]:
        shown = {"step": step["name"] or step["id"], "complete": step["complete"], "ps": step["duration_ps"]}
        rows.append(shown | {f"{part}_ps": time for part, time in step["parts_ps"].items()})
    return rows


def _lanes(document: Document) -> list[Row]:
    return [
        {key: value for key, value in lane.items() if key != "blocks"} | {"blocks": len(lane["blocks"])}
        for lane in document["lanes"]
    ]


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


def _listed(document: Document) -> list[Row]:
    return list(document["rows"])


_ROWS: dict[str, Callable[[Document], list[Row]]] = {
    "breakdown": _steps,
    "launches": _listed,
    "idle": _streams,
    "timeline": _lanes,
    "event": _event,
    "memory": _memory,
    "shapes": _listed,
    "kernels": _listed,
    "order": lambda document: [{"key": key} for key in document["keys"]],
    "ranks": lambda document: list(document["ranks"]),
}

"""What the routes answer of the single executions of a profile, by shape."""

from __future__ import annotations

from typing import Any

from stepscope.lenses.trace.executions import DEFAULT_WIDTH_PX, Executions
from stepscope.lenses.trace.order import merged
from stepscope.panel.request import Query

SHAPES = ("breakdown", "launches", "timeline", "event", "memory", "ranks", "shapes", "kernels", "order")
COMPARED_SHAPES = ("order",)
"""Those that a question to two runs can ask for."""


def answer(query: Query, shape: str) -> dict[str, Any]:
    """The document of a `shape` of the `views` route."""
    source = query.chosen()
    if shape == "ranks":
        return source.ranks().to_json()
    asked = source.executions()
    window = (_optional(query, "start_ps"), _optional(query, "end_ps"), query.integer("width_px", DEFAULT_WIDTH_PX))
    if shape == "timeline":
        return asked.timeline(*window)
    if shape == "shapes":
        return asked.shapes()
    if shape == "kernels":
        return asked.kernels(by_launch=query.text("by") == "launch")
    if shape == "order":
        return _order(query, asked)
    if shape == "event":
        return asked.event(query.integer("id", 0))
    if shape == "memory":
        return asked.memory(query.text("device") or None, *window, query.integer("least_bytes", 0))
    document: dict[str, Any] = getattr(asked, shape).to_json()
    return document


def _order(query: Query, asked: Executions) -> dict[str, Any]:
    path, baseline = query.text("path"), query.baseline()
    keys = asked.order(path)
    return {"path": path, "keys": merged(keys, baseline.executions().order(path)) if baseline else keys}


def _optional(query: Query, name: str) -> int | None:
    return query.integer(name, 0) if query.text(name) else None

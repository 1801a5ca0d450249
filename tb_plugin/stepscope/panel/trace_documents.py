"""The single executions of a profile by the `shape` parameter of the `views` route, as it was before `trace`."""

from __future__ import annotations

from typing import Any

from stepscope.lenses.registry import lens_named
from stepscope.lenses.trace.options import DEFAULT_WIDTH_PX
from stepscope.panel.request import Query

SHOW_OF_SHAPE = {
    "breakdown": "steps",
    "launches": "launches",
    "timeline": "timeline",
    "event": "event",
    "memory": "memory",
    "ranks": "ranks",
    "shapes": "shapes",
    "kernels": "kernels",
    "critical-path": "critical-path",
    "order": "order",
}
"""What the trace lens calls each shape."""

SHAPES = tuple(SHOW_OF_SHAPE)
COMPARED_SHAPES = ("order",)
"""Shapes that a request with two runs can ask for."""


def trace_values(query: Query, shape: str) -> dict[str, Any]:
    """The options of the trace lens for the parameters of a shape."""
    return {
        "show": SHOW_OF_SHAPE[shape],
        "start_ps": query.optional_integer("start_ps"),
        "end_ps": query.optional_integer("end_ps"),
        "width_px": query.integer("width_px", DEFAULT_WIDTH_PX),
        "device": query.text("device") or None,
        "least_bytes": query.integer("least_bytes", 0),
        "by": query.text("by") or "name",
        "path": query.text("path"),
        "execution": query.integer("id", 0),
    }


def shape_document(query: Query, shape: str) -> dict[str, Any]:
    """The document of a shape."""
    baseline = query.baseline() if shape in COMPARED_SHAPES else None
    answer = query.selected().ask(lens_named("trace"), trace_values(query, shape), baseline)
    return answer.to_json()

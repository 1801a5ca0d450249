"""A view as a file that speedscope opens: a sampled profile, one sample per row with a figure of its own.

Source: https://www.speedscope.app/file-format-schema.json.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from stepscope.lenses.views import ViewResult
from stepscope.model.columns import Array

SCHEMA = "https://www.speedscope.app/file-format-schema.json"
FIGURES = (
    ("exec_micros", "microseconds"),
    ("accelerator_exec_micros", "microseconds"),
    ("cpu_exec_micros", "microseconds"),
    ("requested_bytes", "bytes"),
    ("peak_bytes", "bytes"),
    ("float_ops", "none"),
)


def to_speedscope(result: ViewResult, name: str = "") -> dict[str, Any]:
    """The file as a document: a profile for each figure that is not zero everywhere.

    A sample's stack is the path from the top to a displayed row, its weight what the row has beside the rows below it.
    """
    rows = range(1, len(result))
    frames = [{"name": text} for text in result.names(rows)]
    stacks = _stacks(result)
    profiles = [
        p for figure, unit in FIGURES if (p := _profile(result, stacks, figure, unit)) is not None
    ]
    return {
        "$schema": SCHEMA,
        "exporter": "stepscope",
        "name": name or f"{result.view} view",
        "activeProfileIndex": 0,
        "shared": {"frames": frames},
        "profiles": profiles,
    }


def _stacks(result: ViewResult) -> list[list[int]]:
    """For each row the frames from the top down to it. Row 0 is the root, which is no frame."""
    stacks: list[list[int]] = [[]]
    for row, parent in enumerate(result.parent[1:].tolist(), 1):
        stacks.append([*stacks[parent], row - 1])
    return stacks


def _weights(result: ViewResult, figure: str) -> Array:
    """What each row has without the displayed rows below it, so that hidden rows count for the row above them."""
    if result.view == "op":
        return result.column(figure)
    total = result.column(f"total_{figure}")
    below = np.zeros_like(total)
    np.add.at(below, result.parent[1:], total[1:])
    weights: Array = total - below
    return weights


def _profile(
    result: ViewResult, stacks: list[list[int]], figure: str, unit: str
) -> dict[str, Any] | None:
    own = _weights(result, figure).tolist()
    rows = [row for row in range(1, len(result)) if own[row] > 0]
    if not rows:
        return None
    return {
        "type": "sampled",
        "name": result.field(figure).title,
        "unit": unit,
        "startValue": 0,
        "endValue": sum(own[row] for row in rows),
        "samples": [stacks[row] for row in rows],
        "weights": [own[row] for row in rows],
    }

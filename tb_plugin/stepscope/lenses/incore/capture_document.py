"""The document of a capture: windows, counts and busy times."""

from __future__ import annotations

from typing import Any

from stepscope.lenses.incore.capture import Capture, FunctionCost
from stepscope.model.incore import InCore

Json = dict[str, Any]


def capture_document(record: InCore, capture: Capture) -> Json:
    """The figures of a capture. Names end in the unit that the source has: cycles, or ns where it has no clock."""
    unit = record.unit
    window = capture.scheduler_window
    return {
        "capture_format": record.capture_format,
        "capture_level": record.capture_level or None,
        "clock_freq_hz": record.clock_freq_hz or None,
        f"base_time_{unit}": str(capture.base),
        "rows": capture.rows,
        "logical_tasks": len(capture.bounds),
        "edges_unique": capture.edges,
        f"aicore_window_{unit}": [str(stamp) for stamp in capture.kernel_window],
        f"dispatch_finish_window_{unit}": None if window is None else [str(stamp) for stamp in window],
        "per_func_rows": {str(number): _function(cost, unit) for number, cost in sorted(capture.functions.items())},
        f"busy_{unit}_per_core": {str(core): busy for core, busy in capture.busy.items()},
        f"task_bounds_{unit}": {str(t): [str(b.start), str(b.end), b.rows] for t, b in capture.bounds.items()},
        "losses": [
            {"where": x.where, "what": x.what, "count": x.count, "remedy": x.remedy} for x in record.header.losses
        ],
    }


def _function(cost: FunctionCost, unit: str) -> Json:
    return {
        "name": cost.name,
        "rows": cost.rows,
        f"exec_{unit}": cost.total,
        f"min_{unit}": cost.min,
        f"max_{unit}": cost.max,
    }

"""The document of a capture: windows, counts and busy times."""

from __future__ import annotations

from typing import Any

from stepscope.lenses.incore.capture import Capture, FunctionCost, Launch
from stepscope.model.incore import InCore
from stepscope.model.incore_capture import NAMED_CORES

Json = dict[str, Any]


def capture_document(record: InCore, capture: Capture) -> Json:
    """The figures of a capture. Names end in the unit that the source has: cycles, or ns where it has no clock."""
    unit = record.unit
    answer: Json = {
        "capture_format": record.capture_format,
        "capture_level": record.capture_level or None,
        "clock_freq_hz": record.clock_freq_hz or None,
        f"base_time_{unit}": str(capture.base),
        "rows": capture.rows,
        "logical_tasks": capture.tasks,
        "edges_unique": capture.edges,
        f"aicore_window_{unit}": _window(capture.kernel_window),
        f"dispatch_finish_window_{unit}": _window(capture.scheduler_window),
        "per_func_rows": {
            str(n): _function(cost, unit) for n, cost in sorted(capture.functions.items())
        },
        f"busy_{unit}_per_core": _busy(record, capture.busy),
    }
    if len(capture.launches) == 1:
        launch = capture.launches[0]
        answer[f"task_bounds_{unit}"] = _bounds(launch)
        if launch.scheduling:
            answer["scheduling"] = launch.scheduling.to_json(unit)
    else:
        answer["launches"] = [_launch(record, launch) for launch in capture.launches]
    answer["losses"] = [
        {"where": x.where, "what": x.what, "count": x.count, "remedy": x.remedy}
        for x in record.header.losses
    ]
    return answer


def _launch(record: InCore, launch: Launch) -> Json:
    """One launch; its task ids are its own."""
    unit = record.unit
    scheduling = launch.scheduling
    return {
        "epoch": launch.epoch,
        "rows": launch.rows,
        "logical_tasks": len(launch.bounds),
        f"aicore_window_{unit}": _window(launch.kernel_window),
        f"dispatch_finish_window_{unit}": _window(launch.scheduler_window),
        f"busy_{unit}_per_core": _busy(record, launch.busy),
        f"task_bounds_{unit}": _bounds(launch),
        "scheduling": scheduling.to_json(unit) if scheduling else None,
    }


def _window(window: tuple[int, int] | None) -> list[str] | None:
    return None if window is None else [str(stamp) for stamp in window]


def _bounds(launch: Launch) -> Json:
    bounds = launch.bounds.items()
    return {str(task): [str(bound.start), str(bound.end), bound.rows] for task, bound in bounds}


def _busy(record: InCore, busy: dict[int, int]) -> Json:
    """By core id; by name where AIC and AIV cores are numbered from 0 each."""
    if record.slot_map != NAMED_CORES:
        return {str(core): length for core, length in busy.items()}
    cores = record.cores
    names = {
        slot: record.text(name)
        for slot, name in zip(cores.slot.tolist(), cores.name.tolist(), strict=True)
    }
    return {names[core]: length for core, length in busy.items()}


def _function(cost: FunctionCost, unit: str) -> Json:
    return {
        "name": cost.name,
        "rows": cost.rows,
        f"exec_{unit}": cost.total,
        f"min_{unit}": cost.min,
        f"max_{unit}": cost.max,
    }

"""How busy each device is: the only definition of utilization (docs/time.md).

A device is busy where a kernel or collective runs on any of its streams, as NVML and torch-tb-profiler define GPU
utilization. Utilization is busy time over the elapsed time of the steps.
"""

from __future__ import annotations

import numpy as np

from stepscope.lenses.trace.categories import Category, execution_categories
from stepscope.lenses.trace.spans import Spans
from stepscope.lenses.trace.step_windows import StepWindows, step_windows
from stepscope.model.arrays import Ints
from stepscope.model.profile import LaneKind, Profile

BUSY = (Category.KERNEL, Category.COMMUNICATION)
"""The work that makes a device busy. Copies run beside it on engines of their own."""


def device_work(profile: Profile, category: Ints) -> dict[str, Ints]:
    """The executions that make each device busy, by the device's name, streams together.

    Args:
        profile: The profile.
        category: The `Category` of each execution.
    """
    runs = profile.executions
    lanes = profile.lanes
    rows = np.flatnonzero(np.isin(category, BUSY) & (runs.lane >= 0))
    rows = rows[lanes.kind[runs.lane[rows]] == LaneKind.ACCELERATOR]
    names = [device_name(profile, device) for device in lanes.device.tolist()]
    place = {name: at for at, name in enumerate(dict.fromkeys(names))}
    device = np.array([place[name] for name in names], np.int64)[runs.lane[rows]]
    return {name: rows[device == at] for name, at in place.items() if (device == at).any()}


def device_name(profile: Profile, text: int) -> str:
    """The device of a lane, without its stream."""
    name = profile.strings[text] if text >= 0 else "accelerator"
    return str(name).split("/stream", 1)[0]


def busy_spans(profile: Profile, rows: Ints) -> Spans:
    """When some executions run, streams united."""
    start = profile.executions.start_ticks[rows]
    return Spans.union(start, start + profile.executions.duration_ticks[rows])


def utilization(
    profile: Profile, category: Ints | None = None, steps: StepWindows | None = None
) -> dict[str, tuple[int, int]]:
    """For each device the ticks in which it is busy in the steps, and the elapsed ticks of the steps.

    Args:
        profile: The profile.
        category: The `Category` of each execution, where it is known already.
        steps: The steps, where they are known already.
    """
    if category is None:
        category = execution_categories(profile)
    if steps is None:
        steps = step_windows(profile, category)
    windows = Spans.union(steps.start, steps.end)
    found = {}
    for name, rows in device_work(profile, category).items():
        busy = int(busy_spans(profile, rows).within(windows.start, windows.end).sum())
        found[name] = (busy, windows.total)
    return found

"""When the steps of a profile ran on host and devices: the windows of elapsed time (docs/time.md).

A step that follows its host range to the end of the device work that it launched is how torch-tb-profiler 0.4 defines
steps (`tb_plugin/torch_tb_profiler/profiler/event_parser.py`, `_update_steps_duration`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from stepscope.lenses.trace.categories import DEVICE_CATEGORIES, NO_CATEGORY
from stepscope.model.arrays import Array, Bools, Ints
from stepscope.model.profile import LaneKind, NodeKind, Profile

_COMPLETE_FROM = 0.8
"""A last step that launched less than this share of the device work of the one before was cut off by the profiler."""
_LATEST = np.iinfo(np.int64).max


@dataclass(frozen=True, eq=False)
class StepWindows:
    """When steps ran, device included.

    Attributes:
        id: The step's number, -1 for a profile without steps, which is one window.
        name: As the source calls it.
        start, end: In ticks. A step starts when it starts on the host, or when the one before has ended, and ends with
            its last device work.
        complete: False for last steps whose device work was cut off.
    """

    id: Ints
    name: tuple[str, ...]
    start: Ints
    end: Ints
    complete: Bools

    def __len__(self) -> int:
        return len(self.id)


def step_windows(profile: Profile, category: Ints) -> StepWindows:
    """When the steps ran. A profile without steps is one window from the first to the last work of host and devices.

    Args:
        profile: The profile.
        category: The `Category` of each execution.
    """
    if not len(profile.steps):
        return _whole_profile(profile, category)
    host = _host_windows(profile, category)
    return _with_device(profile, category, host)


def _whole_profile(profile: Profile, category: Ints) -> StepWindows:
    """One window around all work; none where there is no work."""
    runs = profile.executions
    rows = np.flatnonzero(category != NO_CATEGORY)
    if not len(rows):
        return StepWindows(id=rows, name=(), start=rows, end=rows, complete=np.ones(0, bool))
    start = runs.start_ticks[rows]
    return StepWindows(
        id=np.full(1, -1),
        name=("",),
        start=start.min(keepdims=True),
        end=(start + runs.duration_ticks[rows]).max(keepdims=True),
        complete=np.ones(1, bool),
    )


def _host_windows(profile: Profile, category: Ints) -> StepWindows:
    """The steps as the source says them. Steps without a time (tfprof's) reach around their executions."""
    steps = profile.steps
    start = steps.start_ticks.astype(np.int64)
    end = start + steps.duration_ticks
    timeless = steps.duration_ticks == 0
    if timeless.any():
        runs = profile.executions
        rows = np.flatnonzero((runs.step >= 0) & (category != NO_CATEGORY))
        rows = rows[timeless[runs.step[rows]]]
        first = np.full(len(steps), _LATEST)
        last = np.full(len(steps), -_LATEST)
        np.minimum.at(first, runs.step[rows], runs.start_ticks[rows])
        np.maximum.at(last, runs.step[rows], runs.start_ticks[rows] + runs.duration_ticks[rows])
        has_work = first <= last
        start = np.where(timeless & has_work, first, start)
        end = np.where(timeless & has_work, last, end)
    names = tuple(profile.strings[i] if i >= 0 else "" for i in steps.name.tolist())
    return StepWindows(
        id=steps.id, name=names, start=start, end=end, complete=np.ones(len(steps), bool)
    )


def _with_device(profile: Profile, category: Ints, host: StepWindows) -> StepWindows:
    """The steps with the device work that they launched."""
    runs = profile.executions
    step = runs.step.astype(np.int64)
    end = runs.start_ticks + runs.duration_ticks
    on_device = np.isin(category, DEVICE_CATEGORIES) & _on_device(profile)
    launched = on_device & (step >= 0)
    if (runs.launch >= 0).any():
        launched &= runs.launch >= 0
    first = np.full(len(host), _LATEST)
    last = np.full(len(host), -_LATEST)
    np.minimum.at(first, step[launched], runs.start_ticks[launched])
    np.maximum.at(last, step[launched], end[launched])
    count = np.bincount(step[launched], minlength=len(host))

    start = host.start
    stop = host.end
    if count.any():
        start, stop = _one_after_the_other(
            host, first=first, last=last, stray=end[on_device & ~launched]
        )
    # tfprof's steps are whole runs of a graph.
    complete = _complete(count) if profile.nested else host.complete
    return StepWindows(id=host.id, name=host.name, start=start, end=stop, complete=complete)


def _on_device(profile: Profile) -> Bools:
    """Which executions are work of a device: collectives may be the host's."""
    runs = profile.executions
    device: Bools = profile.nodes.kind[runs.node] == NodeKind.DEVICE
    if len(profile.lanes):
        device |= (runs.lane >= 0) & (profile.lanes.kind[runs.lane] == LaneKind.ACCELERATOR)
    return device


def _one_after_the_other(
    host: StepWindows, *, first: Ints, last: Ints, stray: Ints
) -> tuple[Ints, Ints]:
    """Steps on the device: each begins no earlier than the one before ends, the first no earlier than older work.

    Args:
        host: The steps on the host.
        first, last: Start and end of the device work that each step launched.
        stray: Ends of device work that no step launched.
    """
    previous = int(host.start[0])
    if first[0] <= last[0]:
        previous = max(previous, int(stray[stray < first[0]].max(initial=previous)))
    start = np.empty(len(host), np.int64)
    end = np.empty(len(host), np.int64)
    for i in range(len(host)):
        start[i] = max(previous, int(host.start[i]))
        end[i] = max(int(start[i]), int(host.end[i]), int(last[i]))
        previous = int(end[i])
    return start, end


def _complete(count: Array) -> Bools:
    """Which steps have all of their device work, given how much each launched."""
    complete = np.ones(len(count), bool)
    busy = np.flatnonzero(count)
    if len(busy) and len(count) > 1:
        last = int(busy[-1])
        complete[last + 1 :] = False
        complete[last] = last == 0 or count[last] >= _COMPLETE_FROM * count[last - 1]
    return complete

"""How the time of each step divides into kernels, copies, communication, host work and the rest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from stepscope.lenses.trace.categories import DEVICE_CATEGORIES, NO_CATEGORY, Category, execution_categories
from stepscope.lenses.trace.devices import DeviceSummary, device_summaries
from stepscope.lenses.trace.spans import Spans
from stepscope.model.columns import Array, Ints
from stepscope.model.profile import Profile

_COMPLETE_FROM = 0.8
"""A last step that launched less than this share of the device work of the one before was cut off by the profiler."""


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
    complete: Array

    def __len__(self) -> int:
        return len(self.id)


@dataclass(frozen=True, eq=False)
class Breakdown:
    """Where the time of each step goes.

    Attributes:
        steps: The steps.
        parts: Ticks by step and `Category`; a step's parts add up to its duration.
        devices: What each accelerator did in the steps.
        tick_ps: Picoseconds per tick.
    """

    steps: StepWindows
    parts: Ints
    devices: tuple[DeviceSummary, ...]
    tick_ps: int

    def to_json(self) -> dict[str, Any]:
        """The document: times in ps, `start_ps` relative to the profile's anchor. Means are `[sum, count]`."""
        steps, duration = self.steps, self.steps.end - self.steps.start
        labels = [category.label for category in Category]
        rows = [
            {
                "id": int(steps.id[i]) if steps.id[i] >= 0 else None,
                "name": steps.name[i],
                "start_ps": int(steps.start[i]) * self.tick_ps,
                "duration_ps": int(duration[i]) * self.tick_ps,
                "complete": bool(steps.complete[i]),
                "parts_ps": dict(zip(labels, (self.parts[i] * self.tick_ps).tolist(), strict=True)),
            }
            for i in range(len(steps))
        ]
        total = self.parts[steps.complete].sum(axis=0) * self.tick_ps
        return {
            "categories": labels,
            "steps": rows,
            "total_ps": dict(zip(labels, total.tolist(), strict=True)),
            "step_time": _spread(np.sort(duration[steps.complete]) * self.tick_ps),
            "devices": [device.to_json() for device in self.devices],
        }


def _spread(ordered: Ints) -> dict[str, Any]:
    """Shortest, median, 95th percentile (by nearest rank: real steps) and longest of ordered durations."""
    count = len(ordered)
    if not count:
        return {"count": 0, "min_ps": None, "p50_ps": None, "p95_ps": None, "max_ps": None, "mean_ps": None}
    ranks = {"min_ps": 0, "p50_ps": -(-count * 50 // 100) - 1, "p95_ps": -(-count * 95 // 100) - 1, "max_ps": count - 1}
    found: dict[str, Any] = {name: int(ordered[rank]) for name, rank in ranks.items()}
    return {"count": count} | found | {"mean_ps": [int(ordered.sum()), count]}


def step_windows(profile: Profile, category: Ints) -> StepWindows:
    """When the steps ran; for a profile without steps one window around all host work."""
    runs, steps = profile.executions, profile.steps
    if not len(steps):
        start, end = _one_window(profile, category)
        whole = StepWindows(np.full(len(start), -1), ("",) * len(start), start, end, np.ones(len(start), bool))
        return _on_device(profile, category, _launched_in(profile, start, end), whole)
    names = tuple(profile.strings[i] if i >= 0 else "" for i in steps.name.tolist())
    end = steps.start_ticks + steps.duration_ticks
    host = StepWindows(steps.id, names, steps.start_ticks, end, np.ones(len(steps), bool))
    return _on_device(profile, category, runs.step.astype(np.int64), host)


def _on_device(profile: Profile, category: Ints, step: Ints, host: StepWindows) -> StepWindows:
    """Steps with the device work that they launched, given the step of each execution."""
    runs = profile.executions
    end = runs.start_ticks + runs.duration_ticks
    on_device = np.isin(category, DEVICE_CATEGORIES)
    launched = on_device & (step >= 0)
    if (runs.launch >= 0).any():
        launched &= runs.launch >= 0
    first = np.full(len(host), np.iinfo(np.int64).max)
    last = np.full(len(host), np.iinfo(np.int64).min)
    np.minimum.at(first, step[launched], runs.start_ticks[launched])
    np.maximum.at(last, step[launched], end[launched])
    count = np.bincount(step[launched], minlength=len(host))
    start, stop = host.start, host.end
    if count.any():
        start, stop = _follow(start, stop, first, last, end[on_device & ~launched])
    return StepWindows(host.id, host.name, start.astype(np.int64), stop.astype(np.int64), _complete(count))


def _one_window(profile: Profile, category: Ints) -> tuple[Ints, Ints]:
    """Around all work of the host, else around all work; empty where there is none."""
    runs = profile.executions
    host = (category != NO_CATEGORY) & ~np.isin(category, DEVICE_CATEGORIES)
    rows = np.flatnonzero(host if host.any() else category != NO_CATEGORY)
    if not len(rows):
        return rows, rows
    end = runs.start_ticks[rows] + runs.duration_ticks[rows]
    return runs.start_ticks[rows].min(keepdims=True), end.max(keepdims=True)


def _launched_in(profile: Profile, start: Ints, end: Ints) -> Ints:
    """0 for what was launched, or started, in the one window; else -1."""
    runs = profile.executions
    moment = np.where(runs.launch >= 0, runs.start_ticks[runs.launch], runs.start_ticks)
    if not len(start):
        return np.full(len(moment), -1)
    return np.where((moment >= start[0]) & (moment < end[0]), 0, -1)


def _follow(host_start: Ints, host_end: Ints, first: Ints, last: Ints, stray: Ints) -> tuple[Ints, Ints]:
    """Steps on the device: each begins no earlier than the one before ends, the first no earlier than older work."""
    previous = int(host_start[0])
    earlier = stray[stray < first[0]] if first[0] <= last[0] else stray[:0]
    previous = max(previous, int(earlier.max(initial=previous)))
    start, end = np.empty(len(host_start), np.int64), np.empty(len(host_start), np.int64)
    for i in range(len(start)):
        start[i] = max(previous, int(host_start[i]))
        end[i] = previous = max(int(start[i]), int(host_end[i]), int(last[i]))
    return start, end


def _complete(count: Ints) -> Array:
    complete = np.ones(len(count), bool)
    busy = np.flatnonzero(count)
    if len(busy) and len(count) > 1:
        last = int(busy[-1])
        complete[last + 1 :] = False
        complete[last] = last == 0 or count[last] >= _COMPLETE_FROM * count[last - 1]
    return complete


def breakdown(profile: Profile) -> Breakdown:
    """Divides the time of each step. A moment is of the first category that runs in it on any thread or stream."""
    runs, category = profile.executions, execution_categories(profile)
    steps = step_windows(profile, category)
    end = runs.start_ticks + runs.duration_ticks
    parts = np.zeros((len(steps), len(Category)), np.int64)
    claimed = Spans(np.empty(0, np.int64), np.empty(0, np.int64))
    before = np.zeros(len(steps), np.int64)
    for part in list(Category)[:-1]:
        rows = category == part
        claimed = claimed | Spans.union(runs.start_ticks[rows], end[rows])
        covered = claimed.within(steps.start, steps.end)
        parts[:, part] = covered - before
        before = covered
    parts[:, Category.OTHER] = steps.end - steps.start - before
    devices = device_summaries(profile, category, Spans.union(steps.start, steps.end))
    return Breakdown(steps, parts, devices, profile.tick_ps)

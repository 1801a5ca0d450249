"""How the time of each step divides into kernels, copies, communication, host work and the rest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from stepscope.lenses.trace.categories import Category, execution_categories
from stepscope.lenses.trace.devices import DeviceSummary, device_summaries
from stepscope.lenses.trace.spans import Spans
from stepscope.lenses.trace.step_windows import StepWindows, step_windows
from stepscope.model.arrays import Ints
from stepscope.model.profile import Profile
from stepscope.statistics import nearest_rank


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
        return {
            "count": 0,
            "min_ps": None,
            "p50_ps": None,
            "p95_ps": None,
            "max_ps": None,
            "mean_ps": None,
        }
    return {
        "count": count,
        "min_ps": int(ordered[0]),
        "p50_ps": nearest_rank(ordered, 50),
        "p95_ps": nearest_rank(ordered, 95),
        "max_ps": int(ordered[-1]),
        "mean_ps": [int(ordered.sum()), count],
    }


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
    devices = device_summaries(profile, category, steps)
    return Breakdown(steps, parts, devices, profile.tick_ps)

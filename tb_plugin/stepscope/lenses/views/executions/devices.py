"""What each accelerator is, and how busy it was."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stepscope.lenses.views.executions.categories import Category, attribute
from stepscope.lenses.views.executions.spans import Spans
from stepscope.model.columns import Ints
from stepscope.model.profile import Profile

Floats = NDArray[np.float64]
BLOCKS_PER_SM = "blocks per SM"
OCCUPANCY = "est. achieved occupancy %"


@dataclass(frozen=True)
class DeviceSummary:
    """An accelerator in a window of time.

    Attributes:
        name: The device.
        model: The product, '' when unknown.
        memory_bytes: Its memory, None when unknown.
        compute_capability: As in 9.0, '' when unknown.
        busy_ps: How long a kernel was running.
        span_ps: The window.
        kernels: How many ran in it.
        sm_efficiency: Estimate from blocks per SM: the mean share of SMs with work; None when the source says nothing.
        occupancy: Estimated achieved occupancy, a mean over kernel time; None when the source says nothing.
    """

    name: str
    model: str
    memory_bytes: int | None
    compute_capability: str
    busy_ps: int
    span_ps: int
    kernels: int
    sm_efficiency: float | None
    occupancy: float | None

    def to_json(self) -> dict[str, Any]:
        """The summary as a document; utilization is the exact fraction busy / window."""
        shown = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return shown | {"utilization": [self.busy_ps, self.span_ps] if self.span_ps else None}


def device_summaries(profile: Profile, category: Ints, window: tuple[int, int]) -> tuple[DeviceSummary, ...]:
    """A summary of each device that ran kernels in the window, in ticks."""
    runs, nodes = profile.executions, profile.nodes
    kernel = np.flatnonzero((category == Category.KERNEL) | (category == Category.COMMUNICATION))
    end = runs.start_ticks + runs.duration_ticks
    kernel = kernel[runs.lane[kernel] >= 0]
    place = profile.lanes.device[runs.lane[kernel]] if len(kernel) else kernel
    on_host = np.isin(place, nodes.device[nodes.kind == 0]) if len(kernel) else kernel > 0
    kernel, place = kernel[~on_host], place[~on_host]
    blocks, occupancy = numbers(profile, BLOCKS_PER_SM), numbers(profile, OCCUPANCY)
    found = []
    for device in np.unique(place).tolist():
        rows = kernel[place == device]
        start, stop = np.maximum(runs.start_ticks[rows], window[0]), np.minimum(end[rows], window[1])
        inside = stop > start
        rows, start, stop = rows[inside], start[inside], stop[inside]
        busy = Spans.union(start, stop).total * profile.tick_ps
        model, memory, capability = _described(profile, device)
        efficiency = _efficiency(start, stop, blocks[runs.node[rows]], window[1] - window[0])
        mean = _weighted(stop - start, occupancy[runs.node[rows]])
        span = (window[1] - window[0]) * profile.tick_ps
        name = profile.strings[device]
        found.append(DeviceSummary(name, model, memory, capability, busy, span, len(rows), efficiency, mean))
    return tuple(found)


def _described(profile: Profile, device: int) -> tuple[str, int | None, str]:
    devices = profile.devices
    rows = np.flatnonzero(devices.name == device)
    if not len(rows):
        return "", None, ""
    row = int(rows[0])
    model = profile.strings[int(devices.model[row])] if devices.model[row] >= 0 else ""
    major, minor = int(devices.compute_major[row]), int(devices.compute_minor[row])
    return model, int(devices.memory_bytes[row]) or None, f"{major}.{minor}" if major else ""


def numbers(profile: Profile, key: str) -> Floats:
    """An attribute of each node as a number, NaN where it has none."""
    value = attribute(profile, key)
    used, place = np.unique(value, return_inverse=True)
    texts = [profile.strings[i] if i >= 0 else "" for i in used.tolist()]
    parsed = [float(text) if re.fullmatch(r"\d+(\.\d+)?([eE][+-]?\d+)?", text) else np.nan for text in texts]
    found: Floats = np.array(parsed, np.float64)[place]
    return found


def _efficiency(start: Ints, end: Ints, blocks: Floats, span: int) -> float | None:
    """The mean over the window of the blocks per SM of the kernels that run, at most 1."""
    known = blocks > 0
    if not known.any() or not span:
        return None
    time = np.concatenate((start[known], end[known]))
    change = np.concatenate((blocks[known], -blocks[known]))
    order = np.argsort(time, kind="stable")
    level = np.minimum(np.maximum(np.cumsum(change[order])[:-1], 0), 1)
    return float(min((level * np.diff(time[order])).sum() / span, 1))


def _weighted(weight: Ints, value: Floats) -> float | None:
    known = ~np.isnan(value)
    total = weight[known].sum()
    return float((weight[known] * value[known]).sum() / total) if total else None

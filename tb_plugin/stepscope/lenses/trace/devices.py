"""What each accelerator is, and how busy it was."""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from stepscope.lenses.trace.categories import Category, attribute
from stepscope.lenses.trace.spans import Spans
from stepscope.lenses.trace.step_windows import StepWindows
from stepscope.lenses.trace.tensor_cores import SAYS_NOTHING, YES, tensor_core_words
from stepscope.lenses.trace.utilization import device_work, utilization
from stepscope.model.arrays import Floats
from stepscope.model.columns import Ints
from stepscope.model.profile import Profile

BLOCKS_PER_SM = "blocks per SM"
OCCUPANCY = "est. achieved occupancy %"


@dataclass(frozen=True)
class TensorCoreTime:
    """Time of kernels, those of collectives left out, by what their names say of Tensor Cores. Streams add up.

    Attributes:
        uses_ps: Their names say that they use them.
        silent_ps: Their names say nothing, so that the share lies between uses / all and (uses + silent) / all.
        kernel_ps: Of all kernels.
    """

    uses_ps: int
    silent_ps: int
    kernel_ps: int


@dataclass(frozen=True)
class DeviceSummary:
    """An accelerator over the steps.

    Attributes:
        name: The device.
        model: The product, '' when unknown.
        memory_bytes: Its memory, None when unknown.
        compute_capability: As in 9.0, '' when unknown.
        busy_ps: How long a kernel was running.
        span_ps: The time of the steps.
        kernels: How many ran in them.
        sm_efficiency: Estimate from blocks per SM: the mean share of SMs with work; None when the source says nothing.
        occupancy: Estimated achieved occupancy, a mean over kernel time; None when the source says nothing.
        tensor_cores: Time of kernels that use Tensor Cores; None when no kernel's name says whether it does.
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
    tensor_cores: TensorCoreTime | None

    def to_json(self) -> dict[str, Any]:
        """The summary as a document; utilization is the exact fraction busy / steps."""
        return asdict(self) | {
            "utilization": [self.busy_ps, self.span_ps] if self.span_ps else None
        }


def device_summaries(
    profile: Profile, category: Ints, windows: StepWindows
) -> tuple[DeviceSummary, ...]:
    """A summary of each device that runs kernels, over the steps."""
    runs = profile.executions
    steps = Spans.union(windows.start, windows.end)
    use = utilization(profile, category, windows)
    blocks = numbers(profile, BLOCKS_PER_SM)
    occupancy = numbers(profile, OCCUPANCY)
    tick = profile.tick_ps
    word = tensor_core_words(profile)
    computes = category == Category.KERNEL
    found = []
    for name, rows in device_work(profile, category).items():
        start = runs.start_ticks[rows]
        end = start + runs.duration_ticks[rows]
        inside = steps.within(start, end)
        busy, span = use[name]
        model, memory, capability = _described(profile, name)
        summary = DeviceSummary(
            name=name,
            model=model,
            memory_bytes=memory,
            compute_capability=capability,
            busy_ps=busy * tick,
            span_ps=span * tick,
            kernels=int(np.count_nonzero(inside)),
            sm_efficiency=_efficiency(start, end, blocks[runs.node[rows]], steps),
            occupancy=_weighted(inside, occupancy[runs.node[rows]]),
            tensor_cores=_tensor_cores(
                (inside * tick)[computes[rows]], word[runs.node[rows]][computes[rows]]
            ),
        )
        found.append(summary)
    return tuple(found)


def _tensor_cores(inside_ps: Ints, word: Ints) -> TensorCoreTime | None:
    if not (word != SAYS_NOTHING).any():
        return None
    uses, silent = (int(inside_ps[word == said].sum()) for said in (YES, SAYS_NOTHING))
    return TensorCoreTime(uses, silent, int(inside_ps.sum()))


def _described(profile: Profile, name: str) -> tuple[str, int | None, str]:
    devices = profile.devices
    rows = [
        row
        for row, text in enumerate(devices.name.tolist())
        if text >= 0 and profile.strings[text] == name
    ]
    if not rows:
        return "", None, ""
    row = rows[0]
    model = profile.strings[int(devices.model[row])] if devices.model[row] >= 0 else ""
    major, minor = int(devices.compute_major[row]), int(devices.compute_minor[row])
    return model, int(devices.memory_bytes[row]) or None, f"{major}.{minor}" if major else ""


def numbers(profile: Profile, key: str) -> Floats:
    """An attribute of each node as a number, NaN where it has none."""
    value = attribute(profile, key)
    used, place = np.unique(value, return_inverse=True)
    texts = [profile.strings[i] if i >= 0 else "" for i in used.tolist()]
    parsed = [
        float(text) if re.fullmatch(r"\d+(\.\d+)?([eE][+-]?\d+)?", text) else np.nan
        for text in texts
    ]
    values = np.array(parsed, np.float64)
    values[np.isinf(values)] = np.nan
    found: Floats = values[place]
    return found


def _efficiency(start: Ints, end: Ints, blocks: Floats, steps: Spans) -> float | None:
    """The mean over the steps of `sm_efficiency`."""
    if not steps.total:
        return None
    parts = sm_efficiency(start, end, blocks, steps.start, steps.end)
    return (
        None
        if parts is None
        else float(min((parts * (steps.end - steps.start)).sum() / steps.total, 1))
    )


def sm_efficiency(start: Ints, end: Ints, blocks: Floats, from_: Ints, to: Ints) -> Floats | None:
    """An estimate of the share of SMs with work, as its mean in each window: the blocks per SM of the kernels that run,
    at most 1. None where no kernel says how many blocks it has.
    """
    known = blocks > 0
    if not known.any():
        return None
    time = np.concatenate((start[known], end[known]))
    order = np.argsort(time, kind="stable")
    time, change = time[order], np.concatenate((blocks[known], -blocks[known]))[order]
    level = np.clip(np.cumsum(change)[:-1], 0, 1)
    until = np.append(0, np.cumsum(level * np.diff(time)))
    inside = np.interp(to, time, until) - np.interp(from_, time, until)
    mean: Floats = inside / np.maximum(to - from_, 1)
    return mean


def _weighted(weight: Ints, value: Floats) -> float | None:
    known = ~np.isnan(value)
    total = weight[known].sum()
    return float((weight[known] * value[known]).sum() / total) if total else None

"""Rules over profiles: what tfprof's checkers look for, mended.

Utilization is taken per device and step, as the union of the intervals in which something runs; tfprof mixes each
node's own last step and counts parallel streams twice. Any FusedBatchNorm version counts as fused. Scopes are named
with their totals.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Protocol

import numpy as np

from stepscope.findings.finding import Finding
from stepscope.findings.rules import Rule, Subject
from stepscope.lenses.views import ViewResult, ViewsOptions
from stepscope.lenses.views.code_layout import UNATTRIBUTED
from stepscope.lenses.views.tfprof_units import time_text
from stepscope.model.columns import Ints
from stepscope.model.profile import LaneKind, Profile

PS_PER_US = 1_000_000
_LOW_UTILIZATION = 0.5
_LEAST_SHARE = 0.1
_TOP = 3
_MANY = 5


class Views(Protocol):
    """Views of one profile, as `ViewEngine` gives them."""

    @property
    def profile(self) -> Profile:
        """The profile."""

    def analyze(self, options: ViewsOptions, /) -> ViewResult:
        """Builds a view."""


def _idle_accelerators(subject: Subject[Views]) -> Iterator[Finding]:
    profile = subject.result.profile
    for device, (busy, window) in sorted(_utilization(profile).items()):
        if window <= 0 or busy / window >= _LOW_UTILIZATION:
            continue
        idle = (window - busy) * profile.tick_ps / PS_PER_US
        yield Finding(
            "idle-accelerator",
            f"{device} works {busy / window:.0%} of the time",
            1 - busy / window,
            idle,
            "us",
            (subject.evidence(device, view="graph", metric="total_accelerator_exec_micros"),),
            "Let the host prepare the next step while the device works: prefetch the input, launch larger ops, "
            "wait for results less often",
            "measured",
        )


def _utilization(profile: Profile) -> dict[str, tuple[int, int]]:
    """For each accelerator the ticks in which anything runs, and the ticks of its windows, summed over the steps.

    The window of a step is from the first start to the last end of any execution in the step.
    """
    rows = profile.executions
    kinds = np.append(profile.lanes.kind, LaneKind.OTHER)[rows.lane]
    devices = np.array([*(_device(profile, d) for d in profile.lanes.device.tolist()), ""], object)[rows.lane]
    out: dict[str, tuple[int, int]] = {}
    for step in np.unique(rows.step[kinds == LaneKind.ACCELERATOR]).tolist():
        in_step = rows.step == step
        end = rows.start_ticks + rows.duration_ticks
        window = int(end[in_step].max() - rows.start_ticks[in_step].min())
        works = in_step & (kinds == LaneKind.ACCELERATOR)
        for device in sorted(set(devices[works])):
            mine = works & (devices == device)
            busy, whole = out.get(device, (0, 0))
            out[device] = (busy + _union(rows.start_ticks[mine], end[mine]), whole + window)
    return out


def _device(profile: Profile, text: int) -> str:
    """The device of a lane, without its stream."""
    name = profile.strings[text] if text >= 0 else "accelerator"
    return str(name).split("/stream", 1)[0]


def _union(start: Ints, end: Ints) -> int:
    """The ticks that intervals cover."""
    order = np.argsort(start, kind="stable")
    start, end = start[order], end[order]
    reach = np.maximum.accumulate(end)
    before = np.concatenate([start[:1], reach[:-1]])
    return int(np.maximum(reach - np.maximum(start, before), 0).sum())


def _unfused_norm(subject: Subject[Views]) -> Iterator[Finding]:
    profile = subject.result.profile
    texts = list(profile.strings)
    types = {texts[kind] for kind in np.unique(profile.op_types.type).tolist()}
    if any(kind.startswith("FusedBatchNorm") for kind in types):
        return
    nodes = [i for i, name in enumerate(profile.nodes.name.tolist()) if "BatchNorm" in texts[name]]
    if nodes:
        yield _node_finding(
            subject,
            nodes,
            "unfused-batch-norm",
            "batch normalization of single ops",
            "Use the fused op: FusedBatchNorm, tf.keras.layers.BatchNormalization with fused=True",
        )


def _channels_last(subject: Subject[Views]) -> Iterator[Finding]:
    profile = subject.result.profile
    texts = list(profile.strings)
    rows = profile.attributes
    chosen = [
        node
        for node, key, value in zip(rows.node.tolist(), rows.key.tolist(), rows.value.tolist(), strict=True)
        if (texts[key], texts[value]) == ("data_format", "NHWC") and "gpu" in _device_of(profile, node)
    ]
    if chosen:
        yield _node_finding(
            subject,
            chosen,
            "channels-last-on-gpu",
            "ops with data_format NHWC on a GPU",
            "Try NCHW, which most GPU kernels are faster with; with mixed precision on tensor cores NHWC may be right",
        )


def _device_of(profile: Profile, node: int) -> str:
    device = int(profile.nodes.device[node])
    return str(profile.strings[device]) if device >= 0 else ""


def _node_finding(subject: Subject[Views], nodes: list[int], rule: str, what: str, advice: str) -> Finding:
    profile = subject.result.profile
    rows = profile.node_steps
    ticks = rows.host_ticks + rows.accelerator_ticks
    cost, whole = int(ticks[np.isin(rows.node, nodes)].sum()), int(ticks.sum())
    names = [profile.strings[int(profile.nodes.name[node])] for node in nodes[:_MANY]]
    return Finding(
        rule,
        f"{len(nodes)} {what}",
        cost / whole if whole else None,
        cost * profile.tick_ps / PS_PER_US,
        "us",
        tuple(subject.evidence(name, view="scope", search=name) for name in names),
        advice,
        "hint",
    )


def _expensive(view: str, rule: str, word: str, advice: str) -> Rule[Views]:
    def check(subject: Subject[Views]) -> Iterator[Finding]:
        result = subject.result.analyze(ViewsOptions(view=view, order_by="micros"))
        whole = float(result.column("total_exec_micros")[0]) if len(result) else 0.0
        if whole <= 0:
            return
        rows = _branches(result) if view == "code" else _top_rows(result)
        field = "exec_micros" if view == "op" else "total_exec_micros"
        for row, micros in zip(rows, result.column(field)[rows].tolist(), strict=True):
            if micros / whole < _LEAST_SHARE:
                continue
            name = result.paths([row])[0]
            yield Finding(
                rule,
                f"{word} {name} takes {micros / whole:.1%} of the time ({time_text(micros)})",
                micros / whole,
                micros,
                "us",
                (subject.evidence(name, view=view, search=name),),
                advice,
                "measured",
            )

    return Rule(rule, "views", f"The {word}s that take most of the time", check)


def _below(result: ViewResult) -> dict[int, list[int]]:
    """The rows directly below each row, in order."""
    below: dict[int, list[int]] = defaultdict(list)
    for row, parent in enumerate(result.parent.tolist()):
        below[parent].append(row)
    return below


def _only_way(below: dict[int, list[int]], row: int) -> int:
    """The first row at or below a row that has not exactly one row below it."""
    while len(below[row]) == 1:
        row = below[row][0]
    return row


def _top_rows(result: ViewResult) -> list[int]:
    """The costliest rows below the first row that holds several."""
    below = _below(result)
    found = below[_only_way(below, 0)] or below[0]
    return found[:_TOP]


def _branches(result: ViewResult) -> list[int]:
    """The costliest lines below the first line of each branch that leads to several: above it all cost the same."""
    below = _below(result)
    found = [row for top in below[0] for row in below[_only_way(below, top)] or [top]]
    total = result.column("total_exec_micros")
    named = [row for row in found if result.names([row]) != [UNATTRIBUTED]]
    return sorted(named, key=lambda row: -float(total[row]))[:_TOP]


UTILIZATION = ("idle-accelerator",)
OPERATIONS = ("unfused-batch-norm", "channels-last-on-gpu")
EXPENSIVE = ("expensive-op", "expensive-scope", "expensive-line")

RULES: tuple[Rule[Views], ...] = (
    Rule("idle-accelerator", "views", "Accelerators that wait for more than half of the step", _idle_accelerators),
    Rule("unfused-batch-norm", "views", "Batch normalization without a fused op", _unfused_norm),
    Rule("channels-last-on-gpu", "views", "Ops with data_format NHWC on a GPU", _channels_last),
    _expensive(
        "op", "expensive-op", "op", "See which calls make it up, and whether they can be fewer, fused or smaller"
    ),
    _expensive("scope", "expensive-scope", "scope", "Open it: the most is to be gained in what is below"),
    _expensive("code", "expensive-line", "line", "Open it: the most is to be gained in what it calls"),
)

"""Rules over profiles: what tfprof's checkers look for, mended.

Utilization is taken per device and step, as the union of the intervals in which something runs; tfprof mixes each
node's own last step and counts parallel streams twice. Any FusedBatchNorm version counts as fused. Scopes are named
with their totals.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from stepscope.findings.finding import Finding
from stepscope.findings.format_time import PS_PER_US
from stepscope.findings.rules import LensResult, Rule
from stepscope.findings.step_facts import Views as Views
from stepscope.findings.step_finding import facts_of
from stepscope.lenses.trace.memory import MemorySeries, memory_over_time
from stepscope.lenses.trace.utilization import utilization
from stepscope.model.columns import Ints
from stepscope.model.profile import LaneKind, NodeKind, Profile

_LOW_UTILIZATION = 0.5
_LEAST_UNATTRIBUTED = 0.05
_LEAST_STEPS = 3
_LEAST_GROWTH = 0.01
_LEAST_RESERVED = 0.5
_LEAST_UNUSED = 0.3
_MANY = 5


def _idle_accelerators(subject: LensResult[Views]) -> Iterator[Finding]:
    profile = subject.result.profile
    facts = facts_of(subject)
    if facts is not None and (facts.launch >= 0).any():
        return  # Launches are known: host-bound tells what the host costs.
    every = sorted(utilization(profile).items())
    idle = [
        (device, busy, window)
        for device, (busy, window) in every
        if busy < _LOW_UTILIZATION * window
    ]
    host_known = bool((profile.lanes.kind == LaneKind.HOST).any())
    if not idle or (not host_known and len(idle) < len(every)):
        return  # Cores of one chip, of which some are busy: how its work is divided is no wait for the host.
    works = [busy / window for _, busy, window in idle]
    lost, whole = (
        sum(window - busy for _, busy, window in idle),
        sum(window for _, _, window in idle),
    )
    low, high = f"{min(works):.0%}", f"{max(works):.0%}"
    share = low if low == high else f"{low} to {high}"
    who = (
        f"{idle[0][0]} works"
        if len(idle) == 1
        else f"{len(idle)} of {len(every)} accelerators work"
    )
    yield Finding(
        "idle-accelerator",
        f"{who} {share} of the time",
        lost / whole,
        lost * profile.tick_ps / PS_PER_US / len(idle),
        "us",
        tuple(subject.evidence(device, pane="steps") for device, _, _ in idle[:_MANY]),
        "Let the host prepare the next step while the device works: prefetch the input, launch larger ops, "
        "wait for results less often",
        "measured",
    )


def _unfused_norm(subject: LensResult[Views]) -> Iterator[Finding]:
    profile = subject.result.profile
    if profile.nested:
        return
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


def _channels_last(subject: LensResult[Views]) -> Iterator[Finding]:
    profile = subject.result.profile
    texts = list(profile.strings)
    rows = profile.attributes
    chosen = [
        node
        for node, key, value in zip(
            rows.node.tolist(), rows.key.tolist(), rows.value.tolist(), strict=True
        )
        if (texts[key], texts[value]) == ("data_format", "NHWC")
        and "gpu" in _device_of(profile, node)
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


def _node_finding(
    subject: LensResult[Views], nodes: list[int], rule: str, what: str, advice: str
) -> Finding:
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


def _unattributed(subject: LensResult[Views]) -> Iterator[Finding]:
    profile = subject.result.profile
    if not profile.nested:
        return
    rows, nodes = profile.node_steps, profile.nodes
    device = nodes.kind[rows.node] == NodeKind.DEVICE
    whole = int(rows.accelerator_ticks[device].sum())
    alone = int(rows.accelerator_ticks[device & (nodes.caller[rows.node] < 0)].sum())
    if whole and alone / whole >= _LEAST_UNATTRIBUTED:
        yield Finding(
            "unattributed-device-time",
            f"{alone / whole:.0%} of the device's time belongs to no op",
            None,
            alone * profile.tick_ps / PS_PER_US,
            "us",
            (subject.evidence("", view="op", sort="-total_accelerator_exec_micros"),),
            "Profile the host beside the device, and begin before the work is launched, so that its op is known",
            "measured",
        )


def _growing(subject: LensResult[Views]) -> Iterator[Finding]:
    profile = subject.result.profile
    for series in memory_over_time(profile):
        held = _held_at_ends(profile, series)
        grown = np.diff(held)
        if (
            len(held) < _LEAST_STEPS
            or grown.min() <= 0
            or grown.sum() < _LEAST_GROWTH * series.peak[1]
        ):
            continue
        each = round(float(grown.mean()))
        place = series.device or series.allocator or "memory"
        yield Finding(
            "growing-memory",
            f"{place} holds {each:,} bytes more after each of {len(held)} steps",
            None,
            each,
            "bytes",
            (
                subject.evidence(
                    place, view="op", metric="total_residual_bytes", sort="-residual_bytes"
                ),
            ),
            "See which ops leave memory behind: results kept in a list, graphs kept for backward, growing caches",
            "hint",
        )


def _fragmented(result: LensResult[Views]) -> Iterator[Finding]:
    """Memory that the allocator holds and cannot use, on a device that is mostly taken."""
    profile = result.result.profile
    sizes = dict(
        zip(profile.devices.name.tolist(), profile.devices.memory_bytes.tolist(), strict=True)
    )
    names = {profile.strings[name]: size for name, size in sizes.items() if name >= 0 and size > 0}
    for series in memory_over_time(profile):
        whole = names.get(series.device, 0)
        reserved = int(series.reserved_bytes.max(initial=0))
        unused = reserved - series.peak[1]
        if not whole or reserved < _LEAST_RESERVED * whole or unused < _LEAST_UNUSED * reserved:
            continue
        yield Finding(
            rule="fragmentation",
            title=f"{series.device} reserves {reserved:,} bytes, of which {unused / reserved:.0%} are never allocated",
            cost_share=None,
            cost=unused,
            unit="bytes",
            evidence=(result.evidence(series.device, pane="memory", host=series.device),),
            advice="The allocator keeps blocks that no tensor fits into: memory runs out earlier than it need",
            certainty="derived",
            whole=whole,
            changes=(
                "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True",
                "Keep input shapes the same, or allocate the largest batch first",
            ),
        )


def _held_at_ends(profile: Profile, series: MemorySeries) -> Ints:
    """What was allocated at the end of each step in which something was allocated or freed."""
    ends = np.sort(
        (profile.steps.start_ticks + profile.steps.duration_ticks)[profile.steps.duration_ticks > 0]
    )
    place = np.searchsorted(series.time_ticks, ends, side="right")
    held: Ints = series.allocated_bytes[place[place > 0] - 1]
    return held


UTILIZATION = ("idle-accelerator",)
OPERATIONS = ("unfused-batch-norm", "channels-last-on-gpu")

RULES: tuple[Rule[Views], ...] = (
    Rule(
        "idle-accelerator",
        "views",
        "Accelerators that wait for more than half of the step",
        _idle_accelerators,
    ),
    Rule(
        "unfused-batch-norm",
        "views",
        "Batch normalization without a fused op, in TensorFlow graphs",
        _unfused_norm,
        "hint",
    ),
    Rule(
        "channels-last-on-gpu",
        "views",
        "Ops with data_format NHWC on a GPU",
        _channels_last,
        "hint",
    ),
    Rule(
        "unattributed-device-time",
        "views",
        "Device work that no op is known to have launched",
        _unattributed,
    ),
    Rule(
        "fragmentation",
        "views",
        "Memory that the allocator reserves and never hands out",
        _fragmented,
        "derived",
    ),
    Rule("growing-memory", "views", "Memory that grows from step to step", _growing, "hint"),
)

"""The rule about mixed precision: plain arithmetic where the accelerator has Tensor Cores."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np

from stepscope.findings.finding import Finding
from stepscope.findings.format_time import PS_PER_US
from stepscope.findings.hot_spots import Views
from stepscope.findings.rules import LensResult, Rule
from stepscope.lenses.trace.tensor_cores import NO, YES, tensor_core_words
from stepscope.model.columns import Array
from stepscope.model.profile import NodeKind, Profile

_FIRST_COMPUTE_MAJOR = 7
"""The compute capability that Tensor Cores came with is 7.0."""
_WITHOUT = re.compile(r"\bGTX\b|\bAMD\b|Instinct|Radeon|\bgfx\d", re.IGNORECASE)
"""GTX cards of 7.5 have none; AMD counts its capabilities otherwise."""
_DOUBLE = re.compile(r"(?<![a-z])(?:g|gc)?[dz]gemm|f64")
"""Of doubles, which no mixed precision replaces."""
_LEAST_SHARE = 0.2


def _unused_tensor_cores(subject: LensResult[Views]) -> Iterator[Finding]:
    profile = subject.result.profile
    ticks = _capable_ticks(profile)
    if not ticks.any():
        return
    word = tensor_core_words(profile)
    said = np.flatnonzero((word == NO) & (ticks > 0)).tolist()
    names = {node: profile.strings[int(profile.nodes.name[node])] for node in said}
    plain = [node for node in said if not _DOUBLE.search(names[node])]
    lost, whole = int(ticks[plain].sum()), int(ticks.sum())
    if not plain or lost < _LEAST_SHARE * whole or ticks[word == YES].any():
        return
    name = names[plain[int(ticks[plain].argmax())]]
    yield Finding(
        "unused-tensor-cores",
        f"kernels that multiply without Tensor Cores take {lost / whole:.0%} of the device's time",
        None,
        lost * profile.tick_ps / PS_PER_US,
        "us",
        (subject.evidence(name, view="op", search=name),),
        "Train in mixed precision: torch.autocast, with bfloat16 from compute capability 8.0 on; "
        "there TF32 is an alternative, torch.set_float32_matmul_precision('high')",
        "hint",
    )


def _capable_ticks(profile: Profile) -> Array:
    """What each node took itself on accelerators with Tensor Cores."""
    devices, nodes, rows = profile.devices, profile.nodes, profile.node_steps
    models = [profile.strings[model] if model >= 0 else "" for model in devices.model.tolist()]
    has = np.array([not _WITHOUT.search(model) for model in models], bool)
    capable = devices.name[has & (devices.compute_major >= _FIRST_COMPUTE_MAJOR)]
    works = (nodes.kind == NodeKind.DEVICE) & np.isin(nodes.device, capable)
    ticks = np.zeros(len(nodes), np.int64)
    np.add.at(ticks, rows.node, rows.accelerator_ticks)
    return np.where(works, ticks, 0)


RULE = Rule(
    "unused-tensor-cores",
    "views",
    "Tensor Cores that no kernel says it uses, where 20% of a device's time is of kernels named after plain arithmetic",
    _unused_tensor_cores,
    "hint",
)

"""The rule about mixed precision: plain arithmetic where the accelerator has Tensor Cores."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np

from stepscope.findings.finding import Finding
from stepscope.findings.format_time import PS_PER_US
from stepscope.findings.rules import LensResult, Rule
from stepscope.findings.step_facts import Views
from stepscope.findings.step_finding import facts_of
from stepscope.lenses.trace.tensor_cores import NO, YES, tensor_core_words
from stepscope.model.columns import Array
from stepscope.model.profile import NodeKind, Profile

_FIRST_COMPUTE_MAJOR = 7
"""The compute capability that Tensor Cores came with is 7.0."""
_WITHOUT = re.compile(r"\bGTX\b|\bAMD\b|Instinct|Radeon|\bgfx\d", re.IGNORECASE)
"""GTX cards of 7.5 have none; AMD counts its capabilities otherwise."""
_DOUBLE = re.compile(r"(?<![a-z])(?:g|gc)?[dz]gemm|f64")
"""Of doubles, which no mixed precision replaces."""
_PLAIN = re.compile(
    r"(?<![a-z])s(?:gemm|cudnn)|ffma|simt_s|cudnn::.*<float|implicit_convolve_sgemm|convolve_common_engine_float"
    r"|(?<![a-z])gemv?.*<float|gemmSN|gemmk1_kernel<.*float|\bfp32\b|conv2d_grouped_direct.*float"
)
"""FP32 kernels of cuBLAS, cuDNN and CUTLASS by name."""
_LEAST_SHARE = 0.2


def _unused_tensor_cores(result: LensResult[Views]) -> Iterator[Finding]:
    profile = result.result.profile
    ticks = _capable_ticks(profile)
    if not ticks.any():
        return
    word = tensor_core_words(profile)
    candidates = np.flatnonzero((word != YES) & (ticks > 0)).tolist()
    names = {node: profile.strings[int(profile.nodes.name[node])] for node in candidates}
    plain = [node for node in candidates if word[node] == NO or _PLAIN.search(names[node])]
    plain = [node for node in plain if not _DOUBLE.search(names[node])]
    lost, whole = int(ticks[plain].sum()), int(ticks.sum())
    with_cores = int(ticks[word == YES].sum())
    if not plain or lost < _LEAST_SHARE * whole or with_cores > lost:
        return
    name = names[plain[int(ticks[plain].argmax())]]
    facts = facts_of(result)
    step_us = None if facts is None else facts.step_us
    cost = lost * profile.tick_ps / PS_PER_US
    if facts is not None:
        nodes = profile.executions.node
        cost = facts.covered_us(np.flatnonzero(facts.is_work & np.isin(nodes, plain)))
    yield Finding(
        rule="unused-tensor-cores",
        title=f"{lost / whole:.0%} of the device's time is in FP32 kernels without Tensor Cores, judging by name",
        cost_share=min(cost / step_us, 1.0) if step_us else None,
        cost=min(cost, step_us) if step_us else cost,
        unit="us",
        evidence=(
            result.evidence(name, view="op", search=name),
            result.evidence(name, pane="kernels", search=name),
        ),
        advice="Multiply in a type that Tensor Cores take; how much faster that is depends on the shapes",
        certainty="hint",
        whole=step_us,
        changes=(
            'torch.set_float32_matmul_precision("high") for TF32; torch.backends.cudnn.allow_tf32 = True',
            'torch.autocast("cuda", dtype=torch.bfloat16) around forward and loss',
        ),
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
    "Tensor Cores look unused: 20% of device time or more is in FP32 kernels, judging by name",
    _unused_tensor_cores,
    "hint",
)

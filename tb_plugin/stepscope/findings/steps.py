"""Rules over the single executions of a profile: what steps wait for, and how work reaches the accelerator."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from stepscope.findings.finding import Finding
from stepscope.findings.rules import LensResult, Rule
from stepscope.findings.step_facts import Views
from stepscope.lenses.trace.memory import memory_over_time
from stepscope.model.profile import Profile

_NEARLY_FULL = 0.9


def _full_memory(subject: LensResult[Views]) -> Iterator[Finding]:
    profile = subject.result.profile
    sizes = {
        profile.strings[int(n)]: int(size) for n, size in _memories(profile) if n >= 0 and size > 0
    }
    for series in memory_over_time(profile):
        most = int(np.maximum(series.reserved_bytes, series.allocated_bytes).max(initial=0))
        whole = sizes.get(series.device, 0)
        if whole and most >= _NEARLY_FULL * whole:
            yield Finding(
                "nearly-full-memory",
                f"{series.device} holds {most / whole:.0%} of its memory at the peak",
                None,
                most,
                "bytes",
                (subject.evidence(series.device, pane="memory", host=series.device),),
                "A larger batch will not fit: recompute activations, shard the optimizer's state, use lower precision",
                "measured",
            )


def _memories(profile: Profile) -> Iterator[tuple[int, int]]:
    return zip(profile.devices.name.tolist(), profile.devices.memory_bytes.tolist(), strict=True)


def _data_parallel(subject: LensResult[Views]) -> Iterator[Finding]:
    if "DataParallel.forward" in _names(subject.result.profile):
        what, advice = (
            "the model runs in DataParallel",
            "Use DistributedDataParallel, with one process for each device",
        )
        yield _hint(subject, "data-parallel", what, "DataParallel.forward", advice)


def _gloo(subject: LensResult[Views]) -> Iterator[Finding]:
    profile = subject.result.profile
    gloo = sorted(name for name in _names(profile) if name.startswith("gloo:"))
    if gloo and len(profile.devices):
        what, advice = (
            "collectives run in Gloo, on the host",
            "Use the accelerator's library: backend='nccl'",
        )
        yield _hint(subject, "gloo-collectives", what, gloo[0], advice)


def _names(profile: Profile) -> set[str]:
    """The names of a nested profile's nodes."""
    name = profile.nodes.name
    return (
        {profile.strings[i] for i in np.unique(name[name >= 0]).tolist()}
        if profile.nested
        else set()
    )


def _hint(subject: LensResult[Views], rule: str, what: str, name: str, advice: str) -> Finding:
    place = subject.evidence(name, view="op", search=name)
    return Finding(rule, what, None, None, "", (place,), advice, "hint")


RULES = (
    Rule(
        "nearly-full-memory", "views", "Devices that hold 90% of their memory or more", _full_memory
    ),
    Rule("data-parallel", "views", "Models in PyTorch's DataParallel", _data_parallel, "hint"),
    Rule(
        "gloo-collectives",
        "views",
        "Collectives of PyTorch that run on the host beside accelerators",
        _gloo,
        "hint",
    ),
)
"""The rules of this module."""

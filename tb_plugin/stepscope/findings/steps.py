"""Rules over the single executions of a profile: what steps wait for, and how work reaches the accelerator."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from stepscope.findings.finding import Finding
from stepscope.findings.format_time import PS_PER_US
from stepscope.findings.hot_spots import Views
from stepscope.findings.rules import LensResult, Rule
from stepscope.lenses.trace.breakdown import breakdown
from stepscope.lenses.trace.categories import Category
from stepscope.lenses.trace.launches import launched
from stepscope.lenses.trace.memory import memory_over_time
from stepscope.model.profile import Profile

_LEAST_DATA_WAIT = 0.05
_LEAST_COMMUNICATION = 0.1
_LEAST_SHORT = 0.5
_LEAST_LAUNCHES = 100
_NEARLY_FULL = 0.9


def _data_wait(subject: LensResult[Views]) -> Iterator[Finding]:
    advice = "Give the loader more workers and prefetching, move work from it to a preparing job, or pin its memory"
    yield from _part(subject, "data-loader-wait", Category.DATA_LOADER, _LEAST_DATA_WAIT, "wait for data", advice)


def _communication(subject: LensResult[Views]) -> Iterator[Finding]:
    advice = "Let collectives run beside computation: larger buckets, fewer and larger calls, or accumulate gradients"
    only = "only communicate"
    yield from _part(subject, "exposed-communication", Category.COMMUNICATION, _LEAST_COMMUNICATION, only, advice)


def _part(
    subject: LensResult[Views], rule: str, part: Category, least: float, what: str, advice: str
) -> Iterator[Finding]:
    """A part of the steps that is larger than it should be."""
    profile = subject.result.profile
    if not profile.nested or not len(profile.executions):
        return
    found = breakdown(profile)
    parts = found.parts[found.steps.complete].sum(axis=0)
    lost, whole = int(parts[part]), int(parts.sum())
    if whole and lost / whole >= least:
        place = subject.evidence(part.label, pane="steps")
        cost = lost * profile.tick_ps / PS_PER_US
        title = f"steps {what} {lost / whole:.0%} of their time"
        yield Finding(rule, title, lost / whole, cost, "us", (place,), advice, "measured")


def _short_work(subject: LensResult[Views]) -> Iterator[Finding]:
    pairs = launched(subject.result.profile)
    count, short = len(pairs.work), int(pairs.short.sum())
    if count < _LEAST_LAUNCHES or short < _LEAST_SHORT * count:
        return
    lost = int((pairs.host_ticks - pairs.device_ticks)[pairs.short].sum())
    yield Finding(
        "short-kernels",
        f"{short:,} of {count:,} launches take longer than what they launch",
        None,
        lost * subject.result.profile.tick_ps / PS_PER_US,
        "us",
        (subject.evidence("", pane="launches", sort="-short"),),
        "Launch fewer and larger kernels: torch.compile, fused ops and optimizers, CUDA graphs, a larger batch",
        "hint",
    )


def _full_memory(subject: LensResult[Views]) -> Iterator[Finding]:
    profile = subject.result.profile
    sizes = {profile.strings[int(n)]: int(size) for n, size in _memories(profile) if n >= 0 and size > 0}
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
        what, advice = "the model runs in DataParallel", "Use DistributedDataParallel, with one process for each device"
        yield _hint(subject, "data-parallel", what, "DataParallel.forward", advice)


def _gloo(subject: LensResult[Views]) -> Iterator[Finding]:
    profile = subject.result.profile
    gloo = sorted(name for name in _names(profile) if name.startswith("gloo:"))
    if gloo and len(profile.devices):
        what, advice = "collectives run in Gloo, on the host", "Use the accelerator's library: backend='nccl'"
        yield _hint(subject, "gloo-collectives", what, gloo[0], advice)


def _names(profile: Profile) -> set[str]:
    """The names of a nested profile's nodes."""
    name = profile.nodes.name
    return {profile.strings[i] for i in np.unique(name[name >= 0]).tolist()} if profile.nested else set()


def _hint(subject: LensResult[Views], rule: str, what: str, name: str, advice: str) -> Finding:
    place = subject.evidence(name, view="op", search=name)
    return Finding(rule, what, None, None, "", (place,), advice, "hint")


RULES = (
    Rule("data-loader-wait", "views", "Steps that wait for data 5% of their time or more", _data_wait),
    Rule("exposed-communication", "views", "Steps with 10% or more of communication and nothing else", _communication),
    Rule("nearly-full-memory", "views", "Devices that hold 90% of their memory or more", _full_memory),
    Rule("short-kernels", "views", "Launches most of which take longer than what they launch", _short_work, "hint"),
    Rule("data-parallel", "views", "Models in PyTorch's DataParallel", _data_parallel, "hint"),
    Rule("gloo-collectives", "views", "Collectives of PyTorch that run on the host beside accelerators", _gloo, "hint"),
)
"""The rules of this module."""

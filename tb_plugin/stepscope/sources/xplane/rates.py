"""Steps per second of a profile, from the profiler's own step events."""

from __future__ import annotations

import numpy as np

from stepscope.model.profile import Profile
from stepscope.model.throughput import Marks, RateSamples, Throughput

_LEAST_STEPS = 2
_PS_PER_NS = 1000


def rates_of(profile: Profile) -> Throughput | None:
    """The throughput in steps per second, a mark at the end of each step; None where fewer than two steps are whole.

    How many samples a step has is not in the file, so nothing but steps is counted.
    """
    steps = profile.steps
    whole = np.flatnonzero(steps.duration_ticks > 0)
    if len(whole) < _LEAST_STEPS:
        return None
    end_ticks = steps.start_ticks[whole] + steps.duration_ticks[whole]
    order = np.argsort(end_ticks, kind="stable")
    end_ns = end_ticks[order] * profile.tick_ps // _PS_PER_NS
    number = steps.id[whole][order]
    return Throughput(
        header=profile.header,
        name="steps",
        unit="steps",
        start_ns=int(steps.start_ticks[whole].min()) * profile.tick_ps // _PS_PER_NS,
        first_sample_ns=int(end_ns[0]),
        sampling_rule="batch",
        log_every=1,
        measured_at="the profiler's step events",
        marks=Marks(step=number, time_ns=end_ns, count=np.ones(len(end_ns), np.int64)),
        samples=RateSamples(step=number, time_ns=end_ns, mark_end=np.arange(1, len(end_ns) + 1)),
    )

"""The scalars of an imported series, as `ThroughputLog` writes them while a loop runs."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

from stepscope.lenses.throughput.analysis import analyze_series
from stepscope.lenses.throughput.options import ThroughputOptions
from stepscope.model.throughput import Throughput

NS_PER_SECOND = 1e9


class RateScalar(NamedTuple):
    """One point of one tag. Without Unix times `wall_time_s` counts from the series' start."""

    tag: str
    value: float
    step: int
    wall_time_s: float


def rate_scalars(record: Throughput) -> Iterator[RateScalar]:
    """Both rates at each sample, and steps per second where the batch size is known.

    Unknown rates are left out.
    """
    series = analyze_series(record, ThroughputOptions(disturbances=False))
    prefix = ""
    if record.name != "train":
        prefix = f"{record.name}/"
    tag = f"{prefix}{{}}_{record.unit}_per_sec"
    rows = zip(
        series.step.tolist(),
        series.time_ns.tolist(),
        series.local.tolist(),
        series.average.tolist(),
        strict=True,
    )
    for number, (step, time_ns, local, average) in enumerate(rows):
        at = step
        if step < 0:
            at = number
        wall_time_s = time_ns / NS_PER_SECOND
        if not math.isnan(local):
            yield RateScalar(tag.format("local"), local, at, wall_time_s)
        if math.isnan(average):
            continue
        yield RateScalar(tag.format("avg"), average, at, wall_time_s)
        if record.batch_size:
            steps_per_sec = average / record.batch_size
            yield RateScalar(f"{prefix}avg_steps_per_sec", steps_per_sec, at, wall_time_s)

"""The figures beside the chart: three averages, each labelled, and what users ask of a run's speed.

No average spans a reset or a resume silently. Whole-time is GlobalRate since the last of them, and
windowed lies after it. Training-only adds up segments without the time between them, and its label
says how many there are.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from stepscope.lenses.throughput.averages import Part, training_part, window_part
from stepscope.lenses.throughput.diagnosis import Diagnosis
from stepscope.lenses.throughput.options import ThroughputOptions
from stepscope.lenses.throughput.pace import Pace
from stepscope.lenses.throughput.segments import Segment, span_intervals
from stepscope.model.arrays import F64, I64
from stepscope.model.throughput import SPAN_KINDS, UNKNOWN_NS, Throughput
from stepscope.statistics import rank_place

NS_PER_SECOND = 1e9
HISTOGRAM_BINS = 40

Statistics = dict[str, Any]


def statistics(
    record: Throughput,
    parts: list[Segment],
    diagnosis: Diagnosis,
    average: F64,
    options: ThroughputOptions,
) -> Statistics:
    """All figures of a series. What cannot be known is None.

    Args:
        record: The series.
        parts: Its segments.
        diagnosis: What lies in its arrivals.
        average: GlobalRate at each sample, NaN where unknown.
        options: Window and warm-up.
    """
    counted = bool((record.marks.count >= 0).any())
    training = _training_only(record, parts, diagnosis, options, counted=counted)
    samples_to_date: int | None = None
    if counted:
        samples_to_date = int(np.maximum(record.marks.count, 0).sum())
        windowed = _windowed(record, parts, diagnosis, options)
    else:
        windowed = _stated_mean(record, options.window)
    steps_per_sec = training["steps_per_sec"]
    return {
        "samples_to_date": samples_to_date,
        "last_step": _last_step(record),
        "stretches": len(parts),
        "whole_time": _whole_time(record, parts, average, counted),
        "windowed": windowed,
        "training_only": training,
        "steps_per_sec": steps_per_sec,
        "step_time": step_time(diagnosis.run),
        "time_to_first_sample_ns": _first_sample(record),
        "data_wait_share": _share(record, parts, "data"),
        "mfu": _mfu(record, training["per_sec"]),
        "stated": _stated_figures(record, options.window),
        "time_left_ns": _time_left(record, windowed["steps_per_sec"] or steps_per_sec),
    }


def _last_step(record: Throughput) -> int | None:
    """The highest step, None where steps are not known."""
    if not len(record.marks):
        return None
    last_step = int(record.marks.step.max())
    if last_step < 0:
        return None
    return last_step


def _average(
    label: str,
    record: Throughput,
    per_sec: float | None,
    **more: int | str | dict[str, int] | float | None,
) -> Statistics:
    per_device = None
    if per_sec is not None and record.devices:
        per_device = per_sec / record.devices
    return {"label": label, "per_sec": per_sec, "per_sec_per_device": per_device} | more


def _whole_time(
    record: Throughput,
    parts: list[Segment],
    average: F64,
    counted: bool,
) -> Statistics:
    """GlobalRate at the last sample where it is known."""
    known = average[~np.isnan(average)]
    rate: float | None = None
    if len(known):
        rate = float(known[-1])
    label = "whole-time (GlobalRate)"
    if not parts:
        return _average(label, record, rate, since="reported", samples=None, duration_ns=None)
    last = parts[-1]
    if last.cause in ("reset", "resume"):
        label = f"{label} since the last {last.cause}"
    samples: int | None = None
    if counted:
        samples = last.count(record)
    duration_ns = last.end_ns - last.begin_ns
    return _average(
        label,
        record,
        rate,
        since=last.cause,
        samples=samples,
        duration_ns=duration_ns,
    )


def _windowed(
    record: Throughput,
    parts: list[Segment],
    diagnosis: Diagnosis,
    options: ThroughputOptions,
) -> Statistics:
    part = None
    if parts:
        part = window_part(
            record,
            parts[-1],
            diagnosis,
            window=options.window,
            warm_up=options.warm_up,
        )
    label = f"windowed over the last {options.window} steps"
    if part is None:
        return _average(
            label,
            record,
            None,
            steps_per_sec=None,
            samples=None,
            steps=None,
            duration_ns=None,
        )
    if part.steps and diagnosis.blocks is not None:
        label = f"windowed over the last {part.steps} steps, in whole blocks"
    elif part.steps and diagnosis.catch_ups:
        label = f"windowed over the last {part.steps} steps, without a part of a catch-up"
    duration = part.end_ns - part.begin_ns
    return _average(
        label,
        record,
        _per_second(part.count, duration),
        steps_per_sec=_per_second(part.steps, duration),
        samples=round(part.count),
        steps=part.steps,
        duration_ns=duration,
    )


def _stated_mean(record: Throughput, window: int) -> Statistics:
    """The mean of stated rates over the last steps, each weighted by the time it is of."""
    mean = _last_mean(record, record.reported.local_samples_per_sec, window)
    return _average(
        f"mean of the stated rates over the last {window} steps",
        record,
        mean,
        steps_per_sec=None,
        samples=None,
        steps=None,
        duration_ns=None,
    )


def _last_mean(record: Throughput, values: F64, window: int) -> float | None:
    """The mean of stated values over the last steps, weighted by their time."""
    known = values >= 0
    if not known.any():
        return None
    values = values[known]
    sample = record.reported.sample[known]
    step = record.samples.step[sample]
    time_ns = record.samples.time_ns[sample]
    inside = np.arange(len(sample)) >= len(sample) - window
    if int(step[-1]) >= 0:
        inside = step > int(step[-1]) - window
    passed = np.diff(time_ns, prepend=time_ns[0])
    weight = np.where(inside & (passed > 0), passed, 0)
    if not weight.any():
        # A source without stamps, or one sample in the window.
        weight = inside.astype(np.int64)
    return float(np.average(values, weights=weight))


def _stated_figures(record: Throughput, window: int) -> Statistics | None:
    """Stated TFLOP/s of a device and stated model FLOP/s utilization, over the last steps."""
    tflops = _last_mean(record, record.reported.tflops_per_device, window)
    mfu = _last_mean(record, record.reported.mfu, window)
    if tflops is None and mfu is None:
        return None
    return {"tflops_per_device": tflops, "mfu": mfu}


def _training_only(
    record: Throughput,
    segments: list[Segment],
    diagnosis: Diagnosis,
    options: ThroughputOptions,
    counted: bool,
) -> Statistics:
    parts = []
    for segment in segments:
        part = training_part(record, segment, diagnosis, options.warm_up)
        if part is not None:
            parts.append(part)
    duration = sum(part.end_ns - part.begin_ns for part in parts)
    samples = sum(part.count for part in parts)
    steps = sum(part.steps for part in parts)
    gross = {kind: _inside(record, [kind], parts) for kind in SPAN_KINDS}
    caught_up = _caught_up(diagnosis, gross)
    left_out = {kind: gross[kind] - caught_up.get(kind, 0) for kind in SPAN_KINDS}
    training = duration - _inside(record, SPAN_KINDS, parts) + sum(caught_up.values())
    label = "training-only"
    if options.warm_up:
        label += f" after {options.warm_up} warm-up steps"
    if len(parts) > 1:
        label += f", over {len(parts)} stretches"
    per_sec: float | None = None
    whole_samples: int | None = None
    if counted:
        per_sec = _per_second(samples, training)
        whole_samples = round(samples)
    return _average(
        label,
        record,
        per_sec,
        steps_per_sec=_per_second(steps, training),
        samples=whole_samples,
        steps=steps,
        duration_ns=training,
        left_out_ns=left_out,
        caught_up_ns=caught_up,
        warm_up_steps=options.warm_up,
    )


def _inside(record: Throughput, kinds: Iterable[str], parts: Iterable[Part]) -> int:
    """How much of the parts lies in spans of these kinds."""
    spans = span_intervals(record, kinds)
    return sum(spans.inside(part.begin_ns, part.end_ns) for part in parts)


def _caught_up(diagnosis: Diagnosis, gross: dict[str, int]) -> dict[str, int]:
    """How much of each kind's spans the device went on, as queued results showed afterwards."""
    caught_up: dict[str, int] = {}
    for catch in diagnosis.catch_ups:
        if catch.kind:
            caught_up[catch.kind] = caught_up.get(catch.kind, 0) + catch.saved_ns
    return {kind: min(saved, gross[kind]) for kind, saved in caught_up.items()}


def _per_second(count: float, duration_ns: int) -> float | None:
    if duration_ns <= 0 or count <= 0:
        return None
    return count / (duration_ns / NS_PER_SECOND)


def _first_sample(record: Throughput) -> int | None:
    """The time from the start to the first sample, None where either is not known."""
    if UNKNOWN_NS in (record.first_sample_ns, record.start_ns):
        return None
    return record.first_sample_ns - record.start_ns


def _share(record: Throughput, parts: list[Segment], kind: str) -> float | None:
    duration = sum(part.end_ns - part.begin_ns for part in parts)
    if duration <= 0 or kind not in list(record.strings):
        return None
    waits = span_intervals(record, [kind])
    return sum(waits.inside(part.begin_ns, part.end_ns) for part in parts) / duration


def _mfu(record: Throughput, per_sec: float | None) -> float | None:
    """Model FLOPs utilisation: float operations done a second over the peak of all devices."""
    peak = record.peak_flops_per_sec * max(record.devices, 1)
    if per_sec is None or not peak or not record.flops_per_sample:
        return None
    return per_sec * record.flops_per_sample / peak


def _time_left(record: Throughput, steps_per_sec: float | None) -> int | None:
    if not record.planned_steps or not steps_per_sec or not len(record.marks):
        return None
    left = max(record.planned_steps - int(record.marks.step[-1]), 0)
    return round(left / steps_per_sec * NS_PER_SECOND)


def step_time(run: Pace) -> Statistics | None:
    """How long steps take: exact quantiles, and a histogram with logarithmic edges.

    None for fewer than two steps.

    A first step has set-up in it and is left out: `time_to_first_sample_ns` tells of it.
    """
    timed = run.only(~run.first & (run.end_ns > run.begin_ns))
    durations = timed.per_step_ns
    if not len(durations):
        return None
    low = float(durations.min())
    high = float(durations.max())
    edges = np.array([low, high])
    if high > low:
        edges = low * (high / low) ** (np.arange(HISTOGRAM_BINS + 1) / HISTOGRAM_BINS)
    # Powers round: the histogram must hold the extremes.
    edges[0] = low
    edges[-1] = high
    place = _places(durations, low, high, len(edges) - 1)
    ordered = np.sort(durations)
    return {
        "count": len(durations),
        "resolution_steps": timed.stride,
        "mean_ns": round(float(durations.mean())),
        "p50_ns": round(float(ordered[rank_place(len(ordered), 50)])),
        "p95_ns": round(float(ordered[rank_place(len(ordered), 95)])),
        "max_ns": round(high),
        "max_step": int(timed.step[int(np.argmax(durations))]),
        "histogram": {
            "edge_ns": [round(edge) for edge in edges.tolist()],
            "count": np.bincount(place, minlength=len(edges) - 1).tolist(),
        },
    }


def _places(durations: F64, low: float, high: float, bins: int) -> I64:
    """The bin of each duration among bins of equal ratio."""
    if bins == 1:
        return np.zeros(len(durations), np.int64)
    place: F64 = np.log(durations / low) * (bins / np.log(high / low))
    return np.clip(place, 0, bins - 1).astype(np.int64)

"""The figures beside the chart: three averages, each labelled, and what users ask of a run's speed.

No average spans a reset or a resume silently: whole-time is GlobalRate since the last of them, windowed lies after it,
and training-only adds up stretches without the time between them and says how many they are.
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
    training = _training_only(record, parts, diagnosis, options, counted)
    windowed = _windowed(record, parts, diagnosis, options) if counted else _stated_mean(record, options.window)
    steps_per_sec = training["steps_per_sec"]
    last_step = int(record.marks.step.max()) if len(record.marks) else -1
    return {
        "samples_to_date": int(np.maximum(record.marks.count, 0).sum()) if counted else None,
        "last_step": last_step if last_step >= 0 else None,
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


def _average(label: str, record: Throughput, per_sec: float | None, **more: Any) -> Statistics:
    devices = record.devices
    per_device = per_sec / devices if per_sec is not None and devices else None
    return {"label": label, "per_sec": per_sec, "per_sec_per_device": per_device} | more


def _whole_time(record: Throughput, parts: list[Segment], average: F64, counted: bool) -> Statistics:
    known = average[~np.isnan(average)]
    rate = float(known[-1]) if len(known) else None
    since = parts[-1].cause if parts else "reported"
    samples = parts[-1].count(record) if parts and counted else None
    duration = parts[-1].end_ns - parts[-1].begin_ns if parts else None
    label = (
        f"whole-time (GlobalRate) since the last {since}" if since in ("reset", "resume") else "whole-time (GlobalRate)"
    )
    return _average(label, record, rate, since=since, samples=samples, duration_ns=duration)


def _windowed(record: Throughput, parts: list[Segment], diagnosis: Diagnosis, options: ThroughputOptions) -> Statistics:
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
        return _average(label, record, None, steps_per_sec=None, samples=None, steps=None, duration_ns=None)
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
    """The mean of what is stated at the samples of the last steps, weighted by the time since the sample before."""
    samples, sample = record.samples, record.reported.sample
    known = values >= 0
    if not known.any():
        return None
    values, sample = values[known], sample[known]
    step, time_ns = samples.step[sample], samples.time_ns[sample]
    inside = step > int(step[-1]) - window if int(step[-1]) >= 0 else np.arange(len(sample)) >= len(sample) - window
    passed = np.diff(time_ns, prepend=time_ns[0])
    weight = np.where(inside & (passed > 0), passed, 0)
    if not weight.any():
        # A source without stamps, or one sample in the window.
        weight = inside.astype(np.int64)
    return float(np.average(values, weights=weight))


def _stated_figures(record: Throughput, window: int) -> Statistics | None:
    """TFLOP/s of a device and model FLOP/s utilization as the source states them, over the last steps."""
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
    label = "training-only" + (f" after {options.warm_up} warm-up steps" if options.warm_up else "")
    if len(parts) > 1:
        label += f", over {len(parts)} stretches"
    return _average(
        label,
        record,
        _per_second(samples, training) if counted else None,
        steps_per_sec=_per_second(steps, training),
        samples=round(samples) if counted else None,
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
    return count / (duration_ns / NS_PER_SECOND) if duration_ns > 0 and count > 0 else None


def _first_sample(record: Throughput) -> int | None:
    known = record.first_sample_ns != UNKNOWN_NS and record.start_ns != UNKNOWN_NS
    return record.first_sample_ns - record.start_ns if known else None


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
    """How long steps take: exact quantiles, and a histogram with logarithmic edges. None for fewer than two steps.

    A first step has set-up in it and is left out: `time_to_first_sample_ns` tells of it.
    """
    timed = run.only(~run.first & (run.end_ns > run.begin_ns))
    durations = timed.per_step_ns
    if not len(durations):
        return None
    low, high = float(durations.min()), float(durations.max())
    edges = np.array([low, high])
    if high > low:
        edges = low * (high / low) ** (np.arange(HISTOGRAM_BINS + 1) / HISTOGRAM_BINS)
    edges[0], edges[-1] = low, high
    place = _places(durations, low, high, len(edges) - 1)
    p50, p95 = np.percentile(durations, [50, 95])
    return {
        "count": len(durations),
        "resolution_steps": timed.stride,
        "mean_ns": round(float(durations.mean())),
        "p50_ns": round(float(p50)),
        "p95_ns": round(float(p95)),
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

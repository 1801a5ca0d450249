"""From records to series of rates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from stepscope.lenses.throughput.diagnosis import diagnose
from stepscope.lenses.throughput.disturbances import disturbances
from stepscope.lenses.throughput.jobs import jobs
from stepscope.lenses.throughput.options import ThroughputOptions
from stepscope.lenses.throughput.pace import pace
from stepscope.lenses.throughput.printed import with_printed
from stepscope.lenses.throughput.rates import Rates, SamplePoints, rates, sample_points
from stepscope.lenses.throughput.result import Series, Span, ThroughputResult, thinned
from stepscope.lenses.throughput.segments import segments
from stepscope.lenses.throughput.statistics import statistics
from stepscope.model.arrays import F64
from stepscope.model.throughput import UNKNOWN_NS, Throughput
from stepscope.model.throughput_merge import merge


def analyze(records: Throughput | Sequence[Throughput], options: ThroughputOptions | None = None) -> ThroughputResult:
    """The rates of one or several records.

    Records of one run, rank and name are blocks of one series and are joined; any other record is its own series.

    Args:
        records: Throughput records.
        options: What to ask; the defaults when None.
    """
    options = options or ThroughputOptions()
    given = [records] if isinstance(records, Throughput) else list(records)
    groups: dict[tuple[str, int, str, str], list[Throughput]] = {}
    for record in given:
        key = (record.header.run, record.header.rank, record.name, record.unit)
        groups.setdefault(key, []).append(record)
    joined = [merge(blocks) for blocks in groups.values()]
    series = tuple(analyze_series(record, options) for record in joined)
    return ThroughputResult(series, jobs(joined, series))


def analyze_series(record: Throughput, options: ThroughputOptions) -> Series:
    """The rates of one record."""
    smoothing = record.smoothing if options.smoothing is None else options.smoothing
    asked = sample_points(record, options)
    computed = rates(record, asked, smoothing)
    stated = _stated(record, asked)
    local, average, figures = _figures(record, options, computed, stated)
    printed = 0
    if figures == "computed":
        local, printed = with_printed(record, asked, local, stated.local, smoothing)
    base = absolute_base(record)
    parts = segments(record)
    diagnosis = diagnose(record, pace(record, parts))
    kept = thinned(local, average, options.points)
    return Series(
        run=record.header.run,
        name=record.name,
        host=record.header.host,
        rank=record.header.rank,
        unit=record.unit,
        smoothing=smoothing,
        sampling_rule=asked.rule,
        measured_at=record.measured_at,
        clock="unix" if record.header.wall_anchor_ns else "monotonic",
        figures=figures,
        step=asked.step[kept],
        time_ns=asked.time_ns[kept] + base,
        total=computed.total[kept],
        local=local[kept],
        average=average[kept],
        reported_local=_chosen(stated.local, kept),
        reported_average=_chosen(stated.average, kept),
        reported_tflops=_chosen(stated.tflops, kept),
        reported_mfu=_chosen(stated.mfu, kept),
        recorded=len(local),
        spans=_spans(record, base),
        annotations=tuple(disturbances(record, asked, diagnosis, base)) if options.disturbances else (),
        statistics=statistics(record, parts, diagnosis, average, options),
        problems=(*_problems(record), *_printed_problem(printed, len(local))),
    )


def _chosen(column: F64, kept: NDArray[np.int64]) -> F64:
    return column[kept] if len(column) else column


def absolute_base(record: Throughput) -> int:
    """What to add to a relative stamp: the Unix time where it is known, else the clock's own reading."""
    return record.header.wall_anchor_ns or record.base_ns


@dataclass(frozen=True, eq=False)
class Stated:
    """What the source states, at each sample: empty where it never does or the moments were chosen anew."""

    local: F64
    average: F64
    tflops: F64
    mfu: F64


def _stated(record: Throughput, asked: SamplePoints) -> Stated:
    reported = record.reported
    none = np.empty(0)
    if not len(reported) or asked.time_ns is not record.samples.time_ns:
        return Stated(none, none, none, none)

    def at_samples(values: F64) -> F64:
        column = np.full(len(asked.step), np.nan)
        column[reported.sample] = _known(values)
        return column

    tflops, mfu = at_samples(reported.tflops_per_device), at_samples(reported.mfu)
    return Stated(
        local=at_samples(reported.local_samples_per_sec),
        average=at_samples(reported.avg_samples_per_sec),
        tflops=none if np.isnan(tflops).all() else tflops,
        mfu=none if np.isnan(mfu).all() else mfu,
    )


def _known(values: F64) -> F64:
    return np.where(values < 0, np.nan, values)


def _figures(record: Throughput, options: ThroughputOptions, computed: Rates, stated: Stated) -> tuple[F64, F64, str]:
    """Which rates to show, and what they are.

    A Rate that was asked for after every batch cannot be computed from marks at log steps: it is shown as stated.
    """
    coarse = record.sampling_rule == "batch" or record.start_ns == UNKNOWN_NS or not (record.marks.count >= 0).any()
    wanted = options.figures if options.figures != "auto" else ("reported" if coarse else "computed")
    rates_stated = len(stated.local) and not (np.isnan(stated.local) & np.isnan(stated.average)).all()
    if wanted == "reported" and rates_stated:
        return stated.local, stated.average, "reported"
    counted = bool((record.marks.count >= 0).any())
    if not counted and (len(record.marks) or len(record.reported)):
        # Without a batch size there is no rate; a zero would be a guess.
        unknown = np.full(len(computed.local), np.nan)
        return unknown, unknown.copy(), "unknown"
    return computed.local, computed.average, "computed"


def _printed_problem(printed: int, points: int) -> tuple[str, ...]:
    if not printed:
        return ()
    what = f"Rate of {printed:,} of {points:,} points is as printed: stamps do not resolve their intervals"
    return (f"rates: {what}. GlobalRate and averages over whole blocks are computed",)


def _spans(record: Throughput, base: int) -> tuple[Span, ...]:
    spans, words = record.spans, list(record.strings)
    rows = zip(spans.kind.tolist(), spans.start_ns.tolist(), spans.end_ns.tolist(), spans.open.tolist(), strict=True)
    return tuple(Span(words[kind], start + base, end + base, bool(open_)) for kind, start, end, open_ in rows)


def _problems(record: Throughput) -> tuple[str, ...]:
    counts = [f" ({loss.count:,})" if loss.count > 1 else "" for loss in record.header.losses]
    losses = zip(record.header.losses, counts, strict=True)
    return tuple(f"{loss.where}: {loss.what}{count}. {loss.remedy}" for loss, count in losses)

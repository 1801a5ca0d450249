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
from stepscope.lenses.throughput.result import (
    Annotation,
    Series,
    Span,
    ThroughputResult,
    thinned,
)
from stepscope.lenses.throughput.segments import segments
from stepscope.lenses.throughput.statistics import statistics
from stepscope.model.arrays import F64
from stepscope.model.throughput import UNKNOWN_NS, Throughput
from stepscope.model.throughput_merge import merge


def analyze(
    records: Throughput | Sequence[Throughput],
    options: ThroughputOptions | None = None,
) -> ThroughputResult:
    """The rates of one or several records.

    Records of one run, rank and name are blocks of one series and are joined. Any other record is a
    series by itself.

    Args:
        records: Throughput records.
        options: What to ask; the defaults when None.
    """
    options = options or ThroughputOptions()
    if isinstance(records, Throughput):
        records = [records]
    groups: dict[tuple[str, int, str, str], list[Throughput]] = {}
    for record in records:
        key = (record.header.run, record.header.rank, record.name, record.unit)
        groups.setdefault(key, []).append(record)
    joined = [merge(blocks) for blocks in groups.values()]
    series = tuple(analyze_series(record, options) for record in joined)
    return ThroughputResult(series, jobs(joined, series))


def analyze_series(record: Throughput, options: ThroughputOptions) -> Series:
    """The rates of one record."""
    smoothing = record.smoothing
    if options.smoothing is not None:
        smoothing = options.smoothing
    samples = sample_points(record, options)
    computed = rates(record, samples, smoothing)
    stated = _stated(record, samples)
    local, average, figures = _figures(record, options, computed, stated)
    printed = 0
    if figures == "computed":
        local, printed = with_printed(
            record,
            samples,
            local=local,
            stated=stated.local,
            smoothing=smoothing,
        )
    base = absolute_base(record)
    parts = segments(record)
    diagnosis = diagnose(record, pace(record, parts))
    annotations: list[Annotation] = []
    if options.disturbances:
        annotations = disturbances(record, samples, diagnosis, base)
    clock = "monotonic"
    if record.header.wall_anchor_ns:
        clock = "unix"
    kept = thinned(local, average, options.points)
    return Series(
        run=record.header.run,
        name=record.name,
        host=record.header.host,
        rank=record.header.rank,
        unit=record.unit,
        smoothing=smoothing,
        sampling_rule=samples.rule,
        measured_at=record.measured_at,
        clock=clock,
        figures=figures,
        step=samples.step[kept],
        time_ns=samples.time_ns[kept] + base,
        total=computed.total[kept],
        local=local[kept],
        average=average[kept],
        reported_local=_chosen(stated.local, kept),
        reported_average=_chosen(stated.average, kept),
        reported_tflops=_chosen(stated.tflops, kept),
        reported_mfu=_chosen(stated.mfu, kept),
        recorded=len(local),
        spans=_spans(record, base),
        annotations=tuple(annotations),
        statistics=statistics(
            record,
            parts,
            diagnosis,
            average=average,
            options=options,
        ),
        problems=(*_problems(record), *_printed_problem(printed, len(local))),
    )


def _chosen(column: F64, kept: NDArray[np.int64]) -> F64:
    if not len(column):
        return column
    return column[kept]


def absolute_base(record: Throughput) -> int:
    """Unix time of a record's origin where it is known, else the reading of its clock."""
    return record.header.wall_anchor_ns or record.base_ns


@dataclass(frozen=True, eq=False)
class Stated:
    """Stated rates at each sample. Empty where the source has none or samples were chosen anew."""

    local: F64
    average: F64
    tflops: F64
    mfu: F64


def _stated(record: Throughput, samples: SamplePoints) -> Stated:
    reported = record.reported
    none = np.empty(0)
    if not len(reported) or samples.time_ns is not record.samples.time_ns:
        return Stated(none, none, none, none)

    def at_samples(values: F64) -> F64:
        column = np.full(len(samples.step), np.nan)
        column[reported.sample] = np.where(values < 0, np.nan, values)
        return column

    return Stated(
        local=at_samples(reported.local_samples_per_sec),
        average=at_samples(reported.avg_samples_per_sec),
        tflops=_empty_if_unknown(at_samples(reported.tflops_per_device)),
        mfu=_empty_if_unknown(at_samples(reported.mfu)),
    )


def _empty_if_unknown(column: F64) -> F64:
    if np.isnan(column).all():
        return np.empty(0)
    return column


def _figures(
    record: Throughput,
    options: ThroughputOptions,
    computed: Rates,
    stated: Stated,
) -> tuple[F64, F64, str]:
    """Which rates to show, and what they are."""
    counted = bool((record.marks.count >= 0).any())
    wanted = options.figures
    if wanted == "auto":
        wanted = "computed"
        # Marks at log steps do not say what a tracker answered that was asked after every batch.
        if record.sampling_rule == "batch" or record.start_ns == UNKNOWN_NS or not counted:
            wanted = "reported"
    unknown_rates = np.isnan(stated.local) & np.isnan(stated.average)
    if wanted == "reported" and not unknown_rates.all():
        return stated.local, stated.average, "reported"
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
    columns = record.spans
    words = list(record.strings)
    spans = []
    for index, kind in enumerate(columns.kind.tolist()):
        span = Span(
            kind=words[kind],
            start_ns=int(columns.start_ns[index]) + base,
            end_ns=int(columns.end_ns[index]) + base,
            open=bool(columns.open[index]),
        )
        spans.append(span)
    return tuple(spans)


def _problems(record: Throughput) -> tuple[str, ...]:
    """What was lost of the source, one sentence for each loss."""
    problems = []
    for loss in record.header.losses:
        count = ""
        if loss.count > 1:
            count = f" ({loss.count:,})"
        problems.append(f"{loss.where}: {loss.what}{count}. {loss.remedy}")
    return tuple(problems)

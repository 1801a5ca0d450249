"""The result of the throughput lens."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from stepscope.model.arrays import F64, I64


@dataclass(frozen=True)
class Annotation:
    """Something that disturbed the run, or that a reader must know to read the rates.

    Attributes:
        kind: One word: first_step, checkpoint, burst, stall, evaluation, profile, blocks, aliasing,
            data_wait, clock_step, per_batch, reset, resume, unknown_batch, excerpt.
        title: What it is, in a few words.
        text: How to read it, in plain sentences.
        start_ns: When it began, absolute; None when it is about the whole run.
        end_ns: When it ended.
        step: At which step.
        evidence: The figures it rests on, units in their names.
    """

    kind: str
    title: str
    text: str
    start_ns: int | None = None
    end_ns: int | None = None
    step: int | None = None
    evidence: dict[str, Any] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """The annotation as a document; stamps are decimal strings."""
        return {
            "kind": self.kind,
            "title": self.title,
            "text": self.text,
            "start_ns": _stamp(self.start_ns),
            "end_ns": _stamp(self.end_ns),
            "step": self.step,
            "evidence": self.evidence,
        }


def _stamp(value: int | None) -> str | None:
    if value is None:
        return None
    return str(value)


@dataclass(frozen=True)
class Span:
    """What the host did beside waiting for outputs. Stamps are absolute ns."""

    kind: str
    start_ns: int
    end_ns: int
    open: bool


@dataclass(frozen=True, eq=False)
class Series:
    """One series of rates.

    Attributes:
        clock: What `time_ns` counts from: unix, or monotonic (an unknown origin).
        figures: computed from the marks, or reported by the source.
        step: Training step at each sample, -1 when unknown.
        time_ns: When it was sampled, absolute.
        total: Samples since the last reset.
        local: Rate, NaN when unknown.
        average: GlobalRate, NaN when unknown.
        reported_local: Rate as the source states it, NaN where it does not. Empty where it never
            does.
        reported_average: GlobalRate as the source states it, likewise.
        reported_tflops: TFLOP/s of a device as the source states it, likewise.
        reported_mfu: Model FLOP/s utilization as the source states it, 0 to 1, likewise.
        recorded: How many samples there were before points were left out.
    """

    run: str
    name: str
    host: str
    rank: int
    unit: str
    smoothing: float
    sampling_rule: str
    measured_at: str
    clock: str
    figures: str
    step: I64
    time_ns: I64
    total: I64
    local: F64
    average: F64
    reported_local: F64
    reported_average: F64
    recorded: int
    spans: tuple[Span, ...]
    annotations: tuple[Annotation, ...]
    statistics: dict[str, Any]
    problems: tuple[str, ...] = ()
    reported_tflops: F64 = field(default_factory=lambda: np.empty(0))
    reported_mfu: F64 = field(default_factory=lambda: np.empty(0))

    def to_json(self) -> dict[str, Any]:
        """The series as a document."""
        return {
            "run": self.run,
            "name": self.name,
            "host": self.host,
            "rank": _known_rank(self.rank),
            "unit": self.unit,
            "smoothing": self.smoothing,
            "sampling_rule": self.sampling_rule,
            "measured_at": self.measured_at,
            "clock": self.clock,
            "figures": self.figures,
            "recorded_points": self.recorded,
            "step": known_steps(self.step),
            "time_ns": list(map(str, self.time_ns.tolist())),
            "total": self.total.tolist(),
            "local_samples_per_sec": numbers(self.local),
            "avg_samples_per_sec": numbers(self.average),
            "reported_local_samples_per_sec": numbers(self.reported_local),
            "reported_avg_samples_per_sec": numbers(self.reported_average),
            "reported_tflops_per_device": numbers(self.reported_tflops),
            "reported_mfu": numbers(self.reported_mfu),
            "spans": [_span(span) for span in self.spans],
            "annotations": [annotation.to_json() for annotation in self.annotations],
            "statistics": self.statistics,
            "problems": list(self.problems),
        }


def _known_rank(rank: int) -> int | None:
    """The rank, None where it is unknown."""
    if rank < 0:
        return None
    return rank


def _span(span: Span) -> dict[str, Any]:
    return {
        "kind": span.kind,
        "start_ns": str(span.start_ns),
        "end_ns": str(span.end_ns),
        "open": span.open,
    }


def known_steps(step: I64) -> list[int | None]:
    """The steps as JSON has them: unknown is null."""
    plain: list[int | None] = step.tolist()
    for index in np.flatnonzero(step < 0).tolist():
        plain[index] = None
    return plain


def numbers(values: F64) -> list[float | None]:
    """The values as JSON has them: unknown is null."""
    plain: list[float | None] = values.tolist()
    for index in np.flatnonzero(np.isnan(values)).tolist():
        plain[index] = None
    return plain


@dataclass(frozen=True)
class ThroughputResult:
    """The series of all records, and what the ranks of a job did together."""

    series: tuple[Series, ...]
    jobs: tuple[dict[str, Any], ...] = ()

    def to_json(self) -> dict[str, Any]:
        """The document `throughput` of the public surface."""
        return {"series": [series.to_json() for series in self.series], "jobs": list(self.jobs)}


def thinned(local: F64, average: F64, points: int | None) -> I64:
    """Indices of about `points` samples that draw the same picture.

    Each of equal buckets keeps its first, its last, and the least and greatest Rate. No spike is
    lost.
    """
    size = len(local)
    if points is None or size <= points:
        return np.arange(size)
    shown = np.where(np.isnan(local), average, local)
    buckets = max(points // 4, 1)
    bounds = np.linspace(0, size, buckets + 1).astype(np.int64)
    width = int(np.diff(bounds).max())
    index = np.minimum(bounds[:-1, None] + np.arange(width), bounds[1:, None] - 1)
    values = shown[index]
    rows = np.arange(buckets)
    low = index[rows, np.argmin(np.where(np.isnan(values), np.inf, values), axis=1)]
    high = index[rows, np.argmax(np.where(np.isnan(values), -np.inf, values), axis=1)]
    return np.unique(np.concatenate([bounds[:-1], bounds[1:] - 1, low, high]))

"""The measured intervals of a run, without known pauses. Figures of whole runs are their sums."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from stepscope.lenses.throughput.averages import mark_moments, moments
from stepscope.lenses.throughput.diagnosis import Diagnosis, diagnose
from stepscope.lenses.throughput.pace import pace
from stepscope.lenses.throughput.segments import Intervals, segments, span_intervals
from stepscope.model.arrays import F64, I64, Bools
from stepscope.model.throughput import SPAN_KINDS, Throughput


@dataclass(frozen=True, eq=False)
class TrainingIntervals:
    """Intervals of a run in order of time. Their sums over sums are the figures of `training_only`.

    Attributes:
        steps: Steps of each interval.
        count: Samples of each.
        training_ns: Time of each in training: without checkpoints, evaluations, input waits and
            other known spans.
        wall_ns: Time of each with them.
        first: Whether it begins where a process or a new count began, with set-up in it.
        spans_ns: For each kind of span its time in each interval.
    """

    steps: I64
    count: F64
    training_ns: F64
    wall_ns: F64
    first: Bools
    spans_ns: dict[str, F64]

    @property
    def step_ns(self) -> F64:
        """Time of each that its steps took: training and waits for input."""
        return self.training_ns + self.spans_ns.get("data", np.zeros(len(self.steps)))

    def __len__(self) -> int:
        return len(self.steps)


def training_intervals(record: Throughput) -> TrainingIntervals:
    """The intervals between marks; where results arrive in blocks, between the ends of blocks."""
    parts = segments(record)
    diagnosis = diagnose(record, pace(record, parts))
    begins: list[F64] = [np.empty(0)]
    ends: list[F64] = [np.empty(0)]
    steps: list[I64] = [np.empty(0, np.int64)]
    counts: list[F64] = [np.empty(0)]
    firsts: list[Bools] = [np.empty(0, np.bool_)]
    for part in parts:
        whole = moments(record, part, diagnosis) or mark_moments(record, part)
        begins.append(whole.time_ns[:-1].astype(np.float64))
        ends.append(whole.time_ns[1:].astype(np.float64))
        steps.append(np.diff(whole.taken))
        counts.append(np.diff(whole.count))
        first = np.zeros(len(steps[-1]), np.bool_)
        first[:1] = part.cause != "excerpt" and diagnosis.blocks is None
        firsts.append(first)
    begin_ns = np.concatenate(begins)
    end_ns = np.concatenate(ends)
    used = np.unique(record.spans.kind).tolist()
    kinds = list(dict.fromkeys(record.strings[kind] for kind in used))
    outside_ns = covered(span_intervals(record, SPAN_KINDS), begin_ns, end_ns)
    outside_ns = np.maximum(outside_ns - _caught_up(diagnosis, begin_ns, end_ns), 0.0)
    return TrainingIntervals(
        steps=np.concatenate(steps),
        count=np.concatenate(counts),
        training_ns=end_ns - begin_ns - outside_ns,
        wall_ns=end_ns - begin_ns,
        first=np.concatenate(firsts),
        spans_ns=_by_kind(record, kinds, begin_ns, end_ns),
    )


def _by_kind(
    record: Throughput,
    kinds: Iterable[str],
    begin_ns: F64,
    end_ns: F64,
) -> dict[str, F64]:
    spans: dict[str, F64] = {}
    for kind in kinds:
        spans[kind] = covered(span_intervals(record, [kind]), begin_ns, end_ns)
    return spans


def covered(spans: Intervals, begin_ns: F64, end_ns: F64) -> F64:
    """How much of each interval disjoint spans cover."""
    if not len(spans.start_ns):
        return np.zeros(len(begin_ns))
    edges = np.stack([spans.start_ns, spans.end_ns], axis=1).reshape(-1).astype(np.float64)
    before = np.zeros(len(spans.start_ns))
    lengths = np.stack([before, spans.end_ns - spans.start_ns], axis=1).reshape(-1)
    sums = np.cumsum(lengths)
    inside: F64 = np.interp(end_ns, edges, sums) - np.interp(begin_ns, edges, sums)
    return inside


def _caught_up(diagnosis: Diagnosis, begin_ns: F64, end_ns: F64) -> F64:
    """Time of known spans during which the device went on, in the interval of each span."""
    saved = np.zeros(len(begin_ns))
    for catch in diagnosis.catch_ups:
        if catch.kind:
            began_ns = float(diagnosis.run.begin_ns[catch.index])
            inside = (begin_ns <= began_ns) & (began_ns < end_ns)
            saved += np.where(inside, float(catch.saved_ns), 0.0)
    return saved

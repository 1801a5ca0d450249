"""From printed log lines to a throughput record: one way for every logger.

Counts that a log states are kept as marks, so that rates can be computed; rates that it states are kept as reported.
Where it states both they are compared, and a difference is a diagnostic. Nothing is invented: a log without counts is
shown as it states its rates, one without a start has no GlobalRate.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

import numpy as np

from stepscope.model.arrays import F64
from stepscope.model.columns import Header, Strings
from stepscope.model.diagnostic import Diagnostic
from stepscope.model.throughput import (
    UNKNOWN_NS,
    Marks,
    RateSamples,
    Reported,
    ResetKind,
    Resets,
    Spans,
    Throughput,
)
from stepscope.sources.throughput.log_text import NS_PER_SECOND

DIFFERENCE = 0.01
"""A stated rate further than this from the log's own counts is said."""
LEAST_INTERVALS = 3


@dataclass(frozen=True)
class Line:
    """What one line of a log states of the interval that it ends.

    Attributes:
        step: The training step.
        time_ns: Unix time of the line, None where it prints none.
        duration_ns: How long the interval took, None where the line does not say.
        count: RateSamples or tokens of the interval, None where they are not known.
        rate: Stated rate, in the unit of the series; None where it states none.
        average: Stated average since the start, likewise.
        tflops: Stated TFLOP/s of a device.
        mfu: Stated model FLOP/s utilization, 0 to 1.
        session: Which process of a resumed run it is of, counted from 0.
        precision: Half a unit of the last printed digit of `rate`.
    """

    step: int
    time_ns: int | None = None
    duration_ns: int | None = None
    count: int | None = None
    rate: float | None = None
    average: float | None = None
    tflops: float | None = None
    mfu: float | None = None
    session: int = 0
    precision: float = 0.0


@dataclass
class StatedSeries:
    """A series of lines, and what the log says of it as a whole.

    Attributes:
        per_device: Whether stated rates are of one device.
        devices: Devices that share the work, 0 when unknown.
        begins_ns: When each session began, by its number, where the log says so.
        spans: Kind, start and end of what the log tells of beside training, Unix ns.
        losses: What the reader could not take over.
    """

    name: str
    unit: str
    producer: str
    lines: list[Line]
    per_device: bool = False
    devices: int = 0
    batch_size: int = 0
    planned_steps: int = 0
    rank: int = -1
    job: str = ""
    sampling_rule: str = "log_step"
    begins_ns: dict[int, int] = field(default_factory=dict)
    spans: list[tuple[str, int, int]] = field(default_factory=list)
    losses: list[Diagnostic] = field(default_factory=list)


def record_of(series: StatedSeries, source: str) -> Throughput:
    """The record of a series. Lines that repeat a step of their session are taken once, the last of them."""
    lines = _distinct(series.lines)
    time_ns, timed, dated = _times(lines)
    starts = _session_starts(lines, time_ns, series.begins_ns if dated else {})
    base = time_ns[0] if starts[0] is None else starts[0]
    base = base if dated else 0
    counts = _counts(lines, starts)
    losses = [*series.losses, *_differences(series, lines, time_ns, starts)]
    if not timed:
        remedy = "Log with time stamps to see the course of the run"
        losses.append(
            Diagnostic(
                "time", "no time is printed: rates can be shown by step only", len(lines), remedy
            )
        )
    return Throughput(
        header=Header(
            job=series.job,
            rank=series.rank,
            producer=series.producer,
            source=source,
            wall_anchor_ns=base if dated else 0,
            losses=tuple(losses),
        ),
        name=series.name,
        unit=series.unit,
        start_ns=UNKNOWN_NS if starts[0] is None else starts[0] - base,
        sampling_rule=series.sampling_rule,
        log_every=_log_every(lines),
        batch_size=series.batch_size,
        devices=series.devices or int(series.per_device),
        planned_steps=series.planned_steps,
        measured_at="the process that printed the log",
        strings=Strings.of(sorted({kind for kind, _, _ in series.spans})),
        marks=_marks(lines, time_ns, base, counts),
        samples=_samples(lines, time_ns, base, counted=counts is not None),
        reported=_reported(series, lines),
        resets=_resets(lines, time_ns, starts, base, counted=counts is not None),
        spans=_spans(series, base),
    )


def _distinct(lines: Sequence[Line]) -> list[Line]:
    latest: dict[tuple[int, int], Line] = {}
    for line in lines:
        latest[line.session, line.step] = line
    return sorted(latest.values(), key=lambda line: (line.session, line.step))


def sessions_by_step(lines: Sequence[Line]) -> list[Line]:
    """The lines with their sessions: a step that does not go on is of a process that resumed the run."""
    numbered = []
    session = 0
    last = -1
    for line in lines:
        if line.step <= last:
            session += 1
        last = line.step
        numbered.append(replace(line, session=max(session, line.session)))
    return numbered


def _times(lines: Sequence[Line]) -> tuple[list[int], bool, bool]:
    """Times of the lines, whether they are known at all, and whether they are Unix times.

    Stamps where every line has one, else stated durations one after the other.
    """
    stamps = [line.time_ns for line in lines if line.time_ns is not None]
    if len(stamps) == len(lines):
        return stamps, True, True
    durations = [line.duration_ns for line in lines if line.duration_ns is not None]
    if len(durations) < len(lines):
        return [0] * len(lines), False, False
    ends: list[int] = np.cumsum(durations).tolist()
    return ends, True, False


def _session_starts(
    lines: Sequence[Line], time_ns: Sequence[int], begins_ns: dict[int, int]
) -> list[int | None]:
    """Returns when each session began, None where unknown.

    The first line's stated duration comes before a stated beginning.
    """
    starts: list[int | None] = []
    last = -1
    for line, at in zip(lines, time_ns, strict=True):
        if line.session == last:
            continue
        last = line.session
        if line.duration_ns is not None:
            starts.append(at - line.duration_ns)
        elif begins_ns.get(line.session, at) < at:
            starts.append(begins_ns[line.session])
        else:
            starts.append(None)
    return starts


def _firsts(lines: Sequence[Line]) -> list[int]:
    """The first line of each session."""
    return [
        row for row, line in enumerate(lines) if not row or line.session != lines[row - 1].session
    ]


def _counts(lines: Sequence[Line], starts: Sequence[int | None]) -> list[int] | None:
    """Counts of the intervals, None where no line states one.

    Where nobody knows when a session began, the interval before its first line cannot be counted.
    """
    if all(line.count is None for line in lines):
        return None
    counts = [-1 if line.count is None else line.count for line in lines]
    for number, row in enumerate(_firsts(lines)):
        if number and starts[number] is None:
            counts[row] = 0
    return counts


def _marks(
    lines: Sequence[Line], time_ns: Sequence[int], base: int, counts: Sequence[int] | None
) -> Marks:
    if counts is None:
        return Marks()
    step = np.array([line.step for line in lines], np.int64)
    return Marks(
        step=step, time_ns=np.array(time_ns, np.int64) - base, count=np.array(counts, np.int64)
    )


def _samples(
    lines: Sequence[Line], time_ns: Sequence[int], base: int, *, counted: bool
) -> RateSamples:
    step = np.array([line.step for line in lines], np.int64)
    ends = np.arange(1, len(lines) + 1) if counted else np.zeros(len(lines), np.int64)
    return RateSamples(step=step, time_ns=np.array(time_ns, np.int64) - base, mark_end=ends)


def _reported(series: StatedSeries, lines: Sequence[Line]) -> Reported:
    def column(values: Sequence[float | None]) -> F64:
        return np.array([-1.0 if value is None else value for value in values])

    factor = float(series.devices) if series.per_device and series.devices else 1.0
    rates = column([None if line.rate is None else line.rate * factor for line in lines])
    averages = column([None if line.average is None else line.average * factor for line in lines])
    tflops = column([line.tflops for line in lines])
    mfu = column([line.mfu for line in lines])
    if max(rates.max(), averages.max(), tflops.max(), mfu.max()) < 0:
        return Reported()
    return Reported(
        sample=np.arange(len(lines)),
        local_samples_per_sec=rates,
        avg_samples_per_sec=averages,
        tflops_per_device=tflops,
        mfu=mfu,
    )


def _resets(
    lines: Sequence[Line],
    time_ns: Sequence[int],
    starts: Sequence[int | None],
    base: int,
    *,
    counted: bool,
) -> Resets:
    firsts = _firsts(lines)[1:]
    if not firsts:
        return Resets()
    times = []
    for row, start in zip(firsts, starts[1:], strict=True):
        times.append((time_ns[row] if start is None else start) - base)
    before = np.array(firsts, np.int64)
    return Resets(
        time_ns=np.array(times, np.int64),
        kind=np.full(len(firsts), ResetKind.SESSION, np.int8),
        mark_end=before if counted else before * 0,
        sample_end=before,
    )


def _spans(series: StatedSeries, base: int) -> Spans:
    words = sorted({kind for kind, _, _ in series.spans})
    rows = sorted(series.spans, key=lambda span: span[1])
    return Spans(
        kind=np.array([words.index(kind) for kind, _, _ in rows], np.int32),
        start_ns=np.array([start - base for _, start, _ in rows], np.int64),
        end_ns=np.array([end - base for _, _, end in rows], np.int64),
    )


def _log_every(lines: Sequence[Line]) -> int:
    steps = np.diff([line.step for line in lines])
    steps = steps[steps > 0]
    return int(np.median(steps)) if len(steps) else 0


def _durations(
    lines: Sequence[Line], time_ns: Sequence[int], starts: Sequence[int | None]
) -> list[int | None]:
    """How long each interval took: as stated, else between the stamps of one session."""
    durations: list[int | None] = []
    session = -1
    for row, line in enumerate(lines):
        first = not row or line.session != lines[row - 1].session
        session += first
        start = starts[session] if first else time_ns[row - 1]
        if line.duration_ns is not None:
            durations.append(line.duration_ns)
        else:
            durations.append(None if start is None else time_ns[row] - start)
    return durations


def _differences(
    series: StatedSeries,
    lines: Sequence[Line],
    time_ns: Sequence[int],
    starts: Sequence[int | None],
) -> list[Diagnostic]:
    """Stated rates that the log's own counts and times contradict."""
    devices = series.devices if series.per_device else 1
    if not devices:
        return []
    contradictions = []
    for line, duration in zip(lines, _durations(lines, time_ns, starts), strict=True):
        if (
            line.rate is None
            or line.count is None
            or line.count < 0
            or not duration
            or duration <= 0
        ):
            continue
        counted = line.count / (duration / NS_PER_SECOND) / devices
        allowed = DIFFERENCE * counted + 2 * line.precision
        if abs(line.rate - counted) > allowed:
            contradictions.append((line, counted))
    if not contradictions:
        return []
    line, counted = contradictions[0]
    unit = f"{series.unit}/s per device" if series.per_device else f"{series.unit}/s"
    what = (
        f"stated rates differ from the log's own counts by more than {DIFFERENCE:.0%}:"
        f" {line.rate:,.6g} {unit} is stated, {counted:,.6g} is counted"
    )
    remedy = "StepScope computes rates from the counts; stated rates stay as reported"
    return [Diagnostic(f"step {line.step}", what, len(contradictions), remedy)]


def whole_batch(lines: Sequence[Line]) -> int:
    """The one whole number of samples a step that all stated rates and stamps agree on; 0 where there is none.

    Rate x time / steps is known within the printed digits. The answer is only given where these ranges have exactly one
    whole number in common.
    """
    low = 0.0
    high = np.inf
    intervals = 0
    for before, line in pairwise(lines):
        if line.session != before.session or line.step <= before.step:
            continue
        if line.rate is None or line.time_ns is None or before.time_ns is None:
            return 0
        duration_s = (line.time_ns - before.time_ns) / NS_PER_SECOND
        steps = line.step - before.step
        # Rates are of the loop's own clock, stamps of the printed line: they agree within a thousandth.
        slack = line.precision + line.rate * 1e-3
        low = max(low, (line.rate - slack) * duration_s / steps)
        high = min(high, (line.rate + slack) * duration_s / steps)
        intervals += 1
    if intervals < LEAST_INTERVALS or not np.isfinite(high):
        return 0
    first = int(np.ceil(low))
    is_only_one = first <= high < first + 1
    if first < 1 or not is_only_one:
        return 0
    return first


def printed_precision(text: str) -> float:
    """Half a unit of the last printed digit of a number."""
    return float(0.5 * 10.0 ** -len(text.strip().partition(".")[2]))

"""MLPerf training logs: `:::MLLOG {json}` lines.

Where blocks say how many samples were trained, samples are counted at the end of each block. Throughput that the log
states (tracked_stats) is of the block alone; the time between blocks is a span: evaluation, or a pause without a cause.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from stepscope.errors import DamagedSource
from stepscope.model.columns import Header, Strings
from stepscope.model.diagnostic import Diagnostic
from stepscope.model.throughput import UNKNOWN_NS, Marks, RateSamples, Reported, Spans, Throughput
from stepscope.sources.content import content
from stepscope.sources.format import Format, Imported, NamedRecord, Progress
from stepscope.sources.throughput import figures

MARK = b":::MLLOG"
NS_PER_MS = 1_000_000
LATEST_MS = 2**42
SPAN_WORDS = ("evaluation", "pause")


@dataclass(frozen=True)
class Line:
    """One logged event."""

    key: str
    time_ns: int
    value: Any
    metadata: dict[str, Any]


@dataclass(frozen=True)
class Counted:
    """Samples at the ends of blocks; `start_ns` is where the first block begins."""

    start_ns: int
    time_ns: list[int]
    total: list[int]


def recognise(path: Path, head: bytes) -> bool:
    """Whether it has MLPerf lines."""
    return MARK in head


def read(path: Path, progress: Progress | None = None) -> Imported:
    """Reads an MLPerf log.

    Raises:
        DamagedSource: It tells of no throughput.
    """
    with content(path) as data:
        text = bytes(data).decode("utf-8", "replace")
    lines, broken = _parse(text)
    if progress is not None:
        progress(len(text), len(text))
    stated = [line for line in lines if line.key == "tracked_stats" and _throughput(line) is not None]
    counted = _counted(lines)
    if not stated and counted is None:
        raise DamagedSource(
            "no block with a sample count and no tracked_stats.throughput",
            where=str(path),
            remedy="Give the whole result log",
        )
    header = Header(
        job=str(_value(lines, "submission_benchmark") or ""),
        producer="MLPerf log",
        source=path.name,
        losses=tuple(_losses(broken)),
    )
    batch = _value(lines, "global_batch_size")
    batch_size = max(figures.whole(batch) or 0, 0)
    record = _record(header, lines, stated, counted, batch_size)
    last = int(record.samples.step.max()) if len(record.samples) else None
    return Imported((NamedRecord("train", record, last),), path.name.partition(".")[0])


def _parse(text: str) -> tuple[list[Line], list[int]]:
    lines, broken = [], []
    for number, raw in enumerate(text.splitlines(), 1):
        _, mark, body = raw.partition(":::MLLOG")
        if not mark:
            continue
        try:
            lines.append(_line(json.loads(body)))
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            broken.append(number)
    return lines, broken


def _line(found: dict[str, Any]) -> Line:
    time_ms = figures.whole(found["time_ms"])
    if time_ms is None or abs(time_ms) > LATEST_MS:
        raise ValueError("no time")
    metadata = found.get("metadata")
    return Line(
        str(found["key"]), time_ms * NS_PER_MS, found.get("value"), metadata if isinstance(metadata, dict) else {}
    )


def _losses(broken: Sequence[int]) -> Iterator[Diagnostic]:
    if broken:
        yield Diagnostic(f"line {broken[0]}", "MLLOG lines that are no JSON", len(broken), "Copy the log again")


def _value(lines: Sequence[Line], key: str) -> Any:
    return next((line.value for line in lines if line.key == key), None)


def _throughput(line: Line) -> float | None:
    value = line.value.get("throughput") if isinstance(line.value, dict) else None
    return figures.rate(value)


def _counted(lines: Sequence[Line]) -> Counted | None:
    starts = [line for line in lines if line.key == "block_start"]
    stops = [
        (line.time_ns, figures.whole(line.metadata.get("samples_count"))) for line in lines if line.key == "block_stop"
    ]
    counted = [(time_ns, total) for time_ns, total in stops if total is not None and total > 0]
    totals = [total for _, total in counted]
    if not starts or not counted or sorted(set(totals)) != totals:
        return None
    return Counted(starts[0].time_ns, [time_ns for time_ns, _ in counted], totals)


def _record(
    header: Header, lines: Sequence[Line], stated: Sequence[Line], counted: Counted | None, batch_size: int
) -> Throughput:
    run_start = next((line.time_ns for line in lines if line.key == "run_start"), lines[0].time_ns)
    base = counted.start_ns if counted else run_start
    marks, samples = _counts(counted, batch_size, base) if counted else (Marks(), _stated_samples(stated, base))
    spans = _spans(lines, base)
    rates = np.array([_throughput(line) or 0.0 for line in stated])
    matched = len(rates) == len(samples)
    reported = Reported(sample=np.arange(len(rates)), local_samples_per_sec=rates) if matched else Reported()
    return Throughput(
        header=Header(**{**header.__dict__, "wall_anchor_ns": base}),
        unit="samples",
        start_ns=0 if counted else UNKNOWN_NS,
        sampling_rule="at the end of each block" if counted else "when the program stated it",
        batch_size=batch_size,
        measured_at="the host, as logged for MLPerf",
        strings=Strings.of(SPAN_WORDS),
        marks=marks,
        samples=samples,
        reported=reported,
        spans=spans,
    )


def _counts(counted: Counted, batch_size: int, base: int) -> tuple[Marks, RateSamples]:
    total = np.array(counted.total, np.int64)
    time_ns = np.array(counted.time_ns, np.int64) - base
    step = total // batch_size if batch_size else np.arange(1, len(total) + 1)
    marks = Marks(step=step, time_ns=time_ns, count=np.diff(total, prepend=0))
    return marks, RateSamples(step=step, time_ns=time_ns, mark_end=np.arange(1, len(total) + 1))


def _stated_samples(stated: Sequence[Line], base: int) -> RateSamples:
    step = np.array([_step(line) for line in stated], np.int64)
    time_ns = np.array([line.time_ns for line in stated], np.int64)
    return RateSamples(step=step, time_ns=time_ns - base)


def _step(line: Line) -> int:
    for key in ("step", "step_num", "samples_count", "epoch_num"):
        found = figures.whole(line.metadata.get(key))
        if found is not None and found >= 0:
            return found
    return -1


def _spans(lines: Sequence[Line], base: int) -> Spans:
    evaluations = _between(lines, "eval_start", "eval_stop", 0)
    pauses = _between(lines, "block_stop", "block_start", 1)
    unexplained = [row for row in pauses if not any(row[1] <= begin < row[2] for _, begin, _ in evaluations)]
    rows = evaluations + unexplained
    kind, start, end = np.array(sorted(rows, key=lambda row: row[1]), np.int64).reshape(-1, 3).T
    return Spans(kind=kind, start_ns=start - base, end_ns=end - base)


def _between(lines: Sequence[Line], begin: str, end: str, kind: int) -> list[tuple[int, int, int]]:
    rows, opened = [], None
    for line in lines:
        if line.key == begin:
            opened = line.time_ns
        elif line.key == end and opened is not None:
            rows.append((kind, opened, line.time_ns))
            opened = None
    return rows


FORMAT = Format("mlperf_log", "MLPerf training result log", recognise, read)

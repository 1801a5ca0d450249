"""MLPerf training logs: `:::MLLOG {json}` lines, and those of 2018 and 2019.

Where blocks say how many samples were trained, samples are counted at the end of each block (see `mlperf_counts`).
Throughput that the log states (`tracked_stats`) is of the block alone; the time between blocks is a span: evaluation,
or a pause whose cause the log does not state.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from stepscope.errors import DamagedSource
from stepscope.model.columns import Header, Strings
from stepscope.model.diagnostic import Diagnostic
from stepscope.model.throughput import UNKNOWN_NS, Marks, RateSamples, Reported, Spans, Throughput
from stepscope.sources.format import Format, Imported, NamedRecord, Progress
from stepscope.sources.throughput import figures, log_text
from stepscope.sources.throughput.log_marks import loggers
from stepscope.sources.throughput.mlperf_counts import Counted, counted, counted_by_epochs
from stepscope.sources.throughput.mlperf_lines import Line, parse, value_of

SPAN_WORDS = ("evaluation", "pause")
EVALUATION = 0
PAUSE = 1
STEP_KEYS = ("step", "step_num", "samples_count", "epoch_num")


def recognise(path: Path, head: bytes) -> bool:
    """Whether the file has MLPerf lines."""
    return "mlperf" in loggers(path, head)


def read(path: Path, progress: Progress | None = None) -> Imported:
    """Reads an MLPerf log.

    Raises:
        DamagedSource: The log states neither counts nor throughput.
    """
    lines, broken = parse(log_text.lines(path, progress))
    stated = [
        line for line in lines if line.key == "tracked_stats" and _throughput(line) is not None
    ]
    blocks = counted(lines)
    if blocks is None and not stated:
        blocks = counted_by_epochs(lines)
    if blocks is None and not stated:
        raise DamagedSource(
            "no block, epoch or evaluation with a sample count, and no tracked_stats.throughput",
            where=str(path),
            remedy="Give the whole result log",
        )
    record = _record(source=path.name, lines=lines, stated=stated, blocks=blocks, broken=broken)
    last = int(record.samples.step.max()) if len(record.samples) else None
    return Imported((NamedRecord("train", record, last),), path.name.partition(".")[0])


def _throughput(line: Line) -> float | None:
    if not isinstance(line.value, dict):
        return None
    return figures.rate(line.value.get("throughput"))


def _record(
    source: str,
    lines: Sequence[Line],
    stated: Sequence[Line],
    blocks: Counted | None,
    broken: Sequence[int],
) -> Throughput:
    batch_size = max(figures.whole(value_of(lines, "global_batch_size")) or 0, 0)
    run_start = next((line.time_ns for line in lines if line.key == "run_start"), lines[0].time_ns)
    base = run_start if blocks is None else blocks.start_ns
    losses = [] if blocks is None else list(blocks.losses)
    if broken:
        losses.append(
            Diagnostic(
                f"line {broken[0]}",
                "MLPerf lines that cannot be read",
                len(broken),
                "Copy the log again",
            )
        )
    if blocks is None:
        marks = Marks()
        samples = _stated_samples(stated, base)
    else:
        marks, samples = _counts(blocks, batch_size)
    return Throughput(
        header=Header(
            job=str(value_of(lines, "submission_benchmark") or ""),
            producer="MLPerf log",
            source=source,
            wall_anchor_ns=base,
            losses=tuple(losses),
        ),
        unit="samples",
        start_ns=UNKNOWN_NS if blocks is None else 0,
        sampling_rule="when the program stated it"
        if blocks is None
        else "at the end of each block",
        batch_size=batch_size,
        measured_at="the host, as logged for MLPerf",
        strings=Strings.of(SPAN_WORDS),
        marks=marks,
        samples=samples,
        reported=_reported(stated, len(samples)),
        spans=_spans(lines, base),
    )


def _counts(blocks: Counted, batch_size: int) -> tuple[Marks, RateSamples]:
    total = np.array(blocks.total, np.int64)
    time_ns = np.array(blocks.time_ns, np.int64) - blocks.start_ns
    step = total // batch_size if batch_size else np.arange(1, len(total) + 1)
    marks = Marks(step=step, time_ns=time_ns, count=np.diff(total, prepend=blocks.before))
    return marks, RateSamples(step=step, time_ns=time_ns, mark_end=np.arange(1, len(total) + 1))


def _reported(stated: Sequence[Line], samples: int) -> Reported:
    """Stated rates, where there is one for each point."""
    if len(stated) != samples:
        return Reported()
    rates = np.array([_throughput(line) or 0.0 for line in stated])
    return Reported(sample=np.arange(samples), local_samples_per_sec=rates)


def _stated_samples(stated: Sequence[Line], base: int) -> RateSamples:
    step = np.array([_step(line) for line in stated], np.int64)
    time_ns = np.array([line.time_ns for line in stated], np.int64)
    return RateSamples(step=step, time_ns=time_ns - base)


def _step(line: Line) -> int:
    for key in STEP_KEYS:
        number = line.count(key)
        if number is not None:
            return number
    return -1


def _spans(lines: Sequence[Line], base: int) -> Spans:
    evaluations = _between(lines, "eval_start", "eval_stop", EVALUATION)
    rows = list(evaluations)
    for pause in _between(lines, "block_stop", "block_start", PAUSE):
        _, pause_start, pause_end = pause
        if not any(pause_start <= start < pause_end for _, start, _ in evaluations):
            rows.append(pause)
    rows.sort(key=lambda row: row[1])
    kind, start, end = np.array(rows, np.int64).reshape(-1, 3).T
    return Spans(kind=kind, start_ns=start - base, end_ns=end - base)


def _between(lines: Sequence[Line], begin: str, end: str, kind: int) -> list[tuple[int, int, int]]:
    """Kind, start and end of what lies between lines of two keys."""
    rows = []
    opened: int | None = None
    for line in lines:
        if line.key == begin:
            opened = line.time_ns
        elif line.key == end and opened is not None:
            rows.append((kind, opened, line.time_ns))
            opened = None
    return rows


FORMAT = Format("mlperf_log", "MLPerf training result log", recognise, read)

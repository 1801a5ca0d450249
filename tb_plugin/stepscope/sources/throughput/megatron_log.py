"""Console logs of Megatron-LM, Megatron-Bridge, Megatron-DeepSpeed and GPT-NeoX.

`training_log` of Megatron-LM prints, every `--log-interval` iterations, the samples consumed so far and the mean time
of an iteration. Its timer `interval-time` stands still while it evaluates and saves checkpoints: what lies between two
lines beside the iterations is a span.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

from stepscope.errors import DamagedSource
from stepscope.model.diagnostic import Diagnostic
from stepscope.sources.format import Format, Imported, NamedRecord, Progress
from stepscope.sources.throughput import log_text
from stepscope.sources.throughput.log_marks import loggers
from stepscope.sources.throughput.stated_series import (
    Line,
    StatedSeries,
    printed_precision,
    record_of,
)

NS_PER_SECOND = log_text.NS_PER_SECOND
LEAST_PAUSE_NS = 2 * NS_PER_SECOND
"""Stamps are whole seconds: a shorter pause cannot be told from rounding."""

_ITERATION = re.compile(r"\biteration:?\s+(\d{1,18})\s*/\s*(\d{1,18})\s*\|")
_ARGUMENT = re.compile(r"^\s*(?:\S+:\s*)?\[?(\w+)\s\.{2,}\s(\d{1,18})\s*$")
_WORLD = re.compile(r"\bworld[ -]size:?\s+(\d{1,9})\b")
_TRAINING_STARTS = re.compile(r"\[before the start of training step\] datetime: (\S+ \S+)")
_EVENTS = {
    "checkpoint": re.compile(r"\bsav(?:ing|ed) checkpoint (?:at|from) iteration", re.IGNORECASE),
    "evaluation": re.compile(r"\bvalidation loss at iteration|\bEvaluating (?:on|iter)"),
}
_TFLOPS = (
    "throughput per gpu (tflop/s/gpu)",
    "tflops",
    "approx flops per gpu",
    "compute per gpu (tflop/s/gpu)",
)
_LEADING_NUMBER = re.compile(r"\s*([\d.]+)")


@dataclass
class _Log:
    """What was read so far."""

    lines: list[Line] = field(default_factory=list)
    consumed: int | None = None
    arguments: dict[str, int] = field(default_factory=dict)
    planned: int = 0
    session: int = 0
    broken: list[int] = field(default_factory=list)
    events: set[str] = field(default_factory=set)
    spans: list[tuple[str, int, int]] = field(default_factory=list)
    begins_ns: dict[int, int] = field(default_factory=dict)


def recognise(path: Path, head: bytes) -> bool:
    """Whether it has iteration lines."""
    return "megatron" in loggers(path, head)


def read(path: Path, progress: Progress | None = None) -> Imported:
    """Reads a console log.

    Raises:
        DamagedSource: No iteration line can be read.
    """
    log = _Log()
    for number, text in enumerate(log_text.lines(path, progress), 1):
        match = _ITERATION.search(text)
        if match is None:
            _take_other(log, text)
        elif not _take_iteration(log, text, match):
            log.broken.append(number)
    if not log.lines:
        raise DamagedSource(
            "no iteration line can be read",
            where=str(path),
            remedy="Give the log as Megatron printed it",
        )
    record = record_of(_series(log), path.name)
    return Imported(
        (NamedRecord("train", record, log.lines[-1].step),), path.name.partition(".")[0]
    )


def _take_other(log: _Log, text: str) -> None:
    """Arguments, starts, and what was done between iterations."""
    argument = _ARGUMENT.match(text)
    if argument is not None:
        log.arguments[argument[1]] = int(argument[2])
    world = _WORLD.search(text)
    if world is not None:
        log.arguments.setdefault("world_size", int(world[1]))
    start = _TRAINING_STARTS.search(text)
    if start is not None:
        if log.lines and log.lines[-1].session == log.session:
            log.session += 1
            log.consumed = None
        begin_ns = log_text.stamp(start[1])
        if begin_ns is not None:
            log.begins_ns[log.session] = begin_ns
    for kind, pattern in _EVENTS.items():
        if pattern.search(text):
            log.events.add(kind)


def _take_iteration(log: _Log, text: str, match: re.Match[str]) -> bool:
    """Takes an iteration line; false where it cannot be read."""
    fields = dict(log_text.pairs(text[match.end() :]))
    before = dict(log_text.pairs(text[: match.start()]))
    step, planned = int(match[1]), int(match[2])
    elapsed_s = _elapsed_s(fields)
    if elapsed_s is None:
        return False
    if log.lines and step <= log.lines[-1].step and log.lines[-1].session == log.session:
        log.session += 1
        log.consumed = None
    log.planned = max(log.planned, planned)
    steps = _steps(log, step)
    duration_ns = round(elapsed_s * steps * NS_PER_SECOND)
    rate_text = fields.get("samples per second") or before.get("samples/sec")
    line = Line(
        step=step,
        time_ns=log_text.stamp(text, match.start()),
        duration_ns=duration_ns,
        count=_count(log, fields, steps),
        rate=log_text.number(rate_text),
        precision=printed_precision(rate_text) if rate_text else 0.0,
        tflops=_tflops(fields),
        session=log.session,
    )
    _note_pause(log, line)
    log.lines.append(line)
    log.consumed = log_text.whole(fields.get("consumed samples"))
    return True


def _elapsed_s(fields: dict[str, str]) -> float | None:
    milliseconds = log_text.number(fields.get("elapsed time per iteration (ms)"))
    if milliseconds is not None:
        return milliseconds / 1000
    return log_text.number(fields.get("elapsed time per iteration (s)"))


def _steps(log: _Log, step: int) -> int:
    """How many iterations the line is the mean of.

    The first line of a resumed process ends an interval that began where the log interval did.
    """
    session = [line for line in log.lines if line.session == log.session]
    if session:
        return step - session[-1].step
    every = log.arguments.get("log_interval", 0)
    if not every:
        return step if not log.lines else _usual_interval(log)
    return step % every or every


def _usual_interval(log: _Log) -> int:
    if len(log.lines) < 2:
        return max(log.lines[-1].step, 1)
    return max(log.lines[1].step - log.lines[0].step, 1)


def _count(log: _Log, fields: dict[str, str], steps: int) -> int | None:
    """RateSamples of the interval: what was consumed since the last line, else batch size times iterations."""
    consumed = log_text.whole(fields.get("consumed samples"))
    if consumed is not None and log.consumed is not None and consumed >= log.consumed:
        return consumed - log.consumed
    batch = log_text.whole(fields.get("global batch size")) or log.arguments.get(
        "global_batch_size"
    )
    return batch * steps if batch else None


def _tflops(fields: dict[str, str]) -> float | None:
    for key in _TFLOPS:
        number = _LEADING_NUMBER.match(fields.get(key, ""))
        if number is not None:
            return log_text.number(number[1])
    return None


def _note_pause(log: _Log, line: Line) -> None:
    """What lies between two lines beside their iterations: a checkpoint, an evaluation, or a pause."""
    events, log.events = log.events, set()
    if not log.lines or line.time_ns is None or line.duration_ns is None:
        return
    last = log.lines[-1]
    if last.time_ns is None or last.session != line.session:
        return
    begin_ns, end_ns = last.time_ns, line.time_ns - line.duration_ns
    if end_ns - begin_ns >= LEAST_PAUSE_NS:
        kind = events.pop() if len(events) == 1 else "pause"
        log.spans.append((kind, begin_ns, end_ns))


def _series(log: _Log) -> StatedSeries:
    losses = []
    if log.broken:
        remedy = "Look at the line: it may be cut off, or two processes wrote into it"
        losses.append(
            Diagnostic(
                f"line {log.broken[0]}",
                "iteration lines that cannot be read",
                len(log.broken),
                remedy,
            )
        )
    batches = {line.count for line in log.lines[1:] if line.count}
    steps = {later.step - line.step for line, later in zip(log.lines, log.lines[1:], strict=False)}
    constant = len(batches) == 1 and len(steps) == 1
    return StatedSeries(
        name="train",
        unit="samples",
        producer="Megatron",
        lines=log.lines,
        devices=log.arguments.get("world_size", 0),
        batch_size=batches.pop() // steps.pop() if constant else 0,
        planned_steps=log.planned,
        begins_ns=log.begins_ns,
        spans=log.spans,
        losses=losses,
    )


FORMAT = Format(
    "megatron_log", "console log of Megatron-LM, Megatron-Bridge or GPT-NeoX", recognise, read
)

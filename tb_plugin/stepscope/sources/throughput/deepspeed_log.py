"""Console logs of DeepSpeed: its `ThroughputTimer`, and the pipeline engine's `steps: ... samples/sec: ...`.

`CurrSamplesPerSec` is the batch over the last step's time, `RunningAvgSamplesPerSec` all batches over all time since
the timer's start step (DeepSpeed, `utils/timer.py`).
"""

from __future__ import annotations

import re
from dataclasses import replace
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
    sessions_by_step,
    whole_batch,
)

_TIMER = re.compile(
    r"(?:\bglobal_step=(?P<global>\d{1,18})|\b\d+/(?P<old>\d{1,18})),\s"
    r"(?:RunningAvgSamplesPerSec=(?P<average>[\d.]+),\s*)?(?:Curr)?SamplesPerSec=(?P<rate>[\d.]+)"
)
_PIPELINE = re.compile(
    r"\bsteps: (?P<step>\d{1,18}) .*?\biter time \(s\): (?P<iteration>[\d.]+) samples/sec: (?P<rate>[\d.]+)"
)
_BATCH = re.compile(r"\btrain_batch_size\W[\s.]*(\d{1,12})\b")


def recognise(path: Path, head: bytes) -> bool:
    """Whether it has lines of DeepSpeed's timers."""
    return "deepspeed" in loggers(path, head)


def read(path: Path, progress: Progress | None = None) -> Imported:
    """Reads a console log.

    Raises:
        DamagedSource: No line with rates can be read.
    """
    lines: list[Line] = []
    batch = 0
    for text in log_text.lines(path, progress):
        line = _timer_line(text) or _pipeline_line(text)
        if line is not None:
            lines.append(line)
        elif stated := _BATCH.search(text):
            batch = int(stated[1])
    if not lines:
        raise DamagedSource(
            "no line with rates can be read",
            where=str(path),
            remedy="Give the log as DeepSpeed printed it",
        )
    lines = sessions_by_step(lines)
    losses = []
    if not batch:
        batch = whole_batch([replace(line, rate=line.average or line.rate) for line in lines])
        if batch:
            what = f"the batch size is not printed; {batch} follows from rates, steps and stamps"
            losses.append(Diagnostic("batch size", what, 0, "Nothing to do where it is right"))
    series = StatedSeries(
        name="train",
        unit="samples",
        producer="DeepSpeed",
        lines=_counted(lines, batch),
        batch_size=batch,
        losses=losses,
    )
    return Imported(
        (NamedRecord("train", record_of(series, path.name), lines[-1].step),),
        path.name.partition(".")[0],
    )


def _timer_line(text: str) -> Line | None:
    match = _TIMER.search(text)
    if match is None:
        return None
    average = log_text.number(match["average"])
    return Line(
        step=int(match["global"] or match["old"]),
        time_ns=log_text.stamp(text, match.start()),
        rate=log_text.number(match["rate"]),
        average=average,
        precision=printed_precision(match["rate"]),
    )


def _pipeline_line(text: str) -> Line | None:
    match = _PIPELINE.search(text)
    if match is None:
        return None
    return Line(
        step=int(match["step"]),
        time_ns=log_text.stamp(text, match.start()),
        rate=log_text.number(match["rate"]),
        precision=printed_precision(match["rate"]),
    )


def _counted(lines: list[Line], batch: int) -> list[Line]:
    """The lines with the samples of their intervals, where the batch size is known."""
    if not batch:
        return lines
    counted = []
    before = {0: 0}
    for line in lines:
        steps = line.step - before[line.session] if line.session in before else 0
        counted.append(replace(line, count=batch * steps if steps > 0 else None))
        before[line.session] = line.step
    return counted


FORMAT = Format("deepspeed_log", "console log of DeepSpeed", recognise, read)

"""Console logs of MaxText: `completed step: 5, seconds: 3.000, TFLOP/s/device: ..., Tokens/s/device: ...`.

`seconds` is the time since the step before was completed, `total_weights` the tokens of the global batch that count
(MaxText, `metric_logger.py`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
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
)

_STEP = re.compile(r"\bcompleted step: (\d{1,18}), seconds: ([\d.]+)(.*)")
_RATE = re.compile(r"\bTokens/s/device: ([\d.,]+?)(?:,\s|\s|$)")
_TFLOPS = re.compile(r"\bTFLOP/s/device: ([\d.]+)")
_WEIGHTS = re.compile(r"\btotal_weights: (\d+)")
_DEVICES = re.compile(r"\bNum_devices: (\d{1,9})\b")
WHOLE = 0.02
"""How near to a whole number of devices tokens over rate and time must lie."""


def recognise(path: Path, head: bytes) -> bool:
    """Whether it has lines of completed steps."""
    return "maxtext" in loggers(path, head)


def read(path: Path, progress: Progress | None = None) -> Imported:
    """Reads a console log. Every host prints the same figures of the whole job: the lowest rank's are taken.

    Raises:
        DamagedSource: No step line can be read.
    """
    ranks: dict[int, list[Line]] = {}
    devices = 0
    for text in log_text.lines(path, progress):
        match = _STEP.search(text)
        if match is not None:
            line = _line(text, match)
            if line is not None:
                ranks.setdefault(log_text.rank(text, match.start()), []).append(line)
        elif stated := _DEVICES.search(text):
            devices = int(stated[1])
    if not ranks:
        raise DamagedSource(
            "no step line can be read", where=str(path), remedy="Give the log as MaxText printed it"
        )
    lines = sessions_by_step(ranks[min(ranks)])
    losses = []
    if len(ranks) > 1:
        what = "hosts print the same figures of the whole job; those of the lowest rank are shown"
        losses.append(Diagnostic("hosts", what, len(ranks), "Nothing to do"))
    series = StatedSeries(
        name="train",
        unit="tokens",
        producer="MaxText",
        lines=_undated_first(lines),
        per_device=True,
        devices=devices or _devices(lines),
        batch_size=_batch(lines),
        sampling_rule="after each step",
        losses=losses,
    )
    return Imported(
        (NamedRecord("train", record_of(series, path.name), lines[-1].step),),
        path.name.partition(".")[0],
    )


def _line(text: str, match: re.Match[str]) -> Line | None:
    seconds = log_text.number(match[2])
    if seconds is None:
        return None
    rate, tflops, weights = (
        _RATE.search(match[3]),
        _TFLOPS.search(match[3]),
        _WEIGHTS.search(match[3]),
    )
    return Line(
        step=int(match[1]),
        time_ns=log_text.stamp(text, match.start()),
        duration_ns=round(seconds * log_text.NS_PER_SECOND),
        count=log_text.whole(weights[1]) if weights is not None else None,
        rate=log_text.number(rate[1]) if rate is not None else None,
        precision=printed_precision(rate[1]) if rate is not None else 0.0,
        tflops=log_text.number(tflops[1]) if tflops is not None else None,
    )


def _undated_first(lines: Sequence[Line]) -> list[Line]:
    """The lines without stamps: what is printed is buffered, `seconds` is exact."""
    return [replace(line, time_ns=None) for line in lines] if _buffered(lines) else list(lines)


def _buffered(lines: Sequence[Line]) -> bool:
    """Whether stamps do not move as the stated seconds do."""
    first, last = lines[0].time_ns, lines[-1].time_ns
    if first is None or last is None:
        return True
    stated = sum(line.duration_ns or 0 for line in lines[1:])
    return abs((last - first) - stated) > stated // 2


def _devices(lines: Sequence[Line]) -> int:
    """Devices that most lines agree on: tokens over stated rate of a device and stated time."""
    votes: dict[int, int] = {}
    for line in lines:
        if line.rate and line.count and line.duration_ns:
            devices = line.count / (line.duration_ns / log_text.NS_PER_SECOND) / line.rate
            whole = round(devices)
            if whole and abs(devices - whole) < WHOLE * whole:
                votes[whole] = votes.get(whole, 0) + 1
    best = max(votes, key=lambda devices: votes[devices], default=0)
    return best if best and 2 * votes[best] > len(lines) else 0


def _batch(lines: Sequence[Line]) -> int:
    counts = {line.count for line in lines}
    return counts.pop() or 0 if len(counts) == 1 else 0


FORMAT = Format("maxtext_log", "console log of MaxText", recognise, read)

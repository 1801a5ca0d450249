"""Console output of Lightning's progress bars: `Epoch 0:  50%|...| 50/100 [00:05<00:05,  9.87it/s, v_num=0]`.

A bar states its batches, the time since the epoch began in whole seconds, and a rate. Bars of the rich progress bar
(`Epoch 0/2 ━━ 50/100 0:00:05 • 0:00:05 9.87it/s`) are read likewise.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from stepscope.errors import DamagedSource
from stepscope.model.diagnostic import Diagnostic
from stepscope.sources.format import Format, Imported, NamedRecord, Progress
from stepscope.sources.throughput import log_text
from stepscope.sources.throughput.log_marks import loggers
from stepscope.sources.throughput.stated_series import Line, StatedSeries, record_of

_BAR = re.compile(
    r"\bEpoch (?P<epoch>\d{1,9})(?:/\d+)?:?\s.*?(?P<done>\d{1,12})/(?P<batches>\d{1,12}|\?|--)\s+\[?"
    r"(?P<time>(?:\d+:)+\d\d)(?P<rest>.*)"
)
_RATE = re.compile(r"([\d.]+)\s*(it/s|s/it)")


@dataclass(frozen=True)
class _Bar:
    """One state of an epoch's progress bar."""

    epoch: int
    done: int
    seconds: int
    rate: float | None
    time_ns: int | None


def recognise(path: Path, head: bytes) -> bool:
    """Whether it has progress bars of epochs."""
    return "lightning" in loggers(path, head)


def read(path: Path, progress: Progress | None = None) -> Imported:
    """Reads the output of one training.

    Raises:
        DamagedSource: No bar can be read.
    """
    bars = []
    for text in log_text.lines(path, progress):
        bar = _bar(text)
        if bar is not None:
            bars.append(bar)
    lines = _lines(bars)
    if not lines:
        raise DamagedSource(
            "no progress bar of an epoch can be read",
            where=str(path),
            remedy="Keep the output of Trainer.fit",
        )
    what = "the bar's times are whole seconds"
    series = StatedSeries(
        name="train",
        unit="steps",
        producer="Lightning console",
        lines=lines,
        sampling_rule="when the progress bar was printed",
        losses=[Diagnostic("time", what, 0, "Log with stepscope's callback to see single steps")],
    )
    record = record_of(series, path.name)
    return Imported((NamedRecord("train", record, lines[-1].step),), path.name.partition(".")[0])


def _bar(text: str) -> _Bar | None:
    match = _BAR.search(text)
    if match is None:
        return None
    seconds = 0
    for part in match["time"].split(":"):
        seconds = seconds * 60 + int(part)
    if seconds > 10**9:
        return None
    rate = _RATE.search(match["rest"])
    return _Bar(
        epoch=int(match["epoch"]),
        done=int(match["done"]),
        seconds=seconds,
        rate=_per_second(rate) if rate is not None else None,
        time_ns=log_text.stamp(text, match.start()),
    )


def _per_second(match: re.Match[str]) -> float | None:
    value = log_text.number(match[1])
    if not value:
        return None
    if match[2] == "it/s":
        return value
    return 1.0 / value


def _lines(bars: Sequence[_Bar]) -> list[Line]:
    """Returns a line for each bar that counts further batches."""
    # Lightning prints the bar again when only its metrics change.
    lines: list[Line] = []
    epoch = -1
    before = 0
    seconds = 0
    base = 0
    for bar in bars:
        if bar.epoch != epoch:
            base += before
            epoch = bar.epoch
            before = 0
            seconds = 0
        if bar.done <= before or bar.seconds < seconds:
            continue
        lines.append(
            Line(
                step=base + bar.done,
                duration_ns=(bar.seconds - seconds) * log_text.NS_PER_SECOND,
                count=bar.done - before,
                rate=bar.rate,
                precision=bar.rate or 0.0,
            )
        )
        before = bar.done
        seconds = bar.seconds
    return lines


FORMAT = Format("lightning_log", "console output of Lightning's progress bar", recognise, read)

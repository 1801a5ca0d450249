"""Console output of Keras' `Model.fit`: `Epoch 1/3`, then `32/32 ... 1s 12ms/step - loss: ...`.

The last line of an epoch states its steps, its time in whole seconds, and the mean time of a step. Keras 3 leaves the
first step of an epoch out of that mean (`utils/progbar.py`): compilation is in the seconds only.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from stepscope.errors import DamagedSource
from stepscope.model.diagnostic import Diagnostic
from stepscope.sources.format import Format, Imported, NamedRecord, Progress
from stepscope.sources.throughput import log_text
from stepscope.sources.throughput.log_marks import loggers
from stepscope.sources.throughput.stated_series import Line, StatedSeries, record_of

_EPOCH = re.compile(r"^\s*(?:.*\s)?Epoch (\d{1,12})(?:/\d+)?\s*:?\s*$")
_BAR = re.compile(
    r"(?<![\d/])(?P<done>\d{1,12})/(?P<steps>\d{1,12}|Unknown)\s*(?:[\[━].*?)?"
    r"(?:\s?-)?\s(?P<time>(?:\d+:)*\d+)s?\s+(?:-\s)?(?P<mean>[\d.]+)(?P<unit>us|µs|ms|s)/(?:step|epoch)"
)
_UNITS_NS = {"us": 1_000, "µs": 1_000, "ms": 1_000_000, "s": log_text.NS_PER_SECOND}
_EXPECTED = re.compile(r"\bETA\b")


@dataclass(frozen=True)
class _Bar:
    """The last state of an epoch's progress bar."""

    epoch: int
    steps: int
    seconds: int
    mean_ns: int


def recognise(path: Path, head: bytes) -> bool:
    """Whether it has progress bars of Keras."""
    return "keras" in loggers(path, head)


def read(path: Path, progress: Progress | None = None) -> Imported:
    """Reads the output of one training.

    Raises:
        DamagedSource: No epoch's bar can be read.
    """
    bars: dict[int, _Bar] = {}
    planned, epoch = 0, None
    for text in log_text.lines(path, progress):
        heading = _EPOCH.match(text)
        if heading is not None:
            epoch = int(heading[1])
            continue
        # Bars before the first epoch are of evaluate or predict.
        bar = _bar(text, epoch) if epoch is not None else None
        if bar is not None and (bar.epoch not in bars or bar.steps >= bars[bar.epoch].steps):
            bars[bar.epoch] = bar
            planned = max(planned, bar.steps)
    if not bars:
        raise DamagedSource(
            "no epoch with a progress bar",
            where=str(path),
            remedy="Run fit with verbose=1 or 2 and keep its output",
        )
    series = StatedSeries(
        name="train",
        unit="steps",
        producer="Keras console",
        lines=_lines(list(bars.values())),
        sampling_rule="at the end of each epoch",
        losses=[_rounding(list(bars.values()))],
    )
    record = record_of(series, path.name)
    return Imported(
        (NamedRecord("train", record, series.lines[-1].step),), path.name.partition(".")[0]
    )


def _bar(text: str, epoch: int) -> _Bar | None:
    match = _BAR.search(text)
    if match is None or _EXPECTED.search(text):
        return None
    seconds = 0
    for part in match["time"].split(":"):
        seconds = seconds * 60 + int(part)
    mean = log_text.number(match["mean"])
    if mean is None or seconds > 10**9:
        return None
    if match["done"] != match["steps"]:
        # Before the end of an epoch Keras 3 prints the time that is left.
        seconds = 0
    return _Bar(epoch, int(match["done"]), seconds, round(mean * _UNITS_NS[match["unit"]]))


def _lines(bars: list[_Bar]) -> list[Line]:
    lines, step = [], 0
    for bar in bars:
        step += bar.steps
        lines.append(
            Line(
                step=step,
                duration_ns=_duration_ns(bar),
                count=bar.steps,
                rate=log_text.NS_PER_SECOND / bar.mean_ns if bar.mean_ns else None,
            )
        )
    return lines


def _duration_ns(bar: _Bar) -> int:
    """Time of an epoch: the steps' mean time, unless the whole seconds say that it took longer."""
    steps_ns, whole_ns = bar.steps * bar.mean_ns, bar.seconds * log_text.NS_PER_SECOND
    return steps_ns if whole_ns < steps_ns + log_text.NS_PER_SECOND else whole_ns


def _rounding(bars: list[_Bar]) -> Diagnostic:
    what = "the times of an epoch are rounded, and no time stamps are printed"
    return Diagnostic(
        "epochs", what, len(bars), "Log with stepscope's callback to see single steps"
    )


FORMAT = Format("keras_log", "console output of Keras' fit", recognise, read)

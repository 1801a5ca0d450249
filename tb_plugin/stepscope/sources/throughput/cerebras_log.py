"""Console logs of Cerebras and torch_xla with `Rate=` and `GlobalRate=`.

Every phase and device is a series. The printed rates are kept as reported. Where the batch size and the start follow
from the log, samples are counted at the printed stamps, so that the rates can be computed; where they do not, nothing
is invented.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from stepscope.errors import DamagedSource
from stepscope.model.columns import Header, Strings
from stepscope.model.diagnostic import Diagnostic
from stepscope.model.throughput import UNKNOWN_NS, Marks, RateSamples, Reported, Spans, Throughput
from stepscope.sources.format import Format, Imported, NamedRecord, Progress
from stepscope.sources.throughput import log_text
from stepscope.sources.throughput.console_fit import Origin, asked_per_batch, begins, origin
from stepscope.sources.throughput.console_lines import ConsoleLog, Point, parse, series_of
from stepscope.sources.throughput.log_marks import loggers

_DEVICE = re.compile(r":(\d{1,9})/(\d{1,9})$")


def recognise(path: Path, head: bytes) -> bool:
    """Whether it is a text with printed rates."""
    return "rates" in loggers(path, head)


def read(path: Path, progress: Progress | None = None) -> Imported:
    """Reads a console log.

    Raises:
        DamagedSource: No line with rates can be read.
    """
    log = parse(log_text.lines(path, progress))
    if not log.points:
        raise DamagedSource(
            f"no line with Rate and GlobalRate can be read; broken are lines {log.broken[:5]}",
            where=str(path),
            remedy="Give the log as it was printed",
        )
    series = list(series_of(log))
    phases = Counter(phase for phase, _, _, _ in series)
    ranks = _ranks(series)
    named: list[NamedRecord] = []
    for number, (phase, device, points, begin_ns) in enumerate(series):
        name = f"{phase} {device}" if phases[phase] > 1 else phase
        header = _header(log, path, ranks.get(device, -1), first=not number)
        record = _record(log, header, name, phase, points, begin_ns)
        record = _without(record, {loss for other in named for loss in other.record.header.losses})
        named.append(NamedRecord(name, record, max(point.step for point in points)))
    return Imported(tuple(named), path.stem)


def _without(record: Throughput, said: set[Diagnostic]) -> Throughput:
    """A record without what is said with another series of the file."""
    losses = tuple(loss for loss in record.header.losses if loss not in said)
    return replace(record, header=replace(record.header, losses=losses))


def _ranks(series: Sequence[tuple[str, str, list[Point], int | None]]) -> dict[str, int]:
    """A rank for each torch_xla device: its own number where these differ, else its place among host and number."""
    places: dict[str, tuple[int, int]] = {}
    for _, device, _, _ in series:
        match = _DEVICE.search(device)
        if match is not None:
            places[device] = (int(match[1]), int(match[2]))
    numbers = [number for _, number in places.values()]
    if len(set(numbers)) == len(numbers):
        return {device: number for device, (_, number) in places.items()}
    ordered = sorted(places, key=lambda device: places[device])
    return {device: rank for rank, device in enumerate(ordered)}


def _record(
    log: ConsoleLog,
    header: Header,
    name: str,
    phase: str,
    points: Sequence[Point],
    begin_ns: int | None,
) -> Throughput:
    found = origin(points, begin_ns, log.batch_size if phase == "train" else 0)
    step = np.array([point.step for point in points])
    stamps = [point.time_ns for point in points]
    start = found.start_ns if found else begin_ns
    base = next((stamp for stamp in (start, *stamps) if stamp is not None), 0)
    time_ns = np.array([base if stamp is None else stamp for stamp in stamps]) - base
    rows = np.arange(len(points))
    words, spans = _spans(log, phase, base)
    return Throughput(
        header=replace(
            header,
            wall_anchor_ns=base if log.dated else 0,
            losses=(*header.losses, *_losses(log, points, found)),
        ),
        name=name,
        unit=points[0].unit,
        base_ns=0 if log.dated else base,
        start_ns=UNKNOWN_NS if start is None else 0,
        sampling_rule=_rule(points, found),
        log_every=int(np.median(np.diff(step))) if len(step) > 1 else 0,
        batch_size=found.batch_size if found else log.batch_size if phase == "train" else 0,
        measured_at="the host that receives outputs, as printed in its console log",
        strings=Strings.of(words),
        marks=Marks(step=step, time_ns=time_ns, count=_counts(step, found)),
        samples=RateSamples(step=step, time_ns=time_ns, mark_end=rows + 1),
        reported=Reported(
            sample=rows,
            local_samples_per_sec=np.array([point.rate for point in points]),
            avg_samples_per_sec=np.array([point.global_rate for point in points]),
        ),
        spans=spans,
    )


def _counts(step: np.ndarray, found: Origin | None) -> np.ndarray:
    if found is None:
        return np.full(len(step), -1)
    return np.diff(step, prepend=0) * found.batch_size


def _rule(points: Sequence[Point], found: Origin | None) -> str:
    if found is None and not begins([point.step for point in points]) and points[0].step > 0:
        return "unknown"
    if asked_per_batch(points):
        return "batch"
    return "log_step" if found or points[0].step == 0 else "unknown"


def _spans(log: ConsoleLog, phase: str, base: int) -> tuple[list[str], Spans]:
    if phase != "train":
        return [], Spans()
    rows = [(0, begin - base, end - base) for begin, end in log.checkpoints if end is not None]
    evaluations = [
        point.time_ns for point in log.points if point.phase == "eval" and point.time_ns is not None
    ]
    trained = [
        point.time_ns
        for point in log.points
        if point.phase == "train" and point.time_ns is not None
    ]
    inner = [stamp for stamp in evaluations if trained and trained[0] < stamp < trained[-1]]
    if inner:
        begins = [stamp for _, stamp in log.begins if trained[0] < stamp <= inner[0]]
        rows.append((1, (begins[-1] if begins else inner[0]) - base, inner[-1] - base))
    kind, start, end = np.array(rows, np.int64).reshape(-1, 3).T
    return ["checkpoint", "evaluation"], Spans(kind=kind, start_ns=start, end_ns=end)


def _header(log: ConsoleLog, path: Path, rank: int, *, first: bool) -> Header:
    """The header of a series; what is wrong with the file as a whole is said with the first one."""
    losses = []
    if log.broken and first:
        remedy = "Look at the line: it may be cut off, or two processes wrote into it"
        what = "lines with rates that cannot be read"
        losses.append(Diagnostic(f"line {log.broken[0]}", what, len(log.broken), remedy))
    return Header(rank=rank, producer="console log", source=path.name, losses=tuple(losses))


def _losses(log: ConsoleLog, points: Sequence[Point], found: Origin | None) -> list[Diagnostic]:
    losses = []
    if any(point.time_ns is None for point in points):
        remedy = "Only steps and printed rates can be shown"
        losses.append(Diagnostic("rates", "no time is printed", len(points), remedy))
    if found is None:
        what = "batch size and start do not follow from the log; rates are shown as printed"
        losses.append(Diagnostic("start", what, 0, "Give the log from its first line"))
    elif not log.batch_size:
        what = f"the batch size is not printed; {found.batch_size} follows from GlobalRate, steps and stamps"
        losses.append(Diagnostic("batch size", what, 0, "Nothing to do where it is right"))
    return losses


FORMAT = Format(
    "cerebras_log",
    "console log with Rate and GlobalRate, of Cerebras or torch_xla",
    recognise,
    read,
)

"""The lines of a console log that tell of rates, checkpoints and starts, in all variants of Cerebras and torch_xla."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime, timezone

from stepscope.sources.throughput import figures

NS_PER_SECOND = 1_000_000_000
DAY_NS = 86_400 * NS_PER_SECOND

_COLOURS = re.compile(r"\x1b\[[0-9;]*m")
_STAMP = re.compile(r"(\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d)(?:[.,](\d{1,9}))?")
_RATES = r"(?=.*\bRate=.*\bGlobalRate=)"
_RATE_LINES = tuple(
    re.compile(pattern + _RATES, re.IGNORECASE)
    for pattern in (
        r"\|\s*(?P<phase>Train|Eval|Valid|Test)\w*[\s:]\s*",
        # torch_xla before it printed words, and the loops that were written after its examples.
        r"\[(?P<device>xla:\d+(?:/\d+)?)\]\s*\((?P<step>\d+)\)",
        r"\b(?P<phase>Train|Eval|Valid|Test)\w*/\s*(?P<clock>[\d:]{8}), device (?P<device>[^,\s]+), step (?P<step>\d+)",
    )
)
_PAIR = re.compile(r"(\w+)[=>]\s*([^\s,]+)(?:\s+(\w+)/s(?:ec)?\b)?")
_DATE = re.compile(r"\b[A-Z][a-z]{2} ([A-Z][a-z]{2} {1,2}\d{1,2} \d\d:\d\d:\d\d \d{4})\b")
_CLOCK = re.compile(r"\b(\d\d):(\d\d):(\d\d)\b")
_SAVING = re.compile(r"Saving checkpoint at (?:global )?step \d")
_SAVED = re.compile(r"Saved checkpoint\b")
_BEGIN = re.compile(r"Beginning appliance run|Epoch \d+ (train|test) begin")
_BATCH = re.compile(r"Effective batch size is (\d{1,12})\b")


@dataclass(frozen=True)
class Point:
    """A printed pair of rates.

    Attributes:
        time_ns: Unix time (stamps taken as UTC), time since midnight, or None where no time is printed.
        precision: Half a unit of the last digit of GlobalRate.
    """

    phase: str
    device: str
    step: int
    rate: float
    global_rate: float
    time_ns: int | None
    unit: str
    precision: float


@dataclass
class ConsoleLog:
    """What a console log tells.

    Attributes:
        begins: When loops began, with the number of points printed before.
        checkpoints: Begin and end of each; None where the end is not printed.
        dated: Whether times are Unix times.
        broken: Lines that look like rates and cannot be read.
    """

    points: list[Point] = field(default_factory=list)
    begins: list[tuple[int, int]] = field(default_factory=list)
    checkpoints: list[tuple[int, int | None]] = field(default_factory=list)
    batch_size: int = 0
    dated: bool = True
    broken: list[int] = field(default_factory=list)


def parse(lines: Iterable[str]) -> ConsoleLog:
    """Reads a log line by line; what is not understood is passed over."""
    log = ConsoleLog()
    day = _Days()
    for number, raw in enumerate(lines, 1):
        line = _COLOURS.sub("", raw)
        rates = next((found for pattern in _RATE_LINES if (found := pattern.search(line))), None)
        stamp = _stamp(line, rates.start() if rates else len(line))
        if rates is not None:
            _take_point(log, day, line, rates, stamp, number)
        else:
            _take_event(log, day, line, stamp)
    log.dated = not day.used
    return log


class _Days:
    """Times without a date: when one lies far before the last, a day has passed."""

    def __init__(self) -> None:
        self._last = 0
        self._days = 0
        self.used = False

    def absolute(self, line: str) -> int | None:
        found = _CLOCK.search(line)
        if found is None:
            return None
        self.used = True
        hours, minutes, seconds = map(int, found.groups())
        time_ns = (hours * 3600 + minutes * 60 + seconds) * NS_PER_SECOND
        if time_ns < self._last - DAY_NS // 2:
            self._days += 1
        self._last = time_ns
        return self._days * DAY_NS + time_ns


_LAST_YEAR = 2262
"""In it nanoseconds leave 64 bits."""


def _stamp(line: str, end: int) -> int | None:
    """The stamp before the message, or the date that stands in it in full."""
    found = list(_STAMP.finditer(line, 0, end))
    date = None if found else _DATE.search(line)
    whole, fraction = found[-1].groups() if found else (date[1] if date else "", None)
    try:
        moment = datetime.strptime(whole, "%b %d %H:%M:%S %Y") if date else datetime.fromisoformat(whole)
    except ValueError:
        return None
    if moment.year >= _LAST_YEAR:
        return None
    second = int(moment.replace(tzinfo=timezone.utc).timestamp())
    return second * NS_PER_SECOND + int((fraction or "0").ljust(9, "0"))


def _take_point(log: ConsoleLog, day: _Days, line: str, rates: re.Match[str], stamp: int | None, number: int) -> None:
    head = rates.groupdict()
    pairs = {key: (value, unit) for key, value, unit in _PAIR.findall(line[rates.end() :])}
    text, unit = pairs.get("Rate", ("", ""))
    total = pairs.get("GlobalRate", ("", ""))[0]
    steps = (head.get("step"), *(pairs.get(word, ("", ""))[0] for word in ("Batch", "Step", "GlobalStep")))
    clock = head.get("clock") or pairs.get("Time", ("", ""))[0]
    if stamp is None:
        stamp = day.absolute(clock)
    local, average, at = figures.rate(text), figures.rate(total), figures.whole(next(filter(None, steps), ""))
    if local is None or average is None or at is None or at < 0:
        log.broken.append(number)
        return
    point = Point(
        phase="train" if (head.get("phase") or "train").lower() == "train" else "eval",
        device=head.get("device") or pairs.get("Device", ("", ""))[0],
        step=at,
        rate=local,
        global_rate=average,
        time_ns=stamp,
        unit=unit or "samples",
        precision=0.5 * 10.0 ** -len(total.partition(".")[2]),
    )
    log.points.append(point)


def _take_event(log: ConsoleLog, day: _Days, line: str, stamp: int | None) -> None:
    batch = _BATCH.search(line)
    if batch:
        log.batch_size = int(batch[1])
    if _BEGIN.search(line):
        stamp = day.absolute(line) if stamp is None else stamp
        if stamp is not None:
            log.begins.append((len(log.points), stamp))
    if stamp is None:
        return
    if _SAVING.search(line):
        log.checkpoints.append((stamp, None))
    elif _SAVED.search(line) and log.checkpoints and log.checkpoints[-1][1] is None:
        log.checkpoints[-1] = (log.checkpoints[-1][0], stamp)


def series_of(log: ConsoleLog) -> Iterator[tuple[str, str, list[Point], int | None]]:
    """Each phase and device with its points, and when its loop began where the log says so."""
    groups: dict[tuple[str, str], list[tuple[int, Point]]] = {}
    for index, point in enumerate(log.points):
        groups.setdefault((point.phase, point.device), []).append((index, point))
    for (phase, device), members in groups.items():
        first = members[0][0]
        # A loop's begin line stands right before its own points, or before those of the devices beside it.
        begins = [stamp for before, stamp in log.begins if before <= first and _same(log, before, first, phase)]
        yield phase, device, [point for _, point in members], begins[-1] if begins else None


def _same(log: ConsoleLog, low: int, high: int, phase: str) -> bool:
    return all(point.phase == phase for point in log.points[low:high])

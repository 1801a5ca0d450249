"""Lines of console logs of Cerebras and torch_xla: rates, checkpoints and starts."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timezone

from stepscope.sources.throughput import figures

NS_PER_SECOND = 1_000_000_000
DAY_NS = 86_400 * NS_PER_SECOND

_COLOURS = re.compile(r"\x1b\[[0-9;]*m")
_STAMP = re.compile(r"(\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d)(?:[.,](\d{1,9}))?")
_RATES = r"(?=.*\bRate=.*\bGlobalRate=)"
_PHASE = r"(?P<phase>Train|Eval|Valid|Test)\w*"
_RATE_LINES = (
    re.compile(rf"\|\s*{_PHASE}[\s:]\s*{_RATES}", re.IGNORECASE),
    # torch_xla before it printed words, and the loops that were written after its examples.
    re.compile(rf"\[(?P<device>xla:\d+(?:/\d+)?)\]\s*\((?P<step>\d+)\){_RATES}", re.IGNORECASE),
    re.compile(
        rf"\b{_PHASE}/\s*(?P<clock>[\d:]{{8}}), device (?P<device>[^,\s]+), step (?P<step>\d+){_RATES}",
        re.IGNORECASE,
    ),
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
        time_ns: Unix time (timestamps taken as UTC), time since midnight, or None where no time
            is printed.
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
    """The contents of a console log.

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
    """Reads a log line by line; other lines are passed over."""
    log = ConsoleLog()
    day = _Days()
    for number, raw in enumerate(lines, 1):
        line = _COLOURS.sub("", raw)
        rates = _rate_match(line)
        if rates is None:
            _take_event(log, day, line, _stamp(line, len(line)))
            continue
        point = _point(day, line, rates)
        if point is None:
            log.broken.append(number)
        else:
            log.points.append(point)
    log.dated = not day.used
    return log


def _rate_match(line: str) -> re.Match[str] | None:
    """The head of a line of rates, None for any other line."""
    for pattern in _RATE_LINES:
        match = pattern.search(line)
        if match is not None:
            return match
    return None


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
"""In this year nanoseconds leave 64 bits."""


def _stamp(line: str, end: int) -> int | None:
    """The timestamp before the message, or the full date in it."""
    stamps = list(_STAMP.finditer(line, 0, end))
    if stamps:
        whole, fraction = stamps[-1].groups()
        return _unix_ns(whole, fraction or "", datetime.fromisoformat)
    date = _DATE.search(line)
    if date is None:
        return None
    return _unix_ns(date[1], "", _parse_date)


def _parse_date(text: str) -> datetime:
    """A date as C's `ctime` prints it, without the day of the week."""
    return datetime.strptime(text, "%b %d %H:%M:%S %Y")


def _unix_ns(text: str, fraction: str, parse: Callable[[str], datetime]) -> int | None:
    """The Unix time of a date in UTC with the digits of its fraction, None for an invalid date."""
    try:
        moment = parse(text)
    except ValueError:
        return None
    if moment.year >= _LAST_YEAR:
        return None
    second = int(moment.replace(tzinfo=timezone.utc).timestamp())
    return second * NS_PER_SECOND + int(fraction.ljust(9, "0"))


def _point(day: _Days, line: str, rates: re.Match[str]) -> Point | None:
    """The rates of a line, None where they cannot be read."""
    head = rates.groupdict()
    values: dict[str, str] = {}
    units: dict[str, str] = {}
    for key, value, unit in _PAIR.findall(line[rates.end() :]):
        values[key] = value
        units[key] = unit
    stamp = _stamp(line, rates.start())
    if stamp is None:
        stamp = day.absolute(head.get("clock") or values.get("Time", ""))
    average = values.get("GlobalRate", "")
    local_rate = figures.rate(values.get("Rate", ""))
    average_rate = figures.rate(average)
    step = figures.whole(_step_text(head, values))
    if local_rate is None or average_rate is None or step is None or step < 0:
        return None
    phase = "train"
    if (head.get("phase") or phase).lower() != "train":
        phase = "eval"
    return Point(
        phase=phase,
        device=head.get("device") or values.get("Device", ""),
        step=step,
        rate=local_rate,
        global_rate=average_rate,
        time_ns=stamp,
        unit=units.get("Rate") or "samples",
        precision=0.5 * 10.0 ** -len(average.partition(".")[2]),
    )


def _step_text(head: Mapping[str, str | None], values: Mapping[str, str]) -> str:
    """The step as printed: in the head of the line, else under one of its names."""
    texts = [head.get("step")]
    texts.extend(values.get(word) for word in ("Batch", "Step", "GlobalStep"))
    return next(filter(None, texts), "")


def _take_event(log: ConsoleLog, day: _Days, line: str, stamp: int | None) -> None:
    batch = _BATCH.search(line)
    if batch:
        log.batch_size = int(batch[1])
    if _BEGIN.search(line):
        if stamp is None:
            stamp = day.absolute(line)
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
        points = [point for _, point in members]
        yield phase, device, points, _begin_ns(log, first, phase)


def _begin_ns(log: ConsoleLog, first: int, phase: str) -> int | None:
    """The begin of the loop with this first point, None where the log does not print it."""
    begin_ns: int | None = None
    for before, stamp in log.begins:
        # The line of a loop's begin stands right before its points, or those of other devices.
        between = log.points[before:first]
        if before <= first and all(point.phase == phase for point in between):
            begin_ns = stamp
    return begin_ns

"""Lines of a console log, and what loggers and launchers put before a message."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime, timezone
from pathlib import Path

from stepscope.sources.content import content
from stepscope.sources.format import Progress
from stepscope.sources.throughput import figures

NS_PER_SECOND = 1_000_000_000
LAST_YEAR = 2262
"""In it nanoseconds leave 64 bits."""

_CONTROL = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b\][^\x07]*\x07")
_STAMP = re.compile(r"(\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d)(?:[.,](\d{1,9}))?")
_SHORT_STAMP = re.compile(r"(?:^|[\s:\]])[IWEF](\d\d)(\d\d) (\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?\s")
_RANK = re.compile(
    r"^\s*(?:\[(?:rank|default)?(\d{1,7})\]\s*:|(?:[\w.-]+:\s*)?(?:rank)?(\d{1,7})\s*:(?!\d))"
    r"|\[Rank (\d{1,7})\]|\brank[= ](\d{1,7})\b",
    re.IGNORECASE,
)
LEAP_YEAR = 2000
"""The year of stamps that have none, so that 29 February is a day."""


def lines(path: Path, progress: Progress | None = None) -> list[str]:
    """The lines of a text file, without colours. What a progress bar overwrote is a line of its own."""
    with content(path) as data:
        text = bytes(data).decode("utf-8", "replace")
    if progress is not None:
        progress(len(text), len(text))
    plain = _CONTROL.sub("", text)
    return re.split(r"[\r\n\x08]+", plain)


def stamp(line: str, end: int | None = None) -> int | None:
    """Unix ns of the last date and time before a position, taken as UTC; None where there is none.

    A stamp without a year, as glog prints it, counts from the year 2000.
    """
    limit = len(line) if end is None else end
    dates = list(_STAMP.finditer(line, 0, limit))
    if dates:
        return _nanoseconds(dates[-1][1], dates[-1][2])
    short = _SHORT_STAMP.search(line, 0, limit)
    if short is None:
        return None
    month, day, clock, fraction = short.groups()
    return _nanoseconds(f"{LEAP_YEAR}-{month}-{day} {clock}", fraction)


def _nanoseconds(whole: str, fraction: str | None) -> int | None:
    try:
        moment = datetime.fromisoformat(whole)
    except ValueError:
        return None
    if moment.year >= LAST_YEAR:
        return None
    second = int(moment.replace(tzinfo=timezone.utc).timestamp())
    return second * NS_PER_SECOND + int((fraction or "0").ljust(9, "0"))


def rank(line: str, end: int | None = None) -> int:
    """The rank that a launcher printed before a line, as `[rank3]:`, `3:` and `[default3]:` do; -1 for none."""
    match = _RANK.search(line, 0, len(line) if end is None else end)
    if match is None:
        return -1
    number = next(group for group in match.groups() if group is not None)
    return int(number)


def pairs(text: str, separator: str = "|") -> Iterator[tuple[str, str]]:
    """The `key: value` parts of a line, keys in lower case."""
    for part in text.split(separator):
        key, colon, value = part.rpartition(":")
        if colon:
            yield key.strip().lower(), value.strip()


def number(text: str | None) -> float | None:
    """A number that is not negative, with or without thousands separators; None for anything else."""
    return None if text is None else figures.rate(text.replace(",", "").strip())


def whole(text: str | None) -> int | None:
    """A whole number that is not negative, with or without thousands separators; None for anything else."""
    value = None if text is None else figures.whole(text.replace(",", "").strip())
    return value if value is not None and value >= 0 else None

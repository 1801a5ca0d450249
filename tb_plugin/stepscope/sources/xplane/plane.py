"""What the lines, events and stats of a plane say."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stepscope.model.arrays import I64, Bools
from stepscope.sources.wire import Messages, decode, read_numbers
from stepscope.sources.xplane.file import EVENTS_FIELD, events_start, parse_line
from stepscope.sources.xplane.runs import find_run

EVENT_METADATA, EVENT_OFFSET, EVENT_DURATION, EVENT_STATS = 1, 2, 3, 4

StatValue = int | float | str | bytes


@dataclass(frozen=True)
class Events:
    """The events of a line, in the order of the file.

    Attributes:
        line: The line's name.
        timestamp_ns: What the offsets are relative to.
        damaged: How many events do not hold together; they are left out.
    """

    line: str
    timestamp_ns: int
    metadata_id: I64
    offset_ps: I64
    duration_ps: I64
    messages: Messages
    damaged: int = 0

    def __len__(self) -> int:
        return len(self.metadata_id)

    def take(self, rows: I64 | Bools) -> Events:
        """Some of the events."""
        return replace(
            self,
            metadata_id=self.metadata_id[rows],
            offset_ps=self.offset_ps[rows],
            duration_ps=self.duration_ps[rows],
            messages=self.messages.take(rows),
        )

    def starts_ps(self, base_ns: int) -> I64:
        """Starts relative to a base."""
        return self.offset_ps + (self.timestamp_ns - base_ns) * 1000

    def stats(self) -> EventStats:
        """The stats of all events."""
        messages = decode(self.messages).messages_of(EVENT_STATS)
        stats = decode(messages)
        kind = np.zeros(len(stats), np.int64)
        bits = np.zeros(len(stats), np.int64)
        start = np.zeros(len(stats), np.int64)
        end = np.zeros(len(stats), np.int64)
        for number in _NUMBER_KINDS:
            value, is_present = stats.optional_ints(number)
            kind[is_present] = number
            bits += value
        for number in _TEXT_KINDS:
            text_start, text_end = stats.spans(number)
            is_present = text_start > 0
            kind[is_present] = number
            start[is_present] = text_start[is_present]
            end[is_present] = text_end[is_present]
        return EventStats(
            event=messages.owner,
            metadata_id=stats.ints(1),
            kind=kind,
            bits=bits,
            start=start,
            end=end,
            events=len(self),
            data=self.messages.data,
        )


_DOUBLE, _UINT64, _INT64, _STRING, _BYTES, _REFERENCE = 2, 3, 4, 5, 6, 7
_LARGEST = 2.0**62
_NUMBER_KINDS = (_DOUBLE, _UINT64, _INT64, _REFERENCE)
_TEXT_KINDS = (_STRING, _BYTES)


@dataclass(frozen=True)
class EventStats:
    """Stats of the events of a line, one row per stat.

    Attributes:
        event: The event it belongs to.
        kind: Field number of the value in an XStat.
        bits: The value of a number or reference; of a double its bits.
        start: Offset of a text in `data`.
        end: Offset after it.
        events: How many events the line has.
    """

    event: I64
    metadata_id: I64
    kind: I64
    bits: I64
    start: I64
    end: I64
    events: int
    data: NDArray[np.uint8]

    def integers(self, ids: Iterable[int], default: int = 0) -> I64:
        """Per event the integer of the stat with one of the ids."""
        column = np.full(self.events, default, np.int64)
        rows = np.flatnonzero(self._has(ids) & np.isin(self.kind, (_UINT64, _INT64, _DOUBLE)))
        value = self.bits[rows]
        double = self.kind[rows] == _DOUBLE
        value[double] = np.rint(
            np.clip(np.nan_to_num(value[double].view(np.float64)), -_LARGEST, _LARGEST)
        )
        column[self.event[rows]] = value
        return column

    def texts(self, ids: Iterable[int], names: Mapping[int, str]) -> list[str]:
        """Per event the text of the stat with one of the ids, empty where there is none."""
        column = [""] * self.events
        for row in np.flatnonzero(self._has(ids)).tolist():
            kind = int(self.kind[row])
            if kind == _REFERENCE:
                column[self.event[row]] = names.get(int(self.bits[row]), "")
            elif kind in (_STRING, _BYTES):
                column[self.event[row]] = text(self.data[self.start[row] : self.end[row]].tobytes())
            else:
                column[self.event[row]] = str(self.bits[row])
        return column

    def _has(self, ids: Iterable[int]) -> Bools:
        return np.isin(self.metadata_id, np.fromiter(ids, np.int64))


class PlaneView:
    """A plane with its tables at hand."""

    def __init__(self, plane: Any) -> None:
        self.plane = plane
        self.name = text(plane.name)
        self._events: dict[int, Events] = {}

    @cached_property
    def stat_names(self) -> dict[int, str]:
        """Names of stats, which are also the texts that stats refer to, by id."""
        return {key: text(value.name) for key, value in self.plane.stat_metadata.items()}

    def stats(self, stats: Iterable[Any]) -> dict[str, StatValue]:
        """Stats by name; a text that is given by reference is looked up."""
        return {self.stat_names.get(s.metadata_id, ""): self._value(s) for s in stats}

    def _value(self, stat: Any) -> StatValue:
        kind = stat.WhichOneof("value")
        if kind is None:
            return 0
        value = getattr(stat, kind)
        if kind == "ref_value":
            return self.stat_names.get(value, "")
        return text(value) if kind == "str_value" else value

    def stat_ids(self, *names: str) -> list[int]:
        """Ids of the stats with one of the names."""
        return [key for key, name in self.stat_names.items() if name in names]

    def event_name(self, key: int) -> str:
        """The name of an event's metadata, empty when there is none."""
        metadata = self.plane.event_metadata
        return text(metadata[key].name) if key in metadata else ""

    def lines(self, *names: str) -> Iterator[Events]:
        """The events of the lines with one of the names, or of all lines."""
        for i, name in enumerate(self._line_names):
            if not names or name in names:
                if i not in self._events:
                    self._events[i] = _events(name, self.plane.lines[i])
                yield self._events[i]

    @cached_property
    def _line_names(self) -> list[str]:
        return [text(parse_line(body[: events_start(body)]).name) for body in self.plane.lines]


def _line(body: bytes) -> tuple[int, Messages]:
    """The time stamp and the events of a line."""
    start = events_start(body)
    run = find_run(body, start, EVENTS_FIELD)
    if run:
        messages, after = run
        rest = parse_line(body[:start] + body[after:])
        if not rest.events:
            return int(rest.timestamp_ns), messages
    line = parse_line(body)
    return int(line.timestamp_ns), Messages.of(line.events)


def _events(name: str, body: bytes) -> Events:
    timestamp_ns, messages = _line(body)
    columns = read_numbers(messages, (EVENT_METADATA, EVENT_OFFSET, EVENT_DURATION))
    duration_ps = columns.values[EVENT_DURATION]
    is_bad = columns.damaged | (duration_ps < 0)
    events = Events(
        line=name,
        timestamp_ns=timestamp_ns,
        metadata_id=columns.values[EVENT_METADATA],
        offset_ps=columns.values[EVENT_OFFSET],
        duration_ps=duration_ps,
        messages=messages,
        damaged=int(is_bad.sum()),
    )
    return events.take(~is_bad) if events.damaged else events


def base_ns(lines: Iterable[Events]) -> int:
    """The earliest of the lines' time stamps."""
    return min((line.timestamp_ns for line in lines if len(line)), default=0)


def window_ps(lines: Iterable[Events], base: int) -> tuple[int, int]:
    """Start of the first and end of the last event of the lines, relative to a base; 0 where there are none."""
    spans = [(line.starts_ps(base), line.duration_ps) for line in lines if len(line)]
    first = min((int(start.min()) for start, _ in spans), default=0)
    return first, max((int(np.max(start + duration)) for start, duration in spans), default=0)


def text(value: bytes) -> str:
    """Text of a file whose bytes may be damaged."""
    return value.decode("utf-8", "replace")

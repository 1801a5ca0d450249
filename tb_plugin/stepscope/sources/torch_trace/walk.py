"""The events of a broken part of a trace, one by one.

Each place is passed at most a fixed number of times, so that the time grows with the size.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

from msgspec import Raw

from stepscope.sources.torch_trace.event import BLANK, EVENT_KEY, Event, Id
from stepscope.sources.torch_trace.repair import parse_leniently, rest_of_list, salvage, value_at

_OPENING = re.compile(rb"\{\s*" + EVENT_KEY)
_ARRAY = re.compile(rb'"traceEvents"\s*:\s*\[')
_LIST_END = re.compile(rb'\](?=\s*(?:,\s*"|,?\s*\}|\[|\Z))')
_LAST_EVENT_END = re.compile(rb'\}(?=[\s,]*\]\s*(?:,\s*"|,?\s*\}|\[|\Z))')
_PHASE = b'"ph"'
_MOST_JOINED = 8
"""Parts that look like events and may be of one that is broken."""
_MOST_FAILURES = 512
"""Broken events in a row after which the rest of a part is given up."""
_LONGEST_WORD = 16
"""A word at the end of the data may be the start of a longer one."""

Decode = Callable[[bytes], list[Event] | None]


class EventWalk:
    """A walk through a broken part of a list of events.

    Args:
        data: The part. It starts between two events.
        decode: Decodes a piece that holds whole events only; None where it is broken.
        is_final: Whether the file ends with the data.

    Attributes:
        events: What could be had.
        end: Where the walk ended: at an event that the data holds the start of, or at the end.
        has_ended: Whether the list of events has ended.
        cut_off: Whether the file ends inside an event, or before the end of the list.
        repaired, dropped: Events that were not valid JSON, understood or not.
        arrays: Further lists of events that start in the data.
    """

    def __init__(self, data: bytes, decode: Decode, is_final: bool) -> None:
        self.events: list[Event] = []
        self.end = 0
        self.has_ended = False
        self.cut_off = False
        self.repaired = 0
        self.dropped = 0
        self.arrays = 0
        self._data = data
        # One character a byte, so that places in the text are places in the data.
        self._text = data.decode("latin-1")
        self._decode = decode
        self._is_final = is_final
        self._whole_from = -1

    def run(self) -> None:
        """Walks to the end of the list or of the data."""
        failures = 0
        while not self.has_ended and failures < _MOST_FAILURES:
            start = self._next_opening()
            if start < 0:
                return
            value_end, error = value_at(self._text, start)
            if value_end > 0:
                self._pass(start, value_end)
                failures = 0
                continue
            self._take_whole()
            if self._is_incomplete(error):
                self.end = start
                self._finish_incomplete()
                return
            failures = 0 if self._repair(start) else failures + 1
        self._take_whole()
        if not self.has_ended:
            self.dropped += 1
            self.end = len(self._data)

    def _next_opening(self) -> int:
        """Passes over what lies before the next event; -1 at the end of the list or of the data."""
        opening = _OPENING.search(self._data, self.end)
        if opening is None:
            self._take_whole()
            self._finish_list()
            return -1
        start = opening.start()
        between = self._data[self.end : start]
        if not between.strip(BLANK):
            return start
        self._take_whole()
        bracket = self._data.find(b"]", self.end, start)
        is_first = bracket >= 0 and not self._data[self.end : bracket].strip(BLANK)
        list_end = _LIST_END.match(self._data, bracket) if is_first else None
        if list_end is not None and _ARRAY.search(between) is None:
            self.end = list_end.end()
            self.has_ended = True
            return -1
        self._note_junk(between)
        return start

    def _finish_list(self) -> None:
        """Ends the list where no further event starts. Before the file's end, more may follow."""
        values, end = rest_of_list(self._text[self.end :])
        list_end = _LIST_END.search(self._data, self.end)
        if values >= 0:
            self.dropped += values
            self.end += end
            self.has_ended = True
        elif list_end is not None:
            self._note_junk(self._data[self.end : list_end.start()])
            self.end = list_end.end()
            self.has_ended = True
        elif self._is_final:
            self.cut_off = True
            self.has_ended = True
            self.end = len(self._data)

    def _note_junk(self, between: bytes) -> None:
        """Counts what is no event."""
        if _ARRAY.search(between):
            self.arrays += 1
        elif between.strip(BLANK).strip(b"]" + BLANK):
            self.dropped += 1

    def _pass(self, start: int, end: int) -> None:
        """Notes a whole event. Those in a row are decoded at once."""
        if self._whole_from < 0:
            self._whole_from = start
        self.end = end

    def _take_whole(self) -> None:
        """Decodes the whole events before the place that the walk is at."""
        if self._whole_from < 0:
            return
        piece = self._data[self._whole_from : self.end]
        self._whole_from = -1
        events = self._decode(piece)
        if events is not None:
            self._add(events)
            return
        # Some have odd types or raw control characters: each for itself.
        text = piece.decode("latin-1")
        at = 0
        while (opening := text.find("{", at)) >= 0:
            end, _ = value_at(text, opening)
            if end < 0:
                return
            self._take_one(piece[opening:end])
            at = end

    def _take_one(self, piece: bytes) -> None:
        events = self._decode(piece)
        if events is None:
            fields = parse_leniently(piece)
            events = [] if fields is None else [_event(fields)]
        self._add(events)

    def _add(self, events: list[Event]) -> None:
        """Takes whole events. Among broken ones, one without a name is a part of one."""
        named = [event for event in events if event.name or event.ph != "X"]
        self.dropped += len(events) - len(named)
        self.events += named

    def _is_incomplete(self, error: int) -> bool:
        """Whether an event breaks off where the data ends."""
        return error >= len(self._data) - _LONGEST_WORD

    def _finish_incomplete(self) -> None:
        """At the end of the file an event that breaks off is lost. Else the next data completes it."""
        if self._is_final:
            self.cut_off = True
            self.has_ended = True
            self.end = len(self._data)

    def _repair(self, start: int) -> bool:
        """Takes the broken event that starts at a place; whether it could be understood."""
        fields = None
        end = self._event_after(start + 1)
        first_end = end
        for _ in range(_MOST_JOINED):
            piece = self._data[start:end].rstrip(BLANK)
            fields = parse_leniently(piece)
            is_balanced = piece.count(b"{") <= piece.count(b"}")
            if fields is not None or is_balanced or end == len(self._data):
                break
            end = self._event_after(end + 1)
        if fields is None:
            end = first_end
            fields = salvage(self._data[start:end].rstrip(BLANK))
        self.end = end
        if fields is None:
            self.dropped += 1
            return False
        self.repaired += 1
        self.events.append(_event(fields))
        return True

    def _event_after(self, place: int) -> int:
        """Where the next event starts, else where the list or the data ends.

        Objects in lists of arguments have keys of events too, but no phase.
        """
        opening = _OPENING.search(self._data, place)
        while opening is not None:
            following = _OPENING.search(self._data, opening.end())
            end = following.start() if following else len(self._data)
            if self._data.find(_PHASE, opening.start(), end) >= 0:
                return opening.start()
            opening = following
        last = _LAST_EVENT_END.search(self._data, place)
        return last.start() + 1 if last else len(self._data)


def _event(fields: dict[str, Any]) -> Event:
    """An event from a repaired dictionary, whatever the types of its values."""
    args = fields.get("args")
    name = fields.get("name")
    category = fields.get("cat")
    return Event(
        ph=str(fields.get("ph", "")),
        cat=None if category is None else str(category),
        name="" if name is None else str(name),
        pid=_id(fields.get("pid")),
        tid=_id(fields.get("tid")),
        ts=_number(fields.get("ts")),
        dur=_number(fields.get("dur")),
        id=_id(fields.get("id")),
        args=Raw(json.dumps(args).encode()) if isinstance(args, dict) else Raw(b""),
    )


def _number(value: object) -> Raw:
    if isinstance(value, str | int):
        return Raw(str(value).encode("ascii", "replace"))
    return Raw(b"")


def _id(value: object) -> Id:
    if isinstance(value, int) or value is None:
        return value
    return str(value)

"""Typed events from the bytes of a trace, in batches, whatever the file's size and its damage.

The list of events is cut between two events, and each piece is decoded at once. The decoder accepts
only a whole list, so a piece that decodes was cut rightly. A piece that does not is cut by its
braces; where it is broken, `EventWalk` goes through it event by event.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator

import msgspec
import numpy as np

from stepscope.errors import DamagedSource, LimitExceeded
from stepscope.model.arrays import Array
from stepscope.sources.torch_trace.bytes import ByteChunks
from stepscope.sources.torch_trace.event import BLANK, EVENT_KEY, UNREADABLE, Event
from stepscope.sources.torch_trace.walk import EventWalk

MAX_EVENT_BYTES = 64 << 20
MAX_HEADER_BYTES = 256 << 20

_ARRAY = re.compile(rb'"traceEvents"\s*:\s*\[')
_BETWEEN = re.compile(rb"\}[\s,]*(?=\{\s*" + EVENT_KEY + rb")")
_NEXT_ARRAY = re.compile(rb'"traceEvents"\s*:\s*\[|\A\s*\[(?=\s*\{)')
_TAIL_BYTES = 1 << 16


_decoder = msgspec.json.Decoder(list[Event])


class EventStream:
    """Iterates over a trace's events in batches of about a megabyte of text.

    Attributes:
        skeleton: After the last batch, the file without its events: an object with an empty
            `traceEvents`.
        repaired: Events that were not valid JSON and could be understood.
        dropped: Events of which nothing could be had.
        replaced: Pieces with bytes that are not UTF-8.
        cut_off: Whether the file ends inside the list of events.
        arrays: How many lists of events the file holds. Several are those of files put one after
            the other.
    """

    def __init__(self, chunks: ByteChunks) -> None:
        self.skeleton = b"{}"
        self.repaired = 0
        self.dropped = 0
        self.replaced = 0
        self.cut_off = False
        self.arrays = 1
        self._where = str(chunks.path)
        self._chunks = iter(chunks)
        self._head = b""

    def __iter__(self) -> Iterator[list[Event]]:
        data = self._find_array()
        while True:
            data, is_final = self._read_on(data)
            events, rest, has_ended = self._take(data, is_final)
            if events:
                yield events
            if has_ended:
                following = self._next_array(rest)
                if following is None:
                    return
                rest = following
            if len(rest) > MAX_EVENT_BYTES:
                raise LimitExceeded(
                    "one event of more than 64 MiB",
                    where=self._where,
                    remedy="Check that the file is a trace",
                )
            data = rest

    def _read_on(self, rest: bytes) -> tuple[bytes, bool]:
        """The rest and what follows, at least as much again; and whether the file ends there."""
        parts = [rest]
        added = 0
        while added == 0 or added < len(rest):
            chunk = next(self._chunks, b"")
            if not chunk:
                return b"".join(parts), True
            parts.append(chunk)
            added += len(chunk)
        return b"".join(parts), False

    def _find_array(self) -> bytes:
        """Reads up to the list of events; returns what was read of the list."""
        data = b""
        for chunk in self._chunks:
            data = (data + chunk).removeprefix(b"\xef\xbb\xbf")
            if data.lstrip().startswith(b"["):
                self._head = b'{"traceEvents":['
                return data.lstrip()[1:]
            if opening := _ARRAY.search(data):
                self._head = data[: opening.end()]
                return data[opening.end() :]
            if len(data) > MAX_HEADER_BYTES:
                break
        if not data.strip():
            raise DamagedSource("empty file", where=self._where, remedy="Export the trace again")
        raise DamagedSource(
            "not a trace: no list of traceEvents",
            where=self._where,
            remedy="Give a file that torch.profiler exported (export_chrome_trace, tensorboard_trace_handler)",
        )

    def _next_array(self, rest: bytes) -> bytes | None:
        """Reads on to another list of events; None at the file's end, when `skeleton` is whole."""
        chunk = rest
        while chunk and len(rest) < MAX_HEADER_BYTES:
            if opening := _NEXT_ARRAY.search(rest):
                self.arrays += 1
                return rest[opening.end() :]
            chunk = next(self._chunks, b"")
            rest += chunk
        self.skeleton = self._head + b"]" + (rest if rest.strip() else b"}")
        return None

    def _take(self, data: bytes, is_final: bool) -> tuple[list[Event], bytes, bool]:
        """Decodes what is whole: the events, the rest, and whether the list has ended."""
        body = data.lstrip(BLANK)
        if body.startswith(b"]"):
            return [], body[1:], True
        if not body:
            self.cut_off = is_final
            return [], b"", is_final
        if not is_final:
            cut, after = _last_boundary(data)
            events = self._decode(data[:cut]) if cut else None
            if events is not None:
                return events, data[after:], False

        end, list_end = _whole_events(data)
        events = self._decode(data[:end]) if end else None
        if events is None:
            return self._walk(data, is_final)
        if list_end >= 0 and not data[end:list_end].strip(BLANK):
            return events, data[list_end + 1 :], True
        if not is_final:
            return events, data[end:], False
        more, rest, has_ended = self._walk(data[end:], is_final)
        return events + more, rest, has_ended

    def _walk(self, data: bytes, is_final: bool) -> tuple[list[Event], bytes, bool]:
        """Takes broken data event by event."""
        walk = EventWalk(data, self._decode, is_final)
        walk.run()
        self.repaired += walk.repaired
        self.dropped += walk.dropped
        self.arrays += walk.arrays
        self.cut_off = walk.cut_off
        return walk.events, data[walk.end :], walk.has_ended

    def _decode(self, piece: bytes) -> list[Event] | None:
        try:
            return _decoder.decode(b"[" + piece.strip(BLANK) + b"]")
        except UNREADABLE:
            pass
        mended = piece.decode("utf-8", "replace").encode()
        if mended == piece:
            return None
        try:
            events = _decoder.decode(b"[" + mended.strip(BLANK) + b"]")
        except UNREADABLE:
            return None
        self.replaced += 1
        return events


def _last_boundary(data: bytes) -> tuple[int, int]:
    """Where the last whole event seems to end and the next to start, (0, 0) for no such place."""
    start = max(len(data) - _TAIL_BYTES, 0)
    matches = deque(_BETWEEN.finditer(data, start), 1) or deque(_BETWEEN.finditer(data), 1)
    return (matches[0].start() + 1, matches[0].end()) if matches else (0, 0)


def _whole_events(data: bytes) -> tuple[int, int]:
    """Where the last whole event of a list ends, by braces, and where the list ends, -1 for nowhere.

    Exact for valid JSON. Of broken text it is a guess, which the decoder checks.
    """
    chars = np.frombuffer(data, np.uint8)
    quotes = _unescaped(chars, np.flatnonzero(chars == ord('"')))
    is_opening = (chars == ord("{")) | (chars == ord("["))
    is_closing = (chars == ord("}")) | (chars == ord("]"))
    places = np.flatnonzero(is_opening | is_closing)
    places = places[np.searchsorted(quotes, places) % 2 == 0]
    depth = np.cumsum(np.where(is_opening[places], 1, -1))
    list_ends = np.flatnonzero(depth < 0)
    last = int(list_ends[0]) if len(list_ends) else len(places)
    whole = np.flatnonzero(depth[:last] == 0)
    end = int(places[whole[-1]]) + 1 if len(whole) else 0
    has_end = len(list_ends) > 0 and chars[places[last]] == ord("]")
    return end, int(places[last]) if has_end else -1


def _unescaped(chars: Array, quotes: Array) -> Array:
    """The quotes that an even number of backslashes precedes."""
    is_backslash = chars == ord("\\")
    if not is_backslash.any():
        return quotes
    others = np.flatnonzero(~is_backslash)
    # The place of the last other character before each quote.
    before = np.searchsorted(others, quotes) - 1
    last_other = (
        np.where(before >= 0, others[before], -1) if len(others) else np.full_like(quotes, -1)
    )
    unescaped: Array = quotes[(quotes - last_other) % 2 == 1]
    return unescaped

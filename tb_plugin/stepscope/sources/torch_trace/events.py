"""Typed events from the bytes of a trace, in batches, whatever the file's size and whatever is broken in it.

The array of events is cut between two events and each piece is decoded at once. A piece that decodes was cut rightly:
the decoder accepts only a whole list. A piece that does not is halved until the broken event is alone, and that one is
repaired.
"""

from __future__ import annotations

import json
import re
from collections import deque
from collections.abc import Iterator
from itertools import islice
from typing import Any

import msgspec
from msgspec import Raw

from stepscope.errors import DamagedSource, LimitExceeded
from stepscope.sources.torch_trace.bytes import ByteChunks
from stepscope.sources.torch_trace.repair import object_at, parse_leniently, rest_of_list, salvage

Id = int | str | float | None

MAX_EVENT_BYTES = 64 << 20
MAX_HEADER_BYTES = 256 << 20

_ARRAY = re.compile(rb'"traceEvents"\s*:\s*\[')
_KEY = rb'"(?:ph|cat|name|pid|tid|ts|dur|id|bp|s|args)"\s*:'
_BETWEEN = re.compile(rb"\}[\s,]*(?=\{\s*" + _KEY + rb")")
_OPENING = re.compile(r"(?=\{\s*" + _KEY.decode() + ")")
_ARRAY_END = re.compile(rb'\}[\s,]*\](?=\s*,\s*"|\s*,?\s*\}|\s*\[|\s*$)')
_NEXT_ARRAY = re.compile(rb'"traceEvents"\s*:\s*\[|\A\s*\[(?=\s*\{)')
_TAIL_BYTES = 1 << 16
_MAX_ENDS = 64
_MOST_JOINED = 8
_BLANK = b" \t\r\n,"
_BLANKS = _BLANK.decode()


class Event(msgspec.Struct, gc=False):
    """One entry of `traceEvents`; numbers and arguments as they stand in the text."""

    ph: str = ""
    cat: str | None = None
    name: str = ""
    pid: Id = None
    tid: Id = None
    ts: Raw = Raw(b"")
    dur: Raw = Raw(b"")
    id: Id = None
    args: Raw = Raw(b"")


UNREADABLE = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
"""What decoding broken or endlessly nested text raises."""

_decoder = msgspec.json.Decoder(list[Event])


class EventStream:
    """Iterates over a trace's events in batches of about a megabyte of text.

    Attributes:
        skeleton: After the last batch, the file without its events: an object with an empty `traceEvents`.
        repaired: Events that were not valid JSON and could be understood.
        dropped: Events of which nothing could be had.
        replaced: Pieces with bytes that are not UTF-8.
        cut_off: Whether the file ends inside the array of events.
        arrays: How many lists of events the file holds. Several are those of files put one after the other.
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
            chunk = next(self._chunks, b"")
            events, data, ended = self._take(data + chunk, final=not chunk)
            if events:
                yield events
            if ended:
                following = self._next_array(data)
                if following is None:
                    return
                data = following
            if len(data) > MAX_EVENT_BYTES:
                raise LimitExceeded(
                    "one event of more than 64 MiB", where=self._where, remedy="Check that the file is a trace"
                )

    def _find_array(self) -> bytes:
        """Reads up to the array of events; returns what was read of the array."""
        data = b""
        for chunk in self._chunks:
            data = (data + chunk).removeprefix(b"\xef\xbb\xbf")
            if data.lstrip().startswith(b"["):
                self._head = b'{"traceEvents":['
                return data.lstrip()[1:]
            if found := _ARRAY.search(data):
                self._head = data[: found.end()]
                return data[found.end() :]
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
        """Reads on to another list of events; at the file's end None, when the skeleton is complete."""
        chunk = rest
        while chunk and len(rest) < MAX_HEADER_BYTES:
            if found := _NEXT_ARRAY.search(rest):
                self.arrays += 1
                return rest[found.end() :]
            chunk = next(self._chunks, b"")
            rest += chunk
        self.skeleton = self._head + b"]" + (rest if rest.strip() else b"}")
        return None

    def _take(self, data: bytes, *, final: bool) -> tuple[list[Event], bytes, bool]:
        """Decodes what is whole in the data: the events, the rest, and whether the array has ended."""
        body = data.lstrip(_BLANK)
        if body.startswith(b"]"):
            return [], body[1:], True
        if not body:
            self.cut_off = final
            return [], b"", final
        cut, after = (len(data), len(data)) if final else _last_boundary(data)
        if cut and not final:
            events = self._decode(data[:cut])
            if events is not None:
                return events, data[after:], False
        for end in islice(_ARRAY_END.finditer(data), _MAX_ENDS):
            stop = end.start() + 1
            rest = data[end.end() :]
            events = self._decode(data[:stop])
            if events is None and final and _is_rest(rest):
                events, _ = self._bisect(data[:stop])
            if events is not None:
                return events, rest, True
        if final:
            return *self._take_end(data), True
        if not cut:
            return [], data, False
        events, taken = self._bisect(data[:cut], open_end=True)
        return events, data[taken:] if taken < cut else data[after:], False

    def _take_end(self, data: bytes) -> tuple[list[Event], bytes]:
        """The events of the end of a file whose last list does not end as it should, and what comes after the list.

        The last piece counts only as far as it is whole.
        """
        events, taken = self._bisect(data, open_end=True)
        cut, after = _last_boundary(data[taken:])
        if cut:
            events += self._bisect(data[taken : taken + cut])[0]
        text = data[taken + after :].decode("utf-8", "replace").lstrip(_BLANKS)
        end = 0
        fields, stop = object_at(text, 0)
        while fields is not None:
            events.append(_event(fields))
            end = stop
            at = self._next_event(text, end) if _OPENING.search(text, end) else len(text)
            fields, stop = object_at(text, at)
        passed_over, after_list = rest_of_list(text[end:])
        self.cut_off = passed_over is None
        self.dropped += len(passed_over or ())
        return events, after_list

    def _decode(self, piece: bytes) -> list[Event] | None:
        try:
            return _decoder.decode(b"[" + piece.strip(_BLANK) + b"]")
        except UNREADABLE:
            pass
        mended = piece.decode("utf-8", "replace").encode()
        if mended == piece:
            return None
        try:
            events = _decoder.decode(b"[" + mended.strip(_BLANK) + b"]")
        except UNREADABLE:
            return None
        self.replaced += 1
        return events

    def _bisect(self, data: bytes, *, open_end: bool = False) -> tuple[list[Event], int]:
        """Halves a piece between events until the broken ones are alone.

        What looks like the space between two events may lie inside one, so a piece that is broken is tried with those
        after it. With an open end, a broken piece near it waits for more data.

        Returns:
            The events, and how many bytes they took.
        """
        spaces = [(m.start() + 1, m.end()) for m in _BETWEEN.finditer(data)]
        starts = [0, *(after for _, after in spaces)]
        ends = [*(before for before, _ in spaces), len(data)]
        events: list[Event] = []
        pending = [(0, len(starts))]
        done = 0
        while pending:
            low, high = pending.pop()
            low = max(low, done)
            decoded = self._decode(data[starts[low] : ends[high - 1]]) if low < high else []
            if decoded is not None:
                events += decoded
                done = max(done, high)
            elif high - low > 1:
                middle = (low + high) // 2
                pending += [(middle, high), (low, middle)]
            else:
                joined, done = self._join(data, starts, ends, low)
                if joined is None and open_end and low + _MOST_JOINED > len(starts):
                    return events, starts[low]
                events += self._repaired(data[starts[low] : ends[low]]) if joined is None else joined
        return events, len(data)

    def _join(self, data: bytes, starts: list[int], ends: list[int], low: int) -> tuple[list[Event] | None, int]:
        """Decodes a piece with as few of those after it as make a whole event; where the next piece starts."""
        for high in range(low + 2, min(low + _MOST_JOINED, len(starts)) + 1):
            events = self._decode(data[starts[low] : ends[high - 1]])
            if events is not None:
                return events, high
        return None, low + 1

    def _repaired(self, piece: bytes) -> list[Event]:
        """What can be had of a piece that is broken, or has something else than events between them."""
        text = piece.decode("utf-8", "replace").strip(_BLANKS)
        events: list[Event] = []
        at = 0
        while at < len(text):
            fields, end = object_at(text, at)
            if fields is None:
                fields, end = _mended(text, at)
                self.repaired += fields is not None
                self.dropped += fields is None
            if fields is not None:
                events.append(_event(fields))
            at = self._next_event(text, end)
        return events

    def _next_event(self, text: str, at: int) -> int:
        """Goes on to the next event; what is passed over is no event, or the end of a list of them and another one."""
        start = next((found.end() for found in _OPENING.finditer(text, at)), len(text))
        passed_over = text[at:start].strip(_BLANKS)
        if _ARRAY.search(passed_over.encode()):
            self.arrays += 1
        elif passed_over and not passed_over.startswith("]"):
            self.dropped += 1
        return start


def _mended(text: str, at: int) -> tuple[dict[str, Any] | None, int]:
    """A broken event, which may hold what looks like the start of others; and where it ends."""
    starts = [found.end() for found in islice(_OPENING.finditer(text, at + 1), _MOST_JOINED)]
    ends = starts if len(starts) == _MOST_JOINED else [*starts, len(text)]
    for end in ends:
        fields = parse_leniently(text[at:end].rstrip(_BLANKS).encode())
        if fields is not None:
            return fields, end
    end = next((start for start in starts if object_at(text, start)[0] is not None), ends[-1])
    return salvage(text[at:end].rstrip(_BLANKS).encode()), end


def _last_boundary(data: bytes) -> tuple[int, int]:
    """Where the last whole event ends and the next one starts, (0, 0) when there is no such place."""
    start = max(len(data) - _TAIL_BYTES, 0)
    found = deque(_BETWEEN.finditer(data, start), 1) or deque(_BETWEEN.finditer(data), 1)
    return (found[0].start() + 1, found[0].end()) if found else (0, 0)


def _is_rest(rest: bytes) -> bool:
    """Whether the bytes may follow a list in the file's outermost object, or end a file that is a list."""
    return parse_leniently(b'{"":[]' + (rest if rest.strip() else b"}")) is not None


def _event(fields: dict[str, Any]) -> Event:
    """An event from a repaired dictionary, whatever the types of its values."""
    args = fields.get("args")
    name = fields.get("name")
    return Event(
        ph=str(fields.get("ph", "")),
        cat=None if fields.get("cat") is None else str(fields["cat"]),
        name="" if name is None else str(name),
        pid=_id(fields.get("pid")),
        tid=_id(fields.get("tid")),
        ts=_text(fields.get("ts")),
        dur=_text(fields.get("dur")),
        id=_id(fields.get("id")),
        args=Raw(json.dumps(args).encode()) if isinstance(args, dict) else Raw(b""),
    )


def _text(value: object) -> Raw:
    return Raw(str(value).encode("ascii", "replace")) if isinstance(value, str | int) else Raw(b"")


def _id(value: object) -> Id:
    if isinstance(value, int) or value is None:
        return value
    return str(value)

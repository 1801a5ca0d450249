"""Protobuf messages of one type, by the million, as numpy columns.

A walk goes through all messages in step: each round reads the next field of every message that has
one. Chunks keep the working set in the processor's cache. When few messages are left, longer than all
others, they are finished one by one.

Source: https://protobuf.dev/programming-guides/encoding.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from stepscope.model import wire
from stepscope.model.arrays import I64, U8, Bools
from stepscope.model.wire import DELIMITED, FIXED32, FIXED64, VARINT, WireError

CHUNK_ROWS = 1 << 14
PADDING = bytes(16)

_FEW_ROWS = 12
_UNREADABLE = np.array([False, False, False, True, True, False, True, True])
_STOP_BITS = np.uint64(0x8080808080808080)
_EIGHTH_BYTE = np.uint64(0x80 << 56)
_MOST_NUMBER = 0xFFFF
_EMPTY = np.empty(0, np.int64)


@dataclass(frozen=True)
class Messages:
    """Messages that lie in one buffer.

    Attributes:
        data: The buffer, with at least 16 bytes of padding after the last message.
        start: Offset of the first byte of each message.
        end: Offset after the last byte of each message.
        owner: For each submessage, the row of the message that holds it.
    """

    data: U8
    start: I64
    end: I64
    owner: I64 = field(default_factory=lambda: _EMPTY)

    @classmethod
    def of(cls, bodies: Sequence[bytes]) -> Messages:
        """Puts message bodies into one buffer."""
        bodies = list(bodies)
        lengths = np.fromiter(map(len, bodies), np.int64, len(bodies))
        end = np.cumsum(lengths)
        data = np.frombuffer(b"".join([*bodies, PADDING]), np.uint8)
        return cls(data, end - lengths, end)

    def __len__(self) -> int:
        return len(self.start)

    def take(self, rows: I64 | Bools) -> Messages:
        """Some of the messages, in the order of the index."""
        return Messages(self.data, self.start[rows], self.end[rows])


def padded(data: bytes | memoryview) -> U8:
    """A copy of bytes with the padding that a walk needs."""
    copy = np.zeros(len(data) + len(PADDING), np.uint8)
    copy[: len(data)] = np.frombuffer(data, np.uint8)
    return copy


@dataclass(frozen=True)
class Columns:
    """Numbers of messages.

    Attributes:
        values: Per field the last number in each message, 0 where it is absent. Varints as signed
            64-bit integers, fixed-width numbers by their bits.
        present: Per field, whether the message has it.
        damaged: Whether a message is invalid; numbers before the damage are kept.
    """

    values: dict[int, I64]
    present: dict[int, Bools]
    damaged: Bools


def read_numbers(messages: Messages, fields: Sequence[int]) -> Columns:
    """Reads numbers of messages.

    A message is left as soon as all fields were seen, so that long tails cost nothing.
    """
    walks: list[_Walk] = []
    for first in range(0, max(len(messages), 1), CHUNK_ROWS):
        walk = _Walk(messages, first, min(first + CHUNK_ROWS, len(messages)))
        walk.read_numbers(fields)
        walks.append(walk)
    return Columns(
        values={f: np.concatenate([walk.values[f] for walk in walks]) for f in fields},
        present={f: np.concatenate([walk.present[f] for walk in walks]) for f in fields},
        damaged=np.concatenate([walk.damaged for walk in walks]),
    )


@dataclass(frozen=True)
class Rows:
    """Fields of messages, in the order of the messages, then of the place in them.

    Attributes:
        row: The message that holds the field.
        value: The number, or where the content starts.
        end: Where the content ends, -1 for a number.
    """

    row: I64
    value: I64
    end: I64

    def take(self, rows: I64 | Bools) -> Rows:
        """Some of the fields."""
        return Rows(self.row[rows], self.value[rows], self.end[rows])


def decode(messages: Messages) -> Table:
    """All fields of messages."""
    pieces: list[_Piece] = []
    damaged: list[Bools] = []
    for first in range(0, max(len(messages), 1), CHUNK_ROWS):
        walk = _Walk(messages, first, min(first + CHUNK_ROWS, len(messages)))
        pieces += walk.read_all()
        damaged.append(walk.damaged)
    return Table(messages, pieces, np.concatenate(damaged))


@dataclass(frozen=True)
class _Piece:
    """Fields that a walk read in one round, by ascending message."""

    row: I64
    number: I64
    value: I64
    end: I64


class Table:
    """The fields of many messages of one type, to be asked for by number.

    Attributes:
        messages: The messages.
        damaged: Whether a message is invalid; fields before the damage are kept.
    """

    def __init__(self, messages: Messages, pieces: Sequence[_Piece], damaged: Bools) -> None:
        self.messages = messages
        self.damaged = damaged
        number = _joined([piece.number for piece in pieces])
        small_number = np.minimum(number, _MOST_NUMBER).astype(np.uint16)
        # Sixteen bits are sorted by radix; later rounds stay behind earlier ones.
        order = np.argsort(small_number, kind="stable")
        self._number = small_number[order]
        self._row = _joined([piece.row for piece in pieces])[order]
        self._value = _joined([piece.value for piece in pieces])[order]
        self._end = _joined([piece.end for piece in pieces])[order]

    def __len__(self) -> int:
        return len(self.messages)

    @property
    def data(self) -> U8:
        """The buffer of the messages."""
        return self.messages.data

    @property
    def owner(self) -> I64:
        """For each submessage, the row of the message that holds it."""
        return self.messages.owner

    @cached_property
    def numbers(self) -> list[int]:
        """The numbers of the fields that occur."""
        return [int(number) for number in np.unique(self._number)]

    def _slice(self, number: int) -> slice:
        low, high = np.searchsorted(self._number, (number, number + 1))
        return slice(int(low), int(high))

    def rows(self, number: int) -> Rows:
        """All occurrences of a field."""
        part = self._slice(number)
        row = self._row[part]
        rows = Rows(row, self._value[part], self._end[part])
        if (row[1:] >= row[:-1]).all():
            return rows
        return rows.take(np.argsort(row, kind="stable"))

    def contents(self, number: int) -> Rows:
        """The occurrences of a field that hold text, bytes or a message."""
        rows = self.rows(number)
        has_content = rows.end >= 0
        return rows if has_content.all() else rows.take(has_content)

    def ints(self, number: int) -> I64:
        """The last number of every message, 0 where it is absent."""
        return self.optional_ints(number)[0]

    def optional_ints(self, number: int) -> tuple[I64, Bools]:
        """The last number of every message, 0 where it is absent; and whether it is present."""
        part = self._slice(number)
        is_number = self._end[part] < 0
        row = self._row[part][is_number]
        column = np.zeros(len(self), np.int64)
        present = np.zeros(len(self), np.bool_)
        column[row] = self._value[part][is_number]
        present[row] = True
        return column, present

    def spans(self, number: int) -> tuple[I64, I64]:
        """Start and end of the last content of every message, empty where it is absent."""
        part = self._slice(number)
        has_content = self._end[part] >= 0
        row = self._row[part][has_content]
        start = np.zeros(len(self), np.int64)
        end = np.zeros(len(self), np.int64)
        start[row] = self._value[part][has_content]
        end[row] = self._end[part][has_content]
        return start, end

    def messages_of(self, number: int) -> Messages:
        """The submessages of a field, repeated or not."""
        rows = self.contents(number)
        return Messages(self.data, rows.value, rows.end, rows.row)

    def message_of(self, number: int) -> Messages:
        """The last submessage of a field in every message, empty where it is absent."""
        return Messages(self.data, *self.spans(number))

    def sub(self, number: int) -> Table:
        """The decoded submessages of a field, repeated or not."""
        return decode(self.messages_of(number))

    def repeated_ints(self, number: int) -> tuple[I64, I64]:
        """All numbers of a repeated field, packed or not: the message of each, and the number."""
        rows = self.rows(number)
        is_packed = rows.end >= 0
        if not is_packed.any():
            return rows.row, rows.value
        packed = np.flatnonzero(is_packed)
        single = np.flatnonzero(~is_packed)
        owner, value = _unpacked(self.data, rows.take(packed))
        place = np.concatenate([single, packed[owner]])
        values = np.concatenate([rows.value[single], value])
        order = np.argsort(place, kind="stable")
        return rows.row[place[order]], values[order]


def _joined(parts: Sequence[I64]) -> I64:
    return np.concatenate(parts) if parts else _EMPTY


def _unpacked(data: U8, rows: Rows) -> tuple[I64, I64]:
    """The numbers of packed lists: for each its list and its value."""
    size = rows.end - rows.value
    first = np.cumsum(size) - size
    lists = np.repeat(np.arange(len(size)), size)
    place = np.arange(len(lists)) + (rows.value - first)[lists]
    # A number begins where a list does, and after a byte without the continuation bit.
    begins = np.ones(len(place), np.bool_)
    begins[1:] = data[place[:-1]] < 0x80
    begins[first[size > 0]] = True
    value, after = _varints(_words(data), place[begins])
    owner = lists[begins]
    is_whole = (after > 0) & (after <= rows.end[owner])
    return owner[is_whole], value[is_whole]


class _Walk:
    """Walks over a chunk of messages, one field of each per round."""

    def __init__(self, messages: Messages, first: int, last: int) -> None:
        self.first = first
        self.data = messages.data
        self.words = _words(messages.data)
        self.damaged = np.zeros(last - first, np.bool_)
        self.values: dict[int, I64] = {}
        self.present: dict[int, Bools] = {}
        start = messages.start[first:last]
        self.end = messages.end[first:last]
        # The messages under way, and where each of them stands.
        self.row = np.flatnonzero(start < self.end)
        self.position = start[self.row]

    def read_all(self) -> list[_Piece]:
        """Walks to the end and gives every field."""
        pieces: list[_Piece] = []
        while len(self.row) > _FEW_ROWS:
            number, value, end = self._step()
            is_field = number > 0
            if not is_field.all():
                kept = np.flatnonzero(is_field)
                pieces.append(
                    _Piece(self.row[kept] + self.first, number[kept], value[kept], end[kept])
                )
            else:
                pieces.append(_Piece(self.row + self.first, number, value, end))
            self._advance()
        if len(self.row):
            pieces.append(self._finish())
        return pieces

    def read_numbers(self, wanted: Sequence[int]) -> None:
        """Walks until the wanted numbers of each message were seen."""
        size = len(self.damaged)
        self.values = {f: np.zeros(size, np.int64) for f in wanted}
        self.present = {f: np.zeros(size, np.bool_) for f in wanted}
        while len(self.row) > _FEW_ROWS:
            number, value, end = self._step()
            is_number = (number > 0) & (end < 0)
            for wanted_number in wanted:
                match = is_number & (number == wanted_number)
                rows = self.row[match]
                self.values[wanted_number][rows] = value[match]
                self.present[wanted_number][rows] = True
            self._advance()
            self._leave_complete()
        if len(self.row):
            self._finish_numbers(wanted)

    def _step(self) -> tuple[I64, I64, I64]:
        """Reads the next field of every message under way.

        Gives its number (0 where it is invalid), value and end, as in `Rows`.
        """
        tag, position, value, after = self._next()
        number = tag >> 3
        wire_type = tag & 7
        is_content = wire_type == DELIMITED
        after = after + np.where(is_content, value, 0)
        is_bad = (after > self.end[self.row]) | (after <= position) | (position <= self.position)
        is_bad |= (number <= 0) | _UNREADABLE[wire_type]
        if is_bad.any():
            self.damaged[self.row[is_bad]] = True
            number = np.where(is_bad, 0, number)
            after = np.where(is_bad, self.end[self.row], after)
        self._after = after
        end = np.where(is_content, after, -1)
        return number, np.where(is_content, after - value, value), end

    def _advance(self) -> None:
        self._keep(self._after < self.end[self.row], self._after)

    def _keep(self, stay: Bools, position: I64) -> None:
        if stay.all():
            self.position = position
        else:
            self.row = self.row[stay]
            self.position = position[stay]

    def _leave_complete(self) -> None:
        """Leaves the messages whose wanted numbers were all seen."""
        is_missing = np.zeros(len(self.row), np.bool_)
        for seen in self.present.values():
            is_missing |= ~seen[self.row]
        self._keep(is_missing, self.position)

    def _next(self) -> tuple[I64, I64, I64, I64]:
        """Tags, the positions after them, values, and the positions after these.

        A word mostly holds a tag of one byte and a value of up to seven, so that one look at the
        bytes serves both.
        """
        word = self.words[self.position]
        tag = (word & np.uint64(0xFF)).view(np.int64)
        position = self.position + 1
        value, length = _first_varint(word >> np.uint64(8) | _EIGHTH_BYTE)
        after = position + length
        wire_type = tag & 7
        is_hard = (tag >= 0x80) | (length == 0)
        is_hard |= (wire_type != VARINT) & (wire_type != DELIMITED)
        if is_hard.any():
            rows = np.flatnonzero(is_hard)
            tag[rows], position[rows] = _varints(self.words, self.position[rows])
            value[rows], after[rows] = self._values(tag[rows] & 7, position[rows])
        return tag, position, value, after

    def _values(self, wire_type: I64, position: I64) -> tuple[I64, I64]:
        value, after = _varints(self.words, position)
        for kind, width in ((FIXED64, 8), (FIXED32, 4)):
            is_fixed = wire_type == kind
            if is_fixed.any():
                place = np.minimum(position[is_fixed], len(self.words) - 1)
                word = self.words[place].view(np.int64)
                value[is_fixed] = word if width == 8 else word & 0xFFFFFFFF
                after[is_fixed] = position[is_fixed] + width
        return value, after

    def _finish(self) -> _Piece:
        """Reads the last few messages one by one."""
        fields: list[tuple[int, int, int, int]] = []
        for row in range(len(self.row)):
            message = int(self.row[row])
            for number, value, end in self._fields_of(row):
                fields.append((message + self.first, number, value, end))
        table = np.array(fields, np.int64).reshape(-1, 4)
        return _Piece(table[:, 0], table[:, 1], table[:, 2], table[:, 3])

    def _finish_numbers(self, wanted: Sequence[int]) -> None:
        for row in range(len(self.row)):
            message = int(self.row[row])
            missing = {f for f in wanted if not self.present[f][message]}
            for number, value, end in self._fields_of(row):
                if number in self.values and end < 0:
                    self.values[number][message] = value
                    self.present[number][message] = True
                    missing.discard(number)
                    if not missing:
                        break

    def _fields_of(self, row: int) -> Iterator[tuple[int, int, int]]:
        """The rest of the fields of one message: number, value and end, as in `Rows`."""
        message = int(self.row[row])
        view = self.data.data
        try:
            for tag, value, after in wire.fields(
                view, int(self.position[row]), int(self.end[message])
            ):
                wire_type = tag & 7
                if wire_type == DELIMITED:
                    yield tag >> 3, value, after
                elif wire_type == VARINT:
                    yield tag >> 3, wire.signed(value), -1
                else:
                    fixed = int.from_bytes(view[value:after], "little")
                    yield tag >> 3, wire.signed(fixed), -1
        except WireError:
            self.damaged[message] = True


def _words(data: U8) -> NDArray[np.uint64]:
    """The eight bytes from every offset on, as little-endian words over the same memory."""
    words: NDArray[np.uint64] = np.ndarray((max(len(data) - 7, 0),), "<u8", data, strides=(1,))
    return words


def _varints(words: NDArray[np.uint64], position: I64) -> tuple[I64, I64]:
    """The varints at the positions, and the positions after them: 0 where a varint does not end."""
    value, length = _first_varint(words[np.minimum(position, len(words) - 1)])
    after = position + length
    long = np.flatnonzero(length == 0)
    if len(long):
        value[long], after[long] = _long_varints(words, position[long])
    return value, after


def _first_varint(word: NDArray[np.uint64]) -> tuple[I64, I64]:
    """The varint at the beginning of each word and its length, 0 where it does not end there."""
    stops = ~word & _STOP_BITS
    lowest = stops & (~stops + np.uint64(1))
    length = np.frexp(lowest.astype(np.float64))[1].astype(np.int64) >> 3
    return _pack(word & (lowest - np.uint64(1))), length


def _pack(word: NDArray[np.uint64]) -> I64:
    """Joins the low seven bits of each byte."""
    w = word & np.uint64(0x7F7F7F7F7F7F7F7F)
    w = (w & np.uint64(0x007F007F007F007F)) | ((w & np.uint64(0x7F007F007F007F00)) >> np.uint64(1))
    w = (w & np.uint64(0x00003FFF00003FFF)) | ((w & np.uint64(0x3FFF00003FFF0000)) >> np.uint64(2))
    w = (w & np.uint64(0x000000000FFFFFFF)) | ((w & np.uint64(0x0FFFFFFF00000000)) >> np.uint64(4))
    signed: I64 = w.view(np.int64)
    return signed


def _long_varints(words: NDArray[np.uint64], position: I64) -> tuple[I64, I64]:
    """Varints of nine and ten bytes: large and negative numbers."""
    low = _pack(words[np.minimum(position, len(words) - 1)]).view(np.uint64)
    rest = words[np.minimum(position + 8, len(words) - 1)]
    ninth = rest & np.uint64(0xFF)
    tenth = (rest >> np.uint64(8)) & np.uint64(0xFF)
    value = low | ((ninth & np.uint64(0x7F)) << np.uint64(56))
    is_longest = ninth >= 0x80
    value |= np.where(is_longest, (tenth & np.uint64(1)) << np.uint64(63), np.uint64(0))
    after_longest = np.where(tenth >= 0x80, 0, position + 10)
    after = np.where(is_longest, after_longest, position + 9)
    return value.view(np.int64), after

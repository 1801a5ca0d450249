"""Protobuf messages of one type, by the million, as numpy columns.

All messages are walked in step: each round reads the next field of every message that is not done. Chunks keep the
working set in the processor's cache. The encoding is described at https://protobuf.dev/programming-guides/encoding.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

I64 = NDArray[np.int64]
Flags = NDArray[np.bool_]

CHUNK_ROWS = 1 << 14
PADDING = bytes(16)

_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_UNREADABLE = np.array([False, False, False, True, True, False, True, True])
_STOP_BITS = np.uint64(0x8080808080808080)
_EIGHTH_BYTE = np.uint64(0x80 << 56)


@dataclass(frozen=True)
class Messages:
    """Messages that lie one after the other, maybe with gaps, in one buffer.

    Attributes:
        data: The buffer, with at least 16 bytes of padding after the last message.
        start: Offset of the first byte of each message.
        end: Offset after the last byte of each message.
    """

    data: NDArray[np.uint8]
    start: I64
    end: I64

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

    def take(self, rows: I64 | Flags) -> Messages:
        """Some of the messages, in the order of the index."""
        return Messages(self.data, self.start[rows], self.end[rows])


@dataclass(frozen=True)
class Parts:
    """Occurrences of length-delimited fields: the message they are in, the field, and where the content lies."""

    row: I64
    field: I64
    start: I64
    end: I64


@dataclass(frozen=True)
class Scan:
    """What a scan found.

    Attributes:
        scalars: Per asked field a column with the last value in each message, 0 where it is absent. Varints as signed
            64-bit integers, fixed values by their bits.
        present: Per asked scalar field, whether the message has it.
        parts: The length-delimited fields, in order of the message, then of the place in it.
        damaged: Whether a message does not hold together; what was read before the damage is kept.
    """

    scalars: dict[int, I64]
    present: dict[int, Flags]
    parts: Parts
    damaged: Flags


def scan(messages: Messages, scalars: Sequence[int], parts: bool = False) -> Scan:
    """Reads fields of messages.

    Args:
        messages: The messages.
        scalars: Numbers of the varint and fixed-width fields to read.
        parts: Whether to list the length-delimited fields. Without it a message is left as soon as all scalars were
            seen, so that long tails cost nothing.
    """
    walks = [
        _Walk(messages, first, min(first + CHUNK_ROWS, len(messages)), scalars)
        for first in range(0, max(len(messages), 1), CHUNK_ROWS)
    ]
    found = [piece for walk in walks for piece in walk.run(parts)]
    return Scan(
        {f: np.concatenate([w.scalars[f] for w in walks]) for f in scalars},
        {f: np.concatenate([w.present[f] for w in walks]) for f in scalars},
        _join(found),
        np.concatenate([w.damaged for w in walks]),
    )


def _join(pieces: Sequence[Parts]) -> Parts:
    names = ("row", "field", "start", "end")
    columns = [np.concatenate([getattr(p, n) for p in pieces] or [np.empty(0, np.int64)]) for n in names]
    order = np.argsort(columns[2], kind="stable")
    return Parts(*(c[order] for c in columns))


class _Walk:
    """Walks a chunk of messages, one field of each per step."""

    def __init__(self, messages: Messages, first: int, last: int, wanted: Sequence[int]) -> None:
        size = last - first
        self.first = first
        self.words = _words(messages.data)
        self.scalars = {f: np.zeros(size, np.int64) for f in wanted}
        self.present = {f: np.zeros(size, np.bool_) for f in wanted}
        self.damaged = np.zeros(size, np.bool_)
        self.end = messages.end[first:last]
        self.row = np.flatnonzero(messages.start[first:last] < self.end)
        self.position = messages.start[first:last][self.row]

    def run(self, parts: bool) -> list[Parts]:
        """Walks to the end and gives the length-delimited fields where they are asked for."""
        found = []
        while len(self.row):
            piece = self.step()
            if parts:
                found.append(piece)
            else:
                self.leave_complete()
        return found

    def step(self) -> Parts:
        """Reads the next field of every message under way and gives the length-delimited ones."""
        tag, position, value, after = self._next()
        field, wire = tag >> 3, tag & 7
        is_bytes = wire == _BYTES
        after = after + np.where(is_bytes, value, 0)
        bad = (after > self.end[self.row]) | (after <= position) | (position <= self.position) | (field <= 0)
        bad |= _UNREADABLE[wire]
        self.damaged[self.row[bad]] = True
        self._keep_scalars(field, ~bad & ~is_bytes, value)
        lists = ~bad & is_bytes
        found = Parts(self.row[lists] + self.first, field[lists], (after - value)[lists], after[lists])
        self._go_on(~bad & (after < self.end[self.row]), after)
        return found

    def leave_complete(self) -> None:
        """Leaves the messages whose wanted fields were all seen."""
        missing = np.zeros(len(self.row), np.bool_)
        for seen in self.present.values():
            missing |= ~seen[self.row]
        self._go_on(missing, self.position)

    def _next(self) -> tuple[I64, I64, I64, I64]:
        """Tags, the positions after them, values, and the positions after these.

        A word mostly holds a tag of one byte and a value of up to seven, so that one look at the bytes serves both.
        """
        word = self.words[np.minimum(self.position, len(self.words) - 1)]
        tag, position = (word & np.uint64(0xFF)).view(np.int64), self.position + 1
        value, length = _first_varint(word >> np.uint64(8) | _EIGHTH_BYTE)
        after = position + length
        hard = (tag >= 0x80) | (length == 0) | (((tag & 7) != _VARINT) & ((tag & 7) != _BYTES))
        if hard.any():
            rows = np.flatnonzero(hard)
            tag[rows], position[rows] = _varints(self.words, self.position[rows])
            value[rows], after[rows] = self._values(tag[rows] & 7, position[rows])
        return tag, position, value, after

    def _values(self, wire: I64, position: I64) -> tuple[I64, I64]:
        value, after = _varints(self.words, position)
        for kind, width in ((_FIXED64, 8), (_FIXED32, 4)):
            fixed = wire == kind
            if fixed.any():
                word = self.words[np.minimum(position[fixed], len(self.words) - 1)].view(np.int64)
                value[fixed] = word if width == 8 else word & 0xFFFFFFFF
                after[fixed] = position[fixed] + width
        return value, after

    def _keep_scalars(self, field: I64, good: Flags, value: I64) -> None:
        for number, column in self.scalars.items():
            match = good & (field == number)
            rows = self.row[match]
            column[rows] = value[match]
            self.present[number][rows] = True

    def _go_on(self, stay: Flags, position: I64) -> None:
        if stay.all():
            self.position = position
        else:
            self.row, self.position = self.row[stay], position[stay]


def _words(data: NDArray[np.uint8]) -> NDArray[np.uint64]:
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
    """The varint at the beginning of each word and its length in bytes, 0 where it does not end in the word."""
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
    ninth, tenth = rest & np.uint64(0xFF), (rest >> np.uint64(8)) & np.uint64(0xFF)
    value = low | ((ninth & np.uint64(0x7F)) << np.uint64(56))
    longest = ninth >= 0x80
    value |= np.where(longest, (tenth & np.uint64(1)) << np.uint64(63), np.uint64(0))
    after = np.where(longest, np.where(tenth >= 0x80, 0, position + 10), position + 9)
    return value.view(np.int64), after

"""The protobuf wire format, decoded for many messages at once.

`decode` takes the spans of any number of messages in one buffer and walks them in lockstep: the n-th field of every
message is decoded by a few numpy operations. The last few messages, longer than all others, are finished one by one.
Fields are then asked for by number, as columns over the messages; submessages are decoded the same way.

Source: the encoding as documented at https://protobuf.dev/programming-guides/encoding/.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Bytes = NDArray[np.uint8]
Ints = NDArray[np.int64]

VARINT, FIXED64, LENGTH, FIXED32 = 0, 1, 2, 5
PADDING = 16
_FEW = 12
_EMPTY = np.empty(0, np.int64)


class Field(NamedTuple):
    """One field. `value` is the number, or where the content starts; `end` is where it ends, -1 for a number."""

    number: int
    wire: int
    value: int
    end: int
    after: int


class MalformedWire(ValueError):
    """The bytes at `offset` are no protobuf field, or the buffer ends inside one."""

    def __init__(self, offset: int, *, cut_off: bool) -> None:
        super().__init__(f"no protobuf field at byte {offset}")
        self.offset = offset
        self.cut_off = cut_off


def varint(data: Any, at: int, stop: int) -> tuple[int, int]:
    """The varint at a position of bytes or a memory map, as unsigned, and the position after it."""
    value = shift = 0
    start = at
    while shift < 70:
        if at >= stop:
            raise MalformedWire(start, cut_off=True)
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value & 0xFFFF_FFFF_FFFF_FFFF, at
        shift += 7
    raise MalformedWire(start, cut_off=False)


def fields(data: Any, at: int, stop: int) -> Iterator[Field]:
    """The fields of one message, in order.

    Raises:
        MalformedWire: At the first field that is broken or does not end before `stop`.
    """
    while at < stop:
        start = at
        key, at = varint(data, at, stop)
        number, wire = key >> 3, key & 7
        value, end = at, -1
        if wire == VARINT:
            value, at = varint(data, at, stop)
        elif wire == LENGTH:
            size, value = varint(data, at, stop)
            at = end = value + size
        elif wire in (FIXED64, FIXED32):
            at += 8 if wire == FIXED64 else 4
            value = int.from_bytes(data[value:at], "little")
        if number == 0 or wire not in (VARINT, FIXED64, LENGTH, FIXED32):
            raise MalformedWire(start, cut_off=False)
        if at > stop:
            raise MalformedWire(start, cut_off=True)
        yield Field(number, wire, value, end, at)


def padded(data: bytes | memoryview) -> Bytes:
    """A copy with the zero bytes behind it that `decode` needs."""
    out = np.zeros(len(data) + PADDING, np.uint8)
    out[: len(data)] = np.frombuffer(data, np.uint8)
    return out


def varints(data: Bytes, at: Ints) -> tuple[Ints, Ints, Ints]:
    """The varints at many positions of a padded buffer, as int64; the positions after; which of them never end."""
    byte = data[at]
    value = (byte & 0x7F).astype(np.uint64)
    after = at + 1
    more = np.flatnonzero(byte & 0x80)
    shift = 7
    while len(more) and shift < 70:
        byte = data[np.minimum(after[more], len(data) - 1)]
        value[more] |= (byte & 0x7F).astype(np.uint64) << np.uint64(shift)
        after[more] += 1
        more = more[byte >= 0x80]
        shift += 7
    return value.view(np.int64), after, more


class Rows(NamedTuple):
    """Occurrences of a field, ordered by message, then by place. See `Field` for `value` and `end`."""

    message: Ints
    value: Ints
    end: Ints


@dataclass(frozen=True)
class Messages:
    """The decoded fields of many messages of one type.

    Attributes:
        data: The padded buffer.
        count: Number of messages.
        owner: For each message the parent message that it was found in.
        bad: Messages that are broken, ascending. The fields before the broken place are kept.
    """

    data: Bytes
    count: int
    owner: Ints
    bad: Ints
    chunks: tuple[tuple[Ints, Ints, Ints, Ints], ...]

    def rows(self, number: int, *, lengths: bool = False) -> Rows:
        """All occurrences of a field, or only those that have a length."""
        parts = []
        for message, numbers, value, end in self.chunks:
            wanted = numbers == number
            if lengths:
                wanted &= end >= 0
            parts.append((message[wanted], value[wanted], end[wanted]))
        message, value, end = (np.concatenate(p) for p in zip(*parts, strict=True)) if parts else (_EMPTY,) * 3
        order = np.argsort(message, kind="stable")
        return Rows(message[order], value[order], end[order])

    def ints(self, number: int) -> Ints:
        """A singular integer of every message, 0 where it is absent."""
        out = np.zeros(self.count, np.int64)
        rows = self.rows(number)
        number_rows = rows.end < 0
        out[rows.message[number_rows]] = rows.value[number_rows]
        return out

    def spans(self, number: int) -> tuple[Ints, Ints]:
        """Start and end of a singular string, bytes or message of every message, empty where it is absent."""
        start, stop = np.zeros(self.count, np.int64), np.zeros(self.count, np.int64)
        rows = self.rows(number, lengths=True)
        start[rows.message], stop[rows.message] = rows.value, rows.end
        return start, stop

    def sub(self, number: int) -> Messages:
        """The submessages of a field, repeated or not."""
        rows = self.rows(number, lengths=True)
        return decode(self.data, rows.value, rows.end, rows.message)

    def repeated_ints(self, number: int) -> tuple[Ints, Ints]:
        """All values of a repeated integer, packed or not: the message of each, and the value."""
        rows = self.rows(number)
        owner, value, order = _unpack(self.data, rows)
        place = np.argsort(order, kind="stable")
        return rows.message[owner[place]], value[place]


def _unpack(data: Bytes, rows: Rows) -> tuple[Ints, Ints, Ints]:
    """Row, value and sorting key of every number in rows that hold numbers or packed lists of them."""
    single = np.flatnonzero(rows.end < 0)
    owners, values = [single], [rows.value[single]]
    active = np.flatnonzero(rows.end > rows.value)
    at, stop = rows.value[active], rows.end[active]
    while len(active):
        value, after, _ = varints(data, at)
        owners.append(active)
        values.append(value)
        left = after < stop
        active, at, stop = active[left], after[left], stop[left]
    owner = np.concatenate(owners)
    return owner, np.concatenate(values), owner


def decode(data: Bytes, start: Ints, end: Ints, owner: Ints | None = None) -> Messages:
    """Decodes the messages at the spans [start, end) of a padded buffer."""
    chunks: list[tuple[Ints, Ints, Ints, Ints]] = []
    bad: list[Ints] = []
    active = np.flatnonzero(start < end)
    at, stop = start[active], end[active]
    while len(active) > _FEW:
        number, value, span_end, after, broken = _step(data, at, stop)
        if broken.any():
            bad.append(active[broken])
            keep = ~broken
            active, at, stop, after = active[keep], at[keep], stop[keep], after[keep]
            number, value, span_end = number[keep], value[keep], span_end[keep]
        chunks.append((active, number, value, span_end))
        left = after < stop
        active, at, stop = active[left], after[left], stop[left]
    if len(active):
        chunks.append(_finish(data, active, at, stop, bad))
    broken_messages = np.sort(np.concatenate(bad)) if bad else _EMPTY
    return Messages(data, len(start), _EMPTY if owner is None else owner, broken_messages, tuple(chunks))


def _step(data: Bytes, at: Ints, stop: Ints) -> tuple[Ints, Ints, Ints, Ints, NDArray[np.bool_]]:
    """The field at each position: number, value, end, the position after, and whether it is broken."""
    key, content, endless = varints(data, at)
    number, wire = key >> 3, key & 7
    value, after, endless_value = varints(data, np.minimum(content, stop))
    has_length = wire == LENGTH
    span_end = np.where(has_length, after + value, -1)
    broken = (number <= 0) | (has_length & ((value < 0) | (value > stop - after)))
    broken[endless] = True
    varying = wire <= LENGTH
    broken[endless_value] |= varying[endless_value] & (wire[endless_value] != FIXED64)
    value = np.where(has_length, after, value)
    after = np.where(has_length, span_end, after)
    rare = np.flatnonzero((wire != VARINT) & ~has_length)
    if len(rare):
        _fixed(data, rare, wire, content, value, after, broken)
    return number, value, span_end, after, broken | (after > stop)


def _fixed(
    data: Bytes, rare: Ints, wire: Ints, content: Ints, value: Ints, after: Ints, broken: NDArray[np.bool_]
) -> None:
    """Fills in the fields that are neither varints nor have a length."""
    for kind, size in ((FIXED64, 8), (FIXED32, 4)):
        rows = rare[wire[rare] == kind]
        places = np.minimum(content[rows, None] + np.arange(size), len(data) - 1)
        value[rows] = np.ascontiguousarray(data[places]).view(f"<u{size}")[:, 0].astype(np.int64)
        after[rows] = content[rows] + size
    broken[rare] |= (wire[rare] != FIXED64) & (wire[rare] != FIXED32)


def _finish(data: Bytes, active: Ints, at: Ints, stop: Ints, bad: list[Ints]) -> tuple[Ints, Ints, Ints, Ints]:
    """Decodes the last few messages one by one."""
    out: list[tuple[int, int, int, int]] = []
    for message, begin, end in zip(active.tolist(), at.tolist(), stop.tolist(), strict=True):
        view = data.data
        try:
            for field in fields(view, begin, end):
                out.append((message, field.number, _signed(field.value), field.end))
        except MalformedWire:
            bad.append(np.array([message], np.int64))
    table = np.array(out, np.int64).reshape(-1, 4)
    return table[:, 0], table[:, 1], table[:, 2], table[:, 3]


def _signed(value: int) -> int:
    return value - (1 << 64) if value >> 63 else value

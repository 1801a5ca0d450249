"""The wire format of protobuf, where a message's bulk must not be copied: a walk over fields, and parts of messages.

Messages without bulk go through the generated classes.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

Buffer: TypeAlias = "bytes | memoryview"

VARINT, FIXED64, DELIMITED, FIXED32 = 0, 1, 2, 5
_FIXED = {FIXED64: 8, FIXED32: 4}


class WireError(ValueError):
    """The bytes are no protobuf message."""


def key(number: int, wire_type: int) -> int:
    """The key that stands before a field's value."""
    return number << 3 | wire_type


def fields(data: Buffer, start: int, end: int) -> Iterator[tuple[int, int, int]]:
    """Walks over the fields of the message in data[start:end].

    Yields:
        The field's key, its value, and the offset after it. The value of a varint is the number itself; that of any
        other field is the offset at which its bytes start.

    Raises:
        WireError: A field runs over the end, or has an unknown wire type.
    """
    position = start
    try:
        while position < end:
            tag = data[position]
            position += 1
            if tag > 127:
                tag, position = varint_at(data, position - 1)
            wire_type = tag & 7
            if wire_type == DELIMITED:
                size = data[position]
                position += 1
                if size > 127:
                    size, position = varint_at(data, position - 1)
                value, position = position, position + size
            elif wire_type == VARINT:
                value, position = varint_at(data, position)
            else:
                value, position = position, position + _FIXED[wire_type]
            if position > end:
                break
            yield tag, value, position
    except (IndexError, KeyError) as error:
        raise WireError(f"no field at byte {position}") from error
    if position != end:
        raise WireError(f"a field ends at byte {position}, after the message's end at {end}")


def varint_at(data: Buffer, position: int) -> tuple[int, int]:
    """The varint at a position, and the offset after it."""
    value = shift = 0
    while True:
        byte = data[position]
        position += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, position
        shift += 7
        if shift > 63:
            raise WireError(f"a varint of more than 10 bytes at byte {position}")


def varint(value: int, spare: int = 0) -> bytes:
    """Encodes an int64 or uint64, in so many bytes more than it needs."""
    value &= (1 << 64) - 1
    out = bytearray()
    while value > 127 or spare:
        spare -= value < 128
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


def number_field(number: int, value: int, spare: int = 0) -> bytes:
    """A varint field, whose value takes so many bytes more than it needs."""
    return varint(key(number, VARINT)) + varint(value, spare)


def delimited(number: int, *chunks: Buffer) -> list[Buffer]:
    """A field of bytes, text or a submessage whose content is the chunks, which are not copied."""
    size = sum(len(chunk) for chunk in chunks)
    return [varint(key(number, DELIMITED)) + varint(size), *chunks]

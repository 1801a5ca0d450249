"""The wire format of protobuf, field by field: the one reader and writer of single messages.

`stepscope.sources.wire` reads messages by the million in columns; messages without bulk go through
the generated classes.

Source: https://protobuf.dev/programming-guides/encoding.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple, NoReturn, Protocol, TypeAlias

Buffer: TypeAlias = "bytes | memoryview"


class Indexed(Protocol):
    """Bytes by their position: bytes, a memoryview or a mapped file."""

    def __getitem__(self, index: int, /) -> int:
        """The byte at an index."""


VARINT, FIXED64, DELIMITED, FIXED32 = 0, 1, 2, 5
NO_END = 1 << 62
"""The end of a message that reaches to the end of the data."""
_FIXED_BYTES = {FIXED64: 8, FIXED32: 4}
_LEAST_KEY = 8
_UINT64 = (1 << 64) - 1


class WireError(ValueError):
    """The bytes are not a protobuf message.

    Attributes:
        offset: Where the first invalid field begins.
        is_cut_off: Whether the field would be valid if the data went on.
    """

    def __init__(self, message: str, offset: int = 0, *, is_cut_off: bool = False) -> None:
        super().__init__(message)
        self.offset = offset
        self.is_cut_off = is_cut_off


def key(number: int, wire_type: int) -> int:
    """The key that stands before a field's value."""
    return number << 3 | wire_type


def fields(data: Indexed, start: int, end: int) -> Iterator[tuple[int, int, int]]:
    """Walks over the fields of the message in data[start:end].

    Yields:
        The field's key, its value, and the offset after it. The value of a varint is the number
        itself, unsigned; that of any other field is the offset at which its bytes start.

    Raises:
        WireError: A field reaches beyond the end, has no number, or has an unknown wire type.
    """
    position = begin = start
    try:
        while position < end:
            begin = position
            tag = data[position]
            position += 1
            if tag > 127:
                tag, position = varint_at(data, begin)
            wire_type = tag & 7
            if wire_type == DELIMITED:
                size = data[position]
                position += 1
                if size > 127:
                    # Two bytes are by far the most frequent: a call each would double the time.
                    high = data[position]
                    if high < 128:
                        size = size & 127 | high << 7
                        position += 1
                    else:
                        size, position = varint_at(data, position - 1)
                value, position = position, position + size
            elif wire_type == VARINT:
                value, position = varint_at(data, position)
            else:
                value, position = position, position + _FIXED_BYTES[wire_type]
            if tag < _LEAST_KEY:
                raise WireError(f"no field at byte {begin}", begin)
            if position > end:
                break
            yield tag, value, position
    except IndexError as error:
        raise WireError(f"no field at byte {begin}", begin, is_cut_off=True) from error
    except KeyError as error:
        raise WireError(f"no field at byte {begin}", begin) from error
    if position != end and end != NO_END:
        message = f"a field ends at byte {position}, after the message's end at {end}"
        raise WireError(message, begin, is_cut_off=True)


class Field(NamedTuple):
    """A field by name, for messages that are looked at and not read in full.

    Attributes:
        value: The number, or where the content starts.
        end: Where the content ends, -1 for a number.
        after: The offset after the field.
    """

    number: int
    wire_type: int
    value: int
    end: int
    after: int


def named_fields(data: Indexed, start: int, end: int) -> Iterator[Field]:
    """The fields of the message in data[start:end]. Raises what `fields` raises."""
    for tag, value, after in fields(data, start, end):
        content_end = after if tag & 7 == DELIMITED else -1
        yield Field(tag >> 3, tag & 7, value, content_end, after)


def field_at(data: Indexed, position: int) -> tuple[int, int, int]:
    """The field at a position: its number, and where its content starts and ends.

    The content may end behind the data.

    Raises:
        WireError: There is no field.
    """
    for tag, value, after in fields(data, position, NO_END):
        return tag >> 3, value if tag & 7 else after, after
    raise WireError(f"no field at byte {position}", position, is_cut_off=True)


def varint_at(data: Indexed, position: int) -> tuple[int, int]:
    """The unsigned varint at a position, and the offset after it."""
    value = shift = 0
    begin = position
    while True:
        byte = data[position]
        position += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value & _UINT64, position
        shift += 7
        if shift > 63:
            _raise_long_varint(begin)


def _raise_long_varint(position: int) -> NoReturn:
    raise WireError(f"a varint of more than 10 bytes at byte {position}", position)


def signed(value: int) -> int:
    """An unsigned varint as an int64."""
    return value - (1 << 64) if value >> 63 else value


def varint(value: int, spare: int = 0) -> bytes:
    """Encodes an int64 or uint64, in `spare` bytes more than it needs."""
    value &= _UINT64
    out = bytearray()
    while value > 127 or spare:
        spare -= value < 128
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


def number_field(number: int, value: int, spare: int = 0) -> bytes:
    """A varint field, whose value takes `spare` bytes more than it needs."""
    return varint(key(number, VARINT)) + varint(value, spare)


def delimited(number: int, *chunks: Buffer) -> list[Buffer]:
    """A field of bytes, text or a submessage whose content is the chunks, which are not copied."""
    size = sum(len(chunk) for chunk in chunks)
    return [varint(key(number, DELIMITED)) + varint(size), *chunks]

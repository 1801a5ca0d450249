"""The bytes of TensorBoard's Event messages: made and scanned without copying or parsing what is not ours."""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from typing import NamedTuple

from stepscope.model.wire import (
    DELIMITED,
    FIXED32,
    FIXED64,
    VARINT,
    Buffer,
    WireError,
    delimited,
    fields,
    key,
    number_field,
    signed,
    varint_at,
)

PLUGIN_NAME = "stepscope"
# Field numbers of tensorboard/compat/proto/{event,summary,tensor}.proto.
_EVENT_WALL_TIME = key(1, FIXED64)
_EVENT_STEP = key(2, VARINT)
_EVENT_SUMMARY = key(5, DELIMITED)
_SUMMARY_VALUE = key(1, DELIMITED)
_VALUE_TAG = key(1, DELIMITED)
_VALUE_SIMPLE = key(2, FIXED32)
_VALUE_TENSOR = key(8, DELIMITED)
_VALUE_METADATA = key(9, DELIMITED)
_TENSOR_STRING = key(8, DELIMITED)
_DT_STRING = 7
_BLOB_SEQUENCE = 3

_PLUGIN_FIELD = b"".join(map(bytes, delimited(1, PLUGIN_NAME.encode())))
_RATE_TAG = b"_per_sec"


def version_event(wall_time_s: float) -> bytes:
    """The event that every event file starts with."""
    return _event_head(wall_time_s, 0) + b"".join(delimited(3, b"brain.Event:2"))


def scalar_event(tag: str, value: float, step: int, wall_time_s: float) -> list[Buffer]:
    """An event with one scalar, as chunks."""
    simple = bytes([_VALUE_SIMPLE]) + struct.pack("<f", value)
    return _summary_event(delimited(1, *delimited(1, tag.encode()), simple), step, wall_time_s)


def blob_event(tag: str, content: bytes, blobs: Sequence[Buffer], step: int, wall_time_s: float) -> list[Buffer]:
    """An event with one blob sequence of ours, as chunks.

    The tensor has an explicit shape of rank 1, and the metadata is there with every value: TensorBoard drops blob
    sequences without either.
    """
    plugin = delimited(1, _PLUGIN_FIELD, *delimited(2, content))
    metadata = delimited(9, *plugin, number_field(4, _BLOB_SEQUENCE))
    shape = delimited(2, *delimited(2, number_field(1, len(blobs))))
    strings = [chunk for blob in blobs for chunk in delimited(8, blob)]
    tensor = delimited(8, number_field(1, _DT_STRING), *shape, *strings)
    # The metadata goes before the bulk, so that a scan meets it first.
    value = delimited(1, *delimited(1, tag.encode()), *metadata, *tensor)
    return _summary_event(value, step, wall_time_s)


def _summary_event(value: Sequence[Buffer], step: int, wall_time_s: float) -> list[Buffer]:
    return [_event_head(wall_time_s, step), *delimited(5, *value)]


def _event_head(wall_time_s: float, step: int) -> bytes:
    return bytes([_EVENT_WALL_TIME]) + struct.pack("<d", wall_time_s) + (number_field(2, step) if step else b"")


class BlobValue(NamedTuple):
    """Where a blob sequence of ours lies in a buffer: its tensor is buffer[start:end]."""

    tag: str
    step: int
    start: int
    end: int


class ScalarValue(NamedTuple):
    """A scalar: its value, or its tensor at buffer[start:end]."""

    tag: str
    step: int
    wall_time_s: float
    value: float | None
    start: int
    end: int


def scan(buffer: bytes, start: int, end: int, is_rate: Callable[[str], bool]) -> list[BlobValue | ScalarValue]:
    """The values of the event in buffer[start:end] that are ours, or scalars under a rate's tag.

    Raises:
        WireError: The bytes are no event.
    """
    if buffer.find(_PLUGIN_FIELD, start, end) < 0 and buffer.find(_RATE_TAG, start, end) < 0:
        return []
    step, wall_time_s, found = 0, 0.0, []
    for field, value, after in fields(buffer, start, end):
        if field == _EVENT_STEP:
            step = signed(value)
        elif field == _EVENT_WALL_TIME:
            wall_time_s = struct.unpack_from("<d", buffer, value)[0]
        elif field == _EVENT_SUMMARY:
            found += [(at, stop) for name, at, stop in fields(buffer, value, after) if name == _SUMMARY_VALUE]
    values = (_value(buffer, at, stop, step, wall_time_s, is_rate) for at, stop in found)
    return [value for value in values if value is not None]


def _value(
    buffer: bytes, start: int, end: int, step: int, wall_time_s: float, is_rate: Callable[[str], bool]
) -> BlobValue | ScalarValue | None:
    tag, simple, tensor, ours = "", None, (0, 0), False
    for field, value, after in fields(buffer, start, end):
        if field == _VALUE_TAG:
            tag = str(buffer[value:after], "utf-8", "replace")
        elif field == _VALUE_TENSOR:
            tensor = value, after
        elif field == _VALUE_METADATA:
            ours = buffer.find(_PLUGIN_FIELD, value, after) >= 0 and _plugin(buffer, value, after) == PLUGIN_NAME
        elif field == _VALUE_SIMPLE:
            simple = struct.unpack_from("<f", buffer, value)[0]
    if ours:
        return BlobValue(tag, step, *tensor)
    if is_rate(tag) and (simple is not None or tensor != (0, 0)):
        return ScalarValue(tag, step, wall_time_s, simple, *tensor)
    return None


def _plugin(buffer: bytes, start: int, end: int) -> str:
    for field, value, after in fields(buffer, start, end):
        if field == key(1, DELIMITED):
            for name, at, stop in fields(buffer, value, after):
                if name == key(1, DELIMITED):
                    return str(buffer[at:stop], "utf-8", "replace")
    return ""


def first_blob(buffer: bytes, start: int, end: int) -> bytes:
    """The first element of the blob sequence whose tensor is buffer[start:end].

    Raises:
        WireError: There is none.
    """
    for field, value, after in fields(buffer, start, end):
        if field == _TENSOR_STRING:
            return buffer[value:after]
    raise WireError(f"no blob in the tensor at byte {start}")


def blob_spans(read: Callable[[int, int], bytes], start: int, end: int) -> list[tuple[int, int]]:
    """The offset and length of every blob of a tensor in a file, by reading only the few bytes before each.

    Args:
        read: Reads so many bytes at an offset of the file.
        start: The tensor's first byte in the file.
        end: The offset after its last.

    Raises:
        WireError: The bytes are no tensor.
    """
    spans, position = [], start
    while position < end:
        head = read(position, min(20, end - position))
        try:
            field, after_key = varint_at(head, 0)
            size, after_size = varint_at(head, after_key)
        except IndexError as error:
            raise WireError(f"no field at byte {position}") from error
        at = position + after_size
        # Of a tensor of strings only the version number and the type are no delimited fields, and those are varints.
        position = at + size if field & 7 == DELIMITED else at
        if field == _TENSOR_STRING:
            spans.append((at, size))
    if position != end:
        raise WireError(f"a field ends at byte {position}, after the tensor's end at {end}")
    return spans

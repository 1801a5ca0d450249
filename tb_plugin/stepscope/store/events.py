"""The bytes of TensorBoard's Event messages: made and scanned without copying or parsing what is not ours."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

from google.protobuf.message import DecodeError

from stepscope.model.scalar_rates import RATE_WORDS
from stepscope.model.wire import (
    DELIMITED,
    FIXED32,
    FIXED64,
    VARINT,
    Buffer,
    WireError,
    delimited,
    key,
    number_field,
    varint_at,
)
from stepscope.pb import storage_pb2

PLUGIN_NAME = "stepscope"
# Field numbers of tensorboard/compat/proto/{event,summary,tensor}.proto.
_EVENT_WALL_TIME = key(1, FIXED64)
_EVENT_SUMMARY = key(5, DELIMITED)
_SUMMARY_VALUE = key(1, DELIMITED)
_VALUE_SIMPLE = key(2, FIXED32)
_VALUE_TENSOR = key(8, DELIMITED)
_TENSOR_STRING = key(8, DELIMITED)
_DT_STRING = 7
_BLOB_SEQUENCE = 3
_LONGEST_HEAD_BYTES = 20
_MOST_FIELDS = 1 << 18
_LARGEST_FLOAT32 = 3.4028234e38

_PLUGIN = PLUGIN_NAME.encode()
_PLUGIN_FIELD = b"".join(delimited(1, _PLUGIN))
_PER_SEC, _EXAMPLES = (word.encode() for word in RATE_WORDS)


def version_event(wall_time_s: float) -> bytes:
    """The event that every event file starts with."""
    return _event_head(wall_time_s, 0) + b"".join(delimited(3, b"brain.Event:2"))


def scalar_event(values: Mapping[str, float], step: int, wall_time_s: float) -> list[Buffer]:
    """An event with scalars by their tags, as chunks. Numbers are stored in single precision."""
    chunks: list[Buffer] = []
    for tag, value in values.items():
        if abs(value) > _LARGEST_FLOAT32:
            value = math.copysign(math.inf, value)
        simple = bytes([_VALUE_SIMPLE]) + struct.pack("<f", value)
        chunks += delimited(1, *delimited(1, tag.encode("utf-8", "replace")), simple)
    return _summary_event(chunks, step, wall_time_s)


def blob_event(
    tag: str, content: bytes, blobs: Sequence[Buffer], step: int, wall_time_s: float
) -> list[Buffer]:
    """An event with one blob sequence of ours, as chunks.

    The tensor has an explicit shape of rank 1, and the metadata is there with every value: TensorBoard drops blob
    sequences without either.
    """
    plugin = delimited(1, _PLUGIN_FIELD, *delimited(2, content))
    metadata = delimited(9, *plugin, number_field(4, _BLOB_SEQUENCE))
    shape = delimited(2, *delimited(2, number_field(1, len(blobs))))
    strings: list[Buffer] = []
    for blob in blobs:
        strings += delimited(8, blob)
    tensor = delimited(8, number_field(1, _DT_STRING), *shape, *strings)
    # The metadata goes before the bulk, so that a scan meets it first.
    value = delimited(1, *delimited(1, tag.encode()), *metadata, *tensor)
    return _summary_event(value, step, wall_time_s)


def _summary_event(value: Sequence[Buffer], step: int, wall_time_s: float) -> list[Buffer]:
    return [_event_head(wall_time_s, step), *delimited(5, *value)]


def _event_head(wall_time_s: float, step: int) -> bytes:
    head = bytes([_EVENT_WALL_TIME]) + struct.pack("<d", wall_time_s)
    if step:
        head += number_field(2, step)
    return head


def parse(payload: bytes) -> storage_pb2.EventView | None:
    """The event of a record; None where it can hold neither a value of ours nor a rate.

    Raises:
        DecodeError: The bytes are no event.
    """
    if _PLUGIN_FIELD in payload or _PER_SEC in payload or _EXAMPLES in payload:
        return storage_pb2.EventView.FromString(payload)
    return None


def is_ours(metadata: bytes) -> bool:
    """Whether a value with this metadata is of our plugin.

    Raises:
        DecodeError: It is no metadata.
    """
    return _PLUGIN_FIELD in metadata and _names_us(metadata)


@lru_cache(1024)
def _names_us(metadata: bytes) -> bool:
    return storage_pb2.MetadataView.FromString(metadata).plugin_data.plugin_name == _PLUGIN


def scalar_of(value: storage_pb2.ValueView) -> float | None:
    """The number of a scalar, which TensorFlow writes as a tensor; None where the value holds something else."""
    if value.HasField("simple_value"):
        return value.simple_value
    if not value.HasField("tensor"):
        return None
    return _number(value.tensor.SerializeToString())


def _number(tensor: bytes) -> float | None:
    from tensorboard.compat.proto.tensor_pb2 import TensorProto
    from tensorboard.util.tensor_util import make_ndarray

    try:
        array: Any = make_ndarray(TensorProto.FromString(tensor))
    except (DecodeError, TypeError, ValueError):
        return None
    is_number = array.size == 1 and array.dtype.kind in "fiu"
    return float(array.reshape(-1)[0]) if is_number else None


def blob_spans(
    read: Callable[[int, int], bytes], start: int, end: int, ordinal: int
) -> list[tuple[int, int]]:
    """The offset and length of every blob of a value in a file, by reading only the few bytes before each.

    Args:
        read: Reads so many bytes at an offset of the file.
        start: The event's first byte in the file.
        end: The offset after its last.
        ordinal: Which of the event's values.

    Raises:
        WireError: The bytes are no event, or it has no such value.
    """
    spans = [(start, end)]
    for field in (_EVENT_SUMMARY, _SUMMARY_VALUE, _VALUE_TENSOR, _TENSOR_STRING):
        inner: list[tuple[int, int]] = []
        for at, stop in spans:
            inner += _members(read, at, stop, field)
        spans = inner
        if field == _SUMMARY_VALUE:
            spans = spans[ordinal : ordinal + 1]
    return [(at, stop - at) for at, stop in spans]


def _members(
    read: Callable[[int, int], bytes], start: int, end: int, wanted: int
) -> Iterator[tuple[int, int]]:
    """Where the fields with a key start and end, in the message that a file has at [start, end)."""
    position = start
    for _ in range(_MOST_FIELDS):
        if position >= end:
            break
        head = read(position, min(_LONGEST_HEAD_BYTES, end - position))
        try:
            field, after_key = varint_at(head, 0)
            size, after_size = 0, after_key
            if field & 7 in (VARINT, DELIMITED):
                size, after_size = varint_at(head, after_key)
        except IndexError as error:
            raise WireError(f"no field at byte {position}") from error
        at = position + after_size
        position = at + {VARINT: 0, DELIMITED: size, FIXED64: 8, FIXED32: 4}.get(field & 7, end)
        if field == wanted:
            yield at, position
    if position != end:
        raise WireError(f"a field ends at byte {position}, after the message's end at {end}")

"""Envelopes: each storage element says its codec, size and checksum.

The checksum is our own, because TensorBoard's fast loader does not check payloads; bodies are compressed, because its
slow loader computes checksums in Python.
"""

from __future__ import annotations

import zlib

from google.protobuf.message import DecodeError

from stepscope.errors import DamagedRecord, LimitExceeded
from stepscope.model import wire
from stepscope.model.wire import Buffer, WireError
from stepscope.pb import storage_pb2
from stepscope.store.tfrecord import crc32c

LARGEST_RAW_BYTES = 256 << 20
_WORTH_TRYING_BYTES = 512
_SAMPLE_BYTES = 64 << 10
_WORTH_KEEPING = 0.9
_LARGE_BYTES = 1 << 16
_BODY = wire.key(4, wire.DELIMITED)
_REMEDY = "The file was damaged after it was written; write or copy it again"


def pack(raw: bytes, *, compress: bool = True) -> bytes:
    """Puts bytes into an envelope, compressed where that saves a tenth."""
    body = raw
    codec = storage_pb2.RAW
    if compress and (packed := _compressed(raw)) is not None:
        body = packed
        codec = storage_pb2.ZLIB
    head = storage_pb2.Envelope(codec=codec, raw_size_bytes=len(raw), crc32c=crc32c(body))
    return b"".join((head.SerializeToString(), *wire.delimited(4, body)))


def _compressed(raw: bytes) -> bytes | None:
    """The bytes compressed; None where that does not save enough."""
    if len(raw) < _WORTH_TRYING_BYTES:
        return None
    if len(raw) > 4 * _SAMPLE_BYTES:
        middle = len(raw) // 2
        sample = raw[middle : middle + _SAMPLE_BYTES]
        if len(zlib.compress(sample, 1)) > _WORTH_KEEPING * len(sample):
            return None
    # A live series writes small bodies again and again: there a byte is worth the time.
    level = 9 if len(raw) <= _SAMPLE_BYTES else 1
    body = zlib.compress(raw, level)
    if len(body) > _WORTH_KEEPING * len(raw):
        return None
    return body


def unpack(
    data: bytes, where: str, *, size: int | None = None, limit: int = LARGEST_RAW_BYTES
) -> Buffer:
    """Takes the bytes out of an envelope.

    Args:
        data: The envelope.
        where: The place that an error names.
        size: How many bytes the record's index promises, by which an envelope that lost its fields is told.
        limit: The most bytes that it may hold.

    Raises:
        DamagedRecord: It is no envelope, or its checksum or size does not hold.
        LimitExceeded: It declares more bytes than the limit.
    """
    try:
        head, body = _opened(data)
    except (DecodeError, WireError) as error:
        raise DamagedRecord(
            f"element is not an envelope ({error})", where=where, remedy=_REMEDY
        ) from error
    if crc32c(body) != head.crc32c:
        raise DamagedRecord("element checksum does not match", where=where, remedy=_REMEDY)
    declared = head.raw_size_bytes
    if declared > limit:
        found = f"element is too large: {declared} bytes, limit {limit}"
        remedy = "Write the record again with StepScope, which cuts large columns"
        raise LimitExceeded(found, where=where, remedy=remedy)
    raw = _decompressed(body, head.codec, declared, where)
    promised = declared if size is None else size
    if not len(raw) == declared == promised:
        found = f"element has {len(raw)} bytes, expected {promised}"
        raise DamagedRecord(found, where=where, remedy=_REMEDY)
    return raw


def _opened(data: bytes) -> tuple[storage_pb2.Envelope, Buffer]:
    """The envelope's fields and its body, which is not copied where that would take long."""
    if len(data) < _LARGE_BYTES:
        envelope = storage_pb2.Envelope.FromString(data)
        return envelope, envelope.body
    body = memoryview(b"")
    start = 0
    head = storage_pb2.Envelope()
    for field, value, after in wire.fields(data, 0, len(data)):
        if field == _BODY:
            body = memoryview(data)[value:after]
        else:
            head.MergeFromString(data[start:after])
        start = after
    return head, body


def _decompressed(body: Buffer, codec: int, size: int, where: str) -> Buffer:
    if codec == storage_pb2.RAW:
        return body
    if codec != storage_pb2.ZLIB:
        raise DamagedRecord(
            f"element codec is unknown: {codec}", where=where, remedy="Upgrade StepScope"
        )
    inflater = zlib.decompressobj()
    try:
        # One byte more than declared is enough to tell that the size does not hold; 0 would mean no limit.
        raw = inflater.decompress(body, size + 1)
    except zlib.error as error:
        raise DamagedRecord(
            f"element cannot be decompressed ({error})", where=where, remedy=_REMEDY
        ) from error
    if not inflater.eof:
        found = f"element holds more than the {size} bytes it declares"
        raise DamagedRecord(found, where=where, remedy=_REMEDY)
    return raw

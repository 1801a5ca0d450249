"""Envelopes: what goes in comes out, or is refused."""

from __future__ import annotations

import contextlib
import random
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stepscope.errors import DamagedRecord, LimitExceeded
from stepscope.pb import storage_pb2
from stepscope.store import envelope, reading
from stepscope.store.tfrecord import crc32c


@given(st.binary(max_size=2000), st.integers(1, 2000))
def test_what_goes_in_comes_out(raw: bytes, times: int) -> None:
    assert envelope.unpack(envelope.pack(raw * times), "here", size=len(raw * times)) == raw * times


def test_compression_is_kept_only_where_it_pays() -> None:
    noise = random.Random(0).randbytes(1 << 20)
    assert len(envelope.pack(noise)) < len(noise) + 40
    assert len(envelope.pack(bytes(1 << 20))) < 10_000
    assert len(envelope.pack(bytes(1 << 20), compress=False)) > 1 << 20


@pytest.mark.parametrize("raw", [b"short", bytes(5000)])
def test_no_flipped_byte_gives_other_content(raw: bytes) -> None:
    packed = envelope.pack(raw)
    for at in range(len(packed)):
        hurt = bytearray(packed)
        hurt[at] ^= 1 << at % 8
        with contextlib.suppress(DamagedRecord, LimitExceeded):
            assert envelope.unpack(bytes(hurt), "here", size=len(raw)) == raw


def made(codec: int, size: int, body: bytes) -> bytes:
    return storage_pb2.Envelope(
        codec=codec,  # type: ignore[arg-type]
        raw_size_bytes=size,
        crc32c=crc32c(body),
        body=body,
    ).SerializeToString()


def test_a_bomb_is_refused_before_it_grows() -> None:
    bomb = zlib.compress(bytes(10 << 20), 9)
    with pytest.raises(LimitExceeded, match="10485760 bytes, limit 1048576"):
        envelope.unpack(made(storage_pb2.ZLIB, 10 << 20, bomb), "here", limit=1 << 20)
    with pytest.raises(DamagedRecord, match="more than the 100 bytes"):
        envelope.unpack(made(storage_pb2.ZLIB, 100, bomb), "here")


def test_a_body_that_is_cut_off_or_of_an_unknown_codec_is_refused() -> None:
    body = zlib.compress(bytes(5000), 1)
    with pytest.raises(DamagedRecord, match="more than the 5000 bytes"):
        envelope.unpack(made(storage_pb2.ZLIB, 5000, body[: len(body) // 2]), "here")
    with pytest.raises(DamagedRecord, match="cannot be decompressed"):
        envelope.unpack(made(storage_pb2.ZLIB, 5000, b"nonsense"), "here")
    with pytest.raises(DamagedRecord, match="codec is unknown: 7"):
        envelope.unpack(made(7, 5000, body), "here")


def test_an_envelope_that_lost_its_fields_is_refused_where_something_is_promised() -> None:
    assert envelope.unpack(envelope.pack(b""), "here", size=0) == b""
    with pytest.raises(DamagedRecord, match="0 bytes, expected 7"):
        envelope.unpack(b"", "here", size=7)


def test_envelopes_large_and_small_are_unpacked_in_their_order() -> None:
    bodies = [
        bytes([i]) * size
        for i, size in enumerate([3, 2 << 20, 5, 1 << 20, 3 << 20, 0, 2 << 20, 7, 2 << 20])
    ]
    blobs = [(envelope.pack(body), f"element {i}", len(body)) for i, body in enumerate(bodies)]
    assert [bytes(body) for body in reading.unpacked(blobs)] == bodies
    hurt = (blobs[6][0][:-1], *blobs[6][1:])
    with pytest.raises(DamagedRecord, match="element 6"):
        list(reading.unpacked([*blobs[:6], hurt, *blobs[7:]]))

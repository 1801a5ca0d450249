"""gzip streams give everything before their damage."""

from __future__ import annotations

import gzip
import json
import random
import zlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stepscope.sources import gunzip, registry
from stepscope.sources.content import content, head
from stepscope.sources.gunzip import Gunzip

LINES = b"".join(b'{"name": "op %d", "ts": %d}\n' % (i, i * 37 % 1009) for i in range(3000))


def unpacked(data: bytes, chunk: int) -> tuple[bytes, str]:
    stream = Gunzip()
    chunks = [data[at : at + chunk] for at in range(0, len(data), chunk)]
    return b"".join(stream.pieces(chunks)), stream.damage


def longest_prefix(packed: bytes) -> bytes:
    """What zlib gives when it is fed byte by byte, the slow way."""
    unpack = zlib.decompressobj(31)
    out = b""
    for byte in packed:
        try:
            out += unpack.decompress(bytes([byte]))
        except zlib.error:
            break
    return out


@given(st.binary(max_size=400), st.integers(1, 50), st.integers(0, 9), st.integers(0, 3))
def test_whole_stream_of_members_unpacks(
    content: bytes, chunk: int, level: int, padding: int
) -> None:
    packed = (
        gzip.compress(content, level) + bytes(padding) + gzip.compress(b"second") + bytes(padding)
    )
    assert unpacked(packed, chunk) == (content + b"second", "")


@pytest.mark.parametrize("chunk", [1, 100, 1 << 20])
def test_flipped_bit_gives_everything_before_it(chunk: int) -> None:
    packed = gzip.compress(LINES)
    seeded = random.Random(5)
    for _ in range(25):
        at = seeded.randrange(200, len(packed) - 8)
        damaged = bytearray(packed)
        damaged[at] ^= 1 << seeded.randrange(8)
        data, damage = unpacked(bytes(damaged), chunk)
        assert damage
        assert data == longest_prefix(bytes(damaged))
        assert data[:100] == LINES[:100]


@given(st.integers(10, 3000), st.integers(1, 4000))
def test_cut_stream_gives_everything_before_the_cut(size: int, chunk: int) -> None:
    packed = gzip.compress(LINES)[:size]
    data, damage = unpacked(packed, chunk)
    assert damage == "gzip stream cut off"
    assert data == longest_prefix(packed)


def test_other_bytes_after_the_stream_are_said() -> None:
    assert unpacked(gzip.compress(LINES) + b"garbage", 4096) == (
        LINES,
        "bytes after the gzip stream are not gzip",
    )


def test_pieces_stay_small_whatever_the_ratio() -> None:
    packed = gzip.compress(bytes(64 << 20))
    sizes = [len(piece) for piece in Gunzip().pieces([packed])]
    assert sum(sizes) == 64 << 20
    assert max(sizes) <= gunzip.PIECE_BYTES + (64 << 10)


def test_head_of_a_damaged_file_is_what_precedes_the_damage(tmp_path: Path) -> None:
    packed = bytearray(gzip.compress(LINES))
    packed[len(packed) // 2] ^= 0x10
    path = tmp_path / "x.gz"
    path.write_bytes(packed)
    assert head(path)[:1000] == LINES[:1000]
    with content(path) as data:
        assert bytes(data) == longest_prefix(bytes(packed))


def test_flipped_bit_in_a_small_trace_keeps_the_events_before_it(tmp_path: Path) -> None:
    events = [
        {
            "ph": "X",
            "cat": "cpu_op",
            "name": f"aten::op_{i}",
            "pid": 1,
            "tid": 1,
            "ts": i * 10,
            "dur": 5 + i % 3,
        }
        for i in range(300)
    ]
    packed = bytearray(
        gzip.compress(json.dumps({"schemaVersion": 1, "traceEvents": events}).encode())
    )
    # Within the last third, where the deflate stream says something that it cannot.
    for at in range(len(packed) * 2 // 3, len(packed) - 8):
        damaged = bytearray(packed)
        damaged[at] ^= 0x08
        if len(longest_prefix(bytes(damaged))) < len(json.dumps(events)) // 2:
            continue
        path = tmp_path / "small.pt.trace.json.gz"
        path.write_bytes(damaged)
        (named,) = registry.read(path).records
        if "gzip stream damaged" in " ".join(loss.what for loss in named.record.header.losses):
            assert len(named.record.executions.node) > 100
            return
    pytest.fail("no bit damaged the stream")

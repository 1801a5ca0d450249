"""Decoding many messages in lockstep gives what decoding them one by one gives."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from tensorboard.compat.proto import tfprof_log_pb2

from stepscope.sources.wire import MalformedWire, Messages, decode, fields, padded

MANY = 20


def decode_all(messages: list[bytes]) -> Messages:
    end = np.cumsum([len(m) for m in messages], dtype=np.int64)
    start = np.concatenate([np.zeros(1, np.int64), end[:-1]])
    return decode(padded(b"".join(messages)), start, end)


def signed(value: int) -> int:
    return value - (1 << 64) if value >> 63 else value


def one_by_one(message: bytes) -> tuple[list[tuple[int, int, int]], bool]:
    """Number, value or start, and end or -1 of each field; whether the message is broken."""
    out = []
    try:
        for f in fields(message, 0, len(message)):
            out.append((f.number, signed(f.value), f.end))
    except MalformedWire:
        return out, True
    return out, False


@given(st.lists(st.binary(max_size=40), min_size=1, max_size=MANY * 2))
def test_any_bytes_decode_as_one_by_one(messages: list[bytes]) -> None:
    decoded = decode_all(messages)
    offset = 0
    for i, message in enumerate(messages):
        want, broken = one_by_one(message)
        got = []
        for owner, number, value, end in decoded.chunks:
            for row in np.flatnonzero(owner == i).tolist():
                is_span = end[row] >= 0
                place = int(value[row]) - (offset if is_span else 0)
                got.append((int(number[row]), place, int(end[row]) - offset if is_span else -1))
        assert got == want
        assert (i in decoded.bad.tolist()) == broken
        offset += len(message)


int64 = st.integers(-(2**63), 2**63 - 1)


@given(st.lists(st.lists(int64, max_size=5), min_size=1, max_size=MANY * 2))
def test_packed_integers_of_any_size_come_back_in_order(lists: list[list[int]]) -> None:
    decoded = decode_all([tfprof_log_pb2.Tuple(int64_values=values).SerializeToString() for values in lists])
    owner, value = decoded.repeated_ints(1)
    assert owner.tolist() == [i for i, values in enumerate(lists) for _ in values]
    assert value.tolist() == [v for values in lists for v in values]


@given(st.lists(st.tuples(int64, st.text(max_size=8)), min_size=1, max_size=MANY * 2))
def test_singular_fields_come_back_as_columns(rows: list[tuple[int, str]]) -> None:
    nodes = [tfprof_log_pb2.ProfileNode(name=name, float_ops=ops).SerializeToString() for ops, name in rows]
    decoded = decode_all(nodes)
    assert decoded.ints(8).tolist() == [ops for ops, _ in rows]
    data = decoded.data.tobytes()
    start, end = decoded.spans(1)
    assert [data[a:b].decode() for a, b in zip(start, end, strict=True)] == [name for _, name in rows]


def test_unpacked_and_packed_lists_mix() -> None:
    packed = tfprof_log_pb2.Tuple(int64_values=[1, 300]).SerializeToString()
    decoded = decode_all([packed + b"\x08\x07" + packed] * MANY)
    owner, value = decoded.repeated_ints(1)
    assert value[owner == 3].tolist() == [1, 300, 7, 1, 300]


def test_fixed_width_fields_are_read() -> None:
    message = b"\x09" + (5).to_bytes(8, "little") + b"\x15" + (9).to_bytes(4, "little") + b"\x18\x01"
    decoded = decode_all([message] * MANY)
    assert decoded.ints(1).tolist() == [5] * MANY
    assert decoded.ints(2).tolist() == [9] * MANY
    assert decoded.ints(3).tolist() == [1] * MANY

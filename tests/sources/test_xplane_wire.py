"""Messages decoded in step give what protobuf gives."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from xplane_builder import event, length_delimited, varint

from stepscope.sources.xplane import wire as xplane_wire
from stepscope.sources.xplane.wire import Messages, scan

_INT64 = st.integers(-(2**63), 2**63 - 1)
_TRIPLE = st.tuples(_INT64, _INT64, _INT64)


@given(st.lists(_TRIPLE, max_size=30))
def test_every_integer_comes_back(rows: list[tuple[int, int, int]]) -> None:
    found = scan(Messages.of([event(*row) for row in rows]), (1, 2, 3))
    columns = [found.scalars[f].tolist() for f in (1, 2, 3)]
    assert list(zip(*columns, strict=True)) == rows
    assert not found.damaged.any()


def test_fields_may_come_in_any_order_and_the_last_value_wins() -> None:
    body = b"\x18\x07" + length_delimited(4, b"\x08\x01") + b"\x08\x05" + b"\x18\x09"
    found = scan(Messages.of([body, b""]), (1, 2, 3), parts=True)
    assert [found.scalars[f].tolist() for f in (1, 2, 3)] == [[5, 0], [0, 0], [9, 0]]
    assert [found.present[f].tolist() for f in (1, 2, 3)] == [[True, False], [False, False], [True, False]]


def test_parts_are_listed_in_order_with_their_message() -> None:
    bodies = [length_delimited(4, b"abc") + length_delimited(5, b""), b"\x08\x01", length_delimited(4, b"d" * 300)]
    messages = Messages.of(bodies)
    parts = scan(messages, (), parts=True).parts
    texts = [messages.data[a:b].tobytes() for a, b in zip(parts.start, parts.end, strict=True)]
    assert list(zip(parts.row.tolist(), parts.field.tolist(), texts, strict=True)) == [
        (0, 4, b"abc"),
        (0, 5, b""),
        (2, 4, b"d" * 300),
    ]


def test_fixed_width_values_keep_their_bits() -> None:
    body = b"\x11" + np.float64(2.5).tobytes() + b"\x1d" + np.uint32(4_000_000_000).tobytes()
    found = scan(Messages.of([body]), (2, 3))
    assert found.scalars[2].view(np.float64).tolist() == [2.5]
    assert found.scalars[3].tolist() == [4_000_000_000]


def test_messages_beyond_one_chunk_are_read(monkeypatch) -> None:  # type: ignore[no-untyped-def]
    monkeypatch.setattr(xplane_wire, "CHUNK_ROWS", 7)
    found = scan(Messages.of([event(i, i * 1000, 5) for i in range(50)]), (1, 2))
    assert found.scalars[1].tolist() == list(range(50))
    assert found.scalars[2].tolist() == [i * 1000 for i in range(50)]


@given(st.lists(st.binary(max_size=40), max_size=20))
def test_any_bytes_end_and_stay_within_their_message(bodies: list[bytes]) -> None:
    messages = Messages.of(bodies)
    found = scan(messages, (1, 2, 3), parts=True)
    assert len(found.damaged) == len(bodies)
    assert (found.parts.start >= messages.start[found.parts.row]).all()
    assert (found.parts.end <= messages.end[found.parts.row]).all()


def test_damage_is_told_per_message() -> None:
    bodies = [event(1, 2, 3), length_delimited(4, b"abc")[:-1], b"\x0f", varint(2**64 - 1), b"\x08"]
    assert scan(Messages.of(bodies), (1, 2, 3, 9)).damaged.tolist() == [False, True, True, True, True]

"""Messages decoded in step give what decoding them one by one gives, and what protobuf gives."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tensorboard.compat.proto import tfprof_log_pb2
from xplane_builder import event, length_delimited, varint

from stepscope.model.wire import (
    DELIMITED,
    VARINT,
    WireError,
    field_at,
    fields,
    named_fields,
    signed,
)
from stepscope.sources import wire
from stepscope.sources.wire import Messages, Table, decode, read_numbers

MANY = 20
INT64 = st.integers(-(2**63), 2**63 - 1)


def decode_all(bodies: list[bytes]) -> Table:
    return decode(Messages.of(bodies))


def one_by_one(message: bytes) -> tuple[list[tuple[int, int | bytes]], bool]:
    """The number, and the value or content of each field; whether the message is invalid."""
    out: list[tuple[int, int | bytes]] = []
    try:
        for tag, value, after in fields(message, 0, len(message)):
            if tag & 7 == DELIMITED:
                out.append((tag >> 3, message[value:after]))
            elif tag & 7 == VARINT:
                out.append((tag >> 3, signed(value)))
            else:
                out.append((tag >> 3, signed(int.from_bytes(message[value:after], "little"))))
    except WireError:
        return out, True
    return out, False


def by_number(found: list[tuple[int, int | bytes]]) -> dict[int, list[int | bytes]]:
    sorted_fields: dict[int, list[int | bytes]] = {}
    for number, value in found:
        sorted_fields.setdefault(min(number, 0xFFFF), []).append(value)
    return sorted_fields


def of_table(table: Table, message: int) -> dict[int, list[int | bytes]]:
    sorted_fields: dict[int, list[int | bytes]] = {}
    for number in table.numbers:
        rows = table.rows(number)
        for at in np.flatnonzero(rows.row == message).tolist():
            value, end = int(rows.value[at]), int(rows.end[at])
            content = value if end < 0 else table.data[value:end].tobytes()
            sorted_fields.setdefault(number, []).append(content)
    return sorted_fields


@given(st.lists(st.binary(max_size=40), min_size=1, max_size=MANY * 2))
def test_any_bytes_decode_as_one_by_one(bodies: list[bytes]) -> None:
    table = decode_all(bodies)
    for message, body in enumerate(bodies):
        expected, is_invalid = one_by_one(body)
        assert of_table(table, message) == by_number(expected)
        assert bool(table.damaged[message]) == is_invalid


@given(st.lists(st.binary(max_size=40), max_size=MANY * 2))
def test_numbers_of_any_bytes_are_the_last_of_their_field_or_absent(bodies: list[bytes]) -> None:
    columns = read_numbers(Messages.of(bodies), (1, 2, 3))
    for message, body in enumerate(bodies):
        expected, is_invalid = one_by_one(body)
        for number in (1, 2, 3):
            values = [v for n, v in expected if n == number and isinstance(v, int)]
            assert bool(columns.present[number][message]) == bool(values)
            if values:
                assert int(columns.values[number][message]) in values
        assert is_invalid or not columns.damaged[message]


@given(st.lists(st.tuples(INT64, INT64, INT64), max_size=30))
def test_every_integer_comes_back(rows: list[tuple[int, int, int]]) -> None:
    columns = read_numbers(Messages.of([event(*row) for row in rows]), (1, 2, 3))
    assert list(zip(*(columns.values[f].tolist() for f in (1, 2, 3)), strict=True)) == rows
    assert not columns.damaged.any()


@given(st.lists(st.lists(INT64, max_size=5), min_size=1, max_size=MANY * 2))
def test_packed_integers_of_any_size_come_back_in_order(lists: list[list[int]]) -> None:
    table = decode_all(
        [tfprof_log_pb2.Tuple(int64_values=values).SerializeToString() for values in lists]
    )
    owner, value = table.repeated_ints(1)
    assert owner.tolist() == [i for i, values in enumerate(lists) for _ in values]
    assert value.tolist() == [v for values in lists for v in values]


@given(st.lists(st.tuples(INT64, st.text(max_size=8)), min_size=1, max_size=MANY * 2))
def test_singular_fields_come_back_as_columns(rows: list[tuple[int, str]]) -> None:
    nodes = [
        tfprof_log_pb2.ProfileNode(name=name, float_ops=ops).SerializeToString()
        for ops, name in rows
    ]
    table = decode_all(nodes)
    assert table.ints(8).tolist() == [ops for ops, _ in rows]
    data = table.data.tobytes()
    start, end = table.spans(1)
    assert [data[a:b].decode() for a, b in zip(start, end, strict=True)] == [
        name for _, name in rows
    ]


@pytest.mark.parametrize("count", [1, MANY])
def test_unpacked_and_packed_lists_mix(count: int) -> None:
    packed = tfprof_log_pb2.Tuple(int64_values=[1, 300]).SerializeToString()
    owner, value = decode_all([packed + b"\x08\x07" + packed] * count).repeated_ints(1)
    assert value[owner == count - 1].tolist() == [1, 300, 7, 1, 300]


@pytest.mark.parametrize("count", [1, MANY])
def test_packed_list_that_is_cut_gives_its_whole_numbers(count: int) -> None:
    owner, value = decode_all([length_delimited(1, b"\x05\x80")] * count).repeated_ints(1)
    assert owner.tolist() == list(range(count))
    assert value.tolist() == [5] * count


@pytest.mark.parametrize("count", [1, MANY])
def test_last_value_wins_and_fields_come_in_any_order(count: int) -> None:
    body = b"\x18\x07" + length_delimited(4, b"\x08\x01") + b"\x08\x05" + b"\x18\x09"
    table = decode_all([body, b""] * count)
    assert [table.ints(f)[:2].tolist() for f in (1, 2, 3)] == [[5, 0], [0, 0], [9, 0]]
    assert table.optional_ints(3)[1].tolist() == [True, False] * count
    assert table.messages_of(4).owner.tolist() == list(range(0, 2 * count, 2))


@pytest.mark.parametrize("count", [1, MANY])
def test_fixed_width_numbers_keep_their_bits(count: int) -> None:
    body = b"\x11" + np.float64(-2.5).tobytes() + b"\x1d" + np.uint32(4_000_000_000).tobytes()
    columns = read_numbers(Messages.of([body] * count), (2, 3))
    assert columns.values[2].view(np.float64).tolist() == [-2.5] * count
    assert columns.values[3].tolist() == [4_000_000_000] * count
    assert decode_all([body] * count).ints(2).view(np.float64).tolist() == [-2.5] * count


def test_messages_beyond_one_chunk_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wire, "CHUNK_ROWS", 17)
    bodies = [event(i, i * 1000, 5) for i in range(50)]
    assert read_numbers(Messages.of(bodies), (1, 2)).values[2].tolist() == [
        i * 1000 for i in range(50)
    ]
    table = decode_all(bodies)
    assert table.ints(1).tolist() == list(range(50))
    assert table.rows(2).row.tolist() == list(range(50))


@pytest.mark.parametrize("copies", [1, MANY])
def test_damage_is_told_per_message(copies: int) -> None:
    bodies = [
        event(1, 2, 3),
        length_delimited(4, b"abc")[:-1],
        b"\x0f",
        varint(2**64 - 1),
        b"\x08",
        b"\x01",
    ]
    expected = [False, True, True, True, True, True]
    assert decode_all(bodies * copies).damaged.tolist() == expected * copies
    assert (
        read_numbers(Messages.of(bodies * copies), (1, 2, 3, 9)).damaged.tolist()
        == expected * copies
    )


@pytest.mark.parametrize(
    ("data", "offset", "is_cut_off"),
    [
        (b"\x08\x01\x12\x05ab", 2, True),
        (b"\x08\x01\x10", 2, True),
        (b"\x08\x01\x13", 2, False),
        (b"\x08\x01\x02\x00", 2, False),
        (b"\x08" + b"\xff" * 11, 0, False),
        (b"\x08\x01\x11\x00", 2, True),
    ],
)
def test_invalid_field_is_told_with_its_place(data: bytes, offset: int, is_cut_off: bool) -> None:
    with pytest.raises(WireError) as caught:
        list(fields(data, 0, len(data)))
    if caught.value.offset != 0 or offset == 0:
        assert caught.value.is_cut_off == is_cut_off
    assert caught.value.offset in (offset, offset + 1)


def test_field_at_may_end_behind_the_data() -> None:
    assert field_at(b"\x12\x05ab", 0) == (2, 2, 7)
    assert field_at(b"\x08\x7f", 0) == (1, 2, 2)
    for data in (b"", b"\x12", b"\x03", b"\x00\x01"):
        with pytest.raises(WireError):
            field_at(data, 0)


def test_named_fields_tell_numbers_from_contents() -> None:
    found = list(named_fields(b"\x08\x05\x12\x01a", 0, 5))
    assert [(f.number, f.value, f.end, f.after) for f in found] == [(1, 5, -1, 2), (2, 4, 5, 5)]

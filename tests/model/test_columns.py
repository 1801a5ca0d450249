"""The codec between records and messages, columns, string tables."""

from __future__ import annotations

import contextlib
import dataclasses
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from profiles import GROUPS, profiles

from stepscope.errors import RecordError
from stepscope.model import columns, wire
from stepscope.model.columns import Group, StringBuilder, Strings, column, decode, encode
from stepscope.model.profile import Nodes, Profile, Steps
from stepscope.pb import common_pb2, profile_pb2

ANY_TEXT = st.text(st.characters(exclude_categories=()))


def bodies(record: Profile) -> list[bytes]:
    return [element.body for element in encode(record)]


@given(profiles())
def test_decoding_gives_back_what_was_encoded(record: Profile) -> None:
    record.validate()
    assert decode(Profile, bodies(record)) == record
    assert decode(Profile, [b"".join(bodies(record))]) == record


@pytest.mark.parametrize(("large", "chunk"), [(0, 8), (8, 24), (64, 16)])
@given(record=profiles())
def test_columns_cut_at_any_size_are_joined(record: Profile, large: int, chunk: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(columns, "LARGE_COLUMN_BYTES", large)
        patch.setattr(columns, "CHUNK_BYTES", chunk)
        assert decode(Profile, bodies(record)) == record


@given(profiles())
def test_protobuf_reads_the_same_columns(record: Profile) -> None:
    message = profile_pb2.Profile.FromString(b"".join(bodies(record)))
    assert message.tick_ps == record.tick_ps
    assert message.header.run == record.header.run
    assert b"".join(message.strings.blob.data) == record.strings.blob.tobytes()
    for name in GROUPS:
        for spec in dataclasses.fields(getattr(record, name)):
            stored, kept = (
                getattr(getattr(message, name), spec.name),
                getattr(getattr(record, name), spec.name),
            )
            if stored.dtype:
                assert common_pb2.DType.Name(stored.dtype).lower() == kept.dtype.name
                assert stored.length == len(kept)
                assert b"".join(stored.data) == kept.astype(kept.dtype.newbyteorder("<")).tobytes()
            else:
                assert (kept == spec.metadata["default"]).all()


@given(profiles())
def test_what_protobuf_writes_is_read(record: Profile) -> None:
    message = profile_pb2.Profile.FromString(b"".join(bodies(record)))
    assert decode(Profile, [message.SerializeToString()]) == record


@given(profiles(), st.data())
def test_elements_say_what_they_hold(record: Profile, data: st.DataObject) -> None:
    elements = encode(record)
    chosen = data.draw(st.sets(st.sampled_from(range(len(elements)))))
    part = decode(Profile, [elements[i].body for i in chosen])
    names = {name for i in chosen for name in elements[i].fields}
    for name in GROUPS:
        held = {field.partition(".")[2] for field in names if field.startswith(f"{name}.")}
        for spec in dataclasses.fields(getattr(record, name)):
            if name in names or spec.name in held:
                assert np.array_equal(
                    getattr(getattr(part, name), spec.name),
                    getattr(getattr(record, name), spec.name),
                )


@given(profiles(), st.data())
def test_damaged_bodies_give_a_record_or_a_record_error(
    record: Profile, data: st.DataObject
) -> None:
    body = bytearray(b"".join(bodies(record)))
    for _ in range(data.draw(st.integers(1, 4))):
        body[data.draw(st.integers(0, len(body) - 1))] = data.draw(st.integers(0, 255))
    with contextlib.suppress(RecordError):
        decode(Profile, [bytes(body)], "run a, tag b").validate()


@given(st.binary(max_size=60))
def test_foreign_bytes_give_a_record_or_a_record_error(body: bytes) -> None:
    with contextlib.suppress(RecordError):
        decode(Profile, [body])


def test_what_a_later_version_adds_is_passed_over() -> None:
    record = Profile(strings=Strings.of(["a"]), nodes=Nodes(name=np.zeros(1, np.int32)))
    number = record.MESSAGE.DESCRIPTOR.fields_by_name["nodes"].number
    added = wire.number_field(500, 7) + b"".join(
        wire.delimited(number, *wire.delimited(500, b"\xff\xff"))
    )
    assert decode(Profile, [*bodies(record), added]) == record


def test_a_column_that_does_not_hold_what_it_declares_is_named() -> None:
    message = profile_pb2.Profile()
    message.nodes.name.CopyFrom(common_pb2.Column(dtype="INT32", length=3, data=[b"1234"]))
    with pytest.raises(
        RecordError, match=r"run a nodes\.name: a column declares 3 elements of type 3, but holds 4"
    ):
        decode(Profile, [message.SerializeToString()], "run a")


def test_a_column_of_defaults_takes_no_room() -> None:
    size = 100_000
    nodes = Nodes(name=np.arange(size, dtype=np.int32), kind=np.zeros(size, np.int8))
    assert nodes.parameters.strides == (0,)
    record = Profile(nodes=nodes)
    message = profile_pb2.Profile.FromString(b"".join(bodies(record)))
    assert [field.name for field, _ in message.nodes.ListFields()] == ["name"]
    assert decode(Profile, bodies(record)) == record
    assert (decode(Profile, bodies(record)).nodes.device == -1).all()


def test_the_first_column_is_stored_though_it_holds_its_default() -> None:
    @dataclasses.dataclass(frozen=True, eq=False)
    class Counts(Group):
        count: Any = column("int64", "How often", default=1)

    assert len(Counts(count=np.ones(3, np.int64))) == 3
    stored = dict(columns._stored_arrays(Counts(count=np.ones(3, np.int64))))
    assert stored.keys() == {"count"}


def test_large_columns_are_aligned_wherever_they_lie() -> None:
    record = Profile(steps=Steps(id=np.arange(1000)))
    for padding in range(8):
        body = b"".join(wire.delimited(500, bytes(padding))) + b"".join(bodies(record))
        assert decode(Profile, [body]).steps.id.flags.aligned


@pytest.mark.parametrize("size", [131_073, 140_001, 262_144, 262_145])
def test_columns_of_their_own_are_read_without_a_copy(size: int) -> None:
    ids = np.arange(size)
    element = next(
        element
        for element in encode(Profile(steps=Steps(id=ids)))
        if element.fields == ("steps.id",)
    )
    stored = decode(Profile, [element.body]).steps.id
    assert np.array_equal(stored, ids)
    assert np.shares_memory(stored, np.frombuffer(element.body, np.uint8))


def test_columns_come_in_the_byte_order_that_numpy_is_fast_with() -> None:
    record = decode(Profile, bodies(Profile(steps=Steps(id=np.arange(1000)))))
    assert record.steps.id.dtype.byteorder == np.dtype("int64").byteorder


def test_values_that_do_not_fit_their_column_are_refused() -> None:
    for values in ([2**40], [0.5], [float("nan")], [[1]]):
        with pytest.raises(RecordError, match="name"):
            Nodes(name=np.array(values))
    assert Nodes(name=np.array([3.0])).name.dtype == np.int32


def test_columns_of_other_lengths_are_refused() -> None:
    with pytest.raises(RecordError, match="differ in length"):
        Profile(nodes=Nodes(name=np.zeros(3, np.int32), kind=np.zeros(2, np.int8))).validate()


@given(st.lists(ANY_TEXT))
def test_string_tables_keep_texts(texts: list[str]) -> None:
    table = Strings.of(texts)
    kept = [text.encode("utf-8", "replace").decode() for text in texts]
    table.check("here")
    assert list(table) == kept
    assert [table[i] for i in range(len(table))] == kept
    assert [table[i - len(kept)] for i in range(len(kept))] == kept
    assert table[1:] == kept[1:]
    assert table == Strings.of(kept)
    with pytest.raises(IndexError):
        table[len(texts)]


def test_string_offsets_outside_the_blob_are_refused() -> None:
    for end in ([2, 1], [-1, 3], [1, 2], [4]):
        with pytest.raises(RecordError, match="offsets"):
            Strings(np.zeros(3, np.uint8), np.array(end)).check("here")


def test_string_builder_counts_in_order_of_first_use() -> None:
    build = StringBuilder()
    assert [build(text) for text in ("b", "a", "b", "")] == [0, 1, 0, 2]
    assert list(build.build()) == ["b", "a", ""]


@given(st.integers(-(2**63), 2**64 - 1))
def test_varints_are_those_of_protobuf(value: int) -> None:
    encoded = wire.varint(value)
    assert wire.varint_at(encoded, 0) == (value % 2**64, len(encoded))
    if 0 <= value < 2**63:
        expected = profile_pb2.Profile(tick_ps=value).SerializeToString()
        assert wire.number_field(2, value) == (expected or wire.number_field(2, 0))


def test_a_message_that_ends_within_a_field_is_no_message() -> None:
    whole = wire.number_field(1, 300) + b"".join(wire.delimited(2, b"abc"))
    assert len(list(wire.fields(whole, 0, len(whole)))) == 2
    for end in (1, 2, 4, 5, 7):
        with pytest.raises(wire.WireError):
            list(wire.fields(whole[:end], 0, end))
    with pytest.raises(wire.WireError):
        list(wire.fields(b"\x0b", 0, 1))

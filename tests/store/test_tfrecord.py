"""TFRecord framing: whole, torn, damaged."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tensorboard.compat.tensorflow_stub.pywrap_tensorflow import masked_crc32c

from stepscope.store import tfrecord
from stepscope.store.tfrecord import Damage, RecordReader

PAYLOADS = [bytes([65 + i]) * (20 + i) for i in range(6)]
STARTS = [sum(16 + len(p) for p in PAYLOADS[:i]) for i in range(7)]


def read(reader: RecordReader) -> list[bytes]:
    return [payload for _, payload in reader.read_new()]


def written(path: Path, data: bytes) -> RecordReader:
    path.write_bytes(data)
    return RecordReader(str(path))


def framed(payloads: list[bytes]) -> bytearray:
    return bytearray(b"".join(tfrecord.frame(payload) for payload in payloads))


def test_checksums_are_those_of_tensorboard() -> None:
    record = tfrecord.frame(b"some ", memoryview(b"payload"))
    assert record[8:12] == masked_crc32c(record[:8]).to_bytes(4, "little")
    assert record[-4:] == masked_crc32c(b"some payload").to_bytes(4, "little")


def test_offsets_say_where_a_payload_lies(tmp_path: Path) -> None:
    reader = written(tmp_path / "f", framed(PAYLOADS))
    assert [offset for offset, _ in reader.read_new()] == [start + 12 for start in STARTS[:-1]]


@given(st.lists(st.binary(max_size=300), max_size=20), st.data())
def test_a_file_that_grows_in_any_pieces_is_read_once(
    tmp_path_factory: pytest.TempPathFactory, payloads: list[bytes], data: st.DataObject
) -> None:
    whole = framed(payloads)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(whole)), max_size=5)))
    path = tmp_path_factory.mktemp("grow") / "f"
    path.write_bytes(b"")
    reader, found = RecordReader(str(path)), []
    for start, end in zip([0, *cuts], [*cuts, len(whole)], strict=True):
        with path.open("ab") as file:
            file.write(whole[start:end])
        found += read(reader)
    assert found == payloads
    assert reader.damages == []


@pytest.mark.parametrize("hurt", range(6))
def test_a_flipped_payload_byte_costs_that_record(tmp_path: Path, hurt: int) -> None:
    data = framed(PAYLOADS)
    data[STARTS[hurt] + 15] ^= 4
    reader = written(tmp_path / "f", data)
    assert read(reader) == PAYLOADS[:hurt] + PAYLOADS[hurt + 1 :]
    size = STARTS[hurt + 1] - STARTS[hurt]
    assert reader.damages == [Damage(STARTS[hurt], size, "record checksum does not match")]


@pytest.mark.parametrize("hurt", range(6))
@pytest.mark.parametrize("byte", [0, 3, 7, 8, 11])
def test_a_flipped_length_costs_that_record(tmp_path: Path, hurt: int, byte: int) -> None:
    data = framed(PAYLOADS)
    data[STARTS[hurt] + byte] ^= 16
    reader = written(tmp_path / "f", data)
    assert read(reader) == PAYLOADS[:hurt] + PAYLOADS[hurt + 1 :]
    size = STARTS[hurt + 1] - STARTS[hurt]
    assert reader.damages == [Damage(STARTS[hurt], size, "record length is damaged")]


def test_reading_goes_on_where_a_writer_died_within_a_record_and_another_appended(
    tmp_path: Path,
) -> None:
    torn = tfrecord.frame(b"x" * 50)[:40]
    reader = written(
        tmp_path / "f", bytes(framed(PAYLOADS[:2])) + torn + bytes(framed(PAYLOADS[2:]))
    )
    assert read(reader) == PAYLOADS
    assert reader.damages == [Damage(STARTS[2], 40, "record checksum does not match")]


def test_damage_that_reaches_to_the_end_is_passed_once_the_file_grows(tmp_path: Path) -> None:
    path = tmp_path / "f"
    reader = written(path, bytes(framed(PAYLOADS[:1])) + b"\xff" * 30)
    assert read(reader) == PAYLOADS[:1]
    assert read(reader) == []
    assert reader.damages == [Damage(STARTS[1], 30, "record length is damaged")]
    with path.open("ab") as file:
        file.write(framed(PAYLOADS[1:]))
    assert read(reader) == PAYLOADS[1:]
    assert reader.damages == [Damage(STARTS[1], 30, "record length is damaged")]


def test_a_tail_of_zeros_hides_nothing(tmp_path: Path) -> None:
    reader = written(tmp_path / "f", bytes(framed(PAYLOADS)) + bytes(4096))
    assert read(reader) == PAYLOADS
    assert reader.damages == [Damage(STARTS[6], 4096, "record length is damaged")]


def test_damage_is_passed_at_any_distance_from_the_edges_of_what_is_read_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tfrecord, "READ_BYTES", 64)
    for hurt in range(0, STARTS[-1], 3):
        data = framed(PAYLOADS)
        data[hurt] ^= 255
        reader = written(tmp_path / str(hurt), data)
        lost = max(i for i in range(6) if STARTS[i] <= hurt)
        assert read(reader) == PAYLOADS[:lost] + PAYLOADS[lost + 1 :]
        assert [(d.offset, d.length) for d in reader.damages] == [
            (STARTS[lost], STARTS[lost + 1] - STARTS[lost])
        ]


def test_a_record_larger_than_what_is_read_at_once_is_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tfrecord, "READ_BYTES", 64)
    payloads = [b"a" * 1000, b"b", random.Random(0).randbytes(100_000), b"c"]
    assert read(written(tmp_path / "f", framed(payloads))) == payloads


def test_a_record_too_large_to_be_ours_is_passed_over_unread(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tfrecord, "LARGEST_PAYLOAD_BYTES", 500)
    path = tmp_path / "f"
    whole = bytes(framed([b"a" * 400, b"b" * 600, b"c"]))
    reader = written(path, whole[:700])
    assert read(reader) == [b"a" * 400]
    path.write_bytes(whole)
    assert read(reader) == [b"c"]
    assert reader.damages == []


def test_rubbish_without_end_is_said_in_few_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tfrecord, "MOST_DAMAGES", 3)
    data = framed([b"x" * 20] * 8 + [b"good"])
    for record in range(8):
        data[record * 36 + 20] ^= 1
    reader = written(tmp_path / "f", data)
    assert read(reader) == [b"good"]
    assert [(d.offset, d.length) for d in reader.damages] == [(0, 36), (36, 36), (72, 216)]


def test_random_bytes_never_raise(tmp_path: Path) -> None:
    generator = random.Random(1)
    for n in range(50):
        reader = written(tmp_path / str(n), generator.randbytes(generator.randrange(300)))
        assert read(reader) == []

"""Formats are told by content, and a file of none is described."""

from __future__ import annotations

import gzip
import os
from pathlib import Path

import pytest
from tensorboard.compat.proto import tfprof_log_pb2

from stepscope.errors import (
    LimitExceeded,
    NotFound,
    OptionError,
    RecordError,
    SourceError,
    UnrecognisedSource,
)
from stepscope.model.profile import Profile
from stepscope.sources import registry
from stepscope.sources.content import content
from stepscope.sources.format import Format, Imported, NamedRecord


def small_profile() -> bytes:
    profile = tfprof_log_pb2.ProfileProto(steps=[1])
    profile.nodes[0].name, profile.nodes[0].op = "w", "VariableV2"
    return profile.SerializeToString()


def test_format_names_are_unique() -> None:
    names = [known.name for known in registry.formats()]
    assert len(set(names)) == len(names) > 0


@pytest.mark.parametrize("packed", [False, True])
def test_a_profile_is_recognised_under_any_name_plain_or_gzip(tmp_path: Path, packed: bool) -> None:
    path = tmp_path / "whatever.txt"
    path.write_bytes(gzip.compress(small_profile()) if packed else small_profile())
    assert registry.recognise(path).name == "tfprof"
    assert len(registry.read(path).records[0].record.nodes) == 1


def test_unknown_file_is_refused_with_its_place_and_a_remedy(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_bytes(b"hello there")
    assert not registry.recognises(path)
    with pytest.raises(UnrecognisedSource) as caught:
        registry.read(path)
    assert "text file (11 bytes, starts with 'hello there')" in caught.value.found
    assert "stepscope formats" in caught.value.remedy
    assert str(path) == caught.value.where


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_a_pipe_is_refused_and_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(SourceError, match="not a file but"):
        registry.read(tmp_path / "pipe")


def test_an_unknown_folder_is_described(tmp_path: Path) -> None:
    with pytest.raises(UnrecognisedSource, match="empty folder"):
        registry.recognise(tmp_path)


def test_a_missing_path_is_not_found(tmp_path: Path) -> None:
    with pytest.raises(NotFound):
        registry.recognise(tmp_path / "absent")


def test_a_file_that_cannot_be_opened_is_of_no_format(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "secret"
    path.write_bytes(b"x")

    def refuse(self: Path, *args: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", refuse)
    assert not registry.recognises(path)
    with pytest.raises(SourceError, match="Permission denied"):
        registry.recognise(path)


def test_a_record_that_breaks_its_rules_is_refused_with_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = Imported((NamedRecord("p", Profile(tick_ps=0)),), "run")
    known = Format("broken", "breaks rules", lambda path, head: True, lambda path, progress: broken)
    monkeypatch.setattr(registry, "formats", lambda: (known,))
    (tmp_path / "x").write_bytes(b"x")
    with pytest.raises(RecordError, match="a tick of 0 ps") as caught:
        registry.read(tmp_path / "x")
    assert caught.value.where == f"{tmp_path / 'x'}: profile record, tick_ps"


LINES = [
    f"2024-01-01 00:00:{second:02d},000 INFO:   | Train Device=CSX, Step={second}, Loss=1.0, Rate=2.00 samples/sec, "
    "GlobalRate=2.00 samples/sec\n"
    for second in range(1, 60)
]


def test_what_a_cut_gzip_file_loses_is_said(tmp_path: Path) -> None:
    whole = gzip.compress("".join(LINES).encode())
    path = tmp_path / "run.log.gz"
    path.write_bytes(whole)
    assert registry.read(path).records[0].record.rows == len(LINES)
    path.write_bytes(whole[: len(whole) // 2])
    (named,) = registry.read(path).records
    assert 0 < named.record.rows < len(LINES)
    assert "gzip stream cut off after" in " ".join(loss.what for loss in named.record.header.losses)


def test_a_file_that_was_made_to_fill_the_memory_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("stepscope.sources.gunzip.RATIO_FROM_BYTES", 1 << 16)
    (tmp_path / "run.log.gz").write_bytes(
        gzip.compress("".join(LINES).encode() + b"\n" * (1 << 20))
    )
    with pytest.raises(LimitExceeded, match="unpacks to more than 200 times"):
        registry.read(tmp_path / "run.log.gz")
    monkeypatch.setenv("STEPSCOPE_MAX_UNPACKED_GIB", "0.5")
    assert registry.read(tmp_path / "run.log.gz").records[0].record.rows == len(LINES)
    monkeypatch.setenv("STEPSCOPE_MAX_UNPACKED_GIB", "0.0009765625")
    with pytest.raises(LimitExceeded, match=r"exceeds 0\.00097"):
        registry.read(tmp_path / "run.log.gz")


@pytest.mark.parametrize("given", ["-1", "many", "0", "inf"])
def test_unpacked_limit_that_is_no_size_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: str
) -> None:
    monkeypatch.setenv("STEPSCOPE_MAX_UNPACKED_GIB", given)
    (tmp_path / "run.log.gz").write_bytes(gzip.compress("".join(LINES).encode()))
    with pytest.raises(OptionError, match="must be a positive number"):
        registry.read(tmp_path / "run.log.gz")


@pytest.mark.parametrize("mapped_from", [0, 1 << 30])
def test_a_file_is_read_the_same_whether_it_is_mapped_or_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mapped_from: int
) -> None:
    monkeypatch.setattr("stepscope.sources.content.MAPPED_FROM_BYTES", mapped_from)
    (tmp_path / "profile.pb").write_bytes(small_profile())
    assert len(registry.read(tmp_path / "profile.pb").records[0].record.nodes) == 1


def test_a_file_that_is_cut_while_it_is_read_does_not_end_the_process(tmp_path: Path) -> None:
    path = tmp_path / "profile.pb"
    path.write_bytes(small_profile() * 5000)
    with content(path) as data:
        path.write_bytes(b"")
        assert len(bytes(data)) == len(small_profile()) * 5000

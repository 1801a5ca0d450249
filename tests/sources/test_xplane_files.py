"""XPlane files and folders as they come: whole, compressed, cut, mangled, empty, many."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from xplane_builder import (
    PROGRAM,
    Collective,
    Core,
    documented,
    length_delimited,
    metadata_plane,
    profile,
    space,
    write,
)

from stepscope.errors import DamagedSource, LimitExceeded, SourceError
from stepscope.model.collectives import Collectives
from stepscope.sources import xplane
from stepscope.sources.xplane import file as xplane_file
from stepscope.sources.xplane.file import SpaceReader

WHOLE = profile(Core([(PROGRAM, 0, 5000)], [documented()]))


def _only(path: Path) -> Collectives:
    (record,) = xplane.read_collectives(path)
    record.validate()
    return record


def _hosts(record: Collectives) -> list[str]:
    return [record.strings[i] for i in record.hosts.name]


def test_a_file_a_folder_and_a_log_directory_give_the_same(tmp_path: Path) -> None:
    session = tmp_path / "logs" / "plugins" / "profile" / "2026_01_02_03_04_05"
    path = write(session, WHOLE)
    records = [
        _only(p)
        for p in (path, session, tmp_path / "logs" / "plugins" / "profile", tmp_path / "logs")
    ]
    assert all(record.ops == records[0].ops for record in records)
    assert (
        xplane.FORMAT.read(tmp_path / "logs", None).run
        == xplane.FORMAT.read(session, None).run
        == "logs"
    )


def test_a_compressed_file_gives_the_same(tmp_path: Path) -> None:
    path = tmp_path / "host0.xplane.pb.gz"
    path.write_bytes(gzip.compress(WHOLE))
    assert _only(path).ops == _only(write(tmp_path / "plain", WHOLE)).ops
    assert _hosts(_only(path)) == ["host0"]


def test_a_compressed_file_cut_short_keeps_what_came_before(tmp_path: Path) -> None:
    path = tmp_path / "host0.xplane.pb.gz"
    path.write_bytes(gzip.compress(WHOLE)[:-30])
    record = _only(path)
    assert len(record.cores) == 1
    assert "gzip stream cut off after" in record.header.losses[0].what


def test_a_bomb_is_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(xplane_file, "MAX_DECOMPRESSED_BYTES", 1000)
    path = tmp_path / "host0.xplane.pb.gz"
    path.write_bytes(gzip.compress(bytes(100_000)))
    with pytest.raises(LimitExceeded, match="when unpacked"):
        list(SpaceReader(path).planes())


def test_a_plane_beyond_protobufs_limit_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(xplane_file, "MAX_PLANE_BYTES", 100)
    with pytest.raises(
        LimitExceeded, match=r"host0\.xplane\.pb, byte \d+: a plane of [\d,]+ bytes, over .*2 GiB"
    ):
        list(SpaceReader(write(tmp_path, WHOLE)).planes())


@pytest.mark.parametrize("missing", [1, 40, 400])
def test_a_cut_file_keeps_whole_events_and_says_what_is_missing(
    tmp_path: Path, missing: int
) -> None:
    core = Core([(PROGRAM, 0, 500_000)], [[op for n in range(200) for op in documented(n * 2000)]])
    metadata = metadata_plane({PROGRAM: [Collective()]})
    content = space(metadata, core.plane())
    record = _only(write(tmp_path, content[:-missing]))
    assert len(record.cores) == 1
    (loss,) = record.header.losses
    assert f"{missing:,} bytes before" in loss.what


def test_events_of_a_line_that_is_cut_off_are_kept(tmp_path: Path) -> None:
    plane = Core(
        [(PROGRAM, 0, 500_000)], [[op for n in range(200) for op in documented(n * 2000)]]
    ).plane()
    half = space(plane)[: len(plane) // 2]
    planes = list(SpaceReader(write(tmp_path, half)).planes())
    assert len(planes) == 1
    assert len(xplane_file.parse_line(planes[0].lines[1]).events) > 100


def test_damage_between_planes_keeps_the_planes_before(tmp_path: Path) -> None:
    record = _only(write(tmp_path, WHOLE + b"\x07garbage"))
    assert len(record.ops) == 4
    assert "8 bytes from here on are damaged" in record.header.losses[0].what


def test_an_empty_file_is_an_empty_profile_with_a_reason(tmp_path: Path) -> None:
    record = _only(write(tmp_path, b""))
    assert len(record.hosts) == 0
    assert "over 2 GB" in record.header.losses[0].remedy


def test_what_is_no_profile_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DamagedSource, match="no XPlane profile"):
        xplane.read_collectives(write(tmp_path, b"\x07 not a profile"))


def test_a_file_that_went_through_a_text_conversion_is_told_so(tmp_path: Path) -> None:
    mangled = profile(
        Core([(PROGRAM, 0, 5000)], [[op for n in range(9) for op in documented(n * 2000)]])
    )
    text = mangled.decode("utf-8", "replace").encode()
    with pytest.raises(DamagedSource, match="text conversion"):
        xplane.read_collectives(write(tmp_path, text))


def test_the_mangled_real_file_is_told_so(shared: Path) -> None:
    with pytest.raises(DamagedSource, match="text conversion"):
        xplane.read_collectives(
            shared / "data" / "xplane" / "tpu_inference_2" / "CORRUPT_head_utf8_mangled.bin"
        )


def test_a_missing_file_is_a_source_error(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="cannot be read"):
        xplane.read_collectives(tmp_path / "absent.xplane.pb")


def test_one_bad_file_does_not_cost_the_others(tmp_path: Path) -> None:
    write(tmp_path, WHOLE, "good")
    write(tmp_path, b"\x07 not a profile", "bad")
    record = _only(tmp_path)
    assert _hosts(record) == ["good"]
    assert "bad.xplane.pb" in record.header.losses[0].where


def test_folders_of_one_capture_are_joined_and_other_captures_are_not(tmp_path: Path) -> None:
    profiles = tmp_path / "plugins" / "profile"
    write(profiles / "2026_01_02_03_04_05", WHOLE, "a")
    write(profiles / "2026_01_02_03_04_07", WHOLE, "b")
    write(profiles / "2026_01_02_09_00_00", WHOLE, "a")
    write(profiles / "2026_01_02_09_00_02", WHOLE, "a")
    assert [_hosts(r) for r in xplane.read_collectives(tmp_path)] == [["a", "b"], ["a"], ["a"]]


def test_a_profile_that_is_there_twice_counts_once(tmp_path: Path) -> None:
    path = write(tmp_path, WHOLE)
    (tmp_path / "host0.xplane.pb.gz").write_bytes(gzip.compress(WHOLE))
    record = _only(tmp_path)
    assert (_hosts(record), record.header.source) == (["host0"], path.name)


def test_a_riegeli_file_is_reported_unless_the_profile_is_there(tmp_path: Path) -> None:
    write(tmp_path, b"")
    (tmp_path / "host0.xplane.riegeli").write_bytes(b"x")
    assert any(".riegeli" in loss.what for loss in _only(tmp_path).header.losses)
    write(tmp_path, WHOLE)
    assert _only(tmp_path).header.losses == ()


def test_profiles_are_recognised_by_content(tmp_path: Path) -> None:
    path = tmp_path / "anything.bin"
    path.write_bytes(WHOLE)
    assert xplane.FORMAT.recognise(path, WHOLE[:65536])
    other = length_delimited(1, b"\x08\x05\x12\x04\x0a\x02ab")
    assert not xplane.FORMAT.recognise(path, other)
    assert not xplane.FORMAT.recognise(path, b"{}")
    assert not xplane.FORMAT.recognise(tmp_path, b"")
    write(tmp_path / "host", b"")
    assert xplane.FORMAT.recognise(tmp_path / "host", b"")
    assert xplane.FORMAT.recognise(tmp_path / "host" / "host0.xplane.pb", b"")


def test_a_file_that_was_made_to_fill_the_memory_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("stepscope.sources.gunzip.RATIO_FROM_BYTES", 1 << 20)
    path = tmp_path / "host0.xplane.pb.gz"
    path.write_bytes(gzip.compress(WHOLE + bytes(4 << 20)))
    with pytest.raises(LimitExceeded, match="unpacks to more than 200 times"):
        xplane.FORMAT.read(path, None)

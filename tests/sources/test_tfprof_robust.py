"""No file stops the reading of profiles with anything but a named error."""

from __future__ import annotations

import contextlib
import gzip
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tensorboard.compat.proto import tfprof_log_pb2

from stepscope.errors import DamagedSource, LimitExceeded, StepscopeError
from stepscope.sources import content, tfprof
from stepscope.sources.tfprof import raw as tfprof_raw


@given(st.binary(max_size=200))
def test_any_bytes_are_recognised_or_not(head: bytes) -> None:
    assert isinstance(tfprof.recognise(Path("x"), head), bool)
    assert tfprof_raw.kind_of(head) in (None, "graph", "op_log", "run")


@given(st.binary(max_size=300))
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    with contextlib.suppress(StepscopeError):
        tfprof.read_profile(data, "p.pb").validate()


@st.composite
def profiles(draw: st.DrawFn) -> tfprof_log_pb2.ProfileProto:
    """Profiles with extreme numbers and odd names."""
    profile = tfprof_log_pb2.ProfileProto(
        steps=draw(st.lists(st.integers(-(2**63), 2**63 - 1), max_size=3))
    )
    number = st.integers(-(2**63), 2**63 - 1)
    for key in range(draw(st.integers(1, 30))):
        node = profile.nodes[key]
        node.name = draw(st.text("ab/: ^", max_size=6)) + f"{key}"
        node.op = draw(st.text(max_size=3))
        node.op_types.extend(draw(st.lists(st.text(max_size=3), max_size=3)))
        node.shape.extend(draw(st.lists(number, max_size=3)))
        node.float_ops = draw(number)
        for slot in draw(st.lists(st.integers(-(2**31), 2**31 - 1), max_size=2)):
            node.output_shapes[slot].int64_values.extend(draw(st.lists(number, max_size=2)))
        for step in draw(st.lists(number, max_size=2)):
            execs = node.execs[step]
            execs.run_count = draw(number)
            execs.cpu_execs["/cpu:0"].times.add().int64_values.extend(
                draw(st.lists(number, max_size=3))
            )
    return profile


@given(profiles())
def test_any_profile_is_read_whole(profile: tfprof_log_pb2.ProfileProto) -> None:
    record = tfprof.read_profile(profile.SerializeToString(), "p.pb")
    record.validate()
    names = {record.strings[i] for i in record.nodes.name.tolist()}
    assert names == {node.name for node in profile.nodes.values()}
    by_name = {
        record.strings[i]: ops
        for i, ops in zip(record.nodes.name, record.nodes.float_ops, strict=True)
    }
    assert by_name == {node.name: node.float_ops for node in profile.nodes.values()}


def test_flipped_bytes_of_raw_data_are_said_or_refused(data: Path, tmp_path: Path) -> None:
    folder = data / "tfprof/raw/tiny"
    for file in folder.glob("*.gz"):
        (tmp_path / file.name).write_bytes(file.read_bytes())
    (tmp_path / "manifest.json").write_text((folder / "manifest.json").read_text())
    file = tmp_path / "run_meta_0.pb.gz"
    whole = gzip.decompress(file.read_bytes())
    for place in range(0, len(whole), 41):
        broken = bytearray(whole)
        broken[place] ^= 0xFF
        file.write_bytes(gzip.compress(bytes(broken), 1))
        with contextlib.suppress(StepscopeError):
            tfprof_raw.read(tmp_path).records[0].record.validate()


@pytest.mark.parametrize(
    "manifest",
    [
        "",
        "[]",
        "{}",
        '{"calls": 3}',
        '{"calls": [{"graph": "../../etc/passwd"}]}',
        "{",
        "[" * 200_000,
    ],
)
def test_a_strange_manifest_is_passed_over(data: Path, tmp_path: Path, manifest: str) -> None:
    for file in (data / "tfprof/raw/tiny").glob("*.gz"):
        (tmp_path / file.name).write_bytes(file.read_bytes())
    (tmp_path / "manifest.json").write_text(manifest)
    assert len(tfprof_raw.read(tmp_path).records[0].record.nodes) == 13


def test_a_manifest_does_not_lead_out_of_its_folder(tmp_path: Path) -> None:
    inner = tmp_path / "inner"
    inner.mkdir()
    (tmp_path / "graph.pbtxt").write_text('node { name: "a" op: "X" }')
    (inner / "manifest.json").write_text(json.dumps({"calls": [{"graph": "../graph.pbtxt"}]}))
    assert not tfprof_raw.recognise(inner, b"")


def test_a_gzip_file_that_is_cut_off_shows_what_comes_before(data: Path, tmp_path: Path) -> None:
    path = tmp_path / "p.pb.gz"
    path.write_bytes((data / "tfprof/synth_gpu.pb.gz").read_bytes()[:-2000])
    record = tfprof.read(path).records[0].record
    assert 0 < len(record.nodes) < 67
    assert record.header.losses


def test_a_broken_gzip_stream_is_a_named_error(tmp_path: Path) -> None:
    path = tmp_path / "p.pb.gz"
    path.write_bytes(gzip.compress(b"x" * 1000)[:10] + b"\xff" * 50)
    with pytest.raises(DamagedSource, match="gzip"):
        tfprof.read(path)


def test_decompression_has_a_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "bomb.gz"
    path.write_bytes(gzip.compress(bytes(4 << 20)))
    monkeypatch.setattr(content, "MAX_UNPACKED_BYTES", 1 << 20)
    with pytest.raises(LimitExceeded), content.content(path):
        pass


def test_a_text_graph_that_is_broken_is_said(tmp_path: Path) -> None:
    (tmp_path / "graph.pbtxt").write_text('node { name: "a" op: ')
    (tmp_path / "more.pbtxt").write_text('node { name: "b" op: "X" }')
    record = tfprof_raw.read(tmp_path).records[0].record
    assert [record.strings[i] for i in record.nodes.name] == ["b"]
    assert "GraphDef" in record.header.losses[0].what

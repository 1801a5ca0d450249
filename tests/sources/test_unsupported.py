"""Files that StepScope does not read are named, each with what to bring instead."""

from __future__ import annotations

import bz2
import cProfile
import gzip
import io
import json
import lzma
import pickle
import sqlite3
import tarfile
import time
import zipfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stepscope.errors import UnrecognisedSource
from stepscope.sources import registry
from stepscope.sources.content import HEAD_BYTES
from stepscope.sources.unsupported import describe

CASES = {
    "i30_memory_snapshot.pickle": ("CUDA memory snapshot", "pytorch.org/memory_viz"),
    "i31_memory_timeline.json": ("memory timeline", "export_chrome_trace"),
    "i32_raw_memory_timeline.raw.json": ("memory timeline", "export_chrome_trace"),
    "i33_export_stacks.txt": ("folded stacks", "export_chrome_trace"),
    "i34_execution_trace.et.json": ("execution trace", "export_chrome_trace"),
    "i35_tlparse_chromium.json": ("categories: dynamo_timed", "export_chrome_trace"),
    "i36_ort.json": (
        "ONNX Runtime profile, a Chrome trace without PyTorch's categories",
        "torch.profiler",
    ),
    "i37_viztracer.json": (
        "VizTracer trace, a Chrome trace without PyTorch's categories",
        "export_chrome_trace",
    ),
    "i38_pftrace.pftrace": ("Perfetto binary trace", "export_chrome_trace"),
    "i39_nsys_sqlite.sqlite": ("SQLite database", "export_chrome_trace"),
    "i40_empty_table.txt": ("key_averages().table()", "export_chrome_trace"),
    "i41_proton.hatchet": ("Proton", "proton.start"),
}


def refused(path: Path) -> tuple[str, str]:
    with pytest.raises(UnrecognisedSource) as caught:
        registry.read(path)
    assert caught.value.where == str(path)
    assert caught.value.found.startswith("Unsupported format: ")
    return caught.value.found, caught.value.remedy


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("packed", [False, True])
def test_shared_case_is_named_with_its_remedy(
    shared: Path, tmp_path: Path, case: str, packed: bool
) -> None:
    path = shared / "cases" / "formats" / case
    if packed:
        content = gzip.compress(path.read_bytes())
        path = tmp_path / f"{case}.gz"
        path.write_bytes(content)
        if "pftrace" in case:
            pytest.skip("this case has no content that tells; its name does")
    found, remedy = refused(path)
    assert CASES[case][0] in found
    assert CASES[case][1] in remedy


class Bomb:
    def __reduce__(self) -> tuple[Any, ...]:
        return (exec, ("raise SystemExit('a pickle was loaded')",))


def database(*tables: str) -> bytes:
    connection = sqlite3.connect(":memory:")
    for table in tables:
        connection.execute(f"CREATE TABLE {table} (id INTEGER, value TEXT)")
    return (
        connection.serialize()
        if hasattr(connection, "serialize")
        else b"SQLite format 3\0" + tables[0].encode()
    )


def archive(name: str, content: bytes) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as zipped:
        zipped.writestr(name, content)
    return out.getvalue()


def tar(name: str, content: bytes) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as packed:
        entry = tarfile.TarInfo(name)
        entry.size = len(content)
        packed.addfile(entry, io.BytesIO(content))
    return out.getvalue()


def statistics(tmp_path: Path) -> bytes:
    profile = cProfile.Profile()
    profile.runcall(sorted, [3, 1, 2])
    profile.dump_stats(tmp_path / "stats")
    return (tmp_path / "stats").read_bytes()


def event_file(tmp_path: Path) -> bytes:
    from tensorboard.summary.writer.event_file_writer import EventFileWriter

    writer = EventFileWriter(str(tmp_path / "events"))
    writer.close()
    (path,) = (tmp_path / "events").iterdir()
    return path.read_bytes()


def safetensors() -> bytes:
    header = json.dumps({"w": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}}).encode()
    return len(header).to_bytes(8, "little") + header + bytes(4)


def chrome(*categories: str, **more: Any) -> bytes:
    events = [
        {"ph": "X", "name": "f", "cat": c, "ts": i, "dur": 1} for i, c in enumerate(categories)
    ]
    return json.dumps({"traceEvents": events, **more}).encode()


KINDS: dict[str, tuple[bytes, str]] = {
    "snapshot_protocol_2": (pickle.dumps({"segments": [], "device_traces": [[]]}, 2), "CUDA memory snapshot"),
    "snapshot_segments_only": (
        pickle.dumps({"segments": [{"device": 0, "total_size": 1}]}), "CUDA memory snapshot"
    ),
    "snapshot_protocol_0": (pickle.dumps({"segments": [], "device_traces": []}, 0), "CUDA memory snapshot"),
    "flight_recorder": (pickle.dumps({"version": "2.4", "pg_config": {}, "entries": []}), "NCCL flight recorder"),
    "hostile_pickle": (pickle.dumps(Bomb()), "Python pickle"),
    "empty_memory_timeline": (b"[[], []]", "memory timeline"),
    "long_memory_timeline": (json.dumps([list(range(20_000)), [[1] * 10] * 20_000]).encode(), "memory timeline"),
    "negative_memory_timeline": (b"[[-1, 5], [[0, 1], [2, 3]]]", "memory timeline"),
    "raw_memory_timeline": (b"[[-1, 0, 400, 1], [5, 1, 800, 3]]", "raw memory timeline"),
    "raw_memory_timeline_of_one": (b"[[-1, 0, 400, 1]]", "raw memory timeline"),
    "export_stacks": (b"a.py(1): f;aten::mm 12\n" * 4000, "folded stacks"),
    "py_spy_raw": (b"main (train.py:1);step (train.py:5) 17\nmain (train.py:1) 2\n", "folded stacks"),
    "execution_trace_1_0": (
        b'{"schema": "1.0.1", "pid": 1, "nodes": [{"name": "a", "id": 1, "rf_id": 2, "parent": 1}]}',
        "execution trace",
    ),
    "speedscope": (
        b'{"$schema": "https://www.speedscope.app/file-format-schema.json", "profiles": [], "shared": {}}',
        "speedscope",
    ),
    "trace_viewer": (
        b'{"displayTimeUnit":"ns","metadata":{"highres-ticks":true},"traceEvents":[{"ph":"M","pid":3,'
        b'"name":"process_name","args":{"name":"/device:TPU:0"}}]}',
        "trace viewer export of JAX",
    ),
    "tensorflow_timeline": (chrome("Op", "DataFlow", "Tensor"), "timeline of TensorFlow"),
    "py_spy_chrome": (chrome("py-spy"), "py-spy"),
    "chrome_of_nobody": (chrome("alpha", "beta", "beta"), "categories: beta, alpha"),
    "chrome_without_categories": (
        b'[{"ph":"M","pid":1,"name":"process_name","args":{"name":"my server"}},{"ph":"X","name":"f"}]',
        "processes: my server",
    ),
    "chrome_of_bare_events": (b'[{"ph":"X","name":"load","ts":1,"dur":2}]', "events: load"),
    "chrome_with_nothing": (b'{"traceEvents": []}', "no events"),
    "onnx_without_pairs": (chrome("Session"), "Session"),
    "hatchet": (
        json.dumps([{"children": [], "frame": {"name": "ROOT"}, "metrics": {"time (ns)": 0}}]).encode(), "Proton"
    ),
    "notebook": (b'{"cells": [], "nbformat": 4}', "Jupyter notebook"),
    "checkpoint_index": (b'{"metadata": {}, "weight_map": {}}', "model checkpoint"),
    "json_object": (b'{"learning_rate": 0.1, "nested": {"inner": 1}}', "keys: learning_rate, nested)"),
    "nsys_database": (database("CUPTI_ACTIVITY_KIND_KERNEL", "StringIds"), "Nsight Systems"),
    "ascend_database": (database("CANN_API", "TASK", "STRING_IDS"), "Ascend"),
    "rocm_database": (database("rocpd_kernel_dispatch"), "ROCm"),
    "other_database": (database("users"), "SQLite database"),
    "nsys_report": (b"NVIDIA Tegra Profiler Report 2025@1@1@1-1v0.\n\x0bLocal (CLI)", "Nsight Systems report"),
    "ncu_report": (b"NVR\0\x08\0\0\0" + bytes(64), "Nsight Compute report"),
    "perf_data": (b"PERFILE2" + bytes(96), "perf.data"),
    "memray": (b"memray\0\x0c\0\0\0" + bytes(64), "memray"),
    "pprof": (b"\x0a\x04\x08\x01\x10\x02\x0a\x04\x08\x03\x10\x04\x12\x04\x0a\x02\x01\x02", "pprof"),
    "perfetto": (b"\x0a\x0b\x40\x80\x80\x80\x80\x10\x50\x01\x52\x01\x00" * 3, "Perfetto"),
    "safetensors": (safetensors(), "safetensors"),
    "legacy_checkpoint": (b"\x80\x02\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19.\x80\x02M\xe9\x03.", "model checkpoint"),
    "zip": (archive("trace.json", b"{}"), "zip archive"),
    "tar": (tar("trace.json", b"{}"), "tar archive"),
    "bzip2": (bz2.compress(b"{}"), "bzip2"),
    "xz": (lzma.compress(b"{}"), "xz archive"),
    "zstd": (b"\x28\xb5\x2f\xfd\x04\x00", "Zstandard"),
    "png": (b"\x89PNG\r\n\x1a\n" + bytes(8), "PNG image"),
    "html": (b"<!DOCTYPE html><html><body>hello</body></html>", "HTML page"),
    "memory_html": (b'<html><body><img src="data:image/png;base64,iVBOR"></body></html>', "HTML page with an image"),
    "svg": (b'<?xml version="1.0"?><svg></svg>', "XML or SVG"),
    "table": (b"-----  ------------\nName   Self CPU %  # of Calls\n-----  ------------\n", "key_averages().table()"),
    "lightning_table": (b"FIT Profiler Report\n\n----\n|  Action |  Mean duration (s)|\n", "Lightning's profiler"),
    "csv": (b"name,count,note\na,1,x\nb,2,y\n", "CSV table (columns: name, count, note)"),
    "text": ("Größe: 5 µs, das ist Text\n".encode(), "text file (29 bytes, starts with 'Größe"),
    "coloured_text": (b"\x1b[32mINFO\x1b[0m starting\n", "text file"),
    "utf_16_text": ("hello there".encode("utf-16"), "text file"),
    "binary": (bytes([255, 0, 1]), "binary file (3 bytes, starts with ff 00 01)"),
    "gzip_twice": (gzip.compress(b"{}", mtime=0), "gzip file inside a gzip file"),
}  # fmt: skip


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("packed", [False, True])
def test_kind_is_told_by_content_under_any_name(tmp_path: Path, name: str, packed: bool) -> None:
    content, title = KINDS[name]
    path = tmp_path / "whatever.dat"
    path.write_bytes(gzip.compress(content) if packed or name == "gzip_twice" else content)
    if packed and name == "gzip_twice":
        return
    found, remedy = refused(path)
    size = path.stat().st_size
    assert (
        title.replace("(29 bytes", f"({size} bytes").replace("(3 bytes", f"({size} bytes") in found
    )
    assert remedy


@pytest.mark.parametrize("kept", [0.2, 0.9])
@pytest.mark.parametrize(
    "name", ["long_memory_timeline", "export_stacks", "nsys_database", "chrome_of_nobody"]
)
def test_truncated_file_keeps_its_kind(tmp_path: Path, name: str, kept: float) -> None:
    content, title = KINDS[name]
    cut = content[: max(int(len(content) * kept), 120)]
    path = tmp_path / "cut"
    path.write_bytes(cut)
    assert title.split(":")[0] in refused(path)[0]


def test_truncated_gzip_keeps_its_kind(tmp_path: Path) -> None:
    content, title = KINDS["long_memory_timeline"]
    packed = gzip.compress(content)
    (tmp_path / "cut.json.gz").write_bytes(packed[: len(packed) // 2])
    assert title in refused(tmp_path / "cut.json.gz")[0]


@pytest.mark.parametrize(
    ("name", "title"), [("a.nsys-rep", "Nsight Systems"), ("a.ncu-rep", "Nsight Compute")]
)
def test_name_tells_where_content_does_not(tmp_path: Path, name: str, title: str) -> None:
    (tmp_path / name).write_bytes(b"\x00\x01\x02 unknown")
    assert title in refused(tmp_path / name)[0]


def test_statistics_of_cprofile_are_named(tmp_path: Path) -> None:
    content = statistics(tmp_path)
    (tmp_path / "x").write_bytes(content)
    assert "cProfile statistics" in refused(tmp_path / "x")[0]


def test_event_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(event_file(tmp_path))
    found, remedy = refused(tmp_path / "x")
    assert "TensorBoard event file" in found
    assert "log directory" in remedy


def test_pickle_is_never_loaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*args: object, **named: object) -> None:
        pytest.fail("a pickle was loaded")

    for name in ("load", "loads", "Unpickler"):
        monkeypatch.setattr(pickle, name, refuse)
    (tmp_path / "x.pickle").write_bytes(KINDS["hostile_pickle"][0])
    assert "Python pickle" in refused(tmp_path / "x.pickle")[0]


@pytest.mark.parametrize(
    ("content", "title"),
    [
        (b"", "empty file"),
        (b"\x1f\x8b\x08 broken", "damaged"),
        (gzip.compress(b"", mtime=0), "holds nothing"),
    ],
)
def test_file_without_content_is_named(tmp_path: Path, content: bytes, title: str) -> None:
    (tmp_path / "x").write_bytes(content)
    assert title in refused(tmp_path / "x")[0]


def test_folder_names_what_lies_in_it(tmp_path: Path) -> None:
    assert "empty folder" in refused(tmp_path)[0]
    (tmp_path / "snapshot.pickle").write_bytes(KINDS["snapshot_segments_only"][0])
    found, remedy = refused(tmp_path)
    assert "folder with 1 entry" in found
    assert "snapshot.pickle: CUDA memory snapshot" in found
    assert "memory_viz" in remedy


@given(
    st.binary(max_size=200),
    st.sampled_from([b"", b"{", b"[[", b"\n\x05", b"\x80\x04", b'{"ph":"X",', b"a;b 1\n"]),
)
def test_any_content_gets_a_title_and_a_remedy(
    tmp_path_factory: Any, content: bytes, start: bytes
) -> None:
    path = tmp_path_factory.getbasetemp() / "any"
    path.write_bytes(start + content)
    kind = describe(path, start + content)
    assert kind.title
    assert kind.remedy


@pytest.mark.parametrize(
    "part",
    [
        b'"',
        b'\\"',
        b'"cat"',
        b'"cat":"',
        b"[[",
        b"[[1,",
        b"1 ",
        b"\n",
        b" ",
        b"a;",
        b"Name  ",
        b'{"a":',
        b",",
        b"\x0a\x02",
    ],
)
def test_time_grows_with_the_size_of_the_head(tmp_path: Path, part: bytes) -> None:
    for start in (b"{", b"[", b"", b'{"ph":"X"'):
        content = (start + part * HEAD_BYTES)[:HEAD_BYTES]
        path = tmp_path / "x"
        path.write_bytes(content)
        began = time.process_time()
        describe(path, content)
        assert time.process_time() - began < 2

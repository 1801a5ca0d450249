"""Event files of our own."""

from __future__ import annotations

import errno
import io
import os
import shutil
import struct
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from stores import profile
from tensorboard.compat.proto.event_pb2 import Event
from tensorboard.util.tensor_util import make_ndarray

from stepscope.errors import LimitExceeded, StoreError
from stepscope.store import events, tfrecord
from stepscope.store.local import LocalStore
from stepscope.store.sink import EventFileSink
from stepscope.store.writing import FIRST_STEP, RecordWriter


def events_of(path: Path | None) -> list[Event]:
    reader = tfrecord.RecordReader(str(path))
    return [Event.FromString(payload) for _, payload in reader.read_new()]


def test_events_are_those_of_tensorboard(tmp_path: Path) -> None:
    sink = EventFileSink(tmp_path)
    sink.add_blobs(
        "stepscope/x", b"content", [b"one", b"", b"th\x00ree"], step=-5, wall_time_s=12.5
    )
    sink.add_scalars({"rate": 0.1}, step=2**40, wall_time_s=13.5)
    sink.close()
    version, blobs, scalar = events_of(sink.path)
    assert version.file_version == "brain.Event:2"
    (value,) = blobs.summary.value
    assert (blobs.step, blobs.wall_time, value.tag) == (-5, 12.5, "stepscope/x")
    assert value.metadata.plugin_data.plugin_name == events.PLUGIN_NAME
    assert value.metadata.plugin_data.content == b"content"
    assert value.metadata.data_class == 3
    assert [dim.size for dim in value.tensor.tensor_shape.dim] == [3]
    assert make_ndarray(value.tensor).tolist() == [b"one", b"", b"th\x00ree"]
    assert (scalar.step, scalar.wall_time, scalar.summary.value[0].tag) == (2**40, 13.5, "rate")
    assert scalar.summary.value[0].simple_value == struct.unpack("f", struct.pack("f", 0.1))[0]


@pytest.mark.skipif(os.name == "nt", reason="Windows keeps a file that is open")
def test_a_file_that_was_deleted_is_made_anew(tmp_path: Path) -> None:
    sink = EventFileSink(tmp_path / "run")
    sink.add_scalars({"rate": 1.0}, step=1, wall_time_s=1.0)
    sink.flush()
    shutil.rmtree(tmp_path / "run")
    sink.add_scalars({"rate": 2.0}, step=2, wall_time_s=2.0)
    sink.close()
    version, scalar = events_of(sink.path)
    assert version.file_version == "brain.Event:2"
    assert scalar.step == 2


def test_event_bytes_are_what_protobuf_would_write(tmp_path: Path) -> None:
    made = b"".join(events.scalar_event({"größe": 1.5}, 7, 2.5))
    assert Event.FromString(made).SerializeToString() == made


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -1e300, 3.4028236e38, 0.0, 1e-300])
def test_any_number_can_be_a_scalar(value: float) -> None:
    event = Event.FromString(b"".join(events.scalar_event({"x\ud800": value}, 0, 1.0)))
    with np.errstate(over="ignore"):
        assert np.array_equal(
            event.summary.value[0].simple_value, float(np.float32(value)), equal_nan=True
        )


def test_sinks_of_one_process_and_second_never_share_a_file(tmp_path: Path) -> None:
    sinks = [EventFileSink(tmp_path) for _ in range(20)]
    assert len({sink.path for sink in sinks}) == 20
    assert all(
        "tfevents" in sink.path.name and sink.path.suffix == ".stepscope"
        for sink in sinks
        if sink.path
    )
    for sink in sinks:
        sink.close()


def test_versions_of_a_tag_have_rising_steps_below_every_training_step(tmp_path: Path) -> None:
    sink = EventFileSink(tmp_path)
    writer = RecordWriter(sink)
    tags = [writer.write(profile(1), name="p", block=4, version=k) for k in range(3)]
    tags += [writer.write(profile(1), name="p")]
    sink.close()
    assert len(set(tags[:3])) == 1
    assert tags[3].endswith("-5")
    steps = [event.step for event in events_of(sink.path)[1:]]
    assert steps == [FIRST_STEP, FIRST_STEP + 1, FIRST_STEP + 2, FIRST_STEP]
    assert FIRST_STEP == -(2**40)


def test_nothing_is_in_the_file_before_a_flush_and_all_of_it_after(tmp_path: Path) -> None:
    sink = EventFileSink(tmp_path)
    sink.add_scalars({"x_per_sec": 1.0}, step=1, wall_time_s=1.0)
    assert len(events_of(sink.path)) == 1
    sink.flush()
    assert len(events_of(sink.path)) == 2
    sink.close()
    sink.close()
    with pytest.raises(StoreError, match="writer is closed"):
        sink.add_scalars({"x": 1.0}, step=1, wall_time_s=1.0)


def test_threads_may_write_at_once(tmp_path: Path) -> None:
    sink = EventFileSink(tmp_path)
    writer = RecordWriter(sink)

    def write() -> None:
        for _ in range(50):
            writer.write(profile(20), name="p")
            sink.flush()

    threads = [threading.Thread(target=write) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    sink.close()
    store = LocalStore(tmp_path)
    store.refresh()
    assert [entry.block for entry in store.entries()] == list(range(200))
    assert store.problems() == []


class FullDisk(io.BytesIO):
    """A file on a disk with room for so many more bytes."""

    room = 10

    def write(self, data: memoryview) -> int:  # type: ignore[override]
        if not self.room:
            raise OSError(errno.ENOSPC, "No space left on device")
        done = super().write(data[: self.room])
        self.room -= done
        return done


def test_a_full_disk_leaves_no_torn_record_and_loses_nothing_once_there_is_room(
    tmp_path: Path,
) -> None:
    sink = EventFileSink(tmp_path)
    assert sink._file is not None
    sink._file.close()
    disk = FullDisk()
    sink._file, sink._written_bytes = disk, 0  # type: ignore[assignment]
    sink.add_scalars({"x_per_sec": 1.0}, step=1, wall_time_s=1.0)
    with pytest.raises(StoreError, match="No space left"):
        sink.flush()
    assert disk.getvalue() == b""
    disk.room = 1000
    sink.add_scalars({"x_per_sec": 2.0}, step=2, wall_time_s=1.0)
    sink.flush()
    (tmp_path / "copy").write_bytes(disk.getvalue())
    assert [event.step for event in events_of(tmp_path / "copy")] == [1, 2]
    sink.close()


def test_a_record_that_meets_a_full_disk_is_written_once(tmp_path: Path) -> None:
    sink = EventFileSink(tmp_path)
    assert sink._file is not None
    sink._file.close()
    disk = FullDisk()
    disk.room = 0
    sink._file, sink._written_bytes = disk, 0  # type: ignore[assignment]
    large = np.random.default_rng(1).bytes(2 << 20)
    sink.add_blobs("stepscope/profile/p/s-0", b"", [large], step=1, wall_time_s=1.0)
    disk.room = 4 << 20
    sink.flush()
    (tmp_path / "copy").write_bytes(disk.getvalue())
    sink.close()
    assert [event.step for event in events_of(tmp_path / "copy")] == [1]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no device that is always full")
def test_a_sink_that_cannot_write_at_all_leaves_nothing_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = io.FileIO("/dev/full", "w")
    monkeypatch.setattr(
        "stepscope.store.sink._create", lambda directory: (tmp_path / "full", opened)
    )
    with pytest.raises(StoreError, match="No space left"):
        EventFileSink(tmp_path)
    assert opened.closed


def test_a_file_made_anew_lies_where_the_first_did(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path)
    sink = EventFileSink("run")
    assert sink.path is not None
    sink.path.unlink()
    monkeypatch.chdir(tmp_path / "elsewhere")
    sink.add_scalars({"x": 1.0}, step=1, wall_time_s=1.0)
    sink.close()
    assert [path.parent for path in tmp_path.rglob("*tfevents*")] == [tmp_path / "run"]


def test_what_waits_for_the_disk_has_a_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("stepscope.store.sink.LARGEST_PENDING_BYTES", 100)
    sink = EventFileSink(tmp_path)
    sink.add_blobs("t", b"", [bytes(200)], step=1, wall_time_s=1.0)
    with pytest.raises(LimitExceeded, match="bytes are waiting"):
        sink.add_scalars({"x": 1.0}, step=1, wall_time_s=1.0)
    sink.close()


def test_a_directory_that_cannot_be_made_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="cannot make an event file"):
        EventFileSink(tmp_path / "file" / "run")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork on this system")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_child_writes_a_file_and_tags_of_its_own(tmp_path: Path) -> None:
    sink = EventFileSink(tmp_path)
    writer = RecordWriter(sink)
    writer.write(profile(1), name="parent, not yet flushed")
    pid = os.fork()
    if pid == 0:
        writer.write(profile(2), name="child")
        sink.flush()
        os._exit(0)
    assert os.waitpid(pid, 0)[1] == 0
    sink.close()
    store = LocalStore(tmp_path)
    store.refresh()
    assert [entry.name for entry in store.entries()] == ["child", "parent, not yet flushed"]
    assert len({entry.session for entry in store.entries()}) == 2
    assert len(list(tmp_path.iterdir())) == 2
    assert store.problems() == []


def test_what_a_killed_process_had_flushed_is_there(tmp_path: Path) -> None:
    sink = EventFileSink(tmp_path)
    RecordWriter(sink).write(profile(1), name="p")
    sink.flush()
    deadline = time.monotonic() + 5
    store = LocalStore(tmp_path)
    while not store.entries():
        assert time.monotonic() < deadline
        store.refresh()
    assert store.read(store.entries()[0]) == profile(1)
    sink.close()

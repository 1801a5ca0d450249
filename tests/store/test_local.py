"""The local reader alone: runs, files, damage."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import numpy as np
import pytest
from stores import data_server, profile
from tensorboard.backend.event_processing.data_ingester import _parse_event_files_spec
from tensorboard.backend.event_processing.plugin_event_multiplexer import EventMultiplexer
from tensorboard.compat.proto.event_pb2 import Event
from tensorboard.compat.proto.summary_pb2 import Summary
from tensorboard.util.tensor_util import make_tensor_proto

from stepscope.errors import DamagedRecord, NotFound
from stepscope.store import rundirs
from stepscope.store.local import LocalStore
from stepscope.store.sink import EventFileSink
from stepscope.store.tfrecord import frame
from stepscope.store.writing import RecordWriter


def write(directory: Path, *names: str, size: int = 3) -> Path:
    """Writes profiles of these names into an event file of their own."""
    sink = EventFileSink(directory)
    writer = RecordWriter(sink)
    for name in names:
        writer.write(profile(size), name=name)
    sink.close()
    assert sink.path is not None
    return sink.path


def fresh(logdir: Path | str = "", logdir_spec: str = "") -> LocalStore:
    store = LocalStore(logdir, logdir_spec)
    store.refresh()
    return store


def names_of(store: LocalStore) -> list[str]:
    return [entry.name for entry in store.entries()]


STRANGE_RUNS = [
    'a "quoted" run',
    "back\\slash",
    "tab\tand\nline",
    "🦊 größe",
    "100 %",
    " space ",
    "deep/er/run",
]


def test_runs_are_named_as_tensorboard_names_them(tmp_path: Path) -> None:
    for run in [".", *STRANGE_RUNS]:
        write(tmp_path / run, "p")
    (tmp_path / "empty").mkdir()
    multiplexer = EventMultiplexer().AddRunsFromDirectory(str(tmp_path))
    store = fresh(tmp_path)
    assert set(store.runs()) == set(multiplexer.Runs()) == {".", *STRANGE_RUNS}
    for entry in store.entries():
        assert store.read(entry) == profile(3)


@pytest.mark.parametrize(
    "spec",
    [
        "{0}/a,{0}/b",
        "x:{0}/a,y:{0}/b",
        "x:{0}/a,x2:{0}/a",
        "{0}/with:colon",
        "r:{0}/with:colon",
        "x:{0}/absent",
        "",
    ],
)
def test_logdir_spec_names_runs_as_tensorboard_does(tmp_path: Path, spec: str) -> None:
    for run in ("a", "a/sub", "b", "with:colon"):
        write(tmp_path / run, "p")
    spec = spec.format(tmp_path)
    multiplexer = EventMultiplexer()
    for path, name in _parse_event_files_spec(spec).items() if spec else ():
        multiplexer.AddRunsFromDirectory(path, name)
    assert set(fresh(logdir_spec=spec).runs()) == set(multiplexer.Runs())


def test_specs_are_split_as_tensorboard_splits_them() -> None:
    for spec in ("a:/x,b:/y", "/x:y,z", "s3://bucket/a,n:gs://b/c", "n:rel/path", "a:b:c", "~/x"):
        ours = {path: name or None for path, name in rundirs.roots("", spec).items()}
        assert ours == _parse_event_files_spec(spec)
    assert rundirs.roots("~", "a:b") == {os.path.expanduser("~"): ""}


def test_two_directories_of_one_name_are_one_run(tmp_path: Path) -> None:
    write(tmp_path / "a", "from a")
    write(tmp_path / "b", "from b")
    store = fresh(logdir_spec=f"x:{tmp_path}/a,x:{tmp_path}/b")
    assert [(e.run, e.name) for e in store.entries()] == [("x/.", "from a"), ("x/.", "from b")]


def test_two_live_writers_in_one_run_are_both_read(tmp_path: Path) -> None:
    sinks = [EventFileSink(tmp_path / "run") for _ in range(2)]
    writers = [RecordWriter(sink) for sink in sinks]
    store = fresh(tmp_path)
    for turn in range(6):
        writers[turn % 2].write(profile(turn + 1), name=f"turn{turn}")
        sinks[turn % 2].flush()
        store.refresh()
        assert names_of(store) == [f"turn{t}" for t in range(turn + 1)]
    for sink in sinks:
        sink.close()


def test_only_new_bytes_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, "a")
    store = fresh(tmp_path)
    with monkeypatch.context() as patched:
        patched.setattr(
            "builtins.open", lambda *_, **__: pytest.fail("an unchanged file was opened")
        )
        store.refresh()
    write(tmp_path, "b")
    store.refresh()
    assert names_of(store) == ["a", "b"]


@pytest.mark.parametrize("hurt", [8, 40])
def test_a_damaged_record_costs_that_record_and_is_said(tmp_path: Path, hurt: int) -> None:
    path = write(tmp_path / "run", "a", "b", "c")
    whole = path.read_bytes()
    data = bytearray(whole)
    # The second record of ours: the version event, "a", then "b".
    offset = second = 0
    for _ in range(2):
        second = offset = offset + 16 + int.from_bytes(data[offset : offset + 8], "little")
    data[second + hurt] ^= 1
    path.write_bytes(data)
    store = fresh(tmp_path)
    assert names_of(store) == ["a", "c"]
    (problem,) = store.problems()
    assert (problem.run, problem.where) == ("run", f"{path}, byte {second}")
    assert problem.count == 16 + int.from_bytes(whole[second : second + 8], "little")
    assert "lost" in problem.remedy


def test_any_flipped_byte_costs_at_most_the_record_that_it_is_in(tmp_path: Path) -> None:
    path = write(tmp_path, "a", "b", "c")
    whole = path.read_bytes()
    for at in range(0, len(whole), 7):
        data = bytearray(whole)
        data[at] ^= 1 << at % 8
        path.write_bytes(data)
        store = fresh(tmp_path)
        assert len(store.problems()) == 1
        assert len(store.entries()) >= 2
        assert all(store.read(entry) == profile(3) for entry in store.entries())


def test_a_file_cut_off_after_it_was_indexed_is_an_error_on_reading(tmp_path: Path) -> None:
    path = write(tmp_path, "a")
    store = fresh(tmp_path)
    (entry,) = store.entries()
    os.truncate(path, 100)
    with pytest.raises(DamagedRecord, match=path.name):
        store.read(entry)
    store.refresh()
    assert store.entries() == []


def test_a_record_that_is_not_complete_is_said_until_it_is(tmp_path: Path) -> None:
    path = write(tmp_path, "a", "b")
    whole = path.read_bytes()
    path.write_bytes(whole[:-40])
    store = fresh(tmp_path)
    assert names_of(store) == ["a"]
    (problem,) = store.problems()
    assert problem.what == f"record is incomplete: {problem.count} bytes"
    with path.open("ab") as file:
        file.write(whole[-40:])
    store.refresh()
    assert (names_of(store), store.problems()) == (["a", "b"], [])


def test_a_record_of_another_program_that_is_not_complete_is_waited_for_in_silence(
    tmp_path: Path,
) -> None:
    event = Event(summary=Summary(value=[Summary.Value(tag="loss", simple_value=1.0)]))
    (tmp_path / "events.out.tfevents.1.foreign").write_bytes(frame(event.SerializeToString())[:-1])
    assert fresh(tmp_path).problems() == []


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_a_pipe_beside_event_files_is_passed_over(tmp_path: Path) -> None:
    write(tmp_path, "a")
    os.mkfifo(tmp_path / "events.out.tfevents.1.pipe")
    assert names_of(fresh(tmp_path)) == ["a"]


@pytest.mark.parametrize("wall_time_s", [float("nan"), float("inf"), -1e300])
def test_a_scalar_at_no_time_is_left_out_and_said(tmp_path: Path, wall_time_s: float) -> None:
    sink = EventFileSink(tmp_path)
    for step, when in ((1, 10.0), (2, wall_time_s), (3, 12.0)):
        sink.add_scalars({"avg_samples_per_sec": 5.0}, step=step, wall_time_s=when)
    sink.close()
    store = fresh(tmp_path)
    (series,) = store.scalar_series()
    assert series.step.tolist() == [1, 3]
    assert "scalar has an impossible wall time" in store.problems()[0].what


def test_files_and_runs_that_disappear_are_forgotten(tmp_path: Path) -> None:
    first, second = write(tmp_path / "run", "a"), write(tmp_path / "run", "b")
    store = fresh(tmp_path)
    gone = store.entries()[0]
    first.unlink()
    with pytest.raises(NotFound, match="Refresh"):
        store.read(gone)
    store.refresh()
    assert names_of(store) == ["b"]
    second.unlink()
    store.refresh()
    assert store.runs() == []
    (tmp_path / "run").rmdir()
    tmp_path.rmdir()
    store.refresh()
    assert store.entries() == store.problems() == []


def test_a_file_that_is_replaced_is_read_anew(tmp_path: Path) -> None:
    path = write(tmp_path / "run", "a", "b")
    store = fresh(tmp_path)
    other = write(tmp_path / "elsewhere", "c", size=50)
    os.replace(other, path)
    store.refresh()
    assert [(e.run, e.name) for e in store.entries()] == [("run", "c")]


def test_links_are_followed_but_not_in_circles(tmp_path: Path) -> None:
    write(tmp_path / "logs" / "run", "a")
    write(tmp_path / "outside", "b")
    (tmp_path / "logs" / "linked").symlink_to(tmp_path / "outside")
    (tmp_path / "logs" / "run" / "up").symlink_to(tmp_path / "logs")
    (tmp_path / "logs" / "dangling").symlink_to(tmp_path / "nowhere")
    assert fresh(tmp_path / "logs").runs() == ["linked", "run"]


def test_a_directory_that_cannot_be_listed_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path / "good", "a")
    (tmp_path / "locked").mkdir()
    scandir = os.scandir

    def guarded(path: str) -> object:
        if str(path).endswith("locked"):
            raise PermissionError(13, "Permission denied")
        return scandir(path)

    monkeypatch.setattr(os, "scandir", guarded)
    store = fresh(tmp_path)
    assert store.runs() == ["good"]
    assert [(p.where, p.what) for p in store.problems()] == [
        (str(tmp_path / "locked"), "directory cannot be listed (Permission denied)")
    ]


def test_what_is_no_event_file_is_said_and_hides_nothing(tmp_path: Path) -> None:
    (tmp_path / "events.out.tfevents.notes").write_text(
        "these are notes, not events, and rather long ones"
    )
    write(tmp_path, "a")
    store = fresh(tmp_path)
    assert names_of(store) == ["a"]
    (problem,) = store.problems()
    assert "byte 0" in problem.where


def test_an_event_that_is_none_is_said(tmp_path: Path) -> None:
    sink = EventFileSink(tmp_path)
    sink._add([b"\x0a\xff stepscope avg_x_per_sec"])
    sink.close()
    assert [problem.what for problem in fresh(tmp_path).problems()] == [
        "record is not an event, 26 bytes"
    ]


def test_scalars_written_as_tensors_are_read(tmp_path: Path) -> None:
    sink = EventFileSink(tmp_path)
    for step, number in enumerate([1.5, np.float64(2.5), np.int32(3), "four", np.ones(2)]):
        value = Summary.Value(tag="avg_images_per_sec", tensor=make_tensor_proto(number))
        sink._add(
            [Event(step=step, wall_time=1.0, summary=Summary(value=[value])).SerializeToString()]
        )
    sink.close()
    (series,) = fresh(tmp_path).scalar_series()
    assert series.step.tolist() == [0, 1, 2]
    assert series.value.tolist() == [1.5, 2.5, 3.0]


def test_scalars_of_several_files_follow_each_other(tmp_path: Path) -> None:
    for start in (0, 3):
        sink = EventFileSink(tmp_path)
        for step in range(start, start + 3):
            sink.add_scalars({"avg_samples_per_sec": step}, step=step, wall_time_s=1.0)
        sink.close()
    (series,) = fresh(tmp_path).scalar_series()
    assert series.step.tolist() == [0, 1, 2, 3, 4, 5]


def test_threads_may_read_while_others_refresh(tmp_path: Path) -> None:
    sink = EventFileSink(tmp_path)
    writer = RecordWriter(sink)
    writer.write(profile(1), name="p", block=0)
    sink.flush()
    store = fresh(tmp_path)
    errors: list[BaseException] = []

    def read() -> None:
        try:
            for _ in range(40):
                store.refresh()
                record = store.read(store.entries()[0])
                assert record == profile(record.rows)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=read) for _ in range(4)]
    for thread in threads:
        thread.start()
    for size in range(2, 60):
        writer.write(profile(size), name="p", block=0, version=size - 1)
        sink.flush()
    for thread in threads:
        thread.join()
    sink.close()
    assert errors == []


def test_neither_of_tensorboards_loaders_finds_fault_with_our_files(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, caplog: pytest.LogCaptureFixture
) -> None:
    write(tmp_path / "run", *(f"p{i}" for i in range(30)))
    with data_server(tmp_path, tmp_path_factory.mktemp("server")) as (provider, log):
        while not provider.list_blob_sequences(None, experiment_id="", plugin_name="stepscope"):
            pass
        assert log.read_text() == ""
    multiplexer = EventMultiplexer().AddRunsFromDirectory(str(tmp_path))
    multiplexer.Reload()
    assert len(multiplexer.PluginRunToTagToContent("stepscope")["run"]) == 30
    assert [record for record in caplog.records if record.levelname in ("WARNING", "ERROR")] == []

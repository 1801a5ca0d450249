"""What holds with every reader: the local one, and TensorBoard's fast and slow loader."""

from __future__ import annotations

import contextlib
import dataclasses
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from stores import OpenStore, data_server, profile, settle, slow_loader
from tensorboard import context
from tensorboard.backend.event_processing.event_file_loader import EventFileLoader
from tensorboard.compat.proto.event_pb2 import Event, SessionLog

from stepscope.errors import DamagedRecord, LimitExceeded, NewerSchema, NotFound
from stepscope.model.profile import Profile
from stepscope.pb import storage_pb2
from stepscope.store import envelope, names, reading, tfrecord, writing
from stepscope.store.local import LocalStore
from stepscope.store.provider import ProviderStore
from stepscope.store.reading import RecordEntry, RecordStore
from stepscope.store.sink import EventFileSink
from stepscope.store.writing import RecordWriter


@pytest.fixture(params=["local", "provider-fast", "provider-slow"])
def reader(request: pytest.FixtureRequest) -> str:
    """The name of a reader."""
    return str(request.param)


@pytest.fixture
def open_store(reader: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[OpenStore]:
    """Opens a log directory with the reader under test."""
    with contextlib.ExitStack() as stack:

        def open_(logdir: Path) -> RecordStore:
            if reader == "local":
                return LocalStore(logdir)
            if reader == "provider-fast":
                provider, _ = stack.enter_context(
                    data_server(logdir, tmp_path_factory.mktemp("server"))
                )
            else:
                provider = stack.enter_context(slow_loader(logdir))
            return ProviderStore(provider, context.RequestContext())

        yield open_


def names_of(store: RecordStore) -> set[str]:
    return {entry.name for entry in store.entries()}


def only(store: RecordStore) -> RecordEntry:
    (entry,) = store.entries()
    return entry


def test_what_was_written_is_read(tmp_path: Path, open_store: OpenStore) -> None:
    sink = EventFileSink(tmp_path / "run")
    before = time.time_ns()
    tag = RecordWriter(sink, session="s1").write(profile(7), name="train", steps=(3, 9))
    sink.close()
    store = open_store(tmp_path)
    settle(store, lambda s: len(s.entries()) == 1)
    entry = only(store)
    assert entry._replace(written_wall_ns=0, size_bytes=0) == RecordEntry(
        run="run",
        kind="profile",
        name="train",
        tag=tag,
        session="s1",
        block=0,
        version=0,
        closed=True,
        first_step=3,
        last_step=9,
        rows=7,
        schema=1,
        producer=writing.PRODUCER,
        written_wall_ns=0,
        size_bytes=0,
    )
    assert before <= entry.written_wall_ns <= time.time_ns()
    assert entry.size_bytes > 7 * 4
    assert store.read(entry) == profile(7)
    assert store.runs() == ["run"]
    assert store.problems() == []


def test_groups_that_are_not_asked_for_come_out_empty(
    tmp_path: Path, open_store: OpenStore
) -> None:
    sink = EventFileSink(tmp_path)
    RecordWriter(sink).write(dataclasses.replace(profile(5), tick_ps=1), name="p")
    sink.close()
    store = open_store(tmp_path)
    settle(store, lambda s: len(s.entries()) == 1)
    record = store.read(only(store), groups={"strings", "nodes"})
    assert isinstance(record, Profile)
    assert record.nodes == profile(5).nodes
    assert record.strings == profile(5).strings
    assert len(record.node_steps) == 0
    assert record.tick_ps == 1
    assert store.runs() == ["."]


def test_a_thousand_records_of_one_kind_are_all_kept(tmp_path: Path, open_store: OpenStore) -> None:
    sink = EventFileSink(tmp_path / "run")
    writer = RecordWriter(sink)
    for step in range(1000):
        writer.write(profile(2, seed=step), name="p", steps=(step, step))
    sink.close()
    store = open_store(tmp_path)
    settle(store, lambda s: len(s.entries()) == 1000)
    assert [entry.block for entry in store.entries()] == list(range(1000))
    assert [entry.first_step for entry in store.entries()] == list(range(1000))
    for entry in store.entries()[::200]:
        assert store.read(entry) == profile(2, seed=entry.block)


def test_a_block_rewritten_200_times_only_grows_while_it_is_read(
    tmp_path: Path, open_store: OpenStore
) -> None:
    sink = EventFileSink(tmp_path / "run")
    writer = RecordWriter(sink)

    def write() -> None:
        for version in range(200):
            closed = version == 199
            writer.write(profile(version + 1), name="p", block=0, version=version, closed=closed)
            sink.flush()
            time.sleep(0.01)

    thread = threading.Thread(target=write)
    thread.start()
    store = open_store(tmp_path)
    rows = 0
    while thread.is_alive() or rows < 200:
        settle(store, lambda s: len(s.entries()) == 1)
        record = store.read(only(store))
        assert isinstance(record, Profile)
        assert len(record.nodes) >= rows
        assert record == profile(len(record.nodes))
        rows = len(record.nodes)
    thread.join()
    settle(store, lambda s: only(s).closed)
    assert only(store).version == 199
    assert only(store).rows == 200
    assert store.problems() == []
    sink.close()


def test_restart_with_overlapping_steps_and_another_writers_purge_loses_nothing(
    tmp_path: Path, open_store: OpenStore
) -> None:
    run = tmp_path / "run"
    first = EventFileSink(run)
    writer = RecordWriter(first, session="first")
    for step in range(10):
        writer.write(profile(2, seed=step), name="p", steps=(step, step))
        first.add_scalars({"loss": step}, step=step, wall_time_s=float(step))
    first.close()
    second = EventFileSink(run)
    purge = Event(wall_time=20, step=5, session_log=SessionLog(status=SessionLog.START))
    second._add([purge.SerializeToString()])
    writer = RecordWriter(second, session="second")
    for step in range(5, 8):
        second.add_scalars({"loss": step}, step=step, wall_time_s=20.0 + step)
        writer.write(profile(3, seed=step), name="p", steps=(step, step))
    second._add([purge.SerializeToString()])
    second.close()
    store = open_store(tmp_path)
    settle(store, lambda s: len(s.entries()) == 13)
    assert [(e.session, e.first_step) for e in store.entries()] == [
        *(("first", step) for step in range(10)),
        *(("second", step) for step in range(5, 8)),
    ]
    for entry in store.entries():
        assert store.read(entry) == profile(
            2 if entry.session == "first" else 3, seed=entry.first_step
        )


STRANGE_NAMES = [
    'a "quoted" name',
    "back\\slash\\",
    "line\nfeed\ttab\x00nul\x7f\x85",
    "emoji 🦊 und Größe 数",
    "100 % of %41",
    "a/b//c/",
    " spaces ",
    "s-1",
    ".part1",
    "",
]


def test_any_name_can_be_read(tmp_path: Path, open_store: OpenStore) -> None:
    sink = EventFileSink(tmp_path)
    writer = RecordWriter(sink)
    for seed, name in enumerate(STRANGE_NAMES):
        writer.write(profile(3, seed=seed), name=name)
    sink.close()
    store = open_store(tmp_path)
    settle(store, lambda s: len(s.entries()) == len(STRANGE_NAMES))
    assert names_of(store) == set(STRANGE_NAMES)
    for entry in store.entries():
        assert store.read(entry) == profile(3, seed=STRANGE_NAMES.index(entry.name))
    assert store.problems() == []


def test_a_torn_tail_is_read_once_it_is_complete(tmp_path: Path, open_store: OpenStore) -> None:
    sink = EventFileSink(tmp_path / "whole")
    writer = RecordWriter(sink)
    for name in ("a", "b"):
        writer.write(profile(4), name=name)
    sink.close()
    assert sink.path is not None
    whole = sink.path.read_bytes()
    logdir = tmp_path / "logs"
    (logdir / "run").mkdir(parents=True)
    with (logdir / "run" / sink.path.name).open("wb", buffering=0) as file:
        file.write(whole[:-100])
        store = open_store(logdir)
        settle(store, lambda s: names_of(s) == {"a"})
        file.write(whole[-100:])
    settle(store, lambda s: names_of(s) == {"a", "b"})
    assert store.problems() == []
    assert [store.read(entry) for entry in store.entries()] == [profile(4), profile(4)]


class NewerProfile(Profile):
    """A profile as a later version of StepScope writes it."""

    SCHEMA = Profile.SCHEMA + 1


class UnknownKind(Profile):
    """A kind that only a later version knows."""

    KIND = "hologram"


def test_what_a_newer_version_wrote_is_listed_and_said(
    tmp_path: Path, open_store: OpenStore
) -> None:
    sink = EventFileSink(tmp_path / "run")
    writer = RecordWriter(sink)
    records = {
        "new": NewerProfile(nodes=profile(2).nodes, strings=profile(2).strings),
        "odd": UnknownKind(),
    }
    for name, record in {**records, "good": profile(2)}.items():
        writer.write(record, name=name)
    sink.close()
    store = open_store(tmp_path)
    settle(store, lambda s: len(s.entries()) == 3)
    entries = {entry.name: entry for entry in store.entries()}
    with pytest.raises(NewerSchema, match=r"schema 2, newer than the 1 .* pip install"):
        store.read(entries["new"])
    with pytest.raises(NewerSchema, match="unknown kind 'hologram'"):
        store.read(entries["odd"])
    assert store.read(entries["good"]) == profile(2)
    assert {problem.where for problem in store.problems()} == {
        entries["new"].tag,
        entries["odd"].tag,
    }
    assert all("Upgrade StepScope" in problem.remedy for problem in store.problems())


def test_a_large_record_is_cut_into_parts_and_rewritten_whole(
    tmp_path: Path, open_store: OpenStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writing, "PART_BYTES", 2000)
    sink = EventFileSink(tmp_path / "run")
    writer = RecordWriter(sink)
    writer.write(profile(3000, seed=1), name="p", block=0, closed=False)
    sink.flush()
    store = open_store(tmp_path)
    settle(store, lambda s: len(s.entries()) == 1)
    assert store.read(only(store)) == profile(3000, seed=1)
    writer.write(profile(5000, seed=2), name="p", block=0, version=1)
    sink.close()
    settle(store, lambda s: only(s).version == 1)
    assert store.read(only(store)) == profile(5000, seed=2)
    assert store.read(only(store), groups=["steps"]).rows == 0


def test_a_part_that_was_never_written_is_an_error(tmp_path: Path, open_store: OpenStore) -> None:
    sink = EventFileSink(tmp_path / "run")
    index = storage_pb2.RecordIndex(kind="profile", name="p", schema=1, session="s", parts=3)
    table = storage_pb2.ElementTable()
    table.elements.add(fields=["header"], part=2, position=0)
    blobs = [envelope.pack(message.SerializeToString()) for message in (index, table)]
    sink.add_blobs(names.tag_of("profile", "p", "s", 0), b"", blobs, step=0, wall_time_s=1.0)
    sink.close()
    store = open_store(tmp_path)
    settle(store, lambda s: len(s.entries()) == 1)
    with pytest.raises((DamagedRecord, NotFound)):
        store.read(only(store))


def test_a_read_has_a_limit(
    tmp_path: Path, open_store: OpenStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    sink = EventFileSink(tmp_path / "run")
    RecordWriter(sink).write(profile(500), name="p")
    sink.close()
    store = open_store(tmp_path)
    settle(store, lambda s: len(s.entries()) == 1)
    monkeypatch.setattr(reading, "LARGEST_READ_BYTES", 5000)
    with pytest.raises(
        LimitExceeded, match=r"^run .*table of elements: profile record is larger than 5000 bytes"
    ):
        store.read(only(store))
    assert store.read(only(store), groups=["steps"]).rows == 0


def test_a_damaged_element_is_found_though_the_record_around_it_is_whole(
    tmp_path: Path, open_store: OpenStore
) -> None:
    sink = EventFileSink(tmp_path / "run")
    add_blobs = sink.add_blobs

    def damage(
        tag: str, content: bytes, blobs: list[bytes], *, step: int, wall_time_s: float
    ) -> None:
        last = bytearray(blobs[-1])
        last[-1] ^= 1
        add_blobs(tag, content, [*blobs[:-1], bytes(last)], step=step, wall_time_s=wall_time_s)

    sink.add_blobs = damage  # type: ignore[assignment, method-assign]
    RecordWriter(sink).write(profile(5000), name="p")
    sink.close()
    store = open_store(tmp_path)
    settle(store, lambda s: len(s.entries()) == 1)
    with pytest.raises(DamagedRecord, match="checksum"):
        store.read(only(store))
    assert len(store.read(only(store), groups=["strings"]).strings) == 5000  # type: ignore[attr-defined]


def test_an_unreadable_index_is_a_problem_of_its_record_alone(
    tmp_path: Path, open_store: OpenStore
) -> None:
    sink = EventFileSink(tmp_path / "run")
    for block, index in enumerate([b"\xff\xff", b"", envelope.pack(b"\xff"), envelope.pack(b"")]):
        sink.add_blobs(
            names.tag_of("profile", "bad", "s", block), b"", [index], step=0, wall_time_s=1.0
        )
    RecordWriter(sink).write(profile(2), name="good")
    sink.close()
    store = open_store(tmp_path)
    settle(store, lambda s: names_of(s) == {"good"} and len(s.problems()) == 4)
    assert {problem.run for problem in store.problems()} == {"run"}


def test_a_record_that_is_gone_is_not_found(tmp_path: Path, open_store: OpenStore) -> None:
    sink = EventFileSink(tmp_path / "run")
    RecordWriter(sink).write(profile(2), name="p")
    sink.close()
    store = open_store(tmp_path)
    settle(store, lambda s: len(s.entries()) == 1)
    with pytest.raises(NotFound):
        store.read(only(store)._replace(tag="stepscope/profile/p/none-0"))


def test_scalars_of_rates_are_series_and_others_are_not(
    tmp_path: Path, open_store: OpenStore
) -> None:
    sink = EventFileSink(tmp_path / "run")
    for step in range(20):
        for tag in (
            "avg_samples_per_sec",
            "eval/local_tokens_per_sec",
            "loss",
            "avg_samples_per_sec/x",
            "per_sec",
        ):
            sink.add_scalars({tag: step / 4}, step=step, wall_time_s=100.0 + step)
    sink.close()
    store = open_store(tmp_path)
    settle(store, lambda s: len(s.scalar_series()) == 2 and len(s.scalar_series()[0].step) == 20)
    assert [(s.run, s.tag) for s in store.scalar_series()] == [
        ("run", "avg_samples_per_sec"),
        ("run", "eval/local_tokens_per_sec"),
    ]
    for series in store.scalar_series():
        assert series.step.tolist() == list(range(20))
        assert np.array_equal(series.value, np.arange(20) / 4)
        assert np.array_equal(series.wall_time_s, np.arange(20) + 100.0)
    assert store.runs() == ["run"]


def test_values_of_other_plugins_are_passed_over(tmp_path: Path, open_store: OpenStore) -> None:
    sink = EventFileSink(tmp_path / "run")
    sink.add_scalars({"stepscope/profile/p/s-0": 1.0}, step=0, wall_time_s=1.0)
    sink._add([Event(wall_time=1.0, graph_def=b"\x0a\x09stepscope" * 1000).SerializeToString()])
    RecordWriter(sink).write(profile(2), name="p")
    sink.close()
    store = open_store(tmp_path)
    settle(store, lambda s: len(s.entries()) == 1)
    assert store.read(only(store)) == profile(2)
    assert store.problems() == []


def test_framing_is_ours_and_read_by_tensorboard(tmp_path: Path) -> None:
    sink = EventFileSink(tmp_path)
    RecordWriter(sink).write(profile(2), name="p")
    sink.close()
    events = list(EventFileLoader(str(sink.path)).Load())
    assert [event.WhichOneof("what") for event in events] == ["file_version", "summary"]
    assert len(list(tfrecord.RecordReader(str(sink.path)).read_new())) == 2

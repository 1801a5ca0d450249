"""Records that change while they are being asked about."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from tensorboard.compat.proto.event_pb2 import Event

import stepscope
from stepscope.errors import DamagedRecord, NotFound
from stepscope.model.throughput import Throughput
from stepscope.session.store_catalog import StoreCatalog
from stepscope.store.local import LocalStore
from stepscope.store.tfrecord import RecordReader, frame


def listed(logdir: Path) -> StoreCatalog:
    catalog = StoreCatalog(LocalStore(str(logdir)))
    catalog.refresh()
    return catalog


def test_a_series_that_grew_after_it_was_listed_is_read_as_it_is_now(tmp_path: Path) -> None:
    with stepscope.Writer(str(tmp_path)) as writer:
        rate = writer.throughput("train", log_every=1)
        rate.add(8, step=1)
        writer.flush()
        catalog = listed(tmp_path)
        (before,) = catalog.refs()
        rate.add(8, step=2)
        writer.flush()
        catalog.refresh()
        assert catalog.refs() != [before]
        record = catalog.read(before)
    assert isinstance(record, Throughput)
    assert record.marks.step.tolist() == [1, 2]


def test_a_record_that_is_gone_is_said_to_be_gone(tmp_path: Path) -> None:
    with stepscope.Writer(str(tmp_path / "run")) as writer:
        writer.throughput("train", log_every=1).add(8, step=1)
    catalog = listed(tmp_path)
    (before,) = catalog.refs()
    shutil.rmtree(tmp_path / "run")
    catalog.refresh()
    with pytest.raises(NotFound, match="train"):
        catalog.read(before)


def hurt(logdir: Path, run: str, *, records: int) -> None:
    """Flips a byte in an element behind the index of so many records, and mends the event's own checksum."""
    (path,) = (logdir / run).iterdir()
    events = [Event.FromString(payload) for _, payload in RecordReader(str(path)).read_new()]
    for event in [event for event in events if event.summary.value][:records]:
        strings = event.summary.value[0].tensor.string_val
        strings[-1] = strings[-1][:-1] + bytes([strings[-1][-1] ^ 1])
    path.write_bytes(b"".join(frame(event.SerializeToString()) for event in events))


def test_a_damaged_run_does_not_hide_the_others(tmp_path: Path) -> None:
    for run in ("bad", "good"):
        with stepscope.Writer(str(tmp_path / run)) as writer:
            writer.throughput("train").add(8, step=1)
    hurt(tmp_path, "bad", records=1)
    source = stepscope.open(tmp_path, run="*")
    assert [series["run"] for series in source.throughput().to_json()["series"]] == ["good"]
    (problem,) = source.problems()
    assert (problem.run, problem.what) == ("bad", "element checksum does not match")
    with pytest.raises(DamagedRecord, match="checksum does not match"):
        source.select(run="bad").throughput()


def test_a_damaged_block_costs_that_block_and_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("stepscope.shim.throughput_log.BLOCK_MARKS", 2)
    with stepscope.Writer(str(tmp_path / "run"), flush_secs=3600) as writer:
        rate = writer.throughput("train")
        for step in range(1, 7):
            rate.add(8, step=step)
            if step % 2 == 0:
                writer.flush()
    hurt(tmp_path, "run", records=1)
    record = stepscope.open(tmp_path).record("throughput")
    assert isinstance(record, Throughput)
    assert record.marks.step.tolist() == [3, 4, 5, 6]
    assert "element checksum does not match" in [loss.what for loss in record.header.losses]


def test_a_record_that_can_be_read_again_is_no_problem_any_more(tmp_path: Path) -> None:
    with stepscope.Writer(str(tmp_path / "run")) as writer:
        writer.throughput("train").add(8, step=1)
    (path,) = (tmp_path / "run").iterdir()
    whole = path.read_bytes()
    hurt(tmp_path, "run", records=1)
    catalog = listed(tmp_path)
    (ref,) = catalog.refs()
    with pytest.raises(DamagedRecord):
        catalog.read(ref)
    assert [problem.what for problem in catalog.problems()] == ["element checksum does not match"]
    path.write_bytes(whole)
    catalog.read(ref, ())
    assert len(catalog.problems()) == 1, "its header alone says nothing of the rest"
    catalog.read(ref)
    assert catalog.problems() == []

"""Records that change while they are being asked about."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import stepscope
from stepscope.errors import NotFound
from stepscope.model.throughput import Throughput
from stepscope.queries.catalog import StoreCatalog
from stepscope.store.local import LocalStore


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

"""A live series is whole at every flush, whatever block or tail its rows lie in."""

from __future__ import annotations

import tempfile
from contextlib import ExitStack
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from shim_records import Clock, stored

import stepscope
from stepscope.model.throughput import Throughput
from stepscope.model.throughput_merge import merge
from stepscope.session.opening import open as open_source
from stepscope.shim import throughput_log
from stepscope.shim.throughput_log import ThroughputLog
from stepscope.store.local import LocalStore

ACTIONS = st.sampled_from(
    ["add", "add", "add", "sample", "reset", "span", "begin", "end", "flush", "flush"]
)


class Truth:
    """What was logged, kept beside the series. Times are readings of the fake clock."""

    def __init__(self, log: ThroughputLog, clock: Clock) -> None:
        self.log = log
        self.clock = clock
        self.marks: list[int] = []
        self.samples: list[tuple[int, int]] = []
        self.resets: list[tuple[int, int, int]] = []
        self.spans: list[str] = []
        self.open_span: ExitStack | None = None

    def do(self, action: str) -> None:
        self.clock.now += 1 + len(self.marks) % 3
        getattr(self, action)()

    def add(self) -> None:
        step = len(self.marks) + 1
        self.log.add(2, step=step)
        self.marks.append(step)

    def sample(self) -> None:
        self.log.sample()
        self.samples.append((len(self.marks), len(self.marks)))

    def reset(self) -> None:
        self.log.reset()
        self.resets.append((self.clock.now, len(self.marks), len(self.samples)))

    def span(self) -> None:
        with self.log.span("evaluation"):
            pass
        self.spans.append("evaluation")

    def begin(self) -> None:
        if self.open_span is None:
            self.open_span = ExitStack()
            self.open_span.enter_context(self.log.span("checkpoint"))

    def end(self) -> None:
        if self.open_span is not None:
            self.open_span.close()
            self.open_span = None
            self.spans.append("checkpoint")

    def is_empty(self) -> bool:
        return not (self.marks or self.samples or self.resets or self.spans or self.open_span)

    def agrees(self, record: Throughput) -> None:
        record.validate()
        assert record.header.losses == ()
        assert record.marks.step.tolist() == self.marks
        assert (
            list(zip(record.samples.step.tolist(), record.samples.mark_end.tolist(), strict=True))
            == self.samples
        )
        resets = record.resets
        places = zip(
            resets.time_ns + record.base_ns, resets.mark_end, resets.sample_end, strict=True
        )
        assert [tuple(map(int, place)) for place in places] == self.resets
        ended = [record.strings[kind] for kind in record.spans.kind[record.spans.open == 0]]
        assert ended == self.spans
        still = [record.strings[kind] for kind in record.spans.kind[record.spans.open == 1]]
        assert still == (["checkpoint"] if self.open_span else [])


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(throughput_log, "BLOCK_MARKS", 9)
    monkeypatch.setattr(throughput_log, "BLOCK_VERSIONS", 3)
    monkeypatch.setattr(throughput_log, "TAIL_MARKS", 5)
    monkeypatch.setattr(throughput_log, "TAIL_VERSIONS", 2)


@settings(max_examples=100)
@given(st.lists(ACTIONS, max_size=60))
@example(["add", "begin", "flush", "add", "flush"])
def test_stored_series_equals_what_was_logged_at_every_flush(actions: list[str]) -> None:
    clock = Clock()
    with tempfile.TemporaryDirectory() as folder:
        with stepscope.Writer(folder, clock=clock, flush_secs=3600) as writer:
            truth = Truth(writer.throughput(), clock)
            for action in actions:
                if action != "flush":
                    truth.do(action)
                    continue
                writer.flush()
                if not truth.is_empty():
                    truth.agrees(stored(Path(folder)))
            truth.end()
        if not truth.is_empty():
            truth.agrees(stored(Path(folder)))


def test_rows_of_a_live_record_are_counted_once(tmp_path: Path) -> None:
    with stepscope.Writer(tmp_path, flush_secs=3600) as writer:
        log = writer.throughput()
        for step in range(1, 40):
            log.add(1, step=step)
            writer.flush()
            (ref,) = open_source(tmp_path).catalog.refs()
            assert ref.rows == step


def test_lost_block_before_a_tail_is_counted(tmp_path: Path) -> None:
    with stepscope.Writer(tmp_path, flush_secs=3600) as writer:
        log = writer.throughput()
        for step in range(1, 18):
            log.add(2, step=step)
            if step in (10, 15, 17):
                writer.flush()
        store = LocalStore(logdir=str(tmp_path))
        store.refresh()
        records = {entry.tag.rpartition("-")[2]: store.read(entry) for entry in store.entries()}
    assert set(records) == {"0", "1", "tail"}
    del records["1"]
    record = merge(records.values())  # type: ignore[arg-type]
    assert record.marks.step.tolist() == [*range(1, 11), 16, 17]
    (loss,) = record.header.losses
    assert loss.count == 10

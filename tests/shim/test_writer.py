"""What a loop logs is in the event file, whole and once, and nothing that goes wrong stops the loop."""

from __future__ import annotations

import gzip
import io
import logging
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from shim_records import Clock, scalars, stored

import stepscope
from stepscope.errors import OptionError
from stepscope.lenses.throughput import analyze
from stepscope.model.columns import Strings
from stepscope.model.profile import Nodes, Profile
from stepscope.model.throughput import ResetKind
from stepscope.shim import throughput_log
from stepscope.sources import content
from stepscope.store.local import LocalStore


def test_a_logged_series_is_read_back_with_the_trackers_rates(tmp_path: Path) -> None:
    clock = Clock()
    tracker = stepscope.RateTracker(0.4, clock)
    want = []
    with stepscope.Writer(tmp_path, clock=clock) as writer:
        rate = writer.throughput("train", log_every=10, smoothing=0.4, batch_size=32)
        for step in range(1, 101):
            clock.now += 10_000_000 * (1 + step % 3)
            rate.add(32, step=step)
            tracker.add(32)
            if step % 10 == 0:
                want.append((tracker.rate(), tracker.global_rate()))
    record = stored(tmp_path)
    series = analyze(record).series[0]
    assert series.step.tolist() == list(range(10, 101, 10))
    assert series.local.tolist() == pytest.approx([local for local, _ in want], rel=1e-12)
    assert series.average.tolist() == pytest.approx([average for _, average in want], rel=1e-12)
    assert (record.sampling_rule, record.log_every, record.batch_size) == ("log_step", 10, 32)
    assert record.first_sample_ns == record.marks.time_ns[0] == 20_000_000
    written = scalars(tmp_path)
    assert written["local_samples_per_sec"].value.tolist() == pytest.approx(
        [local for local, _ in want], rel=1e-6
    )
    assert written["avg_samples_per_sec"].step.tolist() == series.step.tolist()


def test_further_series_have_their_name_and_unit_in_the_scalar_tags(tmp_path: Path) -> None:
    with stepscope.Writer(tmp_path) as writer:
        log = writer.throughput("eval", unit="tokens")
        log.add(5, step=1)
        log.sample()
    assert set(scalars(tmp_path)) == {"eval/local_tokens_per_sec", "eval/avg_tokens_per_sec"}


def test_no_mark_is_lost_across_many_blocks_and_versions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(throughput_log, "BLOCK_MARKS", 50)
    monkeypatch.setattr(throughput_log, "BLOCK_VERSIONS", 4)
    with stepscope.Writer(tmp_path, flush_secs=3600) as writer:
        rate = writer.throughput(log_every=7)
        for step in range(1, 1001):
            rate.add(3, step=step)
            if step % 5 == 0:
                writer.flush()
    record = stored(tmp_path)
    record.validate()
    assert record.marks.step.tolist() == list(range(1, 1001))
    assert record.samples.step.tolist() == list(range(7, 1001, 7))
    assert record.samples.mark_end.tolist() == list(range(7, 1001, 7))
    assert record.header.losses == ()


def test_a_million_marks_are_all_there(tmp_path: Path) -> None:
    with stepscope.Writer(tmp_path) as writer:
        rate = writer.throughput()
        for step in range(1_000_000):
            rate.add(1, step)
    assert np.array_equal(stored(tmp_path).marks.step, np.arange(1_000_000))


def test_spans_and_resets_keep_their_place(tmp_path: Path) -> None:
    clock = Clock()
    with stepscope.Writer(tmp_path, clock=clock) as writer:
        rate = writer.throughput()
        rate.add(1)
        with rate.span("checkpoint"):
            clock.now += 5_000
        rate.reset()
        rate.add(1)
        rate.reset_time(2.5)
        rate.sample()
    record = stored(tmp_path)
    assert [record.strings[kind] for kind in record.spans.kind] == ["checkpoint"]
    assert (record.spans.end_ns - record.spans.start_ns).tolist() == [5_000]
    assert record.resets.kind.tolist() == [ResetKind.RESET, ResetKind.RESET_TIME]
    assert record.resets.mark_end.tolist() == [1, 2]
    assert record.resets.offset_ns.tolist() == [0, 2_500_000_000]


def test_a_span_of_the_writer_is_on_every_open_series(tmp_path: Path) -> None:
    with stepscope.Writer(tmp_path) as writer:
        for name in ("train", "tokens", "closed"):
            writer.throughput(name).add(1)
        writer.throughput("closed").close()
        with writer.span("profile"):
            pass
    store = LocalStore(logdir=str(tmp_path))
    store.refresh()
    spans = {entry.name: len(store.read(entry).spans) for entry in store.entries()}  # type: ignore[attr-defined]
    assert spans == {"train": 1, "tokens": 1, "closed": 0}


def test_a_span_that_has_not_ended_is_in_the_flushed_file(tmp_path: Path) -> None:
    with stepscope.Writer(tmp_path, flush_secs=3600) as writer:
        rate = writer.throughput()
        rate.add(1)
        with rate.span("evaluation"):
            writer.flush()
            assert stored(tmp_path).spans.open.tolist() == [1]
    assert stored(tmp_path).spans.open.tolist() == [0]


@pytest.mark.parametrize(
    ("count", "kept"),
    [(None, -1), (4.0, 4), (np.int32(7), 7), (np.float32(2), 2), (np.array(3), 3), (True, 1)],
)
def test_counts_of_other_types_are_taken_as_what_they_mean(
    tmp_path: Path, count: Any, kept: int
) -> None:
    with stepscope.Writer(tmp_path) as writer:
        rate = writer.throughput()
        rate.add(count)
        rate.add(1)
        assert writer.failures == 0
    assert stored(tmp_path).marks.count.tolist() == [kept, 1]


@pytest.mark.parametrize("count", ["many", 2.5, object(), 2**70, float("nan")])
def test_a_count_that_is_none_is_said_and_the_loop_goes_on(
    tmp_path: Path, count: Any, caplog: pytest.LogCaptureFixture
) -> None:
    with stepscope.Writer(tmp_path) as writer, caplog.at_level(logging.WARNING, "stepscope"):
        rate = writer.throughput(log_every=1)
        rate.add(1, step=1)
        rate.add(count, step=2)
        rate.add(count, step="three")  # type: ignore[arg-type]
        rate.add(1, step=4)
        assert writer.failures == 2
    assert len(caplog.records) == 1
    assert stored(tmp_path).marks.step.tolist() == [1, 4]


def test_steps_of_other_types_are_taken_as_what_they_mean(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    with stepscope.Writer(tmp_path) as writer:
        rate = writer.throughput(log_every=2)
        for step in (np.int64(1), torch.tensor(2), 3.0, np.array(4)):
            rate.add(torch.tensor(8), step=step)  # type: ignore[arg-type]
        rate.sample(torch.tensor(5))
        rate.sample("six")  # type: ignore[arg-type]
        assert writer.failures == 1
    record = stored(tmp_path)
    assert record.marks.step.tolist() == [1, 2, 3, 4]
    assert record.samples.step.tolist() == [2, 4, 5, 4]
    assert scalars(tmp_path)["avg_samples_per_sec"].step.tolist() == [2, 4, 5, 4]


@pytest.mark.parametrize("offset", [None, "soon", float("nan"), float("inf"), 10**400, np.zeros(2)])
def test_an_offset_that_is_none_is_counted_and_the_loop_goes_on(
    tmp_path: Path, offset: Any
) -> None:
    with stepscope.Writer(tmp_path) as writer:
        rate = writer.throughput("train")
        rate.reset_time(offset)
        rate.add(1, step=1)
    assert writer.failures == 1
    assert len(stored(tmp_path).resets) == 0
    assert len(stored(tmp_path).marks) == 1


def test_a_closed_console_does_not_stop_the_loop(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    closed = io.StringIO()
    closed.close()
    with stepscope.Writer(tmp_path) as writer:
        rate = writer.throughput(print_every=1)
        monkeypatch.setattr("sys.stdout", closed)
        rate.add(1, step=1)
        assert writer.failures == 1


def test_a_record_that_breaks_its_rules_is_counted_once_and_not_kept(tmp_path: Path) -> None:
    with stepscope.Writer(tmp_path, flush_secs=3600) as writer:
        writer.log_profile(Profile(nodes=Nodes(name=[7])))  # type: ignore[arg-type]
        writer.flush()
        writer.flush()
        assert writer.failures == 1


def test_a_restarted_step_count_is_sampled_again(tmp_path: Path) -> None:
    with stepscope.Writer(tmp_path) as writer:
        rate = writer.throughput(log_every=10)
        for _epoch in range(2):
            for step in range(25):
                rate.add(1, step=step)
    assert stored(tmp_path).samples.step.tolist() == [10, 20, 10, 20]


def test_microbatches_of_one_step_are_sampled_once(tmp_path: Path) -> None:
    with stepscope.Writer(tmp_path) as writer:
        rate = writer.throughput(log_every=2)
        for step in (1, 1, 2, 2, 3, 3, 4, 4):
            rate.add(8, step=step)
    record = stored(tmp_path)
    assert record.samples.step.tolist() == [2, 4]
    assert int(record.marks.count.sum()) == 64


def test_print_every_prints_the_familiar_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    clock = Clock()
    with stepscope.Writer(tmp_path, clock=clock) as writer:
        rate = writer.throughput(print_every=2)
        for step in range(1, 5):
            clock.now += 4_000_000_000
            rate.add(1 if step < 3 else 10, step=step)
    assert capsys.readouterr().out.splitlines() == [
        "| Train Step=2, Rate=0.25 samples/sec, GlobalRate=0.25 samples/sec",
        "| Train Step=4, Rate=1.60 samples/sec, GlobalRate=1.38 samples/sec",
    ]


class FailingSink:
    """Fails as often as it is told to, then takes everything."""

    def __init__(self, failing: int) -> None:
        self.failing = failing
        self.blobs: list[str] = []
        self.values: list[float] = []

    def _maybe_fail(self) -> None:
        if self.failing:
            self.failing -= 1
            raise OSError("no space left on device")

    def add_blobs(
        self, tag: str, content: bytes, blobs: Sequence[bytes], *, step: int, wall_time_s: float
    ) -> None:
        self._maybe_fail()
        self.blobs.append(tag)

    def add_scalars(self, values: dict[str, float], *, step: int, wall_time_s: float) -> None:
        self._maybe_fail()
        self.values += values.values()

    def flush(self) -> None:
        pass

    def close(self) -> None:
        pass


def test_a_failed_write_is_logged_once_counted_and_tried_again(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    sink = FailingSink(3)
    monkeypatch.setattr("stepscope.shim.writer.sink_for", lambda target: sink)
    with (
        stepscope.Writer(tmp_path, flush_secs=3600) as writer,
        caplog.at_level(logging.WARNING, "stepscope"),
    ):
        rate = writer.throughput()
        rate.add(1, step=1)
        rate.sample()
        for _ in range(4):
            writer.flush()
        assert writer.failures == 3
    assert len(caplog.records) == 1
    assert "no space left" in caplog.text
    assert len(sink.values) == 2
    assert len(sink.blobs) == 2  # the open version and the closed one


def test_a_record_that_cannot_be_written_is_kept_for_the_next_flush(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sink = FailingSink(1)
    monkeypatch.setattr("stepscope.shim.writer.sink_for", lambda target: sink)
    with stepscope.Writer(tmp_path, flush_secs=3600) as writer:
        writer.log_incore(
            np.arange(6).reshape(2, 3), columns=["entry", "producer_done", "end"], step=3
        )
        assert (writer.failures, sink.blobs) == (1, [])
        writer.flush()
        assert len(sink.blobs) == 1


def test_a_kernels_stamps_are_logged_under_their_step(tmp_path: Path) -> None:
    stamps = np.arange(6).reshape(2, 3) + 2**60
    with stepscope.Writer(tmp_path) as writer:
        writer.log_incore(
            stamps, columns={"entry": 0, "producer_done": 1, "end": 2}, step=7, name="matmul"
        )
    store = LocalStore(logdir=str(tmp_path))
    store.refresh()
    (entry,) = store.entries()
    assert (entry.kind, entry.name, entry.first_step) == ("incore", "matmul", 7)
    assert np.array_equal(store.read(entry).matrix()[0], stamps)  # type: ignore[attr-defined]


def test_a_profile_is_logged_as_a_record_or_from_a_file(tmp_path: Path) -> None:
    profile = Profile(strings=Strings.of(["op"]), nodes=Nodes(name=[0]))  # type: ignore[arg-type]
    line = (
        "| Train Device=CSX, Step=100, Loss=7.0, Rate=1.5 samples/sec, GlobalRate=1.5 samples/sec"
    )
    (tmp_path / "run.log").write_text(line)
    with stepscope.Writer(tmp_path / "log") as writer:
        writer.log_profile(profile, step=5, name="mine")
        writer.log_profile(tmp_path / "run.log", name="theirs")
        assert writer.failures == 0
    store = LocalStore(logdir=str(tmp_path / "log"))
    store.refresh()
    found = {entry.name: (entry.kind, entry.first_step) for entry in store.entries()}
    assert found == {"mine": ("profile", 5), "theirs": ("throughput", 100)}


def test_log_profile_never_maps_a_file_that_somebody_may_cut(
    tmp_path: Path, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Refused:
        def __init__(self, *_: object, **__: object) -> None:
            raise AssertionError("mapped")

    monkeypatch.setattr(content, "MAPPED_FROM_BYTES", 0)
    monkeypatch.setattr("stepscope.sources.content.mmap.mmap", Refused)
    profile = gzip.decompress((data / "tfprof/tiny.pb.gz").read_bytes())
    (tmp_path / "profile.pb").write_bytes(profile)
    with stepscope.Writer(tmp_path / "run") as writer:
        writer.log_profile(tmp_path / "profile.pb")
    assert writer.failures == 0


def test_a_file_that_cannot_be_read_does_not_stop_the_loop(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with (
        stepscope.Writer(tmp_path / "log") as writer,
        caplog.at_level(logging.WARNING, "stepscope"),
    ):
        writer.log_profile(tmp_path / "absent.json", step=1)
        writer.log_incore([["no stamp"]], columns=["entry"])
        assert writer.failures == 2
    assert "absent.json: no such file or folder. Check the path. Further" in caplog.text


def test_a_target_that_cannot_be_written_to_is_refused_at_once() -> None:
    with pytest.raises(OptionError, match="object"):
        stepscope.Writer(object())


class Stubborn:
    """Raises whatever is done with it."""

    def _refuse(self, *_: object) -> Any:
        raise ZeroDivisionError

    __int__ = __index__ = __float__ = __str__ = __repr__ = __bool__ = _refuse
    __eq__ = _refuse  # type: ignore[assignment]
    __hash__ = None  # type: ignore[assignment]


@pytest.mark.parametrize(
    "value", [Stubborn(), 10**400, np.zeros(2), float("nan"), float("inf"), b"x", [1], object()]
)
def test_whatever_is_given_the_loop_goes_on_and_it_is_counted(tmp_path: Path, value: Any) -> None:
    profile = Profile(strings=Strings.of(["op"]), nodes=Nodes(name=[0]))  # type: ignore[arg-type]
    with stepscope.Writer(tmp_path, flush_secs=3600) as writer:
        rate = writer.throughput(log_every=1)
        calls = [
            lambda: rate.add(value, step=1),
            lambda: rate.add(1, step=value),
            lambda: rate.sample(value),
            lambda: rate.reset_time(value),
            lambda: writer.log_profile(profile, step=value),
            lambda: writer.log_collectives(value),
            lambda: writer.log_incore(value),
            lambda: writer.log_incore([[1]], columns=value),
        ]
        for number, call in enumerate(calls, 1):
            call()
            assert writer.failures == number
        with rate.span(value):
            rate.add(5, step=7)
    assert writer.failures == len(calls)
    assert stored(tmp_path).marks.count.tolist() == [5]


@pytest.mark.parametrize("count", [np.uint8(200), np.int8(100), np.float16(300)])
def test_counts_of_narrow_types_add_up(tmp_path: Path, count: Any) -> None:
    clock = Clock()
    with stepscope.Writer(tmp_path, clock=clock) as writer:
        rate = writer.throughput(smoothing=0.0)
        for _ in range(100):
            rate.add(count)
        clock.now += 1_000_000_000
        assert rate.sample() == (100.0 * int(count), 100.0 * int(count))


def test_steps_of_narrow_types_go_on(tmp_path: Path) -> None:
    with stepscope.Writer(tmp_path) as writer:
        rate = writer.throughput()
        rate.add(1, step=np.int8(127))  # type: ignore[arg-type]
        rate.add(1)
    assert stored(tmp_path).marks.step.tolist() == [127, 128]


def test_what_comes_after_the_end_is_said(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with stepscope.Writer(tmp_path) as writer, caplog.at_level(logging.WARNING, "stepscope"):
        first, second = writer.throughput("first"), writer.throughput("second")
        first.close()
        first.add(1)
        assert writer.failures == 1
        second.add(1)
    second.add(1)
    second.add(1)
    assert writer.failures == 2
    writer.log_incore([[1]], columns=["end"])
    assert writer.failures == 3
    writer.throughput("third").add(1)
    assert writer.failures == 4
    writer.flush()
    assert "series is closed" in caplog.text


def test_a_signal_that_comes_while_the_rates_are_asked_for_flushes_all_the_same(
    tmp_path: Path,
) -> None:
    with stepscope.Writer(tmp_path, flush_secs=3600) as writer:
        clock = iter(range(100))

        def interrupted() -> int:
            if next(clock) == 2:  # sample reads the clock while it holds the series
                writer.flush_before_death(1.0)
            return 1

        rate = writer.throughput()
        rate._clock = interrupted
        rate.add(1, step=1)
        rate.add(1, step=2)
        thread = threading.Thread(target=rate.sample, daemon=True)
        thread.start()
        thread.join(10)
        assert not thread.is_alive()
        assert stored(tmp_path).marks.step.tolist() == [1, 2]


def test_a_thread_that_cannot_be_started_does_not_stop_the_loop(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    with stepscope.Writer(tmp_path) as writer:
        rate = writer.throughput()
        with monkeypatch.context() as patched:
            patched.setattr(threading.Thread, "start", refuse)
            rate.add(1)
            assert writer.failures == 1
        with rate.span("data"):
            pass
        assert any(thread.name == "stepscope" for thread in threading.enumerate())
    assert len(stored(tmp_path).marks) == 1

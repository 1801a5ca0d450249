"""The throughput record keeps what it is given, says what is wrong, and joins its blocks."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stepscope.errors import RecordError
from stepscope.model.columns import Header, Strings, decode, encode
from stepscope.model.diagnostic import Diagnostic
from stepscope.model.throughput import (
    UNKNOWN_NS,
    Marks,
    RateSamples,
    Reported,
    ResetKind,
    Resets,
    Spans,
    Throughput,
)
from stepscope.model.throughput_merge import merge

stamps = st.integers(-(2**62), 2**62 - 1)
counts = st.integers(-1, 2**53)


@st.composite
def throughputs(draw: Any) -> Throughput:
    marks = draw(st.lists(st.tuples(st.integers(-1, 2**40), stamps, counts), max_size=20))
    ends = sorted(draw(st.lists(st.integers(0, len(marks)), max_size=10)))
    samples = [(draw(st.integers(-1, 9)), draw(stamps), end) for end in ends]
    resets = [
        (draw(stamps), draw(st.integers(0, 99)), draw(st.integers(0, 2)), end, 0)
        for end in ends[:3]
    ]
    words = draw(st.lists(st.text(max_size=5), max_size=3, unique=True))
    return Throughput(
        header=Header(run=draw(st.text(max_size=5)), losses=(Diagnostic("a", "b", 1),)),
        unit=draw(st.sampled_from(["samples", "tokens"])),
        base_ns=draw(stamps),
        start_ns=draw(st.one_of(st.just(UNKNOWN_NS), stamps)),
        smoothing=draw(st.floats(0, 1)),
        devices=draw(st.integers(0, 8)),
        strings=Strings.of(words),
        marks=Marks(*np.array(marks, np.int64).reshape(-1, 3).T),
        samples=RateSamples(*np.array(samples, np.int64).reshape(-1, 3).T),
        reported=Reported(
            sample=np.arange(len(samples)), local_samples_per_sec=np.full(len(samples), 0.1)
        ),
        resets=Resets(*np.array(resets, np.int64).reshape(-1, 5).T),
        spans=Spans(
            kind=np.arange(len(words)), start_ns=np.zeros(len(words)), end_ns=np.ones(len(words))
        ),
    )


@given(throughputs())
def test_decoding_gives_back_what_was_encoded(record: Throughput) -> None:
    record.validate()
    assert decode(Throughput, [element.body for element in encode(record)]) == record


@pytest.mark.parametrize(
    ("broken", "place"),
    [
        ({"smoothing": 1.5}, "smoothing"),
        ({"marks": Marks(time_ns=[0], count=[-2])}, "marks.count"),
        ({"marks": Marks(time_ns=[0, -(2**63)], count=[1, 1])}, r"marks.time_ns\[1\]"),
        ({"start_ns": 2**62}, "start_ns"),
        ({"samples": RateSamples(time_ns=[0], mark_end=[1])}, "samples.mark_end"),
        ({"reported": Reported(sample=[0])}, "reported.sample"),
        ({"spans": Spans(kind=[0], start_ns=[0], end_ns=[1])}, "spans.kind"),
        ({"resets": Resets(time_ns=[0], kind=[3])}, "resets.kind"),
        ({"marks": Marks(step=[1, 2], time_ns=[0], count=[1])}, "marks"),
    ],
)
def test_a_broken_record_names_the_place(broken: dict[str, Any], place: str) -> None:
    with pytest.raises(RecordError, match=place):
        Throughput(**broken).validate()


def block(number: int, low: int, high: int, session: str = "s", **more: Any) -> Throughput:
    step = np.arange(low, high)
    return Throughput(
        session=session,
        block=number,
        start_ns=0,
        total_before=low * 2,
        strings=Strings.of(["checkpoint", f"own {number}"]),
        marks=Marks(step=step, time_ns=step * 10, count=np.full(len(step), 2)),
        samples=RateSamples(step=[high - 1], time_ns=[(high - 1) * 10], mark_end=[len(step)]),
        spans=Spans(kind=[1], start_ns=[low * 10], end_ns=[low * 10 + 1]),
        **more,
    )


def test_blocks_in_any_order_become_one_series() -> None:
    record = merge([block(2, 20, 30), block(0, 0, 10), block(1, 10, 20)])
    record.validate()
    assert record.marks.step.tolist() == list(range(30))
    assert record.samples.mark_end.tolist() == [10, 20, 30]
    assert [record.strings[kind] for kind in record.spans.kind] == ["own 0", "own 1", "own 2"]
    assert record.header.losses == ()
    assert len(record.resets) == 0


def test_of_two_versions_of_a_block_the_fuller_one_counts() -> None:
    assert merge([block(0, 0, 10), block(0, 0, 4)]).marks.step.tolist() == list(range(10))


def test_a_missing_block_is_counted() -> None:
    record = merge([block(0, 0, 10), block(2, 20, 30)])
    (loss,) = record.header.losses
    assert loss.count == 20
    assert "blocks 1 to 1" in loss.where


def test_a_later_session_is_a_resume_on_the_clock_of_the_first() -> None:
    anchor = 1_700_000_000_000_000_000
    first = block(0, 0, 10, "z", base_ns=77, header=Header(wall_anchor_ns=anchor))
    second = block(0, 5, 15, "a", base_ns=5, header=Header(wall_anchor_ns=anchor + 1_000_000))
    record = merge([second, first])
    record.validate()
    assert record.base_ns == 77
    assert record.marks.time_ns[10] == 1_000_050
    assert record.resets.kind.tolist() == [ResetKind.SESSION]
    assert (record.resets.time_ns[0], record.resets.mark_end[0], record.resets.sample_end[0]) == (
        1_000_000,
        10,
        1,
    )


def test_processes_side_by_side_are_said() -> None:
    anchor = 1_700_000_000_000_000_000
    first = block(0, 0, 10, "a", header=Header(wall_anchor_ns=anchor))
    beside = block(0, 0, 10, "b", header=Header(wall_anchor_ns=anchor + 50))
    (loss,) = merge([first, beside]).header.losses
    assert (loss.count, "same time" in loss.what) == (2, True)


def test_series_of_different_names_are_not_joined() -> None:
    with pytest.raises(RecordError, match="eval"):
        merge([block(0, 0, 1), dataclasses.replace(block(1, 1, 2), name="eval")])

"""Columns as differences: exact, small, and refused where they are damaged."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stepscope.errors import RecordError
from stepscope.model import columns, deltas
from stepscope.model.throughput import Marks, Throughput

LEAST, MOST = -(2**63), 2**63 - 1


@given(st.lists(st.integers(LEAST, MOST)))
def test_every_column_of_int64_comes_back_exactly(values: list[int]) -> None:
    column = np.array(values, np.int64)
    data = np.frombuffer(deltas.encode(column), np.uint8)
    assert deltas.decode(data, len(column)).tolist() == values


def test_steady_steps_take_one_byte_each() -> None:
    assert len(deltas.encode(np.arange(1000))) == 1000


@pytest.mark.parametrize(("size", "length"), [(5, 0), (0, 1 << 60), (5, 2), (18, 2), (3, 1 << 60)])
def test_bytes_that_are_no_column_are_refused(size: int, length: int) -> None:
    with pytest.raises(ValueError, match="differences"):
        deltas.decode(np.zeros(size, np.uint8), length)


def test_record_with_growing_columns_is_stored_as_differences() -> None:
    time_ns = np.arange(1000) * 100_000_000 + np.arange(1000) % 7
    marks = Marks(step=np.arange(1000), time_ns=time_ns, count=np.full(1000, 32))
    record = Throughput(marks=marks)
    elements = columns.encode(record)
    assert columns.decode(Throughput, [element.body for element in elements]) == record
    assert sum(len(element.body) for element in elements) < 7 * 1000


def test_damaged_differences_are_a_record_error() -> None:
    marks = Marks(step=np.arange(10), time_ns=np.arange(10), count=np.ones(10))
    bodies = [element.body for element in columns.encode(Throughput(marks=marks))]
    longer = [body.replace(b"\x10\x0a", b"\x10\x0b") for body in bodies]
    with pytest.raises(RecordError, match="column is damaged: 10 bytes are not 11 differences"):
        columns.decode(Throughput, longer)

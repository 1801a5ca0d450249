"""Links the in-core boundaries to the bounds M0 and M1 of the whole task, where both speak of one counter."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from stepscope.lenses.incore.exactness import counter_value, difference
from stepscope.model.arrays import U64, Array, Bools
from stepscope.model.incore import InCore


@dataclass(frozen=True)
class TaskLink:
    """The task around the boundaries, per invocation.

    Attributes:
        code: Why they cannot be combined at all ("L2_UNIT", "L2_EPOCH"), or empty.
        start: M0, and `end` M1, in the stamps' unit; empty where the unit is another.
        ordered: Whether M0, the boundaries and M1 stand in order, so that differences between them mean something.
        before: First boundary - M0.
        after: M1 - last boundary: the rows' own write-back lies in here.
        total: M1 - M0.
    """

    code: str
    start: U64
    end: U64
    ordered: Bools
    before: Array
    after: Array
    total: Array


def link(record: InCore, values: U64, ordered: Bools) -> TaskLink | None:
    """Links a task with its boundaries `values` [invocation, boundary]; None where no bounds are given."""
    if not len(record.task_bounds):
        return None
    bounds = None
    if record.task_unit == record.unit:
        bounds = _bounds(record, len(values))
    if bounds is None:
        no_stamps = np.empty(0, np.uint64)
        return _apart("L2_UNIT", start=no_stamps, end=no_stamps)
    start, end = bounds
    if record.task_epoch and record.epoch and record.task_epoch != record.epoch:
        return _apart("L2_EPOCH", start=start, end=end)
    return TaskLink(
        code="",
        start=start,
        end=end,
        ordered=ordered & (start <= values[:, 0]) & (values[:, -1] <= end),
        before=difference(values[:, 0], start),
        after=difference(end, values[:, -1]),
        total=difference(end, start),
    )


def _apart(code: str, *, start: U64, end: U64) -> TaskLink:
    """Bounds that are not combined with the stamps, for the reason that the code names."""
    return TaskLink(
        code=code,
        start=start,
        end=end,
        ordered=np.empty(0, np.bool_),
        before=np.empty(0, np.int64),
        after=np.empty(0, np.int64),
        total=difference(end, start),
    )


def _bounds(record: InCore, invocations: int) -> tuple[U64, U64] | None:
    """M0 and M1 as counter values, None where one is not an integer."""
    rows = record.task_bounds
    starts = [counter_value(record.text(i)) for i in rows.start.tolist()]
    ends = [counter_value(record.text(i)) for i in rows.end.tolist()]
    if None in starts or None in ends:
        return None
    start = np.array(starts, np.uint64)
    end = np.array(ends, np.uint64)
    return np.broadcast_to(start, invocations), np.broadcast_to(end, invocations)

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
    bounds = _bounds(record, len(values)) if record.task_unit == record.unit else None
    if bounds is None:
        return _apart("L2_UNIT")
    start, end = bounds
    if record.task_epoch and record.epoch and record.task_epoch != record.epoch:
        return TaskLink("L2_EPOCH", start, end, _NONE, _EMPTY, _EMPTY, difference(end, start))
    within = ordered & (start <= values[:, 0]) & (values[:, -1] <= end)
    return TaskLink(
        "",
        start,
        end,
        within,
        difference(values[:, 0], start),
        difference(end, values[:, -1]),
        difference(end, start),
    )


_EMPTY = np.empty(0, np.int64)
_NONE = np.empty(0, np.bool_)


def _apart(code: str) -> TaskLink:
    stamps = np.empty(0, np.uint64)
    return TaskLink(code, stamps, stamps, _NONE, _EMPTY, _EMPTY, _EMPTY)


def _bounds(record: InCore, invocations: int) -> tuple[U64, U64] | None:
    """M0 and M1 as counter values, or None where they are no integers."""
    rows = record.task_bounds
    values = [[counter_value(record.text(i)) for i in column.tolist()] for column in (rows.start, rows.end)]
    if any(None in column for column in values):
        return None
    start, end = (np.array(column, np.uint64) for column in values)
    return np.broadcast_to(start, invocations), np.broadcast_to(end, invocations)

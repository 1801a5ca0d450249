"""Takes one invocation out of a record, as a record of its own."""

from __future__ import annotations

import dataclasses

import numpy as np

from stepscope.errors import OptionError
from stepscope.model.incore import InCore, Masks, SlotList, TaskBounds, Timing


def one_invocation(record: InCore, invocation: int) -> InCore:
    """The record with only this invocation's stamps, masks and bounds.

    Raises:
        OptionError: There is no such invocation.
    """
    if not 0 <= invocation < record.invocations:
        raise OptionError(
            f"invocation {invocation} of {record.invocations}",
            where="incore, option invocation",
            remedy="Count from 0",
        )
    row = invocation if len(record.masks) > 1 else 0
    participating, participating_end = _row(
        record.participating, record.masks.participating_end, row
    )
    producers, producers_end = _row(record.producers, record.masks.producers_end, row)
    ahead = _launch(record, invocation) * record.checks.per_invocation
    return dataclasses.replace(
        record,
        dims=(),
        shape=(),
        timing=Timing(stamp=record.matrix()[invocation].reshape(-1)),
        masks=Masks(participating_end=participating_end, producers_end=producers_end),
        participating=participating,
        producers=producers,
        checks=dataclasses.replace(record.checks, base=record.checks.base + ahead.view(np.uint64)),
        task_bounds=_bounds(record.task_bounds, invocation),
    )


def _launch(record: InCore, invocation: int) -> int:
    if "invocation" not in record.dims:
        return invocation
    return int(np.unravel_index(invocation, record.shape)[record.dims.index("invocation")])


def _row(slots: SlotList, end: np.ndarray, row: int) -> tuple[SlotList, np.ndarray]:
    if not len(end):
        return slots, end
    start = int(end[row - 1]) if row else 0
    part = slots.slot[start : int(end[row])]
    return SlotList(slot=part), np.array([len(part)], np.int64)


def _bounds(bounds: TaskBounds, invocation: int) -> TaskBounds:
    if len(bounds) < 2:
        return bounds
    return TaskBounds(
        start=bounds.start[invocation : invocation + 1], end=bounds.end[invocation : invocation + 1]
    )

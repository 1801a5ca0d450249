"""Brings timing matrices and slot masks of any shape into [invocation, slot, column] and lists of slots."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from stepscope.errors import RecordError
from stepscope.model.arrays import U64
from stepscope.model.incore import Masks, SlotList
from stepscope.model.incore_values import exact, stamps, to_numpy

_DEFAULT_DIMS: dict[int, tuple[str, ...]] = {
    2: ("slot", "field"),
    3: ("invocation", "slot", "field"),
    4: ("invocation", "layer", "slot", "field"),
}


@dataclass(frozen=True)
class Matrix:
    """A timing matrix [invocation, slot, column] with the dimensions that its invocations come from."""

    stamps: U64
    dims: tuple[str, ...] = ()
    shape: tuple[int, ...] = ()


def matrix_of(timing: Any, dims: Sequence[str] | None, slot_offset: int | None, invocations: int | None) -> Matrix:
    """The matrix of what a user gives; see `incore_timing.from_timing` for the arguments."""
    if timing is None:
        return Matrix(np.empty((0, 0, 0), np.uint64))
    array = stamps(timing, "timing")
    names = _names(array, dims)
    axis = names.index("slot")
    shape = tuple(int(n) for n in array.shape[:axis])
    array = array.reshape(*shape, array.shape[axis], -1)
    if slot_offset is None:
        return Matrix(array.reshape(-1, *array.shape[-2:]), names[:axis], shape)
    array = _side_by_side(array, exact(slot_offset, "invocation_slot_offset"), invocations)
    inner = "layer" if "invocation" in names[:axis] else "invocation"
    return Matrix(array.reshape(-1, *array.shape[-2:]), (*names[:axis], inner), (*shape, array.shape[-3]))


def _names(array: U64, dims: Sequence[str] | None) -> tuple[str, ...]:
    names = tuple(dims) if dims else _DEFAULT_DIMS.get(array.ndim, ())
    if len(names) != array.ndim or "slot" not in names[:-1] or 0 in array.shape:
        raise RecordError(
            f"a timing matrix of shape {array.shape} with dims {list(names)}",
            where="timing",
            remedy='Name every dimension in dims, among them "slot" before the columns: invocation, slot, field',
        )
    return names


def _side_by_side(array: U64, offset: int, invocations: int | None) -> U64:
    """Cuts [..., slot, column] into [..., invocation, offset, column]; a short last one is filled with zeros."""
    slots = array.shape[-2]
    count = -(-slots // offset) if invocations is None and offset > 0 else exact(invocations or 0, "invocations")
    if offset <= 0 or count <= 0 or (count - 1) * offset >= slots:
        raise RecordError(
            f"{count} invocations of {offset} slots each in a matrix of {slots} slots",
            where="timing, invocation_slot_offset",
            remedy="Give the number of slots from one invocation to the next",
        )
    padding = [(0, 0)] * array.ndim
    padding[-2] = (0, max(0, count * offset - slots))
    padded = np.pad(array, padding)[..., : count * offset, :]
    return padded.reshape(*array.shape[:-2], count, offset, array.shape[-1])


def masks_of(
    participating: Any, producers: Any, invocations: int, slot_offset: int | None
) -> tuple[Masks, SlotList, SlotList]:
    """The masks' rows and the slots of both, for one row or for one row per invocation."""
    first = _rows(participating, invocations, slot_offset, "participating")
    second = _rows(producers, invocations, slot_offset, "producers")
    rows = max(len(first), len(second))
    first, second = (list(part) * rows if len(part) == 1 else part for part in (first, second))
    masks = Masks(participating_end=_ends(first, rows), producers_end=_ends(second, rows))
    return masks, SlotList(slot=_joined(first)), SlotList(slot=_joined(second))


def _ends(rows: Sequence[Sequence[int]], count: int) -> Any:
    return np.cumsum([len(row) for row in rows] or [0] * count, dtype=np.int64)


def _joined(rows: Sequence[Sequence[int]]) -> Any:
    return np.array([slot for row in rows for slot in row], np.int64)


def _rows(mask: Any, invocations: int, slot_offset: int | None, where: str) -> list[list[int]]:
    if mask is None:
        return []
    rows = _slot_lists(mask, where)
    if len(rows) not in (1, invocations):
        raise RecordError(
            f"{len(rows)} lists of slots for {invocations} invocations",
            where=where,
            remedy="Give one list of slots, or one per invocation in the matrix's order",
        )
    return _relative(rows, invocations, slot_offset) if slot_offset else rows


def _slot_lists(mask: Any, where: str) -> list[list[int]]:
    """Lists of slots from a list of slots, nested lists, or a boolean array [..., slot]."""
    mask = to_numpy(mask)
    if isinstance(mask, np.ndarray) and mask.dtype == np.bool_:
        return [np.flatnonzero(row).tolist() for row in mask.reshape(-1, mask.shape[-1])]
    values = mask.tolist() if hasattr(mask, "tolist") else list(mask)
    rows = [values]
    while any(isinstance(part, list | tuple) for row in rows for part in row):
        if not all(isinstance(part, list | tuple) for row in rows for part in row):
            raise RecordError("slots and lists of slots side by side", where=where, remedy="Give lists of one depth")
        rows = [part for row in rows for part in row]
    return [[exact(slot, where) for slot in row] for row in rows]


def _relative(rows: list[list[int]], invocations: int, offset: int) -> list[list[int]]:
    """Slots counted from their invocation's first. One above the offset shows that they count from the matrix's."""
    if all(slot < offset for row in rows for slot in row):
        return rows
    every = rows * invocations if len(rows) == 1 else rows
    return [[s - k * offset for s in row if k * offset <= s < (k + 1) * offset] for k, row in enumerate(every)]

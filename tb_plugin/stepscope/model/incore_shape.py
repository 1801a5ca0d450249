"""Timing matrices as [invocation, slot, column], and slot masks as one list of slots per invocation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
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
    """A timing matrix [invocation, slot, column], with the dimensions folded into invocations."""

    stamps: U64
    dims: tuple[str, ...] = ()
    shape: tuple[int, ...] = ()


def matrix_of(
    timing: Any, dims: Sequence[str] | None, slot_offset: int | None, invocations: int | None
) -> Matrix:
    """Reshapes a user's timing array; see `incore_timing.from_timing` for the arguments."""
    if timing is None:
        return Matrix(np.empty((0, 0, 0), np.uint64))
    array = stamps(timing, "timing")
    names = _names(array, dims)
    axis = names.index("slot")
    shape = tuple(int(n) for n in array.shape[:axis])
    array = array.reshape(*shape, array.shape[axis], -1)
    if slot_offset is None:
        return Matrix(array.reshape(-1, *array.shape[-2:]), names[:axis], shape)
    array = _split_slots(array, exact(slot_offset, "invocation_slot_offset"), invocations)
    outer_dims = names[:axis]
    inner_dim = "layer" if "invocation" in outer_dims else "invocation"
    return Matrix(
        stamps=array.reshape(-1, *array.shape[-2:]),
        dims=(*outer_dims, inner_dim),
        shape=(*shape, array.shape[-3]),
    )


def _names(array: U64, dims: Sequence[str] | None) -> tuple[str, ...]:
    names = tuple(dims) if dims else _DEFAULT_DIMS.get(array.ndim, ())
    if len(names) != array.ndim or "slot" not in names[:-1] or 0 in array.shape:
        raise RecordError(
            f"a timing matrix of shape {array.shape} with dims {list(names)}",
            where="timing",
            remedy=(
                'Name every dimension in dims, among them "slot" before the columns: invocation, slot, field'
            ),
        )
    return names


def _split_slots(array: U64, offset: int, invocations: int | None) -> U64:
    """Splits [..., slot, column] into [..., invocation, offset, column].

    Zeros fill the last invocation where it has fewer slots.
    """
    slots = array.shape[-2]
    count = exact(invocations or 0, "invocations")
    if invocations is None and offset > 0:
        count = -(-slots // offset)
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
    """Returns the masks' rows, the participating slots and the producers' slots.

    There is one row for all invocations, or one per invocation.
    """
    participating_rows = _rows(participating, invocations, slot_offset, "participating")
    producer_rows = _rows(producers, invocations, slot_offset, "producers")
    count = max(len(participating_rows), len(producer_rows))
    participating_rows = _repeated(participating_rows, count)
    producer_rows = _repeated(producer_rows, count)
    masks = Masks(
        participating_end=_ends(participating_rows, count),
        producers_end=_ends(producer_rows, count),
    )
    participating_slots = SlotList(slot=_joined(participating_rows))
    producer_slots = SlotList(slot=_joined(producer_rows))
    return masks, participating_slots, producer_slots


def _repeated(rows: list[list[int]], count: int) -> list[list[int]]:
    """Repeats a single row `count` times."""
    if len(rows) == 1:
        return rows * count
    return rows


def _ends(rows: Sequence[Sequence[int]], count: int) -> Any:
    return np.cumsum([len(row) for row in rows] or [0] * count, dtype=np.int64)


def _joined(rows: Sequence[Sequence[int]]) -> Any:
    return np.array(list(chain.from_iterable(rows)), np.int64)


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
    if not slot_offset:
        return rows
    return _relative(rows, invocations, slot_offset)


def _slot_lists(mask: Any, where: str) -> list[list[int]]:
    """Reads lists of slots from a list of slots, nested lists, or a boolean array [..., slot]."""
    mask = to_numpy(mask)
    if isinstance(mask, np.ndarray) and mask.dtype == np.bool_:
        return [np.flatnonzero(row).tolist() for row in mask.reshape(-1, mask.shape[-1])]
    values = mask.tolist() if hasattr(mask, "tolist") else list(mask)
    rows = [values]
    parts = values
    # Each round removes one level of nesting, until the parts of the rows are slots.
    while any(isinstance(part, list | tuple) for part in parts):
        if not all(isinstance(part, list | tuple) for part in parts):
            raise RecordError(
                "slots and lists of slots side by side",
                where=where,
                remedy="Give lists of one depth",
            )
        rows = parts
        parts = list(chain.from_iterable(rows))
    slot_lists = []
    for row in rows:
        slot_lists.append([exact(slot, where) for slot in row])
    return slot_lists


def _relative(rows: list[list[int]], invocations: int, offset: int) -> list[list[int]]:
    """Counts slots from the first slot of their invocation."""
    # A slot at or above the offset shows that the rows count from the first slot of the matrix.
    if all(slot < offset for slot in chain.from_iterable(rows)):
        return rows
    relative = []
    for invocation, row in enumerate(_repeated(rows, invocations)):
        first = invocation * offset
        relative.append([slot - first for slot in row if first <= slot < first + offset])
    return relative

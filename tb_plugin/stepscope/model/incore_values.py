"""Reading exact integers and arrays of counter values from what users and JSON give."""

from __future__ import annotations

import operator
from typing import Any, TypeVar

import numpy as np

from stepscope.errors import RecordError
from stepscope.model.arrays import U64
from stepscope.model.columns import Group

G = TypeVar("G", bound=Group)


def exact(value: Any, where: str, *, below: int = 1 << 63) -> int:
    """An integer from an int, a numpy integer or a decimal text, without a detour over floats.

    Raises:
        RecordError: The value is something else, such as a float that may have lost cycles, or does not fit 64 bits.
    """
    if isinstance(value, bool):
        raise _not_exact(value, where)
    try:
        number = int(value) if isinstance(value, str) else operator.index(value)
    except (TypeError, ValueError):
        raise _not_exact(value, where) from None
    if not -(1 << 63) <= number < below:
        raise RecordError(
            f"{number:.4e} does not fit 64 bits", where=where, remedy="Check the value"
        )
    return number


def stamp(value: Any, where: str) -> int:
    """A 64-bit counter value; a negative int64 is read as the same bits.

    Raises:
        RecordError: The value is no integer of 64 bits.
    """
    return exact(value, where, below=1 << 64) % (1 << 64)


def stamps(values: Any, where: str) -> U64:
    """An array of 64-bit counter values from a numpy array, a torch tensor or lists; signed values keep their bits.

    Raises:
        RecordError: The values are not integers.
    """
    array = np.asarray(to_numpy(values))
    if array.dtype.kind not in "iu":
        raise RecordError(
            f"stamps of type {array.dtype}",
            where=where,
            remedy="Give integers of 64 bits: a float cannot hold every cycle",
        )
    native = np.ascontiguousarray(array, array.dtype.newbyteorder("="))
    unsigned = native.view(np.dtype(f"u{native.dtype.itemsize}"))
    return unsigned.astype(np.uint64, copy=False)


def group(kind: type[G], /, **columns: Any) -> G:
    """A group whose columns are given as lists or arrays."""
    return kind(**columns)


def to_numpy(values: Any) -> Any:
    """A tensor's values as numpy, copied from its device where it must; anything else as it is."""
    if hasattr(values, "detach"):
        return values.detach().cpu().numpy()
    return values.numpy() if hasattr(values, "numpy") else values


def _not_exact(value: Any, where: str) -> RecordError:
    return RecordError(
        f"{value!r:.80} is no integer",
        where=where,
        remedy="Give an integer, or its decimal text where it exceeds 2^53",
    )

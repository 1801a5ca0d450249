"""Integers as differences, in the form that a general compressor packs best.

Stamps and steps of a training loop grow by nearly the same number each time. The differences are
mapped to unsigned numbers, small ones first (the zigzag mapping of protobuf's sint64), and laid out
byte by byte: the lowest bytes of all values, then the next ones. High bytes that are zero in every
value are left out. Differences wrap around at 64 bits, so every column of int64 comes back exactly.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

_WIDTH = 8


def encode(values: NDArray[np.int64]) -> bytes:
    """Returns the bytes of a column of int64."""
    differences = np.diff(values, prepend=np.int64(0))
    unsigned = ((differences << 1) ^ (differences >> 63)).astype("<u8")
    planes = unsigned.view(np.uint8).reshape(-1, _WIDTH).T
    used = np.flatnonzero(planes.any(axis=1))
    # One plane always stays, so that no few bytes can claim to be a column that fills the memory.
    width = max(int(used[-1]) + 1 if len(used) else 0, 1)
    data: bytes = planes[:width].tobytes()
    return data


def decode(data: NDArray[np.uint8], length: int) -> NDArray[np.int64]:
    """Returns the column of so many int64.

    Raises:
        ValueError: The bytes are no such column.
    """
    if not length and not len(data):
        return np.empty(0, np.int64)
    width, rest = divmod(len(data), length) if length else (0, 0)
    if rest or not 1 <= width <= _WIDTH:
        raise ValueError(f"{len(data)} bytes are not {length} differences")
    planes = np.zeros((_WIDTH, length), np.uint8)
    planes[:width] = data.reshape(width, length)
    unsigned = np.ascontiguousarray(planes.T).view("<u8").reshape(length).astype(np.uint64)
    differences = (unsigned >> np.uint64(1)).astype(np.int64) ^ -(unsigned & np.uint64(1)).astype(
        np.int64
    )
    column: NDArray[np.int64] = np.cumsum(differences, dtype=np.int64)
    return column

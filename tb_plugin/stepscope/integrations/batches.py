"""How many samples a batch holds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def batch_size(batch: Any) -> int | None:
    """The length of the first dimension of the first array found in a batch; None where there is none.

    Args:
        batch: An array or tensor, or lists, tuples and mappings of them, nested to any depth.
    """
    pending = [batch]
    while pending:
        found = pending.pop()
        shape = getattr(found, "shape", None)
        if shape is not None:
            if len(shape):
                return int(shape[0])
        elif isinstance(found, Mapping):
            pending.extend(reversed(list(found.values())))
        elif isinstance(found, list | tuple):
            if found and isinstance(found[0], str | int | float):
                return len(found)
            pending.extend(reversed(found))
    return None

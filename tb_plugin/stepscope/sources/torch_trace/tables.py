"""Columns that grow while a trace is read, and numbers in place of repeated values."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stepscope.model.columns import Array


class _Numbers(dict[Any, int]):
    """Numbers of values. A new value gets the next number."""

    def __missing__(self, value: Any) -> int:
        number = self[value] = len(self)
        return number


class Interner:
    """Gives each distinct value a number, in order of first use."""

    def __init__(self) -> None:
        self.index = _Numbers()

    def of(self, values: Sequence[Hashable]) -> NDArray[np.int32]:
        """The numbers of values."""
        return np.fromiter(map(self.index.__getitem__, values), np.int32, len(values))

    def number(self, value: Hashable) -> int:
        """The number of one value."""
        return self.index[value]

    def values(self) -> list[Any]:
        """The distinct values by number."""
        return list(self.index)


@dataclass
class Table:
    """Columns of one length that grow batch by batch."""

    batches: list[dict[str, Array]] = field(default_factory=list)

    def add(self, **columns: Array) -> None:
        """Appends a batch: one array per column."""
        self.batches.append(columns)

    def only(self, rows: Array) -> Table:
        """A table of some of the rows, given as a mask."""
        if not self.batches:
            return Table()
        selected: dict[str, Array] = {}
        for name in self.batches[0]:
            selected[name] = self[name][rows]
        return Table([selected])

    def keep(self, rows: Array) -> None:
        """Drops all rows that a mask does not name."""
        if not rows.all():
            self.batches = self.only(rows).batches

    def __len__(self) -> int:
        return sum(len(next(iter(batch.values()))) for batch in self.batches)

    def __getitem__(self, name: str) -> Array:
        if len(self.batches) > 1:
            self.batches = [{key: self._joined(key) for key in self.batches[0]}]
        return self.batches[0][name] if self.batches else np.empty(0, np.int64)

    def _joined(self, name: str) -> Array:
        return np.concatenate([batch[name] for batch in self.batches])

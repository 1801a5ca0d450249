"""What was asked for last, kept for the next question within a budget of memory."""

from __future__ import annotations

import dataclasses
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Any, TypeVar

from stepscope.model.columns import Group, Record, Strings

T = TypeVar("T")
MIB = 1 << 20


class Cache:
    """Values computed once each; those asked for longest ago go first. Safe for several threads: one value being made
    does not keep another from being read.

    Args:
        budget: What all values together may cost. The newest is kept whatever it costs.
        cost: What a value costs; one each where it is not given.
    """

    def __init__(self, budget: int, cost: Callable[[Any], int] = lambda _: 1) -> None:
        self._budget = budget
        self._cost = cost
        self._cells: OrderedDict[Hashable, _Cell] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: Hashable, make: Callable[[], T]) -> T:
        """The value of a key, made by `make` when it is not there."""
        with self._lock:
            cell = self._cells.setdefault(key, _Cell())
            self._cells.move_to_end(key)
        try:
            value: T = cell.get(make)
        finally:
            # What cannot be made is not kept: there may be any number of such keys.
            with self._lock:
                if not cell.made and self._cells.get(key) is cell:
                    del self._cells[key]
        with self._lock:
            cell.cost = self._cost(value)
            self._shrink()
        return value

    def _shrink(self) -> None:
        total = sum(cell.cost for cell in self._cells.values())
        while total > self._budget and len(self._cells) > 1:
            total -= self._cells.popitem(last=False)[1].cost


class _Cell:
    """One value, made once."""

    def __init__(self) -> None:
        self.cost = 0
        self._lock = threading.Lock()
        self._made: list[Any] = []

    @property
    def made(self) -> bool:
        return bool(self._made)

    def get(self, make: Callable[[], Any]) -> Any:
        with self._lock:
            if not self._made:
                self._made.append(make())
            return self._made[0]


def record_bytes(record: Record) -> int:
    """The memory of a record's columns."""
    values = (getattr(record, spec.name) for spec in dataclasses.fields(record))
    return sum(_bytes(value) for value in values) + 1


def _bytes(value: object) -> int:
    if isinstance(value, Strings):
        return int(value.blob.nbytes + value.end.nbytes)
    if isinstance(value, Group):
        return sum(int(getattr(value, spec.name).nbytes) for spec in dataclasses.fields(value))
    return 0


@dataclass(frozen=True)
class Caches:
    """What an opened source keeps.

    Attributes:
        records: Records read.
        engines: View engines; each holds a profile and what was laid out of it.
        views: Views and their windows, by the number of their rows.
        answers: The other lenses' results.
    """

    records: Cache = field(default_factory=lambda: Cache(1024 * MIB, record_bytes))
    engines: Cache = field(default_factory=lambda: Cache(1024 * MIB, lambda engine: 2 * record_bytes(engine.profile)))
    views: Cache = field(default_factory=lambda: Cache(8_000_000, lambda view: len(view) + 1))
    answers: Cache = field(default_factory=lambda: Cache(64))

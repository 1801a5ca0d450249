"""Records and results that were used last, kept for the next query within a budget of memory."""

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
    """Values that are computed once each. The least recently used are dropped first.

    Safe for several threads: while one value is computed, others can be read.

    Args:
        budget: What all values together may cost. The newest is kept whatever it costs.
        cost: What a value costs. By default each costs one.
    """

    def __init__(self, budget: int, cost: Callable[[Any], int] = lambda _: 1) -> None:
        self._budget = budget
        self._cost = cost
        self._cells: OrderedDict[Hashable, _Cell] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: Hashable, make: Callable[[], T]) -> T:
        """The value of a key. `make` computes it where it is not kept."""
        with self._lock:
            cell = self._cells.setdefault(key, _Cell())
            self._cells.move_to_end(key)
        try:
            value = cell.get(make)
        finally:
            # A key that cannot be computed is not kept: there may be any number of them.
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

    def get(self, make: Callable[[], T]) -> T:
        with self._lock:
            if not self._made:
                self._made.append(make())
            value: T = self._made[0]
            return value


def record_bytes(record: Record) -> int:
    """The memory of a record's columns."""
    total = 1
    for spec in dataclasses.fields(record):
        total += _bytes(getattr(record, spec.name))
    return total


def _bytes(value: object) -> int:
    if isinstance(value, Strings):
        return int(value.blob.nbytes + value.end.nbytes)
    if isinstance(value, Group):
        columns = [getattr(value, spec.name) for spec in dataclasses.fields(value)]
        return sum(int(column.nbytes) for column in columns)
    return 0


def _record_cache() -> Cache:
    return Cache(1024 * MIB, record_bytes)


def _engine_cache() -> Cache:
    # What an engine works out of a profile takes about as much as the profile.
    return Cache(1024 * MIB, lambda engine: 2 * record_bytes(engine.profile))


def _view_cache() -> Cache:
    return Cache(8_000_000, lambda view: len(view) + 1)


def _answer_cache() -> Cache:
    return Cache(64)


@dataclass(frozen=True)
class Caches:
    """What an opened source keeps.

    Attributes:
        records: Records, by the memory of their columns.
        engines: What all analyses of a profile share, by the memory of the profile.
        views: Views and their windows, by the number of their rows.
        answers: Results of the other lenses, and findings.
    """

    records: Cache = field(default_factory=_record_cache)
    engines: Cache = field(default_factory=_engine_cache)
    views: Cache = field(default_factory=_view_cache)
    answers: Cache = field(default_factory=_answer_cache)

"""A capture of the tasks around kernels: windows, counts and how long each core was busy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stepscope.model.arrays import I64
from stepscope.model.incore import InCore

Window = tuple[int, int]


@dataclass(frozen=True)
class TaskBound:
    """A task: its first start, its last end, and the cores' rows it has."""

    start: int
    end: int
    rows: int


@dataclass(frozen=True)
class FunctionCost:
    """What the rows of one kernel took."""

    name: str
    rows: int
    total: int
    min: int
    max: int


@dataclass(frozen=True)
class Capture:
    """A capture in figures. Times are absolute, in the record's unit.

    Attributes:
        base: The smallest stamp, where the time axis starts.
        kernel_window: First start and last end of a kernel.
        scheduler_window: First dispatch and last finish, None where no scheduler was captured.
        busy: Per core that has rows, the sum of its kernels' lengths.
        functions: By the source's function id; by position where the source has none.
        bounds: By task id.
    """

    base: int
    rows: int
    edges: int
    kernel_window: Window
    scheduler_window: Window | None
    busy: dict[int, int]
    functions: dict[int, FunctionCost]
    bounds: dict[int, TaskBound]


def summarise(record: InCore) -> Capture | None:
    """The figures of a record's capture, None where it has none."""
    tasks = record.tasks
    if not len(tasks):
        return None
    base, lengths = int(record.capture_base), tasks.end - tasks.start
    cores, busy = _sums(tasks.core, lengths)
    dispatched, finished = tasks.dispatch[tasks.dispatch >= 0], tasks.finish[tasks.finish >= 0]
    seen = len(dispatched) and len(finished)
    return Capture(
        base=base,
        rows=len(tasks),
        edges=len(record.dependencies),
        kernel_window=(base + int(tasks.start.min()), base + int(tasks.end.max())),
        scheduler_window=(base + int(dispatched.min()), base + int(finished.max())) if seen else None,
        busy=dict(zip(cores.tolist(), busy.tolist(), strict=True)),
        functions=_functions(record, lengths),
        bounds=_bounds(record, base),
    )


def _sums(keys: NDArray[Any], values: I64) -> tuple[NDArray[Any], I64]:
    """The sum of the values of each distinct key."""
    distinct, index = np.unique(keys, return_inverse=True)
    sums = np.zeros(len(distinct), np.int64)
    np.add.at(sums, index, values)
    return distinct, sums


def _groups(keys: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.intp], NDArray[np.intp]]:
    """The distinct keys, an order that puts equal keys together, and where each key's run starts in it."""
    order = np.argsort(keys, kind="stable")
    distinct, first = np.unique(keys[order], return_index=True)
    return distinct, order, first


def _functions(record: InCore, lengths: I64) -> dict[int, FunctionCost]:
    distinct, order, first = _groups(record.tasks.function)
    ordered = lengths[order]
    rows = np.diff(first, append=len(ordered)).tolist()
    total, low, high = (f.reduceat(ordered, first).tolist() for f in (np.add, np.minimum, np.maximum))
    costs: dict[int, FunctionCost] = {}
    for index, *figures in zip(distinct.tolist(), rows, total, low, high, strict=True):
        if index >= 0:
            costs[int(record.functions.id[index])] = FunctionCost(
                record.text(int(record.functions.name[index])), *figures
            )
    return costs


def _bounds(record: InCore, base: int) -> dict[int, TaskBound]:
    tasks = record.tasks
    distinct, order, first = _groups(tasks.task)
    rows = np.diff(first, append=len(order)).tolist()
    starts = (np.minimum.reduceat(tasks.start[order], first) + base).tolist()
    ends = (np.maximum.reduceat(tasks.end[order], first) + base).tolist()
    found = zip(distinct.tolist(), starts, ends, rows, strict=True)
    return {task: TaskBound(start, end, count) for task, start, end, count in found}

"""A capture of the tasks around kernels: windows, counts and how long each core was busy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stepscope.lenses.incore.scheduling import Scheduling, scheduling
from stepscope.model.arrays import I64
from stepscope.model.incore import InCore
from stepscope.model.incore_capture import Tasks

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
class Launch:
    """One launch of the program in a capture. Times are absolute, in the record's unit.

    Attributes:
        epoch: The number of the launch in the capture, -1 where it is not stated.
        rows: The number of kernels: one per task and core.
        kernel_window: First start and last end of a kernel.
        scheduler_window: First dispatch and last finish, None where no scheduler was captured.
        busy: Per core that has rows, the sum of its kernels' durations.
        bounds: By task id.
        scheduling: What dispatch cost, None where no dispatch was captured.
    """

    epoch: int
    rows: int
    kernel_window: Window
    scheduler_window: Window | None
    busy: dict[int, int]
    bounds: dict[int, TaskBound]
    scheduling: Scheduling | None


@dataclass(frozen=True)
class Capture:
    """A capture in figures. Times are absolute, in the record's unit.

    Attributes:
        base: The smallest stamp, where the time axis starts.
        kernel_window: First start and last end of a kernel.
        scheduler_window: First dispatch and last finish, None where no scheduler was captured.
        busy: Per core that has rows, the sum of its kernels' durations.
        functions: By the source's function id; by position where the source has none.
        launches: In order of their epochs. Task ids repeat from one launch to the next.
    """

    base: int
    rows: int
    edges: int
    kernel_window: Window
    scheduler_window: Window | None
    busy: dict[int, int]
    functions: dict[int, FunctionCost]
    launches: tuple[Launch, ...]

    @property
    def tasks(self) -> int:
        """The number of tasks over all launches."""
        return sum(len(launch.bounds) for launch in self.launches)


def summarise(record: InCore) -> Capture | None:
    """The figures of a record's capture, None where it has none."""
    tasks = record.tasks
    if not len(tasks):
        return None
    base = int(record.capture_base)
    lengths = tasks.end - tasks.start
    return Capture(
        base=base,
        rows=len(tasks),
        edges=len(record.dependencies),
        kernel_window=_kernel_window(tasks, base),
        scheduler_window=_scheduler_window(tasks, base),
        busy=_busy(tasks),
        functions=_functions(record, lengths),
        launches=tuple(_launch(record, epoch, base) for epoch in np.unique(tasks.epoch).tolist()),
    )


def _launch(record: InCore, epoch: int, base: int) -> Launch:
    tasks = record.tasks.take(np.flatnonzero(record.tasks.epoch == epoch))
    return Launch(
        epoch=epoch,
        rows=len(tasks),
        kernel_window=_kernel_window(tasks, base),
        scheduler_window=_scheduler_window(tasks, base),
        busy=_busy(tasks),
        bounds=_bounds(tasks, base),
        scheduling=scheduling(record, tasks),
    )


def _kernel_window(tasks: Tasks, base: int) -> Window:
    return base + int(tasks.start.min()), base + int(tasks.end.max())


def _scheduler_window(tasks: Tasks, base: int) -> Window | None:
    dispatched = tasks.dispatch[tasks.dispatch >= 0]
    finished = tasks.finish[tasks.finish >= 0]
    if not len(dispatched) or not len(finished):
        return None
    return base + int(dispatched.min()), base + int(finished.max())


def _busy(tasks: Tasks) -> dict[int, int]:
    cores, busy = _sums(tasks.core, tasks.end - tasks.start)
    return dict(zip(cores.tolist(), busy.tolist(), strict=True))


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
    total, low, high = (
        f.reduceat(ordered, first).tolist() for f in (np.add, np.minimum, np.maximum)
    )
    costs: dict[int, FunctionCost] = {}
    for index, *figures in zip(distinct.tolist(), rows, total, low, high, strict=True):
        if index >= 0:
            costs[int(record.functions.id[index])] = FunctionCost(
                record.text(int(record.functions.name[index])), *figures
            )
    return costs


def _bounds(tasks: Tasks, base: int) -> dict[int, TaskBound]:
    distinct, order, first = _groups(tasks.task)
    rows = np.diff(first, append=len(order)).tolist()
    starts = (np.minimum.reduceat(tasks.start[order], first) + base).tolist()
    ends = (np.maximum.reduceat(tasks.end[order], first) + base).tolist()
    found = zip(distinct.tolist(), starts, ends, rows, strict=True)
    return {task: TaskBound(start, end, count) for task, start, end, count in found}

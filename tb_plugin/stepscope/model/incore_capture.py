"""The groups of an in-core record that hold a capture of the tasks around kernels."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from stepscope.model.arrays import I32, I64, U64, Bools
from stepscope.model.columns import Group, column

I8 = NDArray[np.int8]

NAMED_CORES = "core_name"
"""The slot map of a capture whose kinds of cores are numbered from 0 each: only names are unique."""


@dataclass(frozen=True, eq=False)
class Tasks(Group):
    """What ran on the cores, as the runtime captured it: one row per task and core, relative to capture_base."""

    task: U64 = column("uint64", "Id of the task; rows of one task share it")
    core: I32 = column("int32", "Id of the core")
    dispatch_id: I64 = column(
        "int64", "Number that the dispatch gave, unique within core and epoch", default=-1
    )
    receive: I64 = column("int64", "When the core took the task up, -1 when unknown", default=-1)
    start: I64 = column("int64", "When the kernel started")
    end: I64 = column("int64", "When the kernel ended")
    dispatch: I64 = column("int64", "When the scheduler dispatched it, -1 when unknown", default=-1)
    finish: I64 = column("int64", "When the scheduler saw its end, -1 when unknown", default=-1)
    function: I32 = column("int32", "In functions, -1 when unknown", default=-1)
    epoch: I64 = column("int64", "Run of the program, -1 when not told", default=-1)

    def take(self, rows: NDArray[np.intp]) -> Tasks:
        """The rows at these places."""
        return replace(self, **{f.name: getattr(self, f.name)[rows] for f in fields(self)})


@dataclass(frozen=True, eq=False)
class Functions(Group):
    """The kernels that tasks run."""

    id: I64 = column("int64", "Number in the source, -1 when it only has a name", default=-1)
    name: I32 = column("int32", "In strings")


@dataclass(frozen=True, eq=False)
class Dependencies(Group):
    """Distinct pairs of tasks of which one waits for the other."""

    predecessor: U64 = column("uint64", "Id of the task that comes first")
    successor: U64 = column("uint64", "Id of the task that waits")
    source: I32 = column("int32", "What made it, in strings", default=-1)


class Clock(IntEnum):
    """Whose clock a time is of. Times of two clocks are never subtracted."""

    DEVICE = 0
    HOST_NS = 1
    """Nanoseconds, relative to the first host stamp."""


@dataclass(frozen=True, eq=False)
class Activities(Group):
    """What schedulers and orchestrators did."""

    lane: I32 = column("int32", "Who, in strings")
    kind: I32 = column("int32", "What, in strings")
    clock: I8 = column("int8", "Clock", default=0)
    start: I64 = column("int64", "Relative to capture_base, or on a host clock to its first stamp")
    end: I64 = column("int64", "Likewise")
    task: U64 = column("uint64", "Id of the task, 0 where there is none", default=0)
    has_task: Bools = column("bool", "Whether it concerns one task", default=0)

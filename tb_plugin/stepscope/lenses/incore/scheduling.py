"""What the scheduler costs: head and tail of each kernel, and how long cores wait for a dispatch.

The model is that of the runtime's own overhead report. At an instant an engine is starved by the
scheduler where one of its cores is idle and a task for it is ready but not dispatched. A task is
ready at the last end of its producers, or at its own dispatch where no producer was captured.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stepscope.lenses.incore.exactness import median_x2
from stepscope.model.arrays import I64
from stepscope.model.incore import Engine, InCore
from stepscope.model.incore_capture import Tasks

SCHEDULER_BOUND = 0.1
"""From this part of the window on, waiting for dispatch is called the bound."""


@dataclass(frozen=True)
class Scheduling:
    """What dispatch costs in one launch, in the capture's unit.

    Attributes:
        kernels: The number of kernels whose dispatch is known.
        head_median_x2: Twice the median of start - dispatch.
        head_max: The largest start - dispatch.
        tail_median_x2: Twice the median of finish - end, None where no finish is known.
        tail_max: The largest finish - end, None where no finish is known.
        window: Last end - first start of a kernel.
        starved: Per engine name, how long a core of it was idle while a task for it was ready.
    """

    kernels: int
    head_median_x2: int
    head_max: int
    tail_median_x2: int | None
    tail_max: int | None
    window: int
    starved: dict[str, int]

    @property
    def starved_share(self) -> float:
        """The part of the window in which the worst engine was starved, 0 to 1."""
        return max(self.starved.values(), default=0) / self.window if self.window else 0.0

    @property
    def is_scheduler_bound(self) -> bool:
        """Whether the worst engine waited for dispatch for a tenth of the window or longer."""
        return self.starved_share >= SCHEDULER_BOUND

    def to_json(self, unit: str) -> dict[str, Any]:
        """The values as a document. Names end in the unit, medians are times two."""
        return {
            "kernels": self.kernels,
            f"head_median_{unit}_x2": self.head_median_x2,
            f"head_max_{unit}": self.head_max,
            f"tail_median_{unit}_x2": self.tail_median_x2,
            f"tail_max_{unit}": self.tail_max,
            f"starved_{unit}": self.starved,
            "starved_share": self.starved_share,
            "scheduler_bound": self.is_scheduler_bound,
        }


def scheduling(record: InCore, tasks: Tasks) -> Scheduling | None:
    """The scheduling of one launch's tasks, None where no dispatch was captured."""
    dispatched = tasks.dispatch >= 0
    if not dispatched.any():
        return None
    heads = tasks.start[dispatched] - tasks.dispatch[dispatched]
    finished = tasks.finish >= 0
    tails = tasks.finish[finished] - tasks.end[finished]
    head_median = median_x2(heads)
    assert head_median is not None
    return Scheduling(
        kernels=int(dispatched.sum()),
        head_median_x2=head_median,
        head_max=int(heads.max()),
        tail_median_x2=median_x2(tails),
        tail_max=int(tails.max()) if len(tails) else None,
        window=int(tasks.end.max() - tasks.start.min()),
        starved=_starved_by_engine(record, tasks),
    )


def _starved_by_engine(record: InCore, tasks: Tasks) -> dict[str, int]:
    ready = _ready(record, tasks)
    engine_of_row = _engines(record, tasks)
    starved: dict[str, int] = {}
    for engine in np.unique(engine_of_row).tolist():
        rows = np.flatnonzero(engine_of_row == engine)
        cores = max(int((record.cores.engine == engine).sum()), len(np.unique(tasks.core[rows])))
        name = Engine(engine).name.lower()
        starved[name] = _starved(tasks.take(rows), ready[rows], cores=cores, whole=tasks)
    return starved


def _engines(record: InCore, tasks: Tasks) -> NDArray[np.int8]:
    """The engine of each row's core, unknown where the record's slots are no core ids."""
    engines = np.full(len(tasks), Engine.UNKNOWN, np.int8)
    if not len(record.cores):
        return engines
    places = np.minimum(np.searchsorted(record.cores.slot, tasks.core), len(record.cores) - 1)
    listed = record.cores.slot[places] == tasks.core
    engines[listed] = record.cores.engine[places[listed]]
    return engines


def _ready(record: InCore, tasks: Tasks) -> I64:
    """When each row's task was ready; its own dispatch where no producer was captured."""
    ids, row_task = np.unique(tasks.task, return_inverse=True)
    ends = np.full(len(ids), -1, np.int64)
    np.maximum.at(ends, row_task, tasks.end)

    edges = record.dependencies
    captured = np.isin(edges.predecessor, ids) & np.isin(edges.successor, ids)
    producers = np.searchsorted(ids, edges.predecessor[captured])
    consumers = np.searchsorted(ids, edges.successor[captured])
    ready = np.full(len(ids), -1, np.int64)
    np.maximum.at(ready, consumers, ends[producers])

    of_row = ready[row_task]
    known: I64 = np.where(of_row >= 0, of_row, tasks.dispatch)
    return known


def _starved(rows: Tasks, ready: I64, *, cores: int, whole: Tasks) -> int:
    """How long a core was idle while a task was ready and not dispatched, within the window."""
    first, last = int(whole.start.min()), int(whole.end.max())
    waiting = np.flatnonzero((rows.dispatch >= 0) & (ready < rows.dispatch))
    times = np.concatenate((rows.start, rows.end, ready[waiting], rows.dispatch[waiting]))
    count, waits = len(rows), len(waiting)
    busy = np.concatenate((np.ones(count), -np.ones(count), np.zeros(2 * waits))).astype(np.int64)
    pending = np.concatenate((np.zeros(2 * count), np.ones(waits), -np.ones(waits))).astype(
        np.int64
    )

    order = np.argsort(times, kind="stable")
    ordered = np.clip(times[order], first, last)
    lengths = np.diff(ordered)
    idle = np.cumsum(busy[order])[:-1] < cores
    asked = np.cumsum(pending[order])[:-1] > 0
    return int(lengths[idle & asked].sum())

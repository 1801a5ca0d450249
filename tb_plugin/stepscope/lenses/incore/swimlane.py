"""The rows of a capture for a swimlane, and one task with what it waited for."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from stepscope.errors import OptionError
from stepscope.lenses.incore.exactness import counter_value
from stepscope.model.incore import Engine, InCore
from stepscope.model.incore_capture import Clock

Json = dict[str, Any]


def swimlane(record: InCore) -> Json:
    """All rows of a capture as columns, small enough for 100,000: times relative to the base, indices into tables."""
    tasks, done = record.tasks, record.activities
    ids, task = np.unique(tasks.task, return_inverse=True)
    lanes, lane = np.unique(done.lane, return_inverse=True)
    kinds, kind = np.unique(done.kind, return_inverse=True)
    rows = record.cores
    cores = zip(rows.slot.tolist(), rows.name.tolist(), rows.engine.tolist(), strict=True)
    return {
        "unit": record.unit,
        "task_ids": [str(number) for number in ids.tolist()],
        "functions": [record.text(name) for name in record.functions.name.tolist()],
        "cores": [
            {"core": s, "name": record.text(n), "engine": Engine(e).name.lower()}
            for s, n, e in cores
        ],
        "rows": {
            "task": task.tolist(),
            **{
                name: getattr(tasks, name).tolist() for name in ("core", "start", "end", "function")
            },
        },
        "activities": {
            "lanes": [record.text(name) for name in lanes.tolist()],
            "kinds": [record.text(name) for name in kinds.tolist()],
            "lane": lane.tolist(),
            "kind": kind.tolist(),
            "start": done.start.tolist(),
            "end": done.end.tolist(),
            "on_host_clock": (done.clock == Clock.HOST_NS).tolist(),
        },
    }


def task_document(record: InCore, task_id: str) -> Json:
    """One task: its rows, what it waited for, what waits for it, and the gap from the last of the former to its start.

    Raises:
        OptionError: There is no such task.
    """
    known = counter_value(task_id)
    number = np.uint64(known or 0)
    which = np.flatnonzero(record.tasks.task == number)
    if known is None or not len(which):
        raise OptionError(
            f"no task {task_id!r:.40}",
            where="incore, option task",
            remedy="Give an id of task_bounds",
        )
    edges = record.dependencies
    before = np.unique(edges.predecessor[edges.successor == number])
    after = np.unique(edges.successor[edges.predecessor == number])
    start = int(record.tasks.start[which].min())
    ready = _last_end(record, before)
    return {
        "id": task_id,
        "function": _function(record, int(which[0])),
        "rows": [_row(record, index) for index in which.tolist()],
        "predecessors": [_neighbour(record, task) for task in before.tolist()],
        "successors": [_neighbour(record, task) for task in after.tolist()],
        "gap": None if ready is None else start - ready,
    }


def _function(record: InCore, row: int) -> str | None:
    function = int(record.tasks.function[row])
    return record.text(int(record.functions.name[function])) if function >= 0 else None


def _row(record: InCore, index: int) -> Json:
    values = {name: int(getattr(record.tasks, name)[index]) for name in ("core", "start", "end")}
    later = {
        name: int(getattr(record.tasks, name)[index]) for name in ("receive", "dispatch", "finish")
    }
    return {**values, **{name: value if value >= 0 else None for name, value in later.items()}}


def _neighbour(record: InCore, task: int) -> Json:
    """A task that another one waits for or that waits for it; without times where the capture has no row of it."""
    which = np.flatnonzero(record.tasks.task == np.uint64(task))
    if not len(which):
        return {"id": str(task), "function": None, "start": None, "end": None}
    start, end = int(record.tasks.start[which].min()), int(record.tasks.end[which].max())
    return {
        "id": str(task),
        "function": _function(record, int(which[0])),
        "start": start,
        "end": end,
    }


def _last_end(record: InCore, tasks: NDArray[np.uint64]) -> int | None:
    ends = record.tasks.end[np.isin(record.tasks.task, tasks)]
    return int(ends.max()) if len(ends) else None

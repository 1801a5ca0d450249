"""Old swimlane captures in microseconds: tasks as objects, without a clock.

Their stamps have three decimals, so that nanoseconds hold them exactly.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from stepscope.errors import DamagedSource
from stepscope.model.diagnostic import Diagnostic
from stepscope.sources.swimlane.cycles import (
    LEVEL_KEYS,
    MAX_CORES,
    MAX_TASKS,
    id_below,
    level_of,
    objects_of,
    threads_of,
)
from stepscope.sources.swimlane.draft import Activity, Draft

Document = Mapping[str, Any]
_MAX_FUNCTIONS = 1 << 31
_MAX_MICROS = 1 << 52
_TIMES = {
    "start": "start_time_us",
    "end": "end_time_us",
    "dispatch": "dispatch_time_us",
    "finish": "finish_time_us",
}


def read_micros(document: Document, where: str) -> Draft:
    """The draft of a capture in microseconds.

    Raises:
        DamagedSource: The version is missing or not known.
    """
    stated = [key for key in LEVEL_KEYS if key in document]
    if stated:
        name = stated[0].replace("_level", "").replace("_", " ")
        level = level_of(document, where)
    else:
        name = _version(document, where)
        level = 0
    draft = Draft(format=f"{name}, in microseconds", level=level)
    rows = [row for row in document["tasks"] if _is_task(row)]
    if len(rows) < len(document["tasks"]):
        loss = Diagnostic(
            where="tasks",
            what="tasks lack an id, core or time",
            count=len(document["tasks"]) - len(rows),
            remedy="Capture again if they matter",
        )
        draft.losses.append(loss)
    _add_tasks(draft, rows)
    for row in rows:
        for successor in _fanout(row):
            draft.edges[row["task_id"], successor] = "fanout"
    draft.activities = list(_activities(document))
    return draft


def _version(document: Document, where: str) -> str:
    version = document.get("version")
    if version is None:
        raise DamagedSource(
            "Missing required field: version",
            where=where,
            remedy="Check that the capture was written to its end",
        )
    if version not in (1, 2, 3, 4):
        raise DamagedSource(
            f"Unsupported version: {version!r:.40} (1 to 4 are known)",
            where=where,
            remedy="Capture again",
        )
    return f"perf swimlane, version {version}"


def _is_task(row: Any) -> bool:
    if not isinstance(row, Mapping):
        return False
    if id_below(MAX_TASKS, row.get("task_id")) is None:
        return False
    if id_below(MAX_CORES, row.get("core_id")) is None:
        return False
    return _is_micros(row.get("start_time_us")) and _is_micros(row.get("end_time_us"))


def _is_micros(value: Any) -> bool:
    return isinstance(value, int | float) and abs(value) < _MAX_MICROS


def _fanout(row: Document) -> list[int]:
    """The tasks that wait for a task."""
    successors = row.get("fanout")
    if not isinstance(successors, list):
        return []
    return [task for task in successors if id_below(MAX_TASKS, task) is not None]


def _add_tasks(draft: Draft, rows: Sequence[Document]) -> None:
    for name, key in _TIMES.items():
        draft.tasks[name] = [_ns(row.get(key)) for row in rows]
    draft.tasks["task"] = [row["task_id"] for row in rows]
    draft.tasks["core"] = [row["core_id"] for row in rows]
    draft.tasks["function"] = [_function(row.get("func_id")) for row in rows]
    kinds = {row["core_id"]: str(row.get("core_type", "aiv")) for row in rows}
    cores = max(kinds, default=-1) + 1
    draft.core_types = [kinds.get(core, "") for core in range(cores)]


def _function(number: Any) -> int:
    """A function id, -1 where the number cannot be one."""
    function = id_below(_MAX_FUNCTIONS, number)
    if function is None:
        return -1
    return function


def _ns(micros: Any) -> int:
    if not _is_micros(micros):
        return 0
    nanoseconds: int = round(micros * 1000)
    return nanoseconds


def _activities(document: Document) -> Iterator[Activity]:
    yield from _phases(document.get("aicpu_scheduler_phases"), "scheduler")
    yield from _phases(document.get("aicpu_orchestrator_phases"), "orchestrator")


def _phases(threads: Any, lane: str) -> Iterator[Activity]:
    for number, rows in enumerate(threads_of(threads)):
        for row in objects_of(rows):
            yield Activity(
                lane=f"{lane} {number}",
                kind=str(row.get("phase", "")),
                start=_ns(row.get("start_time_us")),
                end=_ns(row.get("end_time_us")),
                task=id_below(MAX_TASKS, row.get("task_id")),
            )

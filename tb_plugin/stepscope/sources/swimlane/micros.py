"""Old swimlane captures in microseconds: tasks as objects, without a clock.

Their stamps have three decimals, so that nanoseconds hold them exactly.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from stepscope.errors import DamagedSource
from stepscope.model.diagnostic import Diagnostic
from stepscope.sources.swimlane.cycles import LEVEL_KEYS, level_of, threads_of
from stepscope.sources.swimlane.draft import Activity, Draft

Document = Mapping[str, Any]
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
    level = next((level_of(document, where) for key in LEVEL_KEYS if key in document), 0)
    name = next((key.replace("_level", "").replace("_", " ") for key in LEVEL_KEYS if key in document), "")
    draft = Draft(format=f"{name or _version(document, where)}, in microseconds", level=level)
    rows = [row for row in document["tasks"] if _is_task(row)]
    if len(rows) < len(document["tasks"]):
        lost = len(document["tasks"]) - len(rows)
        draft.losses.append(Diagnostic("tasks", "tasks lack an id, core or time", lost, "Capture again if they matter"))
    _add_tasks(draft, rows)
    draft.edges = {(row["task_id"], successor): "fanout" for row in rows for successor in _fanout(row)}
    draft.activities = list(_activities(document))
    return draft


def _version(document: Document, where: str) -> str:
    version = document.get("version")
    if version is None:
        raise DamagedSource(
            "Missing required field: version", where=where, remedy="Check that the capture was written to its end"
        )
    if version not in (1, 2, 3, 4):
        raise DamagedSource(
            f"Unsupported version: {version!r:.40} (1 to 4 are known)", where=where, remedy="Capture again"
        )
    return f"perf swimlane, version {version}"


def _is_task(row: Any) -> bool:
    if not isinstance(row, Mapping):
        return False
    ids = _is_id(row.get("task_id"), 1 << 64) and _is_id(row.get("core_id"), 1 << 20)
    return ids and all(_is_micros(row.get(key)) for key in ("start_time_us", "end_time_us"))


def _is_id(value: Any, below: int) -> bool:
    return type(value) is int and 0 <= value < below


def _is_micros(value: Any) -> bool:
    return isinstance(value, int | float) and abs(value) < 1 << 52


def _fanout(row: Document) -> list[int]:
    successors = row.get("fanout")
    return [s for s in successors if _is_id(s, 1 << 64)] if isinstance(successors, list) else []


def _add_tasks(draft: Draft, rows: Sequence[Document]) -> None:
    draft.tasks = {name: [_ns(row.get(key)) for row in rows] for name, key in _TIMES.items()}
    draft.tasks["task"] = [row["task_id"] for row in rows]
    draft.tasks["core"] = [row["core_id"] for row in rows]
    draft.tasks["function"] = [_function(row.get("func_id")) for row in rows]
    kinds = {row["core_id"]: str(row.get("core_type", "aiv")) for row in rows}
    draft.core_types = [kinds.get(core, "") for core in range(max(kinds, default=-1) + 1)]


def _function(number: Any) -> int:
    return number if _is_id(number, 1 << 31) else -1


def _ns(micros: Any) -> int:
    return round(micros * 1000) if _is_micros(micros) else 0


def _activities(document: Document) -> Iterator[Activity]:
    for key, lane in (("aicpu_scheduler_phases", "scheduler"), ("aicpu_orchestrator_phases", "orchestrator")):
        for number, phases in enumerate(threads_of(document.get(key))):
            for row in phases if isinstance(phases, list) else ():
                if isinstance(row, Mapping):
                    yield _activity(f"{lane} {number}", row)


def _activity(lane: str, row: Document) -> Activity:
    task = row.get("task_id")
    start, end = _ns(row.get("start_time_us")), _ns(row.get("end_time_us"))
    return Activity(lane, str(row.get("phase", "")), start, end, task if _is_id(task, 1 << 64) else None)

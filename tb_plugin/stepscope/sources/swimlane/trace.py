"""Chrome traces of on-device tasks: the converter's merged_swimlane.json, and per-block traces of AIC and AIV cores.

Times are microseconds with decimals, read as whole nanoseconds. Only the view of the workers is taken: the other views
show the same tasks again.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from stepscope.model.diagnostic import Diagnostic
from stepscope.model.incore import Engine
from stepscope.model.incore_slots import Core
from stepscope.sources.swimlane.draft import Activity, Draft

Event = Mapping[str, Any]

_WORKERS = ("Worker View", "AICore View", "Machine View")
_BLOCK = re.compile(r"block\d+$")
_CORE = re.compile(r"(AIC|AIV)\b.*?(\d{1,9})|([A-Z][A-Za-z]{0,15})_(\d{1,9})$")
_ENGINES = {"aic": Engine.AIC, "aiv": Engine.AIV}
_TRACE = re.compile(rb'"(Worker View|AICore View|Machine View|AIC_\d+|AIV_\d+|AIC \(core\d+\)|AIV\d? \(core\d+\))"')
_LABEL = re.compile(r"(.*?)[(#]")
_ID_OF_OP = re.compile(r"[\d-]+\((.+)\)$")


def is_trace(head: bytes) -> bool:
    """Whether a file starts as a Chrome trace of AIC and AIV cores."""
    return b'"traceEvents"' in head[:4096] and _TRACE.search(head) is not None


def read_trace(document: Mapping[str, Any], where: str) -> Draft:
    """The draft of a trace."""
    listed = document["traceEvents"]
    events = [event for event in listed if _is_event(event)] if isinstance(listed, list) else []
    processes, threads = _names(events)
    workers = {pid for pid, names in processes.items() if names & set(_WORKERS)}
    workers = workers or {pid for pid, names in processes.items() if any(_BLOCK.match(name) for name in names)}
    draft = Draft("swimlane trace, in microseconds")
    spans = [event for event in events if event.get("ph") == "X"]
    bars = [event for event in spans if event.get("pid") in workers and not _on_scheduler(event, threads)]
    rows = [row for event in bars if (row := _row(event, threads)) is not None]
    if len(rows) < len(bars):
        draft.losses.append(Diagnostic("traceEvents", "bars without a core, task or time", len(bars) - len(rows), ""))
    _fill(draft, rows)
    draft.activities = list(_activities(spans, processes, threads, workers))
    return draft


def _is_event(event: Any) -> bool:
    """Whether it is an event whose process and thread are numbers or words."""
    return isinstance(event, Mapping) and all(isinstance(event.get(key), int | str | None) for key in ("pid", "tid"))


def _names(events: Sequence[Event]) -> tuple[dict[Any, set[str]], dict[tuple[Any, Any], str]]:
    processes: dict[Any, set[str]] = {}
    threads: dict[tuple[Any, Any], str] = {}
    for event in events:
        if event.get("ph") != "M":
            continue
        args = event.get("args")
        name = str(args.get("name", "")) if isinstance(args, Mapping) else ""
        if event.get("name") == "process_name":
            processes.setdefault(event.get("pid"), set()).add(name)
        elif event.get("name") == "thread_name":
            threads[event.get("pid"), event.get("tid")] = name
    return processes, threads


def _on_scheduler(event: Event, threads: Mapping[tuple[Any, Any], str]) -> bool:
    """Whether a bar of the workers' view is a marker on a scheduler's thread."""
    return threads.get((event.get("pid"), event.get("tid")), "").startswith("AICPU")


def _row(event: Event, threads: Mapping[tuple[Any, Any], str]) -> dict[str, Any] | None:
    args = event.get("args")
    args = args if isinstance(args, Mapping) else {}
    task = args.get("taskId", args.get("task_id"))
    start, duration = _micros(event.get("ts")), _micros(event.get("dur"))
    thread = threads.get((event.get("pid"), event.get("tid")), "")
    named = _CORE.match(thread)
    core = args.get("core", int(named[2] or named[4]) if named else None)
    if not _is_id(task, 1 << 64) or not _is_id(core, 1 << 20) or start is None or duration is None:
        return None
    setup = _micros(args.get("local_setup_us")) or 0
    begin, end = round((start + setup) * 1000), round((start + duration) * 1000)
    return {
        "task": task,
        "core": core,
        "type": _type(named, event),
        "receive": round(start * 1000) if "local_setup_us" in args else 0,
        "start": begin,
        "end": end,
        "name": str(args.get("name") or _label(str(event.get("name", "")))),
        "function": args["func_id"] if _is_id(args.get("func_id"), 1 << 31) else -1,
    }


def _is_id(value: Any, below: int) -> bool:
    return type(value) is int and 0 <= value < below


def _micros(value: Any) -> float | None:
    known = isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1 << 52
    return value if known else None


def _type(named: re.Match[str] | None, event: Event) -> str:
    """The engine by the thread's name; where a block's threads are unnamed, thread 0 is its AIC."""
    if named:
        return (named[1] or named[3]).lower()
    return "aiv" if event.get("tid") else "aic"


def _label(name: str) -> str:
    """The op of a bar: of `id(Op)` the op, of `Op(id)` and `Op#id` what stands first."""
    with_id = _ID_OF_OP.match(name)
    if with_id:
        return with_id[1]
    label = _LABEL.match(name)
    return label[1] if label else name


def _fill(draft: Draft, rows: Sequence[Mapping[str, Any]]) -> None:
    ids: dict[str, int] = {}
    for row in rows:
        ids.setdefault(row["name"], row["function"] if row["function"] >= 0 else len(ids))
    draft.names = {number: name for name, number in ids.items()}
    draft.tasks = {key: [row[key] for row in rows] for key in ("task", "core", "receive", "start", "end")}
    draft.tasks["function"] = [ids[row["name"]] for row in rows]
    _add_cores(draft, rows)


def _add_cores(draft: Draft, rows: Sequence[Mapping[str, Any]]) -> None:
    """The cores: by their number where it is unique, else by kind and number."""
    cores = sorted({(row["type"], row["core"]) for row in rows})
    types = {number: kind for kind, number in cores}
    if len(types) == len(cores) and types.keys() and set(types.values()) <= _ENGINES.keys():
        draft.core_types = [types.get(number, "") for number in range(max(types) + 1)]
        return
    ids = {core: place for place, core in enumerate(cores)}
    draft.tasks["core"] = [ids[row["type"], row["core"]] for row in rows]
    draft.named_cores = [
        Core(place, f"{kind.upper()}_{number}", _ENGINES.get(kind, Engine.UNKNOWN), number)
        for (kind, number), place in ids.items()
    ]


def _activities(
    spans: Sequence[Event], processes: Mapping[Any, set[str]], threads: Mapping[tuple[Any, Any], str], workers: set[Any]
) -> Iterator[Activity]:
    for event in spans:
        if event.get("cat") not in ("scheduler", "orchestrator") or event.get("pid") in workers:
            continue
        lane = threads.get((event.get("pid"), event.get("tid")), " ".join(sorted(processes.get(event.get("pid"), ()))))
        start, duration, args = _micros(event.get("ts")), _micros(event.get("dur")), event.get("args")
        if start is None or duration is None or not isinstance(args, Mapping):
            continue
        task = args.get("task_id")
        kind, end = str(args.get("phase", event.get("name"))), round((start + duration) * 1000)
        yield Activity(lane, kind, round(start * 1000), end, task if _is_id(task, 1 << 64) else None)

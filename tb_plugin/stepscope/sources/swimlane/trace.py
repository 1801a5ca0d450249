"""Chrome traces of on-device tasks: merged_swimlane.json, and traces per block of AIC and AIV cores.

Times are microseconds with decimals, read as whole nanoseconds. Only the view of the workers is
read: the other views show the same tasks again.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from stepscope.model.diagnostic import Diagnostic
from stepscope.model.incore import Engine
from stepscope.model.incore_slots import Core
from stepscope.sources.swimlane.cycles import MAX_CORES, MAX_TASKS, id_below
from stepscope.sources.swimlane.draft import Activity, Draft

Event = Mapping[str, Any]
Thread = tuple[Any, Any]
"""Process and thread id."""

_WORKERS = ("Worker View", "AICore View", "Machine View")
_BLOCK = re.compile(r"block\d+$")
_CORE = re.compile(r"(AIC|AIV)\b.*?(\d{1,9})|([A-Z][A-Za-z]{0,15})_(\d{1,9})$")
_ENGINES = {"aic": Engine.AIC, "aiv": Engine.AIV}
_TRACE = re.compile(
    rb'"(Worker View|AICore View|Machine View'
    rb'|AIC_\d+|AIV_\d+|AIC \(core\d+\)|AIV\d? \(core\d+\))"',
)
_MAX_FUNCTIONS = 1 << 31
_MAX_MICROS = 1 << 52
_LABEL = re.compile(r"(.*?)[(#]")
_ID_OF_OP = re.compile(r"[\d-]+\((.+)\)$")


def is_trace(head: bytes) -> bool:
    """Whether a file starts as a Chrome trace of AIC and AIV cores."""
    return b'"traceEvents"' in head[:4096] and _TRACE.search(head) is not None


def read_trace(document: Mapping[str, Any], where: str) -> Draft:
    """The draft of a trace."""
    events: list[Event] = []
    if isinstance(document["traceEvents"], list):
        events = [event for event in document["traceEvents"] if _is_event(event)]
    names = _names(events)
    workers = _workers(names.processes)
    spans = [event for event in events if event.get("ph") == "X"]

    draft = Draft("swimlane trace, in microseconds")
    rows = []
    unusable = 0
    for event in spans:
        thread = names.threads.get(_thread_id(event), "")
        # A scheduler marks its dispatches in the view of the workers too.
        if event.get("pid") not in workers or thread.startswith("AICPU"):
            continue
        row = _row(event, thread)
        if row is None:
            unusable += 1
        else:
            rows.append(row)
    if unusable:
        loss = Diagnostic("traceEvents", "bars without a core, task or time", unusable)
        draft.losses.append(loss)
    _fill(draft, rows)
    draft.activities = list(_activities(spans, names, workers))
    return draft


def _is_event(event: Any) -> bool:
    """Whether it is an event whose process and thread are numbers or words."""
    if not isinstance(event, Mapping):
        return False
    return all(isinstance(part, int | str | None) for part in _thread_id(event))


def _thread_id(event: Event) -> Thread:
    return event.get("pid"), event.get("tid")


@dataclass(frozen=True)
class _Names:
    """Names of processes, of which a process may have several, and of threads."""

    processes: dict[Any, set[str]]
    threads: dict[Thread, str]

    def lane(self, event: Event) -> str:
        """The name of an event's thread, or else of its process."""
        thread = self.threads.get(_thread_id(event))
        if thread is not None:
            return thread
        return " ".join(sorted(self.processes.get(event.get("pid"), ())))


def _names(events: Sequence[Event]) -> _Names:
    names = _Names({}, {})
    for event in events:
        if event.get("ph") != "M":
            continue
        name = str(_args(event).get("name", ""))
        if event.get("name") == "process_name":
            names.processes.setdefault(event.get("pid"), set()).add(name)
        elif event.get("name") == "thread_name":
            names.threads[_thread_id(event)] = name
    return names


def _args(event: Event) -> Mapping[str, Any]:
    args = event.get("args")
    if isinstance(args, Mapping):
        return args
    return {}


def _workers(processes: Mapping[Any, set[str]]) -> set[Any]:
    """The processes whose bars are tasks: the view of the workers, or else the blocks."""
    workers = set()
    blocks = set()
    for pid, names in processes.items():
        if names & set(_WORKERS):
            workers.add(pid)
        if any(_BLOCK.match(name) for name in names):
            blocks.add(pid)
    return workers or blocks


def _row(event: Event, thread: str) -> dict[str, Any] | None:
    """The task row of a bar, None where it lacks a task, core or time."""
    args = _args(event)
    named = _CORE.match(thread)
    core = None
    if named:
        core = int(named[2] or named[4])
    core = id_below(MAX_CORES, args.get("core", core))
    task = id_below(MAX_TASKS, args.get("taskId", args.get("task_id")))
    start = _micros(event.get("ts"))
    duration = _micros(event.get("dur"))
    if task is None or core is None or start is None or duration is None:
        return None

    # A bar begins when the core receives the task; the kernel starts after the set-up.
    setup = _micros(args.get("local_setup_us")) or 0
    receive = 0
    if "local_setup_us" in args:
        receive = _ns(start)
    function = id_below(_MAX_FUNCTIONS, args.get("func_id"))
    if function is None:
        function = -1
    return {
        "task": task,
        "core": core,
        "type": _type(named, event),
        "receive": receive,
        "start": _ns(start + setup),
        "end": _ns(start + duration),
        "name": str(args.get("name") or _label(str(event.get("name", "")))),
        "function": function,
    }


def _micros(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    if abs(value) >= _MAX_MICROS:
        return None
    return value


def _ns(micros: float) -> int:
    return round(micros * 1000)


def _type(named: re.Match[str] | None, event: Event) -> str:
    """The engine by the thread's name; where a block's threads are unnamed, thread 0 is its AIC."""
    if named:
        return (named[1] or named[3]).lower()
    if event.get("tid"):
        return "aiv"
    return "aic"


def _label(name: str) -> str:
    """The op of a bar that is named `id(Op)`, `Op(id)` or `Op#id`."""
    with_id = _ID_OF_OP.match(name)
    if with_id:
        return with_id[1]
    label = _LABEL.match(name)
    if label:
        return label[1]
    return name


def _fill(draft: Draft, rows: Sequence[Mapping[str, Any]]) -> None:
    ids: dict[str, int] = {}
    for row in rows:
        function = row["function"]
        if function < 0:
            function = len(ids)
        ids.setdefault(row["name"], function)
    draft.names = {number: name for name, number in ids.items()}
    for key in ("task", "core", "receive", "start", "end"):
        draft.tasks[key] = [row[key] for row in rows]
    draft.tasks["function"] = [ids[row["name"]] for row in rows]
    _add_cores(draft, rows)


def _add_cores(draft: Draft, rows: Sequence[Mapping[str, Any]]) -> None:
    """The cores: by their number where it is unique, else by kind and number."""
    cores = sorted({(row["type"], row["core"]) for row in rows})
    types = {number: kind for kind, number in cores}
    is_unique = len(types) == len(cores)
    if types and is_unique and set(types.values()) <= _ENGINES.keys():
        draft.core_types = [types.get(number, "") for number in range(max(types) + 1)]
        return
    ids = {core: place for place, core in enumerate(cores)}
    draft.tasks["core"] = [ids[row["type"], row["core"]] for row in rows]
    for (kind, number), place in ids.items():
        engine = _ENGINES.get(kind, Engine.UNKNOWN)
        draft.named_cores.append(Core(place, f"{kind.upper()}_{number}", engine, number))


def _activities(
    spans: Sequence[Event],
    names: _Names,
    workers: set[Any],
) -> Iterator[Activity]:
    for event in spans:
        if event.get("cat") not in ("scheduler", "orchestrator") or event.get("pid") in workers:
            continue
        start = _micros(event.get("ts"))
        duration = _micros(event.get("dur"))
        args = event.get("args")
        if start is None or duration is None or not isinstance(args, Mapping):
            continue
        yield Activity(
            lane=names.lane(event),
            kind=str(args.get("phase", event.get("name"))),
            start=_ns(start),
            end=_ns(start + duration),
            task=id_below(MAX_TASKS, args.get("task_id")),
        )

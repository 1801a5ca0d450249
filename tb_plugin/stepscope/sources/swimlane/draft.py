"""A capture of on-device tasks on its way to a record, and what all its formats share."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from stepscope.errors import DamagedSource
from stepscope.model.arrays import I64
from stepscope.model.columns import Header, StringBuilder
from stepscope.model.diagnostic import Diagnostic
from stepscope.model.incore import InCore
from stepscope.model.incore_capture import NAMED_CORES, Activities, Clock, Dependencies, Functions, Tasks
from stepscope.model.incore_slots import Core, cores_group, cores_of
from stepscope.model.incore_values import group


@dataclass(frozen=True)
class Activity:
    """A span of a scheduler or orchestrator, in the capture's unit or in host ns."""

    lane: str
    kind: str
    start: int
    end: int
    task: int | None = None
    clock: Clock = Clock.DEVICE


@dataclass
class Draft:
    """A capture as it is read.

    Attributes:
        format: The generation, in words.
        level: Capture level, 0 when not told.
        clock_freq_hz: Counts a second, 0 where the unit is ns.
        core_types: "aic" or "aiv" per core id.
        named_cores: The cores where kinds are numbered from 0 each, so that a number is not unique.
        tasks: Columns of Tasks by name; stamps are absolute, 0 for none, and `function` holds ids of the source.
        names: Name of each function id.
        edges: Task pairs (predecessor, successor) with what made them.
        lost_stamps: Absolute stamps of tasks whose own row was lost; time 0 of the axis may be one of them.
    """

    format: str
    level: int = 0
    clock_freq_hz: int = 0
    core_types: list[str] = field(default_factory=list)
    named_cores: list[Core] = field(default_factory=list)
    tasks: dict[str, list[int]] = field(default_factory=dict)
    names: dict[int, str] = field(default_factory=dict)
    edges: dict[tuple[int, int], str] = field(default_factory=dict)
    activities: list[Activity] = field(default_factory=list)
    lost_stamps: list[int] = field(default_factory=list)
    losses: list[Diagnostic] = field(default_factory=list)

    @property
    def unit(self) -> str:
        """Unit of the stamps."""
        return "cycles" if self.clock_freq_hz else "ns"


_STAMPS = ("receive", "start", "end", "dispatch", "finish")


def record_of(draft: Draft, source: str) -> InCore:
    """The record of a capture. Its base is the smallest stamp of the device, as time 0 of the axis.

    Raises:
        DamagedSource: There is no task in it.
    """
    if not draft.tasks.get("start"):
        raise DamagedSource(
            f"{draft.format} without a task",
            where=source,
            remedy="Capture again; the AICore buffers may have been dropped, or the run ended early",
        )
    base = _base(draft)
    strings = StringBuilder()
    ids = sorted({i for i in draft.tasks["function"] if i >= 0})
    record = InCore(
        header=Header(producer=draft.format, source=source, losses=tuple(draft.losses)),
        title=source,
        clock_freq_hz=draft.clock_freq_hz,
        unit=draft.unit,
        slot_map=NAMED_CORES if draft.named_cores else "core_id",
        capture_format=draft.format,
        capture_level=draft.level,
        capture_base=str(base),
        cores=cores_group(_cores(draft), strings),
        tasks=_tasks(draft, base, ids),
        functions=group(Functions, id=ids, name=[strings(draft.names.get(i, f"func_{i}")) for i in ids]),
        dependencies=_dependencies(draft, strings),
        activities=_activities(draft, base, strings),
        strings=strings.build(),
    )
    record.validate()
    return record


def _base(draft: Draft) -> int:
    stamps = [stamp for name in _STAMPS for stamp in draft.tasks.get(name, ()) if stamp > 0]
    stamps += [a.start for a in draft.activities if a.clock is Clock.DEVICE and a.start > 0]
    stamps += [stamp for stamp in draft.lost_stamps if stamp > 0]
    return min(stamps, default=0) if draft.clock_freq_hz else 0


def _cores(draft: Draft) -> Any:
    if draft.named_cores:
        return draft.named_cores
    count = max(len(draft.core_types), max(draft.tasks["core"]) + 1)
    return cores_of({"kind": "core_id", "core_types": draft.core_types}, count) or ()


def _tasks(draft: Draft, base: int, functions: list[int]) -> Tasks:
    rows = draft.tasks
    count = len(rows["start"])
    columns: dict[str, Any] = {name: _relative(rows.get(name, [0] * count), base) for name in _STAMPS}
    index = {number: position for position, number in enumerate(functions)}
    columns["task"] = np.array(rows["task"], np.uint64)
    columns["function"] = [index.get(number, -1) for number in rows["function"]]
    columns.update({name: rows[name] for name in ("core", "dispatch_id", "epoch") if name in rows})
    epochs = np.array(columns.get("epoch", [0] * count), np.int64)
    order = np.lexsort((np.array(rows["core"]), columns["task"], epochs))
    return group(Tasks, **{name: np.asarray(column)[order] for name, column in columns.items()})


def _relative(stamps: list[int], base: int) -> I64:
    """Times relative to the base; a stamp that was not taken is -1."""
    absolute = np.array(stamps, np.int64)
    return np.where(absolute > 0, absolute - base, -1)


def _dependencies(draft: Draft, strings: StringBuilder) -> Dependencies:
    pairs = sorted(draft.edges)
    return Dependencies(
        predecessor=np.array([a for a, _ in pairs], np.uint64),
        successor=np.array([b for _, b in pairs], np.uint64),
        source=np.array([strings(draft.edges[pair]) if draft.edges[pair] else -1 for pair in pairs], np.int32),
    )


def _activities(draft: Draft, base: int, strings: StringBuilder) -> Activities:
    host = min((a.start for a in draft.activities if a.clock is Clock.HOST_NS), default=0)
    bases = {Clock.DEVICE: base, Clock.HOST_NS: host}
    rows = draft.activities
    return group(
        Activities,
        lane=[strings(a.lane) for a in rows],
        kind=[strings(a.kind) for a in rows],
        clock=[a.clock for a in rows],
        start=[a.start - bases[a.clock] for a in rows],
        end=[a.end - bases[a.clock] for a in rows],
        task=np.array([a.task or 0 for a in rows], np.uint64),
        has_task=[a.task is not None for a in rows],
    )

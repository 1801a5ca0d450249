"""A capture of on-device tasks as it is read, in any format, and the record made from it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from stepscope.errors import DamagedSource
from stepscope.model.arrays import I64
from stepscope.model.columns import Header, StringBuilder
from stepscope.model.diagnostic import Diagnostic
from stepscope.model.incore import InCore
from stepscope.model.incore_capture import (
    NAMED_CORES,
    Activities,
    Clock,
    Dependencies,
    Functions,
    Tasks,
)
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
        named_cores: The cores where each kind is numbered from 0, so that a number is not unique.
        tasks: Columns of Tasks by name. Stamps are absolute, 0 for none; `function` holds ids of
            the source.
        names: Name of each function id.
        edges: Task pairs (predecessor, successor) with the source of the dependency.
        lost_stamps: Absolute stamps of tasks whose row was lost; time 0 may be one of them.
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
        if self.clock_freq_hz:
            return "cycles"
        return "ns"


_STAMPS = ("receive", "start", "end", "dispatch", "finish")


def record_of(draft: Draft, source: str) -> InCore:
    """The record of a capture. Time 0 is the smallest stamp of the device.

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
    ids = sorted({number for number in draft.tasks["function"] if number >= 0})
    names = [draft.names.get(number, f"func_{number}") for number in ids]
    slot_map = "core_id"
    if draft.named_cores:
        slot_map = NAMED_CORES
    record = InCore(
        header=Header(producer=draft.format, source=source, losses=tuple(draft.losses)),
        title=source,
        clock_freq_hz=draft.clock_freq_hz,
        unit=draft.unit,
        slot_map=slot_map,
        capture_format=draft.format,
        capture_level=draft.level,
        capture_base=str(base),
        cores=cores_group(_cores(draft), strings),
        tasks=_tasks(draft, base, ids),
        functions=group(Functions, id=ids, name=[strings(name) for name in names]),
        dependencies=_dependencies(draft, strings),
        activities=_activities(draft, base, strings),
        strings=strings.build(),
    )
    record.validate()
    return record


def _base(draft: Draft) -> int:
    # Captures in ns start near 0 already, and users know their times.
    if not draft.clock_freq_hz:
        return 0
    stamps = list(draft.lost_stamps)
    for name in _STAMPS:
        stamps += draft.tasks.get(name, ())
    stamps += [span.start for span in draft.activities if span.clock is Clock.DEVICE]
    return min((stamp for stamp in stamps if stamp > 0), default=0)


def _cores(draft: Draft) -> Any:
    if draft.named_cores:
        return draft.named_cores
    count = max(len(draft.core_types), max(draft.tasks["core"]) + 1)
    return cores_of({"kind": "core_id", "core_types": draft.core_types}, count) or ()


def _tasks(draft: Draft, base: int, functions: list[int]) -> Tasks:
    rows = draft.tasks
    count = len(rows["start"])
    columns: dict[str, Any] = {}
    for name in _STAMPS:
        columns[name] = _relative(rows.get(name, [0] * count), base)
    index = {number: position for position, number in enumerate(functions)}
    columns["function"] = [index.get(number, -1) for number in rows["function"]]
    columns["task"] = np.array(rows["task"], np.uint64)
    for name in ("core", "dispatch_id", "epoch"):
        if name in rows:
            columns[name] = rows[name]
    epochs = np.array(columns.get("epoch", [0] * count), np.int64)
    order = np.lexsort((np.array(rows["core"]), columns["task"], epochs))
    ordered = {name: np.asarray(column)[order] for name, column in columns.items()}
    return group(Tasks, **ordered)


def _relative(stamps: list[int], base: int) -> I64:
    """Times relative to the base; a stamp that was not taken is -1."""
    absolute = np.array(stamps, np.int64)
    return np.where(absolute > 0, absolute - base, -1)


def _dependencies(draft: Draft, strings: StringBuilder) -> Dependencies:
    pairs = sorted(draft.edges)
    sources = []
    for pair in pairs:
        source = -1
        if draft.edges[pair]:
            source = strings(draft.edges[pair])
        sources.append(source)
    return Dependencies(
        predecessor=np.array([predecessor for predecessor, _ in pairs], np.uint64),
        successor=np.array([successor for _, successor in pairs], np.uint64),
        source=np.array(sources, np.int32),
    )


def _activities(draft: Draft, base: int, strings: StringBuilder) -> Activities:
    spans = draft.activities
    host_starts = [span.start for span in spans if span.clock is Clock.HOST_NS]
    bases = {Clock.DEVICE: base, Clock.HOST_NS: min(host_starts, default=0)}
    return group(
        Activities,
        lane=[strings(span.lane) for span in spans],
        kind=[strings(span.kind) for span in spans],
        clock=[span.clock for span in spans],
        start=[span.start - bases[span.clock] for span in spans],
        end=[span.end - bases[span.clock] for span in spans],
        task=np.array([span.task or 0 for span in spans], np.uint64),
        has_task=[span.task is not None for span in spans],
    )

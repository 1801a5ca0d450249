"""A window of the timeline: what is wider than a pixel as it is, the rest merged into blocks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from stepscope.lenses.trace.categories import Category
from stepscope.lenses.trace.devices import BLOCKS_PER_SM, numbers, sm_efficiency
from stepscope.lenses.trace.lanes import LaidOut, LaneRow
from stepscope.lenses.trace.launches import launched, queue_length
from stepscope.lenses.trace.memory import MemorySeries
from stepscope.lenses.trace.utilization import BUSY, busy_spans
from stepscope.model.arrays import Floats
from stepscope.model.columns import Array, Ints
from stepscope.model.profile import LaneKind, Profile

MAX_BLOCKS = 5000
"""Of one answer. Where more would be needed, blocks are merged at twice the width, and so on."""
MAX_NAME = 80
MAX_ARROWS = 200
MAX_PARTS = 1200
"""Of a counter."""


@dataclass(frozen=True, eq=False)
class Blocks:
    """Blocks of one row: single executions (`count` 1), or runs of smaller ones under the name of the longest."""

    run: Ints
    start: Ints
    end: Ints
    count: Ints

    def __len__(self) -> int:
        return len(self.run)


def blocks(row: LaneRow, start: int, end: int, least: int) -> Blocks:
    """The executions of a row in a window; those shorter than `least` ticks are merged with what is as near."""
    at = row.window(start, end)
    run, begin, stop = row.run[at], row.start[at], row.end[at]
    if not len(run):
        return Blocks(run, begin, stop, run)
    small = stop - begin < least
    joins = small[1:] & small[:-1] & (begin[1:] - stop[:-1] < least)
    first = np.flatnonzero(np.append(True, ~joins))
    last = np.append(first[1:], len(run)) - 1
    count = last - first + 1
    order = np.lexsort((begin - stop, np.repeat(np.arange(len(first)), count)))
    return Blocks(run[order][first], begin[first], stop[last], count)


def timeline(
    layout: LaidOut,
    start: int | None,
    end: int | None,
    width_px: int,
    memory: Sequence[MemorySeries] = (),
) -> dict[str, Any]:
    """The document of a window, in ticks; all of it by default. Times in ps, `start_ps` relative to the anchor.

    A block is `[level, start_ps, duration_ps, name, category, count, execution]`, its start relative to the window's.
    Counters have a value for each of equal parts of the window.

    Args:
        memory: Memory over time, which becomes counters too.
    """
    whole = layout.span
    start = whole[0] if start is None else max(start, whole[0])
    end = whole[1] if end is None else min(end, whole[1])
    end = max(end, start + 1)
    found = _fitting(layout, start, end, -(-(end - start) // width_px))
    tick, names = layout.profile.tick_ps, _NameTable(layout.profile)
    parts = min(width_px, MAX_PARTS, end - start)
    edges = start + (end - start) * np.arange(parts + 1) // parts
    lanes = [
        _lane(layout, lane, len(rows)) | {"blocks": _described(layout, rows, drawn, names, start)}
        for lane, rows, drawn in zip(layout.lane, layout.rows, found, strict=True)
    ]
    return {
        "start_ps": start * tick,
        "end_ps": end * tick,
        "first_ps": whole[0] * tick,
        "last_ps": whole[1] * tick,
        "categories": [category.label for category in Category],
        "lanes": lanes,
        "names": names.texts,
        "steps": _steps(layout.profile, start, end),
        "counters": _counters(layout, edges) + _memory(memory, edges),
    }


def _fitting(layout: LaidOut, start: int, end: int, least: int) -> list[list[Blocks]]:
    while True:
        found = [[blocks(row, start, end, least) for row in rows] for rows in layout.rows]
        if sum(len(one) for lane in found for one in lane) <= MAX_BLOCKS or least > end - start:
            return found
        least *= 2


def _lane(layout: LaidOut, lane: int, count: int) -> dict[str, Any]:
    lanes, strings = layout.profile.lanes, layout.profile.strings
    names = [strings[int(i)] if i >= 0 else "" for i in (lanes.device[lane], lanes.name[lane])]
    kind = "host" if lanes.kind[lane] == LaneKind.HOST else "accelerator"
    return {"id": lane, "device": names[0], "name": names[1], "kind": kind, "levels": count}


def _described(
    layout: LaidOut, rows: tuple[LaneRow, ...], found: list[Blocks], names: _NameTable, start: int
) -> list[list[int]]:
    tick, node = layout.profile.tick_ps, layout.profile.executions.node
    described: list[list[int]] = []
    for row, one in zip(rows, found, strict=True):
        columns = (
            [row.level] * len(one),
            ((one.start - start) * tick).tolist(),
            ((one.end - one.start) * tick).tolist(),
            names.of(node[one.run].astype(np.int64)),
            layout.category[one.run].tolist(),
            one.count.tolist(),
            one.run.tolist(),
        )
        described += [list(block) for block in zip(*columns, strict=True)]
    return described


class _NameTable:
    """The names of an answer, each once, shortened."""

    def __init__(self, profile: Profile) -> None:
        self._profile = profile
        self._place: dict[int, int] = {}
        self.texts: list[str] = []

    def of(self, nodes: Ints) -> list[int]:
        """The place of each node's name."""
        found = []
        for name in self._profile.nodes.name[nodes].tolist():
            if name not in self._place:
                text = self._profile.strings[name] if name >= 0 else ""
                self._place[name] = len(self.texts)
                self.texts.append(text if len(text) <= MAX_NAME else text[: MAX_NAME - 1] + "…")
            found.append(self._place[name])
        return found


def _steps(profile: Profile, start: int, end: int) -> list[dict[str, Any]]:
    steps, tick = profile.steps, profile.tick_ps
    inside = np.flatnonzero(
        (steps.start_ticks < end) & (steps.start_ticks + steps.duration_ticks > start)
    )
    return [
        {
            "id": int(steps.id[i]),
            "start_ps": int(steps.start_ticks[i]) * tick,
            "duration_ps": int(steps.duration_ticks[i]) * tick,
        }
        for i in inside[:1000].tolist()
    ]


def _counters(layout: LaidOut, edges: Ints) -> list[dict[str, Any]]:
    """Utilization of each accelerator, its SMs and the queue before it, over the parts between edges."""
    profile, runs = layout.profile, layout.profile.executions
    found = []
    for device in dict.fromkeys(int(profile.lanes.device[i]) for i in layout.lane):
        lanes = [i for i in layout.lane if profile.lanes.device[i] == device]
        if profile.lanes.kind[lanes[0]] != LaneKind.ACCELERATOR:
            continue
        rows = np.flatnonzero(np.isin(runs.lane, lanes))
        kernel = rows[np.isin(layout.category[rows], BUSY)]
        busy = busy_spans(profile, kernel)
        share = busy.within(edges[:-1], edges[1:]) / np.diff(edges)
        efficiency = _efficiency(profile, kernel, edges)
        time, queue = queue_length(profile, rows)
        waiting = np.append(0, queue)[np.searchsorted(time, edges[1:], side="right")]
        name = profile.strings[device] if device >= 0 else ""
        found.append({"device": name, "what": "utilization", "values": np.round(share, 3).tolist()})
        if efficiency is not None:
            found.append(
                {
                    "device": name,
                    "what": "sm_efficiency",
                    "values": np.round(efficiency, 3).tolist(),
                }
            )
        if waiting.any():
            found.append({"device": name, "what": "queue", "values": waiting.tolist()})
    return found


def _memory(series: Sequence[MemorySeries], edges: Ints) -> list[dict[str, Any]]:
    """The most memory that was allocated and reserved in each part; None before the first event."""
    found = []
    for one in series:
        for what, values in zip(("allocated", "reserved"), one.highest(edges), strict=True):
            if (values > 0).any():
                shown = [size if size >= 0 else None for size in values.tolist()]
                found.append(
                    {
                        "device": one.device,
                        "what": what,
                        "allocator": one.allocator,
                        "values": shown,
                    }
                )
    return found


def _efficiency(profile: Profile, kernel: Ints, edges: Ints) -> Floats | None:
    runs = profile.executions
    blocks, start = numbers(profile, BLOCKS_PER_SM)[runs.node[kernel]], runs.start_ticks[kernel]
    return sm_efficiency(start, start + runs.duration_ticks[kernel], blocks, edges[:-1], edges[1:])


def event(layout: LaidOut, run: int) -> dict[str, Any]:
    """Everything about one execution, with what launched it and what it launched."""
    profile, runs = layout.profile, layout.profile.executions
    node, text = int(runs.node[run]), profile.strings
    nodes, step = profile.nodes, int(runs.step[run])
    rows = np.flatnonzero(profile.attributes.node == node)
    pairs = zip(
        profile.attributes.key[rows].tolist(), profile.attributes.value[rows].tolist(), strict=True
    )
    return _moment(layout, run) | {
        "self_ps": int(runs.self_ticks[run]) * profile.tick_ps,
        "step": int(profile.steps.id[step]) if step >= 0 else None,
        "input_shape": text[int(nodes.input_shape[node])] if nodes.input_shape[node] >= 0 else "",
        "attributes": {text[key]: text[value] for key, value in pairs},
        "arrows": _arrows(layout, run),
    }


def _moment(layout: LaidOut, run: int) -> dict[str, Any]:
    profile, runs = layout.profile, layout.profile.executions
    category = int(layout.category[run])
    return {
        "id": run,
        "name": profile.strings[int(profile.nodes.name[runs.node[run]])],
        "category": Category(category).label if category >= 0 else "step",
        "lane": int(runs.lane[run]),
        "start_ps": int(runs.start_ticks[run]) * profile.tick_ps,
        "duration_ps": int(runs.duration_ticks[run]) * profile.tick_ps,
    }


def _arrows(layout: LaidOut, run: int) -> list[dict[str, Any]]:
    """What leads from or to an execution and what it calls: launches, and forward to backward calls."""
    profile, runs = layout.profile, layout.profile.executions
    end = runs.start_ticks + runs.duration_ticks

    def inside(rows: Ints) -> Array:
        start = runs.start_ticks[rows]
        within = (
            (start >= runs.start_ticks[run])
            & (start < end[run])
            & (runs.lane[rows] == runs.lane[run])
        )
        found: Array = within | (rows == run)
        return found

    pairs, backward = launched(profile), np.flatnonzero(runs.forward >= 0)
    found = []
    for kind, source, target in (
        ("launch", pairs.call, pairs.work),
        ("backward", runs.forward[backward].astype(np.int64), backward),
    ):
        chosen = np.flatnonzero(inside(source) | inside(target))[:MAX_ARROWS]
        found += [
            (kind, *ends)
            for ends in zip(source[chosen].tolist(), target[chosen].tolist(), strict=True)
        ]
    level = _levels(layout, {at for _, *ends in found for at in ends})
    return [
        {
            "kind": kind,
            "from": _moment(layout, source) | {"level": level[source]},
            "to": _moment(layout, target) | {"level": level[target]},
            "delay_ps": max(int(runs.start_ticks[target] - end[source]), 0) * profile.tick_ps,
        }
        for kind, source, target in found
    ]


def _levels(layout: LaidOut, runs: set[int]) -> dict[int, int]:
    """The level in its lane of each execution; 0 for those on no lane that is shown."""
    wanted = np.fromiter(runs, np.int64, len(runs))
    found = dict.fromkeys(runs, 0)
    for row in (row for rows in layout.rows for row in rows):
        found |= dict.fromkeys(row.run[np.isin(row.run, wanted)].tolist(), row.level)
    return found

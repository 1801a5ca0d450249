"""A window of the timeline: what is wider than a pixel as it is, the rest merged into blocks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from stepscope.lenses.views.executions.categories import Category
from stepscope.lenses.views.executions.devices import BLOCKS_PER_SM, Floats, numbers, sm_efficiency
from stepscope.lenses.views.executions.lanes import LaidOut, LaneRow
from stepscope.lenses.views.executions.launches import launched, queue_length
from stepscope.lenses.views.executions.spans import Spans
from stepscope.model.columns import Ints
from stepscope.model.profile import LaneKind, Profile

MAX_BLOCKS = 5000
"""Of one answer. Where more would be needed, blocks are merged at twice the width, and so on."""
MAX_NAME = 80
MAX_ARROWS = 200


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


def timeline(layout: LaidOut, start: int | None, end: int | None, width_px: int) -> dict[str, Any]:
    """The document of a window, in ticks; all of it by default. Times in ps, `start_ps` relative to the anchor.

    A block is `[level, start_ps, duration_ps, name, category, count, execution]`, its start relative to the window's.
    """
    whole = layout.span
    start = whole[0] if start is None else max(start, whole[0])
    end = whole[1] if end is None else min(end, whole[1])
    end = max(end, start + 1)
    found = _fitting(layout, start, end, -(-(end - start) // width_px))
    tick, names = layout.profile.tick_ps, _NameTable(layout.profile)
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
        "counters": _counters(layout, start, end, width_px),
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
    inside = np.flatnonzero((steps.start_ticks < end) & (steps.start_ticks + steps.duration_ticks > start))
    return [
        {
            "id": int(steps.id[i]),
            "start_ps": int(steps.start_ticks[i]) * tick,
            "duration_ps": int(steps.duration_ticks[i]) * tick,
        }
        for i in inside[:1000].tolist()
    ]


def _counters(layout: LaidOut, start: int, end: int, width_px: int) -> list[dict[str, Any]]:
    """Utilization of each accelerator, its SMs and the queue before it, over equal parts of the window."""
    profile, runs = layout.profile, layout.profile.executions
    edges = start + (end - start) * np.arange(min(width_px, end - start) + 1) // min(width_px, end - start)
    found = []
    for device in dict.fromkeys(int(profile.lanes.device[i]) for i in layout.lane):
        lanes = [i for i in layout.lane if profile.lanes.device[i] == device]
        if profile.lanes.kind[lanes[0]] != LaneKind.ACCELERATOR:
            continue
        rows = np.flatnonzero(np.isin(runs.lane, lanes))
        kernel = rows[np.isin(layout.category[rows], (Category.KERNEL, Category.COMMUNICATION))]
        busy = Spans.union(runs.start_ticks[kernel], runs.start_ticks[kernel] + runs.duration_ticks[kernel])
        share = busy.within(edges[:-1], edges[1:]) / np.diff(edges)
        efficiency = _efficiency(profile, kernel, edges)
        time, queue = queue_length(profile, rows)
        waiting = np.append(0, queue)[np.searchsorted(time, edges[1:], side="right")]
        name = profile.strings[device] if device >= 0 else ""
        found.append({"device": name, "what": "utilization", "values": np.round(share, 3).tolist()})
        if efficiency is not None:
            found.append({"device": name, "what": "sm_efficiency", "values": np.round(efficiency, 3).tolist()})
        if waiting.any():
            found.append({"device": name, "what": "queue", "values": waiting.tolist()})
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
    pairs = zip(profile.attributes.key[rows].tolist(), profile.attributes.value[rows].tolist(), strict=True)
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
    """Launches from or to an execution: for an op those of all calls that it makes."""
    pairs, runs = launched(layout.profile), layout.profile.executions
    start, end = int(runs.start_ticks[run]), int(runs.start_ticks[run] + runs.duration_ticks[run])
    called = runs.start_ticks[pairs.call]
    inside = (runs.lane[pairs.call] == runs.lane[run]) & (called >= start) & (called < end)
    chosen = np.flatnonzero(inside | (pairs.work == run) | (pairs.call == run))[:MAX_ARROWS]
    levels = {
        int(r): row.level for rows in layout.rows for row in rows for r in _found(row, pairs.call, pairs.work, chosen)
    }
    return [
        {
            "from": _moment(layout, int(pairs.call[i])) | {"level": levels.get(int(pairs.call[i]), 0)},
            "to": _moment(layout, int(pairs.work[i])) | {"level": levels.get(int(pairs.work[i]), 0)},
            "delay_ps": int(pairs.delay_ticks[i]) * layout.profile.tick_ps,
        }
        for i in chosen.tolist()
    ]


def _found(row: LaneRow, call: Ints, work: Ints, chosen: Ints) -> list[int]:
    wanted = np.concatenate((call[chosen], work[chosen]))
    found: list[int] = wanted[np.isin(wanted, row.run)].tolist()
    return found

"""The critical path of the steps: the chain of host work, device work and waits that decides how long they take.

It goes back from the end of the last complete step: at each point of the replay to what the point waited for last. What
is not on it could be shorter without the steps ending earlier. Definition of HTA's critical path analysis.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from stepscope.lenses.trace.replay_graph import PointKind, ReplayGraph, replay_graph
from stepscope.model.columns import Ints
from stepscope.model.profile import LaneKind, Profile

KINDS = ("op", "kernel", "wait", "idle")
"""Host work, by the innermost op; device work; waits for a launch, a return or a thread; streams that stand still."""
_OP, _KERNEL, _WAIT, _IDLE = range(len(KINDS))
_OUTSIDE = "(outside every op)"
_WORDS = {_WAIT: "(launch, return or hand-over)", _IDLE: "(idle stream)"}
MOST_SEGMENTS = 2000
NO_PATH: dict[str, Any] = {
    "step_count": 0,
    "total_ps": 0,
    "parts_ps": dict.fromkeys(KINDS, 0),
    "rows": [],
    "segments": [],
    "left_out_ps": 0,
}
"""The document of a profile without single executions on lanes."""


@dataclass(frozen=True, eq=False)
class CriticalPath:
    """The segments of the path in order of time, without gaps.

    Attributes:
        profile: The profile.
        start, end: Of each segment, in ticks.
        kind: In `KINDS`.
        run: The execution, -1 for host time outside every op, for waits and idle time.
        lane: The thread or stream.
        steps: How many steps the path goes through.
    """

    profile: Profile
    start: Ints
    end: Ints
    kind: Ints
    run: Ints
    lane: Ints
    steps: int

    @property
    def duration(self) -> Ints:
        """How long each segment takes."""
        duration: Ints = self.end - self.start
        return duration

    def to_json(self) -> dict[str, Any]:
        """The document: times in ps, segments as [start, duration, kind, name, lane, execution] in order of time.

        At most `MOST_SEGMENTS` segments are listed, the longest of all; `left_out_ps` is the time of the others.
        """
        tick = self.profile.tick_ps
        duration = self.duration
        total = int(duration.sum())
        parts = np.bincount(self.kind, weights=duration, minlength=len(KINDS)).astype(np.int64)
        longest = np.sort(np.argsort(-duration, kind="stable")[:MOST_SEGMENTS])
        names = self._names(longest)
        segments = []
        for row, name in zip(longest.tolist(), names, strict=True):
            segments.append(
                {
                    "start_ps": int(self.start[row]) * tick,
                    "duration_ps": int(duration[row]) * tick,
                    "kind": KINDS[int(self.kind[row])],
                    "name": name,
                    "lane": self._lane_name(int(self.lane[row])),
                    "execution": int(self.run[row]) if self.run[row] >= 0 else None,
                }
            )
        return {
            "step_count": self.steps,
            "total_ps": total * tick,
            "parts_ps": dict(zip(KINDS, (parts * tick).tolist(), strict=True)),
            "rows": self._rows(total),
            "segments": segments,
            "left_out_ps": (total - int(duration[longest].sum())) * tick,
        }

    def _rows(self, total: int) -> list[dict[str, Any]]:
        """The time of the path by kind and name, the largest first; with the longest execution of each."""
        node = self.profile.executions.node[self.run]
        name = np.where(self.run >= 0, self.profile.nodes.name[node], -1).astype(np.int64)
        key = (name + 1) * len(KINDS) + self.kind
        used, which = np.unique(key, return_inverse=True)
        duration = self.duration
        ticks = np.zeros(len(used), np.int64)
        np.add.at(ticks, which, duration)
        order = np.lexsort((duration, which))
        longest = (
            order[np.append(which[order][1:] != which[order][:-1], True)] if len(order) else order
        )
        names = self._names(longest)
        counts = np.bincount(which, minlength=len(used)).tolist()
        rows = []
        for place, row in enumerate(longest.tolist()):
            rows.append(
                {
                    "name": names[place],
                    "kind": KINDS[int(self.kind[row])],
                    "path_ps": int(ticks[place]) * self.profile.tick_ps,
                    "path_share": int(ticks[place]) / total if total else 0.0,
                    "segments": counts[place],
                    "execution": int(self.run[row]) if self.run[row] >= 0 else None,
                }
            )
        return sorted(rows, key=_largest_first)

    def _names(self, rows: Ints) -> list[str]:
        names = []
        for row in rows.tolist():
            run = int(self.run[row])
            if run < 0:
                names.append(_WORDS.get(int(self.kind[row]), _OUTSIDE))
                continue
            name = int(self.profile.nodes.name[self.profile.executions.node[run]])
            names.append(self.profile.strings[name] if name >= 0 else "")
        return names

    def _lane_name(self, lane: int) -> str:
        if lane < 0:
            return ""
        lanes = self.profile.lanes
        indices = (int(lanes.device[lane]), int(lanes.name[lane]))
        return " ".join(self.profile.strings[index] for index in indices if index >= 0)


def _largest_first(row: dict[str, Any]) -> tuple[int, str]:
    return (-row["path_ps"], row["name"])


def critical_path(profile: Profile) -> CriticalPath | None:
    """The critical path of the complete steps; None for a profile without single executions on lanes."""
    graph = replay_graph(profile)
    return None if graph is None else path_of(graph)


def path_of(graph: ReplayGraph) -> CriticalPath:
    """The critical path of a graph."""
    first, last = _ends(graph)
    segments = _chain(graph, last, int(graph.steps.start[first]))
    start, end, kind, run, lane = np.array(segments, np.int64).reshape(-1, 5)[::-1].T
    path = CriticalPath(graph.profile, start, end, kind, run, lane, int(graph.steps.complete.sum()))
    return _with_ops(path)


def _ends(graph: ReplayGraph) -> tuple[int, int]:
    """The first complete step, and the point at which the last one ends."""
    complete = np.flatnonzero(graph.steps.complete)
    first, last = int(complete[0]), int(complete[-1])
    works = np.flatnonzero(graph.work_step == last)
    points = np.append(works, graph.step_end[last])
    return first, int(points[graph.time[points].argmax()])


def _chain(graph: ReplayGraph, point: int, until: int) -> list[tuple[int, int, int, int, int]]:
    """Start, end, kind, execution and lane of the segments before a point, the last first."""
    time, kind, lane, run = (
        graph.time.tolist(),
        graph.kind.tolist(),
        graph.lane.tolist(),
        graph.run.tolist(),
    )
    previous, launch, wait = graph.previous.tolist(), graph.launch.tolist(), graph.wait.tolist()
    lag, launch_lag, wait_lag = (
        graph.lag.tolist(),
        graph.launch_lag.tolist(),
        graph.wait_lag.tolist(),
    )
    duration = graph.profile.executions.duration_ticks.tolist()
    segments: list[tuple[int, int, int, int, int]] = []
    while point >= 0 and time[point] > until:
        now, reached = time[point], -1
        gap_kind = _WAIT
        if wait[point] >= 0 and time[wait[point]] + wait_lag[point] >= now:
            reached = wait[point]
            gap_kind = _IDLE if kind[point] == PointKind.WORK else _WAIT
        elif launch[point] >= 0 and time[launch[point]] + launch_lag[point] >= now:
            reached = launch[point]
        elif previous[point] >= 0 and time[previous[point]] + lag[point] >= now:
            reached = previous[point]
            gap_kind = _IDLE if kind[point] == PointKind.WORK else _OP
        begin = max(time[reached] if reached >= 0 else until, until)
        if kind[point] == PointKind.WORK:
            started = max(now - duration[run[point]], begin)
            if now > started:
                segments.append((started, now, _KERNEL, run[point], lane[point]))
            now = started
        if now > begin:
            segments.append((begin, now, gap_kind, -1, lane[point]))
        point = reached
    return segments


def _with_ops(path: CriticalPath) -> CriticalPath:
    """The path with its host time cut into the innermost ops."""
    profile = path.profile
    parts: list[Ints] = []
    host = path.kind == _OP
    rest = np.flatnonzero(~host)
    parts.append(np.stack((path.start, path.end, path.kind, path.run, path.lane))[:, rest])
    for lane in np.unique(path.lane[host]).tolist():
        rows = np.flatnonzero(host & (path.lane == lane))
        time, run = _innermost(profile, int(lane))
        parts.append(_cut(path.start[rows], path.end[rows], time, run, int(lane)))
    columns = np.concatenate(parts, axis=1)
    order = np.argsort(columns[0], kind="stable")
    start, end, kind, run, lanes = columns[:, order]
    return CriticalPath(profile, start, end, kind, run, lanes, path.steps)


def _innermost(profile: Profile, lane: int) -> tuple[Ints, Ints]:
    """The moments at which the innermost execution of a thread changes, and which it is from then on; -1 for none."""
    runs = profile.executions
    rows = np.flatnonzero(runs.lane == lane)
    if not len(rows) or profile.lanes.kind[lane] != LaneKind.HOST:
        return np.empty(0, np.int64), np.empty(0, np.int64)
    start = runs.start_ticks[rows].astype(np.int64)
    end = start + runs.duration_ticks[rows]
    order = np.lexsort((-end, start))
    times: list[int] = []
    inner: list[int] = []
    stack: list[tuple[int, int]] = []
    step_names = set(profile.steps.name.tolist())
    names = profile.nodes.name[runs.node[rows]][order].tolist()
    listed = zip(
        start[order].tolist(), end[order].tolist(), rows[order].tolist(), names, strict=True
    )
    for begin, stop, row, name in listed:
        while stack and stack[-1][0] <= begin:
            until, _ = stack.pop()
            times.append(until)
            inner.append(stack[-1][1] if stack else -1)
        stack.append((stop, -1 if name in step_names else row))
        times.append(begin)
        inner.append(stack[-1][1])
    while stack:
        until, _ = stack.pop()
        times.append(until)
        inner.append(stack[-1][1] if stack else -1)
    return np.maximum.accumulate(np.array(times, np.int64)), np.array(inner, np.int64)


def _cut(start: Ints, end: Ints, time: Ints, run: Ints, lane: int) -> Ints:
    """Ranges cut where the innermost execution changes, as columns of segments."""
    inside = time[(time > start.min(initial=0)) & (time < end.max(initial=0))]
    edge = np.unique(np.concatenate((start, end, inside)))
    begin, stop = edge[:-1], edge[1:]
    place = np.searchsorted(np.sort(start), begin, side="right") - 1
    covered = (place >= 0) & (begin < np.sort(end)[np.maximum(place, 0)])
    begin, stop = begin[covered], stop[covered]
    at = np.searchsorted(time, begin, side="right") - 1
    inner = np.where(at >= 0, run[np.maximum(at, 0)], -1) if len(time) else np.full(len(begin), -1)
    count = len(begin)
    return np.stack((begin, stop, np.full(count, _OP), inner, np.full(count, lane)))

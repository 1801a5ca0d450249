"""The profile of one host: which op, scope, source line and graph node costs the time."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from stepscope.model.arrays import I64, Bools
from stepscope.model.columns import Header
from stepscope.model.diagnostic import Diagnostic
from stepscope.model.profile import (
    Allocations,
    Executions,
    LaneKind,
    Lanes,
    NodeKind,
    NodeSteps,
    Profile,
    Steps,
)
from stepscope.sources.torch_trace.trees import distinct, nearest, nest, nesting_order, paths, self_time
from stepscope.sources.xplane.lanes import Lane, PlaneLanes, StepMarks
from stepscope.sources.xplane.ops import OpInfo, ProgramOps
from stepscope.sources.xplane.tables import Tables

_MAX_SPREAD_NS = 1 << 52
_YEAR_2001_NS = 10**18
_LISTED_NAMES = 3


@dataclass(frozen=True)
class _Runs:
    """Events that are executions, by lane and start. `parent` is the event around, `trace` where it was called."""

    lane: I64
    start: I64
    duration: I64
    self_duration: I64
    info: I64
    trace: I64
    parent: I64


class ProfileBuilder:
    """Builds a host's profile from the lanes of its planes.

    Attributes:
        base_ns: The earliest time stamp; ticks count from it.
        losses: Events that the profile leaves out.
    """

    def __init__(self, planes: Sequence[PlaneLanes], programs: Mapping[int, ProgramOps]) -> None:
        self._planes = planes
        self._programs = programs
        self.losses: list[Diagnostic] = []
        self._lanes = self._timed_lanes()
        self._tables = Tables()
        self.base_ns = self._base()

    def _timed_lanes(self) -> list[tuple[PlaneLanes, Lane]]:
        """The lanes, without device work that has no start time.

        CUPTI gives 0 for the start and end of work that it could not time. Such work would stretch
        the profile back to its beginning, or to 1970.
        """
        lanes: list[tuple[PlaneLanes, Lane]] = []
        untimed = Counter[str]()
        has_absolute_clock = any(lane.timestamp_ns >= _YEAR_2001_NS for plane in self._planes for lane in plane.lanes)
        for plane in self._planes:
            plane_is_absolute = any(lane.timestamp_ns >= _YEAR_2001_NS for lane in plane.lanes)
            for lane in plane.lanes:
                if lane.kind == LaneKind.ACCELERATOR and has_absolute_clock and not lane.timestamp_ns:
                    is_untimed = lane.start == 0
                    if not plane_is_absolute:
                        is_untimed &= lane.duration == 0
                    names = [lane.infos[i].name for i in lane.info[is_untimed].tolist()]
                    untimed.update(names)
                    lane = lane.take(~is_untimed)
                if len(lane.start):
                    lanes.append((plane, lane))
        if untimed:
            self.losses.append(_untimed_loss(untimed))
        return lanes

    def _base(self) -> int:
        """The earliest time stamp, of those on the clock of most events."""
        if not self._lanes:
            return 0
        anchor = max((lane for _, lane in self._lanes), key=lambda lane: len(lane.start)).timestamp_ns
        stamps = [lane.timestamp_ns for _, lane in self._lanes]
        return min(stamp for stamp in stamps if abs(stamp - anchor) < _MAX_SPREAD_NS)

    def _shift(self, timestamp_ns: int) -> int:
        difference = timestamp_ns - self.base_ns
        return difference * 1000 if abs(difference) < _MAX_SPREAD_NS else 0

    def build(self, header: Header) -> Profile:
        """The profile, in picoseconds since `base_ns`."""
        infos, runs = self._runs()
        steps, step_of = self._steps(runs)
        node = self._nodes(infos, runs)
        executions = Executions(
            node=node.astype(np.int32),
            step=step_of.astype(np.int32),
            lane=runs.lane.astype(np.int32),
            start_ticks=runs.start,
            duration_ticks=runs.duration,
            self_ticks=runs.self_duration,
        )
        tables = self._tables
        return Profile(
            header=header,
            tick_ps=1,
            nested=True,
            has_traces=tables.has_traces,
            lanes=self._lane_rows(),
            steps=steps,
            executions=executions,
            node_steps=self._with_stand_ins(self._node_steps(executions, len(steps)), len(steps)),
            allocations=self._allocations(steps),
            **tables.groups(self._programs),
        )

    def _runs(self) -> tuple[list[OpInfo], _Runs]:
        numbers: dict[OpInfo, int] = {}
        columns: list[tuple[I64, I64, I64, I64]] = []
        for i, (_, lane) in enumerate(self._lanes):
            index = np.array([numbers.setdefault(info, len(numbers)) for info in lane.infos], np.int64)
            start = lane.start + self._shift(lane.timestamp_ns)
            columns.append((np.full(len(start), i, np.int64), start, lane.duration, index[lane.info]))
        empty = np.empty(0, np.int64)
        thread, start, duration, info = (np.concatenate([empty, *(c[k] for c in columns)]) for k in range(4))
        order = nesting_order(thread, start, start + duration)
        thread, start, duration, info = thread[order], start[order], duration[order], info[order]
        infos = list(numbers)
        return infos, self._without_frames(infos, thread, start, duration, info)

    def _without_frames(self, infos: list[OpInfo], thread: I64, start: I64, duration: I64, info: I64) -> _Runs:
        """Takes Python calls out of the tree: they become the traces of what they call."""
        kinds = [info.kind for info in infos]
        is_frame = np.array([kind is None for kind in kinds] or [False])[info]
        on_stream = np.array([kind is NodeKind.DEVICE for kind in kinds] or [False])[info]
        parent = np.where(on_stream, -1, _around(thread, start, start + duration))
        trace = self._traces(infos, info, parent, is_frame)
        rows = np.flatnonzero(~is_frame)
        number = np.append(np.cumsum(~is_frame) - 1, -1)
        above = number[nearest(parent[rows], parent, ~is_frame)] if len(rows) else rows
        is_runtime = np.array([kind is NodeKind.RUNTIME for kind in kinds] or [False])[info[rows]]
        own = self_time(np.where(is_runtime, -1, above), duration[rows])
        return _Runs(thread[rows], start[rows], duration[rows], own, info[rows], trace[rows], above)

    def _traces(self, infos: list[OpInfo], info: I64, parent: I64, is_frame: Bools) -> I64:
        """The trace of each event: its own frames, or the Python calls around it."""
        own = np.array([self._tables.trace(-1, i.frames) if i.kind is not None else -1 for i in infos] or [-1])
        trace: I64 = own[info]
        rows = np.flatnonzero(is_frame)
        if not len(rows):
            return trace
        number = np.append(np.cumsum(is_frame) - 1, -1)
        tree = paths(number[nearest(parent[rows], parent, is_frame)], info[rows])
        made = np.full(len(tree) + 1, -1, np.int64)
        for path, (above, key) in enumerate(zip(tree.parent.tolist(), tree.key.tolist(), strict=True)):
            made[path] = self._tables.trace(int(made[above]), infos[key].frames)
        around = np.append(made[tree.of], -1)[number[nearest(parent, parent, is_frame)]]
        return np.where(trace >= 0, trace, around)

    def _nodes(self, infos: list[OpInfo], runs: _Runs) -> I64:
        """Makes the nodes, one per call path; gives the node of each run. Kernels stand behind what launches them."""
        key, _ = distinct(runs.info, runs.trace) if len(runs.info) else (runs.info, runs.info)
        tree = paths(runs.parent, key)
        first = tree.first
        node = np.full(len(tree) + 1, -1, np.int64)
        kernels = []
        for path, (above, row) in enumerate(zip(tree.parent.tolist(), first.tolist(), strict=True)):
            info = infos[runs.info[row]]
            if info.kind is NodeKind.DEVICE:
                kernels.append((path, info))
            else:
                node[path] = self._tables.node(info, int(node[above]), int(runs.trace[row]))
        launchers = [self._tables.launcher(info.launched_by) if info.launched_by else -1 for _, info in kernels]
        for (path, info), caller in zip(kernels, launchers, strict=True):
            node[path] = self._tables.node(info, caller, -1)
        return node[tree.of]

    def _steps(self, runs: _Runs) -> tuple[Steps, I64]:
        """The training steps, and the step each run starts in: as its own plane marks them, else as a host does."""
        marks = [(mark, mark.start + self._shift(mark.timestamp_ns)) for plane in self._planes for mark in plane.steps]
        ids = np.unique(np.concatenate([np.empty(0, np.int64), *(mark.id for mark, _ in marks)]))
        step = np.full(len(runs.start), -1, np.int64)
        low, high = np.full(len(ids), 2**62), np.full(len(ids), -(2**62))
        by_plane: dict[str, list[tuple[StepMarks, I64]]] = {}
        for mark, start in marks:
            place = np.searchsorted(ids, mark.id)
            np.minimum.at(low, place, start)
            np.maximum.at(high, place, start + mark.duration)
            by_plane.setdefault(mark.plane, []).append((mark, start))
        hosts = [pair for plane, pairs in by_plane.items() if plane.startswith("/host:") for pair in pairs]
        for i, (plane, _) in enumerate(self._lanes):
            rows = slice(*np.searchsorted(runs.lane, (i, i + 1)).tolist())
            step[rows] = _step_at(by_plane.get(plane.plane, hosts), ids, runs.start[rows])
        return Steps(id=ids, start_ticks=low, duration_ticks=high - low), step

    def _node_steps(self, runs: Executions, steps: int) -> NodeSteps:
        group = runs.node.astype(np.int64) * (steps + 1) + runs.step + 1
        order = np.argsort(group, kind="stable")
        groups, first = np.unique(group[order], return_index=True)
        if not len(groups):
            return NodeSteps()
        kinds = np.array([lane.kind for _, lane in self._lanes])[runs.lane]
        on_device, on_host = kinds == LaneKind.ACCELERATOR, kinds == LaneKind.HOST

        def total(values: I64) -> I64:
            return np.add.reduceat(values[order], first)

        node = groups // (steps + 1)
        return NodeSteps(
            node=node,
            step=groups % (steps + 1) - 1,
            run_count=total(runs.count.astype(np.int64)),
            host_ticks=total(np.where(on_host, runs.self_ticks, 0)),
            host_total_ticks=total(np.where(on_host, runs.duration_ticks, 0)),
            accelerator_ticks=total(np.where(on_device, runs.self_ticks, 0)),
            start_ticks=np.minimum.reduceat(runs.start_ticks[order], first),
            end_ticks=np.maximum.reduceat((runs.start_ticks + runs.duration_ticks)[order], first),
            output_bytes=self._tables.output_bytes(node),
        )

    def _with_stand_ins(self, rows: NodeSteps, steps: int) -> NodeSteps:
        """Adds the ops that only stand for their kernels: they ran as often as the kernel that ran most."""
        caller = self._tables.stand_in_of(rows.node.astype(np.int64))
        mine = np.flatnonzero(caller >= 0)
        if not len(mine):
            return rows
        group = caller[mine] * (steps + 1) + rows.step[mine] + 1
        order = np.argsort(group, kind="stable")
        groups, first = np.unique(group[order], return_index=True)
        added = {
            "node": groups // (steps + 1),
            "step": groups % (steps + 1) - 1,
            "run_count": np.maximum.reduceat(rows.run_count[mine][order], first),
            "start_ticks": np.minimum.reduceat(rows.start_ticks[mine][order], first),
            "end_ticks": np.maximum.reduceat(rows.end_ticks[mine][order], first),
        }
        none = np.zeros(len(groups), np.int64)
        names = [f.name for f in dataclasses.fields(NodeSteps)]
        return NodeSteps(**{name: np.concatenate([getattr(rows, name), added.get(name, none)]) for name in names})

    def _lane_rows(self) -> Lanes:
        strings = self._tables.strings
        lanes = [lane for _, lane in self._lanes]
        return Lanes(
            device=np.array([strings(lane.device) for lane in lanes], np.int32),
            name=np.array([strings(lane.name) for lane in lanes], np.int32),
            kind=np.array([lane.kind for lane in lanes], np.int8),
        )

    def _allocations(self, steps: Steps) -> Allocations:
        marks = [mark for plane in self._planes for mark in plane.memory]
        if not marks:
            return Allocations()

        def joined(name: str) -> I64:
            return np.concatenate([getattr(mark, name) for mark in marks])

        time = np.concatenate([mark.time + self._shift(mark.timestamp_ns) for mark in marks])
        order = np.argsort(time, kind="stable")
        strings = self._tables.strings
        return Allocations(
            time_ticks=time[order],
            delta_bytes=joined("delta_bytes")[order],
            total_bytes=joined("total_bytes")[order],
            reserved_bytes=joined("reserved_bytes")[order],
            address=joined("address")[order],
            device=np.array([strings(d) for mark in marks for d in mark.device], np.int32)[order],
            allocator=np.array([strings(a) if a else -1 for m in marks for a in m.allocator], np.int32)[order],
        )


def _untimed_loss(untimed: Counter[str]) -> Diagnostic:
    count = untimed.total()
    noun = "kernel or copy has" if count == 1 else "kernels or copies have"
    names = ", ".join(name for name, _ in untimed.most_common(_LISTED_NAMES))
    more = ", …" if len(untimed) > _LISTED_NAMES else ""
    return Diagnostic(
        where="device streams",
        what=f"{count} {noun} no time and no part in the profile: {names}{more}",
        count=count,
        remedy="Profile again; CUPTI could not time this work",
    )


def _around(lane: I64, start: I64, end: I64) -> I64:
    """The event around each event, -1 for none. Lanes that hold one event after the other, as devices do, are quick."""
    parent = np.full(len(lane), -1, np.int64)
    overlaps = (lane[1:] == lane[:-1]) & (start[1:] < end[:-1])
    rows = np.flatnonzero(np.isin(lane, lane[1:][overlaps]))
    inner = nest(lane[rows], start[rows], end[rows])
    parent[rows] = np.where(inner >= 0, rows[inner], -1)
    return parent


def _step_at(marks: Sequence[tuple[StepMarks, I64]], ids: I64, time: I64) -> I64:
    """The step of each time, -1 for none. Open-ended steps last until the next starts, as devices lag behind hosts."""
    step = np.full(len(time), -1, np.int64)
    if not marks or not len(time):
        return step
    start = np.concatenate([s for _, s in marks])
    number = np.concatenate([mark.id for mark, _ in marks])
    end = np.concatenate([np.full(len(s), 2**62) if m.open_ended else s + m.duration for m, s in marks])
    order = np.argsort(start, kind="stable")
    place = np.searchsorted(start[order], time, side="right") - 1
    inside = place >= 0
    inside[inside] = time[inside] < end[order][place[inside]]
    step[inside] = np.searchsorted(ids, number[order][place[inside]])
    return step

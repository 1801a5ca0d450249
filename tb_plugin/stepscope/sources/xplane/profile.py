"""The profile of one host: the time of each op, scope, source line and graph node."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from stepscope.model.arrays import I64
from stepscope.model.columns import Header
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
from stepscope.sources.torch_trace.trees import distinct, paths
from stepscope.sources.xplane.calls import Calls, read_calls
from stepscope.sources.xplane.lanes import PlaneLanes, StepMarks
from stepscope.sources.xplane.ops import OpInfo, ProgramOps
from stepscope.sources.xplane.tables import Tables
from stepscope.sources.xplane.timing import Timing

_NEVER = 1 << 62


class ProfileBuilder:
    """Builds a host's profile from the lanes of its planes.

    Attributes:
        base_ns: The earliest time stamp; ticks count from it.
    """

    def __init__(self, planes: Sequence[PlaneLanes], programs: Mapping[int, ProgramOps]) -> None:
        self._planes = planes
        self._programs = programs
        self._timing = Timing(planes)
        self._tables = Tables()
        self.base_ns = self._timing.base_ns

    def build(self, header: Header) -> Profile:
        """The profile, in picoseconds since `base_ns`. Adds its losses to the header's."""
        calls = read_calls(self._timing, self._tables)
        steps, step_of = self._steps(calls)
        node = self._nodes(calls)
        executions = Executions(
            node=node.astype(np.int32),
            step=step_of.astype(np.int32),
            lane=calls.lane.astype(np.int32),
            start_ticks=calls.start,
            duration_ticks=calls.duration,
            self_ticks=calls.self_duration,
        )
        node_steps = self._node_steps(executions, len(steps))
        losses = (*header.losses, *self._timing.losses, *calls.losses)
        return Profile(
            header=dataclasses.replace(header, losses=losses),
            tick_ps=1,
            nested=True,
            has_traces=self._tables.has_traces,
            lanes=self._lane_rows(),
            steps=steps,
            executions=executions,
            node_steps=self._with_stand_ins(node_steps, len(steps)),
            allocations=self._allocations(),
            **self._tables.groups(self._programs),
        )

    def _nodes(self, calls: Calls) -> I64:
        """Makes the nodes, one per call path, and gives the node of each call.

        Kernels stand below the op that launched them.
        """
        key = calls.info
        if len(key):
            key, _ = distinct(calls.info, calls.trace)
        tree = paths(calls.parent, key)
        node = np.full(len(tree) + 1, -1, np.int64)
        kernels: list[tuple[int, OpInfo]] = []
        for path, (above, row) in enumerate(
            zip(tree.parent.tolist(), tree.first.tolist(), strict=True)
        ):
            info = calls.infos[calls.info[row]]
            if info.kind is NodeKind.DEVICE:
                kernels.append((path, info))
            else:
                node[path] = self._tables.node(info, int(node[above]), int(calls.trace[row]))

        # All launching ops have their nodes before the first kernel has.
        launchers: list[int] = []
        for _, info in kernels:
            launcher = -1
            if info.launched_by is not None:
                launcher = self._tables.launcher(info.launched_by)
            launchers.append(launcher)
        for (path, info), launcher in zip(kernels, launchers, strict=True):
            node[path] = self._tables.node(info, launcher, -1)
        return node[tree.of]

    def _steps(self, calls: Calls) -> tuple[Steps, I64]:
        """The training steps, and the step in which each call starts.

        A plane's own marks count for its calls, else those of the hosts.
        """
        marks: list[tuple[StepMarks, I64]] = []
        for plane in self._planes:
            for mark in plane.steps:
                marks.append((mark, mark.start + self._timing.shift_ps(mark.timestamp_ns)))
        steps = _steps_of(marks)

        marks_of_plane: dict[str, list[tuple[StepMarks, I64]]] = {}
        host_marks: list[tuple[StepMarks, I64]] = []
        for mark, start in marks:
            marks_of_plane.setdefault(mark.plane, []).append((mark, start))
            if mark.plane.startswith("/host:"):
                host_marks.append((mark, start))

        step_of = np.full(len(calls.start), -1, np.int64)
        for position, (plane, _) in enumerate(self._timing.lanes):
            first, last = np.searchsorted(calls.lane, (position, position + 1)).tolist()
            plane_marks = marks_of_plane.get(plane.plane, host_marks)
            step_of[first:last] = _step_at(plane_marks, steps.id, calls.start[first:last])
        return steps, step_of

    def _node_steps(self, executions: Executions, steps: int) -> NodeSteps:
        """The sums of executions per node and step; a node outside steps has step -1."""
        group = executions.node.astype(np.int64) * (steps + 1) + executions.step + 1
        order = np.argsort(group, kind="stable")
        groups, first = np.unique(group[order], return_index=True)
        if not len(groups):
            return NodeSteps()
        kind_of_lane = np.array([lane.kind for _, lane in self._timing.lanes])
        kinds = kind_of_lane[executions.lane]
        on_device = kinds == LaneKind.ACCELERATOR
        on_host = kinds == LaneKind.HOST
        end_ticks = executions.start_ticks + executions.duration_ticks

        def total(values: I64) -> I64:
            return np.add.reduceat(values[order], first)

        node = groups // (steps + 1)
        return NodeSteps(
            node=node,
            step=groups % (steps + 1) - 1,
            run_count=total(executions.count.astype(np.int64)),
            host_ticks=total(np.where(on_host, executions.self_ticks, 0)),
            host_total_ticks=total(np.where(on_host, executions.duration_ticks, 0)),
            accelerator_ticks=total(np.where(on_device, executions.self_ticks, 0)),
            start_ticks=np.minimum.reduceat(executions.start_ticks[order], first),
            end_ticks=np.maximum.reduceat(end_ticks[order], first),
            output_bytes=self._tables.output_bytes(node),
        )

    def _with_stand_ins(self, rows: NodeSteps, steps: int) -> NodeSteps:
        """Adds ops that only stand for their kernels: they ran as often as the kernel that ran most."""
        caller = self._tables.stand_in_of(rows.node.astype(np.int64))
        kernels = np.flatnonzero(caller >= 0)
        if not len(kernels):
            return rows
        group = caller[kernels] * (steps + 1) + rows.step[kernels] + 1
        order = np.argsort(group, kind="stable")
        groups, first = np.unique(group[order], return_index=True)
        added = {
            "node": groups // (steps + 1),
            "step": groups % (steps + 1) - 1,
            "run_count": np.maximum.reduceat(rows.run_count[kernels][order], first),
            "start_ticks": np.minimum.reduceat(rows.start_ticks[kernels][order], first),
            "end_ticks": np.maximum.reduceat(rows.end_ticks[kernels][order], first),
        }
        no_time = np.zeros(len(groups), np.int64)
        columns: dict[str, Any] = {}
        for column in dataclasses.fields(NodeSteps):
            more = added.get(column.name, no_time)
            columns[column.name] = np.concatenate([getattr(rows, column.name), more])
        return NodeSteps(**columns)

    def _lane_rows(self) -> Lanes:
        strings = self._tables.strings
        lanes = [lane for _, lane in self._timing.lanes]
        return Lanes(
            device=np.array([strings(lane.device) for lane in lanes], np.int32),
            name=np.array([strings(lane.name) for lane in lanes], np.int32),
            kind=np.array([lane.kind for lane in lanes], np.int8),
        )

    def _allocations(self) -> Allocations:
        marks = [mark for plane in self._planes for mark in plane.memory]
        if not marks:
            return Allocations()
        strings = self._tables.strings
        device: list[int] = []
        allocator: list[int] = []
        for mark in marks:
            device += [strings(name) for name in mark.device]
            allocator += [strings(name) if name else -1 for name in mark.allocator]
        shifts = [self._timing.shift_ps(mark.timestamp_ns) for mark in marks]
        times = [mark.time + shift for mark, shift in zip(marks, shifts, strict=True)]
        time = np.concatenate(times)
        order = np.argsort(time, kind="stable")

        def joined(name: str) -> I64:
            return np.concatenate([getattr(mark, name) for mark in marks])[order]

        return Allocations(
            time_ticks=time[order],
            delta_bytes=joined("delta_bytes"),
            total_bytes=joined("total_bytes"),
            reserved_bytes=joined("reserved_bytes"),
            address=joined("address"),
            device=np.array(device, np.int32)[order],
            allocator=np.array(allocator, np.int32)[order],
        )


def _steps_of(marks: Sequence[tuple[StepMarks, I64]]) -> Steps:
    """The steps of marks: a step reaches from its first mark's start to its last mark's end."""
    ids = np.unique(np.concatenate([np.empty(0, np.int64), *(mark.id for mark, _ in marks)]))
    first = np.full(len(ids), _NEVER)
    last = np.full(len(ids), -_NEVER)
    for mark, start in marks:
        place = np.searchsorted(ids, mark.id)
        np.minimum.at(first, place, start)
        np.maximum.at(last, place, start + mark.duration)
    return Steps(id=ids, start_ticks=first, duration_ticks=last - first)


def _step_at(marks: Sequence[tuple[StepMarks, I64]], ids: I64, time: I64) -> I64:
    """The step of each time, -1 for none.

    Open-ended steps last until the next one starts, as devices lag behind hosts.
    """
    step = np.full(len(time), -1, np.int64)
    if not marks or not len(time):
        return step
    start = np.concatenate([mark_start for _, mark_start in marks])
    number = np.concatenate([mark.id for mark, _ in marks])
    ends: list[I64] = []
    for mark, mark_start in marks:
        end = mark_start + mark.duration
        ends.append(np.full(len(end), _NEVER) if mark.open_ended else end)
    order = np.argsort(start, kind="stable")
    end = np.concatenate(ends)[order]
    place = np.searchsorted(start[order], time, side="right") - 1
    is_inside = place >= 0
    is_inside[is_inside] = time[is_inside] < end[place[is_inside]]
    step[is_inside] = np.searchsorted(ids, number[order][place[is_inside]])
    return step

"""Assembles the profile record of a trace from its trees."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from stepscope.model.columns import StringBuilder
from stepscope.model.profile import (
    Allocations,
    Devices,
    Frames,
    LaneKind,
    Lanes,
    LinkKind,
    Links,
    NodeKind,
    Profile,
    Steps,
    Traces,
)
from stepscope.sources.torch_trace.columns import EventColumns
from stepscope.sources.torch_trace.device import DeviceWork, Launches, device_work, launches
from stepscope.sources.torch_trace.header import DeviceProperties
from stepscope.sources.torch_trace.labels import (
    HOST,
    device_label,
    list_text,
    memory_label,
    property_texts,
    threads,
)
from stepscope.sources.torch_trace.links import forward_backward
from stepscope.sources.torch_trace.memory import MemoryEvents, held, memory_events
from stepscope.sources.torch_trace.modules import ModuleTimes, module_times
from stepscope.sources.torch_trace.nodes import (
    ExecutionPart,
    NodePart,
    attributes,
    group_of,
    joined,
    joined_executions,
    node_steps,
)
from stepscope.sources.torch_trace.numbers import Ints, integers, small
from stepscope.sources.torch_trace.ops import CallSites, OpTree, ScopePaths, call_sites, op_tree, scope_paths
from stepscope.sources.torch_trace.python import PythonFrames, module_name, python_frames
from stepscope.sources.torch_trace.trees import distinct, paths

LAUNCH = "launch"
"""The attribute of device work that no op launched."""
NO_LAUNCH = "not in the trace"
OUTSIDE_OP = "outside every op"


class ProfileBuilder:
    """Builds a profile from the columns of a trace, part by part.

    Args:
        columns: The trace's events.
        described: What the trace says of the accelerators.
    """

    def __init__(self, columns: EventColumns, described: Sequence[DeviceProperties] = ()) -> None:
        self._columns = columns
        self._described = described
        self._strings = StringBuilder()
        self._texts: list[str] = columns.names.values()
        self._thread, self._threads = threads(columns)
        self._ops: OpTree = op_tree(columns, self._thread)
        self._python: PythonFrames = python_frames(columns, self._thread)
        self._forward_backward = forward_backward(columns, self._thread, self._ops)
        self._launches: Launches = launches(columns, self._thread, self._ops)
        self._device: DeviceWork = device_work(columns, self._launches)
        self._memory: MemoryEvents = memory_events(columns, self._thread, self._ops)
        frame = self._frames_around_ops()
        self._scopes: ScopePaths = scope_paths(columns, self._ops, self._python, frame)
        self._sites: CallSites = call_sites(columns, self._ops, self._python, frame)
        self._module_times: ModuleTimes = module_times(self._ops, self._python, frame)
        self._parts: list[NodePart] = []
        self._runs: list[ExecutionPart] = []
        self._properties = [property_texts(text) for text in columns.properties.values()] or [{}]
        self._lane_rows: list[tuple[int, int, int]] = []

    @property
    def first_ns(self) -> int:
        """The start of the earliest event, in the trace's own time."""
        starts = (self._ops.ranges.start, self._python.ranges.start, self._launches.start, self._device.start)
        return min((int(s.min()) for s in (*starts, self._memory.start) if len(s)), default=0)

    def build(self) -> Profile:
        """The profile without its header; times are relative to `first_ns`."""
        anchor = self.first_ns
        host = self._host_lanes()
        op_node = self._add_ops(host)
        self._add_modules(host)
        launch_node = self._add_launches(host, op_node)
        device_node = self._add_device(op_node)
        scope_names = self._strings_of(self._scopes.name, self._scopes.names)
        nodes, scopes, op_types = joined(self._parts, self._scopes.parent, scope_names)
        executions, shared, enclosed = joined_executions(self._runs, anchor)
        steps = self._ops.steps
        memory_node = np.where(self._memory.op >= 0, op_node[self._memory.op], -1) if len(op_node) else self._memory.op
        memory_step = steps.at(self._memory.start)
        memory = held(self._memory, group_of(memory_node, memory_step, len(steps.id)))
        properties = np.concatenate([part.properties for part in self._parts])
        return Profile(
            nested=True,
            tick_ps=1000,
            has_traces=len(self._sites.parent) > 0,
            nodes=nodes,
            op_types=op_types,
            scopes=scopes,
            frames=self._frame_rows(),
            traces=Traces(parent=self._sites.parent, frame=self._sites.frame),
            devices=self._devices(),
            lanes=self._lanes(),
            steps=Steps(
                id=steps.id,
                name=self._strings_of(steps.name, self._texts),
                start_ticks=steps.start - anchor,
                duration_ticks=steps.duration,
            ),
            executions=executions,
            node_steps=node_steps(
                executions=executions,
                shared=shared,
                enclosed=enclosed,
                kind=nodes.kind,
                step_count=len(steps.id),
                memory=memory,
            ),
            allocations=self._allocations(memory_node, memory_step, anchor),
            links=self._links(op_node, launch_node, device_node),
            attributes=attributes(properties, self._properties, self._strings),
            strings=self._strings.build(),
        )

    def _frames_around_ops(self) -> Ints:
        """The Python frame that each op starts in. A named range starts in its own enter call, so its middle counts."""
        ranges, ops = self._ops.ranges, self._ops
        until = np.where(ops.is_annotation, ranges.start + ops.duration // 2, ranges.start)
        return self._python.ranges.around(ranges.thread, ranges.start, until)

    def _strings_of(self, index: Ints, texts: Sequence[str]) -> Ints:
        """Puts the used ones of a table of texts into the profile's strings; -1 stays."""
        used = np.unique(index[index >= 0])
        number = np.full(len(texts) + 1, -1, np.int64)
        number[used] = [self._strings(texts[i]) for i in used.tolist()]
        return number[index]

    def _add(self, part: NodePart, of: Ints) -> Ints:
        """Adds nodes; returns the joined node of each event, given its node in the part."""
        first = sum(len(p) for p in self._parts)
        self._parts.append(part)
        return first + of

    def _add_ops(self, host: Ints) -> Ints:
        ops, columns = self._ops, self._columns
        context, trace = self._scopes.of_op, self._sites.of_op
        key, _ = distinct(ops.name, ops.is_annotation.astype(np.int64), ops.dims, context, trace, ops.properties)
        tree = paths(ops.ranges.parent, key)
        row = tree.first
        shapes = [list_text(text) for text in columns.dims.values()]
        shape = np.where([bool(text) for text in shapes], np.arange(len(shapes)), -1)[ops.dims[row]] if shapes else row
        is_step = ops.is_step[row]
        node = self._add(
            NodePart(
                kind=np.where(ops.is_annotation[row], NodeKind.SCOPE, NodeKind.OP),
                name=self._strings_of(ops.name[row], self._texts),
                context=np.where(is_step, -1, context[row]),
                own_scope=ops.is_annotation[row] & ~is_step,
                caller=tree.parent,
                device=np.full(len(row), self._strings(HOST)),
                trace=trace[row],
                shape=self._strings_of(shape, shapes),
                properties=ops.properties[row],
            ),
            tree.of,
        )
        start = ops.ranges.start
        lane = host[ops.ranges.thread] if len(start) else start
        step, shared = ops.steps.at(start), self._module_times.shared
        forward = np.full(len(start), -1, np.int64)
        forward[self._forward_backward[1]] = self._forward_backward[0]
        part = ExecutionPart(node, step, lane, start, ops.duration, ops.self_duration, shared, forward=forward)
        self._runs.append(part)
        return node

    def _add_modules(self, host: Ints) -> None:
        """Modules as nodes of a tree of their own. Their self time is without the modules, ranges and ops in them."""
        python = self._python
        rows = np.flatnonzero(python.is_module)
        number = np.cumsum(python.is_module) - 1
        above = python.module_of(python.ranges.parent)[rows]
        context = self._scopes.of_module[rows]
        tree = paths(np.where(above >= 0, number[above], -1) if len(rows) else rows, context)
        names = [module_name(text) for text in self._texts]
        first = tree.first
        base = sum(len(p) for p in self._parts)
        node = self._add(
            NodePart(
                kind=np.full(len(first), NodeKind.SCOPE),
                name=self._strings_of(python.name[rows][first], names),
                context=context[first],
                own_scope=np.ones(len(first), bool),
                caller=np.where(tree.parent >= 0, tree.parent + base, -1),
                device=np.full(len(first), self._strings(HOST)),
                trace=python.trace[rows][first],
                shape=np.full(len(first), -1),
                properties=self._no_properties(len(first)),
            ),
            tree.of,
        )
        ranges = python.ranges
        lane = host[ranges.thread[rows]] if len(rows) else rows
        start, duration = ranges.start[rows], python.duration[rows]
        part = ExecutionPart(
            node=node,
            step=self._ops.steps.at(start),
            lane=lane,
            start=start,
            duration=duration,
            self_duration=self._module_times.own[rows],
            enclosed=self._module_times.enclosed[rows],
        )
        self._runs.append(part)

    def _add_launches(self, host: Ints, op_node: Ints) -> Ints:
        called = self._launches
        caller = np.where(called.around >= 0, op_node[called.around], -1) if len(op_node) else called.around
        number, first = distinct(caller, called.name)
        around = called.around[first]
        node = self._add(
            NodePart(
                kind=np.full(len(first), NodeKind.RUNTIME),
                name=self._strings_of(called.name[first], self._texts),
                context=self._context_of(around),
                own_scope=np.zeros(len(first), bool),
                caller=caller[first],
                device=np.full(len(first), self._strings(HOST)),
                trace=self._trace_of(around),
                shape=np.full(len(first), -1),
                properties=self._no_properties(len(first)),
            ),
            number,
        )
        step = self._ops.steps.at(called.start)
        lane = host[called.thread] if len(called.thread) else called.thread
        self._runs.append(ExecutionPart(node, step, lane, called.start, called.duration, called.duration))
        return node

    def _add_device(self, op_node: Ints) -> Ints:
        work = self._device
        caller = np.where(work.op >= 0, op_node[work.op], -1) if len(op_node) else work.op
        device, lane = self._device_lanes()
        why = np.where(work.op >= 0, 0, np.where(work.launch >= 0, 1, 2))
        number, first = distinct(caller, work.name, device, work.properties, why)
        node = self._add(
            NodePart(
                kind=np.full(len(first), NodeKind.DEVICE),
                name=self._strings_of(work.name[first], self._texts),
                context=self._context_of(work.op[first]),
                own_scope=np.zeros(len(first), bool),
                caller=caller[first],
                device=device[first],
                trace=self._trace_of(work.op[first]),
                shape=np.full(len(first), -1),
                properties=self._explained(work.properties[first], why[first]),
            ),
            number,
        )
        launched = self._launches.start
        moment = np.where(work.launch >= 0, launched[work.launch], work.start) if len(launched) else work.start
        before = sum(len(part.node) for part in self._runs) - len(launched)
        launch = np.where(work.launch >= 0, before + work.launch, -1)
        step = self._ops.steps.at(moment)
        self._runs.append(ExecutionPart(node, step, lane, work.start, work.duration, work.duration, launch=launch))
        return node

    def _explained(self, properties: Ints, why: Ints) -> Ints:
        """Adds to the properties of device work that no op launched why that is so."""
        number, first = distinct(properties, why)
        at = np.empty(len(first), np.int64)
        for row, (old, reason) in enumerate(zip(properties[first].tolist(), why[first].tolist(), strict=True)):
            at[row] = len(self._properties) if reason else old
            if reason:
                self._properties.append({**self._properties[old], LAUNCH: (OUTSIDE_OP, NO_LAUNCH)[reason - 1]})
        return at[number] if len(number) else number

    def _context_of(self, op: Ints) -> Ints:
        return np.where(op >= 0, self._scopes.of_op[op], -1) if len(self._scopes.of_op) else np.full(len(op), -1)

    def _trace_of(self, op: Ints) -> Ints:
        return np.where(op >= 0, self._sites.of_op[op], -1) if len(self._sites.of_op) else np.full(len(op), -1)

    def _no_properties(self, count: int) -> Ints:
        if {} not in self._properties:
            self._properties.append({})
        return np.full(count, self._properties.index({}))

    def _host_lanes(self) -> Ints:
        """The lane of each thread."""
        host = self._strings(HOST)
        used = np.unique(
            np.concatenate([self._ops.ranges.thread, self._python.ranges.thread, self._launches.thread])
        ).astype(np.int64)
        lane = np.full(len(self._threads), -1, np.int64)
        for thread in used.tolist():
            lane[thread] = len(self._lane_rows)
            self._lane_rows.append((host, self._strings(self._threads[thread]), LaneKind.HOST))
        return lane

    def _device_lanes(self) -> tuple[Ints, Ints]:
        """The device and lane of each device event."""
        places = self._columns.devices.values()
        device = np.full(len(places) + 1, -1, np.int64)
        lane = np.full(len(places) + 1, -1, np.int64)
        known: dict[tuple[int, int, int], int] = {}
        for place in np.unique(self._device.place).tolist():
            category, number, stream = places[place]
            device[place] = self._strings(device_label(category, number))
            row = (int(device[place]), self._strings(f"stream {stream}"), int(LaneKind.ACCELERATOR))
            if row not in known:
                known[row] = len(self._lane_rows)
                self._lane_rows.append(row)
            lane[place] = known[row]
        return device[self._device.place], lane[self._device.place]

    def _lanes(self) -> Lanes:
        rows: Ints = np.array(self._lane_rows, np.int64).reshape(-1, 3)
        return Lanes(device=rows[:, 0], name=rows[:, 1], kind=rows[:, 2])

    def _devices(self) -> Devices:
        described = self._described

        def numbers(field: str) -> Ints:
            return np.array([small(getattr(device, field), 0) for device in described], np.int64)

        memory = integers([device.memory_bytes for device in described], 0)

        return Devices(
            name=np.array([self._strings(device_label("", device.id)) for device in described], np.int64),
            model=np.array([self._strings(device.name or "") for device in described], np.int64),
            memory_bytes=np.maximum(memory, 0),
            compute_major=numbers("compute_major"),
            compute_minor=numbers("compute_minor"),
            multiprocessors=numbers("multiprocessors"),
            multiprocessor_threads=numbers("threads_per_multiprocessor"),
        )

    def _frame_rows(self) -> Frames:
        frames = self._sites.frames
        return Frames(
            file=np.array([self._strings(file) for file, _, _ in frames], np.int64),
            line=np.array([line for _, line, _ in frames], np.int64),
            function=np.array([self._strings(function) for _, _, function in frames], np.int64),
        )

    def _allocations(self, node: Ints, step: Ints, anchor: int) -> Allocations:
        events = self._memory
        places = self._columns.devices.values()
        labels = [memory_label(p[1], p[2]) if p[0] == "memory" else "" for p in places]
        return Allocations(
            node=node,
            step=step,
            device=self._strings_of(events.device, labels),
            time_ticks=events.start - anchor,
            delta_bytes=events.delta,
            total_bytes=events.allocated,
            reserved_bytes=events.reserved,
            address=events.address,
        )

    def _links(self, op_node: Ints, launch_node: Ints, device_node: Ints) -> Links:
        launched = np.flatnonzero(self._device.launch >= 0)
        forward, backward = (op_node[rows] for rows in self._forward_backward)
        source = np.concatenate([launch_node[self._device.launch[launched]] if len(launched) else launched, forward])
        target = np.concatenate([device_node[launched], backward])
        kind = np.repeat([LinkKind.LAUNCH, LinkKind.FORWARD_BACKWARD], [len(launched), len(forward)])
        number, first = distinct(source, target, kind)
        return Links(
            source=source[first],
            target=target[first],
            kind=kind[first],
            count=np.bincount(number, minlength=len(first)),
        )

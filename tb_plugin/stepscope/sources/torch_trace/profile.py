"""The profile record of a trace, from its nested and linked events."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from stepscope.model.columns import Array, StringBuilder
from stepscope.model.profile import (
    Allocations,
    Frames,
    LinkKind,
    Links,
    NodeKind,
    Profile,
    Steps,
    Traces,
)
from stepscope.sources.torch_trace.columns import EventColumns
from stepscope.sources.torch_trace.communication import CommunicationRows
from stepscope.sources.torch_trace.header import DeviceProperties
from stepscope.sources.torch_trace.labels import HOST, memory_label, property_texts, shape_text
from stepscope.sources.torch_trace.lanes import LaneTable
from stepscope.sources.torch_trace.links import EventLinks
from stepscope.sources.torch_trace.memory import held
from stepscope.sources.torch_trace.nesting import Nesting
from stepscope.sources.torch_trace.nodes import (
    ExecutionPart,
    NodePart,
    attributes,
    group_of,
    join_executions,
    join_nodes,
    node_steps,
)
from stepscope.sources.torch_trace.python import module_name
from stepscope.sources.torch_trace.trees import distinct, paths

LAUNCH = "launch"
"""The attribute of device work that belongs to no op or named range."""
NO_LAUNCH = "not in the trace"
OUTSIDE_OP = "outside every op"


def build_profile(
    columns: EventColumns,
    nesting: Nesting,
    links: EventLinks,
    described: Sequence[DeviceProperties] = (),
) -> Profile:
    """The profile of a trace, without its header. Times are relative to `first_ns`.

    Args:
        columns: The trace's events.
        nesting: The host's side of them.
        links: What leads to what.
        described: What the trace says of its accelerators.
    """
    return _ProfileBuilder(columns, nesting, links).build(described)


def first_ns(nesting: Nesting, links: EventLinks) -> int:
    """The start of the earliest event, in the trace's own time."""
    starts = (
        nesting.ops.ranges.start,
        nesting.frames.ranges.start,
        links.launches.start,
        links.device.start,
        links.memory.start,
    )
    return min((int(start.min()) for start in starts if len(start)), default=0)


@dataclass(frozen=True)
class _NodesOf:
    """The node of each event, by the kind of event."""

    ops: Array
    launches: Array
    device: Array


class _ProfileBuilder:
    """Collects the parts of a profile: ops, modules, launches and device work."""

    def __init__(self, columns: EventColumns, nesting: Nesting, links: EventLinks) -> None:
        self._columns = columns
        self._nesting = nesting
        self._links = links
        self._strings = StringBuilder()
        self._texts: list[str] = columns.names.values()
        self._lanes = LaneTable(columns, self._strings)
        self._properties = [property_texts(text) for text in columns.properties.values()]
        self._no_properties = self._number_of_no_properties()
        self._communications = CommunicationRows(list(self._properties))
        self._parts: list[NodePart] = []
        self._runs: list[ExecutionPart] = []

    def build(self, described: Sequence[DeviceProperties]) -> Profile:
        """The profile without its header."""
        anchor = first_ns(self._nesting, self._links)
        lane_of_thread = self._host_lanes()
        op_node = self._add_ops(lane_of_thread)
        self._add_modules(lane_of_thread)
        launch_node = self._add_launches(lane_of_thread, op_node)
        device_node = self._add_device(op_node)
        node_of = _NodesOf(ops=op_node, launches=launch_node, device=device_node)

        scopes = self._nesting.scopes
        scope_names = self._strings_of(scopes.name, scopes.names)
        nodes, scope_rows, op_types = join_nodes(self._parts, scopes.parent, scope_names)
        joined = join_executions(self._runs, anchor)
        steps = self._nesting.ops.steps
        allocations = self._allocations(op_node, anchor)
        memory_group = group_of(allocations.node, allocations.step, len(steps.id))
        sites = self._nesting.sites
        return Profile(
            nested=True,
            tick_ps=1000,
            has_traces=len(sites.parent) > 0,
            nodes=nodes,
            op_types=op_types,
            scopes=scope_rows,
            frames=self._frames(),
            traces=Traces(parent=sites.parent, frame=sites.frame),
            devices=self._lanes.described(described),
            lanes=self._lanes.build(),
            steps=Steps(
                id=steps.id,
                name=self._strings_of(steps.name, self._texts),
                start_ticks=steps.start - anchor,
                duration_ticks=steps.duration,
            ),
            executions=joined.executions,
            node_steps=node_steps(
                joined=joined,
                kind=nodes.kind,
                step_count=len(steps.id),
                memory=held(self._links.memory, memory_group),
            ),
            allocations=allocations,
            links=self._link_rows(node_of),
            attributes=attributes(
                np.concatenate([part.properties for part in self._parts]),
                self._properties,
                self._strings,
            ),
            communications=self._communications.build(joined.place, self._strings),
            strings=self._strings.build(),
        )

    def _number_of_no_properties(self) -> int:
        if {} not in self._properties:
            self._properties.append({})
        return self._properties.index({})

    def _strings_of(self, index: Array, texts: Sequence[str]) -> Array:
        """Puts the used ones of a table of texts into the profile's strings; -1 stays."""
        used = np.unique(index[index >= 0])
        number = np.full(len(texts) + 1, -1, np.int64)
        number[used] = [self._strings(texts[i]) for i in used.tolist()]
        return number[index]

    def _add_nodes(self, part: NodePart, of: Array) -> Array:
        """Adds nodes; returns the joined node of each event, given its node in the part."""
        first = sum(len(p) for p in self._parts)
        self._parts.append(part)
        return first + of

    def _execution_count(self) -> int:
        return sum(len(part.node) for part in self._runs)

    def _host_lanes(self) -> Array:
        """The lane of each thread."""
        nesting = self._nesting
        threads = [nesting.ops.ranges.thread, nesting.frames.ranges.thread]
        threads.append(self._links.launches.thread)
        return self._lanes.of_threads(np.concatenate(threads), nesting.threads)

    def _add_ops(self, lane_of_thread: Array) -> Array:
        """Adds ops and named ranges: a node for each distinct path of calls."""
        ops = self._nesting.ops
        context = self._nesting.scopes.of_op
        trace = self._nesting.sites.of_op
        is_annotation = ops.is_annotation.astype(np.int64)
        key, _ = distinct(ops.name, is_annotation, ops.dims, context, trace, ops.properties)
        tree = paths(ops.ranges.parent, key)
        row = tree.first
        is_step = ops.is_step[row]
        kind = np.where(ops.is_annotation[row], NodeKind.SCOPE, NodeKind.OP)
        node = self._add_nodes(
            NodePart(
                kind=kind,
                name=self._strings_of(ops.name[row], self._texts),
                context=np.where(is_step, -1, context[row]),
                own_scope=ops.is_annotation[row] & ~is_step,
                caller=tree.parent,
                device=np.full(len(row), self._strings(HOST)),
                trace=trace[row],
                shape=self._shapes(ops.dims[row]),
                properties=ops.properties[row],
            ),
            tree.of,
        )
        self._communications.add(
            first_execution=self._execution_count(),
            properties=ops.properties,
            sequence=ops.collective_sequence,
            source=ops.source,
            destination=ops.destination,
        )
        start = ops.ranges.start
        forward = np.full(len(start), -1, np.int64)
        forward[self._links.backward] = self._links.forward
        self._runs.append(
            ExecutionPart(
                node=node,
                step=ops.steps.at(start),
                lane=lane_of_thread[ops.ranges.thread] if len(start) else start,
                start=start,
                duration=ops.duration,
                self_duration=ops.self_duration,
                shared=self._nesting.module_times.shared,
                forward=forward,
            )
        )
        return node

    def _shapes(self, dims: Array) -> Array:
        """Input shapes in strings, -1 for none."""
        texts = [shape_text(text) for text in self._columns.dims.values()]
        if not texts:
            return dims
        number = np.where([bool(text) for text in texts], np.arange(len(texts)), -1)
        return self._strings_of(number[dims], texts)

    def _add_modules(self, lane_of_thread: Array) -> None:
        """Adds calls of modules, as a tree of their own.

        Their self time is without the modules, ranges and ops in them.
        """
        modules = self._nesting.modules
        times = self._nesting.module_times
        context = self._nesting.scopes.of_module
        tree = paths(modules.ranges.parent, context)
        first = tree.first
        base = sum(len(p) for p in self._parts)
        names = [module_name(text) for text in self._texts]
        node = self._add_nodes(
            NodePart(
                kind=np.full(len(first), NodeKind.SCOPE),
                name=self._strings_of(modules.name[first], names),
                context=context[first],
                own_scope=np.ones(len(first), bool),
                caller=np.where(tree.parent >= 0, tree.parent + base, -1),
                device=np.full(len(first), self._strings(HOST)),
                trace=self._nesting.frames.trace[modules.frame][first],
                shape=np.full(len(first), -1),
                properties=np.full(len(first), self._no_properties),
            ),
            tree.of,
        )
        ranges = modules.ranges
        self._runs.append(
            ExecutionPart(
                node=node,
                step=self._nesting.ops.steps.at(ranges.start),
                lane=lane_of_thread[ranges.thread] if len(modules) else ranges.thread,
                start=ranges.start,
                duration=modules.duration,
                self_duration=times.own,
                enclosed=times.enclosed,
            )
        )

    def _add_launches(self, lane_of_thread: Array, op_node: Array) -> Array:
        """Adds calls of the host library: a node for each name and caller."""
        called = self._links.launches
        caller = _taken(op_node, called.around)
        number, first = distinct(caller, called.name)
        node = self._add_nodes(
            self._called_part(
                kind=NodeKind.RUNTIME,
                name=called.name[first],
                op=called.around[first],
                caller=caller[first],
                device=np.full(len(first), self._strings(HOST)),
                properties=np.full(len(first), self._no_properties),
            ),
            number,
        )
        self._runs.append(
            ExecutionPart(
                node=node,
                step=self._nesting.ops.steps.at(called.start),
                lane=lane_of_thread[called.thread] if len(called) else called.thread,
                start=called.start,
                duration=called.duration,
                self_duration=called.self_duration,
            )
        )
        return node

    def _add_device(self, op_node: Array) -> Array:
        """Adds device work: a node for each name, device, owner and way of running.

        An execution is of the step in which it was launched.
        """
        work, launched = self._links.device, self._links.launches
        caller = _taken(op_node, work.owner)
        device, lane = self._lanes.of_places(work.place)
        reason = np.where(work.owner >= 0, 0, np.where(work.launch >= 0, 1, 2))
        number, first = distinct(caller, work.name, device, work.properties, reason)
        node = self._add_nodes(
            self._called_part(
                kind=NodeKind.DEVICE,
                name=work.name[first],
                op=work.owner[first],
                caller=caller[first],
                device=device[first],
                properties=self._with_reasons(work.properties[first], reason[first]),
            ),
            number,
        )
        self._communications.add(
            first_execution=self._execution_count(),
            properties=work.collective,
            sequence=work.collective_sequence,
            source=work.source,
            destination=work.destination,
        )
        moment = np.where(work.launch >= 0, _taken(launched.start, work.launch), work.start)
        # Launches are the part before this one.
        first_launch = self._execution_count() - len(launched)
        self._runs.append(
            ExecutionPart(
                node=node,
                step=self._nesting.ops.steps.at(moment),
                lane=lane,
                start=work.start,
                duration=work.duration,
                self_duration=work.duration,
                launch=np.where(work.launch >= 0, first_launch + work.launch, -1),
            )
        )
        return node

    def _called_part(
        self,
        *,
        kind: NodeKind,
        name: Array,
        op: Array,
        caller: Array,
        device: Array,
        properties: Array,
    ) -> NodePart:
        """Nodes of what an op calls: they stand where the op stands."""
        return NodePart(
            kind=np.full(len(name), kind),
            name=self._strings_of(name, self._texts),
            context=_taken(self._nesting.scopes.of_op, op),
            own_scope=np.zeros(len(name), bool),
            caller=caller,
            device=device,
            trace=_taken(self._nesting.sites.of_op, op),
            shape=np.full(len(name), -1),
            properties=properties,
        )

    def _with_reasons(self, properties: Array, reason: Array) -> Array:
        """Adds to the properties of device work without an owner why it has none."""
        number, first = distinct(properties, reason)
        at = np.empty(len(first), np.int64)
        rows = zip(properties[first].tolist(), reason[first].tolist(), strict=True)
        for row, (old, why) in enumerate(rows):
            at[row] = old
            if why:
                at[row] = len(self._properties)
                text = OUTSIDE_OP if why == 1 else NO_LAUNCH
                self._properties.append({**self._properties[old], LAUNCH: text})
        return at[number] if len(number) else number

    def _frames(self) -> Frames:
        frames = self._nesting.sites.frames
        return Frames(
            file=np.array([self._strings(file) for file, _, _ in frames], np.int64),
            line=np.array([line for _, line, _ in frames], np.int64),
            function=np.array([self._strings(function) for _, _, function in frames], np.int64),
        )

    def _allocations(self, op_node: Array, anchor: int) -> Allocations:
        memory = self._links.memory
        labels = []
        for category, kind, number in self._columns.places.values():
            labels.append(memory_label(kind, number) if category == "memory" else "")
        return Allocations(
            node=_taken(op_node, memory.op),
            step=self._nesting.ops.steps.at(memory.start),
            device=self._strings_of(memory.device, labels),
            time_ticks=memory.start - anchor,
            delta_bytes=memory.delta,
            total_bytes=memory.allocated,
            reserved_bytes=memory.reserved,
            address=memory.address,
        )

    def _link_rows(self, node_of: _NodesOf) -> Links:
        launch = self._links.device.launch
        launched = np.flatnonzero(launch >= 0)
        from_launch = _taken(node_of.launches, launch[launched])
        forward, backward = self._links.forward, self._links.backward
        source = np.concatenate([from_launch, node_of.ops[forward]])
        target = np.concatenate([node_of.device[launched], node_of.ops[backward]])
        kinds = [LinkKind.LAUNCH, LinkKind.FORWARD_BACKWARD]
        kind = np.repeat(kinds, [len(launched), len(forward)])
        number, first = distinct(source, target, kind)
        return Links(
            source=source[first],
            target=target[first],
            kind=kind[first],
            count=np.bincount(number, minlength=len(first)),
        )


def _taken(values: Array, rows: Array) -> Array:
    """The values at rows, -1 at -1."""
    if not len(values):
        return np.full(len(rows), -1, np.int64)
    return np.where(rows >= 0, values[rows], -1)

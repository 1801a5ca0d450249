"""Builds a profile from what TensorFlow hands out while a program runs: graphs, run metadata and op logs.

The nodes, their figures and their order of precedence are tfprof's. What tfprof leaves out is kept beside it:
executions on a device that is not the node's first, on single streams, copies and TPUs are on lanes of kind OTHER.
Their time, where no other entry holds it already, is in the `uncounted_*` columns of the steps that tfprof knows of the
node.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from tensorboard.compat.proto import (
    attr_value_pb2,
    config_pb2,
    graph_pb2,
    node_def_pb2,
    step_stats_pb2,
    tensor_shape_pb2,
    tfprof_log_pb2,
)

from stepscope.errors import DamagedSource
from stepscope.model.columns import Header
from stepscope.model.diagnostic import Diagnostic
from stepscope.model.profile import InputKind, LaneKind, Profile
from stepscope.sources.tfprof.attributes import value_text
from stepscope.sources.tfprof.draft import (
    AttributeRows,
    Draft,
    ExecutionRows,
    FrameRows,
    InputRows,
    MemoryRows,
    NodeRows,
    OutputRows,
    StepRows,
    TypeRows,
)
from stepscope.sources.tfprof.layout import lay_out

_CANONICAL = re.compile(r".*/(device:gpu|gpu|device:cpu|cpu):\d+")


@dataclass
class _Node:
    """A node as known so far."""

    op: str
    types: set[str]
    inputs: list[tuple[str, int, InputKind]] = field(default_factory=list)
    shape: tuple[int, ...] = ()
    output_shapes: list[tuple[int, ...]] = field(default_factory=list)
    attributes: list[tuple[str, bytes]] = field(default_factory=list)
    float_ops: int = 0
    device: str = ""
    stack: int = -1


@dataclass
class _Cost:
    """What a node cost in a step."""

    run_count: int = 0
    start: int = 0
    end: int = 0
    host: int = 0
    accelerator: int = 0
    requested: int = 0
    peak: int = 0
    residual: int = 0
    output: int = 0
    in_use: int = 0
    uncounted_host: int = 0
    uncounted_accelerator: int = 0


class Replay:
    """Takes graphs, runs and op logs in the order in which they came."""

    def __init__(self) -> None:
        self._draft = Draft()
        self._nodes: dict[str, _Node] = {}
        self._rows: dict[str, int] = {}
        self._costs: dict[tuple[int, int], _Cost] = {}
        self._counted: set[tuple[int, int]] = set()
        self._executions: list[tuple[int, int, int, int, int]] = []
        self._memory: list[tuple[int, int, int, int, int]] = []
        self._outputs: dict[tuple[int, int], int] = {}
        self._frames: list[tuple[int, int, int, int, int]] = []
        self._texts: dict[int, str] = {}
        self._nodeless = 0

    def add_graph(self, graph: graph_pb2.GraphDef) -> None:
        """Adds the nodes whose names are not known yet."""
        for node in graph.node:
            if node.name not in self._nodes:
                self._add_node(node.name, _of_definition(node))

    def add_run(self, step: int, run: config_pb2.RunMetadata) -> None:
        """Adds what a run of a step cost. Several runs of one step add up.

        A run outside a session has no costs, but the graphs of the functions that it traced.
        """
        self._draft.steps.add(step)
        if not run.step_stats.dev_stats:
            for function in run.function_graphs:
                self.add_graph(function.pre_optimization_graph)
        ops = _resolved_ops(run)
        for device in run.step_stats.dev_stats:
            for stats in device.node_stats:
                name = stats.node_name.split(":", 1)[0]
                if self._known(name, ops):
                    self._add_stats(
                        self._rows[name], self._nodes[name], step, device.device.lower(), stats
                    )

    def add_op_log(self, log: tfprof_log_pb2.OpLogProto) -> None:
        """Adds types, float operations and call stacks. Entries of unknown nodes are ignored."""
        for number, text in log.id_to_string.items():
            self._texts.setdefault(number, text)
        for entry in log.log_entries:
            node = self._nodes.get(entry.name)
            if node is None:
                continue
            node.types.update(entry.types)
            node.float_ops = entry.float_ops or node.float_ops
            if node.stack < 0 and entry.HasField("code_def"):
                node.stack = self._stack(entry)

    def profile(self, header: Header) -> Profile:
        """The record of all that was added.

        Raises:
            DamagedSource: There is no node, or an input names a node that is in no graph.
        """
        if not self._nodes:
            raise DamagedSource(
                "no node in any graph or run", where=header.source, remedy="Log a graph or a run"
            )
        draft, rows = self._draft, self._rows
        draft.add(NodeRows.of(self._node_rows()), TypeRows.of(self._type_rows()))
        draft.add(InputRows.of(self._input_rows(header.source)), OutputRows.of(self._output_rows()))
        text = draft.strings
        draft.add(
            AttributeRows.of(
                (rows[name], text(key.encode()), text(value))
                for name, node in self._nodes.items()
                for key, value in node.attributes
            ),
            StepRows.of(
                (*key, *vars(cost).values())
                for key, cost in self._costs.items()
                if key in self._counted
            ),
            ExecutionRows.of(self._executions),
            MemoryRows.of(self._memory),
            FrameRows.of(self._frames),
        )
        if self._nodeless:
            what = "transfers that belong to no node"
            draft.losses.append(Diagnostic(header.source, what, self._nodeless))
        return lay_out(draft, header)

    def _add_node(self, name: str, node: _Node) -> None:
        self._rows[name] = len(self._nodes)
        self._nodes[name] = node

    def _known(self, name: str, ops: dict[str, str]) -> bool:
        """Whether stats of this name belong to a node; a node that only the runtime knows is made."""
        if name in self._nodes:
            return True
        if name == "RecvTensor" or "MEMCPY" in name:
            self._nodeless += 1
            return False
        if name == "_SOURCE":
            return False
        op = ops.get(name, name)
        self._add_node(name, _Node(op, {op}))
        return True

    def _add_stats(
        self, row: int, node: _Node, step: int, device: str, stats: step_stats_pb2.NodeExecStats
    ) -> None:
        canonical = _CANONICAL.fullmatch(device) is not None
        if canonical and not node.device:
            node.device = device
            node.types.add(device)
        foreign = canonical and device != node.device
        cost = self._costs.setdefault((row, step), _Cost())
        if not foreign:
            self._counted.add((row, step))
        if stats.all_start_micros <= 0:
            return
        self._add_time(row, cost, step, device, stats, canonical=canonical, foreign=foreign)
        if device == node.device:
            self._add_memory(row, cost, step, device, stats)

    def _add_time(
        self,
        row: int,
        cost: _Cost,
        step: int,
        device: str,
        stats: step_stats_pb2.NodeExecStats,
        *,
        canonical: bool,
        foreign: bool,
    ) -> None:
        start, duration = stats.all_start_micros, max(stats.op_end_rel_micros, 1)
        kind = LaneKind.OTHER
        if foreign:
            cost.uncounted_host += duration
        else:
            cost.start = min(cost.start or start, start)
            cost.end = max(cost.end, start + duration)
            if "stream:all" in device:
                kind = LaneKind.ACCELERATOR
                cost.accelerator += duration
            elif canonical:
                kind = LaneKind.HOST
                cost.host += duration
                cost.run_count += 1
            elif "host:cpu" in device:
                cost.uncounted_host += duration
            elif "/stream:" not in device:
                cost.uncounted_accelerator += duration
        lane = self._draft.lanes(self._draft.strings(device.encode()), kind)
        self._executions.append((row, step, lane, start, duration))

    def _add_memory(
        self, row: int, cost: _Cost, step: int, device: str, stats: step_stats_pb2.NodeExecStats
    ) -> None:
        persistent, temporary = (
            stats.memory_stats.persistent_memory_size,
            stats.memory_stats.temp_memory_size,
        )
        held = persistent + temporary
        cost.requested += sum(m.total_bytes for m in stats.memory) + held
        cost.peak += sum(m.peak_bytes for m in stats.memory) + held
        cost.residual += sum(m.live_bytes for m in stats.memory) + persistent
        for output in stats.output:
            allocation = output.tensor_description.allocation_description
            size = max(allocation.allocated_bytes, allocation.requested_bytes)
            cost.output += size
            if size:  # Nothing is recorded of an output that was forwarded.
                key = (row, output.slot)
                self._outputs[key] = max(self._outputs.get(key, 0), size)
        device_memory = [m for m in stats.memory if "GPU" in m.allocator_name]
        in_use = max((m.allocator_bytes_in_use for m in device_memory), default=0)
        cost.in_use = max(cost.in_use, in_use)
        if in_use or "cpu" not in device:
            end = stats.all_start_micros + stats.op_end_rel_micros
            self._memory.append((row, step, end, 0, in_use or -1))
        self._memory += [
            (row, step, r.alloc_micros, r.alloc_bytes, -1)
            for m in device_memory
            for r in m.allocation_records
        ]

    def _stack(self, entry: tfprof_log_pb2.OpLogEntry) -> int:
        """The index of a call stack, whose frames are added when it is new."""
        stacks, text = self._draft.stacks, self._draft.strings
        before = len(stacks)
        stack = stacks(entry.code_def.SerializeToString(deterministic=True))
        if len(stacks) > before:
            for frame in entry.code_def.traces:
                file, function = (
                    self._text(frame.file_id, entry.name),
                    self._text(frame.function_id, entry.name),
                )
                self._frames.append(
                    (stack, text(file), frame.lineno, text(function), frame.func_start_line)
                )
        return stack

    def _text(self, number: int, name: str) -> bytes:
        text = self._texts.get(number)
        if text is None:
            raise DamagedSource(
                f"the code trace of node {name!r} names file or function id {number}, which is not in id_to_string",
                where="op log",
                remedy="Write the op log again",
            )
        return text.encode()

    def _node_rows(self) -> Iterator[tuple[int, ...]]:
        text, shapes = self._draft.strings, self._draft.shapes
        for row, (name, node) in enumerate(self._nodes.items()):
            device = text(node.device.encode()) if node.device else -1
            shape = shapes(node.shape) if node.shape else -1
            yield (
                row,
                text(name.encode()),
                text(node.op.encode()),
                device,
                node.float_ops,
                shape,
                node.stack,
            )

    def _type_rows(self) -> Iterator[tuple[int, ...]]:
        for row, node in enumerate(self._nodes.values()):
            for one in sorted(node.types):
                yield row, self._draft.strings(one.encode())

    def _input_rows(self, where: str) -> Iterator[tuple[int, ...]]:
        for row, (name, node) in enumerate(self._nodes.items()):
            for place, (source, slot, kind) in enumerate(node.inputs):
                if source not in self._rows:
                    raise DamagedSource(
                        f"input {place} of node {name!r} comes from node {source!r}, which is in no graph",
                        where=where,
                        remedy="Give the whole graph",
                    )
                yield row, place, self._rows[source], slot, int(kind)

    def _output_rows(self) -> Iterator[tuple[int, ...]]:
        for row, node in enumerate(self._nodes.values()):
            for slot, dims in enumerate(node.output_shapes):
                yield row, slot, self._draft.shapes(dims), -1
        for (row, slot), size in self._outputs.items():
            yield row, slot, -1, size


def _of_definition(node: node_def_pb2.NodeDef) -> _Node:
    shapes = node.attr["_output_shapes"].list.shape if "_output_shapes" in node.attr else ()
    texts = ((key, value_text(value)) for key, value in node.attr.items())
    return _Node(
        op=node.op,
        types={node.op},
        inputs=[_input(text) for text in node.input],
        shape=_variable_shape(node.attr["shape"]) if "shape" in node.attr else (),
        output_shapes=[_dims(shape) for shape in shapes],
        attributes=[(key, text) for key, text in texts if text is not None],
    )


def _input(text: str) -> tuple[str, int, InputKind]:
    """Source, output slot and kind of an input: `name`, `name:slot` or `^name`, for tfprof the first output."""
    if text.startswith("^"):
        return text[1:], 0, InputKind.CONTROL
    name, colon, slot = text.rpartition(":")
    if colon and slot.isdecimal():
        return name, int(slot), InputKind.DATA
    return text, 0, InputKind.DATA


def _variable_shape(value: attr_value_pb2.AttrValue) -> tuple[int, ...]:
    return _dims(value.shape) if value.HasField("shape") else ()


def _dims(shape: tensor_shape_pb2.TensorShapeProto) -> tuple[int, ...]:
    """Dimensions as tfprof writes them: a scalar is [1], an unknown rank is []."""
    if shape.unknown_rank:
        return ()
    return tuple(d.size for d in shape.dim) or (1,)


def _resolved_ops(run: config_pb2.RunMetadata) -> dict[str, str]:
    """The ops of nodes that the runtime made, from the graphs that it says it ran."""
    graphs = [*run.partition_graphs]
    for function in run.function_graphs:
        graphs += [*function.partition_graphs, function.post_optimization_graph]
    return {node.name: node.op for graph in graphs for node in graph.node}

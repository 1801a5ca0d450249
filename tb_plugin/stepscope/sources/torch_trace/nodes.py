"""Nodes and executions of a profile, joined from the kinds of things that a trace holds."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from stepscope.model.columns import StringBuilder
from stepscope.model.profile import Attributes, Executions, NodeKind, Nodes, NodeSteps, OpTypes, Scopes
from stepscope.sources.torch_trace.memory import Held
from stepscope.sources.torch_trace.numbers import Ints
from stepscope.sources.torch_trace.trees import distinct


@dataclass(frozen=True)
class NodePart:
    """Nodes of one part of the trace. Every column has one value per node.

    Attributes:
        kind: NodeKind.
        name: In the profile's strings.
        context: The chain of scopes around the node, or for SCOPE nodes (but steps) their own, -1 for none.
        own_scope: Whether `context` ends in the node itself.
        caller: In the joined nodes.
        device: In the profile's strings.
        trace: In the profile's traces.
        shape: In the profile's strings.
        properties: In the trace's properties.
    """

    kind: Ints
    name: Ints
    context: Ints
    own_scope: NDArray[np.bool_]
    caller: Ints
    device: Ints
    trace: Ints
    shape: Ints
    properties: Ints

    def __len__(self) -> int:
        return len(self.name)


@dataclass(frozen=True)
class ExecutionPart:
    """Single executions of a part's nodes; `node` counts in the joined nodes, times in ns.

    Attributes:
        shared: The part of the self duration that is of modules inside, None for nothing.
        enclosed: The part of a module's self duration that an op or range around it shares, None for nothing.
        launch, forward: The execution that launched it, and the one that it is the backward pass of, as rows of all
            parts joined; -1 or None for none.
    """

    node: Ints
    step: Ints
    lane: Ints
    start: Ints
    duration: Ints
    self_duration: Ints
    shared: Ints | None = None
    enclosed: Ints | None = None
    launch: Ints | None = None
    forward: Ints | None = None


def joined(parts: list[NodePart], scope_parent: Ints, scope_name: Ints) -> tuple[Nodes, Scopes, OpTypes]:
    """Joins parts, and gives every node that is no scope itself an entry of its name in the scope around it."""

    def column(name: str) -> Ints:
        return np.concatenate([getattr(part, name) for part in parts])

    kind, name, context, own = column("kind"), column("name"), column("context"), column("own_scope")
    leaf = ~own
    number, first = distinct(context[leaf], name[leaf], kind[leaf])
    scope = context.copy()
    scope[leaf] = len(scope_parent) + number
    count = len(name)
    nodes = Nodes(
        name=name,
        scope=scope,
        kind=kind,
        device=column("device"),
        trace=column("trace"),
        caller=column("caller"),
        input_shape=column("shape"),
        op_type_end=np.arange(1, count + 1),
        input_end=np.zeros(count, np.int64),
        output_end=np.zeros(count, np.int64),
    )
    scopes = Scopes(
        parent=np.concatenate([scope_parent, context[leaf][first]]),
        name=np.concatenate([scope_name, name[leaf][first]]),
        kind=np.concatenate([np.full(len(scope_parent), NodeKind.SCOPE), kind[leaf][first]]),
    )
    return nodes, scopes, OpTypes(type=name)


def joined_executions(parts: list[ExecutionPart], anchor_ns: int) -> tuple[Executions, Ints, Ints]:
    """Joins executions in order of their start, relative to the anchor.

    Returns:
        The executions, what each shares with modules inside, and what each module shares with an op or range around it.
    """

    def column(name: str) -> Ints:
        return np.concatenate([getattr(part, name) for part in parts])

    start = column("start") - anchor_ns
    order = np.argsort(start, kind="stable")
    place = np.full(len(order) + 1, -1)
    place[order] = np.arange(len(order))

    def moved(rows: list[Ints | None]) -> Ints:
        known = [np.full(len(part.node), -1) if row is None else row for part, row in zip(parts, rows, strict=True)]
        found: Ints = place[np.concatenate(known)[order]]
        return found

    def share(name: str) -> Ints:
        values = []
        for part in parts:
            value = getattr(part, name)
            values.append(np.zeros(len(part.node), np.int64) if value is None else value)
        shares: Ints = np.concatenate(values)[order]
        return shares

    executions = Executions(
        node=column("node")[order],
        step=column("step")[order],
        lane=column("lane")[order],
        start_ticks=start[order],
        duration_ticks=column("duration")[order],
        self_ticks=column("self_duration")[order],
        launch=moved([part.launch for part in parts]),
        forward=moved([part.forward for part in parts]),
    )
    return executions, share("shared"), share("enclosed")


def node_steps(
    executions: Executions,
    shared: Ints,
    enclosed: Ints,
    kind: NDArray[np.int8],
    step_count: int,
    memory: Held,
) -> NodeSteps:
    """Sums executions by node and step.

    Args:
        shared: What each execution shares with modules inside.
        enclosed: What each module shares with an op or range around it.
        memory: Grouped by `group_of(node, step, step_count)`.
    """
    run_group = group_of(executions.node, executions.step, step_count)
    order = np.argsort(run_group, kind="stable")
    groups, first = np.unique(run_group[order], return_index=True)
    if not len(groups):
        return NodeSteps()
    end = executions.start_ticks + executions.duration_ticks
    node = groups // (step_count + 1)
    on_device = kind[node] == NodeKind.DEVICE
    total = np.add.reduceat(executions.duration_ticks[order], first)
    place = np.searchsorted(memory.group, groups)
    place[place == len(memory.group)] = 0
    has_memory = memory.group[place] == groups if len(memory.group) else np.zeros(len(groups), bool)

    def of_memory(values: Ints) -> Ints:
        return np.where(has_memory, values[place], 0) if len(values) else np.zeros(len(groups), np.int64)

    return NodeSteps(
        node=node,
        step=groups % (step_count + 1) - 1,
        run_count=np.add.reduceat(executions.count[order].astype(np.int64), first),
        host_ticks=np.where(on_device, 0, np.add.reduceat(executions.self_ticks[order], first)),
        host_total_ticks=np.where(on_device, 0, total),
        shared_host_ticks=np.add.reduceat(shared[order], first),
        enclosed_host_ticks=np.add.reduceat(enclosed[order], first),
        accelerator_ticks=np.where(on_device, total, 0),
        start_ticks=np.minimum.reduceat(executions.start_ticks[order], first),
        end_ticks=np.maximum.reduceat(end[order], first),
        requested_bytes=of_memory(memory.requested),
        peak_bytes=of_memory(memory.peak),
        residual_bytes=of_memory(memory.residual),
    )


def group_of(node: Ints | NDArray[np.int32], step: Ints | NDArray[np.int32], step_count: int) -> Ints:
    """One number for a node and step, -1 for no node."""
    group = node.astype(np.int64) * (step_count + 1) + step + 1
    return np.where(node >= 0, group, -1)


def attributes(properties: Ints, texts: list[dict[str, str]], strings: StringBuilder) -> Attributes:
    """The properties of nodes as rows of key and value.

    Args:
        properties: For each node, in `texts`.
        texts: Keys and values of each set of properties.
    """
    pairs = [[(strings(key), strings(value)) for key, value in text.items()] for text in texts]
    sizes = np.fromiter((len(p) for p in pairs), np.int64, len(pairs))
    rows: Ints = np.repeat(np.arange(len(properties)), sizes[properties])
    flat = np.array([pair for p in pairs for pair in p], np.int64).reshape(-1, 2)
    begin = np.cumsum(sizes) - sizes
    within = np.arange(len(rows)) - np.repeat(np.cumsum(sizes[properties]) - sizes[properties], sizes[properties])
    index = begin[properties[rows]] + within
    return Attributes(node=rows, key=flat[index, 0], value=flat[index, 1])

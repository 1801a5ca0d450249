"""Nodes and executions of a profile, joined from the kinds of things that a trace holds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from stepscope.model.columns import Array, StringBuilder
from stepscope.model.profile import (
    Attributes,
    Executions,
    NodeKind,
    Nodes,
    NodeSteps,
    OpTypes,
    Scopes,
)
from stepscope.sources.torch_trace.memory import Held
from stepscope.sources.torch_trace.trees import distinct


@dataclass(frozen=True)
class NodePart:
    """Nodes of one part of the trace. Every column has one value per node.

    Attributes:
        kind: NodeKind.
        name: In the profile's strings.
        context: The chain of scopes around the node, or for SCOPE nodes (but steps) their own, -1
            for none.
        own_scope: Whether `context` ends in the node itself.
        caller: In the joined nodes.
        device: In the profile's strings.
        trace: In the profile's traces.
        shape: In the profile's strings.
        properties: In the trace's properties.
    """

    kind: Array
    name: Array
    context: Array
    own_scope: NDArray[np.bool_]
    caller: Array
    device: Array
    trace: Array
    shape: Array
    properties: Array

    def __len__(self) -> int:
        return len(self.name)


@dataclass(frozen=True)
class ExecutionPart:
    """Single executions of a part's nodes. `node` counts in the joined nodes, times are in ns.

    Attributes:
        shared: The part of the self duration that is of modules inside, None for nothing.
        enclosed: The part of a module's self duration that an op or range around it shares, None
            for nothing.
        launch, forward: The execution that launched it, and the one that it is the backward pass
            of, as rows of all parts joined; -1 or None for none.
    """

    node: Array
    step: Array
    lane: Array
    start: Array
    duration: Array
    self_duration: Array
    shared: Array | None = None
    enclosed: Array | None = None
    launch: Array | None = None
    forward: Array | None = None


def join_nodes(
    parts: Sequence[NodePart], scope_parent: Array, scope_name: Array
) -> tuple[Nodes, Scopes, OpTypes]:
    """Joins parts. Every node that is no scope gets an entry of its name in the scope around it."""

    def column(name: str) -> Array:
        return np.concatenate([getattr(part, name) for part in parts])

    kind = column("kind")
    name = column("name")
    context = column("context")
    is_leaf = ~column("own_scope")
    number, first = distinct(context[is_leaf], name[is_leaf], kind[is_leaf])
    scope = context.copy()
    scope[is_leaf] = len(scope_parent) + number
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
    own_kind = np.full(len(scope_parent), NodeKind.SCOPE)
    scopes = Scopes(
        parent=np.concatenate([scope_parent, context[is_leaf][first]]),
        name=np.concatenate([scope_name, name[is_leaf][first]]),
        kind=np.concatenate([own_kind, kind[is_leaf][first]]),
    )
    return nodes, scopes, OpTypes(type=name)


@dataclass(frozen=True)
class JoinedExecutions:
    """The executions of all parts in order of their start.

    Attributes:
        shared: What each execution shares with modules inside.
        enclosed: What each module shares with an op or range around it.
        place: The row of each execution, given its number in all parts; -1 at the end.
    """

    executions: Executions
    shared: Array
    enclosed: Array
    place: Array


def join_executions(parts: Sequence[ExecutionPart], anchor_ns: int) -> JoinedExecutions:
    """Joins executions. Times become relative to the anchor."""

    def column(name: str, default: int = 0) -> Array:
        values = []
        for part in parts:
            value = getattr(part, name)
            values.append(np.full(len(part.node), default) if value is None else value)
        return np.concatenate(values)

    start = column("start") - anchor_ns
    order = np.argsort(start, kind="stable")
    place = np.full(len(order) + 1, -1)
    place[order] = np.arange(len(order))
    executions = Executions(
        node=column("node")[order],
        step=column("step")[order],
        lane=column("lane")[order],
        start_ticks=start[order],
        duration_ticks=column("duration")[order],
        self_ticks=column("self_duration")[order],
        launch=place[column("launch", -1)[order]],
        forward=place[column("forward", -1)[order]],
    )
    return JoinedExecutions(
        executions=executions,
        shared=column("shared")[order],
        enclosed=column("enclosed")[order],
        place=place,
    )


def node_steps(
    joined: JoinedExecutions, kind: NDArray[np.int8], step_count: int, memory: Held
) -> NodeSteps:
    """Sums executions by node and step.

    Args:
        memory: Grouped by `group_of(node, step, step_count)`.
    """
    executions = joined.executions
    run_group = group_of(executions.node, executions.step, step_count)
    order = np.argsort(run_group, kind="stable")
    groups, first = np.unique(run_group[order], return_index=True)
    if not len(groups):
        return NodeSteps()
    end = executions.start_ticks + executions.duration_ticks
    node = groups // (step_count + 1)
    is_on_device = kind[node] == NodeKind.DEVICE

    def total(values: Array) -> Array:
        sums: Array = np.add.reduceat(values[order], first)
        return sums

    duration = total(executions.duration_ticks)
    place = np.searchsorted(memory.group, groups)
    place[place == len(memory.group)] = 0
    has_memory = np.zeros(len(groups), bool)
    if len(memory.group):
        has_memory = memory.group[place] == groups

    def of_memory(values: Array) -> Array:
        if not len(values):
            return np.zeros(len(groups), np.int64)
        return np.where(has_memory, values[place], 0)

    return NodeSteps(
        node=node,
        step=groups % (step_count + 1) - 1,
        run_count=total(executions.count.astype(np.int64)),
        host_ticks=np.where(is_on_device, 0, total(executions.self_ticks)),
        host_total_ticks=np.where(is_on_device, 0, duration),
        shared_host_ticks=total(joined.shared),
        enclosed_host_ticks=total(joined.enclosed),
        accelerator_ticks=np.where(is_on_device, duration, 0),
        start_ticks=np.minimum.reduceat(executions.start_ticks[order], first),
        end_ticks=np.maximum.reduceat(end[order], first),
        requested_bytes=of_memory(memory.requested),
        peak_bytes=of_memory(memory.peak),
        residual_bytes=of_memory(memory.residual),
    )


def group_of(
    node: Array | NDArray[np.int32], step: Array | NDArray[np.int32], step_count: int
) -> Array:
    """One number for a node and step, -1 for no node."""
    group = node.astype(np.int64) * (step_count + 1) + step + 1
    return np.where(node >= 0, group, -1)


def attributes(
    properties: Array, texts: Sequence[Mapping[str, str]], strings: StringBuilder
) -> Attributes:
    """The properties of nodes as rows of key and value.

    Args:
        properties: For each node, in `texts`.
        texts: Keys and values of each set of properties.
    """
    pairs: list[tuple[int, int]] = []
    ends = []
    for text in texts:
        for key, value in text.items():
            pairs.append((strings(key), strings(value)))
        ends.append(len(pairs))
    end = np.array(ends, np.int64)
    begin = np.append(0, end[:-1])
    sizes = (end - begin)[properties]
    rows: Array = np.repeat(np.arange(len(properties)), sizes)
    within = np.arange(len(rows)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    index = begin[properties[rows]] + within
    flat = np.array(pairs, np.int64).reshape(-1, 2)
    return Attributes(node=rows, key=flat[index, 0], value=flat[index, 1])

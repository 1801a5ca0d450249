"""Profiles for tests: written by hand, or drawn at random."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from stepscope.model.columns import StringBuilder
from stepscope.model.profile import (
    Executions,
    Frames,
    Inputs,
    NodeKind,
    Nodes,
    NodeSteps,
    OpTypes,
    Profile,
    Scopes,
    Steps,
    Traces,
)

Frame = tuple[str, int, str]

few = settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow])
"""Trees are small, but many views are made of each."""


@dataclass
class Node:
    """A node as tests write it.

    Attributes:
        runs: For each step its index, runs, host and accelerator ticks (host self time where ops call ops).
        calls: Durations of single calls in step 0.
        trace: Frames, outermost first.
    """

    name: str
    op: str = "Op"
    types: tuple[str, ...] = ()
    inputs: tuple[int, ...] = ()
    runs: tuple[tuple[int, int, int, int], ...] = ()
    bytes: int = 0
    parameters: int = 0
    float_ops: int = 0
    trace: tuple[Frame, ...] = ()
    caller: int = -1
    kind: NodeKind = NodeKind.OP
    scope: str = ""
    host_total: int = 0
    calls: tuple[int, ...] = field(default=())
    uncounted: int = 0


def profile(
    nodes: list[Node],
    *,
    steps: tuple[int, ...] = (0,),
    tick_ps: int = 1_000_000,
    nested: bool = False,
) -> Profile:
    """A valid profile of the nodes."""
    text = StringBuilder()
    text("")
    scopes, scope_of = _scopes([node.scope or node.name for node in nodes], text)
    frames, traces, trace_of = _traces([node.trace for node in nodes], text)
    runs = [(i, *run, node) for i, node in enumerate(nodes) for run in node.runs]
    calls = [(i, duration) for i, node in enumerate(nodes) for duration in node.calls]
    built = Profile(
        tick_ps=tick_ps,
        nested=nested,
        has_traces=bool(len(traces)),
        nodes=Nodes(
            name=np.array([text(node.name) for node in nodes], np.int32),
            op=np.array([text(node.op) for node in nodes], np.int32),
            scope=np.array(scope_of, np.int32),
            kind=np.array([node.kind for node in nodes], np.int8),
            trace=np.array(trace_of, np.int32),
            caller=np.array([node.caller for node in nodes], np.int32),
            parameters=np.array([node.parameters for node in nodes], np.int64),
            float_ops=np.array([node.float_ops for node in nodes], np.int64),
            op_type_end=np.cumsum([1 + len(node.types) for node in nodes], dtype=np.int64),
            input_end=np.cumsum([len(node.inputs) for node in nodes], dtype=np.int64),
        ),
        op_types=OpTypes(
            type=np.array([text(t) for node in nodes for t in (node.op, *node.types)], np.int32)
        ),
        inputs=Inputs(source=np.array([i for node in nodes for i in node.inputs], np.int32)),
        scopes=scopes,
        frames=frames,
        traces=traces,
        steps=Steps(id=np.array(steps)),
        node_steps=NodeSteps(
            node=np.array([r[0] for r in runs], np.int32),
            step=np.array([r[1] for r in runs], np.int32),
            run_count=np.array([r[2] for r in runs], np.int64),
            host_ticks=np.array([r[3] for r in runs], np.int64),
            accelerator_ticks=np.array([r[4] for r in runs], np.int64),
            host_total_ticks=np.array([r[5].host_total or r[3] for r in runs], np.int64),
            requested_bytes=np.array([r[5].bytes for r in runs], np.int64),
            uncounted_host_ticks=np.array([r[5].uncounted for r in runs], np.int64),
        ),
        executions=Executions(
            node=np.array([c[0] for c in calls], np.int32),
            step=np.zeros(len(calls), np.int32),
            start_ticks=np.zeros(len(calls), np.int64),
            duration_ticks=np.array([c[1] for c in calls], np.int64),
        ),
        strings=text.build(),
    )
    built.validate()
    return built


def _scopes(paths: list[str], text: StringBuilder) -> tuple[Scopes, list[int]]:
    index: dict[tuple[str, ...], int] = {}
    rows: list[tuple[int, str]] = []
    own = []
    for path in paths:
        parts, at = tuple(path.split("/")), -1
        for end in range(1, len(parts) + 1):
            if parts[:end] not in index:
                index[parts[:end]] = len(rows)
                rows.append((at, parts[end - 1]))
            at = index[parts[:end]]
        own.append(at)
    names = np.array([text(name) for _, name in rows], np.int32)
    return Scopes(parent=np.array([p for p, _ in rows], np.int32), name=names), own


def _traces(
    stacks: list[tuple[Frame, ...]], text: StringBuilder
) -> tuple[Frames, Traces, list[int]]:
    lines: dict[Frame, int] = {}
    index: dict[tuple[Frame, ...], int] = {}
    rows: list[tuple[int, int]] = []
    own = []
    for stack in stacks:
        at = -1
        for end in range(1, len(stack) + 1):
            if stack[:end] not in index:
                index[stack[:end]] = len(rows)
                rows.append((at, lines.setdefault(stack[end - 1], len(lines))))
            at = index[stack[:end]]
        own.append(at)
    frames = Frames(
        file=np.array([text(file) for file, _, _ in lines], np.int32),
        line=np.array([line for _, line, _ in lines], np.int32),
        function=np.array([text(function) for _, _, function in lines], np.int32),
    )
    return (
        frames,
        Traces(
            parent=np.array([p for p, _ in rows], np.int32), frame=np.array([f for _, f in rows])
        ),
        own,
    )


_PARTS = st.sampled_from(["a", "b", "a-b", "", "gradients", "a_grad", "é", "x.y"])
_NAMES = st.lists(_PARTS, min_size=1, max_size=4).map("/".join)
_FRAMES = st.tuples(
    st.sampled_from(["m.py", "d/m.py", "n.py"]), st.integers(1, 3), st.sampled_from(["f", "g" * 25])
)
_FIGURE = st.integers(0, 1 << 40)


@st.composite
def profiles(draw: st.DrawFn, steps: int = 3) -> Profile:
    """Graphs with cycles, shared inputs, nodes without runs, scopes that are nodes, and odd names."""
    names = draw(st.lists(_NAMES, min_size=1, max_size=12, unique=True))
    nodes = [
        Node(
            name,
            op=draw(st.sampled_from(["MatMul", "Const", "Add"])),
            types=draw(st.sampled_from([(), ("cpu:0",), ("gpu:0", "_trainable")])),
            inputs=tuple(draw(st.lists(st.integers(0, len(names) - 1), max_size=3))),
            runs=tuple(
                (step, draw(st.integers(0, 5)), draw(_FIGURE), draw(_FIGURE))
                for step in sorted(draw(st.sets(st.integers(0, steps - 1))))
            ),
            bytes=draw(_FIGURE),
            parameters=draw(st.integers(0, 1000)),
            float_ops=draw(st.integers(0, 1000)),
            trace=tuple(draw(st.lists(_FRAMES, max_size=3))),
        )
        for name in names
    ]
    return profile(nodes, steps=tuple(range(10, 10 + steps)))


@st.composite
def call_trees(draw: st.DrawFn) -> Profile:
    """Ops that call ops, launch kernels and call the runtime; some kernels have no launch."""
    nodes: list[Node] = []
    for place in range(draw(st.integers(1, 12))):
        kind = draw(
            st.sampled_from(
                [NodeKind.OP, NodeKind.OP, NodeKind.SCOPE, NodeKind.DEVICE, NodeKind.RUNTIME]
            )
        )
        hosts = [i for i in range(place) if nodes[i].kind in (NodeKind.OP, NodeKind.SCOPE)]
        caller = draw(st.sampled_from([-1, *hosts]))
        name = draw(st.sampled_from(["mul", "add", "mm"]))
        scope = f"{nodes[caller].scope}/{name}" if caller >= 0 else name
        host, device = (0, draw(_FIGURE)) if kind == NodeKind.DEVICE else (draw(_FIGURE), 0)
        runs = ((draw(st.integers(0, 1)), draw(st.integers(1, 3)), host, device),)
        nodes.append(
            Node(name, name, caller=caller, kind=kind, scope=scope, runs=runs, bytes=draw(_FIGURE))
        )
    _add_called_time(nodes)
    return profile(nodes, nested=True, tick_ps=1000, steps=(0, 1))


def _add_called_time(nodes: list[Node]) -> None:
    for node in nodes:
        node.host_total = node.runs[0][2]
    for node in reversed(nodes):
        if node.caller >= 0 and node.kind in (NodeKind.OP, NodeKind.SCOPE):
            nodes[node.caller].host_total += node.host_total

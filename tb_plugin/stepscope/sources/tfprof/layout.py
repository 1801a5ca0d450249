"""Lays a draft of tfprof data out as a profile record."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stepscope.errors import DamagedSource
from stepscope.model.arrays import Ints
from stepscope.model.columns import Header
from stepscope.model.diagnostic import Diagnostic
from stepscope.model.profile import (
    Allocations,
    Attributes,
    Executions,
    Frames,
    Inputs,
    NodeKind,
    Nodes,
    NodeSteps,
    OpTypes,
    Outputs,
    Profile,
    Scopes,
    Steps,
    Traces,
)
from stepscope.sources.tfprof.draft import (
    MAX_INT64,
    AttributeRows,
    Draft,
    ExecutionRows,
    FrameRows,
    InputRows,
    Interner,
    MemoryRows,
    NodeRows,
    Numbers,
    OutputRows,
    StepRows,
    TypeRows,
)

TICK_PS = 1_000_000
MAX_SLOTS = 1 << 16
_ROOT = -1


def lay_out(draft: Draft, header: Header) -> Profile:
    """Makes the record of all rows of a draft. The header's anchor and losses are filled in.

    Raises:
        DamagedSource: An input names a node that does not exist, in a source that was read to its end.
    """
    nodes = draft.take(NodeRows)
    count = len(nodes.key)
    steps, base = np.array(sorted(draft.steps), np.int64), _time_base(draft)
    frames, traces, innermost = _traces(draft.take(FrameRows), draft)
    types, type_end = _op_types(draft, nodes)
    inputs, input_end = _inputs(draft, nodes, header.source)
    outputs, output_end = _outputs(draft, count)
    scopes, own_scope = _scopes(nodes.name, draft.strings)
    shapes, dims = draft.shapes.groups()
    parameters = _parameters(draft, nodes.shape)
    node_steps = _node_steps(_one_per_step(draft, steps), steps, base)
    return Profile(
        header=dataclasses.replace(
            header, wall_anchor_ns=base * 1000, losses=(*header.losses, *draft.losses)
        ),
        tick_ps=TICK_PS,
        has_traces=bool(len(traces)),
        nodes=Nodes(
            name=_i32(nodes.name),
            op=_i32(nodes.op),
            scope=_i32(own_scope),
            device=_i32(nodes.device),
            trace=_i32(np.append(innermost, -1)[nodes.stack]),
            parameters=parameters,
            float_ops=nodes.float_ops,
            shape=_i32(nodes.shape),
            op_type_end=type_end,
            input_end=input_end,
            output_end=output_end,
        ),
        op_types=types,
        inputs=inputs,
        outputs=outputs,
        shapes=shapes,
        dims=dims,
        scopes=scopes,
        frames=frames,
        traces=traces,
        lanes=draft.lanes.group(),
        steps=_steps(steps, node_steps),
        node_steps=node_steps,
        executions=_executions(draft.take(ExecutionRows), steps, base),
        allocations=_allocations(draft.take(MemoryRows), nodes, steps, base),
        attributes=_attributes(draft.take(AttributeRows)),
        strings=draft.strings.strings(),
    )


def _i32(values: Ints) -> NDArray[np.int32]:
    """Indices and 32-bit fields; a wider varint is cut to 32 bits, as protobuf does."""
    return values.astype(np.int32)


def _ends(owner: Ints, count: int) -> Ints:
    return np.cumsum(np.bincount(owner, minlength=count), dtype=np.int64)


def _op_types(draft: Draft, nodes: NodeRows) -> tuple[OpTypes, Ints]:
    rows = draft.take(TypeRows)
    is_op = rows.type == nodes.op[rows.node]
    order = np.lexsort((~is_op, rows.node))
    return OpTypes(type=_i32(rows.type[order])), _ends(rows.node, len(nodes.key))


def _inputs(draft: Draft, nodes: NodeRows, where: str) -> tuple[Inputs, Ints]:
    rows = draft.take(InputRows)
    by_key = np.argsort(nodes.key, kind="stable")
    keys = nodes.key[by_key]
    place = np.searchsorted(keys, rows.source, side="right") - 1
    known = place >= 0
    known[known] = keys[place[known]] == rows.source[known]
    if not known.all():
        _report_dangling(draft, nodes, rows.take(~known), where)
        rows, place = rows.take(known), place[known]
    order = np.lexsort((rows.place, rows.node))
    group = Inputs(
        source=_i32(by_key[place][order]),
        slot=_i32(rows.slot[order]),
        kind=rows.kind[order].astype(np.int8),
    )
    return group, _ends(rows.node, len(nodes.key))


def _report_dangling(draft: Draft, nodes: NodeRows, rows: InputRows, where: str) -> None:
    what = f"{len(rows.node)} inputs name nodes that are not there"
    if not draft.complete:
        draft.losses.append(
            Diagnostic(
                where, "inputs from nodes behind the place where the file ends", len(rows.node)
            )
        )
        return
    name = draft.strings.text(int(nodes.name[rows.node[0]]))
    raise DamagedSource(
        f"{what}: the first is input {int(rows.place[0])} of node {name!r}, from node id {int(rows.source[0])}",
        where=where,
        remedy="Write the profile again with every node of the graph in it",
    )


def _outputs(draft: Draft, count: int) -> tuple[Outputs, Ints]:
    rows = draft.take(OutputRows)
    sane = (rows.slot >= 0) & (rows.slot < MAX_SLOTS)
    if not sane.all():
        draft.losses.append(
            Diagnostic("outputs", f"output slots outside 0..{MAX_SLOTS - 1}", int((~sane).sum()))
        )
        rows = rows.take(sane)
    slots = np.zeros(count, np.int64)
    np.maximum.at(slots, rows.node, rows.slot + 1)
    end = np.cumsum(slots, dtype=np.int64)
    total = int(end[-1]) if count else 0
    place = (end - slots)[rows.node] + rows.slot
    shape, size = np.full(total, -1, np.int64), np.full(total, -1, np.int64)
    np.maximum.at(shape, place, rows.shape)
    np.maximum.at(size, place, rows.bytes)
    return Outputs(shape=_i32(shape), bytes=size), end


def _scopes(names: Ints, strings: Interner) -> tuple[Scopes, Ints]:
    """The scope tree of the nodes' names, and each node's own entry in it."""
    texts = strings.texts()
    labels = strings.index
    # The entry of each parent and label, and of each whole prefix.
    entries: Numbers[tuple[int, int]] = Numbers()
    entry_of_prefix: dict[bytes, int] = {}

    def entry_of(prefix: bytes) -> int:
        entry = _ROOT
        for label in prefix.split(b"/"):
            entry = entries[entry, labels[label]]
        return entry

    own = np.empty(len(names), np.int64)
    for row, name in enumerate(names.tolist()):
        prefix, slash, label = texts[name].rpartition(b"/")
        parent = _ROOT
        if slash:
            parent = entry_of_prefix.get(prefix, _ROOT)
            if parent == _ROOT:
                parent = entry_of_prefix[prefix] = entry_of(prefix)
        own[row] = entries[parent, labels[label]]
    rows = np.array(list(entries), np.int64).reshape(-1, 2)
    kind = np.full(len(rows), int(NodeKind.SCOPE), np.int8)
    kind[own] = int(NodeKind.OP)
    return Scopes(parent=_i32(rows[:, 0]), name=_i32(rows[:, 1]), kind=kind), own


def _parameters(draft: Draft, shape: Ints) -> Ints:
    exact = draft.shapes.parameters()
    too_large = [n for n in exact if n > MAX_INT64]
    if too_large:
        what = f"shapes with more elements than 2^63, such as {too_large[0]}; counted as 2^63 - 1"
        draft.losses.append(Diagnostic("shapes", what, len(too_large)))
    counts = np.array([*(min(n, MAX_INT64) for n in exact), 0], np.int64)
    return counts[shape]


def _traces(rows: FrameRows, draft: Draft) -> tuple[Frames, Traces, Ints]:
    """Distinct frames, the tree of stacks, and for each stack its innermost entry in the tree."""
    columns = np.stack([rows.file, rows.line, rows.function, rows.first_line])
    distinct, frame = _distinct(columns)
    frames = Frames(
        file=_i32(distinct[0]),
        line=_i32(distinct[1]),
        function=_i32(distinct[2]),
        first_line=_i32(np.maximum(distinct[3], 0)),
    )
    stacks = int(rows.stack.max()) + 1 if len(rows.stack) else 0
    end = _ends(rows.stack, stacks)
    start = np.concatenate([[0], end[:-1]]) if stacks else end
    innermost = np.full(stacks, -1, np.int64)
    parents: list[Ints] = []
    own: list[Ints] = []
    size, depth = 0, 0
    active = np.flatnonzero(end > start)
    while len(active):
        pairs, entry = _distinct(np.stack([innermost[active], frame[start[active] + depth]]))
        parents.append(pairs[0])
        own.append(pairs[1])
        innermost[active] = size + entry
        size += pairs.shape[1]
        depth += 1
        active = active[start[active] + depth < end[active]]
    empty = np.empty(0, np.int64)
    tree = Traces(
        parent=_i32(np.concatenate([empty, *parents])), frame=_i32(np.concatenate([empty, *own]))
    )
    return frames, tree, np.append(innermost, np.full(len(draft.stacks) - stacks, -1))


def _distinct(columns: Ints) -> tuple[Ints, Ints]:
    """The distinct columns of a matrix in order of first appearance, and for each column its place among them."""
    order = np.lexsort(columns[::-1])
    ordered = columns[:, order]
    fresh = np.ones(len(order), bool)
    fresh[1:] = (ordered[:, 1:] != ordered[:, :-1]).any(axis=0)
    place = np.empty(len(order), np.int64)
    place[order] = np.cumsum(fresh) - 1
    first = order[fresh]
    rank = np.empty(len(first), np.int64)
    by_appearance = np.argsort(first)
    rank[by_appearance] = np.arange(len(first))
    return columns[:, first[by_appearance]], rank[place]


def _time_base(draft: Draft) -> int:
    """The earliest stamp, in microseconds; 0 where there is none or the stamps do not fit nanoseconds."""
    stamps = [
        draft.column(StepRows, "start"),
        draft.column(ExecutionRows, "start"),
        draft.column(MemoryRows, "time"),
    ]
    earliest = min((int(s[s > 0].min()) for s in stamps if (s > 0).any()), default=0)
    return earliest if earliest <= MAX_INT64 // 1000 else 0


def _since(stamps: Ints, base: int) -> Ints:
    return np.where(stamps > 0, stamps - base, 0)


def _index(steps: Ints, values: Ints) -> Ints:
    return np.searchsorted(steps, values)


def _one_per_step(draft: Draft, steps: Ints) -> StepRows:
    """The rows of node steps: of two for one node and step, which only a damaged file has, the last."""
    rows = draft.take(StepRows)
    key = rows.node * len(steps) + _index(steps, rows.step)
    ordered = np.sort(key, kind="stable")
    if (ordered[1:] != ordered[:-1]).all():
        return rows
    _, place = np.unique(key[::-1], return_index=True)
    draft.losses.append(
        Diagnostic("execs", "steps that a node has twice; the last is kept", len(key) - len(place))
    )
    return rows.take(np.sort(len(key) - 1 - place))


def _node_steps(rows: StepRows, steps: Ints, base: int) -> NodeSteps:
    return NodeSteps(
        node=_i32(rows.node),
        step=_i32(_index(steps, rows.step)),
        run_count=rows.run_count,
        host_ticks=rows.host,
        host_total_ticks=rows.host,
        accelerator_ticks=rows.accelerator,
        start_ticks=_since(rows.start, base),
        end_ticks=_since(rows.end, base),
        requested_bytes=rows.requested,
        peak_bytes=rows.peak,
        residual_bytes=rows.residual,
        output_bytes=rows.output,
        bytes_in_use=rows.in_use,
        uncounted_host_ticks=rows.uncounted_host,
        uncounted_accelerator_ticks=rows.uncounted_accelerator,
    )


def _steps(ids: Ints, rows: NodeSteps) -> Steps:
    ran = rows.end_ticks > rows.start_ticks
    first = np.full(len(ids), MAX_INT64)
    last = np.zeros(len(ids), np.int64)
    np.minimum.at(first, rows.step[ran], rows.start_ticks[ran])
    np.maximum.at(last, rows.step[ran], rows.end_ticks[ran])
    first[first == MAX_INT64] = 0
    return Steps(id=ids, start_ticks=first, duration_ticks=np.maximum(last - first, 0))


def _executions(rows: ExecutionRows, steps: Ints, base: int) -> Executions:
    return Executions(
        node=_i32(rows.node),
        step=_i32(_index(steps, rows.step)),
        lane=_i32(rows.lane),
        start_ticks=_since(rows.start, base),
        duration_ticks=rows.duration,
        self_ticks=rows.duration,
    )


def _allocations(rows: MemoryRows, nodes: NodeRows, steps: Ints, base: int) -> Allocations:
    return Allocations(
        node=_i32(rows.node),
        step=_i32(_index(steps, rows.step)),
        device=_i32(nodes.device[rows.node]),
        time_ticks=_since(rows.time, base),
        delta_bytes=rows.delta,
        total_bytes=rows.total,
    )


def _attributes(rows: AttributeRows) -> Attributes:
    order: Any = np.argsort(rows.node, kind="stable")
    return Attributes(
        node=_i32(rows.node[order]), key=_i32(rows.key[order]), value=_i32(rows.value[order])
    )

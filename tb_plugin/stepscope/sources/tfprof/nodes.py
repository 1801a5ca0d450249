"""Decodes the nodes of a ProfileProto, thousands at a time, into the rows of a draft.

Field numbers: tensorflow/core/profiler/tfprof_log.proto.
"""

from __future__ import annotations

import numpy as np

from stepscope.model.arrays import Bools, Ints
from stepscope.model.diagnostic import Diagnostic
from stepscope.model.profile import LaneKind
from stepscope.sources.tfprof.attributes import attributes
from stepscope.sources.tfprof.draft import (
    Draft,
    ExecutionRows,
    InputRows,
    Interner,
    MemoryRows,
    NodeRows,
    OutputRows,
    StepRows,
    TypeRows,
)
from stepscope.sources.wire import Messages, Table, decode, padded

_SUMS = {"requested": 6, "peak": 7, "residual": 8, "output": 9}


class NodeReader:
    """Adds blocks of nodes to a draft.

    Args:
        draft: Where the rows go.
        where: The file, for losses.
    """

    def __init__(self, draft: Draft, where: str) -> None:
        self._draft = draft
        self._where = where
        self._names: set[int] = set()
        self._on_accelerator = np.zeros(0, bool)
        self.count = 0

    def add(self, block: bytes, start: Ints, end: Ints) -> None:
        """Adds the map entries at the spans of a block of the file."""
        data = padded(block)
        entries = decode(Messages(data, start, end))
        bodies = entries.message_of(2)
        nodes = decode(bodies)
        names = self._draft.strings.spans(block, *nodes.spans(1))
        fresh = self._fresh(names)
        if not fresh.all():
            nodes = decode(bodies.take(fresh))
        self._note_damage(entries, nodes)
        self._add_nodes(block, nodes, entries.ints(1)[fresh], names[fresh])
        self.count += len(nodes)

    def _fresh(self, names: Ints) -> Bools:
        """Which nodes have a name that no earlier node has."""
        fresh = np.ones(len(names), np.bool_)
        known = self._names
        texts = names.tolist()
        if known.isdisjoint(texts) and len(set(texts)) == len(texts):
            known.update(texts)
            return fresh
        for row, name in enumerate(texts):
            fresh[row] = name not in known
            known.add(name)
        self._draft.losses.append(
            Diagnostic(
                where=self._where,
                what="nodes with the name of an earlier node; the first of each name is kept",
                count=int((~fresh).sum()),
                remedy="Give every op a name of its own",
            )
        )
        return fresh

    def _note_damage(self, *levels: Table) -> None:
        damaged = sum(int(level.damaged.sum()) for level in levels)
        if damaged:
            what = "damaged messages; what they hold before the damage is kept"
            self._draft.losses.append(Diagnostic(self._where, what, damaged, "Write the profile again"))

    def _add_nodes(self, block: bytes, nodes: Table, keys: Ints, names: Ints) -> None:
        draft, base = self._draft, self.count
        device = _optional(draft, block, *nodes.spans(6))
        self._on_accelerator = np.isin(device, self._accelerators(device))
        draft.add(
            NodeRows(
                key=keys,
                name=names,
                op=draft.strings.spans(block, *nodes.spans(9)),
                device=device,
                float_ops=nodes.ints(8),
                shape=self._variable_shapes(nodes),
                stack=self._stacks(block, nodes),
            )
        )
        types = nodes.contents(5)
        draft.add(TypeRows(types.row + base, draft.strings.spans(block, types.value, types.end)))
        draft.add(_inputs(nodes, base), self._outputs(block, nodes), attributes(draft, block, nodes.sub(11), base))
        self._add_executions(block, nodes.sub(12))

    def _accelerators(self, device: Ints) -> list[int]:
        """The devices that are no CPUs."""
        found = np.unique(device[device >= 0]).tolist()
        texts = self._draft.strings.texts() if found else []
        return [d for d in found if b"cpu" not in texts[d]]

    def _variable_shapes(self, nodes: Table) -> Ints:
        shape = np.full(len(nodes), -1, np.int64)
        owner, dims = nodes.repeated_ints(4)
        if len(owner):
            held, first = np.unique(owner, return_index=True)
            for node, sizes in zip(held.tolist(), np.split(dims, first[1:]), strict=True):
                shape[node] = self._draft.shapes(sizes.tolist())
        return shape

    def _stacks(self, block: bytes, nodes: Table) -> Ints:
        start, end = nodes.spans(10)
        stack = self._draft.stacks.spans(block, start, end)
        return np.where(end > start, stack, -1)

    def _outputs(self, block: bytes, nodes: Table) -> OutputRows:
        entries = nodes.sub(15)
        start, end = entries.spans(2)
        spans = Interner()
        span = spans.spans(block, start, end)
        shapes = [self._draft.shapes(tuple_values(text)) for text in spans.texts()]
        shape = np.array([*shapes, -1], np.int64)[span]
        return OutputRows(
            node=entries.owner + self.count,
            slot=entries.ints(1),
            shape=shape,
            bytes=np.full(len(shape), -1),
        )

    def _add_executions(self, block: bytes, entries: Table) -> None:
        """Adds what an entry of `execs` holds: a step of a node."""
        draft = self._draft
        node, step = entries.owner + self.count, entries.ints(1)
        draft.steps.update(np.unique(step).tolist())
        steps = decode(entries.message_of(2))
        memory = steps.sub(7)
        totals = {name: _sum(memory.ints(number), memory.owner, len(steps)) for name, number in _SUMS.items()}
        in_use = np.zeros(len(steps), np.int64)
        np.maximum.at(in_use, memory.owner, memory.ints(10))
        host = self._add_times(block, steps.sub(5), LaneKind.HOST, node, step)
        accelerator = self._add_times(block, steps.sub(4), LaneKind.ACCELERATOR, node, step)
        draft.add(
            StepRows(
                node=node,
                step=step,
                run_count=steps.ints(1),
                start=steps.ints(2),
                end=steps.ints(3),
                host=host,
                accelerator=accelerator,
                in_use=in_use,
                uncounted_host=np.zeros(len(steps), np.int64),
                uncounted_accelerator=np.zeros(len(steps), np.int64),
                **totals,
            ),
            *self._allocator_events(memory, steps.sub(11), node, step),
            _output_bytes(memory, node),
        )

    def _add_times(self, block: bytes, entries: Table, kind: LaneKind, node: Ints, step: Ints) -> Ints:
        """Adds the executions of a map from device to times, and gives their sum for each step of a node."""
        draft = self._draft
        devices = draft.strings.spans(block, *entries.spans(1))
        lanes = {d: draft.lanes(d, kind) for d in np.unique(devices).tolist()}
        lane = np.fromiter((lanes[d] for d in devices.tolist()), np.int64, len(devices))
        times = decode(entries.message_of(2)).sub(1)
        began, duration, whole = _pairs(times)
        owner = entries.owner[times.owner]
        if not whole.all():
            what = "execution times that are not a start and a duration"
            draft.losses.append(Diagnostic(self._where, what, int((~whole).sum())))
        draft.add(ExecutionRows(node[owner], step[owner], lane[times.owner], began, duration).take(whole))
        return _sum(duration, owner, len(node))

    def _allocator_events(self, memory: Table, changes: Table, node: Ints, step: Ints) -> tuple[MemoryRows, MemoryRows]:
        """The allocator's records, and what was in use after an execution: -1 where no allocator of a device says."""
        owner = changes.owner
        unknown = np.full(len(changes), -1, np.int64)
        deltas = MemoryRows(node[owner], step[owner], changes.ints(1), changes.ints(2), unknown)
        owner, total = memory.owner, memory.ints(10)
        zeros = np.zeros(len(memory), np.int64)
        seen = MemoryRows(node[owner], step[owner], memory.ints(1), zeros, np.where(total > 0, total, -1))
        return deltas.take(deltas.delta != 0), seen.take((total > 0) | self._on_accelerator[node[owner] - self.count])


def tuple_values(span: bytes) -> list[int]:
    """The numbers of a Tuple message."""
    tuples = decode(Messages.of([span]))
    values: list[int] = tuples.repeated_ints(1)[1].tolist()
    return values


def _optional(draft: Draft, block: bytes, start: Ints, end: Ints) -> Ints:
    return np.where(end > start, draft.strings.spans(block, start, end), -1)


def _inputs(nodes: Table, base: int) -> InputRows:
    entries = nodes.sub(2)
    source, slots = entries.ints(2), nodes.sub(14)
    slot = _look_up(entries.owner, source, slots.owner, slots.ints(1), slots.ints(2))
    return InputRows(entries.owner + base, entries.ints(1), source, slot, np.zeros(len(source), np.int64))


def _look_up(node: Ints, source: Ints, slot_node: Ints, slot_source: Ints, slot: Ints) -> Ints:
    """The slot of each (node, source) pair, -1 where the file has none."""
    _, number = np.unique(np.concatenate([slot_source, source]), return_inverse=True)
    known, asked = number[: len(slot)], number[len(slot) :]
    width = int(number.max()) + 1 if len(number) else 1
    keys, wanted = slot_node * width + known, node * width + asked
    order = np.argsort(keys, kind="stable")
    place = np.searchsorted(keys[order], wanted, side="right") - 1
    found = place >= 0
    found[found] = keys[order][place[found]] == wanted[found]
    return np.where(found, slot[order][place] if len(slot) else -1, -1)


def _sum(values: Ints, owner: Ints, count: int) -> Ints:
    out = np.zeros(count, np.int64)
    np.add.at(out, owner, values)
    return out


def _pairs(tuples: Table) -> tuple[Ints, Ints, Bools]:
    """First and second number of every Tuple, and whether it has exactly two."""
    owner, value = tuples.repeated_ints(1)
    size = np.bincount(owner, minlength=len(tuples))
    first = np.cumsum(size) - size
    whole = size == 2
    padded_values = np.append(value, [0, 0])
    began = np.where(whole, padded_values[np.where(whole, first, 0)], 0)
    return began, np.where(whole, padded_values[np.where(whole, first + 1, 0)], 0), whole


def _output_bytes(memory: Table, node: Ints) -> OutputRows:
    entries = memory.sub(11)
    size = decode(entries.message_of(2)).ints(1)
    return OutputRows(node[memory.owner[entries.owner]], entries.ints(1), np.full(len(size), -1), size)

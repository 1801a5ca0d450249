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
            self._draft.losses.append(
                Diagnostic(
                    where=self._where,
                    what="damaged messages; their fields before the damage are kept",
                    count=damaged,
                    remedy="Write the profile again",
                )
            )

    def _add_nodes(self, block: bytes, nodes: Table, keys: Ints, names: Ints) -> None:
        draft = self._draft
        first_node = self.count
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
        type_texts = draft.strings.spans(block, types.value, types.end)
        draft.add(TypeRows(node=types.row + first_node, type=type_texts))
        draft.add(_inputs(nodes, first_node))
        draft.add(self._outputs(block, nodes))
        draft.add(attributes(draft, block, nodes.sub(11), first_node))
        self._add_executions(block, nodes.sub(12))

    def _accelerators(self, device: Ints) -> list[int]:
        """The devices that are not CPUs."""
        devices = np.unique(device[device >= 0]).tolist()
        if not devices:
            return []
        texts = self._draft.strings.texts()
        return [number for number in devices if b"cpu" not in texts[number]]

    def _variable_shapes(self, nodes: Table) -> Ints:
        shape = np.full(len(nodes), -1, np.int64)
        owner, dims = nodes.repeated_ints(4)
        if len(owner):
            shaped_nodes, first = np.unique(owner, return_index=True)
            sizes_of = np.split(dims, first[1:])
            for node, sizes in zip(shaped_nodes.tolist(), sizes_of, strict=True):
                shape[node] = self._draft.shapes(sizes.tolist())
        return shape

    def _stacks(self, block: bytes, nodes: Table) -> Ints:
        start, end = nodes.spans(10)
        stack = self._draft.stacks.spans(block, start, end)
        return np.where(end > start, stack, -1)

    def _outputs(self, block: bytes, nodes: Table) -> OutputRows:
        entries = nodes.sub(15)
        distinct = Interner()
        text = distinct.spans(block, *entries.spans(2))
        shapes = [self._draft.shapes(tuple_values(span)) for span in distinct.texts()]
        # The last entry keeps the array usable where there are no outputs.
        shape = np.array([*shapes, -1], np.int64)[text]
        return OutputRows(
            node=entries.owner + self.count,
            slot=entries.ints(1),
            shape=shape,
            bytes=np.full(len(shape), -1),
        )

    def _add_executions(self, block: bytes, entries: Table) -> None:
        """Adds the entries of `execs`: each is a step of a node."""
        draft = self._draft
        node = entries.owner + self.count
        step = entries.ints(1)
        draft.steps.update(np.unique(step).tolist())

        steps = decode(entries.message_of(2))
        memory = steps.sub(7)
        totals: dict[str, Ints] = {}
        for name, number in _SUMS.items():
            totals[name] = _sum(memory.ints(number), memory.owner, len(steps))
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
            )
        )
        draft.add(_changes(steps.sub(11), node, step))
        draft.add(self._in_use(memory, node, step))
        draft.add(_output_bytes(memory, node))

    def _add_times(
        self, block: bytes, entries: Table, kind: LaneKind, node: Ints, step: Ints
    ) -> Ints:
        """Adds the executions of a map from device to times; gives their sum per step of a node."""
        draft = self._draft
        devices = draft.strings.spans(block, *entries.spans(1))
        lane_of: dict[int, int] = {}
        for device in np.unique(devices).tolist():
            lane_of[device] = draft.lanes(device, kind)
        lane = np.fromiter((lane_of[d] for d in devices.tolist()), np.int64, len(devices))

        times = decode(entries.message_of(2)).sub(1)
        start, duration, is_pair = _pairs(times)
        if not is_pair.all():
            what = "execution times that are not a start and a duration"
            draft.losses.append(Diagnostic(self._where, what, int((~is_pair).sum())))
        owner = entries.owner[times.owner]
        rows = ExecutionRows(
            node=node[owner],
            step=step[owner],
            lane=lane[times.owner],
            start=start,
            duration=duration,
        )
        draft.add(rows.take(is_pair))
        return _sum(duration, owner, len(node))

    def _in_use(self, memory: Table, node: Ints, step: Ints) -> MemoryRows:
        """Bytes in use after an execution, -1 where no allocator of a device says."""
        owner = memory.owner
        total = memory.ints(10)
        rows = MemoryRows(
            node=node[owner],
            step=step[owner],
            time=memory.ints(1),
            delta=np.zeros(len(memory), np.int64),
            total=np.where(total > 0, total, -1),
        )
        return rows.take((total > 0) | self._on_accelerator[node[owner] - self.count])


def _changes(changes: Table, node: Ints, step: Ints) -> MemoryRows:
    """The allocations and deallocations that an allocator recorded."""
    owner = changes.owner
    rows = MemoryRows(
        node=node[owner],
        step=step[owner],
        time=changes.ints(1),
        delta=changes.ints(2),
        total=np.full(len(changes), -1, np.int64),
    )
    return rows.take(rows.delta != 0)


def tuple_values(span: bytes) -> list[int]:
    """The numbers of a Tuple message."""
    _, value = decode(Messages.of([span])).repeated_ints(1)
    values: list[int] = value.tolist()
    return values


def _optional(draft: Draft, block: bytes, start: Ints, end: Ints) -> Ints:
    return np.where(end > start, draft.strings.spans(block, start, end), -1)


def _inputs(nodes: Table, first_node: int) -> InputRows:
    entries = nodes.sub(2)
    source = entries.ints(2)
    slots = nodes.sub(14)
    slot = _look_up(
        node=entries.owner,
        source=source,
        slot_node=slots.owner,
        slot_source=slots.ints(1),
        slot=slots.ints(2),
    )
    return InputRows(
        node=entries.owner + first_node,
        place=entries.ints(1),
        source=source,
        slot=slot,
        kind=np.zeros(len(source), np.int64),
    )


def _look_up(node: Ints, source: Ints, slot_node: Ints, slot_source: Ints, slot: Ints) -> Ints:
    """The slot of each (node, source) pair, -1 where the file has none."""
    if not len(slot):
        return np.full(len(node), -1, np.int64)
    _, number = np.unique(np.concatenate([slot_source, source]), return_inverse=True)
    width = int(number.max()) + 1
    keys = slot_node * width + number[: len(slot)]
    wanted = node * width + number[len(slot) :]
    order = np.argsort(keys, kind="stable")
    place = np.searchsorted(keys[order], wanted, side="right") - 1
    is_known = place >= 0
    is_known[is_known] = keys[order][place[is_known]] == wanted[is_known]
    return np.where(is_known, slot[order][place], -1)


def _sum(values: Ints, owner: Ints, count: int) -> Ints:
    total = np.zeros(count, np.int64)
    np.add.at(total, owner, values)
    return total


def _pairs(tuples: Table) -> tuple[Ints, Ints, Bools]:
    """First and second number of every Tuple, and whether it has exactly two."""
    owner, value = tuples.repeated_ints(1)
    size = np.bincount(owner, minlength=len(tuples))
    is_pair = size == 2
    first = np.cumsum(size) - size
    # A place that exists for tuples that are not pairs.
    place = np.where(is_pair, first, 0)
    values = np.append(value, [0, 0])
    start = np.where(is_pair, values[place], 0)
    duration = np.where(is_pair, values[place + 1], 0)
    return start, duration, is_pair


def _output_bytes(memory: Table, node: Ints) -> OutputRows:
    entries = memory.sub(11)
    size = decode(entries.message_of(2)).ints(1)
    return OutputRows(
        node=node[memory.owner[entries.owner]],
        slot=entries.ints(1),
        shape=np.full(len(size), -1),
        bytes=size,
    )

"""Allocator events of a trace: whose they are, and what each node holds."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from stepscope.model.columns import Array
from stepscope.sources.torch_trace.columns import EventColumns
from stepscope.sources.torch_trace.ops import OpTree


@dataclass(frozen=True)
class MemoryEvents:
    """Allocations and frees in order of time.

    Attributes:
        op: The op or annotation during which it happened, -1 for none.
        device: In the places of the trace's columns.
        source: For a free, the row of the allocation that it ends, -1 where that is not in the file.
    """

    start: Array
    op: Array
    device: Array
    delta: Array
    address: Array
    allocated: Array
    reserved: Array
    source: Array


def memory_events(columns: EventColumns, thread: Array, ops: OpTree) -> MemoryEvents:
    """Sorts a trace's allocator events, which come in no order, and pairs frees with allocations."""
    table = columns.memory
    start = table["start"]
    # Of two events at one moment the allocation comes first: a block is never freed before it exists.
    order = np.lexsort((table["delta"] < 0, start))
    on = thread[table["thread"]] if len(start) else np.empty(0, np.int64)
    device, address, delta = table["device"].astype(np.int64), table["address"], table["delta"]
    return MemoryEvents(
        start=start[order],
        op=ops.ranges.around(on, start, start)[order],
        device=device[order],
        delta=delta[order],
        address=address[order],
        allocated=table["allocated"][order],
        reserved=table["reserved"][order],
        source=_pairs(device[order], address[order], delta[order]),
    )


def _pairs(device: Array, address: Array, delta: Array) -> Array:
    order = np.lexsort((np.arange(len(delta)), address, device))
    source = np.full(len(delta), -1, np.int64)
    if len(order) < 2:
        return source
    before, after = order[:-1], order[1:]
    same = (
        (device[before] == device[after])
        & (address[before] == address[after])
        & (address[after] != 0)
    )
    pair = same & (delta[before] > 0) & (delta[after] < 0)
    source[after[pair]] = before[pair]
    return source


@dataclass(frozen=True)
class Held:
    """Memory of groups of events.

    Attributes:
        group: The distinct groups.
        requested: Bytes allocated.
        peak: Most bytes held at once of what the group allocated.
        residual: Bytes that the group allocated and that are not freed in the file.
    """

    group: Array
    requested: Array
    peak: Array
    residual: Array


def held(events: MemoryEvents, group: Array) -> Held:
    """Follows what each group of allocations holds until its frees, whoever makes them."""
    owner = np.where(events.delta > 0, group, -1)
    freed = events.source >= 0
    owner[freed] = group[events.source[freed]]
    rows = np.flatnonzero(owner >= 0)
    rows = rows[np.lexsort((rows, owner[rows]))]
    groups, first = np.unique(owner[rows], return_index=True)
    if not len(rows):
        empty = np.empty(0, np.int64)
        return Held(group=empty, requested=empty, peak=empty, residual=empty)
    running = np.cumsum(events.delta[rows])
    before = np.where(first > 0, running[first - 1], 0)
    last = np.append(first[1:], len(rows)) - 1
    requested = np.add.reduceat(np.maximum(events.delta[rows], 0), first)
    return Held(
        group=groups,
        requested=requested,
        peak=np.maximum.reduceat(running, first) - before,
        residual=running[last] - before,
    )

"""Which backward op comes of which forward op."""

from __future__ import annotations

import numpy as np

from stepscope.sources.torch_trace.columns import EventColumns
from stepscope.sources.torch_trace.numbers import Ints
from stepscope.sources.torch_trace.ops import OpTree

_ENGINE = "autograd::engine::evaluate_function"
"""The engine's call around a backward op, which has the op's sequence number too."""


def forward_backward(columns: EventColumns, thread: Ints, ops: OpTree) -> tuple[Ints, Ints]:
    """Forward ops and the backward op that each leads to: by the trace's arrows, without them by sequence numbers."""
    forward, backward = flow_links(columns, thread, ops)
    return (forward, backward) if len(forward) else sequence_links(columns, ops)


def flow_links(columns: EventColumns, thread: Ints, ops: OpTree) -> tuple[Ints, Ints]:
    """Links by arrows. Arrows with one end are normal, and lead nowhere."""
    flows = columns.flows
    if not len(flows) or not len(ops.name):
        return _nothing()
    op = ops.op_around(thread[flows["thread"]], flows["start"])
    is_end, identity = flows["is_end"] == 1, flows["id"].astype(np.int64)
    begin = np.full(int(identity.max()) + 1, -1, np.int64)
    begin[identity[~is_end]] = op[~is_end]
    forward, backward = begin[identity[is_end]], op[is_end]
    both = (forward >= 0) & (backward >= 0)
    return forward[both], backward[both]


def sequence_links(columns: EventColumns, ops: OpTree) -> tuple[Ints, Ints]:
    """Links by sequence number.

    Several forward ops have a number, since it is that of the next node to be made: the last to start made it. Threads
    count on their own, so a number that forward ops of two threads have is left out.
    """
    names = columns.names.values()
    is_engine = np.fromiter((name.startswith(_ENGINE) for name in names), bool, len(names))[ops.name]
    numbered = (ops.sequence >= 0) & ~ops.is_annotation & ~is_engine
    forward = np.flatnonzero(numbered & (ops.forward_thread <= 0))
    backward = np.flatnonzero(numbered & (ops.forward_thread > 0))
    if not len(forward) or not len(backward):
        return _nothing()
    made, count = np.unique(ops.sequence[forward], return_counts=True)
    order = np.lexsort((ops.ranges.start[forward], ops.sequence[forward]))
    last = forward[order[np.cumsum(count) - 1]]
    on = ops.ranges.thread[forward][order]
    begin = np.cumsum(count) - count
    one_thread = np.minimum.reduceat(on, begin) == np.maximum.reduceat(on, begin)
    wanted, row = np.unique(ops.sequence[backward], return_index=True)
    place = np.minimum(np.searchsorted(made, wanted), len(made) - 1)
    matched = (made[place] == wanted) & one_thread[place]
    return last[place[matched]], backward[row[matched]]


def _nothing() -> tuple[Ints, Ints]:
    return np.empty(0, np.int64), np.empty(0, np.int64)

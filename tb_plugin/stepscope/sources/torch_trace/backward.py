"""Which backward op comes of which forward op."""

from __future__ import annotations

import numpy as np

from stepscope.model.columns import Array
from stepscope.sources.torch_trace.columns import EventColumns
from stepscope.sources.torch_trace.ops import OpTree

_ENGINE = "autograd::engine::evaluate_function"
"""The engine's call around a backward op, which has the op's sequence number too."""


def forward_backward(columns: EventColumns, thread: Array, ops: OpTree) -> tuple[Array, Array]:
    """Forward ops and the backward op that each leads to.

    The trace's arrows say so. A trace without them has sequence numbers.
    """
    forward, backward = arrow_links(columns, thread, ops)
    if len(forward):
        return forward, backward
    return sequence_links(columns, ops)


def arrow_links(columns: EventColumns, thread: Array, ops: OpTree) -> tuple[Array, Array]:
    """Links by arrows. Arrows with one end are normal, and lead nowhere."""
    arrows = columns.arrows
    if not len(arrows) or not len(ops.name):
        return _nothing()
    arrows = arrows.only(~arrows["to_device"])
    if not len(arrows):
        return _nothing()
    op = ops.op_around(thread[arrows["thread"]], arrows["start"])
    is_end, identity = arrows["is_end"], arrows["id"].astype(np.int64)
    begin = np.full(int(identity.max()) + 1, -1, np.int64)
    begin[identity[~is_end]] = op[~is_end]
    forward, backward = begin[identity[is_end]], op[is_end]
    has_both = (forward >= 0) & (backward >= 0)
    return forward[has_both], backward[has_both]


def sequence_links(columns: EventColumns, ops: OpTree) -> tuple[Array, Array]:
    """Links by sequence number.

    Several forward ops have a number, since it is that of the next node to be made: the last to start made it. Threads
    count on their own, so a number that forward ops of two threads have is left out.
    """
    names = columns.names.values()
    is_engine = np.fromiter((name.startswith(_ENGINE) for name in names), bool, len(names))[
        ops.name
    ]
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


def _nothing() -> tuple[Array, Array]:
    return np.empty(0, np.int64), np.empty(0, np.int64)

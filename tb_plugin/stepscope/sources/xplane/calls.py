"""The events of a host's lanes as a tree of calls."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from stepscope.model.arrays import I64, Bools
from stepscope.model.diagnostic import Diagnostic
from stepscope.model.profile import NodeKind
from stepscope.sources.torch_trace.trees import (
    clipped_ends,
    nearest,
    nest,
    nesting_order,
    paths,
    self_time,
)
from stepscope.sources.xplane.ops import OpInfo
from stepscope.sources.xplane.tables import Tables
from stepscope.sources.xplane.timing import Timing

_PS_PER_US = 1_000_000


@dataclass(frozen=True)
class Calls:
    """Executions by lane and start, in picoseconds since the base of a timing.

    Attributes:
        infos: The distinct ops.
        info: The op of each execution, in `infos`.
        trace: Where each execution was called.
        parent: The execution around each execution, -1 at the top.
        losses: What was cut.
    """

    infos: list[OpInfo]
    lane: I64
    start: I64
    duration: I64
    self_duration: I64
    info: I64
    trace: I64
    parent: I64
    losses: tuple[Diagnostic, ...]


@dataclass(frozen=True)
class _Events:
    """Events of all lanes, in nesting order."""

    infos: list[OpInfo]
    lane: I64
    start: I64
    end: I64
    info: I64

    def has_kind(self, kind: NodeKind | None) -> Bools:
        """Which events are of a kind; None for Python calls."""
        of_kind = [info.kind is kind for info in self.infos] or [False]
        return np.array(of_kind, np.bool_)[self.info]


def read_calls(timing: Timing, tables: Tables) -> Calls:
    """The calls of all lanes. Python calls become the traces of what they call."""
    events = _events(timing)
    parent = _around(events.lane, events.start, events.end)
    # Kernels of a stream that overlap do not call each other.
    parent = np.where(events.has_kind(NodeKind.DEVICE), -1, parent)
    end = clipped_ends(parent, events.start, events.end)
    losses = _clipped_losses(events, end)

    is_frame = events.has_kind(None)
    trace = _traces(events, parent, is_frame, tables)
    rows = np.flatnonzero(~is_frame)
    number = np.append(np.cumsum(~is_frame) - 1, -1)
    above = rows
    if len(rows):
        above = number[nearest(parent[rows], parent, ~is_frame)]

    duration = (end - events.start)[rows]
    # Calls of the runtime count toward the op around them.
    is_runtime = events.has_kind(NodeKind.RUNTIME)[rows]
    self_duration = self_time(np.where(is_runtime, -1, above), duration)
    return Calls(
        infos=events.infos,
        lane=events.lane[rows],
        start=events.start[rows],
        duration=duration,
        self_duration=self_duration,
        info=events.info[rows],
        trace=trace[rows],
        parent=above,
        losses=losses,
    )


def _events(timing: Timing) -> _Events:
    numbers: dict[OpInfo, int] = {}
    lanes = [np.empty(0, np.int64)]
    starts = [np.empty(0, np.int64)]
    durations = [np.empty(0, np.int64)]
    infos = [np.empty(0, np.int64)]
    for position, (_, lane) in enumerate(timing.lanes):
        index = [numbers.setdefault(info, len(numbers)) for info in lane.infos]
        lanes.append(np.full(len(lane.start), position, np.int64))
        starts.append(lane.start + timing.shift_ps(lane.timestamp_ns))
        durations.append(lane.duration)
        infos.append(np.array(index, np.int64)[lane.info])
    lane_of = np.concatenate(lanes)
    start = np.concatenate(starts)
    end = start + np.concatenate(durations)
    order = nesting_order(lane_of, start, end)
    return _Events(
        infos=list(numbers),
        lane=lane_of[order],
        start=start[order],
        end=end[order],
        info=np.concatenate(infos)[order],
    )


def _around(lane: I64, start: I64, end: I64) -> I64:
    """The event around each event, -1 for none.

    Lanes that hold one event after the other, as those of devices do, are quick.
    """
    parent = np.full(len(lane), -1, np.int64)
    overlaps = (lane[1:] == lane[:-1]) & (start[1:] < end[:-1])
    rows = np.flatnonzero(np.isin(lane, lane[1:][overlaps]))
    inner = nest(lane[rows], start[rows], end[rows])
    parent[rows] = np.where(inner >= 0, rows[inner], -1)
    return parent


def _clipped_losses(events: _Events, end: I64) -> tuple[Diagnostic, ...]:
    """What is said of events that end after the event around them."""
    excess = events.end - end
    count = int(np.count_nonzero(excess))
    if not count:
        return ()
    largest = int(excess.argmax())
    name = events.infos[events.info[largest]].name
    subject = "1 host event outlasts the event around and is"
    if count > 1:
        subject = f"{count} host events outlast the event around and are"
    excess_us = excess[largest] / _PS_PER_US
    what = f"{subject} cut to its end, the most by {excess_us:,.3f} us: {name}"
    remedy = "Nothing to do where threads hand work over within an event"
    return (Diagnostic(where="host threads", what=what, count=count, remedy=remedy),)


def _traces(events: _Events, parent: I64, is_frame: Bools, tables: Tables) -> I64:
    """The trace of each event: that of its op, or the Python calls around it."""
    trace_of_info = [-1]
    if events.infos:
        trace_of_info = [_trace_of_op(info, tables) for info in events.infos]
    trace: I64 = np.array(trace_of_info, np.int64)[events.info]
    rows = np.flatnonzero(is_frame)
    if not len(rows):
        return trace

    number = np.append(np.cumsum(is_frame) - 1, -1)
    tree = paths(number[nearest(parent[rows], parent, is_frame)], events.info[rows])
    made = np.full(len(tree) + 1, -1, np.int64)
    for path, (above, key) in enumerate(zip(tree.parent.tolist(), tree.key.tolist(), strict=True)):
        made[path] = tables.trace(int(made[above]), events.infos[key].frames)
    around = np.append(made[tree.of], -1)[number[nearest(parent, parent, is_frame)]]
    return np.where(trace >= 0, trace, around)


def _trace_of_op(info: OpInfo, tables: Tables) -> int:
    """The trace of an op's own frames, -1 for a Python call."""
    if info.kind is None:
        return -1
    return tables.trace(-1, info.frames)

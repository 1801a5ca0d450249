"""Occurrences of collectives: a send and its recv-done with what lies between them, in exact picoseconds.

            |send|   t1   |send-done|   t2   |recv|   t3   |recv-done|
    stall    ****          *********          ****          *********
    slack         ========           ========      ========
    observed ---------------------------------------------------------

Slack is what lies between the send's end and the recv-done's start, less the time in which the core executes
cross-slice ops of any collective. Stall is the time of the four ops, wherever the scheduler put them.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from stepscope.lenses.dcn.pairing import Flags, pair
from stepscope.model.arrays import I64
from stepscope.model.collectives import Collectives, Identity, OpKind


@dataclass(frozen=True)
class Occurrences:
    """Occurrences, one per row, by core and in order of the send. Times are relative to the core's base.

    Attributes:
        core: In the record's cores.
        key: Which collective of which program; see `Keys`.
        send_instruction: In the record's instructions; also `recv_done_instruction`.
        send_done_ps: 0 where the occurrence has none; also `recv_ps`.
        has_send_done: Whether the profile holds its send-done; also `has_recv`.
        slack_own_ops_only_ps: Slack less the occurrence's own ops only.
    """

    core: I64
    key: I64
    execution: I64
    send_instruction: I64
    recv_done_instruction: I64
    send_start_ps: I64
    send_done_start_ps: I64
    recv_start_ps: I64
    recv_done_start_ps: I64
    send_ps: I64
    send_done_ps: I64
    recv_ps: I64
    recv_done_ps: I64
    slack_ps: I64
    slack_own_ops_only_ps: I64
    has_send_done: Flags
    has_recv: Flags

    def __len__(self) -> int:
        return len(self.core)

    @property
    def stall_ps(self) -> I64:
        """Time of the four ops."""
        return self.send_ps + self.send_done_ps + self.recv_ps + self.recv_done_ps

    @property
    def observed_ps(self) -> I64:
        """From the send's start to the recv-done's end."""
        return self.recv_done_start_ps + self.recv_done_ps - self.send_start_ps

    def take(self, rows: I64 | Flags) -> Occurrences:
        """Some of the occurrences."""
        return Occurrences(**{f.name: getattr(self, f.name)[rows] for f in dataclasses.fields(self)})


@dataclass(frozen=True)
class CoreCounts:
    """What the tables of a core leave out, per core of the record."""

    unmatched_sends: I64
    unmatched_recv_dones: I64
    dcn_ops: I64
    dcn_ops_without_hlo: I64
    dcn_ops_unidentified: I64
    dcn_ops_outside_modules: I64


class Keys:
    """Numbers for collectives: a program and a rendezvous."""

    def __init__(self) -> None:
        self.names: dict[tuple[str, str], int] = {}

    def of_instructions(self, record: Collectives) -> I64:
        """The key of each of a record's instructions, -1 where its rendezvous is unknown."""
        texts = list(record.strings)
        rows = zip(record.instructions.program.tolist(), record.instructions.rendezvous.tolist(), strict=True)
        keys = [-1 if r < 0 else self._key(texts[p] if p >= 0 else "", texts[r]) for p, r in rows]
        return np.array(keys, np.int64)

    def _key(self, program: str, rendezvous: str) -> int:
        return self.names.setdefault((program, rendezvous), len(self.names))


def find_occurrences(record: Collectives, keys: Keys) -> tuple[Occurrences, CoreCounts]:
    """Finds the occurrences of a record. Ops of different module executions never belong together."""
    ops = _in_order(record)
    key = keys.of_instructions(record)[ops.instruction] if len(record.instructions) else np.empty(0, np.int64)
    kind = record.instructions.kind[ops.instruction] if len(record.instructions) else np.empty(0, np.int8)
    known, inside = key >= 0, ops.execution >= 0
    group = np.where(known & inside, ops.execution * (len(keys.names) + 1) + key, -1)
    is_kind = {k: (kind == k) & (group >= 0) for k in OpKind}
    whole = pair(group, is_kind[OpKind.SEND], is_kind[OpKind.RECV_DONE])
    sends = pair(group, is_kind[OpKind.SEND], is_kind[OpKind.SEND_DONE])
    recvs = pair(group, is_kind[OpKind.RECV], is_kind[OpKind.RECV_DONE])
    order = np.argsort(whole.opened, kind="stable")
    send, recv_done = whole.opened[order], whole.closed[order]
    size = len(ops.start)
    send_done = _partner(size, sends.opened, sends.closed)[send]
    recv = _partner(size, recvs.closed, recvs.opened)[recv_done]
    found = _measure(ops, key, send, send_done, recv, recv_done)
    alone = {k: np.flatnonzero(known & ~inside & (kind == k)) for k in (OpKind.SEND, OpKind.RECV_DONE)}
    counted = (
        np.concatenate([whole.alone_openers, alone[OpKind.SEND]]),
        np.concatenate([whole.alone_closers, alone[OpKind.RECV_DONE]]),
        np.arange(size),
        np.flatnonzero(_identity(record, ops) != Identity.HLO),
        np.flatnonzero(~known),
        np.flatnonzero(~inside),
    )
    return found, CoreCounts(*(np.bincount(ops.core[rows], minlength=len(record.cores)) for rows in counted))


@dataclass(frozen=True)
class _Ops:
    core: I64
    instruction: I64
    execution: I64
    start: I64
    duration: I64


def _in_order(record: Collectives) -> _Ops:
    """The ops by core and start; records hold them so, but a hand-made one may not."""
    ops = record.ops
    names = ("core", "instruction", "execution", "start_ps", "duration_ps")
    columns = [getattr(ops, name).astype(np.int64, copy=False) for name in names]
    core, start = columns[0], columns[3]
    backward = (np.diff(core) < 0) | ((np.diff(core) == 0) & (np.diff(start) < 0))
    if backward.any():
        order = np.lexsort((start, core))
        columns = [column[order] for column in columns]
    return _Ops(*columns)


def _identity(record: Collectives, ops: _Ops) -> NDArray[np.int8]:
    return record.instructions.identity[ops.instruction] if len(record.instructions) else np.empty(0, np.int8)


def _partner(size: int, rows: I64, partners: I64) -> I64:
    column = np.full(size, -1, np.int64)
    column[rows] = partners
    return column


def _measure(ops: _Ops, key: I64, send: I64, send_done: I64, recv: I64, recv_done: I64) -> Occurrences:
    has_send_done, has_recv = send_done >= 0, recv >= 0
    end = ops.start + ops.duration
    first, last = end[send], ops.start[recv_done]
    window = np.maximum(last - first, 0)
    own = _own_time(ops.start, end, first, last, (send_done, recv))
    return Occurrences(
        core=ops.core[send],
        key=key[send],
        execution=ops.execution[send],
        send_instruction=ops.instruction[send],
        recv_done_instruction=ops.instruction[recv_done],
        send_start_ps=ops.start[send],
        send_done_start_ps=_of(ops.start, send_done),
        recv_start_ps=_of(ops.start, recv),
        recv_done_start_ps=ops.start[recv_done],
        send_ps=ops.duration[send],
        send_done_ps=_of(ops.duration, send_done),
        recv_ps=_of(ops.duration, recv),
        recv_done_ps=ops.duration[recv_done],
        slack_ps=np.maximum(window - _busy_time(ops, end, ops.core[send], first, last), 0),
        slack_own_ops_only_ps=window - own,
        has_send_done=has_send_done,
        has_recv=has_recv,
    )


def _of(column: I64, rows: I64) -> I64:
    """The values of rows, 0 for the rows that are -1."""
    return np.where(rows >= 0, column[rows], 0) if len(column) else np.zeros(len(rows), np.int64)


def _own_time(start: I64, end: I64, first: I64, last: I64, own: Sequence[I64]) -> I64:
    """How much of each window the two own ops take, together where they overlap."""
    spans = []
    for rows in own:
        there = rows >= 0
        low = np.where(there, np.maximum(_of(start, rows), first), last)
        spans.append((low, np.where(there, np.minimum(_of(end, rows), last), last)))
    (a0, a1), (b0, b1) = spans
    both = np.minimum(a1, b1) - np.maximum(a0, b0)
    own_time: I64 = np.maximum(a1 - a0, 0) + np.maximum(b1 - b0, 0) - np.maximum(both, 0)
    return own_time


def _busy_time(ops: _Ops, end: I64, core: I64, first: I64, last: I64) -> I64:
    """How much of each window its core spends in ops of any collective."""
    busy = np.zeros(len(first), np.int64)
    for mine, window in _by_core(ops.core, core):
        start, stop, before = _union(ops.start[mine], end[mine])
        busy[window] = _covered(start, stop, before, last[window]) - _covered(start, stop, before, first[window])
    return np.maximum(busy, 0)


def _by_core(op_core: I64, window_core: I64) -> Iterator[tuple[slice, slice]]:
    """The slices of ops and of windows of each core; both are sorted by core."""
    for core in np.unique(window_core).tolist():
        yield (
            slice(*np.searchsorted(op_core, (core, core + 1)).tolist()),
            slice(*np.searchsorted(window_core, (core, core + 1)).tolist()),
        )


def _union(start: I64, end: I64) -> tuple[I64, I64, I64]:
    """The union of intervals that are sorted by start: starts, ends, and the length before each."""
    if (start[1:] > end[:-1]).all():
        return start, end, np.cumsum(end - start) - (end - start)
    reach = np.maximum.accumulate(end)
    fresh = np.concatenate([[True], start[1:] > reach[:-1]])
    begin = np.flatnonzero(fresh)
    stop = reach[np.append(begin[1:] - 1, len(start) - 1)]
    length = stop - start[begin]
    return start[begin], stop, np.cumsum(length) - length


def _covered(start: I64, stop: I64, before: I64, time: I64) -> I64:
    """The length of the union before a time."""
    place = np.searchsorted(start, time, side="right") - 1
    inside = np.minimum(time, stop[place]) - start[place] + before[place]
    return np.where(place >= 0, inside, 0)

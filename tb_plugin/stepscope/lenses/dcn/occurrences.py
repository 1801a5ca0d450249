"""Occurrences of collectives: a send, its recv-done and the ops between, in exact picoseconds.

            |send|   t1   |send-done|   t2   |recv|   t3   |recv-done|
    stall    ****          *********          ****          *********
    slack         ========           ========      ========
    observed ---------------------------------------------------------

Slack is the time between the send's end and the recv-done's start, less the time in which the core
executes cross-slice ops of any collective. Stall is the time of the four ops, wherever the
scheduler put them.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from stepscope.lenses.dcn.pairing import Flags, Pairs, pair
from stepscope.model.arrays import I64
from stepscope.model.collectives import Collectives, Identity, OpKind


@dataclass(frozen=True)
class Occurrences:
    """Occurrences, one per row, by core and send. Times are relative to the core's base.

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
        columns = {f.name: getattr(self, f.name)[rows] for f in dataclasses.fields(self)}
        return Occurrences(**columns)


@dataclass(frozen=True)
class CoreCounts:
    """Ops that the tables of a core leave out, per core of the record."""

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
        programs = record.instructions.program.tolist()
        rendezvous_names = record.instructions.rendezvous.tolist()
        keys = []
        for program, rendezvous in zip(programs, rendezvous_names, strict=True):
            if rendezvous < 0:
                keys.append(-1)
            elif program < 0:
                keys.append(self._key("", texts[rendezvous]))
            else:
                keys.append(self._key(texts[program], texts[rendezvous]))
        return np.array(keys, np.int64)

    def _key(self, program: str, rendezvous: str) -> int:
        return self.names.setdefault((program, rendezvous), len(self.names))


def find_occurrences(record: Collectives, keys: Keys) -> tuple[Occurrences, CoreCounts]:
    """Finds the occurrences of a record. An occurrence is within one module execution."""
    ops = _ordered_ops(record, keys)
    is_identified = ops.key >= 0
    is_in_module = ops.execution >= 0
    can_be_paired = is_identified & is_in_module

    group = ops.execution * (len(keys.names) + 1) + ops.key
    group = np.where(can_be_paired, group, -1)
    is_kind = {kind: (ops.kind == kind) & can_be_paired for kind in OpKind}
    whole = pair(group, is_kind[OpKind.SEND], is_kind[OpKind.RECV_DONE])
    sends = pair(group, is_kind[OpKind.SEND], is_kind[OpKind.SEND_DONE])
    recvs = pair(group, is_kind[OpKind.RECV], is_kind[OpKind.RECV_DONE])

    is_outside = is_identified & ~is_in_module
    outside_sends = np.flatnonzero(is_outside & (ops.kind == OpKind.SEND))
    outside_recv_dones = np.flatnonzero(is_outside & (ops.kind == OpKind.RECV_DONE))
    counts = CoreCounts(
        unmatched_sends=ops.count_per_core(np.append(whole.alone_openers, outside_sends)),
        unmatched_recv_dones=ops.count_per_core(np.append(whole.alone_closers, outside_recv_dones)),
        dcn_ops=ops.count_per_core(np.arange(len(ops.core))),
        dcn_ops_without_hlo=ops.count_per_core(np.flatnonzero(ops.identity != Identity.HLO)),
        dcn_ops_unidentified=ops.count_per_core(np.flatnonzero(~is_identified)),
        dcn_ops_outside_modules=ops.count_per_core(np.flatnonzero(~is_in_module)),
    )
    return _measure(ops, _transfers(ops, whole, sends, recvs)), counts


@dataclass(frozen=True)
class _Ops:
    """Cross-slice ops by core and start, with what their instructions say."""

    cores: int
    core: I64
    instruction: I64
    execution: I64
    start_ps: I64
    duration_ps: I64
    key: I64
    kind: NDArray[np.int8]
    identity: NDArray[np.int8]

    @property
    def end_ps(self) -> I64:
        return self.start_ps + self.duration_ps

    def count_per_core(self, rows: I64) -> I64:
        return np.bincount(self.core[rows], minlength=self.cores)


def _ordered_ops(record: Collectives, keys: Keys) -> _Ops:
    columns = record.ops
    core = columns.core.astype(np.int64, copy=False)
    start_ps = columns.start_ps.astype(np.int64, copy=False)
    # Readers write the ops in this order. A hand-made record may not, and sorting always is slow.
    is_backward = (np.diff(core) < 0) | ((np.diff(core) == 0) & (np.diff(start_ps) < 0))
    order: slice | I64 = slice(None)
    if is_backward.any():
        order = np.lexsort((start_ps, core))

    instructions = record.instructions
    instruction = columns.instruction.astype(np.int64, copy=False)[order]
    return _Ops(
        cores=len(record.cores),
        core=core[order],
        instruction=instruction,
        execution=columns.execution.astype(np.int64, copy=False)[order],
        start_ps=start_ps[order],
        duration_ps=columns.duration_ps.astype(np.int64, copy=False)[order],
        key=keys.of_instructions(record)[instruction],
        kind=instructions.kind[instruction],
        identity=instructions.identity[instruction],
    )


@dataclass(frozen=True)
class _Transfer:
    """The four ops of each occurrence, as rows of the ops; -1 where the profile has none."""

    send: I64
    send_done: I64
    recv: I64
    recv_done: I64


def _transfers(ops: _Ops, whole: Pairs, sends: Pairs, recvs: Pairs) -> _Transfer:
    order = np.argsort(whole.opened, kind="stable")
    send = whole.opened[order]
    recv_done = whole.closed[order]
    send_done_of = np.full(len(ops.core), -1, np.int64)
    send_done_of[sends.opened] = sends.closed
    recv_of = np.full(len(ops.core), -1, np.int64)
    recv_of[recvs.closed] = recvs.opened
    return _Transfer(
        send=send,
        send_done=send_done_of[send],
        recv=recv_of[recv_done],
        recv_done=recv_done,
    )


def _measure(ops: _Ops, transfer: _Transfer) -> Occurrences:
    core = ops.core[transfer.send]
    window = _Span(
        start_ps=ops.end_ps[transfer.send],
        end_ps=ops.start_ps[transfer.recv_done],
    )
    own_ops_ps = _own_time(ops, transfer, window)
    all_ops_ps = _busy_time(ops, core, window)
    return Occurrences(
        core=core,
        key=ops.key[transfer.send],
        execution=ops.execution[transfer.send],
        send_instruction=ops.instruction[transfer.send],
        recv_done_instruction=ops.instruction[transfer.recv_done],
        send_start_ps=ops.start_ps[transfer.send],
        send_done_start_ps=_values(ops.start_ps, transfer.send_done),
        recv_start_ps=_values(ops.start_ps, transfer.recv),
        recv_done_start_ps=ops.start_ps[transfer.recv_done],
        send_ps=ops.duration_ps[transfer.send],
        send_done_ps=_values(ops.duration_ps, transfer.send_done),
        recv_ps=_values(ops.duration_ps, transfer.recv),
        recv_done_ps=ops.duration_ps[transfer.recv_done],
        slack_ps=np.maximum(window.length_ps - all_ops_ps, 0),
        slack_own_ops_only_ps=window.length_ps - own_ops_ps,
        has_send_done=transfer.send_done >= 0,
        has_recv=transfer.recv >= 0,
    )


def _values(column: I64, rows: I64) -> I64:
    """The values of rows, 0 for the rows that are -1."""
    if not len(column):
        return np.zeros(len(rows), np.int64)
    return np.where(rows >= 0, column[rows], 0)


@dataclass(frozen=True)
class _Span:
    """One stretch of time per row; one that ends before it starts is empty."""

    start_ps: I64
    end_ps: I64

    @property
    def length_ps(self) -> I64:
        length_ps: I64 = np.maximum(self.end_ps - self.start_ps, 0)
        return length_ps

    def common_with(self, other: _Span) -> _Span:
        start_ps = np.maximum(self.start_ps, other.start_ps)
        return _Span(start_ps, np.minimum(self.end_ps, other.end_ps))


def _own_time(ops: _Ops, transfer: _Transfer, window: _Span) -> I64:
    """Time of each window that its send-done and its recv take, counted once where they overlap."""
    send_done = _span_within(ops, transfer.send_done, window)
    recv = _span_within(ops, transfer.recv, window)
    both_ps = send_done.common_with(recv).length_ps
    own_ps: I64 = send_done.length_ps + recv.length_ps - both_ps
    return own_ps


def _span_within(ops: _Ops, rows: I64, window: _Span) -> _Span:
    """The part of each op within its window, empty for the rows that are -1."""
    span = _Span(_values(ops.start_ps, rows), _values(ops.end_ps, rows)).common_with(window)
    exists = rows >= 0
    return _Span(
        start_ps=np.where(exists, span.start_ps, window.end_ps),
        end_ps=np.where(exists, span.end_ps, window.end_ps),
    )


def _busy_time(ops: _Ops, core: I64, window: _Span) -> I64:
    """Time of each window in which its core executes ops of any collective."""
    busy_ps = np.zeros(len(core), np.int64)
    end_ps = ops.end_ps
    for op_rows, windows in _by_core(ops.core, core):
        busy = _Union.of_sorted(ops.start_ps[op_rows], end_ps[op_rows])
        before_end = busy.length_before(window.end_ps[windows])
        before_start = busy.length_before(window.start_ps[windows])
        busy_ps[windows] = before_end - before_start
    return np.maximum(busy_ps, 0)


def _by_core(op_core: I64, window_core: I64) -> Iterator[tuple[slice, slice]]:
    """The slices of ops and of windows of each core; both are sorted by core."""
    for core in np.unique(window_core).tolist():
        ops = np.searchsorted(op_core, (core, core + 1)).tolist()
        windows = np.searchsorted(window_core, (core, core + 1)).tolist()
        yield slice(*ops), slice(*windows)


@dataclass(frozen=True)
class _Union:
    """A union of intervals as disjoint pieces, with the total length before each."""

    start: I64
    stop: I64
    before: I64

    @staticmethod
    def of_sorted(start: I64, end: I64) -> _Union:
        """The union of intervals that are sorted by start."""
        # Ops of a core rarely overlap: then they are the pieces.
        if (start[1:] > end[:-1]).all():
            return _Union(start, end, np.cumsum(end - start) - (end - start))
        reach = np.maximum.accumulate(end)
        begins_piece = np.concatenate([[True], start[1:] > reach[:-1]])
        begin = np.flatnonzero(begins_piece)
        stop = reach[np.append(begin[1:] - 1, len(start) - 1)]
        length = stop - start[begin]
        return _Union(start[begin], stop, np.cumsum(length) - length)

    def length_before(self, time: I64) -> I64:
        """The length of the union before each time."""
        piece = np.searchsorted(self.start, time, side="right") - 1
        length = np.minimum(time, self.stop[piece]) - self.start[piece] + self.before[piece]
        return np.where(piece >= 0, length, 0)

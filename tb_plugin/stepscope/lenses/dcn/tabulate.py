"""Occurrences of all records in one place, and sums over any part of them."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from stepscope.lenses.dcn.occurrences import CoreCounts, Keys, Occurrences, find_occurrences
from stepscope.lenses.dcn.pairing import Flags, stable_order
from stepscope.lenses.dcn.rows import FIGURES, Row
from stepscope.model.arrays import I64
from stepscope.model.collectives import Collectives

COUNTERS = tuple(f.name for f in dataclasses.fields(CoreCounts))


@dataclass(frozen=True)
class Core:
    """A core of the pool.

    Attributes:
        counters: Ops that the tables leave out, by the names of `CoreCounts`.
        base_ns: The time that the core's times are relative to.
    """

    host: str
    id: int
    name: str
    base_ns: int
    window_ps: tuple[int, int]
    counters: dict[str, int]


@dataclass(frozen=True)
class Op:
    """An instruction. 0 and -1 are unknown, as in the record."""

    name: str
    transfer_type: str
    payload_bytes: int
    group_size: int


@dataclass(frozen=True)
class Pool:
    """The occurrences of several records. Cores and instructions are those of the pool.

    Attributes:
        names: Program and rendezvous of each key.
        rank: Place of each key when sorted by program and rendezvous.
        hosts: Names of all hosts in order, also of those without cores.
    """

    occurrences: Occurrences
    cores: tuple[Core, ...]
    ops: tuple[Op, ...]
    names: tuple[tuple[str, str], ...]
    rank: I64
    hosts: tuple[str, ...]

    def tables(self, chosen: Flags) -> list[tuple[Row, ...]]:
        """For each core one row per collective over the chosen occurrences, by name."""
        tables: list[list[Row]] = [[] for _ in self.cores]
        occurrences = self.occurrences
        # Most calls choose everything, and a copy of millions of rows takes a while.
        if not chosen.all():
            occurrences = occurrences.take(chosen)
        if len(occurrences):
            code = occurrences.core * len(self.names) + self.rank[occurrences.key]
            order = stable_order(code)
            first = np.flatnonzero(np.diff(code[order], prepend=-1))
            for core, row in self._rows(occurrences.take(order), first):
                tables[core].append(row)
        return [tuple(rows) for rows in tables]

    def _rows(self, occurrences: Occurrences, first: I64) -> Iterator[tuple[int, Row]]:
        """The core and the row of each run of the occurrences; the runs start at `first`."""
        counts = np.diff(np.append(first, len(occurrences)))
        sums: dict[str, I64] = {}
        for figure in _SUMMED:
            values = getattr(occurrences, f"{figure}_ps")
            sums[f"{figure}_total_ps"] = np.add.reduceat(values, first)
        has_op = {"recv": occurrences.has_recv, "send_done": occurrences.has_send_done}
        for name in has_op:
            missing = np.add.reduceat(~has_op[name], first, dtype=np.int64)
            sums[f"occurrences_missing_{name}"] = missing

        sends = self._ops_of_runs(occurrences.send_instruction, first)
        recvs = self._ops_of_runs(occurrences.recv_done_instruction, first)
        for i, at in enumerate(first.tolist()):
            program, rendezvous = self.names[int(occurrences.key[at])]
            figures: dict[str, Any] = {name: int(column[i]) for name, column in sums.items()}
            row = Row(
                program=program,
                rendezvous=rendezvous,
                occurrences=int(counts[i]),
                **_described(sends[i], recvs[i]),
                **figures,
            )
            yield int(occurrences.core[at]), row

    def _ops_of_runs(self, instruction: I64, first: I64) -> list[list[Op]]:
        """The distinct ops of each run in order of first use; nearly always one."""
        lowest = np.minimum.reduceat(instruction, first)
        highest = np.maximum.reduceat(instruction, first)
        ends = np.append(first[1:], len(instruction))
        ops = [[self.ops[i]] for i in lowest.tolist()]
        for run in np.flatnonzero(lowest != highest).tolist():
            of_run = instruction[first[run] : ends[run]]
            distinct, first_use = np.unique(of_run, return_index=True)
            ops[run] = [self.ops[i] for i in distinct[np.argsort(first_use)].tolist()]
        return ops


def _described(sends: Sequence[Op], recvs: Sequence[Op]) -> dict[str, Any]:
    """The op fields of a row; where several ops differ, the first that knows the value."""
    ops = [*sends, *recvs]
    types = [op.transfer_type for op in ops if op.transfer_type]
    sizes = [op.payload_bytes for op in recvs if op.payload_bytes >= 0]
    groups = [op.group_size for op in ops if op.group_size]
    return {
        "send_op": sends[0].name,
        "recv_op": recvs[0].name,
        "transfer_type": next(iter(types), None),
        "payload_bytes": next(iter(sizes), None),
        "group_size": next(iter(groups), None),
    }


_SUMMED = ("slack_own_ops_only", *FIGURES)


def pool(records: Sequence[Collectives]) -> Pool:
    """Puts records together. A core that is in two records is one core with the sums of both."""
    keys = Keys()
    parts: list[Occurrences] = []
    ops: list[Op] = []
    cores: dict[tuple[str, int], Core] = {}
    hosts: dict[str, None] = {}
    for record in records:
        texts = list(record.strings)
        for name in record.hosts.name.tolist():
            hosts[texts[name]] = None
        occurrences, counts = find_occurrences(record, keys)
        record_cores = _cores(record, texts, counts)
        for core in record_cores:
            _add_core(cores, core)

        places = {identity: place for place, identity in enumerate(cores)}
        place_of_core = [places[core.host, core.id] for core in record_cores]
        parts.append(_in_pool(occurrences, np.array(place_of_core, np.int64), len(ops)))
        ops += _ops(record, texts)

    names = tuple(keys.names)
    ordered = sorted(range(len(names)), key=names.__getitem__)
    return Pool(
        occurrences=_joined(parts),
        cores=tuple(cores.values()),
        ops=tuple(ops),
        names=names,
        rank=np.argsort(np.array(ordered, np.int64)),
        hosts=tuple(hosts),
    )


def _cores(record: Collectives, texts: Sequence[str], counts: CoreCounts) -> list[Core]:
    columns = record.cores
    cores = []
    for i in range(len(columns)):
        core = Core(
            host=texts[record.hosts.name[columns.host[i]]],
            id=int(columns.id[i]),
            name=_text(texts, columns.name[i]),
            base_ns=int(columns.base_ns[i]),
            window_ps=(int(columns.window_start_ps[i]), int(columns.window_end_ps[i])),
            counters={name: int(getattr(counts, name)[i]) for name in COUNTERS},
        )
        cores.append(core)
    return cores


def _add_core(cores: dict[tuple[str, int], Core], core: Core) -> None:
    """Adds a core; one that is there already gets the counters of both."""
    identity = (core.host, core.id)
    known = cores.get(identity)
    if known is None:
        cores[identity] = core
        return
    counters = {name: known.counters[name] + core.counters[name] for name in COUNTERS}
    cores[identity] = dataclasses.replace(known, counters=counters)


def _ops(record: Collectives, texts: Sequence[str]) -> list[Op]:
    rows = record.instructions
    ops = []
    for i in range(len(rows)):
        op = Op(
            name=texts[rows.name[i]],
            transfer_type=_text(texts, rows.transfer_type[i]),
            payload_bytes=int(rows.payload_bytes[i]),
            group_size=int(rows.group_size[i]),
        )
        ops.append(op)
    return ops


def _text(texts: Sequence[str], index: int) -> str:
    """A string of the record, empty where the index is -1."""
    if index < 0:
        return ""
    return texts[index]


def _in_pool(occurrences: Occurrences, core: I64, first_op: int) -> Occurrences:
    """Occurrences of a record with the cores and instructions of the pool."""
    return dataclasses.replace(
        occurrences,
        core=core[occurrences.core],
        send_instruction=occurrences.send_instruction + first_op,
        recv_done_instruction=occurrences.recv_done_instruction + first_op,
    )


def _joined(parts: Sequence[Occurrences]) -> Occurrences:
    columns: dict[str, Any] = {}
    for field in dataclasses.fields(Occurrences):
        # Without records a column still needs a type.
        empty: I64 | Flags = np.empty(0, np.int64)
        if field.name in ("has_send_done", "has_recv"):
            empty = np.empty(0, np.bool_)
        of_parts = [getattr(part, field.name) for part in parts]
        columns[field.name] = np.concatenate([empty, *of_parts])
    return Occurrences(**columns)

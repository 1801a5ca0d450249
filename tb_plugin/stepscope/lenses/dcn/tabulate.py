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
        counters: What the tables leave out, by the names of `CoreCounts`.
        base_ns: What its times are relative to.
    """

    host: str
    id: int
    name: str
    base_ns: int
    window_ps: tuple[int, int]
    counters: dict[str, int]


@dataclass(frozen=True)
class Op:
    """What is known of an instruction. 0 and -1 are unknown, as in the record."""

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
        """For each core one row per collective over the chosen occurrences, by program and rendezvous."""
        found = self.occurrences if chosen.all() else self.occurrences.take(chosen)
        keys = len(self.names)
        code = found.core * keys + self.rank[found.key] if keys else found.key
        order = stable_order(code)
        first = np.flatnonzero(np.diff(code[order], prepend=-1))
        tables: list[list[Row]] = [[] for _ in self.cores]
        for at, row in zip(order[first].tolist(), self._rows(found, order, first), strict=True):
            tables[int(found.core[at])].append(row)
        return [tuple(rows) for rows in tables]

    def _rows(self, found: Occurrences, order: I64, first: I64) -> Iterator[Row]:
        """A row per run of the order; the runs start at `first`."""
        if not len(first):
            return
        counts = np.diff(np.append(first, len(order)))
        sums = {f"{f}_total_ps": np.add.reduceat(getattr(found, f"{f}_ps")[order], first) for f in _SUMMED}
        for name, flags in (("recv", found.has_recv), ("send_done", found.has_send_done)):
            sums[f"occurrences_missing_{name}"] = np.add.reduceat(~flags[order], first, dtype=np.int64)
        sends = self._ops_of_runs(found.send_instruction[order], first)
        recvs = self._ops_of_runs(found.recv_done_instruction[order], first)
        for i, at in enumerate(order[first].tolist()):
            program, rendezvous = self.names[int(found.key[at])]
            figures: dict[str, Any] = {name: int(column[i]) for name, column in sums.items()}
            yield Row(program, rendezvous, occurrences=int(counts[i]), **_known(sends[i], recvs[i]), **figures)

    def _ops_of_runs(self, instruction: I64, first: I64) -> list[list[Op]]:
        """The distinct ops of each run in order of first use; nearly always one."""
        low, high = np.minimum.reduceat(instruction, first), np.maximum.reduceat(instruction, first)
        ends = np.append(first[1:], len(instruction))
        found = [[self.ops[i]] for i in low.tolist()]
        for run in np.flatnonzero(low != high).tolist():
            distinct, at = np.unique(instruction[first[run] : ends[run]], return_index=True)
            found[run] = [self.ops[i] for i in distinct[np.argsort(at)].tolist()]
        return found


def _known(sends: Sequence[Op], recvs: Sequence[Op]) -> dict[str, Any]:
    """What the ops of a row say; where several differ, the first that says it."""
    ops = [*sends, *recvs]
    return {
        "send_op": sends[0].name,
        "recv_op": recvs[0].name,
        "transfer_type": next((op.transfer_type for op in ops if op.transfer_type), None),
        "payload_bytes": next((op.payload_bytes for op in recvs if op.payload_bytes >= 0), None),
        "group_size": next((op.group_size for op in ops if op.group_size), None),
    }


_SUMMED = ("slack_own_ops_only", *FIGURES)


def pool(records: Sequence[Collectives]) -> Pool:
    """Puts records together. Hosts and cores of one name in two records are one: the sums are over both."""
    keys = Keys()
    found: list[Occurrences] = []
    ops: list[Op] = []
    cores: dict[tuple[str, int], Core] = {}
    hosts: dict[str, None] = {}
    for record in records:
        texts = list(record.strings)
        hosts |= dict.fromkeys(texts[i] for i in record.hosts.name.tolist())
        occurrences, counts = find_occurrences(record, keys)
        for core in _cores(record, texts, counts):
            before = cores.get((core.host, core.id))
            cores[core.host, core.id] = _together(before, core) if before else core
        place = {identity: i for i, identity in enumerate(cores)}
        names = [(texts[record.hosts.name[h]], c) for h, c in _pairs(record)]
        found.append(_moved(occurrences, np.array([place[name] for name in names], np.int64), len(ops)))
        ops += _ops(record, texts)
    ranked = sorted(range(len(keys.names)), key=list(keys.names).__getitem__)
    rank = np.argsort(np.array(ranked, np.int64))
    return Pool(_joined(found), tuple(cores.values()), tuple(ops), tuple(keys.names), rank, tuple(hosts))


def _pairs(record: Collectives) -> list[tuple[int, int]]:
    return list(zip(record.cores.host.tolist(), record.cores.id.tolist(), strict=True))


def _cores(record: Collectives, texts: Sequence[str], counts: CoreCounts) -> list[Core]:
    columns = record.cores
    return [
        Core(
            texts[record.hosts.name[host]],
            number,
            texts[columns.name[i]] if columns.name[i] >= 0 else "",
            int(columns.base_ns[i]),
            (int(columns.window_start_ps[i]), int(columns.window_end_ps[i])),
            {name: int(getattr(counts, name)[i]) for name in COUNTERS},
        )
        for i, (host, number) in enumerate(_pairs(record))
    ]


def _together(a: Core, b: Core) -> Core:
    return dataclasses.replace(a, counters={name: a.counters[name] + b.counters[name] for name in COUNTERS})


def _ops(record: Collectives, texts: Sequence[str]) -> list[Op]:
    rows = record.instructions
    columns = (rows.name, rows.transfer_type, rows.payload_bytes, rows.group_size)
    return [
        Op(texts[name], texts[kind] if kind >= 0 else "", size, group)
        for name, kind, size, group in zip(*(c.tolist() for c in columns), strict=True)
    ]


def _moved(found: Occurrences, core: I64, first_op: int) -> Occurrences:
    return dataclasses.replace(
        found,
        core=core[found.core] if len(core) else found.core,
        send_instruction=found.send_instruction + first_op,
        recv_done_instruction=found.recv_done_instruction + first_op,
    )


def _joined(found: Sequence[Occurrences]) -> Occurrences:
    empty = np.empty(0, np.int64)
    names = [f.name for f in dataclasses.fields(Occurrences)]
    joined: dict[str, Any] = {n: np.concatenate([empty, *(getattr(o, n) for o in found)]) for n in names}
    for name in ("has_send_done", "has_recv"):
        joined[name] = joined[name].astype(np.bool_)
    return Occurrences(**joined)

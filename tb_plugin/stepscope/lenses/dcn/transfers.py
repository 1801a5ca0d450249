"""Transfers over the network as the hosts saw them: by size and pair, over time, against the capacity."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from stepscope.lenses.dcn.grouped import by_key, percentiles
from stepscope.lenses.dcn.pairing import Flags
from stepscope.model.arrays import I64
from stepscope.model.collectives import Collectives, Transfers

SLOWER = 2.0
"""A pair is slow when its median transfer takes so many times the median of all pairs for transfers of that size."""
POINTS = 200


@dataclass(frozen=True)
class NetworkTransfers:
    """Transfers of all hosts, one per row, in ps since `base_ns`."""

    base_ns: int
    host: tuple[str, ...]
    start_ps: I64
    duration_ps: I64
    payload_bytes: I64
    pair: I64
    pairs: tuple[tuple[int, int, int, int], ...]

    def __len__(self) -> int:
        return len(self.host)

    def to_json(self, network_gbps: float | None = None) -> dict[str, Any]:
        """The transfers as a document: totals, by size, by pair, and in flight over time."""
        return {
            "count": len(self),
            "bytes": int(self.payload_bytes.sum()),
            "by_size": self.by_size(),
            "by_pair": self.by_pair(),
            "in_flight": self.in_flight(network_gbps),
        }

    def by_size(self) -> list[dict[str, Any]]:
        """Transfers by powers of four of their size."""
        bucket = _bucket(self.payload_bytes)
        return [
            {"from_bytes": int(4**b) if b else 0, "below_bytes": int(4 ** (b + 1)), **self._figures(bucket == b)}
            for b in np.unique(bucket).tolist()
        ]

    def by_pair(self) -> list[dict[str, Any]]:
        """Transfers by source and destination, those that take most time first; `slow` marks slow pairs."""
        slow = self.slow_pairs()
        rows = [
            {**dict(zip(_PAIR, self.pairs[i], strict=True)), **self._figures(mine), "slow": i in slow}
            for i, mine in by_key(self.pair)
        ]
        return sorted(rows, key=lambda row: -row["total_ps"])

    def slow_pairs(self) -> set[int]:
        """The pairs that are slower than the others for transfers of the same size."""
        medians: dict[int, dict[int, float]] = {}
        for key, rows in by_key(_bucket(self.payload_bytes) * len(self.pairs) + self.pair):
            bucket, pair = divmod(key, len(self.pairs))
            medians.setdefault(bucket, {})[pair] = float(np.median(self.duration_ps[rows]))
        found: set[int] = set()
        for of_pair in medians.values():
            typical = float(np.median(list(of_pair.values())))
            found |= {pair for pair, median in of_pair.items() if len(of_pair) > 2 and median > SLOWER * typical}
        return found

    def in_flight(self, network_gbps: float | None = None, points: int = POINTS) -> dict[str, Any]:
        """Bytes and transfers in flight and throughput per host, over equal parts of the time.

        A transfer's bytes are taken to move evenly over its duration.
        """
        if not len(self):
            return {"width_ps": 0, "hosts": {}}
        first, last = int(self.start_ps.min()), int((self.start_ps + self.duration_ps).max())
        width = max(-(-(last - first) // points), 1)
        edges = first + width * np.arange(points + 1)
        names = list(dict.fromkeys(self.host))
        number = {name: i for i, name in enumerate(names)}
        of_host = by_key(np.array([number[name] for name in self.host]))
        hosts = {names[i]: self._over_time(mine, edges, network_gbps) for i, mine in of_host}
        return {"base_ns": str(self.base_ns), "start_ps": str(first), "width_ps": width, "hosts": hosts}

    def _over_time(self, mine: I64, edges: I64, network_gbps: float | None) -> dict[str, Any]:
        start, took = self.start_ps[mine], np.maximum(self.duration_ps[mine], 1)
        size = self.payload_bytes[mine].astype(np.float64)
        moved = np.diff(_moved_before(edges, start, took, size))
        width_s = float(edges[1] - edges[0]) / 1e12
        gbps = moved * 8 / width_s / 1e9
        share = None if network_gbps is None else (gbps / network_gbps).tolist()
        started = np.searchsorted(np.sort(start), edges[1:], side="left")
        ended = np.searchsorted(np.sort(start + took), edges[:-1], side="right")
        return {"gbps": gbps.tolist(), "capacity_share": share, "transfers": (started - ended).tolist()}

    def _figures(self, mine: I64 | Flags) -> dict[str, Any]:
        took, size = self.duration_ps[mine], int(self.payload_bytes[mine].sum())
        total = int(took.sum())
        gbps = size * 8e3 / total if total else None
        return {"count": len(took), "bytes": size, "total_ps": total, "latency_ps": percentiles(took), "gbps": gbps}


_PAIR = ("source_slice", "source_device", "destination_slice", "destination_device")


def _bucket(size: I64) -> I64:
    """The power of four that a size reaches."""
    exponent = np.frexp(np.maximum(size, 1).astype(np.float64))[1].astype(np.int64) - 1
    return exponent // 2


def _moved_before(edges: I64, start: I64, took: I64, size: Any) -> Any:
    """Bytes moved before each edge: whole transfers that ended, and the even part of those under way."""
    total = np.zeros(len(edges))
    for first in range(0, len(start), 4096):
        part = slice(first, first + 4096)
        done = np.clip((edges[:, None] - start[part]) / took[part], 0, 1)
        total += done @ size[part]
    return total


def network_transfers(records: Sequence[Collectives]) -> NetworkTransfers:
    """The transfers of all hosts, on one clock."""
    bases = [int(base) for r in records for base in r.hosts.base_ns[np.unique(r.transfers.host)].tolist()]
    base = min(bases, default=0)
    hosts: list[str] = []
    pairs: dict[tuple[int, ...], int] = {}
    columns: list[tuple[I64, I64, I64]] = []
    pair: list[int] = []
    for record in records:
        rows = _sized(record.transfers)
        names = [record.strings[i] for i in record.hosts.name]
        hosts += [names[i] for i in rows.host.tolist()]
        shift = np.array([_shift(b, base) for b in record.hosts.base_ns.tolist()] or [0], np.int64)[rows.host]
        columns.append((rows.start_ps + shift, rows.duration_ps, rows.payload_bytes))
        ends = zip(*(getattr(rows, name).tolist() for name in _PAIR), strict=True)
        pair += [pairs.setdefault(p, len(pairs)) for p in ends]
    empty = np.empty(0, np.int64)
    start, took, size = (np.concatenate([empty, *(c[k] for c in columns)]) for k in range(3))
    return NetworkTransfers(
        base,
        tuple(hosts),
        start,
        took,
        size,
        np.array(pair, np.int64),
        tuple(pairs),  # type: ignore[arg-type]
    )


def _sized(rows: Transfers) -> Transfers:
    """The transfers whose size is known."""
    kept = rows.payload_bytes >= 0
    return Transfers(**{f.name: getattr(rows, f.name)[kept] for f in dataclasses.fields(rows)})


def network_latencies(records: Sequence[Collectives]) -> list[dict[str, Any]]:
    """Latency of the network by collective, where the profile says it, the largest median first."""
    found: dict[str, list[I64]] = {}
    for record in records:
        known = record.transfers.latency_ps >= 0
        latency_ps = record.transfers.latency_ps[known]
        for label, mine in by_key(record.transfers.label[known]):
            text = record.strings[label] if label >= 0 else ""
            found.setdefault(text, []).append(latency_ps[mine])
    joined = {label: np.concatenate(parts) for label, parts in found.items()}
    table = [{"rendezvous": k, "count": len(v), "latency_ps": percentiles(v)} for k, v in joined.items()]
    return sorted(table, key=lambda row: -row["latency_ps"]["p50"])


def _shift(base_ns: int, common_ns: int) -> int:
    """Ps from one base to another; 0 where they cannot be on one clock."""
    difference = (base_ns - common_ns) * 1000
    return difference if abs(difference) < 2**62 else 0

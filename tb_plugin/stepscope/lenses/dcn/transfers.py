"""Transfers over the network as the hosts saw them, by size, by pair, and over time."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from stepscope.lenses.dcn.grouped import by_key, percentiles
from stepscope.model.arrays import I64, Floats
from stepscope.model.collectives import Collectives, Transfers

SLOWER = 2.0
"""A pair is slow when its median is more than this many times that of all pairs at one size."""
LEAST_PAIRS = 3
"""With fewer pairs none is slow: of two the median is no judge."""
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
        rows = []
        for power, members in by_key(_power_of_four(self.payload_bytes)):
            from_bytes = 4**power
            if power == 0:
                from_bytes = 0
            sizes = {"from_bytes": from_bytes, "below_bytes": 4 ** (power + 1)}
            rows.append(sizes | self._figures(members))
        return rows

    def by_pair(self) -> list[dict[str, Any]]:
        """Transfers by source and destination, the longest total first; `slow` marks slow pairs."""
        slow = self.slow_pairs()
        rows = []
        for pair, members in by_key(self.pair):
            ends = dict(zip(_PAIR, self.pairs[pair], strict=True))
            rows.append({**ends, **self._figures(members), "slow": pair in slow})
        return sorted(rows, key=lambda row: -row["total_ps"])

    def slow_pairs(self) -> set[int]:
        """The pairs that are slower than the others for transfers of the same size."""
        medians: dict[int, dict[int, float]] = {}
        # One number for a size and a pair, so that one sort groups by both.
        size_and_pair = _power_of_four(self.payload_bytes) * len(self.pairs) + self.pair
        for key, members in by_key(size_and_pair):
            power, pair = divmod(key, len(self.pairs))
            of_pair = medians.setdefault(power, {})
            of_pair[pair] = float(np.median(self.duration_ps[members]))

        slow: set[int] = set()
        for of_pair in medians.values():
            if len(of_pair) < LEAST_PAIRS:
                continue
            typical = float(np.median(list(of_pair.values())))
            slow |= {pair for pair, median in of_pair.items() if median > SLOWER * typical}
        return slow

    def in_flight(self, network_gbps: float | None = None, points: int = POINTS) -> dict[str, Any]:
        """Bytes and transfers in flight and throughput per host, over equal parts of the time.

        A transfer's bytes are taken to move evenly over its duration.
        """
        if not len(self):
            return {"width_ps": 0, "hosts": {}}
        first_ps = int(self.start_ps.min())
        last_ps = int((self.start_ps + self.duration_ps).max())
        # Rounded up, so that the last part reaches the end.
        width_ps = max(-(-(last_ps - first_ps) // points), 1)
        edges = first_ps + width_ps * np.arange(points + 1)

        number: dict[str, int] = {}
        host_numbers = [number.setdefault(name, len(number)) for name in self.host]
        names = list(number)
        hosts = {}
        for i, members in by_key(np.array(host_numbers)):
            hosts[names[i]] = self._over_time(members, edges, network_gbps)
        return {
            "base_ns": str(self.base_ns),
            "start_ps": str(first_ps),
            "width_ps": width_ps,
            "hosts": hosts,
        }

    def _over_time(self, members: I64, edges: I64, network_gbps: float | None) -> dict[str, Any]:
        start_ps = self.start_ps[members]
        duration_ps = np.maximum(self.duration_ps[members], 1)
        moved = _moved_before(
            edges,
            start_ps=start_ps,
            duration_ps=duration_ps,
            size=self.payload_bytes[members].astype(np.float64),
        )
        width_s = float(edges[1] - edges[0]) / 1e12
        gbps = np.diff(moved) * 8 / width_s / 1e9
        capacity_share = None
        if network_gbps is not None:
            capacity_share = (gbps / network_gbps).tolist()

        started = np.searchsorted(np.sort(start_ps), edges[1:], side="left")
        ended = np.searchsorted(np.sort(start_ps + duration_ps), edges[:-1], side="right")
        return {
            "gbps": gbps.tolist(),
            "capacity_share": capacity_share,
            "transfers": (started - ended).tolist(),
        }

    def _figures(self, members: I64) -> dict[str, Any]:
        duration_ps = self.duration_ps[members]
        size = int(self.payload_bytes[members].sum())
        total_ps = int(duration_ps.sum())
        gbps = None
        if total_ps:
            gbps = size * 8e3 / total_ps
        return {
            "count": len(duration_ps),
            "bytes": size,
            "total_ps": total_ps,
            "latency_ps": percentiles(duration_ps),
            "gbps": gbps,
        }


_PAIR = ("source_slice", "source_device", "destination_slice", "destination_device")


def _power_of_four(size: I64) -> I64:
    """The exponent of the largest power of four that a size reaches, 0 for no bytes."""
    exponent = np.frexp(np.maximum(size, 1).astype(np.float64))[1].astype(np.int64) - 1
    return exponent // 2


def _moved_before(edges: I64, *, start_ps: I64, duration_ps: I64, size: Floats) -> Floats:
    """Bytes moved before each edge: of ended transfers all, of others the part of their time."""
    total = np.zeros(len(edges))
    # In parts, so that the table of edges and transfers stays small.
    for first in range(0, len(start_ps), 4096):
        part = slice(first, first + 4096)
        done = np.clip((edges[:, None] - start_ps[part]) / duration_ps[part], 0, 1)
        total += done @ size[part]
    return total


def network_transfers(records: Sequence[Collectives]) -> NetworkTransfers:
    """The transfers of all hosts, on one clock."""
    base_ns = _earliest_base_ns(records)
    empty = np.empty(0, np.int64)
    start_ps = [empty]
    duration_ps = [empty]
    payload_bytes = [empty]
    hosts: list[str] = []
    pair: list[int] = []
    pairs: dict[tuple[int, int, int, int], int] = {}
    for record in records:
        rows = _sized(record.transfers)
        names = [record.strings[i] for i in record.hosts.name]
        hosts += [names[i] for i in rows.host.tolist()]
        shifts = [_shift(base, base_ns) for base in record.hosts.base_ns.tolist()]
        start_ps.append(rows.start_ps + np.array(shifts, np.int64)[rows.host])
        duration_ps.append(rows.duration_ps)
        payload_bytes.append(rows.payload_bytes)
        ends = zip(
            rows.source_slice.tolist(),
            rows.source_device.tolist(),
            rows.destination_slice.tolist(),
            rows.destination_device.tolist(),
            strict=True,
        )
        pair += [pairs.setdefault(of_transfer, len(pairs)) for of_transfer in ends]
    return NetworkTransfers(
        base_ns=base_ns,
        host=tuple(hosts),
        start_ps=np.concatenate(start_ps),
        duration_ps=np.concatenate(duration_ps),
        payload_bytes=np.concatenate(payload_bytes),
        pair=np.array(pair, np.int64),
        pairs=tuple(pairs),
    )


def _earliest_base_ns(records: Sequence[Collectives]) -> int:
    """The earliest base of the hosts that have transfers, 0 where there are none."""
    bases_ns: list[int] = []
    for record in records:
        hosts = np.unique(record.transfers.host)
        bases_ns += record.hosts.base_ns[hosts].tolist()
    return min(bases_ns, default=0)


def _sized(rows: Transfers) -> Transfers:
    """The transfers whose size is known."""
    is_sized = rows.payload_bytes >= 0
    columns = {f.name: getattr(rows, f.name)[is_sized] for f in dataclasses.fields(rows)}
    return Transfers(**columns)


def network_latencies(records: Sequence[Collectives]) -> list[dict[str, Any]]:
    """Network latency by collective, where the profile says it, the largest median first."""
    latencies: dict[str, list[I64]] = {}
    for record in records:
        is_known = record.transfers.latency_ps >= 0
        latency_ps = record.transfers.latency_ps[is_known]
        for label, members in by_key(record.transfers.label[is_known]):
            rendezvous = ""
            if label >= 0:
                rendezvous = record.strings[label]
            latencies.setdefault(rendezvous, []).append(latency_ps[members])

    rows: list[dict[str, Any]] = []
    for rendezvous, parts in latencies.items():
        values = np.concatenate(parts)
        row = {"rendezvous": rendezvous, "count": len(values), "latency_ps": percentiles(values)}
        rows.append(row)
    return sorted(rows, key=lambda row: -row["latency_ps"]["p50"])


def _shift(base_ns: int, common_ns: int) -> int:
    """The time from one base to another in ps, 0 where they cannot be on one clock."""
    difference_ps = (base_ns - common_ns) * 1000
    if abs(difference_ps) >= 2**62:
        return 0
    return difference_ps

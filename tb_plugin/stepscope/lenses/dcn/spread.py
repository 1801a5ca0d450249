"""How much the occurrences of a collective differ, and which core or host is slower than the others."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from stepscope.lenses.dcn.pairing import I64
from stepscope.lenses.dcn.rows import FIGURES

if TYPE_CHECKING:
    from stepscope.lenses.dcn.result import DcnResult

PERCENTS = {"min": 0, "p50": 50, "p95": 95, "max": 100}
SLOWER = 1.5
"""A core or host is a straggler when its mean stall is so many times the median of all."""


@dataclass(frozen=True)
class Straggler:
    """A core or host that a collective stalls longer than the others.

    Attributes:
        core: None where it is a whole host.
        mean_ps: Its mean stall per occurrence, `median_ps` the median of the means of all cores or hosts.
        excess_ps: What its occurrences stall beyond that median, in all.
    """

    program: str
    rendezvous: str
    host: str
    core: int | None
    mean_ps: float
    median_ps: float
    excess_ps: float


def distributions(result: DcnResult) -> list[dict[str, Any]]:
    """Per collective over all cores and hosts the least, median, 95th percentile and largest of each figure.

    Percentiles are by nearest rank: each is the figure of a real occurrence.
    """
    found = result.pool.occurrences.take(result.chosen)
    rows = []
    for key, mine in _by_key(found.key):
        program, rendezvous = result.pool.names[key]
        values = {f"{figure}_ps": percentiles(getattr(found, f"{figure}_ps")[mine]) for figure in FIGURES}
        rows.append({"program": program, "rendezvous": rendezvous, "occurrences": len(mine), **values})
    return sorted(rows, key=lambda row: (row["program"], row["rendezvous"]))


def percentiles(values: I64) -> dict[str, int]:
    """Least, median, 95th percentile and largest by nearest rank."""
    ordered = np.sort(values)
    return {name: int(ordered[max(-(-len(ordered) * p // 100) - 1, 0)]) for name, p in PERCENTS.items()}


def _by_key(key: I64) -> Iterator[tuple[int, I64]]:
    order = np.argsort(key, kind="stable")
    keys, first = np.unique(key[order], return_index=True)
    yield from zip(keys.tolist(), np.split(order, first[1:]), strict=len(keys) > 0)


def stragglers(result: DcnResult) -> list[Straggler]:
    """Cores, then hosts, that a collective stalls much longer than the others, the largest excess first."""
    cores = [
        ((row.program, row.rendezvous), host.name, table.core.id, row.stall_total_ps, row.occurrences)
        for host in result.hosts
        for table in host.cores
        for row in table.rows
    ]
    hosts = [
        ((row.program, row.rendezvous), host.name, None, row.stall_total_ps, row.occurrences)
        for host in result.hosts
        for row in host.all_cores
    ]
    return sorted([*_slower(cores), *_slower(hosts)], key=lambda s: -s.excess_ps)


def _slower(rows: list[tuple[tuple[str, str], str, Any, int, int]]) -> Iterator[Straggler]:
    groups: dict[tuple[str, str], list[tuple[str, Any, int, int]]] = {}
    for key, *rest in rows:
        groups.setdefault(key, []).append((rest[0], rest[1], rest[2], rest[3]))
    for (program, rendezvous), members in groups.items():
        means = [total / count for _, _, total, count in members]
        median = float(np.median(means))
        for (host, core, total, count), mean in zip(members, means, strict=True):
            if len(members) > 1 and mean > SLOWER * median:
                yield Straggler(program, rendezvous, host, core, mean, median, total - count * median)

"""How much the occurrences of a collective differ, and which core or host is slower than the others."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from stepscope.lenses.dcn.grouped import by_key, percentiles
from stepscope.lenses.dcn.rows import FIGURES
from stepscope.lenses.dcn.tables import HostTable
from stepscope.lenses.dcn.tabulate import Pool
from stepscope.model.arrays import I64

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


def distributions(pool: Pool, chosen: I64) -> list[dict[str, Any]]:
    """The least, median, 95th percentile and largest of each figure, per collective over its chosen occurrences.

    Percentiles are by nearest rank: each is the figure of a real occurrence.
    """
    found = pool.occurrences.take(chosen)
    rows = []
    for key, mine in by_key(found.key):
        program, rendezvous = pool.names[key]
        values = {f"{figure}_ps": percentiles(getattr(found, f"{figure}_ps")[mine]) for figure in FIGURES}
        rows.append({"program": program, "rendezvous": rendezvous, "occurrences": len(mine), **values})
    return sorted(rows, key=lambda row: (row["program"], row["rendezvous"]))


def stragglers(hosts: Sequence[HostTable]) -> list[Straggler]:
    """Cores, then hosts, that a collective stalls much longer than the others, the largest excess first."""
    of_cores = [
        ((row.program, row.rendezvous), host.name, table.core.id, row.stall_total_ps, row.occurrences)
        for host in hosts
        for table in host.cores
        for row in table.rows
    ]
    of_hosts = [
        ((row.program, row.rendezvous), host.name, None, row.stall_total_ps, row.occurrences)
        for host in hosts
        for row in host.all_cores
    ]
    return sorted([*_slower(of_cores), *_slower(of_hosts)], key=lambda s: -s.excess_ps)


def _slower(rows: list[tuple[tuple[str, str], str, Any, int, int]]) -> Iterator[Straggler]:
    groups: dict[tuple[str, str], list[tuple[str, Any, int, int]]] = {}
    for key, host, core, total, count in rows:
        groups.setdefault(key, []).append((host, core, total, count))
    for (program, rendezvous), members in groups.items():
        means = [total / count for _, _, total, count in members]
        median = float(np.median(means))
        for (host, core, total, count), mean in zip(members, means, strict=True):
            if len(members) > 1 and mean > SLOWER * median:
                yield Straggler(program, rendezvous, host, core, mean, median, total - count * median)

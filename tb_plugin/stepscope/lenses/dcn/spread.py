"""Distributions of a collective's occurrences, and the cores and hosts that wait longer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from stepscope.lenses.dcn.grouped import by_key, percentiles
from stepscope.lenses.dcn.rows import FIGURES, Row
from stepscope.lenses.dcn.tables import HostTable
from stepscope.lenses.dcn.tabulate import Pool
from stepscope.model.arrays import I64

SLOWER = 1.5
"""A core or host is a straggler when its mean stall is more than this many times the median."""


@dataclass(frozen=True)
class Straggler:
    """A core or host that a collective stalls longer than the others.

    Attributes:
        core: None where it is a whole host.
        mean_ps: Its mean stall per occurrence.
        median_ps: The median of the means of all cores, or of all hosts.
        excess_ps: The stall of all its occurrences beyond that median.
    """

    program: str
    rendezvous: str
    host: str
    core: int | None
    mean_ps: float
    median_ps: float
    excess_ps: float


def distributions(pool: Pool, chosen: I64) -> list[dict[str, Any]]:
    """Least, median, 95th percentile and largest of each figure, per collective.

    Percentiles are by nearest rank: each is the figure of a real occurrence.
    """
    occurrences = pool.occurrences.take(chosen)
    rows = []
    for key, members in by_key(occurrences.key):
        program, rendezvous = pool.names[key]
        row: dict[str, Any] = {
            "program": program,
            "rendezvous": rendezvous,
            "occurrences": len(members),
        }
        for figure in FIGURES:
            values = getattr(occurrences, f"{figure}_ps")[members]
            row[f"{figure}_ps"] = percentiles(values)
        rows.append(row)
    return sorted(rows, key=lambda row: (row["program"], row["rendezvous"]))


def stragglers(hosts: Sequence[HostTable]) -> list[Straggler]:
    """Cores and hosts that a collective stalls much longer than the others, the worst first."""
    of_cores: list[_Member] = []
    of_hosts: list[_Member] = []
    for host in hosts:
        of_hosts += [_Member(host.name, None, row) for row in host.all_cores]
        for table in host.cores:
            of_cores += [_Member(host.name, table.core.id, row) for row in table.rows]
    found = [*_slower(of_cores), *_slower(of_hosts)]
    return sorted(found, key=lambda straggler: -straggler.excess_ps)


@dataclass(frozen=True)
class _Member:
    """The row of a collective on one core, or on one host where the core is None."""

    host: str
    core: int | None
    row: Row

    @property
    def mean_ps(self) -> float:
        return self.row.stall_total_ps / self.row.occurrences


def _slower(members: Sequence[_Member]) -> Iterator[Straggler]:
    groups: dict[tuple[str, str], list[_Member]] = {}
    for member in members:
        key = (member.row.program, member.row.rendezvous)
        groups.setdefault(key, []).append(member)
    for group in groups.values():
        yield from _slower_of_group(group)


def _slower_of_group(group: Sequence[_Member]) -> Iterator[Straggler]:
    """The stragglers among the members of one collective. One that is alone is its own median."""
    median_ps = float(np.median([member.mean_ps for member in group]))
    for member in group:
        if member.mean_ps <= SLOWER * median_ps:
            continue
        yield Straggler(
            program=member.row.program,
            rendezvous=member.row.rendezvous,
            host=member.host,
            core=member.core,
            mean_ps=member.mean_ps,
            median_ps=median_ps,
            excess_ps=member.row.stall_total_ps - member.row.occurrences * median_ps,
        )

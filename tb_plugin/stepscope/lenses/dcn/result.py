"""The answer of the dcn lens."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from stepscope.lenses.dcn.detail import detail, occurrence_rows
from stepscope.lenses.dcn.options import DcnOptions
from stepscope.lenses.dcn.pairing import I64
from stepscope.lenses.dcn.rows import Row, by_total_stall
from stepscope.lenses.dcn.tabulate import Core, Pool
from stepscope.model.collectives import Collectives

_COUNTERS = ("unmatched_sends", "unmatched_recv_dones", "dcn_ops", "dcn_ops_without_hlo", "dcn_ops_unidentified")


@dataclass(frozen=True)
class CoreTable:
    """The collectives of one core, and what could not be put into its rows."""

    core: Core
    rows: tuple[Row, ...]

    def to_json(self) -> dict[str, Any]:
        """The core's part of the document."""
        return {"rows": _json(self.rows), **{name: self.core.counters[name] for name in _COUNTERS}}


@dataclass(frozen=True)
class HostTable:
    """The collectives of one host: per core, and over its cores."""

    name: str
    cores: tuple[CoreTable, ...]
    all_cores: tuple[Row, ...]

    def to_json(self) -> dict[str, Any]:
        """The host's part of the document."""
        cores = {str(table.core.id): table.to_json() for table in self.cores}
        return {"cores": cores, "all_cores": _json(self.all_cores)}


@dataclass(frozen=True)
class DcnResult:
    """Tables of collectives.

    Attributes:
        all_cores: Over the cores of all hosts.
        core0_only: Over core 0 of each host, which is what XProf's table shows.
        problems: What could not be identified or read: where, what, count, remedy.
        pool: Every occurrence with the cores and ops it belongs to.
        chosen: The occurrences that the options ask for.
    """

    hosts: tuple[HostTable, ...]
    all_cores: tuple[Row, ...]
    core0_only: tuple[Row, ...]
    problems: tuple[dict[str, Any], ...]
    pool: Pool
    chosen: I64
    records: tuple[Collectives, ...]
    options: DcnOptions

    @property
    def worst(self) -> Row | None:
        """The collective that stalls most in all, None when there is none."""
        return next(iter(by_total_stall(self.all_cores)), None)

    def to_json(self) -> dict[str, Any]:
        """The `dcn` document of the public surface, with the parts that `detail` asks for."""
        document = {
            "time_unit": "ps",
            "hosts": {host.name: host.to_json() for host in self.hosts},
            "all_hosts": {"all_cores": _json(self.all_cores), "core0_only": _json(self.core0_only)},
            "problems": list(self.problems),
        }
        if self.options.detail != "brief":
            document |= detail(self)
        if self.options.detail == "occurrences":
            document |= occurrence_rows(self)
        return document


def _json(rows: Iterable[Row]) -> list[dict[str, Any]]:
    return [row.to_json() for row in rows]

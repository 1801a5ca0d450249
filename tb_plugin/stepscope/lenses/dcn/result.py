"""The answer of the dcn lens."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from stepscope.lenses.dcn.detail import detail, occurrence_rows
from stepscope.lenses.dcn.options import DcnOptions
from stepscope.lenses.dcn.rows import Row, by_total_stall
from stepscope.lenses.dcn.tables import HostTable, rows_json
from stepscope.lenses.dcn.tabulate import Pool
from stepscope.model.arrays import I64
from stepscope.model.collectives import Collectives


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
            "all_hosts": {
                "all_cores": rows_json(self.all_cores),
                "core0_only": rows_json(self.core0_only),
            },
            "problems": list(self.problems),
        }
        if self.options.detail != "brief":
            document |= detail(self)
        if self.options.detail == "occurrences":
            document |= occurrence_rows(self)
        return document

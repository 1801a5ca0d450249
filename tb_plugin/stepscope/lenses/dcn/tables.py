"""The tables of the dcn lens: rows of one core, and of one host."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from stepscope.lenses.dcn.rows import Row
from stepscope.lenses.dcn.tabulate import Core

_COUNTERS = (
    "unmatched_sends",
    "unmatched_recv_dones",
    "dcn_ops",
    "dcn_ops_without_hlo",
    "dcn_ops_unidentified",
)


@dataclass(frozen=True)
class CoreTable:
    """The collectives of one core, and counts of the ops that no row holds."""

    core: Core
    rows: tuple[Row, ...]

    def to_json(self) -> dict[str, Any]:
        """The core's part of the document."""
        counters = {name: self.core.counters[name] for name in _COUNTERS}
        return {"rows": rows_json(self.rows), **counters}


@dataclass(frozen=True)
class HostTable:
    """The collectives of one host: per core, and over its cores."""

    name: str
    cores: tuple[CoreTable, ...]
    all_cores: tuple[Row, ...]

    def to_json(self) -> dict[str, Any]:
        """The host's part of the document."""
        cores = {str(table.core.id): table.to_json() for table in self.cores}
        return {"cores": cores, "all_cores": rows_json(self.all_cores)}


def rows_json(rows: Iterable[Row]) -> list[dict[str, Any]]:
    """Rows as the document has them."""
    return [row.to_json() for row in rows]

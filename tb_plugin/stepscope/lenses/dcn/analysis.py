"""Which cross-slice collective stalls the accelerator."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from stepscope.lenses.dcn.options import DcnOptions
from stepscope.lenses.dcn.pairing import Flags
from stepscope.lenses.dcn.problems import problems_of
from stepscope.lenses.dcn.result import DcnResult
from stepscope.lenses.dcn.rows import Row, merged
from stepscope.lenses.dcn.tables import CoreTable, HostTable
from stepscope.lenses.dcn.tabulate import Core, Pool, pool
from stepscope.model.collectives import Collectives


def analyze(records: Collectives | Sequence[Collectives], options: DcnOptions | None = None) -> DcnResult:
    """Tables of collectives per core, per host and over all hosts, by sums over their occurrences.

    Args:
        records: One record, or several whose hosts belong together.
        options: What to show.
    """
    options = options or DcnOptions()
    given = [records] if isinstance(records, Collectives) else list(records)
    pooled = pool(given)
    chosen = _chosen(pooled, options)
    tables = tuple(CoreTable(*pair) for pair in zip(pooled.cores, pooled.tables(chosen), strict=True))
    tables = tuple(sorted((t for t in tables if _has_core(t.core, options)), key=lambda t: t.core.id))
    names = [name for name in pooled.hosts if not options.host or name in options.host]
    hosts = tuple(HostTable(name, mine := _of_host(tables, name), _all(mine)) for name in names)
    return DcnResult(
        hosts=hosts,
        all_cores=merged(row for host in hosts for row in host.all_cores),
        core0_only=merged(row for host in hosts for table in host.cores if not table.core.id for row in table.rows),
        problems=problems_of(given, pooled),
        pool=pooled,
        chosen=np.flatnonzero(chosen),
        records=tuple(given),
        options=options,
    )


def _of_host(tables: Sequence[CoreTable], host: str) -> tuple[CoreTable, ...]:
    return tuple(table for table in tables if table.core.host == host)


def _all(tables: Sequence[CoreTable]) -> tuple[Row, ...]:
    return merged(row for table in tables for row in table.rows)


def _has_core(core: Core, options: DcnOptions) -> bool:
    return not options.core or str(core.id) in options.core


def _chosen(pooled: Pool, options: DcnOptions) -> Flags:
    """The occurrences that the options ask for."""
    cores = [_has_core(core, options) and (not options.host or core.host in options.host) for core in pooled.cores]
    keys = [
        (not options.program or program in options.program or program.partition("(")[0] in options.program)
        and (not options.rendezvous or rendezvous in options.rendezvous)
        for program, rendezvous in pooled.names
    ]
    chosen: Flags = np.array([*cores, False], np.bool_)[pooled.occurrences.core]
    chosen = chosen & np.array([*keys, False], np.bool_)[pooled.occurrences.key]
    if options.transfer_type:
        kinds = [op.transfer_type in options.transfer_type for op in pooled.ops]
        chosen &= np.array([*kinds, False], np.bool_)[pooled.occurrences.send_instruction]
    return chosen

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


def analyze(
    records: Collectives | Sequence[Collectives],
    options: DcnOptions | None = None,
) -> DcnResult:
    """Tables of collectives per core, per host and over all hosts, by sums over their occurrences.

    Args:
        records: One record, or several whose hosts belong together.
        options: What to show.
    """
    options = options or DcnOptions()
    if isinstance(records, Collectives):
        records = [records]
    pooled = pool(records)
    chosen = _chosen(pooled, options)
    hosts = _host_tables(pooled, chosen, options)

    host_rows: list[Row] = []
    core0_rows: list[Row] = []
    for host in hosts:
        host_rows += host.all_cores
        for table in host.cores:
            if table.core.id == 0:
                core0_rows += table.rows
    return DcnResult(
        hosts=hosts,
        all_cores=merged(host_rows),
        core0_only=merged(core0_rows),
        problems=problems_of(records, pooled),
        pool=pooled,
        chosen=np.flatnonzero(chosen),
        records=tuple(records),
        options=options,
    )


def _host_tables(pooled: Pool, chosen: Flags, options: DcnOptions) -> tuple[HostTable, ...]:
    """The tables of the hosts and cores that the options ask for, also of those without rows."""
    tables: dict[str, list[CoreTable]] = {}
    for host in pooled.hosts:
        if not options.host or host in options.host:
            tables[host] = []
    for core, rows in zip(pooled.cores, pooled.tables(chosen), strict=True):
        if core.host in tables and _has_core(core, options):
            tables[core.host].append(CoreTable(core, rows))

    hosts = []
    for host, cores in tables.items():
        cores.sort(key=lambda table: table.core.id)
        rows_of_host: list[Row] = []
        for table in cores:
            rows_of_host += table.rows
        hosts.append(HostTable(host, tuple(cores), merged(rows_of_host)))
    return tuple(hosts)


def _has_core(core: Core, options: DcnOptions) -> bool:
    return not options.core or str(core.id) in options.core


def _has_host(core: Core, options: DcnOptions) -> bool:
    return not options.host or core.host in options.host


def _has_program(program: str, options: DcnOptions) -> bool:
    """Whether the options ask for a program, by its name with or without its id."""
    if not options.program:
        return True
    name_without_id = program.partition("(")[0]
    return program in options.program or name_without_id in options.program


def _has_rendezvous(rendezvous: str, options: DcnOptions) -> bool:
    return not options.rendezvous or rendezvous in options.rendezvous


def _chosen(pooled: Pool, options: DcnOptions) -> Flags:
    """The occurrences that the options ask for."""
    occurrences = pooled.occurrences
    cores = [_has_core(core, options) and _has_host(core, options) for core in pooled.cores]
    keys = []
    for program, rendezvous in pooled.names:
        keys.append(_has_program(program, options) and _has_rendezvous(rendezvous, options))
    chosen: Flags = _flags(cores)[occurrences.core] & _flags(keys)[occurrences.key]
    if options.transfer_type:
        kinds = [op.transfer_type in options.transfer_type for op in pooled.ops]
        chosen &= _flags(kinds)[occurrences.send_instruction]
    return chosen


def _flags(values: Sequence[bool]) -> Flags:
    return np.array(values, np.bool_)

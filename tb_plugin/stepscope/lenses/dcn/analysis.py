"""Which cross-slice collective stalls the accelerator."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from stepscope.lenses.dcn.options import DcnOptions
from stepscope.lenses.dcn.pairing import Flags
from stepscope.lenses.dcn.problems import problems_of
from stepscope.lenses.dcn.result import CoreTable, DcnResult, HostTable
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
    hosts = tuple(
        _host(pooled, name, chosen, options) for name in pooled.hosts if not options.host or name in options.host
    )
    first_core = chosen & _of_cores(pooled, [core.id == 0 for core in pooled.cores])
    return DcnResult(
        hosts=hosts,
        all_cores=tuple(pooled.table(chosen)),
        core0_only=tuple(pooled.table(first_core)),
        problems=problems_of(given, pooled),
        pool=pooled,
        chosen=np.flatnonzero(chosen),
        records=tuple(given),
        options=options,
    )


def _host(pooled: Pool, name: str, chosen: Flags, options: DcnOptions) -> HostTable:
    mine = [core.host == name for core in pooled.cores]
    cores = sorted((core.id, i) for i, core in enumerate(pooled.cores) if mine[i] and _has_core(core, options))
    tables = tuple(
        CoreTable(pooled.cores[i], tuple(pooled.table(chosen & (pooled.occurrences.core == i)))) for _, i in cores
    )
    return HostTable(name, tables, tuple(pooled.table(chosen & _of_cores(pooled, mine))))


def _has_core(core: Core, options: DcnOptions) -> bool:
    return not options.core or str(core.id) in options.core


def _of_cores(pooled: Pool, wanted: Sequence[bool]) -> Flags:
    flags: Flags = np.array([*wanted, False], np.bool_)[pooled.occurrences.core]
    return flags


def _chosen(pooled: Pool, options: DcnOptions) -> Flags:
    """The occurrences that the options ask for."""
    cores = [_has_core(core, options) and (not options.host or core.host in options.host) for core in pooled.cores]
    keys = [
        (not options.program or program in options.program or program.partition("(")[0] in options.program)
        and (not options.rendezvous or rendezvous in options.rendezvous)
        for program, rendezvous in pooled.names
    ]
    chosen = _of_cores(pooled, cores) & np.array([*keys, False], np.bool_)[pooled.occurrences.key]
    if options.transfer_type:
        kinds = [op.transfer_type in options.transfer_type for op in pooled.ops]
        chosen &= np.array([*kinds, False], np.bool_)[pooled.occurrences.send_instruction]
    return chosen

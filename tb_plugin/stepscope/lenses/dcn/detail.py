"""What the document holds beside the tables: distributions, diagnosis, network transfers, single occurrences."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import numpy as np

from stepscope.lenses.dcn.diagnosis import causes, cores_per_host, neighbourhood, tiny_collectives
from stepscope.lenses.dcn.rows import by_total_stall
from stepscope.lenses.dcn.spread import distributions, stragglers
from stepscope.lenses.dcn.transfers import network_latencies, network_transfers

if TYPE_CHECKING:
    from stepscope.lenses.dcn.result import DcnResult

NEIGHBOURHOODS = 10
STRAGGLERS = 50


def detail(result: DcnResult) -> dict[str, Any]:
    """The parts of the document that `detail=full` adds."""
    worst = by_total_stall(result.all_cores)[:NEIGHBOURHOODS]
    around = [found for row in worst if (found := neighbourhood(result, row))]
    return {
        "distributions": distributions(result.pool, result.chosen),
        "diagnosis": {
            "network_gbps": result.options.network_gbps,
            "cores_per_host": cores_per_host(result),
            "causes": [cause.to_json() for cause in causes(result)],
            "neighbourhoods": [found.to_json() for found in around],
            "tiny_collectives": dataclasses.asdict(tiny_collectives(result)),
            "stragglers": [dataclasses.asdict(one) for one in stragglers(result.hosts)[:STRAGGLERS]],
        },
        "transfers": network_transfers(result.records).to_json(result.options.network_gbps),
        "network_latencies": network_latencies(result.records),
    }


def occurrence_rows(result: DcnResult) -> dict[str, Any]:
    """The parts that `detail=occurrences` adds: single occurrences in a window, by core and time.

    The send's start is a stamp relative to the core's base; the other ops start so many ps after it.
    """
    first, limit = result.options.offset, result.options.limit
    pool, found = result.pool, result.pool.occurrences.take(result.chosen[first : first + limit])
    rows = []
    for i, (core, key) in enumerate(zip(found.core.tolist(), found.key.tolist(), strict=True)):
        program, rendezvous = pool.names[key]
        where = pool.cores[core]
        rows.append(
            {
                "host": where.host,
                "core": where.id,
                "program": program,
                "rendezvous": rendezvous,
                "base_ns": str(where.base_ns),
                "send_start_ps": str(found.send_start_ps[i]),
                **_ops(found, i),
                **{f"{name}_ps": int(getattr(found, f"{name}_ps")[i]) for name in ("slack", "stall", "observed")},
            }
        )
    return {"occurrences_total": len(result.chosen), "offset": first, "occurrences": rows}


def _ops(found: Any, i: int) -> dict[str, int | None]:
    ops: dict[str, int | None] = {"send_ps": int(found.send_ps[i])}
    present = {"send_done": found.has_send_done[i], "recv": found.has_recv[i], "recv_done": np.True_}
    for name, there in present.items():
        after = getattr(found, f"{name}_start_ps")[i] - found.send_start_ps[i]
        ops[f"{name}_after_ps"] = int(after) if there else None
        ops[f"{name}_ps"] = int(getattr(found, f"{name}_ps")[i]) if there else None
    return ops

"""Parts of the document beside the tables: distributions, diagnosis, transfers, occurrences."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

from stepscope.lenses.dcn.diagnosis import (
    causes,
    cores_per_host,
    neighbourhood,
    tiny_collectives,
)
from stepscope.lenses.dcn.occurrences import Occurrences
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
    neighbourhoods = []
    for row in worst:
        around = neighbourhood(result, row)
        if around is not None:
            neighbourhoods.append(around.to_json())
    slowest = stragglers(result.hosts)[:STRAGGLERS]
    return {
        "distributions": distributions(result.pool, result.chosen),
        "diagnosis": {
            "network_gbps": result.options.network_gbps,
            "cores_per_host": cores_per_host(result),
            "causes": [cause.to_json() for cause in causes(result)],
            "neighbourhoods": neighbourhoods,
            "tiny_collectives": dataclasses.asdict(tiny_collectives(result)),
            "stragglers": [dataclasses.asdict(straggler) for straggler in slowest],
        },
        "transfers": network_transfers(result.records).to_json(result.options.network_gbps),
        "network_latencies": network_latencies(result.records),
    }


def occurrence_rows(result: DcnResult) -> dict[str, Any]:
    """The parts that `detail=occurrences` adds: single occurrences in a window, by core and time.

    The send's start is relative to the core's base, the other starts to the send's start.
    """
    pool = result.pool
    first = result.options.offset
    listed = pool.occurrences.take(result.chosen[first : first + result.options.limit])
    slack_ps = listed.slack_ps.tolist()
    stall_ps = listed.stall_ps.tolist()
    observed_ps = listed.observed_ps.tolist()
    rows = []
    for i in range(len(listed)):
        program, rendezvous = pool.names[int(listed.key[i])]
        core = pool.cores[int(listed.core[i])]
        row = {
            "host": core.host,
            "core": core.id,
            "program": program,
            "rendezvous": rendezvous,
            "base_ns": str(core.base_ns),
            "send_start_ps": str(listed.send_start_ps[i]),
            **_ops(listed, i),
            "slack_ps": slack_ps[i],
            "stall_ps": stall_ps[i],
            "observed_ps": observed_ps[i],
        }
        rows.append(row)
    return {"occurrences_total": len(result.chosen), "offset": first, "occurrences": rows}


def _ops(listed: Occurrences, i: int) -> dict[str, int | None]:
    ops: dict[str, int | None] = {"send_ps": int(listed.send_ps[i])}
    exists = {
        "send_done": bool(listed.has_send_done[i]),
        "recv": bool(listed.has_recv[i]),
        "recv_done": True,
    }
    for name in exists:
        ops[f"{name}_after_ps"] = None
        ops[f"{name}_ps"] = None
        if exists[name]:
            start_ps = getattr(listed, f"{name}_start_ps")[i]
            ops[f"{name}_after_ps"] = int(start_ps - listed.send_start_ps[i])
            ops[f"{name}_ps"] = int(getattr(listed, f"{name}_ps")[i])
    return ops

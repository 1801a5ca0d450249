"""Traces of the ranks of a small job."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from stepscope.session.importing import import_file


def event(
    name: str, start: float, duration: float, cat: str, tid: int = 1, **args: Any
) -> dict[str, Any]:
    pid = 0 if cat == "kernel" else 1
    return {
        "ph": "X",
        "cat": cat,
        "name": name,
        "pid": pid,
        "tid": tid,
        "ts": start,
        "dur": duration,
        "args": args,
    }


def trace(rank: int) -> dict[str, Any]:
    """Two steps with an op, its launch and kernel, memory, and a collective that takes longer on rank 0."""
    events: list[dict[str, Any]] = []
    for number in (0, 1):
        at = 1000 * number
        memory = {"Addr": number + 1, "Device Type": 1, "Device Id": rank, "Total Reserved": 8000}
        events += [
            event(f"ProfilerStep#{number}", at, 900, "user_annotation"),
            event("aten::mm", at + 100, 200, "cpu_op", **{"Input Dims": [[8, 16], [16, 4]]}),
            event("cudaLaunchKernel", at + 120, 20, "cuda_runtime", correlation=number + 1),
            event(
                "gemm",
                at + 200,
                300,
                "kernel",
                7,
                correlation=number + 1,
                device=rank,
                stream=7,
                grid=[4, 1, 1],
            ),
            event(
                "ncclDevKernel_AllReduce_Sum",
                at + 450,
                300 - 100 * rank,
                "kernel",
                9,
                device=rank,
                stream=9,
            ),
        ]
        for delta, total, when in ((4000, 4000, 150), (-4000, 0, 600)):
            args = memory | {"Bytes": delta, "Total Allocated": total}
            instant = {
                "ph": "i",
                "cat": "cpu_instant_event",
                "name": "[memory]",
                "pid": 1,
                "tid": 1,
            }
            events.append(instant | {"ts": at + when, "args": args})
    about = {"deviceProperties": [{"id": rank, "name": "Accelerator", "totalGlobalMem": 16000}]}
    return {
        "schemaVersion": 1,
        **about,
        "distributedInfo": {"rank": rank, "world_size": 2},
        "traceEvents": events,
    }


def write_ranks(folder: Path, beside: Path) -> None:
    """Imports two ranks as runs of a folder; their traces are written beside it."""
    for rank in (0, 1):
        path = beside / f"rank{rank}.pt.trace.json"
        path.write_text(json.dumps(trace(rank)))
        import_file(path, str(folder), None, None)

"""The memory of a graph timeline has its peak."""

from __future__ import annotations

from pathlib import Path

import stepscope


def in_use(shared: Path, **options: str) -> list[int]:
    view = stepscope.open(shared / "cases/tfprof/memory_peak").views(view="graph", **options)
    (trace,) = view.to_timeline().values()
    return [
        e["args"]["Allocator Bytes in Use"]
        for e in trace["traceEvents"]
        if e["name"] == "Allocated Bytes"
    ]


def test_every_moment_of_memory_is_in_the_graph_timeline(shared: Path) -> None:
    assert max(in_use(shared)) == 900_000_000


def test_tfprofs_ways_leave_moments_out(shared: Path) -> None:
    assert max(in_use(shared, compat="tfprof", step="1")) < 900_000_000

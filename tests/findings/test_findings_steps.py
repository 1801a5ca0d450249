"""Rules over single executions: what torch-tb-profiler recommended, with its cost and its place."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from stepscope.findings import Finding, LensResult, find, steps
from stepscope.lenses.views import ViewEngine
from stepscope.sources import torch_trace

GPU = {"deviceProperties": [{"id": 0, "name": "GPU", "totalGlobalMem": 1000}]}


def event(
    name: str, start: float, duration: float, cat: str = "cpu_op", tid: int = 1, **args: Any
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


@pytest.fixture
def found(tmp_path: Path) -> Any:
    def ask(*events: dict[str, Any], **top: Any) -> dict[str, Finding]:
        path = tmp_path / "worker0.pt.trace.json"
        step = event("ProfilerStep#1", 0, 100, "user_annotation")
        path.write_text(json.dumps({"schemaVersion": 1, **top, "traceEvents": [step, *events]}))
        engine = ViewEngine(torch_trace.read(path).records[0].record)
        return {
            one.rule: one for one in find([LensResult("views", "a", "torch", engine)], steps.RULES)
        }

    return ask


def test_memory_that_is_nearly_full_is_found(found: Any) -> None:
    args = {
        "Bytes": 950,
        "Addr": 1,
        "Device Type": 1,
        "Device Id": 0,
        "Total Allocated": 950,
        "Total Reserved": 960,
    }
    memory = {
        "ph": "i",
        "name": "[memory]",
        "pid": 1,
        "tid": 1,
        "ts": 5,
        "args": args,
        "cat": "cpu_instant_event",
    }
    full = found(memory, event("aten::empty", 0, 9), **GPU)["nearly-full-memory"]
    assert (full.title, full.cost) == ("GPU0 holds 96% of its memory at the peak", 960)


def test_slow_ways_to_use_several_devices_are_hinted_at(found: Any) -> None:
    named = found(
        event("DataParallel.forward", 0, 50),
        event("gloo:all_reduce", 60, 5, "user_annotation"),
        **GPU,
    )
    assert {"data-parallel", "gloo-collectives"} <= set(named)


def test_a_step_without_any_of_them_has_no_finding(found: Any) -> None:
    assert found(event("aten::mm", 0, 90)) == {}

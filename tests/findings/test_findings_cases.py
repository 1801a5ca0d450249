"""Every shared case names its cause first, and no finding costs more than its whole."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import stepscope
from paths import SHARED

CASES = sorted((SHARED / "cases" / "findings").glob("*.right.json")) if SHARED.is_dir() else []
QUIET = {
    "ahead": {"idle-accelerator", "host-bound", "host-sync", "slow-steps"},
    "i01_host_ahead": {"idle-accelerator", "host-bound"},
    "stray": {"idle-accelerator", "host-bound"},
    "i51_harmless_sync": {"host-sync", "host-bound"},
    "graph": {"short-kernels"},
    "i06_dropped_kernels": {"host-bound", "idle-accelerator"},
}
"""Findings that a trace must not have."""


def trace_of(right: Path) -> Path:
    name = right.name.removesuffix(".right.json")
    (trace,) = right.parent.glob(f"{name}.pt.trace.json*")
    return trace


@pytest.mark.parametrize("right", CASES, ids=lambda path: path.name.split(".")[0])
def test_the_cause_of_a_case_comes_first(right: Path) -> None:
    first, *others = stepscope.open(trace_of(right)).findings()
    assert json.loads(right.read_text())["first"].startswith(first["rule"])
    assert first["try"]
    assert first["evidence"][0]["hash"]
    for finding in (first, *others):
        assert finding["saving"] is None or 0 <= finding["saving"] <= finding["whole"]
        assert (
            finding["cost"] is None
            or finding["whole"] is None
            or finding["cost"] <= finding["whole"]
        )


@pytest.mark.parametrize("name", QUIET)
def test_what_costs_nothing_is_not_told(shared: Path, name: str) -> None:
    trace = trace_of(shared / "cases" / "torch" / f"{name}.right.json")
    assert QUIET[name].isdisjoint(finding["rule"] for finding in stepscope.open(trace).findings())


def test_recompilation_names_its_step(shared: Path) -> None:
    first = stepscope.open(shared / "cases/findings/recompile.pt.trace.json.gz").findings()[0]
    assert (first["rule"], first["step"]) == ("recompilation", 3)


def test_garbage_collection_takes_its_share(shared: Path) -> None:
    first = stepscope.open(shared / "cases/torch/i22_python_gc.pt.trace.json").findings()[0]
    assert first["rule"] == "garbage-collection"
    assert first["saving_share"] == pytest.approx(0.8)


def test_launches_without_device_work_are_counted(shared: Path) -> None:
    first = stepscope.open(shared / "cases/torch/i06_dropped_kernels.pt.trace.json").findings()[0]
    assert first["title"].startswith("6 of 10 launches have no device work")

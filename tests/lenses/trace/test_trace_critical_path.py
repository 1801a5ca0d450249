"""The critical path is the chain that decides the step time: its segments add up to it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from planted_traces import Workload, simulate

import stepscope
from paths import SHARED
from stepscope.lenses.trace.critical_path import KINDS, CriticalPath, critical_path
from stepscope.model.profile import Profile
from stepscope.sources import torch_trace

TRACES = sorted((SHARED / "data" / "torch").rglob("*.json.gz"))[::3] if SHARED.is_dir() else []


def path_of(trace: Path) -> CriticalPath | None:
    (record,) = [named.record for named in torch_trace.read(trace).records]
    assert isinstance(record, Profile)
    return critical_path(record)


def shares(workload: Workload, folder: Path) -> dict[str, float]:
    """The part of each kind of the path of a simulated job."""
    simulate(workload, folder)
    path = path_of(folder / "rank0.pt.trace.json")
    assert path is not None
    document = path.to_json()
    return {kind: time / document["total_ps"] for kind, time in document["parts_ps"].items()}


@pytest.mark.parametrize("trace", TRACES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_segments_follow_each_other_without_gaps(trace: Path) -> None:
    path = path_of(trace)
    if path is None:
        return
    assert np.array_equal(path.start[1:], path.end[:-1])
    assert (path.duration > 0).all()
    document = path.to_json()
    assert sum(document["parts_ps"].values()) == document["total_ps"]
    assert sum(row["path_ps"] for row in document["rows"]) == document["total_ps"]
    assert set(document["parts_ps"]) == set(KINDS)


def test_path_of_a_busy_device_is_its_kernels(tmp_path: Path) -> None:
    assert shares(Workload(layers=12), tmp_path)["kernel"] > 0.9


@pytest.mark.parametrize("backward_thread", [False, True])
def test_path_of_a_slow_host_is_its_ops(tmp_path: Path, backward_thread: bool) -> None:
    found = shares(Workload(host_us=200, kernel_us=20, backward_thread=backward_thread), tmp_path)
    assert found["op"] > 0.9


def test_path_goes_through_the_slowest_kernel_and_the_op_that_waits(tmp_path: Path) -> None:
    simulate(Workload(items=1, logs=1), tmp_path)
    answer = stepscope.open(tmp_path).trace(show="critical-path").to_json()
    names = [row["name"] for row in answer["rows"]]
    assert names[0].startswith("ampere_bf16")
    assert any(row["kind"] == "wait" for row in answer["rows"])
    assert answer["step_count"] == 6
    assert answer["segments"][0]["start_ps"] <= answer["segments"][-1]["start_ps"]


def test_profile_of_sums_has_no_path() -> None:
    assert critical_path(Profile()) is None

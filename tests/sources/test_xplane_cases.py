"""Steps, windows and counts of the shared XPlane profiles."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import stepscope
from stepscope.model.profile import LaneKind, Profile
from stepscope.session.source import Source


class Case:
    """A shared profile with its right answer."""

    def __init__(self, shared: Path, name: str) -> None:
        folder = shared / "cases" / "xplane"
        self.right: dict[str, Any] = json.loads((folder / f"{name}.json").read_text())
        self.source: Source = stepscope.open(folder / f"{name}.xplane.pb")
        record = self.source.record("profile")
        assert isinstance(record, Profile)
        self.profile = record

    def device_work(self) -> tuple[np.ndarray, np.ndarray]:
        """Start and end of each execution on a device, in microseconds."""
        executions = self.profile.executions
        on_device = self.profile.lanes.kind[executions.lane] == LaneKind.ACCELERATOR
        start = executions.start_ticks[on_device] / 1e6
        return start, start + executions.duration_ticks[on_device] / 1e6

    def busy_us(self) -> float:
        """The union of the device's executions, worked out one by one."""
        busy = end = 0.0
        for first, last in sorted(zip(*self.device_work(), strict=True)):
            busy += max(0.0, last - max(first, end))
            end = max(end, last)
        return busy

    def step_ids(self) -> list[int]:
        return [int(step) for step in self.profile.steps.id]


@pytest.mark.parametrize(
    "name", ["xplane_gpu_steps", "xplane_tracecontext", "xplane_steps_18_20", "xplane_no_steps"]
)
def test_steps_have_the_numbers_of_their_marks(shared: Path, name: str) -> None:
    case = Case(shared, name)
    assert case.step_ids() == case.right["steps"]


@pytest.mark.parametrize(
    "name",
    [
        "xplane_device_behind_steps",
        "xplane_device_ends_after_host",
        "xplane_gpu_group_id",
        "xplane_zero_stamp_kernel",
    ],
)
def test_device_work_is_read_in_full(shared: Path, name: str) -> None:
    case = Case(shared, name)
    assert case.busy_us() == case.right["device_busy_us"]


def test_device_behind_its_steps_is_idle_between_first_and_last_work(shared: Path) -> None:
    case = Case(shared, "xplane_device_behind_steps")
    (device,) = case.source.breakdown().to_json()["devices"]
    busy_ps, window_ps = device["utilization"]
    assert busy_ps == case.right["device_busy_us"] * 10**6
    assert window_ps - busy_ps == case.right["device_idle_us"] * 10**6


def test_each_step_has_its_kernel_time(shared: Path) -> None:
    case = Case(shared, "xplane_gpu_steps")
    steps = case.source.breakdown().to_json()["steps"]
    kernel_ps = [step["parts_ps"]["kernel"] for step in steps]
    assert kernel_ps == [case.right["kernel_us_per_step"] * 10**6] * 3


def test_kernels_of_groups_without_steps_are_counted(shared: Path) -> None:
    case = Case(shared, "xplane_gpu_group_id")
    assert len(case.device_work()[0]) == case.right["kernels"]
    assert case.step_ids() == []


def test_profile_without_steps_reaches_from_first_to_last_work(shared: Path) -> None:
    case = Case(shared, "xplane_no_steps")
    (whole,) = case.source.breakdown().to_json()["steps"]
    assert whole["duration_ps"] == case.right["whole_us"] * 10**6
    assert whole["parts_ps"]["cpu"] == case.right["host_us"] * 10**6


def test_op_of_marked_steps_has_its_runs_and_time(shared: Path) -> None:
    case = Case(shared, "xplane_steps_18_20")
    right = case.right["op PjitFunction(step)"]
    nodes = case.source.views(view="op").to_json()["nodes"]
    (op,) = [node for node in nodes if node["name"] == "PjitFunction(step)"]
    assert op["run_count"] == right["runs"]
    assert op["total_cpu_exec_micros"] == right["micros"]

"""What traces from the wild show through `stepscope.open`: utilization, communication, launches and ranks."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import stepscope

US = 1_000_000


def right(shared: Path, name: str) -> dict[str, Any]:
    """The right answer of a case."""
    answer: dict[str, Any] = json.loads((shared / "cases/torch" / f"{name}.right.json").read_text())
    return answer


def shown(shared: Path, name: str, show: str) -> dict[str, Any]:
    """What the trace lens shows of a case."""
    (path,) = (
        path for path in (shared / "cases/torch").glob(f"{name}.*") if ".right." not in path.name
    )
    return stepscope.open(path).trace(show=show).to_json()


def folder_of(shared: Path, case: str, into: Path, *, without: str = "") -> Path:
    """The ranks of a case in one folder, without one key of their events."""
    for path in sorted((shared / "cases/torch").glob(f"{case}_rank*.pt.trace.json")):
        trace = json.loads(path.read_text())
        for event in trace["traceEvents"]:
            event.get("args", {}).pop(without, None)
        (into / path.name).write_text(json.dumps(trace))
    return into


def ranks_of(folder: Path) -> dict[str, Any]:
    """The ranks of a folder, each a file."""
    source = stepscope.open(folder)
    return source.select(run=source.catalog.runs()[0]).trace(show="ranks").to_json()


@pytest.mark.parametrize(
    ("case", "busy_us", "elapsed_us"),
    [
        ("i01_host_ahead", 50_000, 51_000),
        ("i13_two_streams", 1_000, 1_200),
        ("i51_harmless_sync", 10_000, None),
        ("i25_27ns_overlap", 99.892, None),
        ("ahead", 60_000, None),
        ("i08_ascend_trace_view", 570, 1_000),
    ],
)
def test_a_device_is_busy_as_long_as_the_case_says(
    shared: Path, case: str, busy_us: float, elapsed_us: float | None
) -> None:
    (device,) = shown(shared, case, "steps")["devices"]
    busy_ps, window_ps = device["utilization"]
    assert busy_ps == round(busy_us * US)
    assert elapsed_us is None or window_ps == elapsed_us * US


@pytest.mark.parametrize(
    ("case", "least"),
    [("ahead", 60 / 72), ("stray", 0.9), ("i01_host_ahead", 0.98), ("i51_harmless_sync", 0.985)],
)
def test_a_device_that_hardly_rests_is_said_to_be_busy(
    shared: Path, case: str, least: float
) -> None:
    (device,) = shown(shared, case, "steps")["devices"]
    busy_ps, window_ps = device["utilization"]
    assert least <= busy_ps / window_ps <= 1


@pytest.mark.parametrize(
    ("case", "communication_us", "kernel_us", "steps"),
    [
        ("i23_vllm_custom_allreduce", 1_200, 400, 4),
        ("nccl_enqueue", 1_000, 500, 1),
        ("i08_ascend_trace_view", 90, 480, 1),
    ],
)
def test_communication_is_the_work_of_devices(
    shared: Path, case: str, communication_us: int, kernel_us: int, steps: int
) -> None:
    document = shown(shared, case, "steps")
    assert document["total_ps"]["communication"] == communication_us * US
    assert document["total_ps"]["kernel"] == kernel_us * US
    assert len(document["steps"]) == steps


def test_a_collective_of_the_host_stretches_no_step(shared: Path) -> None:
    answer = right(shared, "gloo")
    steps = shown(shared, "gloo", "steps")["steps"]
    assert [step["duration_ps"] // US for step in steps] == answer["steps_us"]
    assert [step["complete"] for step in steps] == answer["complete"]


@pytest.mark.parametrize(
    ("case", "host_us", "device_us"), [("i02_cuda_graph", 250, 750), ("graph", 500, 8_000)]
)
def test_a_graph_launch_is_one_launch_with_its_duration_once(
    shared: Path, case: str, host_us: int, device_us: int
) -> None:
    document = shown(shared, case, "launches")
    assert document["launches"] == right(shared, case)["launch_calls"] == 1
    assert document["short"] == 0
    (row,) = document["rows"]
    assert (row["name"], row["count"]) == ("cudaGraphLaunch", 1)
    assert (row["host_ps"], row["device_ps"]) == (host_us * US, device_us * US)
    assert row["delay_p50_ps"] == row["delay_p95_ps"] == row["delay_max_ps"] == row["delay_ps"]
    assert [stream["queue_max"] for stream in document["streams"]] == [1]


@pytest.mark.parametrize(
    ("case", "without", "waiting_us", "transfer_us", "unpaired"),
    [
        ("i14_nccl", "", [600, 0], [300, 300], [0, 0]),
        ("i14_nccl", "Seq", [600, 0], [300, 300], [0, 0]),
        ("i20_seq", "", [600, 0], [250, 250], [1, 0]),
        ("i20_seq", "Seq", [600, 0], [250, 250], [1, 0]),
        ("i21_p2p", "", [0, 700], [100, 100], [0, 0]),
        ("i21_p2p", "Seq", [0, 700], [100, 100], [0, 0]),
        ("i21_p2p", "Src Rank", [0, 0], [0, 0], [1, 1]),
    ],
)
def test_ranks_wait_for_the_calls_that_belong_together(
    shared: Path, tmp_path: Path, *, case: str, without: str, waiting_us: list[int], transfer_us: list[int],
    unpaired: list[int],
) -> None:  # fmt: skip
    document = ranks_of(folder_of(shared, case, tmp_path, without=without))
    found = document["ranks"]
    assert [rank["rank"] for rank in found] == [0, 1]
    assert [rank["waiting_ps"] // US for rank in found] == waiting_us
    assert [rank["transfer_ps"] // US for rank in found] == transfer_us
    assert [rank["unpaired"] for rank in found] == unpaired
    assert sum(problem["count"] for problem in document["problems"]) == sum(unpaired)


def test_ranks_that_came_late_are_the_stragglers(shared: Path, tmp_path: Path) -> None:
    found = ranks_of(folder_of(shared, "i14_nccl", tmp_path))["ranks"]
    assert [rank["came_last"] for rank in found] == [0, 3]
    assert [rank["caused_waiting_ps"] // US for rank in found] == [0, 600]


@pytest.mark.parametrize(
    ("name", "busy_us", "window_us"),
    [
        ("xplane_device_ends_after_host", 250, 300),
        ("xplane_device_behind_steps", 300, 380),
        ("xplane_zero_stamp_kernel", 250, 1000),
    ],
)
def test_a_profile_of_jax_has_the_window_of_host_and_devices(
    shared: Path, name: str, busy_us: int, window_us: int
) -> None:
    document = (
        stepscope.open(shared / f"cases/xplane/{name}.xplane.pb").trace(show="steps").to_json()
    )
    (device,) = document["devices"]
    assert device["utilization"] == [busy_us * US, window_us * US]

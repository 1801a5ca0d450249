"""Launch delays, idle streams and queues: HTA's definitions, and its figures where it is right."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from typing import Any

import pytest
from torch_traces import GOLDEN, profile_of, range_, read_golden

from stepscope.lenses.trace.launches import launched, launches

WHOLE = (
    "kineto_samples~resnet50_autograd_api_num_workers_4~worker0.pt.trace",
    "hta~with_gpu_user_annotation~step_based_trace_2543932",
    "param~dlrm_kineto~worker0_step_12.1694128201545.pt.trace",
    "param~linear_kineto",
)
"""Traces in whole microseconds of which HTA drops no step: it rounds nanoseconds, and leaves the last step out."""


def launch(number: int, start: float, duration: float = 1) -> dict[str, Any]:
    return range_("cudaLaunchKernel", start, duration, cat="cuda_runtime", correlation=number)


def kernel(number: int, start: float, duration: float) -> dict[str, Any]:
    return range_(
        "k", start, duration, cat="kernel", correlation=number, device=0, stream=7, pid=0, tid=7
    )


def test_gaps_are_told_apart_by_when_the_host_launched() -> None:
    found = launches(
        profile_of(
            launch(1, 0), kernel(1, 10, 5),
            launch(2, 2), kernel(2, 20, 5),  # queued in time, gap of 5: the accelerator's own
            launch(3, 4), kernel(3, 100, 5),  # queued in time, gap of 75: it waited for something
            launch(4, 110), kernel(4, 115, 5),  # launched after the last had ended: the host was late
        )
    ).to_json()  # fmt: skip
    (stream,) = found["streams"]
    assert {key: value // 1_000_000 for key, value in stream.items() if key.endswith("_ps")} == {
        "busy_ps": 20,
        "idle_ps": 90,
        "host_bound_ps": 10,
        "kernel_gap_ps": 5,
        "other_ps": 75,
    }
    assert (stream["queue_max"], stream["queue_mean"]) == (3, [10, 8])


def test_a_launch_delay_is_from_the_end_of_the_call_to_the_start_of_the_work() -> None:
    found = launches(
        profile_of(
            launch(1, 0, 4), kernel(1, 10, 2), launch(2, 20, 4), kernel(2, 23, 9), kernel(3, 40, 1)
        )
    ).to_json()
    (row,) = found["rows"]
    assert (found["launches"], found["short"], row["count"]) == (2, 1, 2)
    assert (row["delay_ps"], row["delay_p50_ps"], row["delay_max_ps"]) == (6_000_000, 0, 6_000_000)
    assert (row["host_ps"], row["device_ps"]) == (8_000_000, 11_000_000)


def peer(name: str) -> dict[str, Any]:
    (path,) = (GOLDEN / name).glob("hta*.json.gz")
    answer: dict[str, Any] = json.loads(gzip.decompress(path.read_bytes()))
    return answer


@pytest.mark.usefixtures("shared")
@pytest.mark.parametrize("name", WHOLE)
def test_idle_time_and_launches_equal_hta(name: str) -> None:
    profile, expected = read_golden(name), peer(name)
    found = launches(profile)
    idle: dict[str, dict[str, int]] = {}
    for rank, stream, cause, time, _ in expected["get_idle_time_breakdown"]["value"][0]["df"][
        "data"
    ]:
        if rank == max(profile.header.rank, 0):
            idle.setdefault(f"stream {stream}", {})[cause] = int(time)
    microsecond = 1_000_000 // profile.tick_ps
    assert idle
    for stream in found.streams:
        mine = (stream.host_bound_ticks, stream.kernel_gap_ticks, stream.other_ticks)
        theirs = [
            idle[stream.stream].get(cause, 0) for cause in ("host_wait", "kernel_wait", "other")
        ]
        assert [ticks // microsecond for ticks in mine] == theirs
    table = expected["get_cuda_kernel_launch_stats"]["value"][str(max(profile.header.rank, 0))][
        "df"
    ]["data"]
    theirs = Counter((int(host), int(device), int(delay)) for _, host, device, delay in table)
    pairs = launched(profile)
    columns = (pairs.host_ticks, pairs.device_ticks, pairs.delay_ticks)
    mine = Counter(zip(*((ticks // microsecond).tolist() for ticks in columns), strict=True))
    # HTA knows launches of kernels, copies and sets by a list of names; ours are all that have work.
    assert not theirs - mine

"""Step time by category: exact, and the old plugin's figures where those are right."""

from __future__ import annotations

import gzip
import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from torch_traces import GOLDEN, TRACES, profile_of, range_, read_golden, step

from stepscope.lenses.trace.breakdown import breakdown
from stepscope.lenses.trace.categories import Category
from stepscope.lenses.trace.spans import Spans, overlap

RANGES = st.lists(st.tuples(st.integers(0, 40), st.integers(0, 12)), max_size=12)
AGREES = (
    "generated~conv_full~worker0.1795977105245.pt.trace",
    "generated~conv_workers~worker0.1795977112324.pt.trace",
    "generated~gpt_full~worker0.1795977119212.pt.trace",
    "kineto_samples~resnet50_autograd_api_num_workers_4~worker0.pt.trace",
    "kineto_samples~resnet50_num_workers_4~worker0.1623212756351.pt.trace",
    "kineto_samples~resnet50_profiler_api_num_workers_0~worker0.pt.trace",
    "kineto_samples~resnet50_profiler_api_num_workers_4~worker0.pt.trace",
)
"""Traces in which the old plugin's last state knows every category."""


def covered(ranges: list[tuple[int, int]]) -> set[int]:
    return {tick for start, length in ranges for tick in range(start, start + length)}


def spans(ranges: list[tuple[int, int]]) -> Spans:
    start = np.array([s for s, _ in ranges], np.int64)
    return Spans.union(start, start + np.array([n for _, n in ranges], np.int64))


@given(RANGES, RANGES, st.integers(0, 50), st.integers(0, 50))
def test_unions_and_overlaps_count_every_tick_once(
    a: list[tuple[int, int]], b: list[tuple[int, int]], one: int, other: int
) -> None:
    low, high = min(one, other), max(one, other)
    window = set(range(low, high))
    start, end = np.array([low]), np.array([high])
    assert spans(a).total == len(covered(a))
    assert spans(a).within(start, end).tolist() == [len(covered(a) & window)]
    assert overlap(spans(a), spans(b), start, end).tolist() == [
        len(covered(a) & covered(b) & window)
    ]


def test_a_moment_is_of_the_first_category_that_runs_in_it() -> None:
    profile = profile_of(
        step(1, 0, 100),
        range_("enumerate(DataLoader)#_Iter.__next__", 0, 10),
        range_("aten::mm", 10, 50, cat="cpu_op"),
        range_("cudaLaunchKernel", 12, 4, cat="cuda_runtime", correlation=1),
        range_("gemm", 20, 10, cat="kernel", correlation=1, device=0, stream=7, pid=0, tid=7),
        range_("ncclDevKernel_AllReduce", 25, 20, cat="kernel", device=0, stream=8, pid=0, tid=8),
        range_(
            "Memcpy HtoD (Pinned -> Device)",
            28,
            4,
            cat="gpu_memcpy",
            device=0,
            stream=9,
            pid=0,
            tid=9,
        ),
    )
    (parts,) = breakdown(profile).parts.tolist()
    assert dict(zip(Category, [part // 1000 for part in parts], strict=True)) == {
        Category.KERNEL: 10,
        Category.MEMCPY: 2,
        Category.MEMSET: 0,
        Category.COMMUNICATION: 13,
        Category.RUNTIME: 4,
        Category.DATA_LOADER: 10,
        Category.CPU: 21,
        Category.OTHER: 40,
    }


def test_a_step_lasts_until_its_last_kernel_and_the_next_begins_there() -> None:
    profile = profile_of(
        step(1, 0, 10),
        range_("launch", 5, 1, cat="cuda_runtime", correlation=1),
        range_("k", 8, 7, cat="kernel", correlation=1, device=0, stream=7, pid=0, tid=7),
        step(2, 10, 10),
        range_("launch", 15, 1, cat="cuda_runtime", correlation=2),
        range_("k", 16, 2, cat="kernel", correlation=2, device=0, stream=7, pid=0, tid=7),
    )
    steps = breakdown(profile).steps
    assert list(zip(steps.start // 1000, steps.end // 1000, strict=True)) == [(0, 15), (15, 20)]


def test_a_last_step_with_few_kernels_is_incomplete_and_in_no_mean() -> None:
    kernels = [
        event
        for number, at in enumerate((1, 2, 3, 4, 5, 21), start=1)
        for event in (
            range_("launch", at, 0.5, cat="cuda_runtime", correlation=number),
            range_(
                "k", at + 1, 0.5, cat="kernel", correlation=number, device=0, stream=7, pid=0, tid=7
            ),
        )
    ]
    document = breakdown(profile_of(step(1, 0, 20), step(2, 20, 20), *kernels)).to_json()
    assert [one["complete"] for one in document["steps"]] == [True, False]
    assert document["step_time"]["count"] == 1
    assert sum(document["total_ps"].values()) == document["step_time"]["max_ps"] == 20_000_000


@pytest.mark.usefixtures("shared")
@pytest.mark.parametrize("name", TRACES)
def test_parts_of_real_steps_add_up(name: str) -> None:
    found = breakdown(read_golden(name))
    assert (found.parts >= 0).all()
    assert found.parts.sum(axis=1).tolist() == (found.steps.end - found.steps.start).tolist()
    for device in found.devices:
        assert 0 <= device.busy_ps <= device.span_ps


@pytest.mark.usefixtures("shared")
@pytest.mark.parametrize("name", AGREES)
def test_real_steps_equal_the_old_plugin_where_it_is_right(name: str) -> None:
    found = breakdown(read_golden(name))
    peer = json.loads(gzip.decompress((GOLDEN / name / "tbp.head.json.gz").read_bytes()))
    expected = np.array([cost["costs"][:-1] for cost in peer["step_costs"]])
    # The peer adds floats of microseconds.
    assert np.abs(found.parts[found.steps.complete] / 1000 - expected).max() < 0.01


@pytest.mark.usefixtures("shared")
@pytest.mark.parametrize(
    "name",
    [
        "hta~trace_filter~sampled_rank-0",
        "kineto_samples~resnet50_num_workers_4~worker0.1623212756351.pt.trace",
        "param~dlrm_kineto~worker4_step_12.1694128201547.pt.trace",
        "param~linear_kineto",
        "tracelens~h100~gaunernst_bert-small-uncased__1016001",
    ],
)
def test_devices_of_real_traces_are_as_busy_as_the_old_plugin_says(name: str) -> None:
    (device,) = breakdown(read_golden(name)).devices
    peer = json.loads(gzip.decompress((GOLDEN / name / "tbp.head.json.gz").read_bytes()))[
        "gpu_summary"
    ]
    said = {
        row["title"]: float(row["value"].split()[0])
        for row in peer
        if str(row["value"]).endswith("%")
    }
    assert 100 * device.busy_ps / device.span_ps == pytest.approx(said["GPU Utilization"], abs=0.02)
    assert 100 * (device.sm_efficiency or 0) == pytest.approx(said["Est. SM Efficiency"], abs=0.02)
    assert device.occupancy == pytest.approx(said["Est. Achieved Occupancy"], abs=0.02)


def test_a_device_is_busy_only_in_steps() -> None:
    def kernel(start: float, duration: float, blocks: float) -> dict[str, object]:
        args = {
            "device": 0,
            "stream": 7,
            "blocks per SM": blocks,
            "est. achieved occupancy %": 10 * blocks,
        }
        return range_("k", start, duration, cat="kernel", pid=0, tid=7, **args)

    profile = profile_of(
        step(1, 0, 10), step(2, 90, 10), kernel(5, 2, 0.5), kernel(50, 9, 1), kernel(95, 10, 3)
    )
    (device,) = breakdown(profile).devices
    assert (device.busy_ps // 10**6, device.span_ps // 10**6, device.kernels) == (12, 25, 2)
    assert device.sm_efficiency == pytest.approx((2 * 0.5 + 10) / 25)
    assert device.occupancy == pytest.approx((2 * 5 + 10 * 30) / 12)

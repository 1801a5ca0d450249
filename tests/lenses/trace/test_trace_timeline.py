"""The timeline: nothing overlaps on a level, windows lose nothing, answers stay small."""

from __future__ import annotations

import json
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from torch_traces import profile_of, range_, read_golden, step

from stepscope.lenses.trace.lanes import laid_out, levels
from stepscope.lenses.trace.memory import MemorySeries, memory_over_time
from stepscope.lenses.trace.timeline import MAX_BLOCKS, event, timeline
from stepscope.model.profile import LaneKind, LinkKind

MAX_BYTES = 200_000


@given(st.lists(st.tuples(st.integers(0, 30), st.integers(1, 10)), max_size=20))
def test_ranges_of_one_level_do_not_overlap(ranges: list[tuple[int, int]]) -> None:
    ordered = sorted(ranges, key=lambda one: (one[0], -one[1]))
    start = np.array([at for at, _ in ordered], np.int64)
    end = start + np.array([length for _, length in ordered], np.int64)
    found = levels(start, end)
    for level in range(int(found.max(initial=-1)) + 1):
        rows = found == level
        assert (start[rows][1:] >= end[rows][:-1]).all()


def test_what_is_inside_stands_one_level_below() -> None:
    profile = profile_of(
        step(1, 0, 100),
        range_("a", 10, 50),
        range_("aten::b", 20, 10, cat="cpu_op"),
        range_("c", 70, 5),
    )
    answer = timeline(laid_out(profile), None, None, 1000)
    (lane,) = answer["lanes"]
    placed = {
        answer["names"][name]: (level, start // 10**6)
        for level, start, _, name, *_ in lane["blocks"]
    }
    assert placed == {"ProfilerStep#1": (0, 0), "a": (1, 10), "aten::b": (2, 20), "c": (1, 70)}


def test_what_is_narrower_than_a_pixel_is_merged_under_the_longest_name() -> None:
    events = [range_("short", 10 + 2 * i, 1) for i in range(20)] + [
        range_("longer", 50, 1.9),
        range_("end", 990, 10),
    ]
    answer = timeline(laid_out(profile_of(*events)), None, None, 100)
    merged, single = answer["lanes"][0]["blocks"]
    assert (answer["names"][merged[3]], merged[5]) == ("longer", 21)
    assert (answer["names"][single[3]], single[5]) == ("end", 1)


def test_an_event_has_the_arrows_of_its_launches() -> None:
    profile = profile_of(
        range_("aten::mm", 0, 10, cat="cpu_op"),
        range_("cudaLaunchKernel", 2, 3, cat="cuda_runtime", correlation=1),
        range_(
            "gemm",
            9,
            4,
            cat="kernel",
            correlation=1,
            device=0,
            stream=7,
            pid=0,
            tid=7,
            grid=[1, 2, 3],
        ),
    )
    layout = laid_out(profile)
    for run in range(3):
        (arrow,) = event(layout, run)["arrows"]
        assert (arrow["from"]["name"], arrow["from"]["level"]) == ("cudaLaunchKernel", 1)
        assert (arrow["to"]["name"], arrow["delay_ps"]) == ("gemm", 4_000_000)
    assert event(layout, arrow["to"]["id"])["attributes"] == {"grid": "[1, 2, 3]"}


def test_a_forward_op_has_an_arrow_to_each_backward_op_that_comes_of_it() -> None:
    def arrow(phase: str, number: int, at: float, tid: int) -> dict[str, object]:
        return {
            "ph": phase,
            "cat": "fwdbwd",
            "name": "fwdbwd",
            "id": number,
            "pid": 1,
            "tid": tid,
            "ts": at,
        }

    profile = profile_of(
        range_("aten::linear", 0, 30, cat="cpu_op"),
        range_("aten::addmm", 5, 10, cat="cpu_op"),
        range_("AddmmBackward0", 100, 20, cat="cpu_op", tid=2),
        range_("TBackward0", 150, 20, cat="cpu_op", tid=2),
        arrow("s", 1, 5, 1),
        arrow("f", 1, 100, 2),
        arrow("s", 2, 5, 1),
        arrow("f", 2, 150, 2),
    )
    layout = laid_out(profile)
    names = [profile.strings[i] for i in profile.nodes.name[profile.executions.node].tolist()]

    def led(name: str) -> list[tuple[object, ...]]:
        arrows = event(layout, names.index(name))["arrows"]
        return [
            (
                one["kind"],
                one["from"]["name"],
                one["from"]["level"],
                one["to"]["name"],
                one["delay_ps"],
            )
            for one in arrows
        ]

    first = ("backward", "aten::addmm", 1, "AddmmBackward0", 85_000_000)
    second = ("backward", "aten::addmm", 1, "TBackward0", 135_000_000)
    assert led("aten::linear") == led("aten::addmm") == [first, second]
    assert led("TBackward0") == [second]


@pytest.mark.usefixtures("shared")
@pytest.mark.parametrize(
    "name",
    [
        "generated~conv_full~worker0.1795977105245.pt.trace",
        "tracelens~normalization~normalization_layer_test",
    ],
)
def test_backward_calls_of_real_traces_start_after_their_forward_calls(name: str) -> None:
    profile = read_golden(name)
    runs, links = profile.executions, profile.links
    backward = np.flatnonzero(runs.forward >= 0)
    assert len(backward) == links.count[links.kind == LinkKind.FORWARD_BACKWARD].sum() > 0
    assert (runs.start_ticks[runs.forward[backward]] < runs.start_ticks[backward]).all()


def memory(at: float, delta: int, total: int, reserved: int = 0) -> dict[str, object]:
    args = {"Bytes": delta, "Addr": 1, "Device Type": 1, "Device Id": 0}
    args |= {"Total Allocated": total, "Total Reserved": reserved}
    return {
        "ph": "i",
        "cat": "cpu_instant_event",
        "name": "[memory]",
        "pid": 1,
        "tid": 1,
        "ts": at,
        "args": args,
    }


def test_memory_counters_hold_the_most_of_each_part() -> None:
    profile = profile_of(
        range_("aten::empty", 0, 100, cat="cpu_op"),
        memory(30, 10, 10, 64),
        memory(40, 90, 100, 128),
        memory(45, -90, 10, 128),
        memory(80, -10, 0, 128),
    )
    found = timeline(laid_out(profile), None, None, 5, memory_over_time(profile))["counters"]
    assert [(one["device"], one["what"], one["values"]) for one in found] == [
        ("GPU0", "allocated", [None, 10, 100, 10, 0]),
        ("GPU0", "reserved", [None, 64, 128, 128, 128]),
    ]


@given(
    st.lists(st.tuples(st.integers(0, 50), st.integers(0, 9)), min_size=1, max_size=20),
    st.lists(st.integers(0, 60), min_size=2, max_size=8, unique=True).map(sorted),
)
def test_the_most_memory_of_a_part_is_what_it_starts_with_or_reaches(
    events: list[tuple[int, int]], edges: list[int]
) -> None:
    events = sorted(events, key=lambda one: one[0])
    time, held = (np.array(column, np.int64) for column in zip(*events, strict=True))
    found, _ = MemorySeries("GPU0", "", 1000, time, held, held).highest(np.array(edges))
    for low, high, most in zip(edges[:-1], edges[1:], found.tolist(), strict=True):
        before = [size for at, size in events if at <= low][-1:]
        assert most == max(before + [size for at, size in events if low < at < high], default=-1)


def test_utilisation_is_the_share_of_each_part_in_which_a_kernel_runs() -> None:
    profile = profile_of(
        range_("aten::mm", 0, 100, cat="cpu_op"),
        range_("k", 0, 25, cat="kernel", device=0, stream=7, pid=0, tid=7),
        range_("k", 10, 30, cat="kernel", device=0, stream=8, pid=0, tid=8),
    )
    (counter,) = timeline(laid_out(profile), None, None, 4)["counters"]
    assert counter == {"device": "GPU0", "what": "utilization", "values": [1.0, 0.6, 0.0, 0.0]}


def test_sm_efficiency_is_the_blocks_per_sm_of_what_runs_at_most_one() -> None:
    kernels = [
        range_(
            "k",
            start,
            50,
            cat="kernel",
            device=0,
            stream=lane,
            pid=0,
            tid=lane,
            **{"blocks per SM": blocks},
        )
        for lane, start, blocks in ((7, 0, 0.5), (8, 25, 2))
    ]
    found = timeline(
        laid_out(profile_of(range_("aten::mm", 0, 100, cat="cpu_op"), *kernels)), None, None, 4
    )
    efficiency = {one["what"]: one["values"] for one in found["counters"]}["sm_efficiency"]
    assert efficiency == [0.5, 1.0, 1.0, 0.0]


REAL = (
    "generated~conv_full~worker0.1795977105245.pt.trace",
    "hta~mtia_trace_single_rank~mtia_rank_0",
    "hta~nccl_parser_config~nccl_data",
    "hta~negative_queue_length~rank0",
    "kineto_samples~resnet50_autograd_api_num_workers_4~worker0.pt.trace",
    "tracelens~b200~eager_trace",
    "tracelens~mi210~gpu_only_trace",
)


@pytest.mark.usefixtures("shared")
@pytest.mark.parametrize("name", REAL)
def test_every_execution_of_a_real_trace_is_in_the_answer_which_stays_small(name: str) -> None:
    profile = read_golden(name)
    layout, runs = laid_out(profile), profile.executions
    answer = timeline(layout, None, None, 1600)
    shown = runs.lane >= 0
    shown[shown] = profile.lanes.kind[runs.lane[shown]] != LaneKind.OTHER
    assert sum(
        block[5] for lane in answer["lanes"] for block in lane["blocks"]
    ) == np.count_nonzero(shown)
    rng = random.Random(1)
    for _ in range(3):
        start = rng.randint(*layout.span)
        part = timeline(
            layout,
            start,
            start + (layout.span[1] - layout.span[0]) // rng.choice((2, 50, 1000)),
            1600,
        )
        assert sum(len(lane["blocks"]) for lane in part["lanes"]) <= MAX_BLOCKS
        assert len(json.dumps(part, separators=(",", ":"))) < MAX_BYTES
    assert len(json.dumps(answer, separators=(",", ":"))) < MAX_BYTES

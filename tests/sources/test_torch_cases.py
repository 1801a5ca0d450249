"""Traces of every kind that was misread, with the right answers that are decided while a trace is read.

The right answers are those of `cases/torch` and `cases/trust`. What lenses and findings make of them is tested there.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from torch_tables import tables

from paths import SHARED
from stepscope.model.profile import LaneKind, NodeKind, Profile
from stepscope.sources import torch_trace
from stepscope.sources.content import head
from stepscope.sources.format import Imported
from stepscope.sources.torch_trace.header import parse_name

CASES = SHARED / "cases" / "torch"
FILES = sorted(p.name for p in CASES.glob("*.json*") if ".right." not in p.name) or ["absent"]


def imported(name: str) -> Imported:
    """The records of the case whose file name starts so."""
    (path,) = [CASES / file for file in FILES if file.startswith(name)]
    return torch_trace.read(path)


def profile_of(name: str) -> Profile:
    record = imported(name).records[0].record
    assert isinstance(record, Profile)
    return record


def right(name: str) -> dict[str, Any]:
    (path,) = CASES.glob(f"{name}*.right.json")
    found: dict[str, Any] = json.loads(path.read_text())
    return found


def said(profile: Profile) -> str:
    return "; ".join(loss.what for loss in profile.header.losses)


def device_us(profile: Profile, name: str) -> float:
    """The device time of all ops and ranges of a name, without what they called."""
    return sum(row[3] for (_, op), row in tables(profile).ops.items() if op == name) / 1000


def device_sum_us(profile: Profile) -> float:
    return sum(total for _, total in tables(profile).device.values()) / 1000


def texts_of(profile: Profile, column: Any) -> list[str]:
    return [profile.strings[number] if number >= 0 else "" for number in column.tolist()]


@pytest.mark.usefixtures("shared")
@pytest.mark.parametrize("name", FILES)
def test_every_case_is_a_trace_and_gives_a_valid_record(name: str) -> None:
    assert torch_trace.recognise(CASES / name, head(CASES / name))
    for named in torch_trace.read(CASES / name).records:
        named.record.validate()
        rows = named.record.node_steps
        assert (rows.host_ticks >= 0).all()
        assert (rows.host_total_ticks >= rows.host_ticks).all()
        assert (named.record.executions.duration_ticks >= 0).all()
        assert "unknown categories" not in said(named.record)


@pytest.mark.usefixtures("shared")
@pytest.mark.parametrize(
    ("case", "op"),
    [
        ("i02", "graph_replay"),
        ("i08", "aten::matmul"),
        ("i09", "aten::add"),
        ("i10", "graph_replay"),
        ("i52", "aten::item"),
        ("i53", "aten::mm"),
        ("i53", "aten::add"),
    ],
)
def test_device_time_belongs_to_what_launched_it(case: str, op: str) -> None:
    answers = {
        **right(case),
        "graph_replay accelerator_us": right(case).get("graph_replay_device_us", 40),
    }
    assert device_us(profile_of(case), op) == answers[f"{op} accelerator_us"]


@pytest.mark.usefixtures("shared")
def test_a_range_owns_the_graph_that_it_launches() -> None:
    profile = profile_of("graph.")
    assert device_us(profile, "decode") == right("graph")["decode accelerator_us"]
    launches = profile.nodes.kind[profile.executions.node] == NodeKind.RUNTIME
    names = texts_of(profile, profile.nodes.name[profile.executions.node[launches]])
    assert names.count("cudaGraphLaunch") == 1


@pytest.mark.usefixtures("shared")
@pytest.mark.parametrize("case", ["i08", "i09", "i10", "i24", "i42"])
def test_device_time_adds_up_to_the_right_sum(case: str) -> None:
    assert device_sum_us(profile_of(case)) == right(case)["device_us"]


@pytest.mark.usefixtures("shared")
def test_ranks_in_one_file_are_runs_of_their_own() -> None:
    records = imported("i03").records
    assert [named.run.rpartition("/")[2] for named in records] == ["TP00", "TP01"]
    assert [named.record.header.rank for named in records] == [0, 1]
    assert [named.record.header.world_size for named in records] == [2, 2]
    found = {
        op: device_us(named.record, op) for named in records for op in ("aten::mm", "aten::add")
    }
    first, second = records
    assert device_us(first.record, "aten::mm") == right("i03")["aten::mm accelerator_us"]
    assert device_us(second.record, "aten::add") == right("i03")["aten::add accelerator_us"]
    assert found.keys() == {"aten::mm", "aten::add"}


@pytest.mark.usefixtures("shared")
def test_an_impossible_duration_is_cut_and_named() -> None:
    profile = profile_of("i04")
    assert device_sum_us(profile) == 9 * 20 + 50
    assert "1 duration of device work" in said(profile)
    assert "gemm (2,000,000 us)" in said(profile)


@pytest.mark.usefixtures("shared")
def test_overlaps_below_the_precision_of_clocks_are_left_alone() -> None:
    profile = profile_of("i25")
    assert device_sum_us(profile) == right("i25")["sum_us"]
    assert said(profile) == ""


@pytest.mark.usefixtures("shared")
def test_launches_without_device_work_are_counted() -> None:
    assert "6 launches without device work" in said(profile_of("i06"))


@pytest.mark.usefixtures("shared")
def test_what_two_writers_made_together_is_dropped() -> None:
    profile = profile_of("i07")
    names = texts_of(profile, profile.nodes.name[profile.executions.node])
    assert set(names) == {"aten::mm", "aten::add"}
    assert 38 <= names.count("aten::mm") <= 40
    assert "dropped 2 events" in said(profile)


@pytest.mark.usefixtures("shared")
def test_a_trace_of_torch_npu_keeps_host_and_device_apart() -> None:
    profile = profile_of("i08")
    found = tables(profile)
    assert (
        found.ops["user_annotation", "ProfilerStep#3"][1]
        == right("i08")["host_us (the step)"] * 1000
    )
    assert found.ops["cpu_op", "aten::matmul"][0] == 4
    assert set(found.device) == {"aclnnMatmul_MatMulCommon_MatMulV2", "hcom_allReduce_"}
    lanes = zip(
        texts_of(profile, profile.lanes.device), texts_of(profile, profile.lanes.name), strict=True
    )
    on_device = profile.lanes.kind == LaneKind.ACCELERATOR
    assert [lane for lane, is_device in zip(lanes, on_device, strict=True) if is_device] == [
        ("NPU", "stream 2"),
        ("NPU", "Group 0 Communication"),
    ]
    assert "[[8, 16], [16, 32]]" in list(profile.strings)
    launch = profile.executions.launch[
        profile.nodes.kind[profile.executions.node] == NodeKind.DEVICE
    ]
    assert (launch >= 0).sum() == 4


@pytest.mark.usefixtures("shared")
def test_devices_are_named_by_their_kind() -> None:
    profile = profile_of("i09")
    assert texts_of(profile, profile.devices.name) == ["XPU0"]
    on_device = profile.nodes.kind == NodeKind.DEVICE
    assert set(texts_of(profile, profile.nodes.device[on_device])) == {"XPU0"}
    # The runtime calls the driver: each has its own time.
    runtime = tables(profile)
    host = dict(
        zip(
            texts_of(profile, profile.nodes.name),
            profile.node_steps.host_ticks.tolist(),
            strict=False,
        )
    )
    assert runtime.ops["cpu_op", "aten::add"][1] == right("i09")["aten::add host_us"] * 1000
    assert sum(host.values()) > 0


@pytest.mark.usefixtures("shared")
def test_streams_with_names_are_lanes_of_that_name() -> None:
    profile = profile_of("i10")
    on_device = profile.lanes.kind == LaneKind.ACCELERATOR
    assert texts_of(profile, profile.lanes.name[on_device]) == ["stream 7", "NCCL dp"]


@pytest.mark.usefixtures("shared")
def test_arrows_of_exports_from_before_kineto_lead_to_kernels() -> None:
    calls, host_ns, _, _, device_ns = tables(profile_of("i11")).ops["cpu_op", "aten::mm"]
    assert {"calls": calls, "host_us": host_ns / 1000, "accelerator_us": device_ns / 1000} == right(
        "i11"
    )["aten::mm"]


@pytest.mark.usefixtures("shared")
def test_the_unit_of_times_is_microseconds_whatever_is_displayed() -> None:
    assert (
        tables(profile_of("i15")).ops["cpu_op", "aten::mm"][1]
        == right("i15")["aten::mm total us"] * 1000
    )


@pytest.mark.usefixtures("shared")
def test_an_op_and_a_kernel_of_one_name_are_two() -> None:
    found = tables(profile_of("i16"))
    calls, host_ns, _, device_ns, _ = found.ops["cpu_op", "triton_poi_fused_add_0"]
    assert {"calls": calls, "accelerator_us": device_ns / 1000, "host_us": host_ns / 1000} == right(
        "i16"
    )["op"]
    calls, device_ns = found.device["triton_poi_fused_add_0"]
    assert {"calls": calls, "us": device_ns / 1000} == right("i16")["kernel"]


@pytest.mark.usefixtures("shared")
@pytest.mark.parametrize(("case", "first"), [("i20_seq_rank0", 1), ("i20_seq_rank1", 2)])
def test_calls_of_collectives_keep_their_number_group_and_sizes(case: str, first: int) -> None:
    profile = profile_of(case)
    rows = profile.communications
    on_device = profile.nodes.kind[profile.executions.node[rows.execution]] == NodeKind.DEVICE
    assert rows.sequence[on_device].tolist() == list(range(first, 5))
    assert rows.input_elements[on_device].tolist() == [1000 * number for number in range(first, 5)]
    assert set(texts_of(profile, rows.collective)) == {"allreduce"}
    assert set(texts_of(profile, rows.ranks)) == {"[0, 1]"}
    assert set(rows.group_size.tolist()) == {2}
    assert set(rows.source.tolist()) == {-1}


@pytest.mark.usefixtures("shared")
@pytest.mark.parametrize(
    ("case", "collective"), [("i21_p2p_rank0", "send"), ("i21_p2p_rank1", "recv")]
)
def test_sends_and_receives_keep_their_ranks(case: str, collective: str) -> None:
    profile = profile_of(case)
    rows = profile.communications
    assert texts_of(profile, rows.collective) == [collective]
    assert (rows.source.tolist(), rows.destination.tolist(), rows.sequence.tolist()) == (
        [0],
        [1],
        [1],
    )


@pytest.mark.usefixtures("shared")
def test_garbage_collection_is_a_range() -> None:
    assert tables(profile_of("i22")).ops["user_annotation", "Python GC"][:2] == (1, 800_000_000)


@pytest.mark.usefixtures("shared")
def test_iterations_of_serving_engines_are_steps() -> None:
    profile = profile_of("i23")
    assert len(profile.steps) == right("i23")["iterations"]
    assert profile.steps.id.tolist() == [0, 1, 2, 3]


@pytest.mark.usefixtures("shared")
def test_device_work_without_a_time_is_left_out_and_counted() -> None:
    assert "2 events without a start time" in said(profile_of("i24"))


@pytest.mark.usefixtures("shared")
def test_memory_events_of_the_python_exporter_are_understood() -> None:
    profile = profile_of("i50")
    rows = profile.node_steps
    requested = dict(
        zip(
            texts_of(profile, profile.nodes.name[rows.node]),
            rows.requested_bytes.tolist(),
            strict=True,
        )
    )
    wanted = right("i50")
    assert requested == {"aten::mm": wanted["aten::mm"], "aten::add": wanted["aten::add"]}
    assert int(rows.residual_bytes.sum()) == wanted["residual_bytes"]


@pytest.mark.usefixtures("shared")
def test_correlation_zero_joins_nothing() -> None:
    found = tables(profile_of("i52"))
    assert found.unattributed == {
        torch_trace.NO_LAUNCH: (2, right("i52")["not in the trace"] * 1000)
    }


@pytest.mark.usefixtures("shared")
def test_modules_follow_time_where_ids_skip_them() -> None:
    profile = profile_of("parent_skip")
    modules = tables(profile).scopes
    assert modules["Net_0/Conv2d_0"] == (1, 800_000)
    rows, names = profile.node_steps, texts_of(profile, profile.nodes.name)
    own = {
        names[node]: ticks
        for node, ticks in zip(rows.node.tolist(), rows.host_ticks.tolist(), strict=True)
    }
    assert (own["Net_0"], own["Conv2d_0"]) == (100_000, 200_000)


@pytest.mark.usefixtures("shared")
def test_ranges_that_cross_are_clipped_and_counted() -> None:
    record = torch_trace.read(SHARED / "cases" / "trust" / "cross.json").records[0].record
    assert isinstance(record, Profile)
    ops = {name: row[:3] for (_, name), row in tables(record).ops.items()}
    assert ops == {
        "record_enter": (1, 3_000, 2_000),
        "forward": (1, 1_000, 1_000),
        "aten::mm": (1, 0, 0),
    }
    top = record.nodes.caller[record.node_steps.node] < 0
    assert int(record.node_steps.host_total_ticks[top].sum()) == 3_000
    assert "2 host ranges cross the end of another" in said(record)


@pytest.mark.parametrize(
    ("name", "rank"),
    [
        ("1733-TP-0.trace.json.gz", 0),
        ("1733.12-TP-3-DP-1-EP-3.trace.json.gz", 3),
        ("1733-TP-1-PP-0.trace.json", 1),
        ("1733-TP-1-PP-2.trace.json", -1),
        ("dp0_pp0_tp1_dcp0_ep1_rank1.1770000000.pt.trace.json.gz", 1),
        ("STP-4.json", -1),
        ("worker0.pt.trace.json", -1),
    ],
)
def test_names_of_files_say_the_rank(name: str, rank: int) -> None:
    assert parse_name(Path(name)).rank == rank


def _event(
    name: str, start: float, duration: float, *, cat: str = "", pid: object = 1, **more: Any
) -> dict[str, Any]:
    category = {"cat": cat} if cat else {}
    return {
        "ph": "X",
        "name": name,
        "pid": pid,
        "tid": 7,
        "ts": start,
        "dur": duration,
        **category,
        **more,
    }


def _read(tmp_path: Path, *events: dict[str, Any], **top: Any) -> Imported:
    path = tmp_path / "worker.json"
    path.write_text(json.dumps({"schemaVersion": 1, **top, "traceEvents": events}))
    return torch_trace.read(path)


def test_ranks_that_tracelens_merged_are_told_apart_by_argument_or_process(tmp_path: Path) -> None:
    ops = [
        _event(f"op{rank}", 0, 5, cat="cpu_op", pid=100 + rank, args={"rank": rank})
        for rank in (0, 1, 10)
    ]
    by_argument = _read(tmp_path, *ops)
    assert [named.record.header.rank for named in by_argument.records] == [0, 1, 10]
    names = [
        {
            "ph": "M",
            "name": "process_name",
            "pid": 100 + rank,
            "args": {"name": f"RANK {rank} - CPU"},
        }
        for rank in (0, 1)
    ]
    plain = [_event(f"op{rank}", 0, 5, cat="cpu_op", pid=100 + rank) for rank in (0, 1)]
    by_process = _read(tmp_path, *plain, *names)
    assert [named.run for named in by_process.records] == ["worker/rank0", "worker/rank1"]


def test_waits_and_pictures_of_torch_npu_are_no_work(tmp_path: Path) -> None:
    processes = {
        1: "Python",
        2: "CANN",
        3: "Ascend Hardware",
        4: "HCCL",
        5: "Overlap Analysis",
        6: "AI Core Freq",
    }
    names = [
        {"ph": "M", "name": "process_name", "pid": pid, "args": {"name": name}}
        for pid, name in processes.items()
    ]
    plane = {"ph": "M", "name": "thread_name", "pid": 4, "tid": 7, "args": {"name": "Plane 0"}}
    profile = (
        _read(
            tmp_path,
            *names,
            plane,
            _event("aten::add", 0, 50, cat="cpu_op"),
            _event("AscendCL@aclnnAdd", 10, 20, pid=2, args={"connection_id": 3}),
            _event("Node@launch", 12, 5, pid=2, args={"connection_id": 3}),
            _event("Add", 60, 8, pid=3, args={"Task Type": "AI_VECTOR_CORE", "connection_id": 3}),
            _event("EVENT_WAIT", 70, 100, pid=3, args={"Task Type": "EVENT_WAIT"}),
            _event("Notify_Wait", 70, 100, pid=4),
            _event("Computing", 60, 8, pid=5),
            _event("AI Core Freq", 60, 8, pid=6),
        )
        .records[0]
        .record
    )
    assert isinstance(profile, Profile)
    found = tables(profile)
    assert found.device == {"Add": (1, 8_000)}
    assert set(found.ops) == {("cpu_op", "aten::add")}
    assert found.ops["cpu_op", "aten::add"][3:] == (8_000, 8_000)
    runtime = profile.nodes.kind[profile.node_steps.node] == NodeKind.RUNTIME
    # The call inside the other is not counted twice.
    assert int(profile.node_steps.host_ticks[runtime].sum()) == 20_000


def test_names_that_torch_replaced_are_counted_with_the_longest(tmp_path: Path) -> None:
    events = [_event("unknown", 10 * number, number, cat="cpu_op") for number in range(1, 4)]
    record = _read(tmp_path, *events).records[0].record
    assert "3 names that PyTorch replaced by 'unknown'; the longest range takes 3 us" in said(
        record
    )


def test_kernels_of_one_graph_may_run_side_by_side(tmp_path: Path) -> None:
    kernel = {"cat": "kernel", "pid": 0}
    profile = (
        _read(
            tmp_path,
            _event("cudaGraphLaunch", 0, 5, cat="cuda_runtime", args={"correlation": 1}),
            _event("a", 10, 50, **kernel, args={"device": 0, "stream": 7, "correlation": 1}),
            _event("b", 20, 10, **kernel, args={"device": 0, "stream": 7, "correlation": 1}),
        )
        .records[0]
        .record
    )
    assert isinstance(profile, Profile)
    assert tables(profile).device == {"a": (1, 50_000), "b": (1, 10_000)}


def test_work_that_a_collective_op_launched_has_its_call(tmp_path: Path) -> None:
    call = {
        "Collective name": "allreduce",
        "In msg nelems": 8,
        "Process Group Name": "dp",
        "Group size": 4,
        "Seq": 9,
    }
    place = {"device": 0, "stream": 7}
    profile = (
        _read(
            tmp_path,
            _event("record_param_comms", 0, 20, cat="cpu_op", args=call),
            _event("nccl:all_reduce", 2, 10, cat="user_annotation"),
            _event("cudaMemcpyAsync", 3, 1, cat="cuda_runtime", args={"correlation": 1}),
            _event("cudaLaunchKernel", 5, 1, cat="cuda_runtime", args={"correlation": 2}),
            _event("Memcpy DtoD", 30, 5, cat="gpu_memcpy", pid=0, args={**place, "correlation": 1}),
            _event(
                "ncclKernel_AllReduce", 40, 5, cat="kernel", pid=0, args={**place, "correlation": 2}
            ),
        )
        .records[0]
        .record
    )
    assert isinstance(profile, Profile)
    rows = profile.communications
    names = texts_of(profile, profile.nodes.name[profile.executions.node[rows.execution]])
    assert names == ["record_param_comms", "ncclKernel_AllReduce"]
    assert rows.sequence.tolist() == [9, 9]
    assert set(texts_of(profile, rows.group)) == {"dp"}

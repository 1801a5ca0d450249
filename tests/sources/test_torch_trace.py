"""The PyTorch source on traces written here, so that each rule is seen to bite."""

from __future__ import annotations

import contextlib
import gzip
import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from torch_tables import attributes, scopes_of, stacks_of, tables

from stepscope.errors import DamagedSource, SourceError
from stepscope.model.profile import LinkKind, NodeKind, Profile
from stepscope.sources import torch_trace
from stepscope.sources.torch_trace import bytes as torch_trace_bytes
from stepscope.sources.torch_trace.numbers import MISSING, nanoseconds
from stepscope.sources.torch_trace.python import parse_frame

BASE_NS = 1_790_000_000_000_000_000


def op(
    name: str, start: float, duration: float, *, tid: int = 1, cat: str = "cpu_op", **args: Any
) -> dict[str, Any]:
    return {
        "ph": "X",
        "cat": cat,
        "name": name,
        "pid": 1,
        "tid": tid,
        "ts": start,
        "dur": duration,
        "args": args,
    }


def launch(correlation: int, start: float, duration: float = 1, *, tid: int = 1) -> dict[str, Any]:
    return op(
        "cudaLaunchKernel", start, duration, tid=tid, cat="cuda_runtime", correlation=correlation
    )


def kernel(
    name: str, correlation: int, start: float, duration: float, **args: Any
) -> dict[str, Any]:
    event = op(
        name,
        start,
        duration,
        tid=7,
        cat="kernel",
        correlation=correlation,
        device=0,
        stream=7,
        **args,
    )
    return {**event, "pid": 0}


def frame(
    name: str, start: float, duration: float, number: int, parent: int | None
) -> dict[str, Any]:
    return op(
        name,
        start,
        duration,
        cat="python_function",
        **{"Python id": number, "Python parent id": parent},
    )


def step(number: int, start: float, duration: float) -> dict[str, Any]:
    return op(f"ProfilerStep#{number}", start, duration, cat="user_annotation")


def write(path: Path, events: list[dict[str, Any]], **top: Any) -> Path:
    path.write_text(
        json.dumps(
            {"schemaVersion": 1, "baseTimeNanoseconds": BASE_NS, **top, "traceEvents": events}
        )
    )
    return path


def read(path: Path) -> Profile:
    profile = torch_trace.read(path).records[0].record
    assert isinstance(profile, Profile)
    profile.validate()
    return profile


def profile_of(tmp_path: Path, *events: dict[str, Any], **top: Any) -> Profile:
    return read(write(tmp_path / "worker0.pt.trace.json", list(events), **top))


def losses(profile: Profile) -> str:
    return "; ".join(loss.what for loss in profile.header.losses)


def test_self_time_is_without_direct_children(tmp_path: Path) -> None:
    profile = profile_of(
        tmp_path, op("inner", 12, 3), op("outer", 10, 20), op("inner", 11, 18), op("inner", 40, 1)
    )
    found = tables(profile).ops
    assert found["cpu_op", "outer"] == (1, 20_000, 2_000, 0, 0)
    assert found["cpu_op", "inner"] == (3, 22_000, 19_000, 0, 0)


def test_call_paths_are_nodes(tmp_path: Path) -> None:
    shapes = {"Input Dims": [[2, 3], []]}
    profile = profile_of(
        tmp_path,
        op("a", 0, 10),
        op("b", 1, 2),
        op("b", 4, 2),
        op("b", 7, 2, **shapes),
        op("b", 20, 5),
        op("a", 30, 5),
    )
    nodes, texts = profile.nodes, list(profile.strings)
    rows = [
        (
            texts[name],
            texts[nodes.name[caller]] if caller >= 0 else "",
            texts[shape] if shape >= 0 else "",
        )
        for name, caller, shape in zip(nodes.name, nodes.caller, nodes.input_shape, strict=True)
    ]
    assert sorted(rows) == [
        ("a", "", ""),
        ("b", "", ""),
        ("b", "a", ""),
        ("b", "a", "[[2, 3], []]"),
    ]


def test_a_range_that_outlasts_its_parent_is_clipped(tmp_path: Path) -> None:
    profile = profile_of(tmp_path, op("a", 0, 10), op("b", 5, 10), op("c", 12, 1), op("d", 20, 4))
    ops = {name: figures[:3] for (_, name), figures in tables(profile).ops.items()}
    assert ops == {
        "a": (1, 10_000, 5_000),
        "b": (1, 5_000, 5_000),
        "c": (1, 0, 0),
        "d": (1, 4_000, 4_000),
    }
    assert losses(profile) == (
        "2 host ranges cross the end of another; StepScope clips them there. The largest overrun is b (5 us)"
    )


def test_communication_that_outlasts_its_op_holds_no_later_ops(tmp_path: Path) -> None:
    started = op("gloo:all_reduce", 5, 100, cat="user_annotation")
    profile = profile_of(tmp_path, op("c10d::allreduce_", 0, 10), started, op("aten::mm", 20, 30))
    ops = {name: figures[:3] for (_, name), figures in tables(profile).ops.items()}
    assert ops == {
        "c10d::allreduce_": (1, 10_000, 5_000),
        "gloo:all_reduce": (1, 5_000, 5_000),
        "aten::mm": (1, 30_000, 30_000),
    }


def test_device_time_follows_correlation_to_the_innermost_op(tmp_path: Path) -> None:
    profile = profile_of(
        tmp_path,
        op("outer", 0, 20),
        op("range", 1, 15, cat="user_annotation"),
        op("inner", 2, 10),
        launch(5, 3),
        kernel("k", 5, 50, 4, **{"External id": 99}),
        launch(6, 14),
        kernel("k", 6, 60, 2),
        kernel("early", 4, 1, 3),
        launch(7, 30),
        kernel("loose", 7, 70, 8),
    )
    found = tables(profile)
    assert found.ops["cpu_op", "inner"][3:] == (4_000, 4_000)
    assert found.ops["cpu_op", "outer"][3:] == (0, 6_000)
    assert found.ops["user_annotation", "range"][3:] == (2_000, 6_000)
    assert found.kernel_by_op == {"k": {"inner": 4_000, "range": 2_000}}
    assert found.unattributed == {
        torch_trace.NO_LAUNCH: (1, 3_000),
        torch_trace.OUTSIDE_OP: (1, 8_000),
    }


def test_one_launch_may_start_many_kernels(tmp_path: Path) -> None:
    profile = profile_of(
        tmp_path, op("a", 0, 9), launch(1, 2), kernel("k", 1, 10, 2), kernel("k", 1, 13, 2)
    )
    assert tables(profile).ops["cpu_op", "a"][3] == 4_000
    links = profile.links
    assert links.kind.tolist() == [LinkKind.LAUNCH]
    assert links.count.tolist() == [2]


def test_steps_are_told_by_name_and_time(tmp_path: Path) -> None:
    profile = profile_of(
        tmp_path,
        step(7, 0, 10),
        op("a", 1, 2),
        launch(1, 2),
        kernel("k", 1, 15, 1),
        step(8, 10, 10),
        op("a", 11, 2),
        op("a", 25, 1),
    )
    steps, texts = profile.steps, list(profile.strings)
    assert steps.id.tolist() == [7, 8]
    assert [texts[name] for name in steps.name] == ["ProfilerStep#7", "ProfilerStep#8"]
    runs = zip(profile.executions.node, profile.executions.step, strict=True)
    named = sorted((texts[profile.nodes.name[node]], int(at)) for node, at in runs)
    assert named == [
        ("ProfilerStep#7", 0),
        ("ProfilerStep#8", 1),
        ("a", -1),
        ("a", 0),
        ("a", 1),
        ("cudaLaunchKernel", 0),
        ("k", 0),
    ]


def test_scopes_are_ranges_and_modules_but_not_steps(tmp_path: Path) -> None:
    profile = profile_of(
        tmp_path,
        step(1, 0, 100),
        frame("train.py(3): main", 1, 98, 1, None),
        frame("torch/autograd/profiler.py(9): __enter__", 4, 3, 2, 1),
        op("forward", 5, 60, cat="user_annotation"),
        frame("nn.Module: Net_0", 10, 40, 3, 1),
        frame("net.py(8): forward", 11, 38, 4, 3),
        op("aten::mm", 12, 5),
        op("aten::sum", 60, 2),
        op("aten::add", 80, 2),
    )
    assert scopes_of(profile, "aten::mm") == {"forward/Net_0/aten::mm"}
    assert scopes_of(profile, "aten::sum") == {"forward/aten::sum"}
    assert scopes_of(profile, "aten::add") == {"aten::add"}
    assert stacks_of(profile, "aten::mm") == {("train.py:3:main", "net.py:8:forward")}
    assert stacks_of(profile, "forward") == {("train.py:3:main",)}
    assert tables(profile).scopes["forward/Net_0"] == (1, 40_000)


def test_modules_are_without_inner_modules_and_ops(tmp_path: Path) -> None:
    profile = profile_of(
        tmp_path,
        frame("nn.Module: Net_0", 0, 50, 1, None),
        op("a", 2, 5),
        op("b", 3, 2),
        frame("nn.Module: Linear_0", 10, 20, 2, 1),
        op("a", 12, 6),
    )
    own = dict(
        zip(profile.node_steps.node.tolist(), profile.node_steps.host_ticks.tolist(), strict=True)
    )
    texts, nodes = list(profile.strings), profile.nodes
    modules = {
        texts[nodes.name[n]]: own[n] for n in np.flatnonzero(nodes.kind == NodeKind.SCOPE).tolist()
    }
    assert modules == {"Net_0": 25_000, "Linear_0": 14_000}


def test_call_stacks_of_older_traces_are_read(tmp_path: Path) -> None:
    stack = "lib/nn.py(20): linear;train.py(7): main;"
    profile = profile_of(tmp_path, op("a", 0, 9, **{"Call stack": stack}), op("b", 1, 2))
    assert (
        stacks_of(profile, "b")
        == stacks_of(profile, "a")
        == {("train.py:7:main", "lib/nn.py:20:linear")}
    )


def test_frames_without_a_file_lose_their_address() -> None:
    assert parse_frame("<built-in method conv2d of type object at 0x7f01>") == (
        "",
        0,
        "<built-in method conv2d of type object>",
    )
    assert parse_frame("a (x)/b.py(12): f") == ("a (x)/b.py", 12, "f")


def test_forward_and_backward_are_linked(tmp_path: Path) -> None:
    flow = {"cat": "fwdbwd", "name": "fwdbwd", "pid": 1, "id": 4}
    profile = profile_of(
        tmp_path,
        op("mul", 0, 5),
        {**flow, "ph": "s", "tid": 1, "ts": 0},
        op("MulBackward0", 20, 5, tid=2),
        {**flow, "ph": "f", "bp": "e", "tid": 2, "ts": 20},
        {**flow, "ph": "s", "tid": 1, "ts": 2, "id": 5},
    )
    texts, links = list(profile.strings), profile.links
    names = [
        (texts[profile.nodes.name[a]], texts[profile.nodes.name[b]])
        for a, b in zip(links.source, links.target, strict=True)
    ]
    assert names == [("mul", "MulBackward0")]
    assert links.kind.tolist() == [LinkKind.FORWARD_BACKWARD]


def test_without_arrows_sequence_numbers_link(tmp_path: Path) -> None:
    made, runs = (
        {"Sequence number": 4, "Fwd thread id": 0},
        {"Sequence number": 4, "Fwd thread id": 1},
    )
    profile = profile_of(
        tmp_path,
        op("aten::conv2d", 0, 9, **made),
        op("aten::convolution", 1, 7, **made),
        op("autograd::engine::evaluate_function: ConvolutionBackward0", 20, 9, **runs),
        op("ConvolutionBackward0", 21, 7, **runs),
        op("unpaired", 40, 1, **{"Sequence number": 5, "Fwd thread id": 1}),
    )
    texts, links = list(profile.strings), profile.links
    ends = np.concatenate([links.source, links.target])
    assert [texts[name] for name in profile.nodes.name[ends]] == [
        "aten::convolution",
        "ConvolutionBackward0",
    ]


def memory(
    start: float, size: int, address: int, total: int = 0, *, device: tuple[int, int] = (0, -1)
) -> dict[str, Any]:
    args = {
        "Bytes": size,
        "Addr": address,
        "Device Type": device[0],
        "Device Id": device[1],
        "Total Allocated": 0,
        "Total Reserved": 0,
    }
    return {
        "ph": "i",
        "cat": "cpu_instant_event",
        "name": "[memory]",
        "pid": 1,
        "tid": 1,
        "ts": start,
        "args": args,
    }


def test_memory_is_held_by_the_op_that_allocated_it(tmp_path: Path) -> None:
    profile = profile_of(
        tmp_path,
        op("a", 0, 10),
        op("b", 20, 10),
        memory(25, -100, 1),
        memory(1, 100, 1),
        memory(2, 50, 2),
        memory(21, 30, 3),
        memory(26, -7, 9),
        memory(27, 5, 1, device=(20, 1)),
        memory(28, 5, 1, device=(77, 1)),
    )
    nodes, rows, texts = profile.nodes, profile.node_steps, list(profile.strings)
    held = {
        texts[nodes.name[node]]: figures
        for node, *figures in zip(
            rows.node.tolist(),
            rows.requested_bytes.tolist(),
            rows.peak_bytes.tolist(),
            rows.residual_bytes.tolist(),
            strict=True,
        )
    }
    assert held == {"a": [150, 150, 50], "b": [40, 40, 40]}
    assert {texts[d] for d in profile.allocations.device} == {
        "CPU",
        "privateuseone:1",
        "device77:1",
    }


def test_kernels_keep_how_they_were_launched(tmp_path: Path) -> None:
    shape = {
        "grid": [2, 1, 1],
        "block": [64, 1, 1],
        "registers per thread": 40,
        "queued": 3,
        "dtype": "Float",
    }
    profile = profile_of(tmp_path, op("a", 0, 9), launch(1, 2), kernel("k", 1, 10, 2, **shape))
    node = int(np.flatnonzero(profile.nodes.kind == NodeKind.DEVICE)[0])
    said = {key: value for (at, key), value in attributes(profile).items() if at == node}
    assert said == {
        "grid": "[2, 1, 1]",
        "block": "[64, 1, 1]",
        "registers per thread": "40",
        "dtype": "Float",
    }


def test_threads_and_streams_are_lanes(tmp_path: Path) -> None:
    name = {"ph": "M", "name": "thread_name", "pid": 1, "tid": 1, "ts": 0, "args": {"name": "main"}}
    profile = profile_of(
        tmp_path, name, op("a", 0, 9), op("b", 0, 9, tid=2), launch(1, 2), kernel("k", 1, 10, 2)
    )
    texts, lanes = list(profile.strings), profile.lanes
    shown = [
        (texts[device], texts[lane]) for device, lane in zip(lanes.device, lanes.name, strict=True)
    ]
    assert shown == [("CPU", "main"), ("CPU", "thread 2"), ("GPU0", "stream 7")]


def test_the_header_says_rank_and_anchor_but_nothing_private(tmp_path: Path) -> None:
    path = write(
        tmp_path / "node3_417.1795977105245.pt.trace.json",
        [op("a", 5, 9)],
        distributedInfo={"rank": 2, "world_size": 8, "backend": "nccl"},
        host_name="secret-host",
        username="secret-user",
        env={"TOKEN": "secret-token"},
    )
    imported = torch_trace.read(path)
    header = imported.records[0].record.header
    assert (header.rank, header.world_size, header.host, header.wall_anchor_ns) == (
        2,
        8,
        "node3",
        BASE_NS + 5_000,
    )
    assert imported.run == "node3_417"
    assert "secret" not in repr(header) + "".join(imported.records[0].record.strings)


def test_devices_are_described(tmp_path: Path) -> None:
    device = {
        "id": 1,
        "name": "NVIDIA B200",
        "totalGlobalMem": 191503138816,
        "computeMajor": 10,
        "numSms": 148,
    }
    profile = profile_of(tmp_path, op("a", 0, 1), deviceProperties=[device])
    devices, texts = profile.devices, list(profile.strings)
    assert [texts[devices.name[0]], texts[devices.model[0]]] == ["GPU1", "NVIDIA B200"]
    assert devices.memory_bytes.tolist() == [191503138816]
    assert (devices.compute_major.tolist(), devices.multiprocessors.tolist()) == ([10], [148])


def test_properties_may_stand_behind_the_events(tmp_path: Path) -> None:
    path = tmp_path / "t.json"
    path.write_text(
        json.dumps(
            {
                "traceEvents": [op("a", 0, 1)],
                "deviceProperties": [{"id": 0, "name": "x"}, {"id": 1, "name": "y"}],
            }
        )[:-1]
        + f', "baseTimeNanoseconds": {BASE_NS}}}'
    )
    profile = read(path)
    assert profile.header.wall_anchor_ns == BASE_NS
    assert not profile.header.losses


@pytest.mark.parametrize("size", [1, 7, 64, 1000])
@pytest.mark.parametrize("indent", [None, 1])
def test_batches_may_be_cut_anywhere(
    size: int, indent: int | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tricky = {"Call stack": 'x.py(1): f}, {"ph": "X"};', "list": [{"ph": 1}, {"ph": 2}]}
    events = [op(f"op {i}", 10 * i, 5, **tricky) for i in range(40)]
    path = tmp_path / "t.json"
    path.write_text(
        json.dumps({"schemaVersion": 1, "traceEvents": events, "traceName": "]}, {"}, indent=indent)
    )
    whole = read(path)
    monkeypatch.setattr(torch_trace_bytes, "READ_BYTES", size)
    assert read(path) == whole
    assert len(whole.executions) == 40
    assert not whole.header.losses


def test_one_broken_event_costs_itself(tmp_path: Path) -> None:
    events = [json.dumps(op(f"op{i}", 10 * i, 5)) for i in range(100)]
    events[20] = events[20].replace("op20", 'say "hello", twice')
    events[50] = '{"ph": "X", "cat": "cpu_op", "broken'
    events[70] = events[70].replace('"dur": 5', '"dur": nan')
    path = tmp_path / "t.json"
    path.write_text('{"schemaVersion": 1, "traceEvents": [' + ",\n".join(events) + "]}")
    profile = read(path)
    assert ("cpu_op", 'say "hello", twice') in tables(profile).ops
    assert len(profile.executions) == 99
    assert losses(profile) == (
        "repaired 2 events: not valid JSON; dropped 1 event: nothing could be understood"
        "; 1 event without a duration, taken as 0"
    )


def test_windows_paths_are_read_literally(tmp_path: Path) -> None:
    text = json.dumps(
        {"schemaVersion": 1, "traceEvents": [frame("FRAME", 0, 9, 1, None), op("a", 1, 2)]}
    )
    path = tmp_path / "t.json"
    path.write_text(text.replace("FRAME", r"C:\new\torch\_ops.py(3): f"))
    assert stacks_of(read(path), "a") == {(r"C:\new\torch\_ops.py:3:f",)}


def test_cut_off_files_give_what_is_whole(tmp_path: Path) -> None:
    whole = write(tmp_path / "t.json", [op(f"op{i}", 10 * i, 5) for i in range(50)]).read_bytes()
    (tmp_path / "cut.json").write_bytes(whole[: len(whole) // 2])
    cut = read(tmp_path / "cut.json")
    assert 20 < len(cut.executions) < 30
    assert "cut off" in losses(cut)
    packed = gzip.compress(whole)
    (tmp_path / "cut.json.gz").write_bytes(packed[:-200])
    assert "gzip stream cut off" in losses(read(tmp_path / "cut.json.gz"))


def test_gzip_members_follow_each_other(tmp_path: Path) -> None:
    whole = write(tmp_path / "t.json", [op("a", 0, 5), op("b", 10, 5)]).read_bytes()
    (tmp_path / "two.json.gz").write_bytes(gzip.compress(whole[:150]) + gzip.compress(whole[150:]))
    assert len(read(tmp_path / "two.json.gz").executions) == 2


def test_unknown_categories_are_said(tmp_path: Path) -> None:
    profile = profile_of(tmp_path, op("a", 0, 5), op("x", 0, 5, cat="novel_unit"))
    assert losses(profile) == "events of unknown categories: novel_unit (1)"


def test_progress_reaches_the_size_of_the_file(tmp_path: Path) -> None:
    path = write(tmp_path / "t.json", [op("a", 0, 5)])
    told: list[tuple[int, int]] = []
    torch_trace.read(path, lambda done_bytes, total_bytes: told.append((done_bytes, total_bytes)))
    assert told[-1] == (path.stat().st_size, path.stat().st_size)


def test_what_is_no_trace_is_refused(tmp_path: Path) -> None:
    (tmp_path / "t.json").write_text("<html>Not found</html>")
    with pytest.raises(DamagedSource, match="no list of traceEvents"):
        torch_trace.read(tmp_path / "t.json")
    (tmp_path / "empty.json").write_bytes(b"")
    with pytest.raises(DamagedSource, match="empty file"):
        torch_trace.read(tmp_path / "empty.json")


@given(
    st.lists(
        st.tuples(st.integers(0, 9_223_372_036_854_774), st.integers(0, 999), st.integers(0, 3)),
        max_size=30,
    )
)
def test_times_are_exact(numbers: list[tuple[int, int, int]]) -> None:
    texts, expected = [], []
    for micros, nanos, decimals in numbers:
        kept = nanos // 10 ** (3 - decimals)
        texts.append(f"{micros}.{kept:0{decimals}d}" if decimals else str(micros))
        expected.append(micros * 1000 + (kept * 10 ** (3 - decimals) if decimals else 0))
    assert nanoseconds([text.encode() for text in texts]).tolist() == expected


def test_odd_times_are_understood() -> None:
    texts = [
        b'"5.5"',
        b"1e3",
        b"-5",
        b"null",
        b"",
        b"NaN",
        b"0.0015",
        b"1e999999999",
        b"9223372036854775.808",
    ]
    expected = [5500, 1_000_000, -5000, MISSING, MISSING, MISSING, 2, MISSING, MISSING]
    assert nanoseconds(texts).tolist() == expected


def test_an_event_without_a_duration_takes_none(tmp_path: Path) -> None:
    event = op("a", 1, 1)
    del event["dur"]
    assert tables(profile_of(tmp_path, op("b", 0, 3), event)).ops["cpu_op", "a"] == (1, 0, 0, 0, 0)


def test_endless_nesting_costs_one_event(tmp_path: Path) -> None:
    text = json.dumps(
        {"schemaVersion": 1, "traceEvents": [op("a", 0, 5, shape="DEEP"), op("b", 10, 5)]}
    )
    path = tmp_path / "t.json"
    path.write_text(text.replace('"DEEP"', "[" * 100_000 + "]" * 100_000))
    assert ("cpu_op", "b") in tables(read(path)).ops


@pytest.mark.parametrize("seed", range(150))
def test_any_damage_is_read_or_refused(seed: int, tmp_path: Path) -> None:
    chance = random.Random(seed)
    events = [
        step(1, 0, 90),
        frame("nn.Module: Net_0", 1, 80, 1, None),
        op("a", 2, 9),
        launch(5, 3),
        kernel("k", 5, 30, 4),
        memory(4, 64, 7),
    ]
    damaged = bytearray(write(tmp_path / "whole.json", events).read_bytes())
    for _ in range(chance.randint(1, 5)):
        at = chance.randrange(len(damaged))
        token = chance.choice(
            [
                b'"',
                b"{",
                b"}",
                b"[",
                b"]",
                b",",
                b"null",
                b"1e999",
                b"\\",
                b"\x00",
                b"\xff",
                b'"ts":',
            ]
        )
        damaged[at : at + chance.choice([0, 1, 30])] = token
    path = tmp_path / "damaged.json"
    path.write_bytes(damaged)
    with contextlib.suppress(SourceError):
        read(path)


def test_half_a_surrogate_pair_in_the_header_costs_that_value(tmp_path: Path) -> None:
    path = write(
        tmp_path / "a.json",
        [op("a", 5, 9)],
        baseTimeNanoseconds="\ud800",
        distributedInfo={"rank": 2},
    )
    profile = read(path)
    assert profile.header.rank == 2
    assert "time base" in losses(profile)

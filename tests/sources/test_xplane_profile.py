"""XPlane profiles as profile records: what the views lens is given."""

from __future__ import annotations

import functools
import struct
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from xplane_builder import Collective, event, length_delimited, metadata_plane, space, varint, write

from stepscope.lenses import views
from stepscope.lenses.views.options import ViewsOptions
from stepscope.model.profile import NodeKind, Profile
from stepscope.pb import xplane_pb2
from stepscope.sources import xplane
from stepscope.sources.xplane.file import SpaceReader, parse_line
from stepscope.sources.xplane.ops import framework_op, python_call, scope_of, stack_frames
from stepscope.sources.xplane.plane import PlaneView

TPU = "tpu_inference_2/tpu_inference_2.xplane.pb"
JAX = "jax_cpu_train"
GPU = "gpu_multi_worker"


def _profile(path: Path) -> Profile:
    (record,) = (
        r.record for r in xplane.FORMAT.read(path, None).records if isinstance(r.record, Profile)
    )
    record.validate()
    return record


@functools.cache
def _real(path: Path) -> Profile:
    return _profile(path)


def _names(profile: Profile, column: np.ndarray) -> list[str]:  # type: ignore[type-arg]
    return [profile.strings[i] if i >= 0 else "" for i in column]


def _plane(
    name: str, lines: list[tuple[str, list[tuple[str, int, int]]]], stats: dict[str, dict[str, int]]
) -> bytes:
    """A plane of lines of (event name, start, duration) in ps; `stats` are integer stats of all events of a name."""
    plane = xplane_pb2.Plane(name=name.encode())
    names = {
        n: i + 1 for i, n in enumerate(dict.fromkeys(e[0] for _, events in lines for e in events))
    }
    keys = {
        k: i + 1 for i, k in enumerate(dict.fromkeys(k for found in stats.values() for k in found))
    }
    for text, key in names.items():
        plane.event_metadata[key].name = text.encode()
    for text, key in keys.items():
        plane.stat_metadata[key].name = text.encode()
    for title, events in lines:
        line = xplane_pb2.Line(name=title.encode())
        for text, start, duration in events:
            body = [
                length_delimited(4, b"\x08" + varint(keys[k]) + b"\x20" + varint(v))
                for k, v in stats.get(text, {}).items()
            ]
            line.events.append(event(names[text], start, duration, b"".join(body)))
        plane.lines.append(line.SerializeToString())
    return bytes(plane.SerializeToString())


def test_nested_host_events_become_a_call_tree_with_self_time(tmp_path: Path) -> None:
    events = [("outer", 0, 100), ("inner", 10, 30), ("inner", 50, 20), ("outer", 200, 10)]
    profile = _profile(write(tmp_path, space(_plane("/host:CPU", [("main", events)], {}))))
    assert _names(profile, profile.nodes.name) == ["outer", "inner"]
    assert profile.nodes.caller.tolist() == [-1, 0]
    assert profile.node_steps.host_ticks.tolist() == [60, 50]
    assert profile.node_steps.host_total_ticks.tolist() == [110, 50]
    assert profile.node_steps.run_count.tolist() == [2, 2]
    assert (profile.tick_ps, profile.nested) == (1, True)


def test_python_calls_become_the_traces_of_what_they_call(tmp_path: Path) -> None:
    events = [
        ("$train.py:7 step", 0, 100),
        ("$model.py:3 forward", 10, 50),
        ("matmul", 20, 10),
        ("matmul", 70, 10),
    ]
    profile = _profile(write(tmp_path, space(_plane("/host:CPU", [("main", events)], {}))))
    assert _names(profile, profile.nodes.name) == ["matmul", "matmul"]
    lines = [int(profile.frames.line[profile.traces.frame[t]]) for t in profile.nodes.trace]
    assert sorted(lines) == [3, 7]
    assert profile.has_traces


def test_host_steps_last_until_the_next_one_starts(tmp_path: Path) -> None:
    steps = [("a", 0, 10), ("b", 100, 10)]
    worker = [("op", 50, 10), ("op", 150, 10)]
    plane = _plane(
        "/host:CPU",
        [("main", steps), ("worker", worker)],
        {"a": {"step_num": 4}, "b": {"step_num": 5}},
    )
    profile = _profile(write(tmp_path, space(plane)))
    assert profile.steps.id.tolist() == [4, 5]
    op = _names(profile, profile.nodes.name).index("op")
    rows = profile.node_steps.node == op
    assert profile.node_steps.step[rows].tolist() == [0, 1]


def test_launches_are_runtime_calls_within_their_op(tmp_path: Path) -> None:
    events = [("scope/mul:Mul", 0, 100), ("kernel", 10, 30)]
    plane = _plane("/host:CPU", [("main", events)], {"kernel": {"correlation_id": 1}})
    profile = _profile(write(tmp_path, space(plane)))
    assert profile.nodes.kind.tolist() == [NodeKind.OP, NodeKind.RUNTIME]
    assert _names(profile, profile.nodes.op) == ["Mul", "kernel"]
    assert profile.node_steps.host_ticks.tolist() == [100, 30]


def test_gpu_kernels_stand_below_the_instruction_that_launched_them(tmp_path: Path) -> None:
    gpu = xplane_pb2.Plane(name=b"/device:GPU:0")
    gpu.event_metadata[1].name = b"loop_add_kernel"
    for key, name in enumerate(("hlo_op", "hlo_module"), 1):
        gpu.stat_metadata[key].name = name.encode()
    stats = b"".join(
        length_delimited(4, b"\x08" + varint(key) + length_delimited(5, value))
        for key, value in ((1, b"send"), (2, b"jit_step"))
    )
    line = xplane_pb2.Line(
        name=b"Stream #7(Compute)", events=[event(1, 0, 30, stats), event(1, 50, 20, stats)]
    )
    gpu.lines.append(line.SerializeToString())
    content = space(gpu.SerializeToString(), metadata_plane({"jit_step(77)": [Collective()]}))
    profile = _profile(write(tmp_path, content))
    assert _names(profile, profile.nodes.name) == ["send", "loop_add_kernel"]
    assert profile.nodes.kind.tolist() == [NodeKind.OP, NodeKind.DEVICE]
    assert profile.nodes.caller.tolist() == [-1, 0]
    rows = profile.node_steps
    assert list(
        zip(
            rows.node.tolist(),
            rows.run_count.tolist(),
            rows.accelerator_ticks.tolist(),
            strict=True,
        )
    ) == [
        (1, 2, 50),
        (0, 2, 0),
    ]
    assert _names(profile, profile.nodes.op) == ["send", "loop_add_kernel"]
    assert profile.outputs.bytes[0] == 2097152


def test_memory_events_are_allocations(tmp_path: Path) -> None:
    stats = {
        "MemoryAllocation": {"allocation_bytes": 256, "bytes_allocated": 1000},
        "MemoryDeallocation": {},
    }
    events = [("MemoryAllocation", 5, 0), ("MemoryDeallocation", 9, 0)]
    profile = _profile(
        write(tmp_path, space(_plane("/host:CPU", [("main", [*events, ("op", 20, 5)])], stats)))
    )
    assert profile.allocations.delta_bytes.tolist() == [256, 0]
    assert profile.allocations.total_bytes.tolist() == [1000, -1]
    assert profile.allocations.time_ticks.tolist() == [5, 9]


def test_host_and_device_on_different_clocks_are_both_kept(tmp_path: Path) -> None:
    host = xplane_pb2.Plane(name=b"/host:CPU")
    host.event_metadata[1].name = b"op"
    line = xplane_pb2.Line(
        name=b"main", timestamp_ns=1_790_000_000_000_000_000, events=[event(1, 3, 4)] * 2
    )
    host.lines.append(line.SerializeToString())
    device = _plane("/device:TPU:0", [("XLA Ops", [("%add", 7, 2)])], {})
    profile = _profile(write(tmp_path, space(host.SerializeToString(), device)))
    assert profile.header.wall_anchor_ns == 1_790_000_000_000_000_000
    assert sorted(profile.executions.start_ticks.tolist()) == [3, 3, 7]


def test_integer_stats_keep_their_digits_beside_fractions(tmp_path: Path) -> None:
    plane = xplane_pb2.Plane(name=b"/host:CPU")
    plane.stat_metadata[1].name = b"size"
    line = xplane_pb2.Line(name=b"main")
    doubles = [b"\x11" + struct.pack("<d", value) for value in (2.5, float("nan"))]
    for value in (b"\x20" + varint(2**60 + 1), *doubles):
        line.events.append(event(1, 0, 1, length_delimited(4, b"\x08\x01" + value)))
    plane.lines.append(line.SerializeToString())
    (events,) = PlaneView(plane).lines()
    assert events.stats().integers([1]).tolist() == [2**60 + 1, 2, 0]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("a/b/MatMul_1:MatMul", ("a/b/MatMul_1", ("MatMul",), ("a", "b"))),
        ("Identity_2:Identity", ("Identity_2", ("Identity",), ())),
        ("tpu::System::Execute", None),
        ("plain", None),
        ("time: 5", None),
    ],
)
def test_framework_names_are_told_from_others(
    name: str, expected: tuple[object, ...] | None
) -> None:
    op = framework_op(name, "CPU")
    assert (op and (op.name, op.types, op.scope)) == expected


def test_code_locations_are_read() -> None:
    call = python_call("$contextlib.py:132 __enter__")
    assert call is not None
    assert call.frames == (("contextlib.py", 132, "__enter__"),)
    assert stack_frames("<embedded module 'x'>:153:2\nlib/a.py:49:2\n") == (
        ("<embedded module 'x'>", 153, ""),
        ("lib/a.py", 49, ""),
    )
    assert stack_frames("", "lib/a.py:37") == (("lib/a.py", 37, ""),)
    assert scope_of("jit(f)/jit(main)/add:") == ("jit(f)", "jit(main)", "add")


def test_a_real_tpu_profile_keeps_every_picosecond_of_every_op(shared: Path) -> None:
    path = shared / "data" / "xplane" / TPU
    profile = _real(path)
    expected: Counter[str] = Counter()
    for plane in SpaceReader(path).planes():
        for line in map(parse_line, plane.lines):
            if plane.name.startswith(b"/device:TPU") and line.name == b"XLA Ops":
                key = plane.name.decode().removeprefix("/device:")
                expected[key] += sum(_duration(body) for body in line.events)
    found: Counter[str] = Counter()
    devices = _names(profile, profile.nodes.device)
    for node, ticks in zip(
        profile.node_steps.node.tolist(), profile.node_steps.accelerator_ticks.tolist(), strict=True
    ):
        found[devices[node]] += ticks
    assert {k: v for k, v in found.items() if v} == dict(expected)


def _duration(body: bytes) -> int:
    position, value = 0, 0
    while position < len(body):
        tag, position = _varint(body, position)
        number, position = _varint(body, position)
        if tag & 7 == 2:
            position += number
        elif tag >> 3 == 3:
            value = number
    return value


def _varint(body: bytes, position: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = body[position]
        value |= (byte & 0x7F) << shift
        position, shift = position + 1, shift + 7
        if byte < 0x80:
            return value, position


def test_a_real_jax_profile_has_steps_scopes_code_and_graph(shared: Path) -> None:
    profile = _real(shared / "data" / "xplane" / JAX)
    assert profile.steps.id.tolist() == list(range(20))
    names = _names(profile, profile.nodes.name)
    fusions = [i for i, name in enumerate(names) if name == "add_tanh_fusion"]
    runs = profile.node_steps
    assert sum(int(runs.run_count[runs.node == node].sum()) for node in fusions) == 20 * 4
    assert len({int(profile.nodes.device[node]) for node in fusions}) == 4
    assert any(name == "jit(train_step)" for name in _names(profile, profile.scopes.name))
    assert any(
        name.endswith("make_cpu_profile.py") for name in _names(profile, profile.frames.file)
    )
    assert len(profile.inputs) > 0


def test_a_real_gpu_profile_gives_kernels_to_the_ops_that_launched_them(shared: Path) -> None:
    profile = _real(shared / "data" / "xplane" / GPU)
    kernels = np.flatnonzero(profile.nodes.kind == NodeKind.DEVICE)
    callers = profile.nodes.caller[kernels]
    assert (callers >= 0).mean() > 0.9
    assert set(profile.nodes.kind[callers[callers >= 0]].tolist()) == {NodeKind.OP}
    assert profile.steps.id.tolist() == [0]
    assert len(profile.allocations) > 0


@pytest.mark.parametrize("path", [TPU, JAX, GPU])
@pytest.mark.parametrize("view", ["op", "scope", "code", "graph"])
def test_a_real_profile_has_all_four_views(shared: Path, path: str, view: str) -> None:
    profile = _real(shared / "data" / "xplane" / path)
    nodes = views.ViewEngine(profile).analyze(ViewsOptions(view=view)).to_json()["nodes"]
    runs = profile.node_steps
    total = (int(runs.host_ticks.sum()) + int(runs.accelerator_ticks.sum())) / 1e6
    assert len(nodes) > 1 or (view == "code" and not profile.has_traces)
    if view in ("scope", "graph"):
        assert nodes[0]["total_exec_micros"] >= total * 0.5


_SPANS = st.lists(st.tuples(st.integers(0, 60), st.integers(0, 40)), min_size=1, max_size=25)


@given(st.lists(_SPANS, min_size=1, max_size=3))
def test_self_time_is_never_negative_and_adds_up(
    tmp_path_factory: pytest.TempPathFactory, threads: list[list[tuple[int, int]]]
) -> None:
    lines = [
        (
            f"thread {number}",
            [(f"op {i % 4}", start, length) for i, (start, length) in enumerate(spans)],
        )
        for number, spans in enumerate(threads)
    ]
    folder = tmp_path_factory.mktemp("crossing")
    profile = _profile(write(folder, space(_plane("/host:CPU", lines, {}))))
    executions = profile.executions
    assert (executions.self_ticks >= 0).all()
    assert (executions.self_ticks <= executions.duration_ticks).all()
    for lane in range(len(profile.lanes)):
        on_lane = executions.lane == lane
        busy = end = 0
        spans = zip(
            executions.start_ticks[on_lane], executions.duration_ticks[on_lane], strict=True
        )
        for start, duration in sorted(spans):
            busy += max(0, int(start + duration) - max(int(start), end))
            end = max(end, int(start + duration))
        assert int(executions.self_ticks[on_lane].sum()) == busy


def test_event_that_outlasts_the_event_around_is_cut_and_said(tmp_path: Path) -> None:
    events = [("root", 0, 3_000_000), ("short", 100_000, 200_000), ("long", 200_000, 2_500_000)]
    profile = _profile(write(tmp_path, space(_plane("/host:CPU", [("t", events)], {}))))
    assert profile.executions.duration_ticks.tolist() == [3_000_000, 200_000, 100_000]
    assert profile.executions.self_ticks.tolist() == [2_800_000, 100_000, 100_000]
    (loss,) = profile.header.losses
    assert (
        loss.what
        == "1 host event outlasts the event around and is cut to its end, the most by 2.400 us: long"
    )

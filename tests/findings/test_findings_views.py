"""Rules over profiles say what is to be gained, with numbers and the rows that prove them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tensorboard.compat.proto import tfprof_log_pb2

from stepscope.findings import RULES, Finding, LensResult, find, panel_hash
from stepscope.findings.hot_spots import Cost, largest_costs
from stepscope.findings.user_code import is_users
from stepscope.lenses.views import ViewEngine
from stepscope.model.profile import Profile
from stepscope.sources import registry, tfprof, torch_trace

GPU = "/job:w/task:0/device:gpu:0"
CPU = "/job:w/task:0/device:cpu:0"


def node(message: Any, name: str, op: str, device: str = GPU, **attributes: str) -> Any:
    """Adds a node that ran on a device."""
    number = len(message.nodes)
    added = message.nodes[number]
    added.name, added.op, added.canonical_device = name, op, device
    added.op_types.extend(sorted([op, device]))
    for key, value in attributes.items():
        added.attrs[key].s = value.encode()
    return added


def run(added: Any, step: int, start: int, host: int, *kernels: tuple[int, int]) -> None:
    """Lets a node run once: on the host from `start` on, and kernels with a start and a duration."""
    execs = added.execs[step]
    execs.run_count, execs.all_start_micros = 1, start
    execs.latest_end_micros = max([start + host, *(begin + length for begin, length in kernels)])
    execs.cpu_execs[added.canonical_device].times.add().int64_values.extend([start, host])
    for begin, length in kernels:
        times = execs.accelerator_execs[f"{added.canonical_device}/stream:all"].times
        times.add().int64_values.extend([begin, length])


def findings(message: Any, *rules: str) -> list[Finding]:
    engine = ViewEngine(tfprof.read_profile(message.SerializeToString(), "p.pb"))
    chosen = [rule for rule in RULES if not rules or rule.name in rules]
    return find([LensResult("views", "run/1", "profile", engine)], chosen)


def costs(message: Any) -> list[Cost]:
    engine = ViewEngine(tfprof.read_profile(message.SerializeToString(), "p.pb"))
    return largest_costs(LensResult("views", "run/1", "profile", engine))


def test_rule_names_are_unique() -> None:
    assert len({rule.name for rule in RULES}) == len(RULES)


def test_utilization_is_the_union_of_what_runs_over_the_window_of_each_step() -> None:
    message = tfprof_log_pb2.ProfileProto(steps=[1, 2])
    conv = node(message, "conv", "Conv2D")
    run(conv, 1, 1000, 10, (1010, 20), (1020, 20))  # busy 1010..1040
    run(node(message, "sum", "Sum"), 1, 1090, 10)  # window 1000..1100
    run(conv, 2, 9000, 10, (9010, 10))  # busy 10 of 20
    (found,) = findings(message, "idle-accelerator")
    assert found.title == f"{GPU} works 33% of the time"
    assert (found.cost, found.unit, found.certainty) == (80, "us", "measured")
    assert found.cost_share == pytest.approx(80 / 120)
    assert [place.key for place in found.evidence] == [GPU]


def test_an_accelerator_that_works_half_of_the_time_is_no_finding() -> None:
    message = tfprof_log_pb2.ProfileProto(steps=[1])
    run(node(message, "conv", "Conv2D"), 1, 1000, 10, (1010, 40))
    assert findings(message, "idle-accelerator") == []


def test_idle_accelerators_are_one_finding() -> None:
    message = tfprof_log_pb2.ProfileProto(steps=[1])
    run(node(message, "a", "Conv2D", GPU), 1, 1000, 10, (1010, 10))
    run(node(message, "b", "Conv2D", GPU.replace("gpu:0", "gpu:1")), 1, 1000, 100, (1010, 30))
    (found,) = findings(message, "idle-accelerator")
    assert found.title == "2 of 2 accelerators work 10% to 30% of the time"
    assert found.cost_share == pytest.approx(0.8)
    assert len(found.evidence) == 2


def test_cores_that_wait_for_other_cores_of_their_chip_are_no_finding(shared: Path) -> None:
    """A capture knows nothing of the host: 24 cores multiply most of the time, 48 add now and then."""
    records = registry.read(shared / "data/swimlane/12_real_dist_fullcore").records
    (engine,) = [ViewEngine(one.record) for one in records if isinstance(one.record, Profile)]
    every = find([LensResult("views", "run", "swimlane", engine)], RULES)
    assert every == []


def test_device_time_without_an_op_is_found(tmp_path: Path) -> None:
    kernel = {
        "ph": "X",
        "cat": "kernel",
        "name": "k",
        "ts": 10,
        "dur": 50,
        "pid": 0,
        "tid": 7,
        "args": {"stream": 7},
    }
    assert [
        f.title
        for f in trace_findings(tmp_path / "a.pt.trace.json", [kernel], "unattributed-device-time")
    ] == ["100% of the device's time belongs to no op"]
    op = {
        "ph": "X",
        "cat": "cpu_op",
        "name": "aten::mm",
        "ts": 0,
        "dur": 9,
        "pid": 1,
        "tid": 1,
        "args": {},
    }
    assert trace_findings(tmp_path / "b.pt.trace.json", [op], "unattributed-device-time") == []


@pytest.mark.parametrize(("freed", "grows"), [(0, True), (100, False)])
def test_memory_that_grows_from_step_to_step_is_found(
    tmp_path: Path, freed: int, grows: bool
) -> None:
    events: list[dict[str, Any]] = []
    total = 1000
    for step in range(4):
        begin = 100 * step
        events += [
            {
                "ph": "X",
                "cat": "user_annotation",
                "name": f"ProfilerStep#{step}",
                "ts": begin,
                "dur": 90,
                "pid": 1,
                "tid": 1,
            },
            {
                "ph": "X",
                "cat": "cpu_op",
                "name": "aten::mm",
                "ts": begin + 1,
                "dur": 80,
                "pid": 1,
                "tid": 1,
            },
        ]
        for at, change in ((10, 100), (20, -freed)):
            total += change
            about = {
                "Total Allocated": total,
                "Total Reserved": 0,
                "Bytes": change,
                "Addr": 1,
                "Device Id": -1,
            }
            about["Device Type"] = 0
            events.append(
                {
                    "ph": "i",
                    "cat": "cpu_instant_event",
                    "s": "t",
                    "name": "[memory]",
                    "pid": 1,
                    "tid": 1,
                }
                | {"ts": begin + at, "args": about}
            )
    found = trace_findings(tmp_path / "m.pt.trace.json", events, "growing-memory")
    assert [f.cost for f in found] == ([100] if grows else [])


def test_batch_normalization_of_single_ops_is_found_and_costs_its_time() -> None:
    message = tfprof_log_pb2.ProfileProto(steps=[1])
    run(node(message, "a/BatchNorm/mul", "Mul", CPU), 1, 1000, 30)
    run(node(message, "a/conv", "Conv2D", CPU), 1, 1030, 90)
    (found,) = findings(message, "unfused-batch-norm")
    assert (found.cost, found.cost_share, found.certainty) == (30, 0.25, "hint")
    assert [place.key for place in found.evidence] == ["a/BatchNorm/mul"]


@pytest.mark.parametrize(
    "op", ["FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3", "FusedBatchNormGradV3"]
)
def test_any_version_of_the_fused_op_counts_as_fused(op: str) -> None:
    message = tfprof_log_pb2.ProfileProto(steps=[1])
    run(node(message, "a/BatchNorm/mul", "Mul", CPU), 1, 1000, 30)
    node(message, "b", op, CPU)
    assert findings(message, "unfused-batch-norm") == []


def test_channels_last_is_found_on_a_gpu_only() -> None:
    message = tfprof_log_pb2.ProfileProto(steps=[1])
    run(node(message, "on_gpu", "Conv2D", GPU, data_format="NHWC"), 1, 1000, 5, (1005, 45))
    run(node(message, "on_cpu", "Conv2D", CPU, data_format="NHWC"), 1, 1000, 50)
    run(node(message, "other", "Conv2D", GPU, data_format="NCHW"), 1, 1000, 50)
    (found,) = findings(message, "channels-last-on-gpu")
    assert [place.key for place in found.evidence] == ["on_gpu"]
    assert found.cost == 50


def test_a_cause_is_found_once_and_as_the_op() -> None:
    message = tfprof_log_pb2.ProfileProto(steps=[1])
    run(node(message, "tower/a", "MatMul", CPU), 1, 1000, 600)
    run(node(message, "tower/b", "Add", CPU), 1, 1600, 300)
    run(node(message, "c", "Mul", CPU), 1, 1900, 100)
    found = costs(message)
    assert [(f.title.split(" takes ")[0], f.cost, f.share) for f in found] == [
        ("op MatMul", 600, 0.6),
        ("op Add", 300, 0.3),
        ("op Mul", 100, 0.1),
    ]
    assert found[2].evidence[1].key == "c", "a scope of one op is the op's evidence"


def test_a_scope_of_many_small_ops_is_found_as_the_scope() -> None:
    message = tfprof_log_pb2.ProfileProto(steps=[1])
    for number in range(20):
        run(node(message, f"tower/n{number}", f"Op{number}", CPU), 1, 1000 + 10 * number, 9)
    run(node(message, "c", "Mul", CPU), 1, 2000, 20)
    found = costs(message)
    assert [f.title for f in found] == [
        "scope tower takes 90.0% of the time (180 µs)",
        "op Mul takes 10.0% of the time (20 µs)",
    ]


def test_what_takes_less_than_a_tenth_is_no_hot_spot() -> None:
    message = tfprof_log_pb2.ProfileProto(steps=[1])
    for number in range(20):
        run(node(message, f"n{number}", f"Op{number}", CPU), 1, 1000 + 10 * number, 9)
    assert costs(message) == []


def test_ops_that_only_lead_to_another_are_one_finding(tmp_path: Path) -> None:
    chain = ["aten::conv2d", "aten::convolution", "aten::_convolution", "aten::mkldnn_convolution"]
    calls = [(name, 10 * depth, 1000 - 20 * depth) for depth, name in enumerate(chain)]
    found = nested_costs(tmp_path / "t.pt.trace.json", [*calls, ("aten::relu", 1100, 400)])
    assert [f.title.split(" takes ")[0] for f in found] == ["op aten::conv2d", "op aten::relu"]
    assert found[0].note == "Most of it is in aten::mkldnn_convolution"
    assert found[0].kind == "convolution"
    assert found[0].share == pytest.approx(1000 / 1400)


def test_an_op_that_calls_itself_costs_what_it_takes_once(tmp_path: Path) -> None:
    (found,) = nested_costs(
        tmp_path / "t.pt.trace.json", [("aten::sort", 0, 1000), ("aten::sort", 10, 900)]
    )
    assert found.share == pytest.approx(1.0)


def test_time_of_runtime_calls_is_counted_once_in_the_op_that_makes_them(tmp_path: Path) -> None:
    events = [
        slice_of("cpu_op", "aten::copy_", 0, 900),
        slice_of("cuda_runtime", "cudaMemcpyAsync", 10, 880),
    ]
    (found,) = trace_costs(tmp_path / "t.pt.trace.json", events)
    assert found.title == "op aten::copy_ takes 100.0% of the host time (900 µs)"
    assert found.note == "Most of it is in cudaMemcpyAsync"


def test_the_line_that_begins_steps_is_no_hot_spot(tmp_path: Path) -> None:
    step = slice_of("user_annotation", "ProfilerStep#3", 0, 1000)
    step["args"] = {"Call stack": "torch/profiler/profiler.py(313): step;train.py(7): <module>"}
    found = trace_costs(
        tmp_path / "t.pt.trace.json", [step, slice_of("cpu_op", "aten::mm", 10, 300)]
    )
    assert [f.title.split(" takes ")[0] for f in found] == ["op aten::mm"]


def slice_of(category: str, name: str, start: int, duration: int) -> dict[str, Any]:
    """An event of a trace, its start and duration in us."""
    return {
        "ph": "X",
        "cat": category,
        "name": name,
        "ts": start,
        "dur": duration,
        "pid": 1,
        "tid": 1,
    }


def nested_costs(path: Path, calls: list[tuple[str, int, int]]) -> list[Cost]:
    """The largest costs in calls of one thread, each a name, start and duration in us."""
    return trace_costs(path, [slice_of("cpu_op", *call) for call in calls])


def trace_costs(path: Path, events: list[dict[str, Any]]) -> list[Cost]:
    """The largest costs in a PyTorch trace of these events."""
    path.write_text(json.dumps({"schemaVersion": 1, "traceEvents": events}))
    record = torch_trace.read(path).records[0].record
    return largest_costs(LensResult("views", "run", "p", ViewEngine(record)))


def trace_findings(path: Path, events: list[dict[str, Any]], rule: str) -> list[Finding]:
    """What a rule finds in a PyTorch trace of these events."""
    path.write_text(json.dumps({"schemaVersion": 1, "traceEvents": events}))
    record = torch_trace.read(path).records[0].record
    return [
        f
        for f in find([LensResult("views", "run", "p", ViewEngine(record))], RULES)
        if f.rule == rule
    ]


def costly_lines(left: list[str], right: list[str]) -> list[str]:
    """The lines found where two call stacks, each from path:line:function to the same, make 20 ops of 35 and 15 us."""
    message, ids = tfprof_log_pb2.ProfileProto(steps=[1], has_trace=True), dict[str, int]()
    for side, stack, micros in (("a", left, 35), ("b", right, 15)):
        for part in range(20):
            added = node(message, f"{side}{part}", f"Op{side}{part}", CPU)
            for path, line, function in (frame.split(":") for frame in stack):
                places = [ids.setdefault(text, len(ids)) for text in (path, function)]
                added.trace.traces.add(file_id=places[0], lineno=int(line), function_id=places[1])
            run(added, 1, 1000, micros)
    for text, number in ids.items():
        message.id_to_string[number] = text
    return [f.evidence[0].key for f in costs(message)]


MAIN, LEFT, RIGHT = "/x/train.py:1:main", "/x/train.py:20:left", "/x/train.py:30:right"
LIBRARY = "/venv/lib/python3.11/site-packages/torch/_tensor.py:566:backward"


def test_the_lines_found_are_those_where_the_cost_divides() -> None:
    assert costly_lines([MAIN, LEFT], [MAIN, RIGHT]) == ["train.py:20:left", "train.py:30:right"]


def test_a_line_of_a_library_is_told_as_the_users_line_that_calls_it() -> None:
    below = [MAIN, "torch/autograd/__init__.py:9:run", LIBRARY]
    assert costly_lines([MAIN, LEFT, LIBRARY], below) == ["train.py:20:left"], (
        "main holds everything"
    )
    assert costly_lines([LIBRARY, "<string>:1:f"], [LIBRARY, "<frozen os>:2:g"]) == []


@pytest.mark.parametrize(
    ("line", "users"),
    [
        ("/home/me/train.py:3:main", True),
        ("train.py:3:main", True),
        ("models/torch_layers.py:3:f", True),
        (LIBRARY, False),
        ("/usr/lib/python3/dist-packages/tensorflow/python/ops.py:1:f", False),
        ("C:\\Python\\site-packages\\torch\\_tensor.py:1:f", False),
        ("torch/nn/modules/module.py:1782:_call_impl", False),
        ("_tensor.py:566:backward", False),
        ("<frozen abc>:1:f", False),
        ("<string>:1:f", False),
    ],
)
def test_lines_of_installed_libraries_are_not_the_users(line: str, users: bool) -> None:
    assert is_users(line) is users


def test_a_profile_without_times_has_no_findings() -> None:
    message = tfprof_log_pb2.ProfileProto()
    node(message, "a", "MatMul")
    assert findings(message) == []


def test_evidence_is_an_address_of_the_panel() -> None:
    message = tfprof_log_pb2.ProfileProto(steps=[1])
    run(node(message, "a b", "Mat&Mul", CPU), 1, 1000, 600)
    (found,) = costs(message)
    place = found.evidence[0]
    assert (place.lens, place.run, place.name, place.key) == (
        "views",
        "run/1",
        "profile",
        "Mat&Mul",
    )
    assert place.hash == panel_hash(
        lens="views", run="run/1", name="profile", view="op", search="Mat&Mul"
    )
    assert "p.stepscope.search=Mat%26Mul" in place.hash


def test_a_finding_is_a_document_with_the_fixed_names() -> None:
    message = tfprof_log_pb2.ProfileProto(steps=[1])
    run(node(message, "a", "MatMul", CPU), 1, 1000, 600)
    run(node(message, "a/BatchNorm/mul", "Mul", CPU), 1, 1600, 30)
    document = findings(message, "unfused-batch-norm")[0].to_json()
    assert list(document) == [
        "rule", "title", "saving_share", "saving", "cost_share", "cost", "whole", "unit", "step", "try", "advice",
        "certainty", "evidence",
    ]  # fmt: skip
    assert isinstance(document["evidence"], list)
    assert list(document["evidence"][0]) == ["lens", "run", "name", "key", "hash"]


def test_a_finding_is_as_sure_as_its_rule_says() -> None:
    message = tfprof_log_pb2.ProfileProto(steps=[1])
    run(node(message, "a/BatchNorm/mul", "Mul", CPU), 1, 1000, 30)
    run(node(message, "on_gpu", "Conv2D", GPU, data_format="NHWC"), 1, 1000, 5, (1005, 45))
    certainty = {rule.name: rule.certainty for rule in RULES}
    found = findings(message)
    assert len(found) == 2
    assert [f.certainty for f in found] == [certainty[f.rule] for f in found]

"""Rules over profiles say what is to be gained, with numbers and the rows that prove them."""

from __future__ import annotations

from typing import Any

import pytest
from tensorboard.compat.proto import tfprof_log_pb2

from stepscope.findings import RULES, Finding, Subject, find, panel_hash
from stepscope.lenses.views import ViewEngine
from stepscope.sources import tfprof

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
    return find([Subject("views", "run/1", "profile", engine)], chosen)


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


def test_batch_normalization_of_single_ops_is_found_and_costs_its_time() -> None:
    message = tfprof_log_pb2.ProfileProto(steps=[1])
    run(node(message, "a/BatchNorm/mul", "Mul", CPU), 1, 1000, 30)
    run(node(message, "a/conv", "Conv2D", CPU), 1, 1030, 90)
    (found,) = findings(message, "unfused-batch-norm")
    assert (found.cost, found.cost_share, found.certainty) == (30, 0.25, "hint")
    assert [place.key for place in found.evidence] == ["a/BatchNorm/mul"]


@pytest.mark.parametrize("op", ["FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3", "FusedBatchNormGradV3"])
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


def test_the_costliest_come_first_with_their_totals() -> None:
    message = tfprof_log_pb2.ProfileProto(steps=[1])
    run(node(message, "tower/a", "MatMul", CPU), 1, 1000, 600)
    run(node(message, "tower/b", "Add", CPU), 1, 1600, 300)
    run(node(message, "c", "Mul", CPU), 1, 1900, 100)
    found = findings(message, "expensive-op", "expensive-scope")
    assert [(f.rule, f.cost, f.cost_share) for f in found] == [
        ("expensive-scope", 900, 0.9),
        ("expensive-op", 600, 0.6),
        ("expensive-op", 300, 0.3),
        ("expensive-op", 100, 0.1),
        ("expensive-scope", 100, 0.1),
    ]
    assert found[0].title == "scope tower takes 90.0% of the time (900us)"


def test_the_lines_found_are_those_where_the_cost_divides() -> None:
    message = tfprof_log_pb2.ProfileProto(steps=[1], has_trace=True)
    for number, text in enumerate(("/x/train.py", "main", "left", "right")):
        message.id_to_string[number] = text
    for name, function, micros in (("a", 2, 700), ("b", 3, 300)):
        added = node(message, name, "Op", CPU)
        added.trace.traces.add(file_id=0, lineno=1, function_id=1)
        added.trace.traces.add(file_id=0, lineno=10 * function, function_id=function)
        run(added, 1, 1000, micros)
    found = findings(message, "expensive-line")
    assert [f.evidence[0].key for f in found] == ["train.py:20:left", "train.py:30:right"]


def test_a_profile_without_times_has_no_findings() -> None:
    message = tfprof_log_pb2.ProfileProto()
    node(message, "a", "MatMul")
    assert findings(message) == []


def test_evidence_is_an_address_of_the_panel() -> None:
    message = tfprof_log_pb2.ProfileProto(steps=[1])
    run(node(message, "a b", "Mat&Mul", CPU), 1, 1000, 600)
    (found,) = findings(message, "expensive-op")
    (place,) = found.evidence
    assert (place.lens, place.run, place.name, place.key) == ("views", "run/1", "profile", "Mat&Mul")
    assert place.hash == panel_hash(lens="views", run="run/1", name="profile", view="op", search="Mat&Mul")
    assert "p.stepscope.search=Mat%26Mul" in place.hash


def test_a_finding_is_a_document_with_the_fixed_names() -> None:
    message = tfprof_log_pb2.ProfileProto(steps=[1])
    run(node(message, "a", "MatMul", CPU), 1, 1000, 600)
    document = findings(message, "expensive-op")[0].to_json()
    fields = ["rule", "title", "cost_share", "cost", "unit", "evidence", "advice", "certainty"]
    assert list(document) == fields
    assert isinstance(document["evidence"], list)
    assert list(document["evidence"][0]) == ["lens", "run", "name", "key", "hash"]

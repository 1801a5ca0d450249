"""Where ops call ops: totals of calls, device time of launched kernels, and nothing counted twice."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from torch_reference import right_walk
from view_profiles import Node, call_trees, few, profile

from stepscope.lenses.views import ViewEngine, ViewResult, ViewsOptions
from stepscope.model.profile import NodeKind, Profile
from stepscope.sources import torch_trace

DEVICE, SCOPE, RUNTIME = NodeKind.DEVICE, NodeKind.SCOPE, NodeKind.RUNTIME


def calls() -> Profile:
    """step > linear > (addmm > kernel, launch call), add; linear again by itself; a kernel that nobody launched."""
    return profile(
        [
            Node("forward", "forward", kind=SCOPE, scope="forward", runs=((0, 1, 10, 0),), host_total=100),
            Node("linear", "linear", caller=0, scope="forward/linear", runs=((0, 2, 20, 0),), host_total=70,
                 calls=(30, 40)),
            Node("addmm", "addmm", caller=1, scope="forward/addmm", runs=((0, 2, 45, 0),), host_total=45),
            Node("gemm", "gemm", caller=2, kind=DEVICE, scope="forward/gemm", runs=((0, 2, 0, 500),)),
            Node("cudaLaunch", "cudaLaunch", caller=2, kind=RUNTIME, scope="forward/c", runs=((0, 2, 5, 0),)),
            Node("add", "add", caller=0, scope="forward/add", runs=((0, 1, 20, 0),), host_total=20),
            Node("linear", "linear", scope="linear", runs=((0, 1, 1, 0),), host_total=1, calls=(1,)),
            Node("lone", "lone", kind=DEVICE, scope="lone", runs=((0, 1, 0, 7),)),
        ],
        nested=True,
        tick_ps=1000,
    )  # fmt: skip


def asked(view: str, **options: Any) -> ViewResult:
    return ViewEngine(calls()).analyze(ViewsOptions(view=view, **options))


def exact(result: ViewResult, field: str) -> dict[str, int]:
    return dict(zip(result.names(range(len(result))), result.exact(field).tolist(), strict=True))


def test_an_op_costs_what_its_calls_cost_with_what_they_called() -> None:
    result = asked("op")
    assert exact(result, "cpu_exec_micros") == {
        "_TFProfRoot": 0, "forward": 10, "linear": 21, "addmm": 45, "add": 20, "gemm": 0, "cudaLaunch": 5, "lone": 0,
    }  # fmt: skip
    assert exact(result, "total_cpu_exec_micros") == {
        "_TFProfRoot": 96, "forward": 100, "linear": 71, "addmm": 45, "add": 20, "gemm": 0, "cudaLaunch": 5, "lone": 0,
    }  # fmt: skip
    assert exact(result, "run_count")["linear"] == 3


def test_device_time_is_of_the_op_that_launches_and_of_its_callers() -> None:
    result = asked("op")
    own, total = exact(result, "accelerator_exec_micros"), exact(result, "total_accelerator_exec_micros")
    assert (own["addmm"], own["linear"], own["gemm"], own["lone"]) == (500, 0, 500, 7)
    assert (total["addmm"], total["linear"], total["forward"], total["gemm"]) == (500, 500, 500, 500)
    assert total["_TFProfRoot"] == 507


def test_what_no_op_launched_adds_up_to_the_whole_by_itself() -> None:
    result = asked("op")
    launched = dict(zip(result.names(range(len(result))), result.launched(range(len(result))), strict=True))
    assert {name for name, one in launched.items() if one} == {"gemm", "cudaLaunch"}
    own = exact(result, "exec_micros")
    assert (
        sum(time for name, time in own.items() if not launched[name])
        == exact(result, "total_exec_micros")["_TFProfRoot"]
    )


def test_device_work_inside_device_work_is_of_the_op_that_launched_the_outer() -> None:
    loop = profile(
        [
            Node("step", "step", runs=((0, 1, 1, 0),), host_total=1),
            Node("while", "while", caller=0, kind=DEVICE, runs=((0, 1, 0, 10),)),
            Node("fusion", "fusion", caller=1, kind=DEVICE, runs=((0, 4, 0, 30),)),
        ],
        nested=True,
    )
    ops, tree = (ViewEngine(loop).analyze(ViewsOptions(view=view)) for view in ("op", "graph"))
    for result in (ops, tree):
        total = exact(result, "total_accelerator_exec_micros")
        assert total == {"_TFProfRoot": 40, "step": 40, "while": 40, "fusion": 30}
        assert exact(result, "accelerator_exec_micros")["step"] == 40


@pytest.mark.parametrize("view", ["op", "scope", "graph", "code"])
def test_the_whole_is_the_same_in_every_view(view: str) -> None:
    result = asked(view)
    assert result.exact("total_cpu_exec_micros")[0] == 96
    assert result.exact("total_accelerator_exec_micros")[0] == 507


def test_the_graph_view_is_the_tree_of_calls() -> None:
    result = asked("graph", order_by="")
    names = result.names(range(len(result)))
    assert [names[parent] if parent >= 0 else "" for parent in result.parent.tolist()] == [
        "", "_TFProfRoot", "forward", "linear", "addmm", "addmm", "forward", "_TFProfRoot", "_TFProfRoot",
    ]  # fmt: skip
    assert exact(result, "total_accelerator_exec_micros")["forward"] == 500
    assert result.kinds([4]) == [DEVICE]


def test_kernels_are_no_rows_of_the_scope_view_unless_nobody_launched_them() -> None:
    assert set(asked("scope").paths(range(7))) == {
        "_TFProfRoot", "forward", "forward/linear", "forward/addmm", "forward/add", "linear", "lone",
    }  # fmt: skip


def test_calls_have_percentiles_by_nearest_rank() -> None:
    result = asked("op")
    row = result.names(range(len(result))).index("linear")
    figures = {name: values[0] for name, values in result.figures([row]).items()}
    assert [figures[f"{word}_micros"] for word in ("min", "p50", "p95", "max")] == [0.001, 0.03, 0.04, 0.04]
    assert result.figures([0])["p50_micros"] == [None]


def test_nanoseconds_stay_in_decimal_micros() -> None:
    assert asked("op").column("total_cpu_exec_micros")[0] == pytest.approx(0.096)


def test_a_row_says_where_its_calls_come_from() -> None:
    result = asked("op")
    row = result.names(range(len(result))).index("linear")
    assert result.row_detail(row)["graph_nodes"] == [
        {"name": "forward > linear", "exec_micros": 0.02},
        {"name": "linear", "exec_micros": 0.001},
    ]


def test_paths_of_calls_are_the_keys_of_the_graph_view() -> None:
    assert "forward > linear > addmm > gemm" in asked("graph").stable_keys()


TRACES = (
    "generated/conv_full/worker0.1795977105245.pt.trace",
    "generated/gpt_full/worker0.1795977119212.pt.trace",
    "tracelens/b200/eager_trace",
    "tracelens/h100/gaunernst_bert-small-uncased__1016001",
    "tracelens/mi300/gaunernst_bert-small-uncased__1016001",
)
MEASURES = {
    "calls": "run_count",
    "total_ns": "total_cpu_exec_micros",
    "self_ns": "cpu_exec_micros",
    "dev_self_ns": "accelerator_exec_micros",
    "dev_total_ns": "total_accelerator_exec_micros",
}


@pytest.mark.parametrize("trace", TRACES)
def test_op_rows_of_real_traces_equal_the_exact_reference(shared: Path, trace: str) -> None:
    table = right_walk(trace.replace("/", "~")).table()
    want = {"\t".join(key): dict(zip(MEASURES, figures, strict=True)) for key, figures in table.items()}
    (path,) = (shared / "data/torch").glob(f"{trace}.json*")
    record = torch_trace.FORMAT.read(path, None).records[0].record
    assert isinstance(record, Profile)
    result = ViewEngine(record).analyze(ViewsOptions(view="op"))
    every = range(len(result))
    category = {NodeKind.OP: "cpu_op", NodeKind.SCOPE: "user_annotation"}
    keys = [
        f"{category.get(kind, kind)}\t{name}"
        for kind, name in zip(result.kinds(every), result.names(every), strict=True)
    ]
    got = {key: row for row, key in enumerate(keys)}
    columns = {name: result.exact(field) for name, field in MEASURES.items()}
    for key, figures in want.items():
        assert {name: int(columns[name][got[key]]) for name in MEASURES} == {n: figures[n] for n in MEASURES}, key
    assert len(want) > 20


@few
@given(call_trees(), st.sampled_from([(".*",), ("mul",), ("add", "mm")]))
def test_all_views_agree_on_the_whole_of_calls(record: Profile, account: tuple[str, ...]) -> None:
    engine = ViewEngine(record)
    roots = []
    for view in ("op", "scope", "graph", "code"):
        result = engine.analyze(ViewsOptions(view=view, account_type_regexes=account))
        roots.append([int(result.exact(spec.name)[0]) for spec in result.fields if spec.total and spec.unit])
    assert all(root == roots[0] for root in roots)


@few
@given(call_trees())
def test_a_call_tree_adds_up_from_what_is_not_launched(record: Profile) -> None:
    result = ViewEngine(record).analyze(ViewsOptions(view="graph"))
    nodes = record.nodes
    inside = (nodes.caller >= 0) & np.isin(nodes.kind, (DEVICE, RUNTIME))
    adds = np.concatenate(([True], ~inside))[_node_of(result) + 1]
    own, total = result.exact("exec_micros"), result.exact("total_exec_micros")
    assert total[adds].tolist() == result.tree.sums(own * adds)[adds].tolist()


def _node_of(result: ViewResult) -> Any:
    """The node of each row, -1 for the root."""
    node = np.full(len(result.layout), -1, np.int64)
    node[result.layout.row_of_node] = np.arange(len(result.layout.row_of_node))
    return node[result.rows]


@few
@given(call_trees())
def test_ops_with_what_they_called_equal_the_subtrees_of_their_calls(record: Profile) -> None:
    engine = ViewEngine(record)
    ops, tree = (engine.analyze(ViewsOptions(view=view)) for view in ("op", "graph"))
    node = _node_of(tree)
    for field in ("total_cpu_exec_micros", "total_accelerator_exec_micros", "total_requested_bytes"):
        want: dict[int, int] = {}
        for row, value in zip(ops.layout.row_of_node[node[1:]].tolist(), tree.exact(field)[1:].tolist(), strict=True):
            want[row] = want.get(row, 0) + value
        assert dict(zip(ops.rows[1:].tolist(), ops.exact(field)[1:].tolist(), strict=True)) == want

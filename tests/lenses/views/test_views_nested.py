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
            Node("forward", "forward", kind=SCOPE, scope="forward", runs=((0, 1, 10, 0),), host_total=95),
            Node("linear", "linear", caller=0, scope="forward/linear", runs=((0, 2, 20, 0),), host_total=65,
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
        "_TFProfRoot": 0, "forward": 10, "linear": 21, "addmm": 45, "add": 20, "gemm": 0, "cudaLaunch": 0, "lone": 0,
    }  # fmt: skip
    assert exact(result, "total_cpu_exec_micros") == {
        "_TFProfRoot": 96, "forward": 95, "linear": 66, "addmm": 45, "add": 20, "gemm": 0, "cudaLaunch": 5, "lone": 0,
    }  # fmt: skip
    assert exact(result, "run_count")["linear"] == 3


def test_device_time_is_of_the_op_that_launches_and_of_its_callers() -> None:
    result = asked("op")
    own, total = (
        exact(result, "accelerator_exec_micros"),
        exact(result, "total_accelerator_exec_micros"),
    )
    assert (own["addmm"], own["linear"], own["gemm"], own["lone"]) == (500, 0, 0, 7)
    assert (total["addmm"], total["linear"], total["forward"], total["gemm"]) == (
        500,
        500,
        500,
        500,
    )
    assert total["_TFProfRoot"] == 507


def test_what_no_op_launched_adds_up_to_the_whole_by_itself() -> None:
    result = asked("op")
    launched = dict(
        zip(result.names(range(len(result))), result.launched(range(len(result))), strict=True)
    )
    assert {name for name, one in launched.items() if one} == {"gemm", "cudaLaunch"}
    own = exact(result, "exec_micros")
    assert sum(own.values()) == exact(result, "total_exec_micros")["_TFProfRoot"]
    assert not any(own[name] for name, is_launched in launched.items() if is_launched)


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
    assert [figures[f"{word}_micros"] for word in ("min", "p50", "p95", "max")] == [
        0.001,
        0.03,
        0.04,
        0.04,
    ]
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
    want = {
        "\t".join(key): dict(zip(MEASURES, figures, strict=True)) for key, figures in table.items()
    }
    (path,) = (shared / "data/torch").glob(f"{trace}.json*")
    record = torch_trace.FORMAT.read(path, None).records[0].record
    assert isinstance(record, Profile)
    result = ViewEngine(record).analyze(ViewsOptions(view="op"))
    every = range(len(result))
    category = {NodeKind.OP: "cpu_op", NodeKind.SCOPE: "user_annotation"}
    kinds = result.kinds(every)
    names = result.names(every)
    got = {
        f"{category.get(kinds[row], kinds[row])}\t{names[row]}": row
        for row in every
        if result.parent[row] == 0
    }
    columns = {name: result.exact(field) for name, field in MEASURES.items()}
    nested = calls_in_calls(record)
    for key, figures in want.items():
        row = {name: int(columns[name][got[key]]) for name in MEASURES}
        right = {name: figures[name] for name in MEASURES}
        inside = nested.get(key.split("\t")[1], 0)
        # The reference counts a call inside a call of the same op twice.
        right["total_ns"] -= inside
        if inside:
            assert row.pop("dev_total_ns") <= right.pop("dev_total_ns")
        assert row == right, key
    assert len(want) > 20


def calls_in_calls(record: Profile) -> dict[str, int]:
    """For each op the ns of its calls that lie in a call of the same op on their thread, by their times alone."""
    runs = record.executions
    host = np.isin(record.nodes.kind[runs.node], (NodeKind.OP, NodeKind.SCOPE))
    inside: dict[str, int] = {}
    open_until: dict[tuple[int, str], int] = {}
    order = np.lexsort((-runs.duration_ticks, runs.start_ticks))
    for at in order[host[order]].tolist():
        name = record.strings[int(record.nodes.name[runs.node[at]])]
        start = int(runs.start_ticks[at])
        end = start + int(runs.duration_ticks[at])
        key = (int(runs.lane[at]), name)
        if end <= open_until.get(key, start):
            inside[name] = inside.get(name, 0) + end - start
        else:
            open_until[key] = end
    return inside


@few
@given(call_trees(), st.sampled_from([(".*",), ("mul",), ("add", "mm")]))
def test_all_views_agree_on_the_whole_of_calls(record: Profile, account: tuple[str, ...]) -> None:
    engine = ViewEngine(record)
    roots = []
    for view in ("op", "scope", "graph", "code"):
        result = engine.analyze(ViewsOptions(view=view, account_type_regexes=account))
        roots.append(
            [int(result.exact(spec.name)[0]) for spec in result.fields if spec.total and spec.unit]
        )
    assert all(root == roots[0] for root in roots)


def _node_of(result: ViewResult) -> Any:
    """The node of each row, -1 for the root."""
    node = np.full(len(result.layout), -1, np.int64)
    node[result.layout.row_of_node] = np.arange(len(result.layout.row_of_node))
    return node[result.rows]


@few
@given(call_trees())
def test_the_total_of_an_op_is_of_its_outermost_calls(record: Profile) -> None:
    engine = ViewEngine(record)
    ops, tree = (engine.analyze(ViewsOptions(view=view)) for view in ("op", "graph"))
    node = _node_of(tree)
    op_row = [0, *ops.layout.row_of_node[node[1:]].tolist()]
    launched = tree.launched(range(len(tree)))
    for field in (
        "total_cpu_exec_micros",
        "total_accelerator_exec_micros",
        "total_requested_bytes",
    ):
        want: dict[int, int] = {}
        totals = tree.exact(field).tolist()
        for row in range(1, len(tree)):
            if launched[row]:
                continue
            want.setdefault(op_row[row], 0)
            if op_row[row] not in [op_row[above] for above in _above(tree, row)]:
                want[op_row[row]] += totals[row]
        got = dict(zip(ops.rows.tolist(), ops.exact(field).tolist(), strict=True))
        assert {row: got[row] for row in want} == want


def _above(result: ViewResult, row: int) -> list[int]:
    """The rows above a row."""
    above = []
    while (row := int(result.parent[row])) > 0:
        above.append(row)
    return above

"""docs/time.md, held for every trace: self times add up, shares stay below 100 %, nothing is negative."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from torch_traces import profile_of, range_, step
from view_profiles import Node, call_trees, few, profile

from paths import SHARED
from stepscope.lenses.views import ViewEngine, ViewResult, ViewsOptions, compare
from stepscope.model.profile import NodeKind, Profile
from stepscope.sources import registry

VIEWS = ("op", "scope", "graph", "code")
TIMES = ("accelerator_exec_micros", "cpu_exec_micros", "exec_micros")
FOLDERS = ("data/torch", "cases/torch", "cases/findings", "cases/xplane")


def trace_files() -> list[Path]:
    """Every real trace and every case that holds a profile."""
    found = [path for folder in FOLDERS for path in sorted((SHARED / folder).rglob("*.*"))]
    return [path for path in found if path.is_file() and not is_other(path)]


def is_other(path: Path) -> bool:
    """Right answers, and files of the memory snapshot tools, which StepScope refuses."""
    is_answer = ".right." in path.name or (path.suffix == ".json" and path.parent.name == "xplane")
    return is_answer or path.parent.name == "memory_timeline"


def profiles_of(path: Path) -> list[Profile]:
    """The profiles in a file; none where it is of another kind."""
    records = registry.read(path).records
    return [named.record for named in records if isinstance(named.record, Profile)]


def assert_holds(result: ViewResult) -> None:
    """What docs/time.md says of every view."""
    for field in TIMES:
        own = result.exact(field)
        total = result.exact(f"total_{field}")
        assert own.sum() == total[0], field
        assert (own >= 0).all(), field
        assert (own <= total).all(), field
        assert (total <= total[0]).all(), field
        addends = result.addends(f"total_{field}")
        below = np.bincount(result.parent[1:], weights=addends[1:], minlength=len(addends))
        if field != "exec_micros":
            assert below[0] <= addends[0], field
    shares = [share for share in result.shares(range(len(result))) if share is not None]
    assert all(0 <= share <= 1 for share in shares)


@pytest.mark.usefixtures("shared")
@pytest.mark.parametrize("path", trace_files(), ids=lambda path: "/".join(path.parts[-2:]))
def test_every_trace_adds_up_in_every_view(path: Path) -> None:
    for record in profiles_of(path):
        engine = ViewEngine(record)
        results = [engine.analyze(ViewsOptions(view=view)) for view in VIEWS]
        for result in results:
            assert_holds(result)
        for field in TIMES:
            assert len({int(result.exact(f"total_{field}")[0]) for result in results}) == 1


@few
@given(
    call_trees(),
    st.sampled_from(VIEWS),
    st.sampled_from([None, "average", "0", "1"]),
    st.booleans(),
)
def test_every_call_tree_adds_up(
    record: Profile, view: str, step_: str | None, displayed: bool
) -> None:
    options = ViewsOptions(
        view=view, step=step_, account_displayed_op_only=displayed, hide_name_regexes=("mm",)
    )
    result = ViewEngine(record).analyze(options)
    for field in TIMES:
        own = result.exact(field)
        total = result.exact(f"total_{field}")
        assert (own >= 0).all()
        assert (own <= total).all()
        assert (total <= total[0]).all()


def rows_of(result: ViewResult) -> dict[str, dict[str, int]]:
    """Self and total times of the rows, in us; rows below others by their path."""
    names = result.names(range(len(result)))
    found = {}
    for row, name in enumerate(names):
        parent = int(result.parent[row])
        key = f"{names[parent]} > {name}" if parent > 0 else name
        found[key] = {
            field: int(result.column(field)[row])
            for field in (*TIMES, *(f"total_{t}" for t in TIMES))
        }
    return found


def gpu_trace() -> Profile:
    """A step with a matmul of 30 us that launches a kernel of 100 us, and a kernel that no call launched."""
    return profile_of(
        step(1, 0, 50),
        range_("aten::mm", 10, 30, cat="cpu_op"),
        range_("cudaLaunchKernel", 12, 4, cat="cuda_runtime", correlation=1),
        range_("gemm", 20, 100, cat="kernel", correlation=1, device=0, stream=7, pid=0, tid=7),
        range_("stray", 130, 10, cat="kernel", correlation=9, device=0, stream=7, pid=0, tid=7),
    )


def test_kernels_and_runtime_calls_stand_below_the_op_that_launched_them() -> None:
    result = ViewEngine(gpu_trace()).analyze(ViewsOptions(view="op"))
    rows = rows_of(result)
    assert set(rows) == {
        "_TFProfRoot", "ProfilerStep#1", "aten::mm", "aten::mm > gemm", "aten::mm > cudaLaunchKernel", "stray",
    }  # fmt: skip
    assert rows["aten::mm"]["accelerator_exec_micros"] == 100
    assert rows["aten::mm > gemm"]["accelerator_exec_micros"] == 0
    assert rows["aten::mm > gemm"]["total_accelerator_exec_micros"] == 100
    assert rows["aten::mm > cudaLaunchKernel"]["total_cpu_exec_micros"] == 4
    assert_holds(result)


def test_rows_say_their_kind() -> None:
    result = ViewEngine(gpu_trace()).analyze(ViewsOptions(view="op"))
    every = range(len(result))
    assert dict(zip(result.names(every), result.kind_words(every), strict=True)) == {
        "_TFProfRoot": "total", "aten::mm": "op", "gemm": "kernel", "cudaLaunchKernel": "runtime", "stray": "kernel",
        "ProfilerStep#1": "step",
    }  # fmt: skip
    nodes = result.to_json()["nodes"]
    assert [node["kind"] for node in nodes] == result.kind_words(every)
    assert (
        "kind"
        not in ViewEngine(gpu_trace())
        .analyze(ViewsOptions(view="op", compat="tfprof"))
        .to_json()["nodes"][0]
    )


def test_a_profile_with_a_device_is_read_by_device_time_and_one_without_by_host_time() -> None:
    with_device = ViewEngine(gpu_trace()).analyze(ViewsOptions(view="op"))
    assert with_device.resolved.resource == "device"
    assert with_device.names(range(1, 3)) == ["aten::mm", "gemm"]
    assert with_device.shares([0, 1]) == [1, pytest.approx(100 / 110)]
    without = ViewEngine(profile_of(step(1, 0, 50), range_("aten::mm", 10, 30, cat="cpu_op")))
    result = without.analyze(ViewsOptions(view="op"))
    assert result.resolved.resource == "host"
    assert result.shares([1]) == [30 / 50]


def test_the_resource_is_a_choice() -> None:
    result = ViewEngine(gpu_trace()).analyze(ViewsOptions(view="op", resource="host"))
    assert result.shares([1]) == [30 / 50]
    both = ViewEngine(gpu_trace()).analyze(ViewsOptions(view="op", resource="both"))
    assert both.time_field == "exec_micros"


def test_profiles_of_tfprof_are_read_as_tfprof_reads_them() -> None:
    record = profile([Node("a", "A", runs=((0, 1, 5, 90),)), Node("b", "B", runs=((0, 1, 7, 0),))])
    result = ViewEngine(record).analyze(ViewsOptions(view="op"))
    assert result.resolved.resource == "both"
    assert result.resolved.options.order_by == "micros"


def test_a_call_inside_a_call_of_the_same_op_counts_once() -> None:
    record = profile_of(
        range_("aten::div", 0, 100, cat="cpu_op"),
        range_("aten::true_divide", 10, 80, cat="cpu_op"),
        range_("aten::div", 20, 60, cat="cpu_op"),
        range_("cudaLaunchKernel", 30, 4, cat="cuda_runtime", correlation=1),
        range_("k", 40, 10, cat="kernel", correlation=1, device=0, stream=7, pid=0, tid=7),
        range_("aten::div", 200, 5, cat="cpu_op"),
    )
    rows = rows_of(ViewEngine(record).analyze(ViewsOptions(view="op")))
    assert rows["aten::div"]["total_cpu_exec_micros"] == 105
    assert rows["aten::div"]["cpu_exec_micros"] == 85
    assert rows["aten::div"]["total_accelerator_exec_micros"] == 10
    assert rows["aten::true_divide"]["total_accelerator_exec_micros"] == 10


def test_steps_stand_last_and_wrappers_where_their_self_time_puts_them() -> None:
    record = profile_of(
        step(1, 0, 10_000),
        range_("autograd::engine::evaluate_function: MmBackward0", 10, 100, cat="cpu_op"),
        range_("aten::mm", 12, 90, cat="cpu_op"),
    )
    result = ViewEngine(record).analyze(ViewsOptions(view="op"))
    assert result.names(range(1, 4)) == [
        "aten::mm", "autograd::engine::evaluate_function: MmBackward0", "ProfilerStep#1",
    ]  # fmt: skip


def module_trace() -> Profile:
    """A module in a step, and one outside every range, with an op in each."""

    def frame(
        name: str, start: float, duration: float, number: int, parent: int
    ) -> dict[str, object]:
        args = {"Python id": number, "Python parent id": parent, "Python module id": 0}
        return range_(f"nn.Module: {name}", start, duration, cat="python_function", **args)

    return profile_of(
        step(1, 0, 100),
        frame("Net_0", 10, 80, 1, 0),
        frame("Linear_0", 20, 50, 2, 1),
        range_("aten::linear", 30, 30, cat="cpu_op"),
        frame("Linear_1", 200, 50, 3, 0),
        range_("aten::linear", 210, 30, cat="cpu_op"),
    )


def test_time_in_modules_counts_once_in_every_view() -> None:
    engine = ViewEngine(module_trace())
    for view in VIEWS:
        result = engine.analyze(ViewsOptions(view=view))
        assert result.column("total_cpu_exec_micros")[0] == 150
        assert_holds(result)


def test_modules_have_the_time_of_their_calls_as_total_and_are_called_modules() -> None:
    result = ViewEngine(module_trace()).analyze(ViewsOptions(view="op"))
    rows = rows_of(result)
    assert rows["Net_0"]["total_cpu_exec_micros"] == 80
    assert rows["Linear_0"]["total_cpu_exec_micros"] == 50
    assert rows["ProfilerStep#1"]["cpu_exec_micros"] == 70
    assert rows["Net_0"]["cpu_exec_micros"] == 0
    assert rows["Linear_1"]["cpu_exec_micros"] == 20
    names = result.names(range(len(result)))
    assert result.kind_words([names.index("Net_0")]) == ["module"]


def test_records_from_before_modules_said_what_they_share_add_up_too() -> None:
    record = module_trace()
    without = np.zeros(len(record.node_steps), np.int64)
    old = replace(record, node_steps=replace(record.node_steps, enclosed_host_ticks=without))
    for view in VIEWS:
        assert_holds(ViewEngine(old).analyze(ViewsOptions(view=view)))


def test_negative_self_times_count_as_zero_and_are_said() -> None:
    record = profile(
        [
            Node("outer", "outer", runs=((0, 1, -5, 0),), host_total=10),
            Node("inner", "inner", caller=0, runs=((0, 1, 15, 0),), host_total=15),
        ],
        nested=True,
    )
    result = ViewEngine(record).analyze(ViewsOptions(view="op"))
    assert_holds(result)
    (problem,) = result.problems
    assert (problem.where, problem.count) == ("time", 1)


def test_a_comparison_counts_what_a_kernel_takes_once() -> None:
    mine = gpu_trace()
    theirs = profile_of(step(1, 0, 50), range_("aten::add", 10, 30, cat="cpu_op"))
    found = compare(mine, theirs, ViewsOptions(view="op", resource="device"))
    assert found.unmatched_share == 1
    rows = {row["key"]: row["delta"]["cost_micros"] for row in found.to_json()["rows"]}
    assert rows["aten::mm"] == 100
    assert rows["aten::mm > gemm (device)"] == 100
    assert rows["_TFProfRoot"] == 110


def test_an_unattributed_kernel_and_the_op_of_its_name_are_told_apart() -> None:
    record = profile(
        [
            Node("fused", "fused", runs=((0, 4, 160, 0),), host_total=160),
            Node("fused", "fused", caller=0, kind=NodeKind.DEVICE, runs=((0, 4, 0, 200),)),
            Node("fused", "fused", kind=NodeKind.DEVICE, runs=((0, 1, 0, 50),)),
        ],
        nested=True,
    )
    result = ViewEngine(record).analyze(ViewsOptions(view="op"))
    assert result.kind_words(range(4)) == ["total", "op", "kernel", "kernel"]
    assert result.stable_keys()[1:] == ["fused", "fused > fused (device)", "fused (device)"]
    assert result.column("accelerator_exec_micros").tolist() == [0, 200, 0, 50]

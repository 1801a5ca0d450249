"""What tfprof does wrong is right by default, and as tfprof has it with compat="tfprof"."""

from __future__ import annotations

from typing import Any

import pytest
from view_profiles import Node, profile

from stepscope.errors import OptionError
from stepscope.lenses.views import ViewEngine, ViewResult, ViewsOptions
from stepscope.model.profile import Profile


def asked(of: Profile, view: str, compat: str | None = None, **options: Any) -> ViewResult:
    if compat:
        options = {"step": "-1", "max_depth": 10_000, **options}
    return ViewEngine(of).analyze(ViewsOptions(view=view, compat=compat, **options))


def column(result: ViewResult, field: str) -> dict[str, Any]:
    """A figure by name."""
    return dict(zip(result.paths(range(len(result))), result.column(field).tolist(), strict=True))


def once(ticks: int) -> tuple[tuple[int, int, int, int], ...]:
    return ((0, 1, ticks, 0),)


def test_a_node_that_two_regexes_match_counts_once() -> None:
    nodes = profile([Node("m", "MatMul", runs=once(5)), Node("c", "Const", runs=once(7))])
    result = asked(nodes, "op", account_type_regexes=("MatMul", "Mat.*"))
    assert column(result, "total_exec_micros") == {"_TFProfRoot": 5, "MatMul": 5}


def test_an_op_kept_for_what_is_below_it_adds_nothing_itself() -> None:
    nodes = profile(
        [Node("v", "Variable", parameters=100), Node("v/assign", "Assign", parameters=1)]
    )
    chosen = {"account_type_regexes": ("Assign",)}
    assert column(asked(nodes, "scope", **chosen), "total_parameters") == {
        "_TFProfRoot": 1,
        "v": 1,
        "v/assign": 1,
    }
    quirk = column(asked(nodes, "scope", "tfprof", **chosen), "total_parameters")
    assert quirk == {"_TFProfRoot": 101, "v": 101, "v/assign": 1}


def test_only_graph_nodes_are_counted_as_definitions() -> None:
    nodes = profile([Node("a/b/c")])
    assert column(asked(nodes, "scope"), "total_definition_count")["_TFProfRoot"] == 1
    assert column(asked(nodes, "scope", "tfprof"), "total_definition_count")["_TFProfRoot"] == 3


@pytest.mark.parametrize("options", [{"max_depth": 0}, {"trim_name_regexes": (".*",)}])
def test_what_crashes_tfprof_leaves_the_root(options: dict[str, Any]) -> None:
    nodes = profile([Node("a", trace=(("m.py", 1, "f"),), runs=once(3))])
    assert column(asked(nodes, "code", "tfprof", **options), "total_exec_micros") == {
        "_TFProfRoot": 3
    }


def test_long_chains_of_inputs_and_scopes_need_no_recursion() -> None:
    chain = [Node(f"n{i}", inputs=(i + 1,) if i < 4999 else (), runs=once(1)) for i in range(5000)]
    result = asked(profile(chain), "graph")
    assert (int(result.depth.max()), result.column("total_exec_micros")[0]) == (5000, 5000)
    deep = asked(profile([Node("/".join("s" * 5000))]), "scope")
    assert int(deep.depth.max()) == 5000


def test_lines_of_different_files_are_different_rows() -> None:
    traces = (("d/m.py", 1, "f"),), (("e/m.py", 1, "f"),)
    nodes = profile([Node(f"n{i}", trace=trace, runs=once(1)) for i, trace in enumerate(traces)])
    assert asked(nodes, "code").names([1, 2]) == ["m.py:1:f", "m.py:1:f"]
    assert asked(nodes, "code").stable_keys() == ["_TFProfRoot", "d/m.py:1:f", "e/m.py:1:f"]
    assert len(asked(nodes, "code", "tfprof")) == 2


def test_function_names_are_cut_for_tfprof_only() -> None:
    nodes = profile([Node("n", trace=(("m.py", 1, "a_function_of_twenty"),))])
    assert asked(nodes, "code").names([1]) == ["m.py:1:a_function_of_twenty"]
    assert asked(nodes, "code", "tfprof").names([1]) == ["m.py:1:a_function_of_twe..."]


@pytest.mark.parametrize("compat", [None, "tfprof"])
def test_ops_of_equal_cost_stand_by_name(compat: str | None) -> None:
    nodes = profile([Node(op.lower(), op, runs=once(4)) for op in ("C", "A", "B")])
    assert asked(nodes, "op", compat, order_by="micros").names(range(4)) == [
        "_TFProfRoot",
        "A",
        "B",
        "C",
    ]


def test_an_average_is_over_the_steps_of_the_node_or_over_all() -> None:
    nodes = profile(
        [Node("rare", runs=((0, 1, 9, 0),)), Node("each", runs=((0, 1, 4, 0), (1, 1, 5, 0)))],
        steps=(0, 1),
    )
    per_node = asked(nodes, "scope", step="average")
    assert column(per_node, "exec_micros") == {"_TFProfRoot": 0, "rare": 9, "each": 4.5}
    per_step = asked(nodes, "scope", step="average", average_over="steps")
    assert column(per_step, "exec_micros") == {"_TFProfRoot": 0, "rare": 4.5, "each": 4.5}
    assert column(asked(nodes, "scope", "tfprof"), "exec_micros") == {
        "_TFProfRoot": 0,
        "rare": 9,
        "each": 4,
    }


def test_averages_stay_exact_in_sums() -> None:
    runs = tuple((step, 1, 1, 0) for step in range(3))
    nodes = profile(
        [Node("a", runs=runs), Node("b", runs=runs[:2]), Node("c", runs=((0, 1, 1, 0),))],
        steps=(0, 1, 2),
    )
    result = asked(nodes, "op", step="average")
    assert (result.exact("total_exec_micros")[0], result.divisor) == (18, 6)


def test_a_negative_sum_is_divided_as_a_signed_number() -> None:
    nodes = profile([Node("a", runs=((0, 1, -3, 0), (1, 1, -4, 0)))], steps=(0, 1))
    assert column(asked(nodes, "scope", "tfprof"), "exec_micros")["a"] == -3
    assert column(asked(nodes, "scope", step="average"), "exec_micros")["a"] == -3.5


def test_time_on_other_devices_is_shown() -> None:
    nodes = profile([Node("a", runs=once(5), uncounted=7)])
    assert column(asked(nodes, "scope"), "exec_micros")["a"] == 12
    assert column(asked(nodes, "scope", "tfprof"), "exec_micros")["a"] == 5


def test_closed_cycles_stay_in_the_graph_view_and_are_reported() -> None:
    nodes = profile([Node("top", inputs=(1,), runs=once(1)), Node("in", runs=once(2)),
                     Node("y", inputs=(3,), runs=once(4)), Node("x", inputs=(2,), runs=once(8))])  # fmt: skip
    result = asked(nodes, "graph", order_by="name")
    assert result.paths(range(len(result))) == ["_TFProfRoot", "top", "in", "x", "y"]
    assert result.depth.tolist() == [0, 1, 2, 1, 2]
    assert [(p.where, p.count) for p in result.problems] == [("graph view", 1)]
    assert column(asked(nodes, "graph", "tfprof"), "total_exec_micros") == {
        "_TFProfRoot": 3,
        "top": 3,
        "in": 2,
    }


def test_what_has_no_line_stands_in_a_row_of_its_own() -> None:
    line = (("m.py", 1, "f"),)
    nodes = profile([Node("a", trace=line, runs=once(1)), Node("b", runs=once(2)),
                     Node("gradients/gone_grad/x", trace=line, runs=once(4))])  # fmt: skip
    result = asked(nodes, "code")
    assert column(result, "total_exec_micros") == {
        "_TFProfRoot": 7,
        "(unattributed)": 6,
        "m.py:1:f": 1,
    }
    assert {(p.what, p.count) for p in result.problems} == {
        ("gradient nodes of unknown nodes, or of nodes without a call stack", 1),
        ("nodes without a call stack", 1),
    }
    assert column(asked(nodes, "code", "tfprof"), "total_exec_micros") == {
        "_TFProfRoot": 1,
        "m.py:1:f": 1,
    }


def test_gradients_stand_on_the_lines_of_their_forward_nodes() -> None:
    line, other = (("m.py", 1, "f"),), (("opt.py", 9, "g"),)
    nodes = profile([Node("a", trace=line, runs=once(1)), Node("gradients/a_grad/x", trace=other, runs=once(2)),
                     Node("gradients/a_grad/folded", runs=once(4))])  # fmt: skip
    assert column(asked(nodes, "code"), "total_exec_micros") == {
        "_TFProfRoot": 7,
        "m.py:1:f (gradient)": 6,
        "m.py:1:f": 1,
    }
    assert column(asked(nodes, "code", "tfprof"), "total_exec_micros")["m.py:1:f (gradient)"] == 2


def test_a_profile_without_call_stacks_is_unattributed_in_the_code_view() -> None:
    nodes = profile([Node("a", runs=once(1))])
    assert column(asked(nodes, "code"), "total_exec_micros") == {
        "_TFProfRoot": 1,
        "(unattributed)": 1,
    }
    empty = asked(nodes, "code", "tfprof")
    assert (len(empty), empty.problems[0].what) == (0, "the profile has no call stacks")


def test_nodes_that_only_the_runtime_knows_are_one_row() -> None:
    names = ["_arg_x_0_0", "ConstantFolding/a-folded", "Prefetch"]
    nodes = profile(
        [*(Node(name, name, runs=once(1)) for name in names), Node("m", "MatMul", runs=once(4))]
    )
    want = {"_TFProfRoot": 7, "MatMul": 4, "(runtime)": 2, "Prefetch": 1}
    assert column(asked(nodes, "op"), "total_exec_micros") == want
    assert len(asked(nodes, "op", "tfprof")) == 5


def test_scopes_that_only_the_runtime_makes_stand_in_one_row() -> None:
    made = [
        "_arg_mlp/w_0_1",
        "_arg_x_0_0",
        "ConstantFolding/a/b-folded",
        "net/_arg_y",
        "body/op",
        "Func/net/c",
    ]
    nodes = profile([*(Node(name, name, runs=once(1)) for name in made), Node("net/m", "MatMul", runs=once(4)),
                     Node("Func/d", "Op", runs=once(8))])  # fmt: skip
    result = asked(nodes, "scope", order_by="name")
    tops = [row for row in range(len(result)) if result.depth[row] == 1]
    assert result.names(tops) == ["(runtime)", "Func", "body", "net"]
    row = tops[0]
    assert result.column("total_exec_micros")[tops].tolist() == [3, 9, 1, 5]
    inside = range(row, int(result.end[row]))
    assert result.names(inside) == [
        "(runtime)",
        "ConstantFolding",
        "a",
        "b-folded",
        "_arg_mlp",
        "w_0_1",
        "_arg_x_0_0",
    ]
    # Names are the runtime's: regexes and comparisons with other profiles find them.
    assert result.paths(inside)[3:] == [
        "ConstantFolding/a/b-folded",
        "_arg_mlp",
        "_arg_mlp/w_0_1",
        "_arg_x_0_0",
    ]
    assert result.paths(range(len(result)))[3:6] == [
        *result.paths([3]), *result.paths([4]), *result.paths([5])]  # fmt: skip
    kept = asked(nodes, "scope", start_name_regexes=("_arg_mlp/.*",))
    assert kept.names(range(len(kept))) == ["_TFProfRoot", "w_0_1"]
    tfprof = asked(nodes, "scope", "tfprof", order_by="name")
    assert [tfprof.names([i])[0] for i in range(len(tfprof)) if tfprof.depth[i] == 1] == [
        "ConstantFolding", "Func", "_arg_mlp", "_arg_x_0_0", "body", "net"]  # fmt: skip


def test_thresholds_of_the_op_view_look_at_the_op_itself() -> None:
    nodes = profile([Node("a", "A", runs=once(1)), Node("b", "B", runs=once(10))])
    assert asked(nodes, "op", min_micros=5).names(range(2)) == ["_TFProfRoot", "B"]
    running = asked(nodes, "op", "tfprof", min_micros=5)
    assert column(running, "total_exec_micros") == {"_TFProfRoot": 11, "A": 11, "B": 10}


@pytest.mark.parametrize("view", ["scope", "graph", "op", "code"])
def test_occurrence_means_runs_in_every_view(view: str) -> None:
    nodes = profile([Node("a", "A", runs=((0, 3, 1, 0),), trace=(("m.py", 1, "f"),)),
                     Node("b", "B", runs=((0, 2, 1, 0),), trace=(("m.py", 2, "f"),))])  # fmt: skip
    result = asked(nodes, view, min_occurrence=3, order_by="occurrence")
    assert result.column("total_run_count").tolist() == [5, 3]


def test_hidden_time_that_is_in_no_total_is_said() -> None:
    nodes = profile([Node("a", runs=once(1)), Node("b", bytes=8, runs=once(3))])
    chosen = {"min_bytes": 1, "account_displayed_op_only": True}
    assert "25.0% of the time" in asked(nodes, "scope", **chosen).problems[0].what
    assert asked(nodes, "scope", min_bytes=1).problems == ()


def test_a_missing_step_is_an_error_and_for_tfprof_an_empty_answer() -> None:
    nodes = profile([Node("a")], steps=(3, 4))
    with pytest.raises(OptionError, match=r"no step 9.*Its steps are 3, 4"):
        asked(nodes, "scope", step="9")
    empty = asked(nodes, "scope", "tfprof", step="9")
    assert empty.to_json()["nodes"] == []
    assert empty.problems[0].remedy == "Its steps are 3 4"


def test_a_bad_regex_matches_nothing_and_is_reported() -> None:
    result = asked(profile([Node("a")]), "scope", hide_name_regexes=("a(", "b"))
    assert len(result) == 2
    assert result.problems[0].where == "hide_name_regexes"
    assert "'a('" in result.problems[0].what


def test_unknown_orders_are_by_name_for_tfprof_only() -> None:
    nodes = profile([Node("b"), Node("a")])
    assert asked(nodes, "scope", "tfprof", order_by="depth").names([1, 2]) == ["a", "b"]
    assert asked(nodes, "scope", "tfprof", order_by="size").names([1, 2]) == ["a", "b"]
    assert asked(nodes, "scope", order_by="depth").names([1, 2]) == ["a", "b"]
    with pytest.raises(OptionError, match="unknown order_by 'size'"):
        asked(nodes, "scope", order_by="size")


def test_unknown_words_of_select_are_refused() -> None:
    with pytest.raises(OptionError, match="unknown select 'time'"):
        asked(profile([Node("a")]), "scope", select=("micros", "time"))


@pytest.mark.parametrize(
    ("name", "value"), [("view", "tree"), ("compat", "xprof"), ("step", "first"), ("detail", "all")]
)
def test_values_outside_the_choices_are_refused(name: str, value: str) -> None:
    with pytest.raises(OptionError, match=f"{name}: '{value}'"):
        ViewEngine(profile([Node("a")])).analyze(ViewsOptions(**{name: value}))

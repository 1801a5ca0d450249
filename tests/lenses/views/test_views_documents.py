"""Documents of views and comparisons, and what is known of single rows."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from view_profiles import Node, profile

from stepscope.errors import OptionError
from stepscope.lenses.options import specs
from stepscope.lenses.views import ViewEngine, ViewsOptions, analyze, compare
from stepscope.model.profile import Profile
from stepscope.sources import tfprof


@pytest.fixture(scope="module")
def tiny() -> Profile:
    path = Path(__file__).parents[2] / "data/tfprof/tiny.pb.gz"
    return tfprof.read_profile(gzip.decompress(path.read_bytes()), "tiny.pb")


def small(step: int = 1) -> Profile:
    return profile(
        [Node("a/x", "X", runs=((0, 1, 5 * step, 0),)), Node("a/y", "Y", runs=((0, 2, 3, 4),))]
    )


@pytest.mark.parametrize("view", ["scope", "graph", "op", "code"])
def test_a_document_can_be_written_as_json(tiny: Profile, view: str) -> None:
    document = analyze(tiny, ViewsOptions(view=view, detail="full", step="average")).to_json()
    assert json.loads(json.dumps(document))["view"] == view
    assert document["options"]["step"] == "average"
    assert document["nodes"][0]["total_exec_micros"] == 86.5


def test_zero_is_zero_and_for_tfprof_left_out() -> None:
    nodes = analyze(small(), ViewsOptions(view="scope")).to_json()["nodes"]
    assert nodes[0]["total_peak_bytes"] == 0
    nodes = analyze(small(), ViewsOptions(view="scope", compat="tfprof")).to_json()["nodes"]
    assert "total_peak_bytes" not in nodes[0]
    assert (nodes[0]["depth"], nodes[0]["parent"]) == (0, -1)


def test_rows_of_ops_say_how_many_nodes_they_hold() -> None:
    nodes = analyze(small(), ViewsOptions(view="op")).to_json()["nodes"]
    assert [(node["name"], node["n_graph_nodes"]) for node in nodes] == [
        ("_TFProfRoot", 0),
        ("Y", 1),
        ("X", 1),
    ]


def test_a_full_document_names_the_nodes_of_each_op() -> None:
    nodes = analyze(small(), ViewsOptions(view="op", detail="full")).to_json()["nodes"]
    assert nodes[1]["graph_nodes"][0]["name"] == "a/y"
    assert nodes[1]["graph_nodes"][0]["exec_micros"] == 7


def test_every_default_shows_everything() -> None:
    assert len(analyze(small(), ViewsOptions(view="scope"))) == 4
    assert {
        spec.name
        for spec in specs(ViewsOptions)
        if spec.default not in (None, 0, (), (".*",), False)
    } == {
        "view",
        "detail",
        "average_over",
    }


def test_a_row_knows_its_shapes_inputs_consumers_and_code(tiny: Profile) -> None:
    result = ViewEngine(tiny).analyze(ViewsOptions(view="scope"))
    row = result.paths(range(len(result))).index("mlp/matmul")
    detail = result.row_detail(row)
    assert detail["input_shapes"] == {"0": [2, 3], "1": [3, 4]}
    assert detail["inputs"] == [{"name": "x", "slot": 0}, {"name": "mlp/w", "slot": 0}]
    assert detail["outputs"] == [{"slot": 0, "shape": [2, 4], "bytes": 32}]
    assert detail["consumers"] == [{"name": "mlp/add", "slot": 0}]
    assert detail["code"][0]["function"] == "<module>"
    assert detail["device_times"][0]["executions"] == 2
    assert detail["total_cpu_exec_micros"] == 104
    assert json.dumps(detail)


def test_a_comparison_aligns_rows_by_name_and_says_what_is_on_one_side() -> None:
    one = profile([Node("a/x", "X", runs=((0, 1, 9, 0),)), Node("new", "N", runs=((0, 1, 1, 0),))])
    other = profile(
        [Node("old", "O", runs=((0, 1, 6, 0),)), Node("a/x", "X", runs=((0, 1, 4, 0),))]
    )
    found = compare(one, other, ViewsOptions(view="scope"))
    rows = {row["key"]: row for row in found.to_json()["rows"]}
    assert {key: row["state"] for key, row in rows.items()} == {
        "_TFProfRoot": "both",
        "a": "both",
        "a/x": "both",
        "new": "added",
        "old": "removed",
    }
    assert [rows[key]["delta"]["exec_micros"] for key in ("a/x", "new", "old")] == [5, 1, -6]
    assert (rows["new"]["b"], rows["old"]["a"]) == (None, None)
    assert found.keys[:2] == ["_TFProfRoot", "old"]
    assert found.unmatched_share == pytest.approx(7 / 20)


def test_profiles_of_different_ticks_compare_in_micros() -> None:
    fine = profile([Node("a", runs=((0, 1, 5500, 0),))], tick_ps=1000)
    coarse = profile([Node("a", runs=((0, 1, 5, 0),))])
    assert compare(fine, coarse, ViewsOptions(view="scope")).delta(
        "total_exec_micros"
    ).tolist() == [0.5, 0.5]


def test_different_views_do_not_compare() -> None:
    one, other = (analyze(small(), ViewsOptions(view=view)) for view in ("op", "scope"))
    with pytest.raises(OptionError, match="op view cannot be compared with a scope view"):
        compare(one, other)


@pytest.mark.parametrize(
    ("view", "output", "select", "rows"),
    [
        ("op", "timeline:outfile=F", (), 1),
        ("op", "pprof:outfile=F", ("micros",), 1),
        ("code", "pprof:outfile=F", ("micros", "bytes"), 1),
        ("graph", "timeline:outfile=F", (), 0),
        ("scope", "file:outfile=F", (), 4),
        ("scope", "file:color=red", (), 0),
        ("scope", "paper", (), 0),
    ],
)
def test_outputs_that_tfprof_refuses_leave_a_bare_root_or_nothing(
    view: str, output: str, select: tuple[str, ...], rows: int
) -> None:
    options: dict[str, Any] = {"view": view, "output": output, "select": select}
    nodes = profile([Node("a/x", trace=(("m.py", 1, "f"),)), Node("a/y")])
    assert len(analyze(nodes, ViewsOptions(compat="tfprof", **options))) == rows


def test_an_empty_profile_has_a_root() -> None:
    for view in ("scope", "graph", "op", "code"):
        result = analyze(Profile(), ViewsOptions(view=view))
        assert result.to_json()["nodes"][0]["total_exec_micros"] == 0
        assert len(compare(result, result)) == len(result) == 1

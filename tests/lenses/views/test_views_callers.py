"""Views from the bottom up, held against a plain walk up from every place."""

from __future__ import annotations

from collections import Counter

import numpy as np
from hypothesis import given
from view_profiles import Node, call_trees, few, profile

from stepscope.lenses.views import ViewEngine, ViewResult, ViewsOptions
from stepscope.lenses.views.callers import Callers, callers, places_of, places_of_nodes
from stepscope.model.profile import Profile


def shared() -> Profile:
    """Two modules call linear; linear calls itself once; matmul stands below it and by itself."""
    return profile(
        [
            Node("encoder", "encoder", scope="encoder", runs=((0, 1, 0, 0),), host_total=100),
            Node("decoder", "decoder", scope="decoder", runs=((0, 1, 0, 0),), host_total=30),
            Node(
                "linear",
                "linear",
                caller=0,
                scope="encoder/linear",
                runs=((0, 1, 20, 0),),
                host_total=70,
            ),
            Node("linear", "linear", caller=2, scope="e/l", runs=((0, 1, 0, 0),), host_total=50),
            Node("matmul", "matmul", caller=3, scope="e/l/m", runs=((0, 1, 50, 0),), host_total=50),
            Node(
                "linear",
                "linear",
                caller=1,
                scope="decoder/linear",
                runs=((0, 1, 0, 0),),
                host_total=30,
            ),
            Node("matmul", "matmul", caller=5, scope="d/l/m", runs=((0, 1, 30, 0),), host_total=30),
            Node("matmul", "matmul", scope="m", runs=((0, 1, 5, 0),), host_total=5),
        ],
        nested=True,
    )


def asked(view: str, source: Profile) -> ViewResult:
    return ViewEngine(source).analyze(ViewsOptions(view=view))


def row_of(result: ViewResult, name: str) -> int:
    return result.names(range(len(result))).index(name)


def lines(found: Callers) -> list[str]:
    rows = zip(
        found.depth.tolist(), found.name, found.value.tolist(), found.places.tolist(), strict=True
    )
    return [f"{'.' * depth}{name} {value:g} {places}" for depth, name, value, places in rows]


def test_costs_are_shared_out_among_the_callers_the_largest_first() -> None:
    result = asked("graph", shared())
    found = callers(result, places_of(result, row_of(result, "matmul")))
    assert lines(found) == [
        "matmul 85 3", ".linear 80 2", "..linear 50 1", "...encoder 50 1", "..decoder 30 1",
    ]  # fmt: skip


def test_a_call_inside_a_call_of_the_same_name_counts_once() -> None:
    result = asked("graph", shared())
    found = callers(result, places_of(result, row_of(result, "linear")))
    assert lines(found) == ["linear 100 2", ".encoder 70 1", ".decoder 30 1"]


def test_an_op_is_found_where_its_nodes_are() -> None:
    ops, graph = asked("op", shared()), asked("graph", shared())
    nodes = ops.layout.members(int(ops.rows[row_of(ops, "matmul")]))
    assert lines(callers(graph, places_of_nodes(graph, nodes)))[0] == "matmul 85 3"


def test_the_costliest_are_kept_with_what_they_call() -> None:
    result = asked("graph", shared())
    found = callers(result, places_of(result, row_of(result, "matmul")), limit=3)
    assert lines(found) == ["matmul 85 3", ".linear 80 2", "..linear 50 1"]
    assert found.left_out == 2
    assert found.to_json()["rows"][1] == {
        "name": "linear", "id": found.example[1], "parent": 0, "depth": 1, "value": 80, "places": 2,
    }  # fmt: skip


def test_nothing_called_so_is_an_empty_tree() -> None:
    assert callers(asked("graph", shared()), np.empty(0, np.int64)).to_json()["rows"] == []


@few
@given(call_trees())
def test_every_line_of_callers_holds_what_walking_up_finds(source: Profile) -> None:
    result = asked("graph", source)
    total = result.column("total_exec_micros")
    names = result.names(range(len(result)))
    for row in range(1, len(result)):
        places = places_of(result, row)
        wanted: Counter[tuple[str, ...]] = Counter()
        for place in places.tolist():
            up = [place]
            while result.parent[up[-1]] > 0:
                up.append(int(result.parent[up[-1]]))
            if names[place] not in {names[above] for above in up[1:]}:
                for stop in range(1, len(up) + 1):
                    wanted[tuple(names[at] for at in up[:stop])] += total[place]
        found = callers(result, places)
        paths: list[tuple[str, ...]] = []
        for name, parent in zip(found.name, found.parent.tolist(), strict=True):
            paths.append((*(paths[parent] if parent >= 0 else ()), name))
        np.testing.assert_allclose(found.value, [wanted[path] for path in paths])
        assert len(paths) == len(set(paths)) == len(wanted)

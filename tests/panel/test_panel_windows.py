"""Windows over real views."""

from __future__ import annotations

from pathlib import Path

import pytest

import stepscope
from stepscope.panel.documents import views
from stepscope.panel.request import Query
from stepscope.panel.windows import view_windows

SAMPLE = Path(stepscope.__file__).parent / "cli" / "samples" / "small_net.pt.trace.json.gz"


@pytest.mark.parametrize("view", ["op", "scope", "graph", "code"])
def test_an_icicle_of_ops_that_call_each_other_stays_inside_its_root(view: str) -> None:
    source = stepscope.open(SAMPLE)
    rects = view_windows(source, {"view": view}).icicle("total_cpu_exec_micros", 0, 2000, 50)[
        "rects"
    ]
    assert len(rects) > 5
    top = [(x0, x1) for _, depth, x0, x1, *_ in rects if depth == 1]
    assert all(0 <= x0 <= x1 <= 1 for x0, x1 in top)
    assert sum(x1 - x0 for x0, x1 in top) <= 1.000001


def test_a_view_is_worked_out_once_for_one_record_and_one_set_of_options() -> None:
    source = stepscope.open(SAMPLE)
    assert view_windows(source, {"view": "op"}) is view_windows(source, {"view": "op"})
    assert view_windows(source, {"view": "op"}) is not view_windows(
        source, {"view": "op", "min_micros": 100}
    )


@pytest.mark.parametrize("levels", ["1", "2", "40"])
def test_an_icicle_of_few_levels_is_of_the_same_rows(levels: str) -> None:
    source = stepscope.open(SAMPLE)
    whole = view_windows(source, {"view": "graph", "order_by": "name"})
    texts = {"view": ["graph"], "order_by": ["name"], "shape": ["icicle"], "levels": [levels]}
    icicle = views(Query(source, texts))
    drawn = {row: icicle["names"][name] for row, _, _, _, name, *_ in icicle["rects"] if row >= 0}
    assert list(drawn.values()) == whole.result.names(list(drawn))
    assert icicle["depths"] <= int(levels) + 1
    assert view_windows(source, {"view": "graph", "order_by": "name"}) is whole

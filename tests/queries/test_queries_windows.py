"""Windows over real views."""

from __future__ import annotations

from pathlib import Path

import pytest

import stepscope

SAMPLE = Path(stepscope.__file__).parent / "cli" / "samples" / "small_net.pt.trace.json.gz"


@pytest.mark.parametrize("view", ["op", "scope", "graph", "code"])
def test_an_icicle_of_ops_that_call_each_other_stays_inside_its_root(view: str) -> None:
    source = stepscope.open(SAMPLE)
    rects = source.windows(view=view).icicle("total_cpu_exec_micros", 0, 2000, 50)["rects"]
    assert len(rects) > 5
    top = [(x0, x1) for _, depth, x0, x1, *_ in rects if depth == 1]
    assert all(0 <= x0 <= x1 <= 1 for x0, x1 in top)
    assert sum(x1 - x0 for x0, x1 in top) <= 1.000001


def test_a_view_is_worked_out_once_for_one_record_and_one_set_of_options() -> None:
    source = stepscope.open(SAMPLE)
    assert source.windows(view="op") is source.windows(view="op")
    assert source.windows(view="op") is not source.windows(view="op", min_micros=100)

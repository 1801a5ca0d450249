"""Steps of two profiles are paired in order, whatever their numbers."""

from __future__ import annotations

import pytest
from torch_traces import profile_of, range_, read_golden, step

from stepscope.lenses.views.comparison import compare
from stepscope.lenses.views.options import ViewsOptions
from stepscope.model.profile import Profile


def steps_from(first: int, count: int) -> Profile:
    return profile_of(
        *(
            event
            for i in range(count)
            for event in (step(first + i, 100 * i, 50), range_("work", 100 * i + 5, 10 + i))
        )
    )


@pytest.mark.parametrize("view", ["scope", "graph", "op"])
def test_steps_are_paired_in_order(view: str) -> None:
    found = compare(steps_from(16, 3), steps_from(5, 3), ViewsOptions(view=view))
    assert set(found.states) == {"both"}
    assert not any("ProfilerStep" in key for key in found.keys)
    assert found.unmatched_share == 0


def test_a_step_more_is_one_that_only_one_side_has() -> None:
    found = compare(steps_from(1, 11), steps_from(11, 10), ViewsOptions(view="scope"))
    lone = [key for key, state in zip(found.keys, found.states, strict=True) if state != "both"]
    assert [key.rpartition("/")[2] for key in lone] == ["step 11"]


def test_steps_of_the_same_names_keep_them() -> None:
    found = compare(steps_from(3, 2), steps_from(3, 2), ViewsOptions(view="scope"))
    assert any("ProfilerStep#4" in key for key in found.keys)


@pytest.mark.usefixtures("shared")
def test_two_spans_of_one_training_have_the_same_rows() -> None:
    folder = "kineto_samples~resnet50_num_workers_4~worker0"
    spans = [
        read_golden(f"{folder}.{stamp}.pt.trace") for stamp in ("1623213129365", "1623212756351")
    ]
    found = compare(*spans, ViewsOptions(view="scope"))
    assert set(found.states) == {"both"}

"""What holds for every profile and every choice of options."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from view_profiles import few, profiles

from stepscope.lenses.views import ViewEngine, ViewsOptions, accounting, compare
from stepscope.model.profile import Profile

VIEWS = ("scope", "graph", "op", "code")
TOTALS = (
    "exec_micros",
    "cpu_exec_micros",
    "accelerator_exec_micros",
    "requested_bytes",
    "parameters",
    "float_ops",
)
REGEXES = st.lists(
    st.sampled_from([".*", "a.*", ".*b", "m.*", "MatMul", "[", ".*a.*"]), max_size=2
).map(tuple)
ACCOUNT = st.sampled_from(
    [(".*",), ("MatMul",), ("gpu:0", "Const"), (".*", ".*"), (), ("no such type",)]
)


@st.composite
def row_choices(draw: st.DrawFn) -> dict[str, Any]:
    """Options that choose rows, but no nodes."""
    return {
        "start_name_regexes": draw(REGEXES),
        "trim_name_regexes": draw(REGEXES),
        "show_name_regexes": draw(REGEXES),
        "hide_name_regexes": draw(REGEXES),
        "max_depth": draw(st.sampled_from([None, 0, 1, 2, 3])),
        "min_micros": draw(st.sampled_from([0, 1, 1 << 30])),
        "order_by": draw(st.sampled_from([None, "name", "bytes", "occurrence", "float_ops"])),
    }


STEPS = st.sampled_from(["all", "average", "10", "12"])


@pytest.mark.parametrize("view", VIEWS)
@few
@given(profiles(), ACCOUNT, STEPS)
def test_a_total_is_the_sum_of_what_the_rows_below_cost_themselves(
    view: str, profile: Profile, account: tuple[str, ...], step: str
) -> None:
    result = ViewEngine(profile).analyze(
        ViewsOptions(view=view, account_type_regexes=account, step=step)
    )
    for field in TOTALS:
        own = result.exact(field)
        assert result.exact(f"total_{field}").tolist() == result.tree.sums(own).tolist()


@pytest.mark.parametrize("view", VIEWS)
@few
@given(profiles(), ACCOUNT, st.booleans(), st.booleans())
def test_the_totals_of_some_rows_are_those_among_all(
    view: str, profile: Profile, account: tuple[str, ...], nested: bool, displayed: bool
) -> None:
    options = ViewsOptions(
        view=view, account_type_regexes=account, account_displayed_op_only=displayed, min_micros=2
    )
    profile = replace(profile, nested=nested)
    some, every = ViewEngine(profile).analyze(options), ViewEngine(profile).analyze(options)
    rows = list(range(0, len(every), 2))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(accounting, "_FEW", 0.1)
        for field in every.fields:
            assert some.exact(field.name, rows).tolist() == every.exact(field.name)[rows].tolist()


@few
@given(profiles(), ACCOUNT, STEPS)
def test_all_views_agree_on_the_whole(
    profile: Profile, account: tuple[str, ...], step: str
) -> None:
    engine = ViewEngine(profile)
    roots = []
    for view in VIEWS:
        result = engine.analyze(ViewsOptions(view=view, account_type_regexes=account, step=step))
        roots.append({field: int(result.exact(f"total_{field}")[0]) for field in TOTALS})
    assert all(root == roots[0] for root in roots)


@pytest.mark.parametrize("compat", [None, "tfprof"])
@pytest.mark.parametrize("view", VIEWS)
@few
@given(profiles(), row_choices())
def test_choosing_rows_never_changes_the_totals_of_the_root(
    view: str, compat: str | None, profile: Profile, choices: dict[str, Any]
) -> None:
    engine = ViewEngine(profile)
    plain = {"view": view, "compat": compat, "step": "all" if compat is None else "-1"}
    everything = engine.analyze(ViewsOptions(**plain, max_depth=1000))  # type: ignore[arg-type]
    some = engine.analyze(ViewsOptions(**{**plain, **choices}))  # type: ignore[arg-type]
    assert len(some) <= len(everything)
    for field in TOTALS:
        if len(everything):
            assert some.exact(f"total_{field}")[0] == everything.exact(f"total_{field}")[0]


@pytest.mark.parametrize("view", ["scope", "graph", "code"])
@few
@given(profiles(), row_choices())
def test_totals_of_displayed_rows_only_are_sums_over_them(
    view: str, profile: Profile, choices: dict[str, Any]
) -> None:
    result = ViewEngine(profile).analyze(
        ViewsOptions(view=view, account_displayed_op_only=True, **choices)
    )
    for field in TOTALS:
        assert (
            result.exact(f"total_{field}").tolist()
            == result.tree.sums(result.exact(field)).tolist()
        )


@pytest.mark.parametrize("view", VIEWS)
@few
@given(profiles(), row_choices())
def test_a_comparison_with_itself_is_zero(
    view: str, profile: Profile, choices: dict[str, Any]
) -> None:
    engine = ViewEngine(profile)
    options = ViewsOptions(view=view, **choices)
    found = compare(engine.analyze(options), engine.analyze(options), options)
    assert found.unmatched_share == 0
    assert set(found.states) <= {"both"}
    assert not any(found.delta(spec.name).any() for spec in found.fields)


@pytest.mark.parametrize("view", VIEWS)
@few
@given(profiles(), profiles(), st.sampled_from(["all", "average"]))
def test_comparing_the_other_way_round_turns_the_signs(
    view: str, a: Profile, b: Profile, step: str
) -> None:
    options = ViewsOptions(view=view, step=step)
    there, back = compare(a, b, options), compare(b, a, options)
    assert sorted(there.keys) == sorted(back.keys)
    place = {key: row for row, key in enumerate(back.keys)}
    order = np.array([place[key] for key in there.keys], np.int64)
    for field in ("total_exec_micros", "exec_micros", "total_requested_bytes"):
        assert there.delta(field).tolist() == (-back.delta(field)[order]).tolist()
    turned = {"both": "both", "added": "removed", "removed": "added"}
    assert [turned[state] for state in there.states] == [back.states[row] for row in order.tolist()]
    assert there.unmatched_share == pytest.approx(back.unmatched_share)


@pytest.mark.parametrize("compat", [None, "tfprof"])
@pytest.mark.parametrize("view", VIEWS)
@few
@given(profiles(), row_choices())
def test_rows_stand_in_preorder_below_their_parents(
    view: str, compat: str | None, profile: Profile, choices: dict[str, Any]
) -> None:
    result = ViewEngine(profile).analyze(
        ViewsOptions(view=view, compat=compat, step="-1", **choices)
    )
    nodes = result.to_json()["nodes"]
    assert len(nodes) == len(result)
    for row, node in enumerate(nodes[1:], 1):
        assert 0 <= node["parent"] < row
        assert node["depth"] == nodes[node["parent"]]["depth"] + 1
    assert not nodes or nodes[0]["name"] == "_TFProfRoot"

"""Scopes in order of time, of one profile and of two."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from torch_traces import profile_of, range_, step

from stepscope.lenses.trace.order import merged, scopes_in_time

PROFILE = profile_of(
    step(1, 0, 200),
    range_("forward", 10, 50),
    range_("block/a", 20, 10),
    range_("aten::mm", 22, 5, cat="cpu_op"),
    range_("aten::add", 40, 5, cat="cpu_op"),
    range_("data", 2, 5),
    range_("backward", 70, 50),
    range_("forward", 130, 10),
    range_("late", 132, 5),
)


def test_parts_of_a_scope_stand_in_order_of_their_first_start() -> None:
    assert [key for key in scopes_in_time(PROFILE) if not key.startswith("Profiler")] == [
        "data",
        "forward",
        "backward",
    ]
    assert scopes_in_time(PROFILE, "forward") == [
        "forward/block/a",
        "forward/aten::add",
        "forward/late",
    ]


def test_names_with_a_slash_are_found() -> None:
    assert scopes_in_time(PROFILE, "forward/block/a") == ["forward/block/a/aten::mm"]


def test_a_scope_that_is_not_there_has_no_parts() -> None:
    assert scopes_in_time(PROFILE, "forward/nothing") == []


def test_what_only_the_other_has_stands_behind_what_it_follows_there() -> None:
    assert merged(["a", "b", "c"], ["x", "a", "y", "z", "c", "end"]) == [
        "x",
        "a",
        "y",
        "z",
        "b",
        "c",
        "end",
    ]


@given(
    st.lists(st.sampled_from("abcdef"), unique=True),
    st.lists(st.sampled_from("defghi"), unique=True),
)
def test_all_of_both_are_there_once_and_mine_in_my_order(
    mine: list[str], theirs: list[str]
) -> None:
    found = merged(mine, theirs)
    assert sorted(found) == sorted({*mine, *theirs})
    assert [key for key in found if key in mine] == mine

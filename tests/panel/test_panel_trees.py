"""Windows over trees, held against plain recursive definitions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stepscope.lenses.views.tree import Tree, flat
from stepscope.panel import trees as trees_module
from stepscope.panel.trees import Icicle, Opened, open_rows, sorted_rows, visible_rows


def make_tree(parents: list[int]) -> Tree:
    """A preorder tree from one number a row: how far up from the last row its parent is."""
    parent, depth = [-1], [0]
    for up in parents:
        at = len(parent) - 1
        for _ in range(up):
            at = parent[at] if parent[at] >= 0 else at
        parent.append(at)
        depth.append(depth[at] + 1)
    end = list(range(1, len(parent) + 1))
    for row in range(len(parent) - 1, 0, -1):
        end[parent[row]] = max(end[parent[row]], end[row])
    return Tree(np.array(parent, np.int64), np.array(depth, np.int64), np.array(end, np.int64))


trees = st.lists(st.integers(0, 4), max_size=40).map(make_tree)


def ancestors(tree: Tree, row: int) -> list[int]:
    found = []
    while row >= 0:
        found.append(row)
        row = int(tree.parent[row])
    return found


@st.composite
def trees_with_values(draw: st.DrawFn) -> tuple[Tree, np.ndarray]:
    tree = draw(trees)
    own = draw(st.lists(st.integers(0, 1000), min_size=len(tree), max_size=len(tree)))
    return tree, np.array(own, np.int64)


@given(trees_with_values())
def test_path_sums_add_a_row_and_all_above_it(given_tree: tuple[Tree, np.ndarray]) -> None:
    tree, own = given_tree
    assert tree.path_sums(own).tolist() == [
        sum(int(own[a]) for a in ancestors(tree, r)) for r in range(len(tree))
    ]


def walk(tree: Tree, key: np.ndarray, row: int) -> list[int]:
    children = [c for c in range(len(tree)) if tree.parent[c] == row]
    return [row] + [r for c in sorted(children, key=lambda c: key[c]) for r in walk(tree, key, c)]


@given(trees_with_values())
def test_places_are_those_of_the_preorder_with_siblings_sorted(
    given_tree: tuple[Tree, np.ndarray],
) -> None:
    tree, own = given_tree
    position = tree.places([own])
    assert np.argsort(position).tolist() == walk(tree, own, 0)


@given(trees_with_values(), st.integers(0, 5), st.sets(st.integers(0, 50)))
def test_a_row_is_in_sight_exactly_when_all_above_it_are_open(
    given_tree: tuple[Tree, np.ndarray], depth: int, toggled: set[int]
) -> None:
    tree, own = given_tree
    is_open = open_rows(tree, Opened(depth, tuple(sorted(toggled))))
    rows = visible_rows(tree, is_open)
    visible = sorted_rows(tree, rows, own[rows])
    wanted = [r for r in walk(tree, own, 0) if all(is_open[a] for a in ancestors(tree, r)[1:])]
    assert visible.tolist() == wanted


@given(trees, st.lists(st.integers(-40, 40), max_size=4), st.sets(st.integers(0, 40)))
def test_rows_open_and_close_with_all_below_them(
    tree: Tree, below: list[int], toggled: set[int]
) -> None:
    is_open = open_rows(tree, Opened(1, tuple(sorted(toggled)), tuple(below)))
    for row in range(len(tree)):
        wanted = bool(tree.depth[row] < 1)
        for said in below:
            wanted = said >= 0 if abs(said) in ancestors(tree, row) else wanted
        assert is_open[row] == (wanted != (row in toggled) and tree.children[row] > 0)


@given(trees_with_values())
def test_matches_are_always_in_sight(given_tree: tuple[Tree, np.ndarray]) -> None:
    tree, own = given_tree
    matched = own > 700
    is_open = open_rows(tree, Opened(0), matched)
    assert set(np.flatnonzero(matched)) <= set(visible_rows(tree, is_open).tolist())


@given(trees_with_values(), st.integers(1, 60))
def test_an_icicle_keeps_every_row_inside_its_parent_and_accounts_for_all(
    given_tree: tuple[Tree, np.ndarray], width_px: int
) -> None:
    tree, own = given_tree
    total = np.concatenate(([0], np.cumsum(own)))
    value = total[tree.end] - total[:-1]
    found = Icicle(tree, value).rectangles(0, width_px, 100)
    if not value[0]:
        assert len(found.row) == 0
        return
    spans = {
        int(r): (a, b) for r, a, b in zip(found.row, found.start, found.stop, strict=True) if r >= 0
    }
    assert spans[0] == (0.0, 1.0)
    for row, (start, stop) in spans.items():
        assert abs((stop - start) - value[row] / value[0]) < 1e-9
        assert value[row] * width_px >= value[0]
        if row:
            outer = spans[int(tree.parent[row])]
            assert outer[0] - 1e-9 <= start
            assert stop <= outer[1] + 1e-9
    shown = len(spans) + int(found.folded.sum())
    hidden_without_time = sum(
        1
        for r in range(len(tree))
        if any(value[a] == 0 for a in ancestors(tree, r)) and r not in spans
    )
    assert shown <= len(tree) <= shown + hidden_without_time


@given(trees_with_values(), st.integers(1, 6))
def test_an_icicle_of_too_many_rows_keeps_the_widest(
    given_tree: tuple[Tree, np.ndarray], most: int
) -> None:
    tree, own = given_tree
    value = tree.sums(own)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(trees_module, "MAX_RECTANGLES", most)
        found = Icicle(tree, value).rectangles(0, 10_000, 100)
    shown = found.row[found.row >= 0]
    wide = int(np.count_nonzero((value > 0) & (value * 10_000 >= value[0])))
    assert len(shown) == min(most, wide)
    narrowest = value[shown].min(initial=int(value[0]))
    left_out = set(range(len(tree))) - set(shown.tolist())
    assert all(value[row] <= narrowest or row == 0 for row in left_out)
    if len(shown):
        below = [
            found.stop[i] - found.start[i] for i in range(len(found.row)) if found.depth[i] == 1
        ]
        assert sum(below) <= 1 + 1e-9


def test_of_rows_as_wide_as_each_other_as_many_are_drawn_as_there_is_room_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(trees_module, "MAX_RECTANGLES", 4)
    found = Icicle(flat(8), np.array([16] + [2] * 8)).rectangles(0, 100, 100)
    assert found.row.tolist() == [0, 1, 2, 3, -1]
    assert found.folded.tolist() == [0, 0, 0, 0, 5]
    assert found.stop.tolist() == [1.0, 0.125, 0.25, 0.375, 1.0]

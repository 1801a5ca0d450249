"""Trees as arrays say what trees of nodes would say."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from view_profiles import few

from stepscope.lenses.views.tree import Tree, chain, flat, preorder, stable_order
from stepscope.model.columns import Ints


@st.composite
def forests(draw: st.DrawFn) -> Ints:
    """Parents of rows in any order of birth; row 0 is the root."""
    size = draw(st.integers(1, 30))
    return np.array([-1, *(draw(st.integers(0, row - 1)) for row in range(1, size))], np.int64)


def ancestors(parent: Ints, row: int) -> list[int]:
    found = []
    while parent[row] >= 0:
        row = int(parent[row])
        found.append(row)
    return found


def built(parent: Ints, rank: Ints | None = None) -> Tree:
    return preorder(parent, np.zeros(len(parent), np.int64) if rank is None else rank)[0]


def check_consistent(tree: Tree) -> None:
    for row in range(len(tree)):
        above = ancestors(tree.parent, row)
        assert tree.depth[row] == len(above)
        inside = {
            other
            for other in range(len(tree))
            if row == other or row in ancestors(tree.parent, other)
        }
        assert inside == set(range(row, int(tree.end[row])))


@few
@given(forests(), st.randoms())
def test_preorder_lays_siblings_out_by_rank(parent: Ints, random: object) -> None:
    rank = np.array([random.randrange(5) for _ in parent], np.int64)  # type: ignore[attr-defined]
    tree, rows = preorder(parent, rank)
    check_consistent(tree)
    assert parent[rows[1:]].tolist() == rows[tree.parent[1:]].tolist()
    for row in range(len(tree)):
        children = [rows[child] for child in range(len(tree)) if tree.parent[child] == row]
        assert children == sorted(children, key=lambda child: (rank[child], child))


@few
@given(forests(), st.data())
def test_sums_cover_the_subtree(parent: Ints, data: st.DataObject) -> None:
    tree = built(parent)
    values = np.array(
        data.draw(st.lists(st.integers(-9, 9), min_size=len(tree), max_size=len(tree))), np.int64
    )
    for row, total in enumerate(tree.sums(values).tolist()):
        assert total == values[row : tree.end[row]].sum()
    some = data.draw(st.lists(st.integers(0, len(tree) - 1), max_size=5))
    assert tree.sums_of(values, some).tolist() == tree.sums(values)[some].tolist()
    for row, total in enumerate(tree.path_sums(values).tolist()):
        assert total == values[row] + sum(values[above] for above in ancestors(tree.parent, row))


@few
@given(forests(), st.data())
def test_rows_below_a_hidden_row_move_up_to_the_nearest_that_stays(
    parent: Ints, data: st.DataObject
) -> None:
    tree = built(parent)
    mask = np.array(data.draw(st.lists(st.booleans(), min_size=len(tree), max_size=len(tree))))
    mask[0] = True
    kept, rows = tree.keep(mask)
    check_consistent(kept)
    assert rows.tolist() == np.flatnonzero(mask).tolist()
    for row in range(1, len(kept)):
        nearest = next(above for above in ancestors(tree.parent, int(rows[row])) if mask[above])
        assert rows[kept.parent[row]] == nearest


@few
@given(forests(), st.data())
def test_below_says_whether_a_row_above_is_marked(parent: Ints, data: st.DataObject) -> None:
    tree = built(parent)
    mask = np.array(data.draw(st.lists(st.booleans(), min_size=len(tree), max_size=len(tree))))
    want = [any(mask[above] for above in ancestors(tree.parent, row)) for row in range(len(tree))]
    assert tree.below(mask).tolist() == want


@few
@given(forests(), st.data())
def test_sorting_moves_whole_subtrees(parent: Ints, data: st.DataObject) -> None:
    tree = built(parent)
    key = np.array(
        data.draw(st.lists(st.integers(0, 3), min_size=len(tree), max_size=len(tree))), np.int64
    )
    ordered, rows = tree.sort([key])
    check_consistent(ordered)
    assert rows[ordered.parent[1:]].tolist() == tree.parent[rows[1:]].tolist()
    for row in range(len(ordered)):
        children = [
            int(rows[child]) for child in range(len(ordered)) if ordered.parent[child] == row
        ]
        assert children == sorted(children, key=lambda child: (key[child], child))


@few
@given(
    st.lists(
        st.tuples(st.integers(-(1 << 62), 1 << 62), st.integers(-3, 3)), min_size=1, max_size=20
    )
)
def test_keys_too_wide_for_one_number_are_sorted_too(keys: list[tuple[int, int]]) -> None:
    wide, narrow = (np.array(column, np.int64) for column in zip(*keys, strict=True))
    assert stable_order([narrow, wide]).tolist() == sorted(
        range(len(keys)), key=lambda i: (narrow[i], wide[i])
    )


def test_a_deep_tree_needs_no_recursion() -> None:
    parent = np.arange(-1, 20_000)
    tree = built(parent)
    assert tree.depth[-1] == 20_000
    assert tree.sums(np.ones(len(tree), np.int64))[0] == len(tree)


def test_flat_and_chain() -> None:
    check_consistent(flat(3))
    check_consistent(flat(0))
    check_consistent(chain(4))
    assert flat(3).children.tolist() == [3, 0, 0, 0]
    assert chain(3).depth.tolist() == [0, 1, 2]

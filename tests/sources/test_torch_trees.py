"""Trees over time ranges and call paths, against their definitions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stepscope.sources.torch_trace.trees import (
    Ranges,
    depths,
    distinct,
    nearest,
    nest,
    nesting_order,
    paths,
    self_time,
)

ranges = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 40), st.integers(0, 20)), max_size=40)
parents = st.lists(st.integers(0, 1_000), max_size=40).map(
    lambda picks: [p % (i + 1) - 1 for i, p in enumerate(picks)]
)


def nested(rows: list[tuple[int, int, int]]) -> Ranges:
    thread, start, duration = np.array(rows, np.int64).reshape(-1, 3).T
    order = nesting_order(thread, start, start + duration)
    thread, start, end = thread[order], start[order], (start + duration)[order]
    return Ranges(thread, start, end, nest(thread, start, end))


@given(ranges)
def test_a_parent_is_open_when_its_child_starts(rows: list[tuple[int, int, int]]) -> None:
    tree = nested(rows)
    for row, parent in enumerate(tree.parent.tolist()):
        if parent >= 0:
            assert parent < row
            assert tree.thread[parent] == tree.thread[row]
            assert tree.start[parent] <= tree.start[row] < tree.end[parent]


@given(ranges)
def test_self_times_add_up_to_the_roots(rows: list[tuple[int, int, int]]) -> None:
    tree = nested(rows)
    duration = tree.end - tree.start
    assert self_time(tree.parent, duration).sum() == duration[tree.parent < 0].sum()


@given(ranges, st.integers(0, 2), st.integers(0, 60))
def test_the_range_around_a_moment_is_open(
    rows: list[tuple[int, int, int]], thread: int, time: int
) -> None:
    tree = nested(rows)
    moment = np.array([time])
    (found,) = tree.around(np.array([thread]), moment, moment).tolist()
    is_open = (tree.thread == thread) & (tree.start <= time) & (time < tree.end)
    if found >= 0:
        assert is_open[found]
    else:
        # Only what has outlasted its parent can be open where the chain of parents has ended.
        assert not (is_open & (tree.parent < 0)).any()


@given(parents, st.data())
def test_paths_spell_out_the_keys_from_the_root(
    parent_list: list[int], data: st.DataObject
) -> None:
    parent = np.array(parent_list, np.int64)
    size = len(parent_list)
    key = np.array(data.draw(st.lists(st.integers(0, 3), min_size=size, max_size=size)), np.int64)
    found = paths(parent, key)
    spelled: list[tuple[int, ...]] = []
    for row in range(size):
        spelled.append((*(spelled[parent[row]] if parent[row] >= 0 else ()), int(key[row])))
    of_path: list[tuple[int, ...]] = []
    for above, own in zip(found.parent.tolist(), found.key.tolist(), strict=True):
        of_path.append((*(of_path[above] if above >= 0 else ()), own))
    assert [of_path[path] for path in found.of.tolist()] == spelled
    assert len(set(of_path)) == len(of_path) == len(found)
    assert depths(parent).tolist() == [len(path) - 1 for path in spelled]


@given(parents)
def test_the_nearest_allowed_ancestor_is_found(parent_list: list[int]) -> None:
    parent = np.array(parent_list, np.int64)
    allowed = np.arange(len(parent)) % 3 == 0
    found = nearest(np.arange(len(parent)), parent, allowed)
    for row, ancestor in enumerate(found.tolist()):
        at = row
        while at >= 0 and not allowed[at]:
            at = parent_list[at]
        assert ancestor == at


@given(st.lists(st.tuples(st.integers(-5, 5), st.integers(-2, 2)), max_size=30))
def test_distinct_rows_have_one_number(rows: list[tuple[int, int]]) -> None:
    table = np.array(rows, np.int64).reshape(-1, 2)
    number, first = distinct(table[:, 0], table[:, 1])
    assert [rows[first[n]] for n in number.tolist()] == rows
    assert len(first) == len(set(rows))


@pytest.mark.parametrize("branches", [1, 3])
def test_deep_trees_are_walked_as_shallow_ones(branches: int) -> None:
    """Beyond 32 levels ancestors are found by jumps; beyond 1,000 paths are numbered row by row."""
    depth = 1500
    count = depth * branches
    level = np.repeat(np.arange(depth), branches)
    parent = np.where(level > 0, np.arange(count) - branches, -1)
    allowed = np.zeros(count, bool)
    allowed[:branches] = True
    assert nearest(np.arange(count), parent, allowed).tolist() == [
        row % branches for row in range(count)
    ]
    assert nearest(np.arange(count), parent, ~np.ones(count, bool)).tolist() == [-1] * count

    key = np.arange(count) % branches // 2
    found = paths(parent, key)
    of_path: list[tuple[int, int]] = []
    for above, own in zip(found.parent.tolist(), found.key.tolist(), strict=True):
        assert above < len(of_path)
        of_path.append((of_path[above][0] + 1 if above >= 0 else 0, own))
    assert [of_path[path] for path in found.of.tolist()] == list(
        zip(level.tolist(), key.tolist(), strict=True)
    )


@given(st.integers(0, 2**32))
def test_the_open_range_around_a_moment_is_found_at_any_depth(seed: int) -> None:
    random = np.random.default_rng(seed)
    start = np.sort(random.integers(0, 50, 200))
    end = start + random.integers(1, 400, 200)
    thread = np.zeros(200, np.int64)
    order = nesting_order(thread, start, end)
    start, end = start[order], end[order]
    ranges = Ranges(thread=thread, start=start, end=end, parent=nest(thread, start, end))
    times = random.integers(0, 500, 60)
    expected = []
    for time in times.tolist():
        at = int(np.searchsorted(start, time, side="right")) - 1
        while at >= 0 and end[at] <= time:
            at = int(ranges.parent[at])
        expected.append(at)
    assert ranges.around(np.zeros(60, np.int64), times, times).tolist() == expected

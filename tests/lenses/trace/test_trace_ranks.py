"""Ranks side by side, also where they do not have the same collectives."""

from __future__ import annotations

import pytest
from torch_traces import SHARED, profile_of, range_, read, step

from stepscope.lenses.trace.ranks import ranks
from stepscope.model.profile import Profile

MICROSECOND = 1_000_000


def rank(number: int, *durations: int, items: int = 250) -> Profile:
    kernels = [
        range_(
            "ncclDevKernel_AllReduce_Sum", 10 + 20 * i, length, cat="kernel", device=0, stream=9, pid=0, tid=9,
            **{"Collective name": "allreduce", "In msg nelems": items, "dtype": "Float"},
        )
        for i, length in enumerate(durations)
    ]  # fmt: skip
    work = range_("gemm", 8, 6, cat="kernel", device=0, stream=7, pid=0, tid=7)
    return profile_of(
        step(1, 0, 100), work, *kernels, distributedInfo={"rank": number, "world_size": 2}
    )


def test_parts_of_a_rank_add_up_to_its_span() -> None:
    (found,) = ranks([rank(0, 10, 5)]).to_json()["ranks"]
    parts = [
        found[f"{part}_ps"] // MICROSECOND
        for part in ("computation", "overlap", "communication", "other")
    ]
    assert parts == [2, 4, 11, 83]
    assert found["span_ps"] == 100 * MICROSECOND


def test_who_comes_last_does_not_wait() -> None:
    document = ranks([rank(1, 3, 9), rank(0, 10, 5)]).to_json()
    first, second = document["ranks"]
    assert (first["rank"], second["rank"]) == (0, 1)
    assert (first["transfer_ps"], first["waiting_ps"]) == (8 * MICROSECOND, 7 * MICROSECOND)
    assert (second["transfer_ps"], second["waiting_ps"]) == (8 * MICROSECOND, 4 * MICROSECOND)
    assert (first["came_last"], first["caused_waiting_ps"]) == (1, 4 * MICROSECOND)
    assert (second["came_last"], second["caused_waiting_ps"]) == (1, 7 * MICROSECOND)
    assert [row["bytes"] for row in document["rows"]] == [2000, 2000]


def test_counts_may_differ_between_ranks() -> None:
    document = ranks([rank(0, 10, 5, 5), rank(1, 3, 9)]).to_json()
    assert [row["calls"] for row in document["rows"]] == [3, 2]
    assert [row["matched"] for row in document["rows"]] == [2, 2]
    (problem,) = document["problems"]
    assert problem["count"] == 1
    assert "0: 3, 1: 2" in problem["what"]


@pytest.mark.parametrize(
    ("items", "size"), [(10**15, 3 * 4 * 10**15), (10**16, None), (10**30, None), (-1, None)]
)
def test_sizes_are_exact_sums_and_unknown_where_no_memory_is_as_large(
    items: int, size: int | None
) -> None:
    (row,) = ranks([rank(0, 1, 1, 1, items=items)]).to_json()["rows"]
    assert row["bytes"] == size


def test_a_rank_alone_has_no_transfer_time() -> None:
    (row,) = ranks([rank(0, 10)]).to_json()["rows"]
    assert row["transfer_ps"] is None


@pytest.mark.usefixtures("shared")
def test_the_job_that_the_old_plugin_gave_up_on_is_compared() -> None:
    folder = SHARED / "golden" / "torch-bugs"
    document = ranks(
        [read(folder / f"b14_ranks_mismatch.rank{i}.pt.trace.json") for i in (0, 1)]
    ).to_json()
    assert [(row["calls"], row["latency_ps"] // MICROSECOND) for row in document["rows"]] == [
        (3, 180),
        (2, 100),
    ]
    assert len(document["problems"]) == 1

"""What holds for any stamps: exact sums, shifts and permutations."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from stepscope.lenses.incore import InCoreOptions, analyze
from stepscope.lenses.incore.exactness import difference, median_x2, nearest_rank
from stepscope.model.incore_timing import from_timing

EVENTS = ("entry", "producer_done", "collective_arrival", "collective_release", "body_done")
STAMPS = st.integers(0, (1 << 64) - 1)


@st.composite
def kernels(draw: st.DrawFn) -> dict[str, Any]:
    """A kernel with a full barrier: rows in order, no release before the last arrival, any base of 64 bits."""
    slots = draw(st.integers(1, 6))
    lengths = st.lists(st.integers(0, 1 << 20), min_size=slots, max_size=slots)
    base = draw(st.integers(1, (1 << 64) - (1 << 24)))
    entry = np.array(draw(lengths), np.uint64)
    done = entry + np.array(draw(lengths), np.uint64)
    arrival = done + np.array(draw(lengths), np.uint64)
    release = arrival.max() + np.array(draw(lengths), np.uint64)
    end = release + np.array(draw(lengths), np.uint64)
    producers = draw(st.lists(st.sampled_from(range(slots)), min_size=1, unique=True))
    timing = np.stack([entry, done, arrival, release, end], axis=1) + np.uint64(base)
    return {
        "timing": timing,
        "columns": EVENTS,
        "producers": producers,
        "clock_freq_hz": 50_000_000,
    }


@settings(deadline=None)
@given(kernels(), st.integers(0, 1 << 20), st.integers(0, 1 << 20))
def test_both_partitions_add_up_to_their_total(
    kernel: dict[str, Any], before: int, after: int
) -> None:
    stamps = kernel["timing"]
    start, end = int(stamps.min()) - before, min(int(stamps.max()) + after, (1 << 64) - 1)
    answer = analyze(
        from_timing(**kernel, l2={"unit": "cycles", "M0": str(max(start, 0)), "M1": str(end)})
    ).to_json()
    assert answer["status"] == "ok"
    assert (
        sum(answer["partition"].values())
        == answer["total"]
        == int(stamps[:, 4].max()) - int(stamps[:, 0].min())
    )
    assert sum(answer["l2"]["partition"].values()) == answer["l2"]["total"] == end - max(start, 0)
    merged = answer["merged"]
    assert (
        merged["producer_equivalent"] + merged["gap"] + merged["consumer_equivalent"]
        == merged["total"]
    )


@settings(deadline=None)
@given(kernels(), st.integers(1, 1 << 22))
def test_shifting_all_stamps_moves_the_boundaries_and_nothing_else(
    kernel: dict[str, Any], shift: int
) -> None:
    moved = kernel | {"timing": kernel["timing"] + np.uint64(shift)}
    first, second = (analyze(from_timing(**k)).to_json() for k in (kernel, moved))
    before, after = first.pop("boundaries"), second.pop("boundaries")
    assert first == second
    assert {name: str(int(stamp) + shift) for name, stamp in before.items()} == after


@settings(deadline=None)
@given(kernels(), st.randoms(use_true_random=False))
def test_permuting_slots_changes_only_their_names(kernel: dict[str, Any], random: Any) -> None:
    order = list(range(len(kernel["timing"])))
    random.shuffle(order)
    renamed = {old: new for new, old in enumerate(order)}
    moved = kernel | {
        "timing": kernel["timing"][order],
        "producers": [renamed[p] for p in kernel["producers"]],
    }
    first, second = (analyze(from_timing(**k)).to_json() for k in (kernel, moved))
    for name in ("early_core_residence_slots", "last_arrival_slots", "first_release_slots"):
        slots = first["collective"].pop(name)
        assert sorted(renamed[slot] for slot in slots) == second["collective"].pop(name)
    assert first == second


@settings(deadline=None)
@given(kernels())
def test_diagnostics_follow_their_definitions(kernel: dict[str, Any]) -> None:
    stamps = [[int(x) for x in row] for row in kernel["timing"]]
    arrivals, releases = [row[2] for row in stamps], [row[3] for row in stamps]
    found = analyze(from_timing(**kernel)).to_json()["collective"]
    assert found["arrival_skew"] == max(arrivals) - min(arrivals)
    assert found["first_release_service"] == min(releases) - max(arrivals)
    assert found["release_skew"] == max(releases) - min(releases)
    assert found["full_release_tail"] == max(releases) - max(arrivals)
    assert found["early_core_residence"] == max(
        r - a for r, a in zip(releases, arrivals, strict=True)
    )


@settings(deadline=None, max_examples=30)
@given(st.lists(kernels(), min_size=2, max_size=4))
def test_an_invocation_alone_has_the_figures_it_has_among_others(
    many: list[dict[str, Any]],
) -> None:
    slots = max(len(kernel["timing"]) for kernel in many)
    stacked = np.stack([np.pad(k["timing"], ((0, slots - len(k["timing"])), (0, 0))) for k in many])
    record = from_timing(
        stacked,
        columns=EVENTS,
        participating=[list(range(len(k["timing"]))) for k in many],
        producers=[k["producers"] for k in many],
        clock_freq_hz=50_000_000,
    )
    table = analyze(record).to_json()
    for index, kernel in enumerate(many):
        alone = analyze(from_timing(**kernel)).to_json()
        assert analyze(record, InCoreOptions(invocation=index)).to_json() == alone
        assert (
            dict(zip(table["columns"], table["per_invocation"][index], strict=True)).items()
            <= {
                **alone["partition"],
                "total": alone["total"],
                **alone["collective"],
            }.items()
        )


@settings(deadline=None)
@given(STAMPS, STAMPS)
def test_a_difference_is_exact_whatever_the_counter_values(later: int, earlier: int) -> None:
    found = difference(np.array([later], np.uint64), np.array([earlier], np.uint64))
    assert int(found[0]) == later - earlier


@settings(deadline=None)
@given(st.lists(st.integers(-(1 << 62), 1 << 62), min_size=1))
def test_medians_and_ranks_are_order_statistics(values: list[int]) -> None:
    ordered = sorted(values)
    middle = len(values) // 2
    twice = 2 * ordered[middle] if len(values) % 2 else ordered[middle - 1] + ordered[middle]
    assert median_x2(np.array(values)) == twice
    rank = nearest_rank(np.array(values), 99)
    assert sum(v <= rank for v in values) * 100 >= 99 * len(values)
    assert rank in values

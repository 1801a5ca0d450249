"""Two in-core results side by side, pair by pair."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from stepscope.lenses.incore import analyze, compare
from stepscope.model.incore import InCore
from stepscope.model.incore_timing import from_timing

CLOCK = 1_000_000_000
EVENTS = ("entry", "producer_done", "collective_arrival", "collective_release", "body_done")


def run(names: tuple[str, ...], start: int, lengths: tuple[int, int, int]) -> dict[str, str]:
    """A run whose producer, gap and consumer are this long."""
    stamps = np.cumsum([start, *lengths], dtype=object)
    return {name: str(stamp) for name, stamp in zip(names, stamps, strict=True)}


def merged(lengths: tuple[int, int, int], start: int = 1000) -> dict[str, str]:
    return run(("M0", "B", "A", "M1"), start, lengths)


def split(lengths: tuple[int, int, int], start: int = 5000) -> dict[str, str]:
    return run(("P0", "P1", "C0", "C1"), start, lengths)


def record(*pairs: dict[str, Any], **more: Any) -> InCore:
    return from_timing(pairs=pairs, clock_freq_hz=CLOCK, **more)


def rows(a: InCore, b: InCore) -> dict[str, dict[str, Any]]:
    document = compare(analyze(a), analyze(b)).to_json()
    return {row["key"]: row for row in document["rows"]}


def deltas(a: InCore, b: InCore) -> dict[str, int | None]:
    return {key: row["delta"] and row["delta"]["cycles_x2"] for key, row in rows(a, b).items()}


def test_each_part_of_each_run_is_compared_within_its_pair() -> None:
    a = record({"pair": 4, "merged": merged((10, 5, 20)), "split": split((11, 9, 21))})
    b = record({"pair": 4, "merged": merged((13, 5, 20)), "split": split((11, 8, 21))})
    assert deltas(a, b) == {
        "pair 4/merged/producer": -6,
        "pair 4/merged/gap": 0,
        "pair 4/merged/consumer": 0,
        "pair 4/merged/total": -6,
        "pair 4/split/producer": 0,
        "pair 4/split/gap": 2,
        "pair 4/split/consumer": 0,
        "pair 4/split/total": 2,
        "pair 4/merged-split": -8,
    }
    row = rows(a, b)["pair 4/split/gap"]
    assert (row["pair"], row["phase"], row["a"]["cycles_x2"], row["b"]["n"]) == (
        4,
        "split/gap",
        18,
        1,
    )


def test_a_merged_and_a_split_record_are_compared_across_the_variants() -> None:
    a = record(
        {"pair": 0, "merged": merged((10, 5, 20))}, {"pair": 1, "merged": merged((10, 5, 20))}
    )
    b = record({"pair": 1, "split": split((9, 7, 22))}, {"pair": 0, "split": split((9, 2, 22))})
    assert deltas(a, b)["pair 0/total"] == 2 * (35 - 33)
    assert deltas(a, b)["pair 1/gap"] == 2 * (5 - 7)
    row = rows(a, b)["pair 0/producer"]
    assert (row["a"]["variant"], row["b"]["variant"]) == ("merged", "split")


def test_a_record_that_is_one_run_of_a_pair_is_compared_with_its_partner() -> None:
    timing = np.array([[12, 18, 20, 25, 95], [13, 17, 19, 26, 94]])
    bounds = {"unit": "cycles", "M0": "10", "M1": "100"}
    one = from_timing(
        timing, columns=EVENTS, l2=bounds, variant="merged", pair=7, clock_freq_hz=CLOCK
    )
    other = from_timing(
        split_runs=[split((10, 5, 85))], variant="split", pair=7, clock_freq_hz=CLOCK
    )
    assert deltas(one, other)["pair 7/total"] == 2 * (90 - 100)
    stranger = from_timing(
        split_runs=[split((10, 5, 85))], variant="split", pair=8, clock_freq_hz=CLOCK
    )
    assert not any(key.startswith("pair") for key in deltas(one, stranger))


def test_a_pair_or_a_member_that_one_record_lacks_is_added_or_removed() -> None:
    a = record(
        {"pair": 0, "merged": merged((1, 2, 3)), "split": split((1, 2, 3))},
        {"pair": 1, "split": split((1, 2, 3))},
    )
    b = record({"pair": 0, "merged": merged((1, 2, 3))}, {"pair": 2, "merged": merged((1, 2, 3))})
    states = {key: row["state"] for key, row in rows(a, b).items()}
    assert states["pair 0/merged/total"] == "both"
    assert (
        states["pair 0/split/total"]
        == states["pair 0/merged-split"]
        == states["pair 1/split/total"]
        == "added"
    )
    assert states["pair 2/merged/total"] == "removed"


def test_what_a_run_was_made_with_stands_beside_its_figures() -> None:
    setup = {"device": "npu:0", "inputs": "4096x128", "configuration": "tile 64"}
    a = record({"pair": 0, "merged": merged((1, 2, 3)), **setup})
    b = record({"pair": 0, "merged": merged((1, 2, 3)), **setup, "device": "npu:1"})
    row = rows(a, b)["pair 0/merged/total"]
    assert row["a"] == {"cycles_x2": 12, "n": 1, "variant": "merged", **setup}
    assert row["b"]["device"] == "npu:1"
    assert row["delta"] == {"cycles_x2": 0}


def test_runs_that_stand_alone_are_compared_by_their_number() -> None:
    a = from_timing(split_runs=[{"run": 3, **split((10, -4, 20))}], clock_freq_hz=CLOCK)
    b = from_timing(split_runs=[{"run": 3, **split((10, 6, 20))}], clock_freq_hz=CLOCK)
    assert deltas(a, b)["run 3/gap"] == -20
    assert rows(a, b)["run 3/gap"]["run"] == 3


lengths = st.tuples(*[st.integers(0, 1 << 62)] * 3)
members = st.fixed_dictionaries(
    {},
    optional={
        "merged": lengths.map(merged),
        "split": lengths.map(lambda three: split(three, 1 << 61)),
    },
).filter(bool)
records = st.dictionaries(st.integers(0, 3), members, min_size=1).map(
    lambda pairs: record(*({"pair": number, **found} for number, found in pairs.items()))
)


@given(records)
def test_a_record_compared_with_itself_differs_by_nothing(one: InCore) -> None:
    assert set(deltas(one, one).values()) == {0}


@given(records, records)
def test_the_other_way_round_every_delta_changes_its_sign(one: InCore, other: InCore) -> None:
    there, back = rows(one, other), rows(other, one)
    turned = {"both": "both", "added": "removed", "removed": "added"}
    assert there.keys() == back.keys()
    for key, row in there.items():
        assert (row["a"], row["b"], turned[row["state"]]) == (
            back[key]["b"],
            back[key]["a"],
            back[key]["state"],
        )
        assert row["delta"] == (
            back[key]["delta"] and {"cycles_x2": -back[key]["delta"]["cycles_x2"]}
        )


@given(records, records)
def test_the_change_of_the_total_is_that_of_its_parts(one: InCore, other: InCore) -> None:
    found = deltas(one, other)
    for key, total in found.items():
        place, _, part = key.rpartition("/")
        if part == "total" and total is not None:
            parts = [found[f"{place}/{name}"] for name in ("producer", "gap", "consumer")]
            assert total == sum(part for part in parts if part is not None)

"""Split and merged runs, alone and in pairs, and two results side by side."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from stepscope.errors import OptionError, RecordError
from stepscope.lenses.incore import InCoreOptions, analyze, compare
from stepscope.model.incore import InCore
from stepscope.model.incore_timing import from_timing

EVENTS = ("entry", "producer_done", "collective_arrival", "collective_release", "body_done")
CLOCK = 1_000_000_000


def runs(**rows: Any) -> dict[str, Any]:
    return analyze(from_timing(clock_freq_hz=CLOCK, **rows), InCoreOptions(detail="full")).to_json()


def pair(number: int, merged: int | None, split: int | None, **setup: Any) -> dict[str, Any]:
    return {
        "pair": number,
        "merged": merged and {"M0": "10", "B": "20", "A": "25", "M1": str(10 + merged)},
        "split": split
        and {"P0": "1000", "P1": "1010", "C0": "1015", "C1": str(1000 + split), **setup},
    }


def test_stamps_above_63_bits_have_exact_parts() -> None:
    base = (1 << 64) - 100
    found = runs(
        split_runs=[
            {"run": 3, "P0": str(base), "P1": base + 30, "C0": base + 20, "C1": str(base + 90)}
        ]
    )
    assert found["per_run"] == [
        {
            "run": 3,
            "producer": 30,
            "gap": -10,
            "consumer": 70,
            "three_term_applies": True,
            "overlap": True,
            "total": 90,
        }
    ]
    assert found["warnings"] == [{"code": "SPLIT_OVERLAP", "runs": [3]}]


def test_a_kernel_that_ends_before_it_starts_is_an_error() -> None:
    found = runs(split_runs=[{"run": 0, "P0": 5, "P1": 4, "C0": 6, "C1": 9}])
    assert found["status"] == "error"
    assert found["codes"] == [{"code": "RUN_ORDER", "runs": [0]}]


def test_signs_of_deltas_are_counted_and_unpaired_runs_left_out() -> None:
    found = runs(pairs=[pair(0, 100, 120), pair(1, 100, 100), pair(2, 130, 120), pair(3, None, 70)])
    assert found["total_delta_list"] == [-20, 0, 10]
    assert found["total_delta_median_x2"] == 0
    assert found["merged_wins"] == 1
    assert found["codes"] == [{"code": "UNPAIRED_RUN", "pairs": [3]}]
    counted = found["detail"]["pairs"]
    assert (
        counted["merged_wins"],
        counted["split_wins"],
        counted["ties"],
        counted["unpaired"],
    ) == (1, 1, 1, [3])


def test_a_pair_whose_members_differ_in_setup_is_said() -> None:
    found = runs(pairs=[{**pair(0, 100, 90, device="b"), "device": "a"}])
    assert found["status"] == "warning"
    assert found["codes"] == [{"code": "PAIR_MISMATCH", "pairs": [0]}]
    assert found["detail"]["pairs"]["mismatches"] == [{"pair": 0, "settings": ["device"]}]


def test_a_run_without_a_stamp_is_refused_with_its_place() -> None:
    with pytest.raises(RecordError, match=r"pairs\[0\].merged: a run without A"):
        from_timing(pairs=[{"pair": 0, "merged": {"M0": 1, "B": 2, "M1": 4}}])


def test_probe_samples_stand_beside_the_result_with_a_note() -> None:
    found = runs(
        read_pairs=np.array([[5, 7], [9, 10], [20, 22]]), instrumented_total_cycles=[50, 40]
    )
    assert found["read_cost"] == {"n": 3, "min": 1, "median_x2": 4, "p99_nearest_rank": 2, "max": 2}
    assert found["envelopes"] == {
        "instrumented": {"min": 40, "median_x2": 90, "max": 50},
        "uninstrumented": None,
    }
    assert found["detail"]["probes"]["reads"] == [1, 2, 2]
    assert "uninstrumented kernel" in found["detail"]["probes"]["note"]


def merged_record(number: int, total: int) -> InCore:
    timing = np.array([[12, 18, 20, 25, 5 + total], [13, 17, 19, 26, 4 + total]])
    bounds = {"unit": "cycles", "M0": "10", "M1": str(10 + total)}
    return from_timing(
        timing,
        columns=EVENTS,
        l2=bounds,
        variant="merged",
        pair=number,
        device="d",
        clock_freq_hz=CLOCK,
    )


def split_record(number: int, total: int) -> InCore:
    stamps = {"P0": 1000, "P1": 1010, "C0": 1015, "C1": 1000 + total}
    return from_timing(
        split_runs=[stamps], variant="split", pair=number, device="d", clock_freq_hz=CLOCK
    )


def test_records_of_one_run_each_are_paired_by_their_number() -> None:
    records = [
        merged_record(0, 90),
        split_record(0, 95),
        split_record(1, 80),
        merged_record(1, 85),
        split_record(2, 90),
    ]
    found = analyze(records).to_json()
    assert found["total_delta_list"] == [-5, 5]
    assert found["codes"] == [{"code": "UNPAIRED_RUN", "pairs": [2]}]
    assert found["per_pair"][0]["merged"] == {
        "producer_equivalent": 10,
        "gap": 5,
        "consumer_equivalent": 75,
        "total": 90,
    }


def test_several_records_that_are_no_pairs_must_be_chosen_from() -> None:
    alone = from_timing(np.arange(1, 11).reshape(2, 5), columns=EVENTS)
    with pytest.raises(OptionError, match="belongs to no pair"):
        analyze([alone, alone])


def test_results_compare_phase_by_phase() -> None:
    longer = analyze(merged_record(0, 90))
    shorter = analyze(merged_record(1, 80))
    found = compare(longer, shorter).to_json()
    rows = {row["key"]: row for row in found["rows"]}
    assert rows["F-A"]["delta"] == {"cycles_x2": 20}
    assert rows["total"]["a"] == {"cycles_x2": 2 * 83, "n": 1}
    assert found["unmatched_share"] == 0
    assert found["same_clock"] is True


def test_several_invocations_compare_by_twice_their_median() -> None:
    timing = np.array([[[1, 10]], [[1, 11]], [[0, 9]]])
    many = analyze(from_timing(timing, columns=("entry", "body_done"), clock_freq_hz=CLOCK))
    row = compare(many, analyze(from_timing(timing[0], columns=("entry", "body_done")))).to_json()[
        "rows"
    ][0]
    assert row["a"] == {"cycles_x2": 19, "n": 2}
    assert row["delta"] == {"cycles_x2": 1}


def test_a_phase_that_one_result_lacks_is_added_or_removed() -> None:
    full = analyze(merged_record(0, 90))
    part = analyze(from_timing(np.array([[1, 9]]), columns=("entry", "body_done"), clock_freq_hz=7))
    states = {row["key"]: row["state"] for row in compare(full, part).to_json()["rows"]}
    assert states["B-R"] == "added"
    assert states["F-E"] == "removed"
    assert states["total"] == "both"
    assert compare(full, part).same_clock is False

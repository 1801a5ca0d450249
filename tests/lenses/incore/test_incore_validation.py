"""What cannot be believed is said per slot, with a remedy, and the rest still shows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from stepscope.errors import OptionError, RecordError
from stepscope.lenses.incore import InCoreOptions, analyze
from stepscope.lenses.incore.problems import REMEDIES
from stepscope.model.incore import InCore
from stepscope.model.incore_timing import from_timing

COLUMNS = {
    "entry": 0,
    "producer_done": 1,
    "collective_arrival": 2,
    "collective_release": 3,
    "body_done": 4,
}
CLOCK = 50_000_000


def matrix(slots: int = 4, words: int = 8) -> np.ndarray[Any, Any]:
    """Rows in order, with a full barrier: slot s enters at 100 + s."""
    rows = np.zeros((slots, words), np.int64)
    for slot in range(slots):
        rows[slot, :5] = (100 + slot, 200 + slot, 210 + slot, 300 + slot, 400 + slot)
    return rows


def kernel(timing: Any = None, **more: Any) -> InCore:
    more = {"columns": COLUMNS, "clock_freq_hz": CLOCK} | more
    return from_timing(matrix() if timing is None else timing, **more)


def answer(record: InCore, **options: Any) -> dict[str, Any]:
    return analyze(record, InCoreOptions(**options)).to_json()


def test_without_masks_every_slot_takes_part_and_produces() -> None:
    found = answer(kernel())
    assert found["boundaries"] == {"E": "100", "R": "203", "B": "213", "A": "300", "F": "403"}
    assert found["status"] == "ok"


def test_a_matrix_of_zeros_is_called_the_golden_file() -> None:
    found = answer(kernel(np.zeros((3, 8), np.int64)), detail="full")
    assert found["codes"] == [{"code": "ZERO_TIMESTAMP", "slots": [0, 1, 2]}]
    assert "golden file" in found["detail"]["problems"][0]["remedy"]


def test_a_row_never_written_is_missing_and_not_stale() -> None:
    timing = matrix()
    timing[:, 5] = 9
    timing[2] = 0
    found = answer(kernel(timing, generation={"column": 5, "expected": "9"}))
    assert found["codes"] == [{"code": "ZERO_TIMESTAMP", "slots": [2]}]


def test_a_stale_row_is_judged_by_its_generation_alone() -> None:
    timing = matrix()
    timing[:, 5] = 9
    timing[1, :6] = (500, 400, 300, 0, 100, 8)
    found = answer(kernel(timing, generation={"column": 5, "expected": "9"}))
    assert found["codes"] == [{"code": "STALE_GENERATION", "slots": [1]}]


def test_expected_generations_may_grow_with_the_invocation_past_the_high_bit() -> None:
    base = (1 << 64) - 2
    timing = np.stack([matrix(), matrix()]).astype(np.uint64)
    timing[0, :, 5], timing[1, :, 5] = base, base + 1
    timing[1, 3, 5] = base
    expected = {"base": str(base), "per_invocation": 1}
    found = answer(kernel(timing, generation={"column": 5, "expected": expected}))
    assert found["status"] == "mixed"
    assert found["bad_invocations"] == [
        {"invocation": 1, "codes": [{"code": "STALE_GENERATION", "slots": [3]}]}
    ]
    alone = kernel(timing, generation={"column": 5, "expected": expected})
    assert answer(alone, invocation=1)["codes"] == [{"code": "STALE_GENERATION", "slots": [3]}]


def test_a_row_written_by_another_core_shows_by_its_slot_id() -> None:
    timing = matrix()
    timing[:, 6] = [0, 1, 3, 2]
    assert answer(kernel(timing, slot_id={"column": 6}))["codes"] == [
        {"code": "WRONG_SLOT_ID", "slots": [2, 3]}
    ]
    timing[:, 6] = [10, 12, 14, 16]
    assert (
        answer(kernel(timing, slot_id={"column": 6, "expected": {"base": 10, "per_slot": 2}}))[
            "codes"
        ]
        == []
    )


@pytest.mark.parametrize(
    ("masks", "codes"),
    [
        ({"participating": [0, 1], "producers": [1, 2]}, [{"code": "MASK_CONFLICT", "slots": [2]}]),
        ({"participating": []}, [{"code": "MASK_CONFLICT", "slots": []}]),
        ({"producers": []}, [{"code": "MASK_CONFLICT", "slots": []}]),
        ({"participating": [0, 1, 7]}, [{"code": "SLOT_OUT_OF_RANGE", "slots": [7]}]),
    ],
)
def test_masks_in_conflict_are_an_error(masks: dict[str, Any], codes: list[dict[str, Any]]) -> None:
    found = answer(kernel(**masks))
    assert found == {"status": "error", "codes": codes}


def test_masks_may_be_boolean_arrays_or_any_slots() -> None:
    listed = answer(kernel(participating=[0, 1, 3]))
    for mask in (
        np.array([True, True, False, True]),
        np.array([0, 1, 3]),
        (slot for slot in (0, 1, 3)),
    ):
        assert answer(kernel(participating=mask)) == listed


@pytest.mark.parametrize("mask", [[True, True, False, True], [0, 1, 3]])
def test_masks_may_be_tensors(mask: list[int]) -> None:
    torch = pytest.importorskip("torch")
    assert answer(kernel(participating=torch.tensor(mask))) == answer(
        kernel(participating=[0, 1, 3])
    )


def test_unsigned_order_counts_and_a_wrapped_counter_is_an_error() -> None:
    high = matrix().astype(np.uint64) + np.uint64(1 << 63)
    assert answer(kernel(high.view(np.int64)))["status"] == "ok"
    wrapped = matrix().astype(np.uint64) - np.uint64(250)
    assert answer(kernel(wrapped))["codes"][0]["code"] == "ROW_NOT_MONOTONIC"


def test_a_total_of_more_than_63_bits_stays_exact() -> None:
    timing = matrix().astype(np.uint64)
    timing[:, 4] = (1 << 64) - 1
    found = answer(kernel(timing))
    assert found["total"] == (1 << 64) - 1 - 100
    assert sum(found["partition"].values()) == found["total"]


def test_an_unknown_clock_is_said_and_never_assumed() -> None:
    found = answer(kernel(clock_freq_hz=None), detail="full")
    assert found["status"] == "ok"
    assert found["warnings"] == [{"code": "UNKNOWN_CLOCK"}]
    assert found["detail"]["clock_freq_hz"] is None


def test_a_collision_in_the_slot_map_is_an_error_and_a_core_without_a_row_a_warning() -> None:
    table = {"kind": "table", "slots": {"AIC_0": 0, "AIV_0": 1, "AIV_1": 1}}
    assert answer(kernel(slot_map=table))["codes"] == [{"code": "SLOT_MAP_COLLISION", "slots": [1]}]
    found = answer(kernel(slot_map={"kind": "block", "num_aic": 2, "aiv_per_aic": 2}))
    assert found["warnings"] == [{"code": "SLOT_OUT_OF_RANGE", "slots": [4, 5]}]
    assert found["total"] == 303


def test_some_of_the_known_events_are_enough() -> None:
    found = answer(kernel(columns={"entry": 0, "body_done": 4}))
    assert found["partition"] == {"F-E": 303}
    assert "collective" not in found


def test_a_single_boundary_is_no_phase() -> None:
    with pytest.raises(RecordError, match="1 boundaries"):
        analyze(kernel(columns={"entry": 0, "mine": 1}))


def test_user_phases_out_of_order_keep_their_figures() -> None:
    rules = [
        {"name": "begin", "column": 0, "reduce": "min"},
        {"name": "load", "column": 3, "reduce": "max"},
        {"name": "store", "column": 4, "reduce": "min"},
        {"name": "end", "column": 4, "reduce": "max"},
    ]
    timing = matrix()
    timing[0, 4] = 301
    found = answer(kernel(timing, columns={}, boundaries=rules))
    assert found["codes"] == [{"code": "BOUNDARY_ORDER"}]
    assert [phase["cycles"] for phase in found["phases"]] == [203, -2, 102]
    assert sum(phase["cycles"] for phase in found["phases"]) == found["total"]


def test_cores_of_a_boundary_must_take_part() -> None:
    rules = [
        {"name": "a", "column": 0, "reduce": "min"},
        {"name": "b", "column": 4, "reduce": "max", "cores": [3]},
    ]
    found = answer(kernel(columns={}, boundaries=rules, participating=[0, 1]))
    assert found["codes"] == [{"code": "MASK_CONFLICT", "slots": [3]}]


def test_user_phases_of_many_invocations_are_a_table() -> None:
    rules = [
        {"name": "begin", "column": 0, "reduce": "min"},
        {"name": "end", "column": 4, "reduce": "max"},
    ]
    found = answer(kernel(np.stack([matrix(), matrix() + 5]), columns={}, boundaries=rules))
    assert found["columns"] == ["end-begin", "total"]
    assert found["per_invocation"] == [[303, 303], [303, 303]]
    assert found["total_median_x2"] == 606


@pytest.mark.parametrize("invocation", [-1, 2])
def test_an_invocation_that_is_not_there_is_refused(invocation: int) -> None:
    with pytest.raises(OptionError, match="of 2"):
        analyze(kernel(np.stack([matrix(), matrix()])), InCoreOptions(invocation=invocation))


@pytest.mark.parametrize(
    ("bounds", "codes", "l2"),
    [
        (
            {"unit": "us", "M0": "0.0", "M1": "9.5"},
            ["L2_UNIT"],
            {"ordered": None, "partition": None},
        ),
        (
            {"unit": "cycles", "M0": "1.5", "M1": "9"},
            ["L2_UNIT"],
            {"ordered": None, "partition": None},
        ),
        (
            {"unit": "cycles", "M0": "9" * 5000, "M1": "9"},
            ["L2_UNIT"],
            {"ordered": None, "partition": None},
        ),
        (
            {"unit": "cycles", "M0": str(1 << 64), "M1": "9"},
            ["L2_UNIT"],
            {"ordered": None, "partition": None},
        ),
        ({"M0": "90", "M1": "500"}, ["L2_UNIT"], {"ordered": None, "partition": None}),
        (
            {"unit": "cycles", "M0": "90", "M1": "402"},
            ["L2_ORDER"],
            {"ordered": False, "partition": None},
        ),
        (
            {"unit": "cycles", "M0": "90", "M1": "500", "epoch": "b"},
            ["L2_EPOCH"],
            {"ordered": None, "partition": None},
        ),
    ],
)
def test_bounds_of_another_unit_epoch_or_order_are_not_combined(
    bounds: dict[str, Any], codes: list[str], l2: dict[str, Any]
) -> None:
    found = answer(kernel(l2=bounds, epoch="a"))
    assert found["status"] == "warning"
    assert [row["code"] for row in found["codes"]] == codes
    assert found["l2"] == l2
    assert "merged" not in found
    assert found["total"] == 303


def test_bounds_may_differ_from_invocation_to_invocation() -> None:
    timing = np.stack([matrix(), matrix() + 1000])
    found = answer(
        kernel(timing, l2={"unit": "cycles", "M0": ["90", "1099"], "M1": ["500", "1400"]})
    )
    assert found["codes"] == [{"code": "L2_ORDER"}]
    assert found["l2"] == {
        "ordered": False,
        "columns": ["E-M0", "M1-F", "total"],
        "per_invocation": [[10, 97, 410], None],
    }


def test_invocations_side_by_side_are_cut_at_their_offset() -> None:
    both = np.concatenate([matrix(3), np.zeros((1, 8), np.int64), matrix(3) + 50])
    for participating in ([0, 1, 2], [[0, 1, 2], [4, 5, 6]]):
        found = answer(
            kernel(both, invocation_slot_offset=4, invocations=2, participating=participating)
        )
        assert found["dims"] == ["invocation"]
        assert [row[4] for row in found["per_invocation"]] == [302, 302]


def test_layers_and_stamps_on_further_lines_keep_their_place() -> None:
    timing = np.zeros((2, 3, 4, 2, 4), np.int64)
    timing[:] = matrix().reshape(4, 2, 4)
    found = answer(kernel(timing, dims=["invocation", "layer", "slot", "line", "field"]))
    assert found["dims"] == ["invocation", "layer"]
    assert len(found["per_invocation"]) == 6


def test_layers_of_one_launch_share_its_generation_and_a_problem_names_its_layer() -> None:
    timing = np.zeros((2, 3, 4, 8), np.int64)
    timing[:] = matrix()
    timing[0, :, :, 5], timing[1, :, :, 5] = 7, 8
    timing[1, 2, 3, 5] = 7
    record = kernel(
        timing, generation={"column": 5, "expected": {"base": "7", "per_invocation": 1}}
    )
    found = answer(record, detail="full")
    assert found["bad_invocations"] == [
        {"invocation": 5, "codes": [{"code": "STALE_GENERATION", "slots": [3]}]}
    ]
    assert found["detail"]["problems"][0]["at"] == {"invocation": 1, "layer": 2}
    assert answer(record, invocation=5)["codes"] == [{"code": "STALE_GENERATION", "slots": [3]}]


def test_detail_names_the_slots_that_set_each_boundary_and_what_a_stamp_means() -> None:
    columns = COLUMNS | {
        "producer_done": {"column": 1, "kind": "drained", "meaning": "after the pipe barrier"}
    }
    found = answer(
        kernel(columns=columns, producers=[0, 2], slot_map={"kind": "groups_of_three"}),
        detail="full",
    )
    detail = found["detail"]
    assert [b["deciding_slots"] for b in detail["boundaries"]] == [[0], [2], [3], [0], [3]]
    assert detail["events"][1]["kind"] == "drained"
    assert detail["events"][1]["meaning"] == "after the pipe barrier"
    assert [core["name"] for core in detail["cores"]] == ["AIC_0", "AIV_0", "AIV_1", "AIC_1"]
    assert detail["lanes"][1] == {"slot": 1, "stamps": [1, None, 111, 201, 301]}


def test_detail_of_many_invocations_has_their_distribution() -> None:
    timing = np.stack([matrix() for _ in range(5)])
    timing[:, 3, 4] += np.arange(5) * 10
    timing[4, 0, 0] = 0
    found = answer(kernel(timing), detail="full")
    assert found["detail"]["distributions"]["total"] == {
        "n": 4,
        "min": 303,
        "median_x2": 636,
        "p99_nearest_rank": 333,
        "max": 333,
    }
    assert found["per_invocation"][4] is None
    assert "total_median_x2" not in found


def test_every_code_has_a_remedy() -> None:
    assert all(remedy and not remedy.endswith(".") for remedy in REMEDIES.values())

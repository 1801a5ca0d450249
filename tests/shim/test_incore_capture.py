"""The device's own output is kept, and runs alternate."""

from __future__ import annotations

import numpy as np
import pytest

from stepscope.lenses.incore import analyze
from stepscope.model.incore_timing import from_timing
from stepscope.shim.incore import PairedRuns, capture


def test_the_actual_output_is_copied_and_not_the_expected_one() -> None:
    torch = pytest.importorskip("torch")
    caught = capture()
    actual, golden = torch.tensor([[10, 20]]), torch.zeros((1, 2), dtype=torch.int64)
    assert caught(actual, golden, rtol=1e-3) == (True, "")
    actual.zero_()
    assert caught.timing.tolist() == [[10, 20]]
    assert from_timing(caught.timing).matrix().tolist() == [[[10, 20]]]


def test_a_numpy_output_is_copied_too() -> None:
    caught = capture()
    actual = np.array([[1, 2]])
    caught(actual, None)
    caught(actual + 1, None)
    actual[:] = 0
    assert [output.tolist() for output in caught.outputs] == [[[1, 2]], [[2, 3]]]


def test_a_comparator_decides_as_it_would_alone() -> None:
    seen = []

    def strict(actual: object, expected: object, *, rtol: float) -> tuple[bool, str]:
        seen.append((actual, expected, rtol))
        return False, "differs"

    caught = capture(strict)
    actual = np.array([1])
    assert caught(actual, "golden", rtol=0.5) == (False, "differs")
    assert seen[0][0] is actual
    assert seen[0][1:] == ("golden", 0.5)


def test_a_capture_that_never_ran_says_so() -> None:
    with pytest.raises(LookupError, match="never called"):
        _ = capture().timing


def test_runs_alternate_and_a_missing_member_is_reported() -> None:
    runs = PairedRuns(device="d0", clock_freq_hz=50_000_000)
    made = list(runs.schedule(3))
    assert made == [
        (0, "merged"),
        (0, "split"),
        (1, "split"),
        (1, "merged"),
        (2, "merged"),
        (2, "split"),
    ]
    for pair, variant in made[:-1]:
        if variant == "merged":
            runs.add(pair, variant, M0=0, B=10, A=15, M1=40 + pair)
        else:
            runs.add(pair, variant, P0=100, P1=110, C0=120, C1=150)
    found = analyze(runs.record(read_pairs=np.array([[1, 3]]))).to_json()
    assert found["total_delta_list"] == [-10, -9]
    assert found["codes"] == [{"code": "UNPAIRED_RUN", "pairs": [2]}]
    assert found["read_cost"]["max"] == 2


def test_a_member_of_another_setup_is_reported() -> None:
    runs = PairedRuns(device="d0")
    runs.add(0, "merged", M0=1, B=2, A=3, M1=4)
    runs.add(0, "split", P0=1, P1=2, C0=3, C1=4, device="d1")
    assert analyze(runs.record()).to_json()["codes"] == [{"code": "PAIR_MISMATCH", "pairs": [0]}]

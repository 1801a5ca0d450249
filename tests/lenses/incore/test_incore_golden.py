"""Every exact case is answered with its names, shapes and integers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from stepscope.lenses.incore import analyze
from stepscope.sources import incore as incore_matrix

HERE = Path(__file__).resolve().parents[2] / "data" / "incore"
COMMENTARY = {
    "note",
    "trap",
    "wrong_total",
    "if_modular_supported",
    "sum_of_phase_medians_equals_median_total",
    "accept_codes",
}


def check(case: Path) -> None:
    expected: dict[str, Any] = json.loads((case / "case.json").read_text())["expect"]
    answer = analyze(incore_matrix.read(case).records[0].record).to_json()
    assert json.loads(json.dumps(answer)) == {
        k: v for k, v in expected.items() if k not in COMMENTARY
    }


@pytest.mark.parametrize("case", sorted(HERE.iterdir()), ids=lambda case: case.name)
def test_a_case_kept_with_the_tests_is_answered_exactly(case: Path) -> None:
    check(case)


def test_all_cases_are_answered_exactly(shared: Path) -> None:
    cases = sorted((shared / "golden" / "incore" / "cases").iterdir())
    assert len(cases) >= 27
    for case in cases:
        check(case)

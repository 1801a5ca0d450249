"""Many invocations read like one answer; pairs and problems are flat rows."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from stepscope.lenses.incore import InCoreOptions, analyze
from stepscope.lenses.incore.spread import outliers, quartiles
from stepscope.lenses.incore.table import document_rows
from stepscope.sources import registry


def rows_of(path: Path, *, invocations: bool = False) -> list[dict[str, object]]:
    result = analyze(registry.read(path).records[0].record, InCoreOptions())  # type: ignore[arg-type]
    rows = document_rows(result.to_json(), invocations=invocations)
    for row in rows:
        assert not any(isinstance(value, dict | list) for value in row.values())
    return rows


def test_bad_invocations_are_named_beside_the_summary_of_the_others(shared: Path) -> None:
    case = shared / "golden/incore/cases/o27_mixed_invocations"
    expected = json.loads((case / "case.json").read_text())["expect"]
    valid = [values for values in expected["per_invocation"] if values is not None]
    rows = {row["value"]: row for row in rows_of(case)}
    for place, name in enumerate(expected["columns"]):
        values = sorted(values[place] for values in valid)
        assert (rows[name]["n"], rows[name]["min"], rows[name]["max"]) == (
            len(values),
            values[0],
            values[-1],
        )
    for bad in expected["bad_invocations"]:
        note = str(rows[f"invocation {bad['invocation']} (bad)"]["note"])
        assert all(code["code"] in note for code in bad["codes"])


def test_listed_invocations_have_their_numbers(shared: Path) -> None:
    case = shared / "golden/incore/cases/o27_mixed_invocations"
    listed = json.loads((case / "case.json").read_text())["expect"]["per_invocation"]
    numbers = [number for number, values in enumerate(listed) if values is not None]
    assert [row["invocation"] for row in rows_of(case, invocations=True)] == numbers


def test_a_case_of_pairs_alone_has_a_row_per_pair(shared: Path) -> None:
    rows = rows_of(shared / "cases/incore/pairs_only")
    assert [row["pair"] for row in rows] == list(range(6))
    first = rows[0]
    assert (first["merged_producer"], first["merged_gap"], first["merged_consumer"]) == (
        500,
        46,
        348,
    )
    assert (first["split_producer"], first["split_gap"], first["split_consumer"]) == (509, -35, 338)
    assert (first["split_overlap"], first["total_delta"]) == (35, 894 - 812)


@pytest.mark.parametrize(
    "case",
    [
        {"pairs": [{"pair": 0, "merged": {"M0": 0, "B": 5, "A": 6, "M1": 9}, "split": None}]},
        {"split_runs": [{"run": 0, "P0": 1, "P1": 5, "C0": 6, "C1": 9}]},
        {"read_pairs": [[100, 103], [200, 204]]},
    ],
)
def test_runs_or_reads_alone_are_a_case(tmp_path: Path, case: dict[str, object]) -> None:
    (tmp_path / "case.json").write_text(json.dumps(case))
    assert rows_of(tmp_path)


def test_rows_without_a_check_are_warned_of(shared: Path) -> None:
    folder = shared / "cases/incore/no_generation"
    losses = registry.read(folder).records[0].record.header.losses
    assert any("stale rows cannot be told from fresh ones" in loss.what for loss in losses)
    checked = shared / "golden/incore/cases/o16_1000_invocations_75"
    assert not registry.read(checked).records[0].record.header.losses


def test_quartiles_are_by_nearest_rank() -> None:
    found = quartiles([4, 1, 3, 2])
    assert found == {"min": 1, "p25": 1, "median": 2.5, "p75": 3, "max": 4}
    assert quartiles([])["median"] is None


def test_planted_outliers_are_named_and_noise_is_not() -> None:
    false_alarms = 0
    for seed in range(200):
        rng = random.Random(seed)
        values = [round(rng.gauss(10_000, 100)) for _ in range(100)]
        false_alarms += len(outliers(values))
        place = rng.randrange(100)
        values[place] = round(values[place] * rng.uniform(1.3, 3))
        assert outliers(values)[0] == place
    assert false_alarms == 0

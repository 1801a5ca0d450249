"""The recorded answers: each case's tables, exactly."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from stepscope.lenses import dcn
from stepscope.sources import xplane

_HERE = Path(__file__).parents[2] / "data" / "dcn"
_THERE = Path(__file__).parents[4] / "shared" / "golden" / "dcn"


def _names(folder: Path) -> list[str]:
    return sorted(path.stem for path in (folder / "expected").glob("*.json"))


def _answer(folder: Path, name: str) -> dict[str, Any]:
    document = dcn.analyze(xplane.read_collectives(folder / "cases" / name)).to_json()
    return {key: document[key] for key in ("hosts", "all_hosts")}


def _expected(folder: Path, name: str) -> dict[str, Any]:
    document = json.loads((folder / "expected" / f"{name}.json").read_text())
    return {key: document[key] for key in ("hosts", "all_hosts")}


@pytest.mark.parametrize("name", _names(_HERE))
def test_a_case_kept_with_the_tests_has_its_answer(name: str) -> None:
    assert _answer(_HERE, name) == _expected(_HERE, name)


@pytest.mark.parametrize("name", _names(_THERE) or ["absent"])
def test_a_recorded_case_has_its_answer(shared: Path, name: str) -> None:
    folder = shared / "golden" / "dcn"
    assert _answer(folder, name) == _expected(folder, name)


@pytest.mark.parametrize("name", ["b100k_r64", "b1m_r64", "b1m_r64_2h4c"])
def test_a_large_input_has_its_answer(shared: Path, name: str) -> None:
    folder = shared / "bench" / "dcn"
    document = dcn.analyze(xplane.read_collectives(folder / name)).to_json()
    expected = json.loads((folder / f"{name}.expected.json").read_text())
    for scope in {"all_cores", "core0_only"} & set(expected):
        assert document["all_hosts"][scope] == expected[scope]
    for place, counts in expected["per_core"].items():
        host, core = place.rsplit("/", 1)
        table = document["hosts"][host]["cores"][core]
        found = {name: table[name] for name in ("unmatched_sends", "unmatched_recv_dones")}
        assert found | {"occurrences": sum(row["occurrences"] for row in table["rows"])} == counts

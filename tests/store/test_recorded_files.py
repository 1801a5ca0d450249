"""Event files that earlier versions wrote open with every figure that was written into them.

tests/data/records has a folder for each schema: event files, and in expected.json what each record held, column by
column. Columns that came later are not in it. Such files are never written anew: add a folder instead.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import stepscope
from paths import DATA
from stepscope.lenses.registry import BY_NAME
from stepscope.model.columns import Group, Strings
from stepscope.model.kinds import KINDS

FOLDERS = sorted((DATA / "records").iterdir())


def held(value: Any, expected: Any) -> Any:
    """What a part of a record holds, in the form and of the columns that were written down."""
    if isinstance(value, Group):
        return {name: getattr(value, name).tolist() for name in expected}
    if isinstance(value, Strings):
        return list(value)
    return (
        {name: getattr(value, name) for name in expected} if isinstance(expected, dict) else value
    )


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_each_column_is_read_as_it_was_written(folder: Path) -> None:
    source = stepscope.open(folder, run="*")
    expected = json.loads((folder / "expected.json").read_text())
    assert {f"{ref.kind} {ref.name}" for ref in source.catalog.refs()} == set(expected)
    assert {ref.kind for ref in source.catalog.refs()} == set(KINDS)
    for ref in source.catalog.refs():
        record = source.catalog.read(ref)
        for name, part in expected[f"{ref.kind} {ref.name}"].items():
            assert held(getattr(record, name), part) == part, (ref.name, name)
    assert source.problems() == []


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
@pytest.mark.parametrize("lens", BY_NAME)
def test_each_lens_answers_for_it(folder: Path, lens: str) -> None:
    runs = {
        ref.run
        for ref in stepscope.open(folder).catalog.refs()
        if ref.kind == BY_NAME[lens].record_kind
    }
    (run,) = runs
    assert getattr(stepscope.open(folder, run=run), lens)().to_json()

"""`stepscope views --shape`: the figures of the panel's panes on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import stepscope
from stepscope.cli.main import main

TRACE = str(Path(stepscope.__file__).parent / "cli" / "samples" / "small_net.pt.trace.json.gz")
SHAPES = ("breakdown", "launches", "idle", "timeline", "shapes", "kernels", "memory", "ranks")


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("form", ["table", "json", "csv"])
def test_every_shape_is_printed_in_every_form(shape: str, form: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["views", TRACE, "--shape", shape, "--format", form]) == 0
    printed = capsys.readouterr().out
    if form == "json":
        json.loads(printed)


def test_a_breakdown_is_a_row_for_each_step(capsys: pytest.CaptureFixture[str]) -> None:
    main(["views", TRACE, "--shape", "breakdown", "--format", "csv"])
    head, *rows = capsys.readouterr().out.splitlines()
    steps = stepscope.open(TRACE).breakdown().to_json()["steps"]
    assert [row.split(",")[0] for row in rows] == [step["name"] for step in steps]
    assert head.startswith("step,complete,ps,kernel_ps")
    assert [int(row.split(",")[2]) for row in rows] == [step["duration_ps"] for step in steps]

"""`stepscope views --shape`: the figures of the panel's panes on the command line."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import stepscope
from stepscope.cli import output
from stepscope.cli.main import main

TRACE = str(Path(stepscope.__file__).parent / "cli" / "samples" / "small_net.pt.trace.json.gz")
SHAPES = ("breakdown", "launches", "idle", "timeline", "shapes", "kernels", "memory", "ranks")


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("form", ["table", "json", "csv"])
def test_every_shape_is_printed_in_every_form(
    shape: str, form: str, capsys: pytest.CaptureFixture[str]
) -> None:
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


def test_a_view_is_a_table_of_its_leading_figures_and_csv_has_all(
    capsys: pytest.CaptureFixture[str],
) -> None:
    main(["views", TRACE, "--view", "op"])
    head = capsys.readouterr().out.splitlines()[0]
    first = "name kind host self (us) % of host time host total (us) runs total requested (bytes)"
    assert head.split() == first.split()
    main(["views", TRACE, "--view", "op", "--select", "peak_bytes"])
    assert capsys.readouterr().out.splitlines()[0].endswith("total peak (bytes)")
    main(["views", TRACE, "--view", "op", "--format", "csv"])
    document = stepscope.open(TRACE).views(view="op").to_json()
    figures = {
        name for name, value in document["nodes"][0].items() if not isinstance(value, list | dict)
    }
    assert figures - {"parent", "depth"} <= set(capsys.readouterr().out.splitlines()[0].split(","))


@pytest.mark.parametrize("width", [60, 100, 160])
def test_a_table_fits_the_terminal_and_no_figure_is_cut(
    width: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    main(["views", TRACE, "--view", "code"])
    uncut = capsys.readouterr().out.splitlines()
    monkeypatch.setattr(output, "terminal_width", lambda: width)
    main(["views", TRACE, "--view", "code"])
    printed = capsys.readouterr()
    lines = printed.out.splitlines()
    assert max(map(len, lines)) <= width
    assert len(lines) == len(uncut)
    head = re.split(r"  +", lines[0].strip())
    for line, whole in zip(lines[1:], uncut[1:], strict=True):
        shown = line[24:].split()[-(len(head) - 3) :]
        assert set(shown) <= set(whole.split())
    left_out = re.split(r"  +", uncut[0].strip())[len(head) :]
    assert all(name in printed.err for name in left_out)
    assert bool(left_out) == (width < 160)

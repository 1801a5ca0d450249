"""Outside tfprof's ways exports keep what tfprof loses, and every form holds the whole."""

from __future__ import annotations

import csv
import io
import json
import tempfile
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from export_golden import decoded, engine_of
from hypothesis import given
from hypothesis import strategies as st

from stepscope.cli.main import main
from stepscope.errors import OptionError
from stepscope.exporting.csv import neutral, to_csv
from stepscope.exporting.json import to_json
from stepscope.exporting.pprof import to_pprof
from stepscope.exporting.speedscope import to_speedscope
from stepscope.exporting.text import to_text
from stepscope.exporting.timeline import to_timeline
from stepscope.lenses.views import ViewEngine, ViewsOptions
from stepscope.lenses.views.tfprof_units import memory_text, number_text, percent, time_text
from stepscope.model.profile import Profile
from stepscope.sources import registry


@pytest.fixture(scope="module")
def gpu(data: Path) -> ViewEngine:
    return engine_of(data / "tfprof/synth_gpu.pb.gz")


@pytest.fixture(scope="module")
def corners(data: Path) -> ViewEngine:
    return engine_of(data / "tfprof/synth_proto.pb.gz")


@pytest.mark.parametrize(
    ("text", "value", "want"),
    [
        (number_text, 999, "999"),
        (number_text, 1000, "1.00k"),
        (number_text, 2_500_000, "2.50m"),
        (number_text, 3e9, "3.00b"),
        (time_text, 12, "12us"),
        (time_text, 12.5, "12.5us"),
        (time_text, 1234, "1.23ms"),
        (time_text, 2_000_000_000, "2000.00sec"),
        (memory_text, 999, "999B"),
        (memory_text, 1024, "1.02KB"),
        (memory_text, 5_000_020_000, "5000.02MB"),
        (number_text, -5, "-5"),
    ],
)
def test_numbers_are_printed_as_tfprof_prints_them(text: Any, value: float, want: str) -> None:
    assert text(value) == want


def test_a_share_of_nothing_is_nothing() -> None:
    assert percent(3, 0) == 0.0


def test_pprof_holds_every_node_with_its_lines(gpu: ViewEngine) -> None:
    result = gpu.analyze(ViewsOptions(view="code", select=("micros",)))
    profile = decoded(to_pprof(result))
    assert profile["sample_type"][1] == ["micros", "nanoseconds"]
    assert (
        sum(sample["values"][1] for sample in profile["samples"])
        == result.column("total_exec_micros")[0] * 1000
    )
    names = [label for sample in profile["samples"] for _, label in sample["labels"]]
    assert len(names) == len(set(names)) == result.column("total_definition_count")[0]
    top = {
        sample["locations"][-1]["function"] for sample in profile["samples"] if sample["locations"]
    }
    assert top == {"train:<module>", "train:<module> (gradient)"}


def test_pprof_gives_nodes_of_hidden_rows_to_the_row_above(gpu: ViewEngine) -> None:
    result = gpu.analyze(ViewsOptions(view="code", select=("micros",), max_depth=2))
    profile = decoded(to_pprof(result))
    assert {len(sample["locations"]) for sample in profile["samples"]} <= {0, 1}
    assert (
        sum(sample["values"][1] for sample in profile["samples"])
        == result.column("total_exec_micros")[0] * 1000
    )


def test_pprof_is_of_the_code_view_only(gpu: ViewEngine) -> None:
    with pytest.raises(OptionError, match="scope view"):
        to_pprof(gpu.analyze(ViewsOptions(view="scope")))


def test_tfprofs_pprof_is_of_one_figure(gpu: ViewEngine) -> None:
    result = gpu.analyze(ViewsOptions(view="code", compat="tfprof", select=("micros", "bytes")))
    with pytest.raises(OptionError, match="micros,bytes"):
        to_pprof(result)


def spans(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [event for event in events if event["ph"] == "X"]


@pytest.mark.parametrize("view", ["scope", "code", "op"])
def test_a_flame_graph_never_leaves_the_row_above(corners: ViewEngine, view: str) -> None:
    result = corners.analyze(
        ViewsOptions(view=view, start_name_regexes=(".*a.*", "layer.*", "model.*"))
    )
    (trace,) = to_timeline(result).values()
    by_depth: dict[int, list[tuple[float, float]]] = {}
    for event in spans(trace["traceEvents"]):
        by_depth.setdefault(event["pid"], []).append((event["ts"], event["ts"] + event["dur"]))
    (root,) = by_depth[0]
    for depth, rows in by_depth.items():
        above = by_depth.get(depth - 1, [root])
        assert all(any(a <= start and end <= b for a, b in above) for start, end in rows)
        ordered = sorted(rows)
        assert all(one[1] <= two[0] for one, two in pairwise(ordered))


def test_the_timeline_without_a_step_has_a_trace_for_each(gpu: ViewEngine) -> None:
    traces = to_timeline(gpu.analyze(ViewsOptions(view="graph")))
    assert set(traces) == {"7", "8", "20"}


def test_executions_that_start_together_are_all_kept(gpu: ViewEngine) -> None:
    events = to_timeline(gpu.analyze(ViewsOptions(view="graph", step="7")))["7"]["traceEvents"]
    step = gpu.profile.steps.id.tolist().index(7)
    assert len(spans(events)) == int((gpu.profile.executions.step == step).sum())
    lanes: dict[tuple[int, int], list[tuple[float, float]]] = {}
    for event in spans(events):
        lanes.setdefault((event["pid"], event["tid"]), []).append(
            (event["ts"], event["ts"] + event["dur"])
        )
    for rows in lanes.values():
        rows.sort()
        assert all(one[1] <= two[0] for one, two in pairwise(rows))


def test_arrows_come_in_pairs_between_devices(gpu: ViewEngine) -> None:
    events = to_timeline(gpu.analyze(ViewsOptions(view="graph", step="8")))["8"]["traceEvents"]
    ends: dict[int, list[dict[str, Any]]] = {}
    for event in events:
        if event["ph"] in "st":
            ends.setdefault(event["id"], []).append(event)
    assert ends
    for start, end in ends.values():
        assert (start["ph"], end["ph"]) == ("s", "t")
        assert start["pid"] != end["pid"]


@pytest.mark.parametrize("view", ["scope", "graph", "code", "op"])
def test_speedscope_weights_add_up_to_the_whole(gpu: ViewEngine, view: str) -> None:
    result = gpu.analyze(
        ViewsOptions(view=view, hide_name_regexes=(".*MatMul.*",) if view == "scope" else ())
    )
    document = to_speedscope(result)
    assert json.loads(to_json(document)) == document
    times = next(profile for profile in document["profiles"] if profile["name"] == "self time")
    assert sum(times["weights"]) == times["endValue"] == result.column("total_exec_micros")[0]
    assert len(times["samples"]) == len(times["weights"])
    assert max(frame for stack in times["samples"] for frame in stack) < len(
        document["shared"]["frames"]
    )


def test_text_outside_compat_has_the_rows_of_the_view(gpu: ViewEngine) -> None:
    result = gpu.analyze(ViewsOptions(view="scope", select=("micros", "device")))
    lines = to_text(result).splitlines()
    assert lines[0].startswith("node name | total execution time")
    assert len(lines) == 1 + len(result)


@pytest.mark.parametrize(
    ("cell", "want"),
    [
        ("=cmd|' /C calc'!A0", "'=cmd|' /C calc'!A0"),
        ("+1+cmd", "'+1+cmd"),
        ("@SUM(A1)", "'@SUM(A1)"),
        ("-2+3", "'-2+3"),
        ("\tx", "'\tx"),
        ("  =1+1", "'  =1+1"),
        ("＝1+1", "'＝1+1"),
        ("-3", "-3"),
        ("+2.5e-3", "+2.5e-3"),
        ("aten::mm", "aten::mm"),
        ("", ""),
    ],
)
def test_cells_that_a_spreadsheet_would_run_are_neutralised(cell: str, want: str) -> None:
    assert neutral(cell) == want


def test_csv_has_every_column_and_leaves_absent_cells_empty() -> None:
    text = to_csv([{"name": 'a,"b"', "n": 1}, {"name": "=x", "m": None}])
    assert list(csv.reader(io.StringIO(text))) == [
        ["name", "n", "m"],
        ['a,"b"', "1", ""],
        ["'=x", "", ""],
    ]


@pytest.mark.parametrize("end", ["\r", "\n", "\r\n", ";", "\t", "\u2028"])
def test_csv_cell_with_a_line_end_or_separator_is_quoted(end: str) -> None:
    assert (
        to_csv([{"name": f"aten::mm{end}=1+cmd|calc!A0"}])
        == f'name\n"aten::mm{end}=1+cmd|calc!A0"\n'
    )


@given(st.lists(st.lists(st.text(), min_size=3, max_size=3), max_size=5))
def test_csv_reads_back_as_the_neutralised_cells(rows: list[list[str]]) -> None:
    text = to_csv([dict(zip("abc", row, strict=True)) for row in rows], columns="abc")
    want = [[neutral(cell) for cell in row] for row in rows]
    assert list(csv.reader(io.StringIO(text, newline="")))[1:] == want


def test_json_has_no_numbers_that_are_not_finite() -> None:
    assert to_json({"a": float("nan"), "b": [float("inf"), 1]}) == b'{"a":null,"b":[null,1]}'
    assert to_json({"a": 1}, indent=2) == b'{\n  "a": 1\n}'


@pytest.mark.parametrize("form", ["speedscope", "timeline", "pprof", "file"])
def test_the_command_writes_each_form(data: Path, tmp_path: Path, form: str) -> None:
    arguments = ["--view", "code", "--step", "7", "--output", f"{form}:outfile={tmp_path / 'out'}"]
    assert main(["views", str(data / "tfprof/synth_gpu.pb.gz"), *arguments]) == 0
    (file,) = tmp_path.iterdir()
    content = file.read_bytes()
    if form == "pprof":
        assert decoded(content)["samples"]
    elif form == "file":
        assert content.startswith(b"node name |")
    else:
        assert json.loads(content)["profiles" if form == "speedscope" else "traceEvents"]


def test_a_profile_whose_ops_call_ops_is_one_trace() -> None:
    events = [
        {"ph": "X", "cat": "cpu_op", "name": "outer", "pid": 1, "tid": 1, "ts": 10, "dur": 30},
        {"ph": "X", "cat": "cpu_op", "name": "inner", "pid": 1, "tid": 1, "ts": 15, "dur": 10},
    ]
    record = torch_profile({"traceEvents": events})
    engine = ViewEngine(record)
    (trace,) = to_timeline(engine.analyze(ViewsOptions(view="graph"))).values()
    assert sorted((event["name"], event["dur"]) for event in spans(trace["traceEvents"])) == [
        ("inner", 10),
        ("outer", 30),
    ]
    (flame,) = to_timeline(engine.analyze(ViewsOptions(view="op"))).values()
    widths = {event["name"]: event["dur"] for event in spans(flame["traceEvents"])}
    assert widths == {"_TFProfRoot": 30, "outer": 20, "inner": 10}


def torch_profile(trace: dict[str, Any]) -> Profile:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "trace.json"
        path.write_text(json.dumps({"schemaVersion": 1, "deviceProperties": [], **trace}))
        return registry.read(path).records[0].record

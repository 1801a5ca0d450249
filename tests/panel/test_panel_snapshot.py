"""What a report holds is what the panel would be answered."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

import stepscope
from stepscope.cli.demo import write_profile
from stepscope.cli.main import main
from stepscope.errors import RecordError
from stepscope.panel import documents
from stepscope.panel.request import Query
from stepscope.panel.snapshot import snapshot
from stepscope.panel.snapshot_entry import Extent, SnapshotEntry
from stepscope.panel.snapshot_views import view_tree
from stepscope.session.catalog import RecordRef
from stepscope.session.source import Source
from stepscope.session.store_catalog import StoreCatalog
from stepscope.session.union import join

SAMPLE = Path(stepscope.__file__).parent / "cli" / "samples" / "small_net.pt.trace.json.gz"


@pytest.fixture(scope="module")
def logdir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("logged")
    write_profile(folder)
    return folder


def held(kept: list[SnapshotEntry], route: str, **question: str) -> Any:
    (found,) = [one.document for one in kept if one.route == route and question in one.questions]
    return json.loads(json.dumps(found))


def test_a_kept_view_has_the_rows_of_the_view(logdir: Path) -> None:
    result = stepscope.open(logdir).views(view="scope").result
    kept = view_tree(result, Extent(rows=10**6))
    nodes = result.to_json()["nodes"]
    assert kept["paths"] == [node["name"] for node in nodes]
    assert kept["parents"] == [node["parent"] for node in nodes]
    for field in ("total_exec_micros", "exec_micros"):
        assert kept["figures"][field] == [node[field] for node in nodes]
    assert not any(problem["where"] == "report" for problem in kept["problems"])


def test_a_small_extent_keeps_the_costliest_rows_and_all_above_them(logdir: Path) -> None:
    result = stepscope.open(logdir).views(view="scope").result
    kept = view_tree(result, Extent(rows=20, details=3))
    total = result.column("total_exec_micros")
    least = sorted(total.tolist(), reverse=True)[19]
    paths = set(kept["paths"])
    assert {
        path
        for path, cost in zip(result.paths(range(len(result))), total, strict=True)
        if cost > least
    } <= paths
    assert all(parent < at for at, parent in enumerate(kept["parents"]))
    assert kept["parents"].count(-1) == 1
    assert len(kept["details"]) == 3
    (left_out,) = [problem for problem in kept["problems"] if problem["where"] == "report"]
    assert left_out["count"] == len(result) - len(kept["names"])


def test_depth_is_bounded(logdir: Path) -> None:
    result = stepscope.open(logdir).views(view="scope").result
    assert len(view_tree(result, Extent(depth=1))["names"]) == int((result.depth <= 1).sum())


def test_the_index_and_findings_are_the_routes(logdir: Path) -> None:
    source = stepscope.open(logdir)
    kept = snapshot(source)
    index = documents.index(Query(source, {}))
    assert held(kept, "index")["runs"] == json.loads(json.dumps(index))["runs"]
    assert held(kept, "findings") == json.loads(json.dumps(source.findings()))


def test_runs_of_one_name_are_told_apart_by_their_source(tmp_path: Path) -> None:
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        write_profile(tmp_path / folder)
    joined = join([stepscope.open(tmp_path / "a"), stepscope.open(tmp_path / "b")])
    assert joined.catalog.runs() == ["a/pytorch-small-net", "b/pytorch-small-net"]
    nodes = joined.select(run="b/pytorch-small-net").views(view="op").to_json()["nodes"]
    assert nodes == stepscope.open(tmp_path / "b").views(view="op").to_json()["nodes"]
    compared = held(
        snapshot(joined),
        "views",
        run="a/pytorch-small-net",
        compare="b/pytorch-small-net",
        view="op",
        name="torch",
    )
    assert {row["delta"]["total_exec_micros"] for row in compared["rows"]} == {0}


def test_a_joined_source_holds_only_what_its_sources_choose(logdir: Path, tmp_path: Path) -> None:
    write_profile(tmp_path / "other")
    one: Source = stepscope.open(logdir, run="nothing-*")
    assert join([one, stepscope.open(tmp_path / "other")]).catalog.runs() == ["pytorch-small-net"]


def test_a_report_of_nothing_is_an_error(
    capsys: pytest.CaptureFixture[str], logdir: Path, tmp_path: Path
) -> None:
    page = tmp_path / "report.html"
    assert main(["report", str(logdir), "--run", "nothing-*", "-o", str(page)]) != 0
    assert "no record" in capsys.readouterr().err
    assert not page.exists()


def test_a_report_is_one_page_that_asks_no_network(logdir: Path, tmp_path: Path) -> None:
    page = tmp_path / "report.html"
    assert (
        main(
            ["report", str(SAMPLE), "-o", str(page), "--title", "</title><script>alert(1)</script>"]
        )
        == 0
    )
    text = page.read_text()
    assert text.count("<script") == text.count("</script>") == 2
    assert "src=" not in text.split("data:text/javascript")[0]
    assert "default-src &#x27;none&#x27;" in text or "default-src 'none'" in text
    assert "<title>&lt;/title&gt;&lt;script&gt;" in text


def test_a_record_that_cannot_be_read_costs_only_its_own_answers(
    logdir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_profile(logdir / "beside")
    source = stepscope.open(logdir)
    read = StoreCatalog.read

    def read_or_fail(catalog: StoreCatalog, ref: RecordRef, groups: Any = None) -> Any:
        if ref.run.startswith("beside"):
            raise RecordError("a damaged record", where="here", remedy="Write it again")
        return read(catalog, ref, groups)

    monkeypatch.setattr(StoreCatalog, "read", read_or_fail)
    kept = snapshot(source)
    by_run = {
        q["run"]: one
        for one in kept
        for q in one.questions
        if q.get("view") == "op" and "compare" not in q
    }
    assert by_run["pytorch-small-net"].error is None
    assert by_run["beside/pytorch-small-net"].to_json()["error"]["found"] == "a damaged record"
    assert "cannot be judged: a damaged record" in str(held(kept, "findings"))


def asked(source: Source, **question: str) -> Any:
    """What the panel's route answers."""
    return json.loads(
        json.dumps(
            documents.views(Query(source, {name: [text] for name, text in question.items()}))
        )
    )


@pytest.fixture(scope="module")
def rank(tmp_path_factory: pytest.TempPathFactory) -> Source:
    """A profile with kernels, launches and memory: ops of ever growing length, each with a kernel."""
    events: list[dict[str, Any]] = []
    for number in range(400):
        at, length = 100 * number, 1 + number % 50
        op = {"ph": "X", "cat": "cpu_op", "pid": 1, "tid": 1, "ts": at, "dur": length}
        kernel = op | {"cat": "kernel", "pid": 0, "tid": 7, "ts": at + 60, "dur": 0.001 * length}
        launch = {"correlation": number}
        call = op | {"cat": "cuda_runtime", "name": "cudaLaunchKernel", "dur": 0.5, "args": launch}
        events += [
            op | {"name": f"aten::op{number % 5}", "args": {"Input Dims": [[number % 3, 4]]}},
            call,
            kernel | {"name": f"gemm{number % 4}", "args": launch | {"device": 0, "stream": 7}},
            kernel | {"name": "gemm0", "ts": at + 60.1, "args": {"device": 0, "stream": 7}},
        ]
        memory = {
            "Addr": 1,
            "Device Type": 1,
            "Device Id": 0,
            "Bytes": 8 * (-1) ** number,
            "Total Allocated": 8,
        }
        events.append(
            {
                "ph": "i",
                "cat": "cpu_instant_event",
                "name": "[memory]",
                "pid": 1,
                "tid": 1,
                "ts": at,
                "args": memory,
            }
        )
    path = tmp_path_factory.mktemp("ranks") / "rank.pt.trace.json"
    path.write_text(
        json.dumps({"schemaVersion": 1, "deviceProperties": [{"id": 0}], "traceEvents": events})
    )
    return stepscope.open(path)


def test_the_panes_of_a_profile_are_answered_as_the_panel_is(rank: Source) -> None:
    kept = snapshot(rank)
    (ref,) = rank.catalog.refs()
    named = {"run": ref.run, "name": ref.name}
    panes = held(kept, "views", **named, view="op")["panes"]
    assert panes == asked(rank, view="op")["panes"]
    assert {"trace", "kernels", "launches", "memory", "shapes"} <= set(panes)
    for question in (
        {"shape": "kernels"},
        {"shape": "kernels", "by": "launch"},
        {"shape": "launches"},
        {"shape": "shapes"},
    ):
        assert held(kept, "views", **named, **question) == asked(rank, **named, **question)
    memory = held(kept, "views", **named, shape="memory")
    assert memory["ops"] == asked(rank, **named, shape="memory")["ops"]
    assert held(kept, "views", **named, shape="memory", device=memory["device"]) == memory


def test_a_trace_is_kept_whole_and_in_windows_where_short_executions_were_merged(
    rank: Source,
) -> None:
    (ref,) = rank.catalog.refs()
    named = {"run": ref.run, "name": ref.name, "shape": "timeline"}
    kept = snapshot(rank, Extent(windows=6))
    whole = held(kept, "views", **named)
    windows = [
        (int(q["start_ps"]), int(q["end_ps"]))
        for one in kept
        for q in one.questions
        if "start_ps" in q
    ]
    assert any(block[5] > 1 for lane in whole["lanes"] for block in lane["blocks"])
    assert len(windows) == 6
    assert (windows[0][0], windows[-1][1]) == (whole["first_ps"], whole["last_ps"])
    assert all(start < end_before for (_, end_before), (start, _) in pairwise(windows))


def test_events_are_kept_for_the_longest_executions(rank: Source) -> None:
    (ref,) = rank.catalog.refs()
    events = [
        one.document
        for one in snapshot(rank, Extent(details=10))
        if any(question.get("shape") == "event" for question in one.questions)
    ]
    assert len(events) == 10
    assert {event["duration_ps"] for event in events} == {50_000_000, 49_000_000}
    answer = asked(rank, run=ref.run, name=ref.name, shape="event", id=str(events[0]["id"]))
    assert json.loads(json.dumps(events[0])) == answer


def test_profiles_beyond_the_extent_keep_their_views_and_say_what_is_left_out(rank: Source) -> None:
    kept = snapshot(rank, Extent(profiles=0))
    (ref,) = rank.catalog.refs()
    view = held(kept, "views", run=ref.run, name=ref.name, view="op")
    assert view["panes"] == []
    assert any("--profiles" in problem["remedy"] for problem in view["problems"])
    assert not any(question.get("shape") for one in kept for question in one.questions)


def test_the_callers_of_the_costliest_rows_are_kept(rank: Source) -> None:
    (ref,) = rank.catalog.refs()
    view = held(snapshot(rank, Extent(callers=3)), "views", run=ref.run, name=ref.name, view="op")
    assert len(view["callers"]) == 3
    for row, callers in view["callers"].items():
        assert callers["rows"][0]["name"] == view["names"][int(row)]
        assert callers == asked(rank, view="op", shape="callers", id=row)


def test_tables_are_cut_to_the_extent(rank: Source) -> None:
    (ref,) = rank.catalog.refs()
    kernels = held(
        snapshot(rank, Extent(rows=2)), "views", run=ref.run, name=ref.name, shape="kernels"
    )
    assert (len(kernels["rows"]), kernels["count"]) == (2, 4)


def test_collectives_of_one_kind_are_documents_of_their_own(data: Path) -> None:
    source = stepscope.open(data / "dcn" / "cases" / "libtpu_order_two_modules")
    kept = snapshot(source)
    (run,) = {ref.run for ref in source.catalog.refs() if ref.kind == "collectives"}
    programs = {row["program"] for row in held(kept, "dcn", run=run)["all_hosts"]["all_cores"]}
    asked_for = {
        question["program"] for one in kept for question in one.questions if "program" in question
    }
    assert asked_for == (programs if len(programs) > 1 else set())
    for program in asked_for:
        document = held(kept, "dcn", run=run, program=program)
        assert {row["program"] for row in document["all_hosts"]["all_cores"]} == {program}


def test_of_many_runs_neighbours_are_compared_first_and_each_with_its_own(tmp_path: Path) -> None:
    for run in "abcd":
        with stepscope.Writer(str(tmp_path / run)) as writer:
            writer.throughput("train", log_every=1).add(8, step=1)
    kept = snapshot(stepscope.open(tmp_path), Extent(comparisons=8))
    questions = [
        q for one in kept for q in one.questions if one.route == "throughput" and "compare" in q
    ]
    pairs = [q["run"] + q["compare"] for q in questions if "name" not in q]
    assert pairs == ["ab", "ba", "bc", "cb", "cd", "dc", "ac", "bd"]

"""What a report holds is what the panel would be answered."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import stepscope
from stepscope.cli.demo import write_profile
from stepscope.cli.main import main
from stepscope.errors import RecordError
from stepscope.queries import documents
from stepscope.queries.asking import Source
from stepscope.queries.catalog import RecordRef, StoreCatalog
from stepscope.queries.documents import Query
from stepscope.queries.joined import join
from stepscope.queries.snapshot import Extent, Kept, kept_view, snapshot

SAMPLE = Path(stepscope.__file__).parent / "cli" / "samples" / "small_net.pt.trace.json.gz"


@pytest.fixture(scope="module")
def logdir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("logged")
    write_profile(folder)
    return folder


def held(kept: list[Kept], route: str, **question: str) -> Any:
    (found,) = [one.document for one in kept if one.route == route and question in one.questions]
    return json.loads(json.dumps(found))


def test_a_kept_view_has_the_rows_of_the_view(logdir: Path) -> None:
    result = stepscope.open(logdir).views(view="scope").result
    kept = kept_view(result, Extent(rows=10**6))
    nodes = result.to_json()["nodes"]
    assert kept["paths"] == [node["name"] for node in nodes]
    assert kept["parents"] == [node["parent"] for node in nodes]
    for field in ("total_exec_micros", "exec_micros"):
        assert kept["figures"][field] == [node[field] for node in nodes]
    assert not any(problem["where"] == "report" for problem in kept["problems"])


def test_a_small_extent_keeps_the_costliest_rows_and_all_above_them(logdir: Path) -> None:
    result = stepscope.open(logdir).views(view="scope").result
    kept = kept_view(result, Extent(rows=20, details=3))
    total = result.column("total_exec_micros")
    least = sorted(total.tolist(), reverse=True)[19]
    paths = set(kept["paths"])
    assert {path for path, cost in zip(result.paths(range(len(result))), total, strict=True) if cost > least} <= paths
    assert all(parent < at for at, parent in enumerate(kept["parents"]))
    assert kept["parents"].count(-1) == 1
    assert len(kept["details"]) == 3
    (left_out,) = [problem for problem in kept["problems"] if problem["where"] == "report"]
    assert left_out["count"] == len(result) - len(kept["names"])


def test_depth_is_bounded(logdir: Path) -> None:
    result = stepscope.open(logdir).views(view="scope").result
    assert len(kept_view(result, Extent(depth=1))["names"]) == int((result.depth <= 1).sum())


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
    nodes = joined.choose(run="b/pytorch-small-net").views(view="op").to_json()["nodes"]
    assert nodes == stepscope.open(tmp_path / "b").views(view="op").to_json()["nodes"]
    compared = held(
        snapshot(joined), "views", run="a/pytorch-small-net", compare="b/pytorch-small-net", view="op", name="torch"
    )
    assert {row["delta"]["total_exec_micros"] for row in compared["rows"]} == {0}


def test_a_joined_source_holds_only_what_its_sources_choose(logdir: Path, tmp_path: Path) -> None:
    write_profile(tmp_path / "other")
    one: Source = stepscope.open(logdir, run="nothing-*")
    assert join([one, stepscope.open(tmp_path / "other")]).catalog.runs() == ["pytorch-small-net"]


def test_a_report_of_nothing_is_an_error(capsys: pytest.CaptureFixture[str], logdir: Path, tmp_path: Path) -> None:
    page = tmp_path / "report.html"
    assert main(["report", str(logdir), "--run", "nothing-*", "-o", str(page)]) != 0
    assert "no record" in capsys.readouterr().err
    assert not page.exists()


def test_a_report_is_one_page_that_asks_no_network(logdir: Path, tmp_path: Path) -> None:
    page = tmp_path / "report.html"
    assert main(["report", str(SAMPLE), "-o", str(page), "--title", "</title><script>alert(1)</script>"]) == 0
    text = page.read_text()
    assert text.count("<script") == text.count("</script>") == 2
    assert "src=" not in text.split("data:text/javascript")[0]
    assert "default-src &#x27;none&#x27;" in text or "default-src 'none'" in text
    assert "<title>&lt;/title&gt;&lt;script&gt;" in text


def test_a_record_that_cannot_be_read_costs_only_its_own_answers(logdir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_profile(logdir / "beside")
    source = stepscope.open(logdir)
    read = StoreCatalog.read

    def read_or_fail(catalog: StoreCatalog, ref: RecordRef, groups: Any = None) -> Any:
        if ref.run.startswith("beside"):
            raise RecordError("a damaged record", where="here", remedy="Write it again")
        return read(catalog, ref, groups)

    monkeypatch.setattr(StoreCatalog, "read", read_or_fail)
    kept = snapshot(source)
    by_run = {q["run"]: one for one in kept for q in one.questions if q.get("view") == "op" and "compare" not in q}
    assert by_run["pytorch-small-net"].error is None
    assert by_run["beside/pytorch-small-net"].to_json()["error"]["found"] == "a damaged record"
    assert "cannot be read" in str(held(kept, "findings"))

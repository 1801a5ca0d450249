"""The plugin's routes, asked without a server."""

from __future__ import annotations

import gzip
import json
import time
from pathlib import Path
from typing import Any

import pytest
from tensorboard.plugins import base_plugin
from tensorboardX import SummaryWriter
from werkzeug.test import Client

import stepscope
from stepscope.cli.demo import write_profile
from stepscope.cli.training import train
from stepscope.lenses.options import specs
from stepscope.lenses.views import ViewsOptions
from stepscope.panel import documents
from stepscope.panel.request import Query
from stepscope.panel.trace_documents import SHAPES
from stepscope.plugin.loader import StepscopeLoader


class Flags:
    logdir_spec = ""


@pytest.fixture(scope="module")
def logdir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs")
    write_profile(folder)
    train(folder / "train", seconds=0.3)
    return folder


@pytest.fixture(scope="module")
def apps(logdir: Path) -> dict[str, Any]:
    plugin = StepscopeLoader().load(base_plugin.TBContext(logdir=str(logdir), flags=Flags()))
    return plugin.get_plugin_apps()


def ask(
    apps: dict[str, Any], route: str, headers: dict[str, str] | None = None, **query: Any
) -> Any:
    return Client(apps[route]).get(route, query_string=query, headers=headers)


def document(apps: dict[str, Any], route: str, **query: Any) -> Any:
    answer = ask(apps, route, **query)
    assert answer.status_code == 200, answer.text
    return json.loads(answer.data)


def test_the_index_lists_runs_and_records(apps: dict[str, Any]) -> None:
    runs = {run["name"]: run["records"] for run in document(apps, "/index")["runs"]}
    assert [record["kind"] for record in runs["pytorch-small-net"]] == ["profile"]
    assert [(record["kind"], record["name"]) for record in runs["train"]] == [
        ("throughput", "train")
    ]


def test_a_window_holds_only_the_rows_asked_for(apps: dict[str, Any]) -> None:
    whole = document(apps, "/views", view="scope", depth=99, limit=500)
    part = document(apps, "/views", view="scope", depth=99, offset=10, limit=5)
    assert part["rows"] == whole["rows"][10:15]
    assert part["visible_rows"] == whole["visible_rows"] == whole["total_rows"]


def test_rows_are_sorted_among_their_siblings(apps: dict[str, Any]) -> None:
    rows = document(apps, "/views", view="op", sort="cpu_exec_micros", limit=500)["rows"][1:]
    figures = [row["cpu_exec_micros"] for row in rows]
    assert figures == sorted(figures)
    names = [
        row["name"]
        for row in document(apps, "/views", view="op", sort="-name", limit=500)["rows"][1:]
    ]
    assert names == sorted(names, reverse=True)


def test_a_search_counts_its_matches_and_says_where_one_is(apps: dict[str, Any]) -> None:
    found = document(apps, "/views", view="scope", depth=0, search="ADDMM", match=1, limit=500)
    matched = [i for i, row in enumerate(found["rows"]) if row["matched"]]
    assert found["matches"]["count"] == len(matched) > 1
    assert found["matches"]["row_offset"] == matched[1]
    assert all("addmm" in found["rows"][i]["name"].lower() for i in matched)


def test_an_icicle_has_no_more_rectangles_than_pixels_allow(apps: dict[str, Any]) -> None:
    found = document(apps, "/views", view="scope", shape="icicle", width_px=50)
    level = [rect for rect in found["rects"] if rect[1] == 1 and rect[0] >= 0]
    assert 0 < len(level) <= 50
    assert all(0 <= x0 <= x1 <= 1 for _, _, x0, x1, *_ in found["rects"])


def test_the_callers_of_an_op_have_its_whole_time(apps: dict[str, Any]) -> None:
    rows = document(apps, "/views", view="op", limit=500)["rows"]
    op = next(row for row in rows if row["name"] == "aten::addmm")
    found = document(apps, "/views", view="op", shape="callers", id=op["id"])
    first, *callers = found["rows"]
    assert first["name"] == "aten::addmm"
    assert first["value"] == pytest.approx(op["total_cpu_exec_micros"])
    assert sum(row["value"] for row in callers if row["depth"] == 1) <= first["value"] * (1 + 1e-9)
    assert "aten::linear" in {row["name"] for row in callers}


@pytest.mark.parametrize(
    ("query", "status", "word"),
    [
        ({"view": "nonsense"}, 400, "view"),
        ({"min_bytes": "many"}, 400, "min_bytes"),
        ({"run": "absent"}, 404, "absent"),
        ({"shape": "node", "id": "999999"}, 404, "row"),
        ({"shape": "icicle", "metric": "beauty"}, 400, "beauty"),
        ({"sort": "beauty"}, 400, "beauty"),
        ({"toggled": "a,b"}, 400, "toggled"),
        ({"below": "a,b"}, 400, "below"),
        ({"shape": "callers", "id": "999999"}, 404, "row"),
        ({"shape": "callers", "metric": "beauty"}, 400, "beauty"),
        ({"search": "/(/"}, 400, ""),
        ({"view": "op", "record_step": "x"}, 400, "record_step"),
        ({"view": "x" * 60_000}, 400, "invalid view"),
        ({"shape": "timeline", "start_ps": "9" * 4000}, 400, "start_ps"),
        ({"offset": str(-(2**63))}, 400, "64-bit"),
    ],
)
def test_a_wrong_question_is_answered_with_what_to_do(
    apps: dict[str, Any], query: dict[str, str], status: int, word: str
) -> None:
    answer = ask(apps, "/views", **query)
    error = json.loads(answer.data)["error"]
    assert answer.status_code == status
    assert word in error["found"] + error["where"] + error["remedy"]
    assert error["remedy"]


def test_an_unchanged_answer_is_not_sent_again(apps: dict[str, Any]) -> None:
    first = ask(apps, "/views", view="op")
    again = ask(apps, "/views", {"If-None-Match": first.headers["ETag"]}, view="op")
    assert (again.status_code, again.data) == (304, b"")
    assert again.headers["Content-Type"] == first.headers["Content-Type"]


def test_a_long_answer_is_compressed_for_who_takes_it(apps: dict[str, Any]) -> None:
    plain = ask(apps, "/views", view="op")
    packed = ask(apps, "/views", {"Accept-Encoding": "gzip"}, view="op")
    assert packed.headers["Content-Encoding"] == "gzip"
    assert gzip.decompress(packed.data) == plain.data


def test_routes_are_read_only(apps: dict[str, Any]) -> None:
    assert Client(apps["/views"]).post("/views").status_code == 405


@pytest.mark.parametrize("name", ["../plugin.py", "..%2fplugin.py", "/etc/passwd", "", "absent.js"])
def test_only_files_of_the_panel_are_served(apps: dict[str, Any], name: str) -> None:
    assert Client(apps["/static/*"]).get(f"/static/{name}").status_code == 404


def test_the_option_tables_are_the_lenses_own(apps: dict[str, Any]) -> None:
    tables = document(apps, "/options")
    assert [option["name"] for option in tables["views"]] == [
        spec.name for spec in specs(ViewsOptions)
    ]
    parameters = document(apps, "/openapi")["paths"]["/data/plugin/stepscope/views"]["get"][
        "parameters"
    ]
    assert {option["name"] for option in tables["views"]} <= {
        parameter["name"] for parameter in parameters
    }


class Asked(dict[str, list[str]]):
    """A query string that knows what it was asked for."""

    def __init__(self, **texts: str) -> None:
        super().__init__({name: [text] for name, text in texts.items()})
        self.names: set[str] = set()

    def get(self, name: str, default: Any = None) -> Any:
        self.names.add(name)
        return super().get(name, default)


@pytest.mark.parametrize(
    "shape", ["rows", "icicle", "node", "callers", *(s for s in SHAPES if s != "ranks")]
)
def test_the_description_lists_all_that_a_shape_takes(
    apps: dict[str, Any], logdir: Path, shape: str
) -> None:
    paths = document(apps, "/openapi")["paths"]
    parameters = {
        one["name"]: one for one in paths["/data/plugin/stepscope/views"]["get"]["parameters"]
    }
    assert shape in parameters["shape"]["schema"]["enum"]
    asked = Asked(shape=shape, run="pytorch-small-net", view="op")
    documents.views(Query(stepscope.open(str(logdir)), asked))
    assert asked.names <= set(parameters)


def test_rates_of_all_runs_are_answered_and_thinned_on_demand(apps: dict[str, Any]) -> None:
    whole = document(apps, "/throughput")["series"][0]
    assert whole["run"] == "train"
    assert whole["total"] == sorted(whole["total"])


def test_an_export_holds_every_row_and_nothing_that_a_spreadsheet_runs(
    apps: dict[str, Any],
) -> None:
    answer = ask(apps, "/export", lens="views", view="op", format="csv")
    lines = answer.text.splitlines()
    assert len(lines) == document(apps, "/views", view="op")["total_rows"] + 1
    assert not any(line.startswith(("=", "@")) for line in lines)
    assert "attachment" in answer.headers["Content-Disposition"]


def test_the_name_of_an_exported_file_is_of_letters_that_every_header_carries(
    apps: dict[str, Any],
) -> None:
    named = ask(apps, "/export", lens="throughput", run="[t\u4e2d]rain").headers[
        "Content-Disposition"
    ]
    assert named == 'attachment; filename="stepscope-throughput--t-rain.csv"'


def test_a_fault_of_our_own_is_said_and_does_not_leave_the_route(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    plugin = StepscopeLoader().load(base_plugin.TBContext(logdir="/", flags=Flags()))
    monkeypatch.setattr(plugin, "_ready", lambda: 1 / 0)
    answer = Client(plugin.get_plugin_apps()["/index"]).get("/index")
    assert answer.status_code == 500
    assert "ZeroDivisionError" in json.loads(answer.data)["error"]["found"]


def test_loading_never_raises(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("stepscope.plugin.plugin.StepscopePlugin.__init__", lambda *_: 1 / 0)
    plugin = StepscopeLoader().load(base_plugin.TBContext(logdir="/"))
    page = Client(plugin.get_plugin_apps()["/index.js"]).get("/index.js").text
    assert "StepScope cannot start: ZeroDivisionError: division by zero. Run: pip install" in page
    monkeypatch.setattr("stepscope.store.flags.set_sampling", lambda *_: 1 / 0)
    StepscopeLoader().fix_flags(object())


def becomes_active(logdir: Path, within_s: float) -> bool:
    plugin = StepscopeLoader().load(base_plugin.TBContext(logdir=str(logdir), flags=Flags()))
    deadline = time.monotonic() + within_s
    while not plugin.is_active():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True


def test_rates_logged_as_plain_scalars_make_the_tab_active(tmp_path: Path) -> None:
    with SummaryWriter(str(tmp_path)) as writer:
        writer.add_scalar("local_samples_per_sec", 12.0, 1)
        writer.add_scalar("avg_samples_per_sec", 11.0, 1)
    assert becomes_active(tmp_path, within_s=20)


def test_a_log_directory_without_anything_of_ours_leaves_the_tab_inactive(tmp_path: Path) -> None:
    with SummaryWriter(str(tmp_path)) as writer:
        writer.add_scalar("loss", 1.0, 1)
    assert not becomes_active(tmp_path, within_s=1)

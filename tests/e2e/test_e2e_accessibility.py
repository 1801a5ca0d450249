"""axe finds nothing in any lens, state or theme; forced colours and reduced motion are respected."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from axe_core_python.base import AXE_SCRIPT
from lens_records import COMPARED, LENSES, Panel, damage, write_everything
from playwright.sync_api import Browser, Route
from rank_traces import write_ranks

from tensorboard_page import Server, Watched, watching

RULES = {
    "runOnly": {
        "type": "tag",
        "values": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"],
    }
}
# The panel is one part of TensorBoard's page: the page's landmarks and first heading are TensorBoard's.
OF_THE_PAGE = ("region", "page-has-heading-one", "landmark-one-main", "bypass")
RUN = "pytorch-small-net"
PANES = ("steps", "trace", "shapes", "kernels", "launches", "critical-path", "memory", "ranks")
DCN_PANES = ("heat maps", "bandwidth", "diagnosis")
DOCUMENTS = "**/data/plugin/stepscope/{views,throughput,incore,dcn,findings}*"
ERROR = json.dumps(
    {"error": {"found": "the record is gone", "where": "run a", "remedy": "Read again"}}
)
EMPTY = json.dumps({"runs": [{"name": "nothing", "records": []}], "problems": [], "version": ""})


@pytest.fixture(scope="module")
def server(serve: Callable[..., Server], tmp_path_factory: pytest.TempPathFactory) -> Server:
    folder = tmp_path_factory.mktemp("lenses")
    write_everything(folder)
    write_ranks(folder, tmp_path_factory.mktemp("traces"))
    (folder / "hurt").mkdir()
    source = next((folder / "rates-a").iterdir())
    (folder / "hurt" / source.name).write_bytes(source.read_bytes())
    damage(folder, "hurt")
    return serve(folder)


@pytest.fixture(scope="module")
def page(browser: Browser) -> Iterator[Watched]:
    with watching(browser) as watched:
        yield watched


@pytest.fixture(scope="module")
def panel(page: Watched, server: Server) -> Panel:
    opened = Panel(page, server)
    opened.frame.evaluate(AXE_SCRIPT)
    return opened


def violations(panel: Panel) -> list[str]:
    options = RULES | {"rules": {rule: {"enabled": False} for rule in OF_THE_PAGE}}
    found: dict[str, Any] = panel.frame.evaluate("options => axe.run(document, options)", options)
    return [
        f"{one['id']}: {node['html'][:200]}" for one in found["violations"] for node in one["nodes"]
    ]


def check(panel: Panel, **state: str) -> None:
    """Runs axe in both themes."""
    for theme in ("light", "dark"):
        panel.theme(theme)
        panel.show(**state)
        assert violations(panel) == [], (theme, state)


@pytest.mark.parametrize("lens", LENSES)
def test_a_lens_with_data_beside_a_damaged_file(panel: Panel, lens: str) -> None:
    check(panel, lens=lens, drawer="open", selected="1")
    assert "checksum" in panel.text()


@pytest.mark.parametrize("lens", COMPARED)
def test_a_comparison_beside_a_damaged_file(panel: Panel, lens: str) -> None:
    run, baseline = COMPARED[lens]
    check(panel, lens=lens, run=run, compare=baseline)
    assert "checksum" in panel.text()


OTHER_SHAPES: dict[str, dict[str, str]] = {
    "search": {"lens": "views", "run": RUN, "view": "scope", "search": "linear"},
    "no match": {"lens": "views", "run": RUN, "search": "no such op"},
    "bottom-up": {"lens": "views", "run": RUN, "direction": "up", "selected": "3"},
    "started from a row": {"lens": "views", "run": RUN, "view": "scope", "root": "2"},
    "hidden by options": {"lens": "views", "run": RUN, "opt.min_micros": "1000000000"},
    "compared from a row": {
        "lens": "views",
        "run": "rank0",
        "compare": "rank1",
        "view": "scope",
        "from": "aten::mm",
    },
    "compared in order of time": {
        "lens": "views",
        "run": "rank0",
        "compare": "rank1",
        "view": "scope",
        "host": "time",
    },
    "compared, no match": {
        "lens": "views",
        "run": "rank0",
        "compare": "rank1",
        "search": "no such op",
    },
    "pairs": {"lens": "incore", "run": "pairs-a"},
    "pairs compared": {"lens": "incore", "run": "pairs-a", "compare": "pairs-b"},
    "nothing in common": {"lens": "incore", "run": "kernel-a", "compare": "pairs-b"},
    **{f"pane {name}": {"lens": "views", "run": "rank0", "pane": name} for name in PANES},
    **{
        f"collectives, {name}": {"lens": "dcn", "run": "slices-a", "pane": name}
        for name in DCN_PANES
    },
    "speed-up": {"lens": "throughput", "compare": "rates-a", "chart": "speed-up"},
    "missing record": {"lens": "views", "run": "gone"},
}


@pytest.mark.parametrize("shape", OTHER_SHAPES)
def test_a_lens_in_its_other_shapes(panel: Panel, shape: str) -> None:
    check(panel, **OTHER_SHAPES[shape])


def test_the_sheet_of_keys_and_the_options(panel: Panel) -> None:
    panel.show(lens="views", run=RUN)
    panel.frame.locator("[role=tab][aria-selected=true]").focus()
    panel.press("?")
    assert violations(panel) == []
    panel.press("Escape")
    panel.frame.get_by_role("button", name="Options").click()
    assert violations(panel) == []
    panel.press("Escape")


@pytest.mark.parametrize("compared", [False, True], ids=["alone", "compared"])
@pytest.mark.parametrize("lens", LENSES)
def test_an_error_is_said_and_can_be_tried_again(panel: Panel, lens: str, compared: bool) -> None:
    run, baseline = COMPARED.get(lens, ("", ""))
    panel.page.route(DOCUMENTS, lambda route: route.fulfill(status=404, body=ERROR))
    try:
        # An option of no meaning makes it a question that was not asked before.
        check(
            panel,
            lens=lens,
            run=run,
            compare=baseline if compared else "",
            **{"opt.seed": f"{lens}{compared}"},
        )
        assert lens == "overview" or "The record is gone" in panel.text()
    finally:
        panel.page.unroute(DOCUMENTS)


def test_lenses_without_records_say_how_to_log_one(browser: Browser, server: Server) -> None:
    with watching(browser) as watched:
        watched.page.route("**/data/plugin/stepscope/index*", _empty)
        panel = Panel(watched, server)
        panel.frame.evaluate(AXE_SCRIPT)
        for lens, baseline in itertools.product(LENSES, ("", "another")):
            check(panel, lens=lens, compare=baseline)
            said = panel.text()
            assert any(text in said for text in ("logged here", "Nothing is logged", "No data"))


def _empty(route: Route) -> None:
    route.fulfill(status=200, body=EMPTY, content_type="application/json")


def test_forced_colours_keep_the_selection_in_sight_and_reduced_motion_moves_nothing(
    panel: Panel,
) -> None:
    panel.page.emulate_media(forced_colors="active", reduced_motion="reduce")
    try:
        panel.show(lens="views", run=RUN, selected="3")
        row = panel.frame.locator("[role=row][aria-selected=true]")
        assert row.evaluate("row => getComputedStyle(row).outlineStyle") == "solid"
        chosen = panel.frame.locator(".switch [aria-checked=true]").first
        other = panel.frame.locator(".switch [aria-checked=false]").first
        background = "button => getComputedStyle(button).backgroundColor"
        assert chosen.evaluate(background) != other.evaluate(background)
        # Else the browser paints the page's colour behind the letters, which have that very colour.
        assert chosen.evaluate("button => getComputedStyle(button).forcedColorAdjust") == "none"
        edge = "tab => getComputedStyle(tab).borderBottomColor"
        tabs = panel.frame.locator(".header [role=tab]")
        edges = {
            tab.evaluate(edge)
            for tab in tabs.all()
            if tab.get_attribute("aria-selected") == "false"
        }
        assert tabs.and_(panel.frame.locator("[aria-selected=true]")).evaluate(edge) not in edges
        moving = "() => document.getAnimations().filter(one => one.playState === 'running').length"
        assert panel.frame.evaluate(moving) == 0
    finally:
        panel.page.emulate_media(forced_colors="none", reduced_motion="no-preference")

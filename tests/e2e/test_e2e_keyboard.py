"""Each lens walked with the keyboard alone, in both themes, with and without a comparison."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import pytest
from lens_records import COMPARED, LENSES, Panel, write_everything
from playwright.sync_api import Browser, expect

from tensorboard_page import Server, watching

RUN = "pytorch-small-net"


@pytest.fixture(scope="module")
def server(serve: Callable[..., Server], tmp_path_factory: pytest.TempPathFactory) -> Server:
    folder = tmp_path_factory.mktemp("lenses")
    write_everything(folder)
    return serve(folder)


@pytest.fixture(scope="module", params=["light", "dark"])
def panel(request: pytest.FixtureRequest, browser: Browser, server: Server) -> Iterator[Panel]:
    with watching(browser) as watched:
        opened = Panel(watched, server)
        opened.theme(request.param)
        yield opened


def start(panel: Panel, **state: str) -> None:
    """Opens a state, with the focus on the tab of its lens as Tab from TensorBoard's header gives it."""
    panel.show(**state)
    if "lens" in state:
        expect(panel.frame.locator(f"#tab-{state['lens']}")).to_have_attribute(
            "aria-selected", "true"
        )
        panel.settle()
    panel.frame.locator("[role=tab][aria-selected=true]").first.focus()


def selected(panel: Panel) -> str:
    return (
        panel.frame.locator("[role=row][aria-selected=true]")
        .first.inner_text()
        .split("\n")[0]
        .strip()
    )


def rows_open(panel: Panel) -> int:
    found = re.search(r"([\d,]+) of [\d,]+ rows open", panel.text())
    assert found, panel.text()[-300:]
    return int(found[1].replace(",", ""))


def test_lenses_are_reached_by_number_and_by_arrow(panel: Panel) -> None:
    start(panel)
    for at, lens in enumerate(LENSES, 1):
        panel.press(f"Alt+{at}")
        expect(panel.frame.locator(f"#tab-{lens}")).to_have_attribute("aria-selected", "true")
    panel.frame.locator("#tab-findings").focus()
    panel.press("ArrowRight")
    assert panel.focused() == "tab Overview"


def test_the_overview_leads_to_the_lenses(panel: Panel) -> None:
    start(panel, lens="overview")
    panel.tab_to("button Views →")
    panel.press("Enter")
    expect(panel.frame.locator("#tab-views")).to_have_attribute("aria-selected", "true")


def test_the_tree_is_walked_opened_and_closed(panel: Panel) -> None:
    start(panel, lens="views", run=RUN, view="scope")
    panel.tab_to("treegrid")
    panel.press("Home", "ArrowDown", "ArrowDown")
    first = selected(panel)
    panel.press("ArrowDown")
    assert selected(panel) != first
    panel.press("Home", "Alt+ArrowLeft")
    panel.settle()
    closed = rows_open(panel)
    panel.press("ArrowDown", "Alt+ArrowRight")
    panel.settle()
    opened = rows_open(panel)
    assert opened > closed
    panel.press("ArrowLeft")
    panel.settle()
    assert rows_open(panel) < opened
    panel.press("ArrowRight")
    panel.settle()
    assert rows_open(panel) == opened


def test_a_shifted_letter_leads_to_a_name(panel: Panel) -> None:
    start(panel, lens="views", run=RUN, view="op")
    panel.tab_to("treegrid")
    panel.press("Home", "Shift+S", "t", "e", "m")
    assert selected(panel) == "stem"


def test_the_head_sorts_and_resizes(panel: Panel) -> None:
    start(panel, lens="views", run=RUN, view="op")
    panel.tab_to("treegrid")
    panel.press("Home", "ArrowUp", "ArrowRight")
    assert panel.focused().startswith("button self host")
    head = panel.frame.locator("[role=columnheader]").nth(1)
    assert head.get_attribute("aria-sort") == "descending"
    panel.press("Enter")
    expect(head).to_have_attribute("aria-sort", "ascending")
    before = head.evaluate("head => head.clientWidth")
    panel.press("Shift+ArrowRight", "Shift+ArrowRight")
    assert head.evaluate("head => head.clientWidth") == before + 32
    panel.press("ArrowDown")
    assert panel.focused().startswith("treegrid")


def test_a_row_is_searched_looked_into_and_turned_round(panel: Panel) -> None:
    start(panel, lens="views", run=RUN, view="op")
    panel.press("/", *"aten::addmm", "Enter")
    expect(panel.frame.get_by_text(re.compile(r"\b1 of \d+\b"))).to_be_visible()
    panel.settle()
    panel.tab_to("treegrid")
    panel.press("Enter")
    expect(panel.frame.get_by_label("Details of the selected row")).to_contain_text("aten::addmm")
    panel.press("b")
    expect(panel.frame.get_by_role("treegrid", name="Callers")).to_contain_text("aten::linear")
    panel.press("b", "d")
    expect(panel.frame.get_by_label("Details of the selected row")).to_have_count(0)
    for view in ("4", "3", "2", "1"):
        panel.press(view)
        panel.settle()
    expect(panel.frame.get_by_role("radio", name="op", exact=True)).to_be_checked()


def test_the_icicle_is_walked_and_zoomed(panel: Panel) -> None:
    start(panel, lens="views", run=RUN, view="scope")
    panel.tab_to("application Icicle")
    panel.press("ArrowDown", "ArrowDown", "Enter")
    expect(panel.frame.get_by_label("Start of the tree")).to_be_visible()
    panel.press("Escape")
    expect(panel.frame.get_by_label("Start of the tree")).to_have_count(0)


def test_a_switch_is_one_stop_and_its_arrows_choose(panel: Panel) -> None:
    start(panel, lens="views", run=RUN, view="op")
    panel.tab_to("radio op")
    panel.press("ArrowRight")
    panel.settle()
    expect(panel.frame.get_by_role("radio", name="scope", exact=True)).to_be_checked()
    assert panel.focused() == "radio scope"
    panel.press("ArrowLeft", "ArrowLeft")
    panel.settle()
    assert panel.focused() == "radio code"
    start(panel, lens="trace", run=RUN)
    panel.tab_to("radio steps")
    for pane in ("trace", "shapes"):
        panel.press("ArrowRight")
        panel.settle()
        assert panel.focused() == f"radio {pane}"


def test_the_chart_zooms_and_changes_its_axes(panel: Panel) -> None:
    start(panel, lens="throughput")
    panel.tab_to("application samples per second")
    panel.press("+")
    expect(panel.frame.get_by_role("button", name="Zoom out")).to_be_visible()
    panel.press("ArrowRight", "Escape")
    expect(panel.frame.get_by_role("button", name="Zoom out")).to_have_count(0)
    panel.press("l")
    expect(panel.frame.get_by_role("radio", name="log")).to_be_checked()
    panel.tab_to("grid Statistics")
    panel.press("ArrowDown", "End")
    assert selected(panel) == "rates-b"


def test_the_lanes_of_cores_are_walked(panel: Panel) -> None:
    start(panel, lens="incore", run="kernel-a")
    panel.tab_to("application Stamps")
    panel.press("ArrowRight", "ArrowDown", "Enter", "w")
    panel.tab_to("aside Figures")


def test_the_table_of_collectives_is_walked(panel: Panel) -> None:
    start(panel, lens="dcn", run="slices-a")
    panel.tab_to("grid")
    panel.press("Home")
    assert selected(panel)
    panel.tab_to("tab occurrences")
    panel.press("ArrowRight", "ArrowRight")
    assert panel.focused() == "tab bandwidth"
    expect(panel.frame.get_by_role("tab", name="bandwidth")).to_have_attribute(
        "aria-selected", "true"
    )


def test_a_finding_leads_to_its_evidence(panel: Panel) -> None:
    start(panel, lens="findings")
    links = panel.frame.locator("button.evidence")
    expect(links.first).to_be_visible()
    panel.tab_to("button " + links.first.inner_text())
    panel.press("Enter")
    expect(panel.frame.locator("#tab-findings")).to_have_attribute("aria-selected", "false")


@pytest.mark.parametrize("lens", COMPARED)
def test_a_comparison_is_walked(panel: Panel, lens: str) -> None:
    run, baseline = COMPARED[lens]
    start(panel, lens=lens, run=run, compare=baseline)
    panel.tab_to("grid")
    panel.press("Home", "End")
    assert selected(panel)


def test_the_sheet_lists_every_command(panel: Panel) -> None:
    start(panel, lens="views", run=RUN)
    panel.press("?")
    sheet = panel.frame.get_by_role("dialog")
    for word in (
        *(f"Alt+{at}" for at in range(1, 7)),
        "Search",
        "Start from the selected row",
        "callers",
        "Markdown",
    ):
        expect(sheet).to_contain_text(word)
    panel.press("Tab", "Tab")
    assert sheet.evaluate("sheet => sheet.contains(document.activeElement)")
    panel.press("Escape")
    expect(sheet).to_have_count(0)


def test_a_key_right_after_a_click_is_about_the_clicked_row(panel: Panel) -> None:
    start(panel, lens="views", run=RUN, view="op")
    row = panel.frame.locator("[role=treegrid] [role=row][aria-level='2']").first
    key = "new KeyboardEvent('keydown', { key: 'b', bubbles: true })"
    row.evaluate(f"row => {{ row.click(); row.dispatchEvent({key}); }}")
    callers = panel.frame.get_by_role("treegrid", name="Callers")
    expect(callers.locator("[role=row][aria-level='1']").first).to_be_visible()

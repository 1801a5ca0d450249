"""What holds of every lens: calm toolbars, help on each head, places kept, superseded questions given up."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from lens_records import COMPARED, LENSES, Panel
from playwright.sync_api import Browser, Route, expect

from tensorboard_page import Server, watching

RUN = "pytorch-small-net"
PANES = ("steps", "trace", "shapes", "kernels", "launches", "critical-path", "memory", "ranks")
ONE_LINE_PX = 44
STATES = [
    *({"lens": lens} for lens in LENSES),
    *(
        {"lens": lens, "run": run, "compare": baseline}
        for lens, (run, baseline) in COMPARED.items()
    ),
    *({"lens": "views", "run": "rank0", "pane": pane} for pane in PANES),
    {"lens": "views", "run": "rank0", "search": "aten", "view": "scope"},
    {"lens": "views", "run": RUN, "direction": "up", "selected": "5"},
    {"lens": "incore", "run": "pairs-a"},
    {"lens": "incore", "run": "kernel-b"},
    *(
        {"lens": "dcn", "run": "slices-a", "pane": pane}
        for pane in ("heat maps", "bandwidth", "diagnosis")
    ),
]


@pytest.fixture(scope="module")
def panel(browser: Browser, every_lens: Server) -> Iterator[Panel]:
    with watching(browser) as watched:
        yield Panel(watched, every_lens)


@pytest.mark.parametrize("width", [1280, 1500])
def test_toolbars_stand_in_one_line_and_nothing_hangs_over(panel: Panel, width: int) -> None:
    panel.page.set_viewport_size({"width": width, "height": 800})
    every = "(selector, wrong) => [...document.querySelectorAll(selector)].filter(wrong).length"
    tall = f"least => ({every})('.toolbar, .header', e => e.clientHeight > least)"
    over = f"() => ({every})('.toolbar, .header, .card, .drawer', e => e.scrollWidth > e.clientWidth + 1)"
    for state in STATES:
        panel.show(**state)
        assert panel.frame.evaluate(tall, ONE_LINE_PX) == 0, state
        assert panel.frame.evaluate(over) == 0, state
    panel.page.set_viewport_size({"width": 1400, "height": 900})


def test_every_head_says_what_its_column_holds(panel: Panel) -> None:
    heads = "[...document.querySelectorAll('[role=columnheader] button, thead th')]"
    script = f"() => {heads}.filter(e => !e.title && e.innerText.trim()).map(e => e.innerText)"
    for state in STATES:
        panel.show(**state)
        assert panel.frame.evaluate(script) == [], state


def test_scroll_and_selection_are_kept_over_a_reload(panel: Panel) -> None:
    panel.show(lens="views", run=RUN, view="scope", depth="99")
    grid = panel.frame.get_by_role("treegrid")
    grid.evaluate("grid => { grid.scrollTop = 22 * 60 }")
    row = panel.frame.locator("[role=row][aria-rowindex='66']")
    name = row.get_by_role("rowheader").inner_text()
    row.click()
    panel.page.wait_for_function(
        "() => /stepscope.top=60&/.test(location.hash) && /selected=/.test(location.hash)"
    )
    panel.open(panel.page.url)
    chosen = panel.frame.locator("[role=row][aria-selected=true]")
    expect(chosen).to_contain_text(name.strip())
    expect(chosen).to_be_in_viewport()
    assert panel.frame.get_by_role("treegrid").evaluate("grid => grid.scrollTop") == 22 * 60


def test_another_tab_and_back_leaves_the_table_where_it_was(panel: Panel) -> None:
    panel.show(lens="views", run=RUN, view="scope", depth="99")
    grid = panel.frame.get_by_role("treegrid")
    grid.evaluate("grid => { grid.scrollTop = 22 * 40 }")
    panel.page.wait_for_function("() => /stepscope.top=40/.test(location.hash)")
    panel.settle()
    asked = len(panel.watched.answers)
    panel.page.get_by_role("tab", name=re.compile("scalars", re.I)).click()
    panel.frame.wait_for_function("() => document.documentElement.clientHeight === 0", polling=50)
    panel.page.get_by_role("tab", name=re.compile("stepscope", re.I)).click()
    panel.frame.wait_for_function("() => document.documentElement.clientHeight > 0", polling=50)
    panel.settle()
    assert grid.evaluate("grid => grid.scrollTop") == 22 * 40
    again = [
        answer.url for answer in panel.watched.answers[asked:] if "/stepscope/views" in answer.url
    ]
    assert again == [], "what is there already is not asked for again"


def test_a_question_that_another_one_supersedes_is_given_up(panel: Panel) -> None:
    panel.show(lens="views", run=RUN, view="op")
    given_up: list[str] = []
    panel.page.on("requestfailed", lambda request: given_up.append(request.url))

    def keep_the_first_waiting(route: Route) -> None:
        if "search=ate&" in route.request.url or route.request.url.endswith("search=ate"):
            return
        route.continue_()

    panel.page.route("**/data/plugin/stepscope/views*", keep_the_first_waiting)
    try:
        box = panel.frame.get_by_role("searchbox")
        with panel.page.expect_request(lambda request: "search=ate" in request.url):
            box.fill("ate")
        box.fill("aten::addmm")
        expect(panel.frame.get_by_text(re.compile(r"\b1 of \d+\b"))).to_be_visible()
        assert any("search=ate" in url for url in given_up)
    finally:
        panel.page.unroute("**/data/plugin/stepscope/views*")


def test_keys_lead_to_the_baseline_and_to_the_files(panel: Panel) -> None:
    panel.show(lens="views", run=RUN)
    panel.frame.locator("[role=tab][aria-selected=true]").focus()
    panel.press("c")
    assert panel.frame.evaluate("() => document.activeElement.id") == "baseline"
    panel.frame.locator("[role=tab][aria-selected=true]").focus()
    panel.press("e")
    expect(panel.frame.get_by_role("link", name="CSV")).to_be_visible()
    panel.press("Escape")
    for lens, run in (("dcn", "slices-a"), ("incore", "kernel-a")):
        panel.show(lens=lens, run=run)
        panel.frame.locator("[role=tab][aria-selected=true]").first.focus()
        panel.press("e")
        expect(panel.frame.get_by_role("link", name="JSON")).to_be_visible()
        panel.press("Escape")
    panel.show(lens="dcn", run="slices-a")
    panel.frame.locator("[role=tab][aria-selected=true]").first.focus()
    panel.press("/")
    assert panel.frame.evaluate("() => document.activeElement.id") == "search"


def test_a_row_is_copied_as_a_table(panel: Panel) -> None:
    panel.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    panel.show(lens="views", run=RUN, view="op")
    grid = panel.frame.get_by_role("treegrid")
    grid.focus()
    panel.press("Home", "ArrowDown", "c")
    tabbed = panel.frame.evaluate("() => navigator.clipboard.readText()")
    assert len(tabbed.splitlines()) == 2
    assert "\t" in tabbed
    panel.press("m")
    assert panel.frame.evaluate("() => navigator.clipboard.readText()").startswith("| ")

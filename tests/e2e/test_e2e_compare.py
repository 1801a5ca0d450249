"""Two runs side by side in the panel: zooming into the compared tree, per step or total, pair by pair."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from lens_records import Panel
from playwright.sync_api import Browser, Locator, expect

from tensorboard_page import Server, watching

COMPARED = {"lens": "views", "run": "rank0", "compare": "rank1"}


@pytest.fixture(scope="module")
def panel(browser: Browser, every_lens: Server) -> Iterator[Panel]:
    with watching(browser) as watched:
        yield Panel(watched, every_lens)


def names(panel: Panel) -> list[str]:
    return panel.frame.locator("[role=grid] [role=rowheader]").all_inner_texts()


def icicle(panel: Panel) -> Locator:
    return panel.frame.get_by_role("application", name=re.compile("Icicle of the differences"))


@pytest.mark.xfail(
    strict=False, reason="the icicle of differences was not drawn in time on a busy machine"
)
def test_the_compared_tree_is_zoomed_by_click_key_and_wheel_and_reset(panel: Panel) -> None:
    panel.show(**COMPARED, view="scope")
    everything = names(panel)
    crumbs = panel.frame.get_by_label("Start of the tree")
    expect(crumbs).to_have_count(0)

    icicle(panel).locator(".icicle-canvas").click(position={"x": 20, "y": 27})
    expect(crumbs).to_be_visible()
    inside = names(panel)
    assert 0 < len(inside) < len(everything)
    assert all(
        name == inside[0] or name.startswith((f"{inside[0]}/", f"{inside[0]} > "))
        for name in inside
    )
    panel.page.wait_for_function("() => location.hash.includes('stepscope.from=')")
    address = panel.page.url
    panel.frame.get_by_role("button", name="Whole tree").click()
    expect(crumbs).to_have_count(0)

    icicle(panel).focus()
    panel.press("ArrowDown", "ArrowDown", "+")
    expect(crumbs).to_be_visible()
    panel.press("0")
    expect(crumbs).to_have_count(0)
    panel.press("Enter")
    expect(crumbs).to_be_visible()
    panel.press("-")
    expect(crumbs).to_have_count(0)

    box = icicle(panel).locator("canvas").bounding_box()
    assert box is not None
    panel.page.mouse.move(box["x"] + 20, box["y"] + 27)
    panel.page.keyboard.down("Control")
    panel.page.mouse.wheel(0, -120)
    expect(crumbs).to_be_visible()
    panel.page.mouse.move(box["x"] + 20, box["y"] + 5)
    panel.page.mouse.wheel(0, 120)
    expect(crumbs).to_have_count(0)
    panel.page.keyboard.up("Control")

    panel.open(address)
    assert names(panel) == inside


def test_a_comparison_is_per_step_or_total(panel: Panel) -> None:
    panel.show(**COMPARED, view="scope")
    total, step = (panel.frame.get_by_role("radio", name=name) for name in ("total", "per step"))
    expect(total).to_be_checked()
    first = panel.frame.locator("[role=grid] [role=row]").nth(1).locator("[role=gridcell]")
    both = [float(text.replace(",", "")) for text in first.all_inner_texts()[-4:-2]]
    step.click()
    panel.settle()
    expect(step).to_be_checked()
    halves = [float(text.replace(",", "")) for text in first.all_inner_texts()[-4:-2]]
    assert halves == [pytest.approx(figure / 2) for figure in both]
    total.click()
    panel.settle()
    expect(total).to_be_checked()


def test_a_run_without_a_partner_is_named(panel: Panel) -> None:
    panel.show(lens="incore", run="pairs-a")
    expect(panel.frame.get_by_text("UNPAIRED_RUN in pair 3").first).to_be_visible()
    expect(panel.frame.get_by_text("1 run has no partner")).to_be_visible()


def test_records_of_pairs_are_compared_pair_by_pair(panel: Panel) -> None:
    panel.show(lens="incore", run="pairs-a", compare="pairs-b")
    table = panel.frame.get_by_role("grid", name="Comparison")
    expect(table).to_contain_text("pair 0 · merged · total")
    expect(table).to_contain_text("pair 0 · merged − split")
    panel.frame.get_by_role("searchbox").fill("split · gap")
    expect(panel.frame.get_by_text(re.compile(r"\d+ rows of 58"))).to_be_visible()


def test_columns_of_a_comparison_are_chosen_and_rows_exported(panel: Panel) -> None:
    panel.show(**COMPARED, view="op")
    panel.frame.get_by_role("button", name="Columns").click()
    panel.frame.get_by_role("checkbox", name="relative").uncheck()
    expect(panel.frame.get_by_role("columnheader", name=re.compile("relative"))).to_have_count(0)
    panel.press("Escape")
    panel.press("e")
    links = panel.frame.get_by_role("link", name="CSV")
    with panel.page.expect_download() as started:
        links.click()
    text = started.value.path().read_text()
    assert "total_exec_micros delta" in text.splitlines()[0]
    with panel.page.expect_download() as started:
        panel.frame.get_by_role("button", name="PNG of the icicle").click()
    assert started.value.path().read_bytes().startswith(b"\x89PNG")

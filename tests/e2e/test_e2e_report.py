"""A report opens from disk, with the network off, and shows what the sources hold."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Browser, Locator, expect

import stepscope
from stepscope.cli.demo import write_profile
from stepscope.cli.main import main
from stepscope.model.columns import Strings
from stepscope.model.throughput import Marks, RateSamples, Spans, Throughput
from stepscope.session.importing import import_file
from stepscope.store.sink import EventFileSink
from stepscope.store.writing import RecordWriter
from tensorboard_page import Watched

MARKUP = "</script><img src=x onerror=alert(1)>"


def log_rates(folder: Path, step_ms: int) -> None:
    """A run of 40 steps with a checkpoint, whose series is called like markup."""
    time_ns = np.arange(1, 41) * step_ms * 1_000_000
    step = np.arange(40)
    spans = Spans(
        kind=np.zeros(1, np.int32),
        start_ns=np.array([10 * step_ms * 10**6]),
        end_ns=np.array([20 * step_ms * 10**6]),
    )
    record = Throughput(
        name=MARKUP,
        start_ns=0,
        strings=Strings.of(["checkpoint"]),
        marks=Marks(step=step, time_ns=time_ns, count=np.full(40, 8)),
        samples=RateSamples(step=step, time_ns=time_ns, mark_end=np.arange(1, 41)),
        spans=spans,
    )
    sink = EventFileSink(str(folder))
    RecordWriter(sink).write(record, name=MARKUP)
    sink.close()


@pytest.fixture(scope="module")
def logdir(tmp_path_factory: pytest.TempPathFactory, data: Path) -> Path:
    folder = tmp_path_factory.mktemp("reported")
    write_profile(folder)
    sample = Path(stepscope.__file__).parent / "cli" / "samples" / "small_net.pt.trace.json.gz"
    import_file(sample, folder, "other-net", "main")
    import_file(data / "dcn" / "cases" / "libtpu_order_two_modules", folder, "slices", "main")
    import_file(data / "incore" / "o15_user_phases_no_collective", folder, "kernel", "main")
    log_rates(folder / "fast", 10)
    log_rates(folder / "slow", 15)
    return folder


@pytest.fixture(scope="module")
def report(logdir: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("report") / "report.html"
    assert main(["report", str(logdir), "-o", str(path), "--title", f"Mine {MARKUP}"]) == 0
    return path


@pytest.fixture
def page(browser: Browser) -> Iterator[Watched]:
    """A page without a network. Any request beside the file's, and any error, fails the test."""
    context = browser.new_context(viewport={"width": 1400, "height": 900}, offline=True)
    found = Watched(context.new_page())
    asked: list[str] = []
    found.page.on("pageerror", lambda error: found.errors.append(str(error)))
    found.page.on(
        "console",
        lambda message: found.errors.append(message.text) if message.type == "error" else None,
    )
    found.page.on("request", lambda request: asked.append(request.url))
    yield found
    context.close()
    assert not found.errors
    assert [url for url in asked if not re.match(r"(file|data|blob):", url)] == []


def opened(page: Watched, report: Path, **state: str) -> Locator:
    keys = "&".join(f"p.stepscope.{key}={value}" for key, value in state.items())
    page.page.goto(f"{report.as_uri()}#stepscope&{keys}")
    return page.page.locator("body")


def rows(panel: Locator) -> Locator:
    return panel.get_by_role("treegrid").get_by_role("row")


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("lens", ["views", "throughput", "incore", "dcn", "findings"])
def test_every_lens_opens_from_disk(page: Watched, report: Path, lens: str, theme: str) -> None:
    page.page.emulate_media(color_scheme=theme)  # type: ignore[arg-type]
    panel = opened(page, report, lens=lens)
    expect(panel.get_by_role("tab", selected=True).first).to_be_visible()
    expect(panel.get_by_role("alert")).to_have_count(0)
    expect(panel.locator(".skeleton, .busy")).to_have_count(0)
    page.shot(f"report-{lens}-{theme}")
    assert panel.inner_text().count("\n") > 10


def test_the_report_shows_the_numbers_of_the_source(
    page: Watched, report: Path, logdir: Path
) -> None:
    panel = opened(page, report, lens="views", run="other-net", view="op")
    nodes = stepscope.open(logdir, run="other-net").views(view="op").to_json()["nodes"]
    largest = max(nodes[1:], key=lambda node: node["cpu_exec_micros"])
    row = rows(panel).filter(has_text=largest["name"]).first
    expect(row).to_contain_text(f"{largest['cpu_exec_micros'] / 1000:,.3f}"[:4])


def test_rows_are_opened_sorted_searched_and_selected_offline(page: Watched, report: Path) -> None:
    panel = opened(page, report, lens="views", run="other-net", view="scope")
    top, inner = (
        rows(panel).filter(has_text=text).first
        for text in ("backward", "aten::convolution_backward")
    )
    expect(inner).to_be_visible()
    top.click()
    page.page.keyboard.press("ArrowLeft")
    expect(inner).to_have_count(0)
    panel.get_by_role("columnheader").filter(has_text="time").first.get_by_role(
        "button"
    ).first.click()
    expect(
        panel.locator("[role=columnheader][aria-sort=ascending], [aria-sort=descending]").first
    ).to_be_visible()
    panel.get_by_role("searchbox").fill("addmm")
    expect(panel.get_by_text(re.compile(r"\b1 of \d+"))).to_be_visible()
    expect(rows(panel).filter(has_text="addmm").first).to_be_visible()


def test_two_runs_are_compared_offline(page: Watched, report: Path) -> None:
    panel = opened(
        page, report, lens="views", run="other-net", compare="pytorch-small-net", view="op"
    )
    expect(panel.get_by_role("columnheader").filter(has_text="difference")).to_be_visible()
    expect(
        panel.get_by_role("grid").get_by_role("row").filter(has_text="aten::").first
    ).to_be_visible()


def test_evidence_opens_its_row(page: Watched, report: Path) -> None:
    panel = opened(page, report, lens="findings", run="other-net")
    panel.locator(".evidence").first.click()
    expect(panel.get_by_role("tab", name="Views")).to_have_attribute("aria-selected", "true")
    expect(panel.get_by_text(re.compile(r"\b1 of \d+"))).to_be_visible()


def test_a_collective_named_by_a_finding_is_the_selected_row(page: Watched, report: Path) -> None:
    panel = opened(page, report, lens="findings", run="slices")
    link = (
        panel.locator(".finding", has_text="stalls a core")
        .locator(".evidence", has_text=" · ")
        .first
    )
    rendezvous = link.inner_text().rpartition(" · ")[2]
    link.click()
    expect(panel.get_by_role("tab", name="DCN")).to_have_attribute("aria-selected", "true")
    expect(
        panel.locator("[role=row][aria-selected=true]", has_text=rendezvous).first
    ).to_be_visible()


def test_a_phase_named_by_a_finding_is_shown(page: Watched, report: Path) -> None:
    panel = opened(page, report, lens="findings", run="kernel")
    panel.locator(".finding", has_text="of the kernel").locator(".evidence").first.click()
    expect(panel.get_by_role("tab", name="In-core")).to_have_attribute("aria-selected", "true")
    expect(panel.get_by_text(re.compile("start → qk_done")).first).to_be_visible()
    page.shot("report-phase-evidence")


def test_what_needs_a_server_is_disabled_and_says_so(page: Watched, report: Path) -> None:
    panel = opened(page, report, lens="dcn", run="slices")
    options = panel.get_by_role("button", name="Options")
    expect(options).to_be_disabled()
    expect(options).to_have_attribute("title", re.compile("A report holds the answers"))
    panel.get_by_role("button", name="Export").click()
    export = panel.locator("a", has_text="CSV").first
    expect(export).to_have_attribute("aria-disabled", "true")
    expect(export).to_have_attribute("title", re.compile("no server"))
    panel = opened(page, report, lens="views", run="other-net", view="op")
    steps = panel.get_by_label("Steps").first
    expect(steps).to_be_disabled()
    expect(steps).to_have_attribute("title", re.compile("A report holds one answer"))
    panel = opened(
        page, report, lens="views", run="other-net", compare="pytorch-small-net", view="op"
    )
    other = panel.get_by_role("radio", name="per step")
    expect(other).to_be_disabled()
    expect(other).to_have_attribute("title", re.compile("A report compares in one way"))


@pytest.mark.parametrize("pane", ["steps", "trace", "shapes", "memory"])
def test_the_panes_of_single_executions_open_offline(
    page: Watched, report: Path, pane: str
) -> None:
    panel = opened(page, report, lens="views", run="other-net", pane=pane)
    expect(panel.get_by_role("radio", name=pane)).to_be_checked()
    drawn = (
        panel.get_by_role("application")
        if pane == "trace"
        else panel.get_by_role("grid").get_by_role("row").nth(1)
    )
    expect(drawn.first).to_be_visible()
    expect(panel.get_by_role("alert")).to_have_count(0)
    page.shot(f"report-pane-{pane}")


def test_a_trace_is_zoomed_offline(page: Watched, report: Path) -> None:
    panel = opened(page, report, lens="views", run="other-net", pane="trace")
    panel.get_by_role("application").first.focus()
    for _ in range(6):
        page.page.keyboard.press("w")
    expect(panel.get_by_role("button", name="Whole")).to_be_enabled()
    expect(panel.get_by_role("alert")).to_have_count(0)


def test_a_row_is_seen_from_the_bottom_up_offline(page: Watched, report: Path) -> None:
    panel = opened(page, report, lens="views", run="other-net", view="op")
    # The icicle moves the rows down when it comes.
    expect(panel.get_by_label("Icicle of")).to_be_visible()
    rows(panel).filter(has_text="aten::convolution_backward").first.click()
    page.page.keyboard.press("b")
    callers = panel.get_by_role("treegrid", name="Callers")
    expect(
        callers.get_by_role("row").filter(has_text="aten::convolution_backward").first
    ).to_be_visible()
    callers.get_by_role("columnheader").filter(has_text="places").get_by_role("button").click()
    expect(callers.locator("[aria-sort=descending]")).to_contain_text("places")


def test_collectives_of_one_program_are_shown_offline(page: Watched, report: Path) -> None:
    panel = opened(page, report, lens="dcn", run="slices")
    program = panel.get_by_label("Program")
    expect(program.locator("option").nth(2)).to_be_attached()
    program.select_option(index=1)
    expect(panel.get_by_role("alert")).to_have_count(0)
    expect(panel.get_by_role("grid", name="Collectives").get_by_role("row").nth(1)).to_be_visible()


def test_what_the_report_does_not_hold_is_said(page: Watched, report: Path) -> None:
    panel = opened(page, report, lens="views", run="other-net", **{"opt.min_micros": "5"})
    expect(panel.get_by_text("The report holds no answer with min_micros")).to_be_visible()


def test_markup_in_names_stays_text(page: Watched, report: Path) -> None:
    panel = opened(page, report, lens="findings")
    expect(panel.get_by_text(MARKUP).first).to_be_visible()
    assert page.page.title() == f"Mine {MARKUP}"
    assert page.page.locator("img").count() == 0
    assert b"onerror=alert(1)>" not in report.read_bytes().replace(b"&gt;", b"")

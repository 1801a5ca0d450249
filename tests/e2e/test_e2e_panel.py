"""The panel in a real browser, in a real TensorBoard, under each of its loaders and behind a path prefix."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Locator, expect

import stepscope
from stepscope.cli.demo import write_profile
from stepscope.session.importing import import_file
from tensorboard_page import Server, Watched

Serve = Callable[..., Server]
LOADERS = {"fast": ("--load_fast=true",), "slow": ("--load_fast=false",)}


def log_rates(directory: Path, samples: int = 60) -> None:
    with stepscope.Writer(str(directory)) as writer:
        rate = writer.throughput("train", log_every=5)
        for step in range(samples):
            rate.add(32, step=step)
            time.sleep(0.001)


@pytest.fixture(scope="module")
def logdir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs")
    write_profile(folder)
    log_rates(folder / "rates-a")
    log_rates(folder / "rates-b")
    return folder


@pytest.fixture(scope="module")
def plain(serve: Serve, logdir: Path) -> Server:
    """One server for all tests that need nothing of their own."""
    return serve(logdir)


def open_tab(watched: Watched, server: Server, lens: str = "views") -> Locator:
    watched.page.goto(f"{server.url}/#stepscope&p.stepscope.lens={lens}")
    return watched.frame().locator("body")


def rows(panel: Locator) -> Locator:
    return panel.get_by_role("treegrid").get_by_role("row")


def rows_open(panel: Locator) -> int:
    found = re.search(r"([\d,]+) of [\d,]+ rows open", panel.inner_text())
    assert found, panel.inner_text()[-300:]
    return int(found[1].replace(",", ""))


@pytest.mark.parametrize("loader", LOADERS)
def test_the_tab_shows_the_profile(
    serve: Serve, watched: Watched, logdir: Path, loader: str
) -> None:
    panel = open_tab(watched, serve(logdir, *LOADERS[loader]))
    expect(panel.get_by_role("tab", name="Views")).to_be_visible()
    expect(rows(panel).filter(has_text="aten::").first).to_be_visible()
    watched.shot(f"views-op-{loader}-light")


def test_the_tab_opens_on_an_overview(plain: Server, watched: Watched) -> None:
    watched.page.goto(f"{plain.url}/#stepscope")
    panel = watched.frame().locator("body")
    for part in ("Where the time goes", "Throughput", "What to do first", "Logged"):
        expect(panel.get_by_role("heading", name=part)).to_be_visible()
    expect(panel.get_by_role("row").filter(has_text="rates-a")).to_be_visible()
    expect(panel.get_by_text("writer.log_incore(")).to_be_visible()
    watched.shot("overview-light")


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_both_themes_paint_their_own_background(
    plain: Server, watched: Watched, theme: str
) -> None:
    panel = open_tab(watched, plain)
    expect(rows(panel).first).to_be_visible()
    watched.page.evaluate(
        f"document.body.classList.toggle('dark-mode', {str(theme == 'dark').lower()})"
    )
    expect(watched.frame().locator("html")).to_have_attribute("data-theme", theme)
    colour = panel.evaluate("body => getComputedStyle(body).backgroundColor")
    channels = [int(part) for part in re.findall(r"\d+", colour)[:3]]
    assert (sum(channels) < 3 * 128) == (theme == "dark")
    watched.shot(f"views-{theme}")


def test_rows_open_sort_and_are_found(plain: Server, watched: Watched) -> None:
    panel = open_tab(watched, plain)
    panel.get_by_role("radio", name="scope").click()
    # The rows of the former view stay in sight until those of this one are there.
    expect(panel.get_by_role("treegrid", name="Rows by scope")).to_be_visible()
    before = rows_open(panel)
    rows(panel).filter(has_text="backward").first.click()
    watched.page.keyboard.press("ArrowLeft")
    expect(panel.get_by_text(f"{before} of", exact=False)).to_have_count(0)
    closed = rows_open(panel)
    assert closed < before
    watched.page.keyboard.press("ArrowRight")
    expect(panel.get_by_text(f"{before} of", exact=False)).to_be_visible()
    header = panel.get_by_role("columnheader").filter(has_text="% of host time").first
    header.get_by_role("button").click()
    expect(
        panel.locator(
            "[role=columnheader][aria-sort=descending], [role=columnheader][aria-sort=ascending]"
        )
    ).to_have_count(1)
    panel.get_by_role("searchbox").fill("addmm")
    expect(panel.get_by_text(re.compile(r"\b1 of \d+"))).to_be_visible()
    watched.shot("views-search")


def test_a_copied_address_opens_the_same_picture(plain: Server, watched: Watched) -> None:
    panel = open_tab(watched, plain)
    panel.get_by_role("radio", name="scope").click()
    panel.get_by_role("searchbox").fill("linear")
    expect(panel.get_by_text(re.compile(r"\b1 of \d+"))).to_be_visible()
    watched.page.wait_for_function("() => /search=linear/.test(location.hash)")
    address = watched.page.url
    watched.page.goto("about:blank")
    watched.page.goto(address)
    again = watched.frame().locator("body")
    expect(again.get_by_role("radio", name="scope")).to_be_checked()
    expect(again.get_by_role("searchbox")).to_have_value("linear")
    expect(again.get_by_text(re.compile(r"\b1 of \d+"))).to_be_visible()


def test_a_reload_keeps_what_is_selected(plain: Server, watched: Watched) -> None:
    panel = open_tab(watched, plain)
    row = rows(panel).filter(has_text="aten::").nth(3)
    name = row.get_by_role("rowheader").inner_text()
    row.click()
    watched.page.wait_for_function("() => /stepscope.selected=/.test(location.hash)")
    watched.page.reload()
    again = watched.frame().locator("body")
    selected = again.locator("[role=row][aria-selected=true]")
    expect(selected).to_contain_text(name.strip())


def test_everything_works_behind_a_path_prefix(
    serve: Serve, watched: Watched, logdir: Path
) -> None:
    panel = open_tab(watched, serve(logdir, prefix="/some/prefix"))
    expect(rows(panel).filter(has_text="aten::").first).to_be_visible()
    panel.get_by_role("tab", name="Throughput").click()
    expect(panel.get_by_role("row").filter(has_text="rates-a").first).to_be_visible()
    asked = [answer for answer in watched.answers if "/data/plugin/stepscope/" in answer.url]
    assert any(answer.url.endswith("/static/later.js") for answer in asked)
    assert all("/some/prefix/data/plugin/stepscope/" in answer.url for answer in asked)


def test_answers_are_small_and_the_page_holds_few_nodes(plain: Server, watched: Watched) -> None:
    panel = open_tab(watched, plain)
    expect(rows(panel).filter(has_text="aten::").first).to_be_visible()
    sizes = {
        a.url: len(a.body())
        for a in watched.answers
        if "/stepscope/views" in a.url and a.status == 200
    }
    assert sizes
    assert max(sizes.values()) < 200_000
    assert panel.evaluate("() => document.getElementsByTagName('*').length") < 2_000


LIVE = """
import sys, time, stepscope
with stepscope.Writer(sys.argv[1], flush_secs=0.5) as writer:
    rate = writer.throughput("train", log_every=2)
    for step in range(100000):
        rate.add(8, step=step)
        if step == 20:
            writer.flush()
            print("logged", flush=True)
        time.sleep(0.02)
"""


@pytest.mark.parametrize("loader", LOADERS)
def test_a_live_series_grows_without_a_reload(
    serve: Serve, watched: Watched, tmp_path: Path, loader: str
) -> None:
    command = [sys.executable, "-c", LIVE, str(tmp_path / "live")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as training:
        try:
            assert training.stdout is not None
            assert training.stdout.readline() == "logged\n"
            panel = open_tab(
                watched, serve(tmp_path, *LOADERS[loader], "--reload_interval=1"), "throughput"
            )
            table = panel.get_by_role("row").filter(has_text="live").last
            expect(table).to_be_visible(timeout=20_000)
            first = last_step(table)
            expect(table.get_by_role("gridcell").last).not_to_have_text(
                f"{first:,}", timeout=30_000
            )
            assert last_step(table) > first
            watched.shot(f"throughput-live-{loader}")
        finally:
            training.kill()


def last_step(row: Locator) -> int:
    return int(row.get_by_role("gridcell").last.inner_text().replace(",", ""))


def test_a_log_directory_without_records_hides_the_tab(
    serve: Serve, watched: Watched, tmp_path: Path
) -> None:
    from torch.utils.tensorboard import SummaryWriter

    with SummaryWriter(str(tmp_path)) as writer:
        writer.add_scalar("loss", 1.0, 1)
    server = serve(tmp_path)
    watched.page.goto(server.url)
    expect(watched.page.get_by_text("Time Series", exact=False).first).to_be_visible()
    listing = server.get("/data/plugins_listing")
    assert (
        b'"stepscope": {"disable_reload": false, "enabled": false' in listing
        or b'"stepscope"' not in listing
    )


def test_a_damaged_file_beside_a_good_one_is_said_and_the_good_one_shown(
    serve: Serve, watched: Watched, tmp_path: Path
) -> None:
    write_profile(tmp_path)
    log_rates(tmp_path / "hurt")
    hurt = next((tmp_path / "hurt").iterdir())
    content = bytearray(hurt.read_bytes())
    content[len(content) // 2] ^= 0xFF
    hurt.write_bytes(content)
    panel = open_tab(watched, serve(tmp_path))
    expect(rows(panel).filter(has_text="aten::").first).to_be_visible()
    expect(panel.get_by_text("record checksum does not match").first).to_be_visible()
    watched.shot("damaged")


def test_markup_in_names_stays_text(serve: Serve, watched: Watched, tmp_path: Path) -> None:
    trace = tmp_path / "trace.json"
    name = "<img src=x onerror=parent.hacked=1>"
    events = [{"ph": "X", "cat": "cpu_op", "name": name, "pid": 1, "tid": 1, "ts": 1, "dur": 5}]
    trace.write_text(json.dumps({"schemaVersion": 1, "traceEvents": events}))
    assert not import_file(trace, str(tmp_path / "runs"), "markup", None).error
    panel = open_tab(watched, serve(tmp_path / "runs"))
    expect(rows(panel).filter(has_text=name).first).to_be_visible()
    assert panel.locator("img").count() == 0
    assert watched.page.evaluate("window.hacked") is None

"""The in-core lens in a browser: lanes and tables with one selection, invocations, tasks and what they wait for."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Locator, expect

from stepscope.session.importing import import_file
from tensorboard_page import Server, Watched

Serve = Callable[..., Server]
BASE = (1 << 62) + 1  # Beyond what a float keeps.
RING = 1 << 40
GUTTER_PX, RIGHT_PX = 84, 10
STAMPS = np.array([[0, 0, 40, 105, 190], [5, 80, 90, 100, 180], [9, 70, 75, 102, 200]], np.uint64)


def kernel(folder: Path, invocations: int = 0) -> Path:
    """Three cores, the last two of them producers; a core's row is its slot."""
    folder.mkdir(parents=True)
    timing = STAMPS + np.uint64(BASE)
    timing[0, 1] = 0
    if invocations:
        later = np.arange(invocations, dtype=np.uint64)[:, None, None] * np.uint64(1000)
        slow = np.zeros((invocations, 3, 5), np.uint64)
        slow[:, :, 4] = np.arange(invocations, dtype=np.uint64)[:, None]
        timing = timing[None] + (later + slow) * (timing[None] > 0)
    np.save(folder / "timing.npy", timing)
    events = ("entry", "producer_done", "collective_arrival", "collective_release", "body_done")
    case: dict[str, Any] = {
        "columns": {name: column for column, name in enumerate(events)},
        "participating": [0, 1, 2],
        "producers": [1, 2],
        "clock_freq_hz": 50_000_000,
        "slot_map": {"kind": "core_id", "core_types": ["aic", "aiv", "aiv"]},
    }
    (folder / "timing.json").write_text(json.dumps(case))
    return folder / "timing.npy"


def capture(folder: Path) -> Path:
    """Two tasks on three cores; the second waits for the first."""
    folder.mkdir(parents=True)
    rows = [
        [0, 7, 1, 1010, 1050, 4, 2],
        [1, RING, 1, 1100, 1160, 5, 2],
        [2, RING, 1, 1090, 1180, 6, 2],
    ]
    document = {
        "chip_swimlane_level": 2,
        "metadata": {"clock_freq_hz": 50_000_000, "core_types": ["aic", "aiv", "aiv"]},
        "aicore_tasks": [row[:6] for row in rows],
        "aicpu_tasks": [[0, 1, 1003, 1060], [1, 1, 1070, 1190], [2, 1, 1071, 1200]],
    }
    (folder / "records.json").write_text(json.dumps(document))
    (folder / "deps.json").write_text(json.dumps({"edges": [{"pred": 7, "succ": RING}]}))
    return folder / "records.json"


@pytest.fixture(scope="module")
def logdir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("kernels")
    sources = {
        "one": kernel(folder / "sources" / "one"),
        "late": kernel(folder / "sources" / "late"),
        "many": kernel(folder / "sources" / "many", invocations=21),
        "tasks": capture(folder / "sources" / "tasks"),
        "stale": Path(__file__).parent.parent / "data" / "incore" / "o09_stale_generation",
    }
    for run, source in sources.items():
        outcome = import_file(source, str(folder / "runs"), run, None)
        assert not outcome.error, outcome.error
    return folder / "runs"


@pytest.fixture(scope="module")
def server(serve: Serve, logdir: Path) -> Server:
    return serve(logdir)


def show(watched: Watched, server: Server, run: str, state: str = "") -> Locator:
    watched.page.goto(
        f"{server.url}/#stepscope&p.stepscope.lens=incore&p.stepscope.run={run}{state}"
    )
    return watched.frame().locator("body")


def lanes(panel: Locator) -> Locator:
    return panel.get_by_role("application")


def test_the_partition_is_written_out_and_is_the_total(server: Server, watched: Watched) -> None:
    panel = show(watched, server, "one")
    partition = panel.locator(".partition")
    expect(partition).to_contain_text(
        re.compile(r"R-E\s*80.*B-R\s*10.*A-B\s*10.*F-A\s*100.*=\s*200 cycles")
    )
    expect(partition).to_contain_text("is the total")
    expect(panel.get_by_text("50 MHz clock")).to_be_visible()
    watched.shot("incore-phases-light")


def test_a_slot_of_a_table_selects_its_block_and_the_keys_lead_on(
    server: Server, watched: Watched
) -> None:
    panel = show(watched, server, "one")
    panel.get_by_role("button", name="AIV_1").first.click()
    spoken = panel.locator("[role=status].hidden")
    expect(spoken).to_contain_text("AIV_1: AIV_1 · R-E, length 75 cycles")
    expect(spoken).to_contain_text(f"{BASE + 5:,}")
    expect(spoken).to_contain_text(f"{BASE + 80:,}")
    lanes(panel).focus()
    watched.page.keyboard.press("ArrowRight")
    expect(spoken).to_contain_text("AIV_1: AIV_1 · B-R, length 10 cycles")
    expect(panel.locator("tr.chosen")).to_contain_text("B-R")


def test_the_ruler_measures_whole_cycles_at_the_edges_of_blocks(
    server: Server, watched: Watched
) -> None:
    panel = show(watched, server, "one")
    panel.locator("canvas").first.wait_for()
    box = lanes(panel).bounding_box()
    assert box is not None
    left, right = box["x"] + GUTTER_PX, box["x"] + box["width"] - RIGHT_PX

    def hover(cycles: int) -> None:
        """Near a cycle on the axis; the whole has a margin of a hundredth at both ends."""
        watched.page.mouse.move(left + (cycles + 2) / 204 * (right - left) + 2, box["y"] + 30)

    hover(80)
    watched.page.mouse.down()
    hover(150)
    hover(190)
    watched.page.mouse.up()
    expect(panel.locator(".lanes-measure")).to_have_text("80 to 190: 110 cycles · 2.200 µs")


def test_a_zoom_to_one_cycle_is_kept_in_the_address(server: Server, watched: Watched) -> None:
    panel = show(watched, server, "one")
    lanes(panel).focus()
    for _ in range(30):
        watched.page.keyboard.press("w")
    watched.page.wait_for_function(
        "() => { const found = location.hash.match(/zoom=([\\d.]+?)\\.\\.([\\d.]+)/);"
        " return found && Math.abs(found[2] - found[1] - 1) < 1e-6 }"
    )
    watched.page.keyboard.press("0")
    watched.page.wait_for_function("() => !location.hash.includes('zoom')")


def test_a_bar_of_the_spread_leads_to_an_invocation_and_back(
    server: Server, watched: Watched
) -> None:
    panel = show(watched, server, "many")
    expect(panel.get_by_text("Over 21 usable invocations")).to_be_visible()
    panel.locator(".histogram .bar:not(:disabled)").last.click()
    expect(panel.get_by_label("Invocation", exact=True)).to_have_value("20")
    expect(panel.locator(".partition")).to_contain_text("220 cycles")
    expect(panel.get_by_text("longer than 20 of 21")).to_be_visible()
    panel.get_by_role("button", name="Earlier invocation").click()
    expect(panel.locator(".partition")).to_contain_text("219 cycles")
    watched.shot("incore-invocation")
    panel.get_by_role("button", name="All invocations").click()
    expect(panel.get_by_text("Over 21 usable invocations")).to_be_visible()


def test_a_capture_shows_its_swimlane_and_what_a_task_waited_for(
    server: Server, watched: Watched
) -> None:
    panel = show(watched, server, "tasks")
    expect(lanes(panel)).to_have_attribute("aria-label", re.compile("Tasks on 3 cores"))
    lanes(panel).focus()
    watched.page.keyboard.press("ArrowDown")
    expect(panel.get_by_role("heading", name="Task 7")).to_be_visible()
    expect(panel.get_by_text("It waits for no task of this capture.")).to_be_visible()
    panel.get_by_role("button", name=f"task {RING}").click()
    expect(panel.get_by_role("heading", name=f"Task {RING}")).to_be_visible()
    expect(panel.get_by_text("It starts 40 cycles")).to_be_visible()
    watched.shot("incore-tasks")


def test_stamps_that_cannot_be_used_are_said_with_slots_and_remedy(
    server: Server, watched: Watched
) -> None:
    panel = show(watched, server, "stale")
    notice = panel.locator("details.notice")
    expect(notice).to_contain_text(re.compile(r"STALE_GENERATION in slot \d+"))
    notice.locator("summary").click()
    expect(notice.locator("li .muted").first).to_be_visible()
    expect(panel.get_by_text("No invocation of this record can be used")).to_be_visible()


def test_two_kernels_are_laid_beneath_each_other_at_a_boundary(
    server: Server, watched: Watched
) -> None:
    panel = show(watched, server, "one", "&p.stepscope.compare=late")
    panel.get_by_label("Aligned at").select_option("B")
    panel.get_by_role("row").filter(has_text="R-E").click()
    expect(panel.locator("[role=status].hidden")).to_contain_text(
        "this run: this run · R-E, length 80 cycles"
    )
    expect(panel.locator("[role=status].hidden")).to_contain_text("from B −90 cycles")
    watched.shot("incore-aligned")


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_two_runs_are_compared_phase_by_phase(server: Server, watched: Watched, theme: str) -> None:
    panel = show(watched, server, "one", "&p.stepscope.compare=many")
    row = panel.get_by_role("row").filter(has_text="F-A")
    expect(row).to_contain_text("100")
    expect(row).to_contain_text("110")
    watched.page.evaluate(
        f"document.body.classList.toggle('dark-mode', {str(theme == 'dark').lower()})"
    )
    watched.shot(f"incore-compare-{theme}")

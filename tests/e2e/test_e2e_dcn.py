"""The dcn lens in a browser: the table, the verdict, occurrences in time, where collectives stall, and bandwidth."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Locator, expect

import stepscope
from stepscope.model.collectives import Collectives
from stepscope.session.importing import import_file
from tensorboard_page import Server, Watched

Serve = Callable[..., Server]
CASES = Path(__file__).parent.parent / "data" / "dcn" / "cases"


@pytest.fixture(scope="module")
def logdir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("slices")
    for case in ("two_hosts", "two_outstanding", "single_allreduce", "zero_slack"):
        outcome = import_file(CASES / case, str(folder), case, None)
        assert not outcome.error, outcome.error
    return folder


@pytest.fixture(scope="module")
def server(serve: Serve, logdir: Path) -> Server:
    return serve(logdir)


def show(watched: Watched, server: Server, run: str, state: str = "") -> Locator:
    watched.page.goto(f"{server.url}/#stepscope&p.stepscope.lens=dcn&p.stepscope.run={run}{state}")
    return watched.frame().locator("body")


def rows(panel: Locator, label: str) -> Locator:
    return panel.get_by_role("grid", name=label).locator(".row")


def test_the_worst_collective_and_its_verdict_stand_above_the_table(
    server: Server, watched: Watched
) -> None:
    panel = show(watched, server, "two_hosts")
    verdict = panel.locator(".verdict")
    expect(verdict).to_contain_text("psum.7_0 takes 100.0% of all stall")
    expect(verdict).to_contain_text("not bandwidth")
    expect(panel.locator("[aria-sort=descending]").first).to_contain_text("total stall")


def test_the_capacity_that_is_entered_decides_about_congestion(
    server: Server, watched: Watched
) -> None:
    panel = show(watched, server, "two_hosts", "&p.stepscope.pane=bandwidth")
    expect(panel.get_by_text("Enter the network's capacity")).to_be_visible()
    panel.get_by_label("Network").fill("10")
    panel.get_by_label("Network").press("Enter")
    expect(panel.locator(".verdict")).to_contain_text("the network is too small")
    expect(panel.locator(".scatter .capacity text")).to_have_text("capacity")
    line = panel.locator(".scatter .capacity line").get_attribute("y1")
    circle = panel.locator(".scatter circle").first.get_attribute("cy")
    assert line
    assert circle
    assert float(circle) < float(line)
    watched.shot("dcn-bandwidth")


def test_occurrences_stand_in_time_and_share_their_selection_with_the_list(
    server: Server, watched: Watched
) -> None:
    panel = show(watched, server, "two_hosts")
    listed = rows(panel, "Occurrences")
    expect(listed).to_have_count(4)
    listed.nth(1).click()
    expect(panel.locator("[role=status].hidden")).to_contain_text("send · psum.7_0")
    expect(panel.locator("[role=status].hidden")).to_contain_text(
        re.compile(r"slack 600,334,000 ps")
    )
    panel.get_by_role("application").focus()
    watched.page.keyboard.press("ArrowDown")
    expect(listed.and_(panel.locator("[aria-selected=true]"))).to_contain_text("slice1")
    watched.shot("dcn-occurrences")


def test_slack_is_drawn_as_it_is_defined(server: Server, watched: Watched) -> None:
    panel = show(watched, server, "two_outstanding")
    expect(rows(panel, "Occurrences").first).to_be_visible()
    expect(panel.get_by_text("the slack is less than drawn")).to_have_count(0)


def test_a_cell_of_a_heat_map_chooses_the_place_and_the_collective(
    server: Server, watched: Watched
) -> None:
    panel = show(watched, server, "two_hosts", "&p.stepscope.pane=heat%20maps")
    first = panel.locator(".heat tbody tr").first
    expect(first).to_contain_text("slice1-host0")
    first.locator("td").first.click()
    expect(panel.locator(".toolbar select").first).to_have_value("slice1-host0")
    expect(rows(panel, "Collectives").and_(panel.locator("[aria-selected=true]"))).to_contain_text(
        "psum.7_0"
    )
    watched.shot("dcn-heat")


def test_a_slow_host_is_named(server: Server, watched: Watched) -> None:
    panel = show(watched, server, "two_hosts", "&p.stepscope.pane=diagnosis")
    expect(
        panel.get_by_text("Straggler in psum.7_0: slice1-host0 stalls 285.33 µs on average")
    ).to_be_visible()


def test_two_runs_are_compared_by_rendezvous(server: Server, watched: Watched) -> None:
    panel = show(watched, server, "two_hosts", "&p.stepscope.compare=single_allreduce")
    row = panel.get_by_role("row").filter(has_text="psum.7_0")
    expect(row).to_have_count(1)
    expect(row).to_contain_text("jit_step/psum.7_0")
    expect(panel.get_by_label("Figure")).to_have_value("total_stall_ms")
    watched.shot("dcn-compare")


@pytest.mark.xfail(
    strict=False, reason="a record without ops no longer opens in DCN; to be decided"
)
def test_a_profile_without_dcn_ops_says_so_and_claims_nothing(
    serve: Serve, watched: Watched, tmp_path: Path
) -> None:
    with stepscope.Writer(str(tmp_path / "one-slice")) as writer:
        writer.log_collectives(Collectives())
    panel = show(watched, serve(tmp_path), "one-slice")
    expect(panel.get_by_text("This profile holds no DCN op")).to_be_visible()
    expect(panel.get_by_role("tab", name="DCN")).to_have_class(re.compile("nothing"))

"""Steps, trace, kernels, launches, memory and ranks of a profile, in a real browser."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import expect
from rank_traces import write_ranks

from tensorboard_page import Server, Watched


@pytest.fixture(scope="module")
def server(serve: Callable[..., Server], tmp_path_factory: pytest.TempPathFactory) -> Server:
    folder = tmp_path_factory.mktemp("traces")
    write_ranks(folder / "runs", folder)
    return serve(folder / "runs")


def pane(watched: Watched, server: Server, name: str, state: str = "") -> Any:
    address = f"{server.url}/#stepscope&p.stepscope.lens=views&p.stepscope.run=rank0&p.stepscope.pane={name}{state}"
    watched.page.goto(address)
    return watched.frame().locator("body")


def test_steps_show_their_parts_and_devices(server: Server, watched: Watched) -> None:
    panel = pane(watched, server, "steps")
    expect(panel.get_by_role("grid", name="Time of each step")).to_contain_text("ProfilerStep#1")
    expect(panel).to_contain_text("utilization")
    expect(panel).to_contain_text("Accelerator")


def test_the_trace_shows_an_event_that_the_address_names(server: Server, watched: Watched) -> None:
    panel = pane(watched, server, "trace", "&p.stepscope.key=2")
    drawer = panel.get_by_role("complementary", name="The selected execution")
    expect(drawer).to_contain_text("cudaLaunchKernel")
    drawer.get_by_role("button", name="gemm").click()
    expect(drawer).to_contain_text("[4, 1, 1]")
    expect(watched.page).to_have_url(re.compile(r"p\.stepscope\.zoom="))


def test_tables_of_kernels_shapes_and_launches_are_there(server: Server, watched: Watched) -> None:
    panel = pane(watched, server, "kernels")
    expect(panel.get_by_role("grid", name="Kernels")).to_contain_text("gemm")
    panel.get_by_role("radio", name="by op and launch").click()
    expect(panel.get_by_role("grid", name="Kernels")).to_contain_text("aten::mm")
    panel.get_by_role("radio", name="shapes", exact=True).click()
    expect(panel.get_by_role("grid", name="Ops by input shapes")).to_contain_text(
        "[[8, 16], [16, 4]]"
    )
    panel.get_by_role("radio", name="launches", exact=True).click()
    expect(panel.get_by_role("grid", name="Idle streams")).to_contain_text("stream 7")


def test_memory_is_of_the_device_with_the_highest_peak(server: Server, watched: Watched) -> None:
    panel = pane(watched, server, "memory")
    expect(panel.get_by_role("grid", name="Memory by op")).to_contain_text("aten::mm")
    expect(panel).to_contain_text("2 of 2 blocks")


def test_ranks_of_the_job_stand_side_by_side(server: Server, watched: Watched) -> None:
    panel = pane(watched, server, "ranks")
    expect(panel).to_contain_text("the others wait most for rank 1")
    expect(panel.get_by_role("grid", name="Collectives of each rank")).to_contain_text("AllReduce")


def test_only_what_a_profile_has_is_offered(server: Server, watched: Watched) -> None:
    panel = pane(watched, server, "steps")
    expect(panel.get_by_role("tab", name="Trace")).to_have_attribute("aria-selected", "true")
    expect(panel.get_by_role("radiogroup", name="Shown").get_by_role("radio")).to_have_text(
        ["steps", "trace", "shapes", "kernels", "launches", "critical path", "memory", "ranks"]
    )


def test_a_comparison_is_drawn_in_order_of_time(server: Server, watched: Watched) -> None:
    panel = pane(watched, server, "", "&p.stepscope.view=scope&p.stepscope.compare=rank1")
    panel.get_by_role("radio", name="in order of time").click()
    parts = panel.get_by_role("region", name="Parts in order of time").get_by_role("button")
    for word in ("this run", "baseline", "difference", "accumulated"):
        expect(parts.first).to_have_attribute("aria-label", re.compile(word))
    expect(panel).to_contain_text("what they add up to")
    expect(watched.page).to_have_url(re.compile(r"p\.stepscope\.host=time"))

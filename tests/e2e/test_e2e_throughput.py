"""The throughput lens in a real browser: ranks together, and how sure a difference is."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Locator, expect

from stepscope.model.columns import Header
from stepscope.model.throughput import Marks, RateSamples, Throughput
from stepscope.store.sink import EventFileSink
from stepscope.store.writing import RecordWriter
from tensorboard_page import Server, Watched

STEPS = 400


def write_rates(folder: Path, run: str, step_ms: float, rank: int = -1, job: str = "") -> None:
    """A run of steps of about this time."""
    step_ns = np.random.default_rng(rank + 7).normal(step_ms, step_ms / 50, STEPS) * 1e6
    time_ns, step = np.cumsum(step_ns).astype(np.int64), np.arange(1, STEPS + 1)
    record = Throughput(
        header=Header(job=job, rank=rank, wall_anchor_ns=1_700_000_000 * 10**9),
        start_ns=0,
        log_every=5,
        session=run.replace("/", "-"),
        marks=Marks(step=step, time_ns=time_ns, count=np.full(STEPS, 32)),
        samples=RateSamples(step=step[4::5], time_ns=time_ns[4::5], mark_end=step[4::5]),
    )
    sink = EventFileSink(folder / run)
    RecordWriter(sink).write(record, name="train")
    sink.close()


@pytest.fixture(scope="module")
def server(serve: Callable[..., Server], tmp_path_factory: pytest.TempPathFactory) -> Server:
    folder = tmp_path_factory.mktemp("runs")
    for rank, step_ms in enumerate((10.0, 12.0)):
        write_rates(folder, f"job/rank_{rank}", step_ms, rank, "job7")
    write_rates(folder, "alone", 11.0)
    return serve(folder)


def open_lens(watched: Watched, server: Server, **choices: str) -> Locator:
    chosen = "".join(f"&p.stepscope.{name}={value}" for name, value in choices.items())
    watched.page.goto(f"{server.url}/#stepscope&p.stepscope.lens=throughput{chosen}")
    return watched.frame().locator("body")


def test_the_ranks_of_a_job_are_a_line_together_and_the_slowest_is_named(
    watched: Watched, server: Server
) -> None:
    panel = open_lens(watched, server)
    together = panel.get_by_role("button", name="job7 · all 2 ranks")
    expect(together).to_be_visible()
    expect(panel.get_by_role("button", name="job/rank_1")).to_contain_text("slowest")
    expect(panel.get_by_role("button", name="job/rank_0")).not_to_contain_text("slowest")
    row = panel.get_by_role("row").filter(has_text="all 2 ranks")
    expect(row).to_contain_text("5,8")
    chart = panel.get_by_role("application")
    expect(chart).to_have_attribute(
        "aria-label", "samples per second of alone, job/rank_0, job/rank_1, job7 · all 2 ranks"
    )
    watched.shot("throughput-ranks")
    together.click()
    expect(chart).to_have_attribute(
        "aria-label", "samples per second of alone, job/rank_0, job/rank_1"
    )


def test_a_difference_from_the_baseline_is_told_with_how_sure_it_is(
    watched: Watched, server: Server
) -> None:
    panel = open_lens(watched, server, compare="alone", run="job/rank_1")
    expect(panel.get_by_text("against alone. GlobalRate:")).to_contain_text(
        "a significant difference"
    )
    expect(panel.get_by_role("row").filter(has_text="job/rank_0")).to_contain_text("significant")
    watched.shot("throughput-significance")

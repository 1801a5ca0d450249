"""The panel in a browser on a profile of a million nodes and a series of a million marks.

    python benchmarks/panel.py [NODES] [MARKS]

Logs both (see views_scale.py for the profile's shape), starts TensorBoard and Chromium, and prints for each action how
long it takes from the key or click until the result is drawn, as the median of a few; then how many elements the page
holds, and how large the answers were. The server is cold for the first view and warm for what follows. Needs a quiet
machine: the load is printed beside the figures.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path

import numpy as np
from playwright.sync_api import Frame, Page, Response, sync_playwright
from views_scale import build

import stepscope
from stepscope.cli.demo import free_port
from stepscope.model.columns import Header
from stepscope.model.throughput import Marks, Samples, Throughput

REPEATS = 5
CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")
DRAWN = "() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now()))))"
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]


def write(logdir: Path, nodes: int, marks: int) -> None:
    """Logs the profile and the series."""
    began = time.perf_counter()
    with stepscope.Writer(str(logdir / "profile")) as writer:
        writer.log_profile(build(nodes), step=1)
    with stepscope.Writer(str(logdir / "rates")) as writer:
        writer.log_profile(series(marks), name="throughput")
    print(f"logged {nodes:,} nodes and {marks:,} marks in {time.perf_counter() - began:.1f} s")


def series(marks: int) -> Throughput:
    """A series that is asked for its Rate at each tenth mark."""
    step = np.arange(1, marks + 1)
    stamps = np.cumsum(np.random.default_rng(0).integers(1, 10**6, marks))
    asked = np.arange(9, marks, 10)
    return Throughput(
        header=Header(wall_anchor_ns=time.time_ns()),
        start_ns=0,
        marks=Marks(step=step, time_ns=stamps, count=np.full(marks, 32)),
        samples=Samples(step=step[asked], time_ns=stamps[asked], mark_end=asked + 1),
    )


class Panel:
    """The panel in its page."""

    def __init__(self, page: Page, url: str) -> None:
        self.page, self.url = page, url
        self.answers: list[tuple[str, int]] = []
        self.elements = 0
        page.on("response", self._keep)

    def _keep(self, response: Response) -> None:
        if "/data/plugin/stepscope/" in response.url and "/static/" not in response.url:
            self.answers.append((response.url, int(response.headers.get("content-length", 0))))

    @property
    def frame(self) -> Frame:
        """The frame that TensorBoard keeps for the panel."""
        return next(frame for frame in self.page.frames if "plugin_entry" in frame.url)

    def timed(self, act: Callable[[], object], done: str) -> float:
        """Milliseconds from an action until an expression holds in the panel and two frames are drawn."""
        began = time.perf_counter()
        act()
        self.frame.wait_for_function(done, polling="raf", timeout=60_000)
        self.frame.evaluate(DRAWN)
        taken = (time.perf_counter() - began) * 1000
        self.elements = max(
            self.elements, self.frame.evaluate("document.getElementsByTagName('*').length")
        )
        return taken

    def show(self, state: str) -> None:
        """Opens a state by its address."""
        self.page.evaluate("hash => { location.hash = hash }", "stepscope" + state)


def report(title: str, times: list[float]) -> None:
    print(
        f"{title:44}{statistics.median(times):8.0f} ms   {' '.join(f'{one:.0f}' for one in times)}"
    )


TEXT = "document.querySelector('.grid-rows').textContent + document.querySelector('.status').textContent"


def shown(view: str) -> str:
    """Holds when rows of that very view are drawn and nothing else is waited for."""
    rows = "document.querySelectorAll('.row:not(.pending)').length > 1 && !document.querySelector('.busy')"
    return f"document.querySelector('.grid')?.ariaLabel === 'Rows by {view}' && {rows}"


def measure_views(panel: Panel) -> None:
    """First view, then what a user does with it."""
    for view in ("op", "scope", "graph", "code"):
        state = f"&p.stepscope.lens=views&p.stepscope.run=profile&p.stepscope.view={view}"
        report(
            f"{view}: first view", [panel.timed(lambda state=state: panel.show(state), shown(view))]
        )
    scope = "&p.stepscope.lens=views&p.stepscope.run=profile&p.stepscope.view=scope"
    panel.timed(lambda: panel.show(scope), shown("scope"))
    grid = panel.frame.locator(".grid")
    grid.focus()
    times = []
    for key in ("*", "-") * (REPEATS // 2 + 1):
        panel.frame.evaluate(f"window.before = {TEXT}")
        times.append(
            panel.timed(lambda key=key: panel.page.keyboard.press(key), f"window.before !== {TEXT}")
        )
    report("open and close all rows", times[:REPEATS])
    measure_sort(panel, "sort, as many rows open as at first")
    panel.frame.evaluate(f"window.before = {TEXT}")
    panel.timed(
        lambda: panel.page.keyboard.press("*"), f"window.before !== {TEXT} && {shown('scope')}"
    )
    measure_sort(panel, "sort, all rows open")
    times = []
    for word in ("op17", "op_8", "layer_12", "unit_3", "inner"):
        found = "document.querySelector('.found') !== null"
        panel.timed(
            lambda: panel.frame.locator("#search").fill(""), "!document.querySelector('.found')"
        )
        times.append(
            panel.timed(lambda word=word: panel.frame.locator("#search").fill(word), found)
        )
    report("search, 150 ms of waiting for more keys", times)
    panel.timed(
        lambda: panel.frame.locator("#search").fill(""), "!document.querySelector('.found')"
    )
    times = []
    scroll = "(grid, share) => { grid.scrollTop = grid.scrollHeight * share }"
    there = (
        "document.querySelectorAll('.row').length > 5 && !document.querySelector('.row.pending')"
    )
    for share in np.linspace(0.1, 0.9, REPEATS):
        times.append(panel.timed(lambda share=share: grid.evaluate(scroll, float(share)), there))
    report("scroll to another part", times)
    report(
        "scroll by a page, in rows that are there", [scroll_frame(panel) for _ in range(REPEATS)]
    )


def measure_sort(panel: Panel, title: str) -> None:
    """Sorting by a column, up and down."""
    head, times = panel.frame.locator(".head button").nth(1), []
    for _ in range(REPEATS):
        panel.frame.evaluate(f"window.before = {TEXT}")
        times.append(
            panel.timed(lambda: head.evaluate("head => head.click()"), f"window.before !== {TEXT}")
        )
    report(title, times)


def scroll_frame(panel: Panel) -> float:
    script = "grid => new Promise(done => { const from = performance.now(); grid.scrollTop += 440; "
    script += "requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now() - from))) })"
    return float(panel.frame.locator(".grid").evaluate(script))


def measure_series(panel: Panel) -> None:
    """First paint of the chart, and a zoom."""
    chart = (
        "document.querySelector('.chart canvas')?.width > 100 && !document.querySelector('.busy')"
    )
    report(
        "throughput: first view",
        [panel.timed(lambda: panel.show("&p.stepscope.lens=throughput"), chart)],
    )
    panel.frame.locator(".chart").focus()
    report(
        "zoom", [panel.timed(lambda: panel.page.keyboard.press("+"), chart) for _ in range(REPEATS)]
    )


def main() -> None:
    nodes = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    marks = int(sys.argv[2]) if len(sys.argv) > 2 else 1_000_000
    with tempfile.TemporaryDirectory() as folder:
        write(Path(folder), nodes, marks)
        port = free_port()
        command = [
            sys.executable,
            "-m",
            "tensorboard.main",
            "--logdir",
            folder,
            "--port",
            str(port),
        ]
        with subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        ) as server:
            try:
                wait_for(f"http://127.0.0.1:{port}")
                browse(f"http://127.0.0.1:{port}")
            finally:
                server.terminate()


def wait_for(url: str) -> None:
    """Waits until TensorBoard answers."""
    for _ in range(600):
        with contextlib.suppress(urllib.error.URLError), urllib.request.urlopen(url):
            return
        time.sleep(0.1)
    raise SystemExit("TensorBoard did not start")


def browse(url: str) -> None:
    """Opens the panel, measures and prints."""
    print(f"load of the machine {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        page = browser.new_page(viewport={"width": 1400, "height": 900})
        panel = Panel(page, url)
        page.goto(f"{url}/#stepscope&p.stepscope.lens=incore")
        page.frame_locator("iframe").get_by_role("tab").first.wait_for(timeout=120_000)
        measure_series(panel)
        measure_views(panel)
        largest = max(panel.answers, key=lambda one: one[1])
        print(
            f"at most {panel.elements:,} elements; the largest of {len(panel.answers)} answers: {largest[1]:,} bytes"
        )
        print(f"  {largest[0].rpartition('/')[2][:110]}")
        print(f"load of the machine {os.getloadavg()[0]:.1f}")
        browser.close()


if __name__ == "__main__":
    main()

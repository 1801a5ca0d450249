"""A log directory with records for every lens, and a page that goes from lens to lens."""

from __future__ import annotations

import time
from pathlib import Path

from playwright.sync_api import Frame, Page, Request

import stepscope
from stepscope.cli.demo import write_profile
from stepscope.session.importing import import_file
from tensorboard_page import Server, Watched

DATA = Path(__file__).parent.parent / "data"
LENSES = ("overview", "views", "trace", "throughput", "incore", "dcn", "findings")
IMPORTED = {
    "kernel-a": DATA / "incore" / "o15_user_phases_no_collective",
    "kernel-b": DATA / "incore" / "o24_user_phases_masks",
    "pairs-a": DATA / "incore" / "o25_paired_with_missing_member",
    "pairs-b": DATA / "incore" / "o25_paired_with_missing_member",
    "slices-a": DATA / "dcn" / "cases" / "two_outstanding" / "host0.xplane.pb",
    "slices-b": DATA / "dcn" / "cases" / "single_allreduce" / "host0.xplane.pb",
    "graph": DATA / "tfprof" / "tiny.pb.gz",
}
COMPARED = {
    "views": ("pytorch-small-net", "graph"),
    "incore": ("kernel-a", "kernel-b"),
    "dcn": ("slices-a", "slices-b"),
    "throughput": ("rates-a", "rates-b"),
}
"""For each lens that compares, a run and a baseline."""


def write_everything(folder: Path) -> None:
    """Logs and imports what each lens shows, twice, so that it can be compared."""
    write_profile(folder)
    for run, source in IMPORTED.items():
        outcome = import_file(source, str(folder), run, None)
        assert not outcome.error, outcome.error
    for run, pause in (("rates-a", 0.001), ("rates-b", 0.002)):
        log_rates(folder / run, pause)


def log_rates(directory: Path, pause: float) -> None:
    """A short run with data spans at each step and one checkpoint."""
    with stepscope.Writer(str(directory)) as writer:
        rate = writer.throughput("train", log_every=5)
        for step in range(60):
            with rate.span("data"):
                time.sleep(pause / 4)
            time.sleep(pause)
            rate.add(32, step=step)
        with rate.span("checkpoint"):
            time.sleep(0.02)


def damage(folder: Path, run: str) -> None:
    """Turns a byte in the middle of a run's file."""
    hurt = next((folder / run).iterdir())
    content = bytearray(hurt.read_bytes())
    content[len(content) // 2] ^= 0xFF
    hurt.write_bytes(content)


class Panel:
    """The panel in its frame. One page for many states: it follows the address."""

    def __init__(self, watched: Watched, server: Server) -> None:
        self.watched = watched
        self.page: Page = watched.page
        self.asked: set[Request] = set()
        self.page.on("request", lambda request: self.asked.add(request))
        self.page.on("requestfinished", lambda request: self.asked.discard(request))
        self.page.on("requestfailed", lambda request: self.asked.discard(request))
        self.page.goto(f"{server.url}/#stepscope")
        watched.frame().get_by_role("tab").first.wait_for()

    @property
    def frame(self) -> Frame:
        """The frame that TensorBoard keeps for the panel."""
        return next(frame for frame in self.page.frames if "plugin_entry" in frame.url)

    def show(self, **state: str) -> None:
        """Opens a state by its address, and waits until nothing is asked for any more."""
        parts = "".join(f"&p.stepscope.{key}={value}" for key, value in state.items())
        self.page.evaluate("hash => { location.hash = hash }", f"stepscope{parts}")
        self.settle()

    def open(self, url: str) -> None:
        """Loads the page anew at an address."""
        self.page.goto("about:blank")
        self.page.goto(url)
        self.watched.frame().get_by_role("tab").first.wait_for()
        self.settle()

    def settle(self) -> None:
        """Waits until the documents are there and drawn: for a moment nothing is asked."""
        quiet = 0
        while quiet < 2:
            self.page.wait_for_timeout(40)
            waiting = any("/data/plugin/stepscope/" in request.url for request in self.asked)
            loading = self.frame.locator(".skeleton, .busy").count() > 0
            quiet = 0 if waiting or loading else quiet + 1

    def theme(self, theme: str) -> None:
        """Turns TensorBoard's theme."""
        self.page.evaluate(
            "dark => document.body.classList.toggle('dark-mode', dark)", theme == "dark"
        )
        self.frame.wait_for_function(
            "theme => document.documentElement.dataset.theme === theme", arg=theme
        )

    def text(self) -> str:
        """All that the panel says."""
        return self.frame.locator("body").inner_text()

    def press(self, *keys: str) -> None:
        """Presses keys one after the other."""
        for key in keys:
            self.page.keyboard.press(key)
            self.page.wait_for_timeout(30)

    def focused(self) -> str:
        """The role and the name of what has the focus."""
        script = "() => { const e = document.activeElement; return (e.getAttribute('role') ?? e.localName) + ' ' + "
        name = "(e.getAttribute('aria-label') ?? e.textContent) }"
        return str(self.frame.evaluate(script + name))[:60]

    def tab_to(self, wanted: str, most: int = 40) -> None:
        """Presses Tab until what has the focus begins with a text."""
        seen = []
        for _ in range(most):
            self.page.keyboard.press("Tab")
            seen.append(self.focused())
            if seen[-1].startswith(wanted):
                return
        raise AssertionError(f"Tab does not lead to {wanted!r}: {seen}")

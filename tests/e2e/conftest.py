"""A real TensorBoard and a real Chromium: external hosts blocked, `unsafe-eval` taken out of the policy."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from lens_records import write_everything
from playwright.sync_api import Browser, sync_playwright
from rank_traces import write_ranks

from tensorboard_page import Server, Watched, chromium_path, running, watching

CHROMIUM_FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-background-networking",
]


@pytest.fixture(scope="session")
def serve(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., Server]]:
    """Starts a TensorBoard on a log directory; all are stopped at the end of the session."""
    with contextlib.ExitStack() as stack:

        def start(logdir: Path, *flags: str, prefix: str = "") -> Server:
            log = tmp_path_factory.mktemp("tensorboard") / "output.txt"
            return stack.enter_context(running(logdir, log, *flags, prefix=prefix))

        yield start


@pytest.fixture(scope="session")
def every_lens(serve: Callable[..., Server], tmp_path_factory: pytest.TempPathFactory) -> Server:
    """Shows what each lens does, twice, so that it can be compared, and the traces of two ranks."""
    folder = tmp_path_factory.mktemp("every_lens")
    write_everything(folder)
    write_ranks(folder, tmp_path_factory.mktemp("traces"))
    return serve(folder)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=chromium_path(), args=CHROMIUM_FLAGS)
        yield started
        started.close()


@pytest.fixture
def watched(browser: Browser) -> Iterator[Watched]:
    """A page under the strict policy. What the panel reports as an error fails the test at its end."""
    with watching(browser) as page:
        yield page

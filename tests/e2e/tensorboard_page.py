"""A TensorBoard process and a watched page."""

from __future__ import annotations

import contextlib
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from playwright.sync_api import Browser, FrameLocator, Page, Response, Route

SCREENSHOTS = Path(__file__).parent / "screenshots"
START_TIMEOUT_S = 60.0


@dataclass
class Server:
    """A running TensorBoard."""

    url: str
    log: Path

    def get(self, path: str) -> bytes:
        with urllib.request.urlopen(self.url + path, timeout=30) as response:
            body: bytes = response.read()
            return body


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextlib.contextmanager
def running(
    logdir: Path,
    log: Path,
    *flags: str,
    prefix: str = "",
    environment: dict[str, str] | None = None,
) -> Iterator[Server]:
    port = free_port()
    command = [
        sys.executable,
        "-m",
        "tensorboard.main",
        "--logdir",
        str(logdir),
        "--port",
        str(port),
        *flags,
    ]
    if prefix:
        command += ["--path_prefix", prefix]
    with log.open("wb") as output:
        process = subprocess.Popen(
            command, stdout=output, stderr=subprocess.STDOUT, env=environment
        )
    server = Server(f"http://127.0.0.1:{port}{prefix}", log)
    try:
        wait_for(server, process)
        yield server
    finally:
        process.terminate()
        process.wait(20)


def wait_for(server: Server, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + START_TIMEOUT_S
    while time.monotonic() < deadline:
        if process.poll() is not None:
            break
        with contextlib.suppress(OSError):
            server.get("/data/plugins_listing")
            return
        time.sleep(0.1)
    pytest.fail("TensorBoard did not start:\n" + server.log.read_text(errors="replace"))


def chromium_path() -> str:
    for name in ("chromium", "chromium-browser", "google-chrome"):
        path = shutil.which(name)
        if path:
            return path
    pytest.fail("no Chromium: run .ci/ensure-chromium")


@dataclass
class Watched:
    """A page, and what went wrong on it."""

    page: Page
    errors: list[str] = field(default_factory=list)
    answers: list[Response] = field(default_factory=list)

    def frame(self) -> FrameLocator:
        """The panel's frame."""
        return self.page.frame_locator("iframe")

    def shot(self, name: str) -> None:
        SCREENSHOTS.mkdir(exist_ok=True)
        self.page.screenshot(path=str(SCREENSHOTS / f"{name}.png"))


def strict(route: Route) -> None:
    """Lets only TensorBoard answer, and takes `unsafe-eval` out of its policy."""
    if not route.request.url.startswith("http://127.0.0.1"):
        route.abort()
        return
    if route.request.resource_type != "document":
        route.continue_()
        return
    response = route.fetch()
    policy = response.headers.get("content-security-policy", "").replace("'unsafe-eval'", "")
    route.fulfill(
        response=response, headers={**response.headers, "content-security-policy": policy}
    )


@contextlib.contextmanager
def watching(browser: Browser) -> Iterator[Watched]:
    """A page of its own. What the panel reports as an error fails at the end."""
    context = browser.new_context(viewport={"width": 1400, "height": 900})
    page = context.new_page()
    found = Watched(page)
    page.route("**/*", strict)
    page.on("pageerror", lambda error: found.errors.append(str(error)))
    page.on("response", lambda response: found.answers.append(response))
    page.on(
        "console",
        lambda message: found.errors.append(message.text) if message.type == "error" else None,
    )
    yield found
    context.close()
    ours = [
        text for text in found.errors if "stepscope" in text or "Content Security Policy" in text
    ]
    assert not ours, ours

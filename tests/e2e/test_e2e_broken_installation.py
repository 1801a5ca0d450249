"""A broken installation leaves TensorBoard running, and the tab names the fault and the remedy."""

from __future__ import annotations

import json
import os
from pathlib import Path
from urllib.error import HTTPError

import pytest
from playwright.sync_api import Browser, expect

from tensorboard_page import running, watching


def environment_with(folder: Path, module: str, text: str) -> dict[str, str]:
    """Returns an environment in which a module is replaced by another text."""
    path = folder / module
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    before = os.environ.get("PYTHONPATH", "")
    return os.environ | {"PYTHONPATH": f"{folder}{os.pathsep}{before}"}


@pytest.mark.parametrize(
    ("module", "text", "message"),
    [
        (
            "stepscope/__init__.py",
            "raise SystemExit('broken on import')",
            "StepScope cannot start: SystemExit: broken on import. "
            "Run: pip install --force-reinstall tensorboard-plugin-stepscope",
        ),
        (
            "msgspec.py",
            "raise ModuleNotFoundError('No module named <b>msgspec</b>', name='msgspec')",
            "StepScope cannot start: ModuleNotFoundError: No module named <b>msgspec</b>. Run: pip install msgspec",
        ),
    ],
)
def test_tab_of_a_broken_installation_names_fault_and_remedy(
    browser: Browser, tmp_path: Path, module: str, text: str, message: str
) -> None:
    environment = environment_with(tmp_path / "broken", module, text)
    log = tmp_path / "output.txt"
    with running(tmp_path, log, environment=environment) as server, watching(browser) as watched:
        watched.page.goto(f"{server.url}/#stepscope")
        expect(watched.frame().get_by_role("alert")).to_have_text(message)
    assert message in log.read_text()


def test_route_without_a_dependency_names_the_package(tmp_path: Path) -> None:
    text = "raise ModuleNotFoundError(\"No module named 're2'\", name='re2')"
    environment = environment_with(tmp_path / "broken", "re2.py", text)
    with running(tmp_path, tmp_path / "output.txt", environment=environment) as server:
        with pytest.raises(HTTPError) as caught:
            server.get("/data/plugin/stepscope/index")
        error = json.loads(caught.value.read())["error"]
    assert error["found"] == "No module named 're2'"
    assert error["remedy"] == "Run: pip install google-re2"

"""What all tests share."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from paths import DATA, ROOT, SHARED

# Timings are never tests: a busy machine must not fail a property.
settings.register_profile("stepscope", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("quick", parent=settings.get_profile("stepscope"), max_examples=10)
settings.load_profile("stepscope")


SLOW_FOLDERS = {
    "cli",
    "e2e",
    "integrations",
    "panel",
    "plugin",
    "session",
    "shim",
    "sources",
    "store",
}
"""Tests in these read and write files, or start processes, servers and browsers."""
SLOW_FIXTURES = {"shared"}
"""Tests with these read large real files."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--quick", action="store_true", help="only tests without files and processes, few examples"
    )


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("--quick"):
        settings.load_profile("quick")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if not config.getoption("--quick"):
        return
    slow = [item for item in items if is_slow(item)]
    config.hook.pytest_deselected(items=slow)
    items[:] = [item for item in items if not is_slow(item)]


def is_slow(item: pytest.Item) -> bool:
    folder = item.path.relative_to(ROOT / "tests").parts[0]
    fixtures = getattr(item, "fixturenames", ())
    return folder in SLOW_FOLDERS or not SLOW_FIXTURES.isdisjoint(fixtures)


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of right answers and real files beside the project."""
    if not SHARED.is_dir():
        message = "the folder ../shared with right answers and real files is absent"
        if os.environ.get("STEPSCOPE_REQUIRE_GOLDEN") == "1":
            pytest.fail(message)
        pytest.skip(message)
    return SHARED


@pytest.fixture(scope="session")
def data() -> Path:
    """The small right answers kept with the tests."""
    return DATA

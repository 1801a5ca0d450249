"""What all tests share."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from places import DATA, SHARED


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

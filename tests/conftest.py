"""What all tests share."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from paths import DATA, SHARED

# Timings are never tests: a busy machine must not fail a property.
settings.register_profile("stepscope", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("stepscope")


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

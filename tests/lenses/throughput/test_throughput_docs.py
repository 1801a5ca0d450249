"""docs/throughput.md names every option, setting, statistic and disturbance."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

import pytest

from stepscope.lenses import throughput
from stepscope.lenses.options import specs
from stepscope.lenses.throughput import ThroughputOptions, analyze
from stepscope.model.throughput import PAUSE_KINDS, Throughput
from stepscope.shim.settings import SeriesSettings

ROOT = Path(__file__).resolve().parents[3]
TEXT = (ROOT / "docs" / "throughput.md").read_text(encoding="utf-8")


def kinds() -> set[str]:
    """The first word of every Annotation that is made, and the kinds of spans."""
    folder = Path(throughput.__file__).parent
    source = (folder / "disturbances.py").read_text(encoding="utf-8")
    found = set(re.findall(r'Annotation\(\s*"(\w+)"', source))
    return found | {"resume", "reset", "drift", "plateau", "warm_up", *PAUSE_KINDS}


@pytest.mark.parametrize("option", [spec.name for spec in specs(ThroughputOptions)])
def test_each_option_is_told_of(option: str) -> None:
    assert f"`{option}`" in TEXT


@pytest.mark.parametrize("setting", [field.name for field in dataclasses.fields(SeriesSettings)])
def test_each_setting_is_told_of(setting: str) -> None:
    assert setting == "name" or f"`{setting}`" in TEXT


def test_each_statistic_is_told_of() -> None:
    for name in analyze(Throughput()).series[0].statistics:
        assert f"`{name}`" in TEXT, name


def test_each_disturbance_is_told_of() -> None:
    assert len(kinds()) >= 15
    for kind in kinds():
        assert f"`{kind}`" in TEXT, kind

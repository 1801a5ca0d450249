"""Two real training runs with three things planted: the findings name all three first, with their shares."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

import stepscope

EXAMPLE = Path(__file__).parents[2] / "examples" / "planted_run.py"
PLANTED = {"data_wait": "lost-to-data-wait", "slow_op": "hot-spot", "checkpoint": "lost-to-checkpoint"}


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, dict[str, float]]]:
    """The runs, and the share of each planted cause by the example's own clock."""
    pytest.importorskip("torch")
    logdir = tmp_path_factory.mktemp("planted")
    command = [sys.executable, str(EXAMPLE), str(logdir)]
    printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    shares = {}
    for line in printed.splitlines():
        run, _, causes = line.partition(" ")
        shares[run] = {name: float(share) / 100 for name, share in re.findall(r"(\w+) ([\d.]+)%", causes)}
    return logdir, shares


@pytest.mark.parametrize("run", ["input-bound", "compute-bound"])
def test_what_was_planted_is_found_first(trained: tuple[Path, dict[str, dict[str, float]]], run: str) -> None:
    logdir, shares = trained
    found = stepscope.open(logdir, run=run).findings()[:3]
    by_rule = {finding["rule"]: finding for finding in found}
    assert set(by_rule) == set(PLANTED.values()), [finding["title"] for finding in found]
    assert by_rule["hot-spot"]["title"].startswith("op aten::sort takes ")
    for cause, rule in PLANTED.items():
        assert by_rule[rule]["cost_share"] == pytest.approx(shares[run][cause], abs=0.05), cause

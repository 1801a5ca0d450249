"""What was planted is named first: in real training runs, and in simulated jobs with the true difference."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from planted_traces import Case, Workload, cases, clean_workloads, judge, largest_saving, planted

import stepscope

EXAMPLE = Path(__file__).parents[2] / "examples" / "planted_run.py"
PLANTED = {"data_wait": "lost-to-data-wait", "checkpoint": "lost-to-checkpoint"}


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
        shares[run] = {
            name: float(share) / 100 for name, share in re.findall(r"(\w+) ([\d.]+)%", causes)
        }
    return logdir, shares


@pytest.mark.parametrize("run", ["input-bound", "compute-bound"])
def test_what_was_planted_is_found_first(
    trained: tuple[Path, dict[str, dict[str, float]]], run: str
) -> None:
    logdir, shares = trained
    found = stepscope.open(logdir, run=run).findings()[:2]
    by_rule = {finding["rule"]: finding for finding in found}
    assert set(by_rule) == set(PLANTED.values()), [finding["title"] for finding in found]
    for cause, rule in PLANTED.items():
        assert by_rule[rule]["cost_share"] == pytest.approx(shares[run][cause], abs=0.05), cause


SIZE_OF_TESTS = 14
"""Cases with more layers are for `python benchmarks/planted.py`."""
SMALL = [case for case in cases() if case.workload.layers <= SIZE_OF_TESTS][::2]


@pytest.mark.parametrize("case", SMALL, ids=lambda case: case.name)
def test_a_planted_cause_is_named_first_with_what_it_costs(case: Case, tmp_path: Path) -> None:
    for verdict in judge(case, tmp_path):
        assert 0 <= verdict.place < len(case.rules), verdict
        if planted.CAUSES[verdict.rule].has_saving:
            assert verdict.error == pytest.approx(0, abs=0.15), verdict


@pytest.mark.parametrize(
    "workload", list(clean_workloads())[::10], ids=lambda workload: str(workload.seed)
)
def test_a_clean_job_has_nothing_to_gain(workload: Workload, tmp_path: Path) -> None:
    share, rule = largest_saving(workload, tmp_path)
    assert share <= 0.05, rule

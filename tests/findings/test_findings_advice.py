"""tfprof's checkers say what tfprof says, and mended what the findings say."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from stepscope.errors import OptionError
from stepscope.findings.tfprof_advice import CHECKERS, advise
from stepscope.lenses.views import ViewEngine
from stepscope.sources import tfprof

SMALL = ("tiny", "synth_proto", "synth_gpu")
PROFILES = (*SMALL, "conv", "transformer", "big600")


def engine_of(path: Path) -> ViewEngine:
    return ViewEngine(tfprof.read(path).records[0].record)


def check(profile: Path, recorded: Path) -> int:
    """Holds the reports against the recorded ones and gives their number."""
    engine, matched = engine_of(profile), 0
    with gzip.open(recorded, "rt", encoding="utf-8") as lines:
        for case in map(json.loads, lines):
            if case["view"] == "advise":
                want = case["result"]["checkers"]
                assert advise(engine, case["options"]["checkers"]) == want, case["id"]
                matched += 1
    return matched


@pytest.mark.parametrize("name", SMALL)
def test_small_recorded_reports_are_matched(data: Path, name: str) -> None:
    assert check(data / f"tfprof/{name}.pb.gz", data / f"tfprof/{name}.jsonl.gz") >= 2


def test_recorded_reports_are_matched(shared: Path, capsys: pytest.CaptureFixture[str]) -> None:
    golden = shared / "golden/tfprof"
    matched = sum(
        check(golden / f"profiles/{name}/profile.pb", golden / f"{name}.jsonl.gz")
        for name in PROFILES
    )
    with capsys.disabled():
        print(f"\nadvice: {matched} recorded answers matched")
    assert matched > 20


def test_all_checkers_run_unless_some_are_named(data: Path) -> None:
    engine = engine_of(data / "tfprof/tiny.pb.gz")
    assert set(advise(engine)) == set(CHECKERS) - {"JobChecker"}
    assert advise(engine, []) == {}
    assert set(advise(engine, ["OperationChecker", "JobChecker"])) == {"OperationChecker"}


def test_an_unknown_checker_is_refused(data: Path) -> None:
    with pytest.raises(OptionError, match="ExpensiveOperationChecker"):
        advise(engine_of(data / "tfprof/tiny.pb.gz"), ["Nonsense"])


def test_mended_reports_name_totals_and_steps(data: Path) -> None:
    engine = engine_of(data / "tfprof/synth_gpu.pb.gz")
    reports = advise(engine, compat=None)
    assert any(
        report.startswith("op MatMul takes 41.4%")
        for report in reports["ExpensiveOperationChecker"]
    )
    assert all("work" in report for report in reports["AcceleratorUtilizationChecker"])
    assert len(reports["OperationChecker"]) == 2

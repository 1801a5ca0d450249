"""Rules over the other lenses rest on what those lenses say."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from stepscope.findings import RULES, Finding, Subject, find
from stepscope.lenses import dcn, incore
from stepscope.lenses.throughput.result import Annotation, Series, ThroughputResult
from stepscope.sources import registry

SECOND = 1_000_000_000


def result_of(path: Path, lens: Any, kind: str) -> Any:
    """The lens's result of the records of a kind in a file."""
    records = [named.record for named in registry.read(path).records if kind == named.record.KIND]
    return lens.analyze(records)


def findings(lens: str, result: Any) -> list[Finding]:
    return find([Subject(lens, "run", "name", result)], RULES)


@pytest.mark.parametrize("case", ["o15_user_phases_no_collective", "o24_user_phases_masks", "o18_uint64_high_bit"])
def test_the_longest_phase_is_that_of_the_recorded_answer(data: Path, case: str) -> None:
    result = result_of(data / "incore" / case, incore, "incore")
    document = json.loads((data / "incore" / case / "case.json").read_text())["expect"]
    found = [f for f in findings("incore", result) if f.rule == "long-phase"]
    phases = document.get("partition") or {f"{p['to']}-{p['from']}": p["cycles"] for p in document.get("phases", [])}
    if not phases or not document.get("total"):
        assert found == []
        return
    name, cycles = max(phases.items(), key=lambda item: item[1])
    assert [(f.evidence[0].key, f.cost, f.unit) for f in found] == [(name, cycles, "cycles")]
    assert found[0].cost_share == pytest.approx(cycles / document["total"])


def test_stamps_that_are_rejected_are_a_finding(data: Path) -> None:
    result = result_of(data / "incore" / "o09_stale_generation", incore, "incore")
    (found,) = [f for f in findings("incore", result) if f.rule == "unusable-stamps"]
    assert "STALE_GENERATION" in found.title
    assert found.cost_share is None


def test_the_worst_collective_is_named_with_its_stall(data: Path) -> None:
    named = 0
    for case in sorted((data / "dcn" / "cases").iterdir()):
        result = result_of(case, dcn, "collectives")
        stalls = [f for f in findings("dcn", result) if f.rule == "stalling-collective"]
        if stalls and result.worst is not None:
            worst = max(stalls, key=lambda f: f.cost or 0)
            assert worst.evidence[0].key == result.worst.rendezvous
            assert worst.cost == result.worst.stall_total_ps / 1_000_000
            named += 1
    assert named > 0


def series(*annotations: Annotation) -> ThroughputResult:
    """A series of 100 s with annotations."""
    empty = np.empty(0)
    one = Series(
        *("run", "train", "host", 0, "samples", 0.4, "step", "host", "unix", "computed"),
        step=np.array([0, 1]),
        time_ns=np.array([0, 100 * SECOND]),
        total=np.array([0, 10]),
        local=empty,
        average=empty,
        reported_local=empty,
        reported_average=empty,
        recorded=2,
        spans=(),
        annotations=annotations,
        statistics={},
    )
    return ThroughputResult((one,))


def test_time_lost_to_checkpoints_is_summed() -> None:
    notes = [Annotation("checkpoint", "", "", evidence={"duration_ns": 5 * SECOND}) for _ in range(3)]
    (found,) = findings("throughput", series(*notes))
    assert (found.rule, found.cost_share, found.cost) == ("lost-to-checkpoint", 0.15, 15_000_000)
    assert found.title == "Checkpoints take 15.0% of train"


def test_small_losses_are_no_findings() -> None:
    assert findings("throughput", series(Annotation("stall", "", "", evidence={"extra_ns": SECOND}))) == []


def test_the_largest_share_comes_first_and_unknown_shares_last(data: Path) -> None:
    notes = [
        Annotation("evaluation", "", "", evidence={"duration_ns": 10 * SECOND}),
        Annotation("data_wait", "", "", evidence={"waited_ns": 30 * SECOND}),
    ]
    stale = result_of(data / "incore" / "o09_stale_generation", incore, "incore")
    subjects = [Subject("incore", "r", "n", stale), Subject("throughput", "r", "n", series(*notes))]
    shares = [f.cost_share for f in find(subjects, RULES)]
    known = [share for share in shares if share is not None]
    assert known == sorted(known, reverse=True) == [0.3, 0.1]
    assert shares[-1] is None

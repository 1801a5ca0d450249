"""Rules over the other lenses rest on what those lenses say."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tensorboard.compat.proto import tfprof_log_pb2
from xplane_builder import BF16, PROGRAM, Collective, Core, array, documented, profile, write

from stepscope.findings import RULES, Finding, LensResult, find
from stepscope.findings.dcn import ADVICE
from stepscope.lenses import dcn, incore
from stepscope.lenses.dcn.diagnosis import causes
from stepscope.lenses.throughput.result import Annotation, Series, ThroughputResult
from stepscope.lenses.views import ViewEngine
from stepscope.model.incore import Envelopes
from stepscope.model.incore_timing import from_timing
from stepscope.sources import registry, tfprof, xplane

SECOND = 1_000_000_000


def result_of(path: Path, lens: Any, kind: str) -> Any:
    """The lens's result of the records of a kind in a file."""
    records = [named.record for named in registry.read(path).records if kind == named.record.KIND]
    return lens.analyze(records)


def findings(lens: str, result: Any) -> list[Finding]:
    return find([LensResult(lens, "run", "name", result)], RULES)


@pytest.mark.parametrize(
    "case", ["o15_user_phases_no_collective", "o24_user_phases_masks", "o18_uint64_high_bit"]
)
def test_the_longest_phase_is_that_of_the_recorded_answer(data: Path, case: str) -> None:
    result = result_of(data / "incore" / case, incore, "incore")
    document = json.loads((data / "incore" / case / "case.json").read_text())["expect"]
    found = [f for f in findings("incore", result) if f.rule == "long-phase"]
    phases = document.get("partition") or {
        f"{p['to']}-{p['from']}": p["cycles"] for p in document.get("phases", [])
    }
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


def test_cores_that_arrive_late_are_a_finding(data: Path) -> None:
    named = 0
    for case in sorted((data / "incore").iterdir()):
        result = result_of(case, incore, "incore")
        phases = result.phases
        (rule,) = [rule for rule in RULES if rule.name == "collective-skew"]
        found = list(find([LensResult("incore", "run", "name", result)], [rule]))
        if (
            phases is None
            or phases.collective is None
            or not phases.verdict.usable.all()
            or not phases.ordered.all()
        ):
            continue
        skew, total = int(phases.collective.arrival_skew.sum()), int(phases.total.sum())
        assert [f.cost_share for f in found] == (
            [skew / total] if total and skew / total >= 0.3 else []
        )
        named += len(found)
    assert named > 0


def test_arrivals_within_the_longest_phase_are_one_cause_with_it(data: Path) -> None:
    (found,) = findings(
        "incore", result_of(data / "incore" / "o18_uint64_high_bit", incore, "incore")
    )
    assert (
        found.title
        == "Phase R-E (from the first entry to the last producer done) takes 51% of the kernel"
    )
    assert [place.key for place in found.evidence] == ["R-E", "arrival_skew"]


def test_arrivals_outside_the_longest_phase_are_a_cause_of_their_own() -> None:
    stamps = np.array([[100, 110, 110, 150, 200], [100, 110, 150, 150, 200]])
    columns = {
        "entry": 0,
        "producer_done": 1,
        "collective_arrival": 2,
        "collective_release": 3,
        "body_done": 4,
    }
    result = incore.analyze([from_timing(stamps, columns=columns)])
    assert [(one.rule, one.cost_share) for one in findings("incore", result)] == [
        ("long-phase", 0.5),
        ("collective-skew", 0.4),
    ]


def test_a_phase_between_boundaries_of_the_users_is_told_from_start_to_end(data: Path) -> None:
    result = result_of(data / "incore" / "o15_user_phases_no_collective", incore, "incore")
    titles = [one.title for one in findings("incore", result)]
    assert (
        "Phase start → qk_done (from the first start to the last qk_done) takes 32% of the kernel"
        in titles
    )


@pytest.mark.parametrize(
    ("with_probes", "found"), [(1100, ["With probes the kernel takes 10% longer"]), (1020, [])]
)
def test_probes_that_slow_the_kernel_are_a_finding(
    data: Path, with_probes: int, found: list[str]
) -> None:
    (named,) = registry.read(data / "incore" / "o26_probe_overhead").records
    flags = np.array([True, True, False, False])
    envelopes = Envelopes(
        instrumented=flags, total_cycles=np.where(flags, with_probes, 1000).astype(np.int64)
    )
    result = incore.analyze([dataclasses.replace(named.record, envelopes=envelopes)])
    assert [f.title for f in findings("incore", result) if f.rule == "probe-cost"] == found


def test_cut_off_transfers_are_a_finding_where_they_are_many(data: Path) -> None:
    seen = set()
    for case in sorted((data / "dcn" / "cases").iterdir()):
        result = result_of(case, dcn, "collectives")
        counters = [table.core.counters for host in result.hosts for table in host.cores]
        ops = sum(counts["dcn_ops"] for counts in counters)
        alone = sum(
            counts["unmatched_sends"] + counts["unmatched_recv_dones"] for counts in counters
        )
        found = [f for f in findings("dcn", result) if f.rule == "unmatched-transfers"]
        assert bool(found) == bool(ops and alone / ops >= 0.1), case.name
        seen.add(bool(found))
    assert seen == {True, False}


def built(folder: Path, *cores: Core) -> Any:
    """The dcn lens's result of a profile of these cores."""
    (record,) = xplane.read_collectives(write(folder, profile(*cores)))
    return dcn.analyze(record)


@pytest.mark.parametrize(("recv_done_us", "named"), [(500, True), (55, False)])
def test_a_core_that_waits_longer_than_its_peers_is_named(
    tmp_path: Path, recv_done_us: int, named: bool
) -> None:
    late = [*documented()[:3], ("recv-done", 1635, recv_done_us)]
    cores = [
        Core([(PROGRAM, 0, 9000)], [late if n == 2 else documented()], number=n) for n in range(4)
    ]
    found = [f for f in findings("dcn", built(tmp_path, *cores)) if f.rule == "straggler"]
    assert bool(found) == named
    assert all("core 2 waits 6.3 times as long as others" in f.title for f in found)


@pytest.mark.parametrize(("elements", "small"), [(8, True), (1 << 20, False)])
def test_stall_of_many_small_transfers_is_found(tmp_path: Path, elements: int, small: bool) -> None:
    sent = [
        Collective(f"psum.{n}_0", suffix=f".{n}", payload=array(BF16, elements)) for n in (1, 2)
    ]
    ops = [op for n in (1, 2) for op in documented(1000 * n, f".{n}")]
    result = built(tmp_path, Core([(PROGRAM, 0, 9000)], [ops], collectives=sent))
    found = [f.title for f in findings("dcn", result) if f.rule == "tiny-collectives"]
    assert found == (
        ["2 of 2 collectives move less than 1 MiB and make 100% of the stall"] if small else []
    )


def test_the_wait_for_a_collective_is_told_once(tmp_path: Path) -> None:
    result = built(tmp_path, Core([(PROGRAM, 0, 2000)], [documented()]))
    message = tfprof_log_pb2.ProfileProto(steps=[1])
    node = message.nodes[0]
    node.name = node.op = "recv-done"
    node.op_types.append("recv-done")
    node.execs[1].run_count, node.execs[1].latest_end_micros = 1, 50
    node.execs[1].cpu_execs["/cpu:0"].times.add().int64_values.extend([1, 50])
    engine = ViewEngine(tfprof.read_profile(message.SerializeToString(), "p.pb"))
    views = LensResult("views", "run", "p", engine)
    assert [f.rule for f in find([views], RULES)] == []
    (found,) = find([views, LensResult("dcn", "run", "c", result)], RULES)
    assert found.rule == "stalling-collective"
    assert {place.lens for place in found.evidence} == {"dcn"}


def test_no_overlap_is_said_where_there_is_no_slack(data: Path) -> None:
    for case in sorted((data / "dcn" / "cases").iterdir()):
        result = result_of(case, dcn, "collectives")
        verdicts = {c.row.rendezvous: c.verdict for c in causes(result)}
        for found in (f for f in findings("dcn", result) if f.rule == "stalling-collective"):
            said = ADVICE[str(verdicts[found.evidence[0].key])]
            assert found.advice.startswith(said)


def series(*annotations: Annotation, **spans_s: float) -> ThroughputResult:
    """A series of 100 s with annotations, and spans that take so many seconds in all."""
    left_out = {kind: int(seconds * SECOND) for kind, seconds in spans_s.items()}
    training = {"duration_ns": 100 * SECOND - sum(left_out.values()), "left_out_ns": left_out}
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
        statistics={"training_only": training},
    )
    return ThroughputResult((one,))


@pytest.mark.parametrize(
    ("kind", "rule"),
    [
        ("checkpoint", "checkpoint"),
        ("data", "data-wait"),
        ("evaluation", "evaluation"),
        ("compile", "compile"),
        ("pause", "pause"),
    ],
)
def test_time_lost_to_spans_is_a_share_of_the_whole_run(kind: str, rule: str) -> None:
    (found,) = findings("throughput", series(**{kind: 15.0}))
    assert (found.rule, found.cost_share, found.cost) == (f"lost-to-{rule}", 0.15, 15_000_000)
    assert (found.saving, found.saving_share, found.whole) == (15_000_000, 0.15, 100_000_000)
    assert found.changes
    assert " 15.0% of train" in found.title
    assert findings("throughput", series(**{kind: 1.0})) == [], "less than 2% is no finding"


@pytest.mark.parametrize(
    "kind", ["first_step", "stall", "slow_steps", "drift", "plateau", "warm_up"]
)
def test_what_steps_take_too_long_is_added_up(kind: str) -> None:
    notes = [Annotation(kind, "", "", evidence={"extra_ns": 5 * SECOND}) for _ in range(3)]
    (found,) = findings("throughput", series(*notes))
    assert (found.rule, found.cost_share) == (f"lost-to-{kind.replace('_', '-')}", 0.15)
    assert (found.saving, found.saving_share, found.whole) == (15_000_000, 0.15, 100_000_000)
    assert found.changes
    assert (
        findings("throughput", series(Annotation(kind, "", "", evidence={"extra_ns": SECOND})))
        == []
    )


@pytest.mark.parametrize(
    "kind", ["aliasing", "dispatch_bursts", "unclear", "per_batch", "clock_step", "unknown_batch"]
)
def test_how_to_read_the_rates_is_a_hint_without_a_cost(kind: str) -> None:
    (found,) = findings(
        "throughput", series(Annotation(kind, "Blocks of 7 steps", "Log every 7 steps"))
    )
    assert (found.rule, found.cost_share, found.certainty) == (
        f"reading-{kind.replace('_', '-')}",
        None,
        "hint",
    )
    assert (found.saving, found.saving_share, found.whole) == (None, None, None)
    assert found.title == "train: blocks of 7 steps"
    assert found.advice == "Log every 7 steps"
    assert findings("throughput", series(Annotation("burst", "", ""))) == []


def test_the_largest_share_comes_first_and_unknown_shares_last(data: Path) -> None:
    stale = result_of(data / "incore" / "o09_stale_generation", incore, "incore")
    subjects = [
        LensResult("incore", "r", "n", stale),
        LensResult("throughput", "r", "n", series(evaluation=10.0, data=30.0)),
    ]
    shares = [f.cost_share for f in find(subjects, RULES)]
    known = [share for share in shares if share is not None]
    assert known == sorted(known, reverse=True) == [0.3, 0.1]
    assert shares[-1] is None

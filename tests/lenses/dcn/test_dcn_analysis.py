"""Identities of the tables, what options leave out, and what the document says beside the tables."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from xplane_builder import OPS, PROGRAM, Collective, Core, documented, profile, write

from stepscope.errors import OptionError
from stepscope.lenses import dcn
from stepscope.lenses.dcn import DcnOptions
from stepscope.lenses.dcn.rows import transferred_bytes
from stepscope.model.collectives import Collectives
from stepscope.sources import xplane

TWO = [Collective("psum.1_0", suffix=".1"), Collective("gather.2_0", "ALL_GATHER", ".2")]


def _record(folder: Path, *cores: Core, **options: Any) -> Collectives:
    (record,) = xplane.read_collectives(write(folder, profile(*cores, **options)))
    return record


_EVENTS = st.lists(
    st.tuples(
        st.sampled_from([f"{op}.{n}" for n in (1, 2) for op in OPS]),
        st.integers(0, 40),
        st.integers(0, 6),
    ),
    max_size=40,
)


@settings(
    max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None
)
@given(st.lists(_EVENTS, min_size=1, max_size=3))
def test_the_tables_agree_with_a_plain_reading_of_the_definition(
    tmp_path: Path, cores: list[Any]
) -> None:
    runs = [(PROGRAM, 0, 25), (PROGRAM, 25, 30)]
    made = [
        Core(runs, [sorted(ops, key=lambda e: e[1])], number=n, collectives=TWO)
        for n, ops in enumerate(cores)
    ]
    document = dcn.analyze(_record(tmp_path, *made)).to_json()
    for n, ops in enumerate(cores):
        table = document["hosts"]["host0"]["cores"][str(n)]
        found = {
            r["rendezvous"]: (r["occurrences"], r["slack_total_ps"], r["stall_total_ps"])
            for r in table["rows"]
        }
        assert found == _plainly(sorted(ops, key=lambda e: e[1]))
    for row in document["all_hosts"]["all_cores"]:
        parts = [
            r
            for t in document["hosts"]["host0"]["cores"].values()
            for r in t["rows"]
            if _same(r, row)
        ]
        assert row["stall_total_ps"] == sum(r["stall_total_ps"] for r in parts)
        assert Fraction(*row["stall_mean_ps"]) * row["occurrences"] == row["stall_total_ps"]


def _same(a: dict[str, Any], b: dict[str, Any]) -> bool:
    return (a["program"], a["rendezvous"]) == (b["program"], b["rendezvous"])


def _plainly(ops: list[tuple[str, int, int]]) -> dict[str, tuple[int, int, int]]:
    """Occurrences, slack and stall of a core, by queues and by a walk over its microseconds."""
    busy = {t for _, start, took in ops for t in range(start, start + took)}
    sums: dict[str, tuple[int, int, int]] = {}
    for first, last in ((0, 25), (25, 55)):
        for suffix, name in ((".1", "psum.1_0"), (".2", "gather.2_0")):
            rows = [
                i
                for i, (op, start, _) in enumerate(ops)
                if op.endswith(suffix) and first <= start < last
            ]
            ends = dict(_queue(ops, rows, "send", "send-done", suffix))
            recvs = {done: recv for recv, done in _queue(ops, rows, "recv", "recv-done", suffix)}
            for send, done in _queue(ops, rows, "send", "recv-done", suffix):
                parts = [send, done, ends.get(send), recvs.get(done)]
                took = sum(ops[row][2] for row in parts if row is not None)
                window = range(ops[send][1] + ops[send][2], ops[done][1])
                slack = sum(t not in busy for t in window)
                count, total, stall = sums.get(name, (0, 0, 0))
                sums[name] = (count + 1, total + slack * 10**6, stall + took * 10**6)
    return sums


def _queue(
    ops: list[tuple[str, int, int]], rows: list[int], opener: str, closer: str, suffix: str
) -> Any:
    waiting: list[int] = []
    for row in rows:
        if ops[row][0] == opener + suffix:
            waiting.append(row)
        elif ops[row][0] == closer + suffix and waiting:
            yield waiting.pop(0), row


def test_filters_choose_hosts_cores_programs_collectives_and_types(tmp_path: Path) -> None:
    ops = documented(100, ".1") + documented(1100, ".2")
    cores = [Core([(PROGRAM, 0, 5000)], [ops], number=n, collectives=TWO) for n in range(2)]
    record = _record(tmp_path, *cores)

    def rows(**options: Any) -> list[tuple[str, int]]:
        document = dcn.analyze(record, DcnOptions(**options)).to_json()
        return [
            (row["rendezvous"], row["occurrences"]) for row in document["all_hosts"]["all_cores"]
        ]

    assert rows() == [("gather.2_0", 2), ("psum.1_0", 2)]
    assert rows(core=("1",)) == [("gather.2_0", 1), ("psum.1_0", 1)]
    assert rows(transfer_type=("ALL_GATHER",)) == [("gather.2_0", 2)]
    assert rows(rendezvous=("psum.1_0",)) == [("psum.1_0", 2)]
    assert (
        rows(program=("jit_step",)) == rows(program=(PROGRAM,)) == rows(host=("host0",)) == rows()
    )
    assert rows(program=("jit_other",)) == rows(host=("host9",)) == []


@pytest.mark.parametrize(
    "wrong",
    [{"detail": "x"}, {"network_gbps": 0.0}, {"cores_per_host": 0}, {"limit": -1}, {"offset": -1}],
)
def test_options_out_of_range_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(OptionError):
        DcnOptions(**wrong)


def test_sizes_follow_the_transfer_type() -> None:
    sizes = {
        kind: transferred_bytes(kind, 1000, 4)
        for kind in ("ALL_REDUCE", "ALL_GATHER", "ALL_TO_ALL")
    }
    assert sizes == {"ALL_REDUCE": 1500, "ALL_GATHER": 750, "ALL_TO_ALL": 750}
    assert transferred_bytes("REDUCE_SCATTER", 1000, 4) == 3000
    assert transferred_bytes("ONE_TO_ONE", 1000, 1) == 1000
    assert transferred_bytes("ALL_GATHER", 100, 3) == Fraction(200, 3)
    assert transferred_bytes("ALL_REDUCE", 1000, 1) == 0


def test_occurrences_are_listed_in_a_window(tmp_path: Path) -> None:
    core = Core([(PROGRAM, 0, 9000)], [documented(1000) + documented(3000) + documented(5000)])
    options = DcnOptions(detail="occurrences", offset=1, limit=1)
    document = dcn.analyze(_record(tmp_path, core), options).to_json()
    assert document["occurrences_total"] == 3
    (row,) = document["occurrences"]
    assert row["send_start_ps"] == str(3000 * 10**6)
    assert (row["send_done_after_ps"], row["recv_done_ps"], row["slack_ps"]) == (
        110 * 10**6,
        50 * 10**6,
        600 * 10**6,
    )
    assert json.loads(json.dumps(document, allow_nan=False)) == document


def test_a_core_that_stalls_longer_than_the_others_is_a_straggler(tmp_path: Path) -> None:
    slow = [*documented()[:3], ("recv-done", 1635, 500)]
    cores = [
        Core([(PROGRAM, 0, 9000)], [slow if n == 2 else documented()], number=n) for n in range(4)
    ]
    document = dcn.analyze(_record(tmp_path, *cores), DcnOptions(detail="full")).to_json()
    (straggler,) = document["diagnosis"]["stragglers"]
    assert (straggler["core"], straggler["mean_ps"], straggler["median_ps"]) == (2, 535e6, 85e6)
    (spread,) = document["distributions"]
    assert spread["recv_done_ps"] == {
        "min": 50 * 10**6,
        "p50": 50 * 10**6,
        "p95": 500 * 10**6,
        "max": 500 * 10**6,
    }


@pytest.mark.parametrize(
    ("ops", "gbps", "verdict"),
    [
        (documented(), 1000.0, "hardware"),
        (documented(), 20.0, "congestion"),
        ([*documented()[:3], ("recv-done", 1635, 400)], 1000.0, "bandwidth"),
        (
            [("send", 0, 10), ("send-done", 10, 20), ("recv", 30, 5), ("recv-done", 35, 50)],
            1000.0,
            "no_overlap",
        ),
    ],
)
def test_a_verdict_follows_the_guide(tmp_path: Path, ops: Any, gbps: float, verdict: str) -> None:
    record = _record(tmp_path, Core([(PROGRAM, 0, 9000)], [ops]))
    document = dcn.analyze(record, DcnOptions(detail="full", network_gbps=gbps)).to_json()
    (cause,) = document["diagnosis"]["causes"]
    assert cause["verdict"] == verdict
    assert cause["stall_share"] == 1.0


def test_comparison_is_by_rendezvous_whatever_the_program_id(tmp_path: Path) -> None:
    slow = [*documented()[:3], ("recv-done", 1635, 100)]
    a = dcn.analyze(_record(tmp_path, Core([(PROGRAM, 0, 9000)], [slow])))
    core = Core([("jit_step(99)", 0, 9000)], [documented()])
    b = dcn.analyze(_record(tmp_path / "b", core, programs={"jit_step(99)": [Collective()]}))
    document = dcn.compare(a, b).to_json()
    (row,) = document["rows"]
    assert (row["key"], row["state"], row["delta"]["stall_total_ps"]) == (
        "jit_step/psum.7_0",
        "both",
        50 * 10**6,
    )
    assert document["unmatched_share"] == 0.0
    nothing = dcn.analyze(_record(tmp_path / "c", Core([(PROGRAM, 0, 9000)], [[]])))
    assert [r["state"] for r in dcn.compare(a, nothing).rows] == ["added"]
    assert [r["state"] for r in dcn.compare(nothing, a).rows] == ["removed"]


def test_records_of_several_hosts_are_analysed_together(tmp_path: Path) -> None:
    (one,) = xplane.read_collectives(
        write(tmp_path / "a", profile(Core([(PROGRAM, 0, 9000)], [documented()])), "h0")
    )
    (two,) = xplane.read_collectives(
        write(tmp_path / "b", profile(Core([(PROGRAM, 0, 9000)], [documented()])), "h1")
    )
    document = dcn.analyze([one, two]).to_json()
    assert list(document["hosts"]) == ["h0", "h1"]
    assert document["all_hosts"]["all_cores"][0]["occurrences"] == 2


def test_counters_of_a_core_in_several_records_are_summed(tmp_path: Path) -> None:
    """The second record of the core has a send without a recv-done."""
    whole = _record(tmp_path / "a", Core([(PROGRAM, 0, 9000)], [documented()]))
    cut_off = _record(
        tmp_path / "b", Core([(PROGRAM, 0, 9000)], [[*documented(), ("send", 5000, 10)]])
    )
    for records in ([whole, cut_off], [cut_off, whole]):
        table = dcn.analyze(records).to_json()["hosts"]["host0"]["cores"]["0"]
        assert (table["dcn_ops"], table["unmatched_sends"], table["unmatched_recv_dones"]) == (
            9,
            1,
            0,
        )
        assert [row["occurrences"] for row in table["rows"]] == [2]


@pytest.mark.parametrize(("recv_done_us", "slow"), [(220, []), (221, ["h1"])])
def test_of_two_hosts_the_slower_is_a_straggler_above_three_times_the_other(
    tmp_path: Path, recv_done_us: int, slow: list[str]
) -> None:
    """The median of two is their mean, so 1.5 times the median is 3 times the faster: 3 * 85 = 35 + 220."""
    ops = {"h0": documented(), "h1": [*documented()[:3], ("recv-done", 1635, recv_done_us)]}
    records = []
    for host in ops:
        core = Core([(PROGRAM, 0, 9000)], [ops[host]])
        (record,) = xplane.read_collectives(write(tmp_path / host, profile(core), host))
        records.append(record)
    document = dcn.analyze(records, DcnOptions(detail="full")).to_json()
    stragglers = document["diagnosis"]["stragglers"]
    assert [row["host"] for row in stragglers if row["core"] is None] == slow
    assert [row["host"] for row in stragglers if row["core"] == 0] == slow


def test_a_collective_without_stall_has_no_verdict(tmp_path: Path) -> None:
    ops = [(name, start, 0) for name, start, _ in documented()]
    record = _record(tmp_path, Core([(PROGRAM, 0, 9000)], [ops]))
    (cause,) = dcn.analyze(record, DcnOptions(detail="full")).to_json()["diagnosis"]["causes"]
    assert (cause["verdict"], cause["stall_share"], cause["time_share"]) == (None, 0.0, 0.0)

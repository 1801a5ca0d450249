"""Where XProf's table is wrong, empty or crashes: ours is not. The numbers are those of docs/dcn.md."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from xplane_builder import (
    F32,
    PROGRAM,
    Collective,
    Core,
    array,
    documented,
    profile,
    tuple_of,
    write,
)

from stepscope.lenses import dcn
from stepscope.sources import xplane

NOWHERE = ("jit_other(5)", 0, 1)


def _document(path: Path) -> dict[str, Any]:
    return dcn.analyze(xplane.read_collectives(path)).to_json()


def _core(folder: Path, *cores: Core, core: str = "0", **options: Any) -> dict[str, Any]:
    table: dict[str, Any] = _document(write(folder, profile(*cores, **options)))["hosts"]["host0"][
        "cores"
    ][core]
    return table


def _row(folder: Path, ops: list[tuple[str, float, float]], **options: Any) -> dict[str, Any]:
    core = Core([(PROGRAM, 0, 5000)], [ops], **options)
    (row,) = _core(folder, core)["rows"]
    return dict(row)


def test_1_the_recv_stall_is_shown(tmp_path: Path) -> None:
    assert _row(tmp_path, documented())["recv_ms"] == 0.005


def test_2_nothing_is_cut_to_whole_microseconds(tmp_path: Path) -> None:
    row = _row(
        tmp_path,
        [
            ("send", 1, 0.4),
            ("send-done", 1.5, 0.1),
            ("recv", 1.7, 0.1),
            ("recv-done", 1.9, 0.000001),
        ],
    )
    assert row["send_total_ps"] == 400_000
    assert row["slack_total_ps"] == 300_000
    assert row["recv_done_total_ps"] == 1
    assert row["required_bandwidth_gbps"] is not None


def test_3_a_recv_before_the_send_counts_in_the_stall(tmp_path: Path) -> None:
    row = _row(
        tmp_path,
        [("recv", 0, 5), ("send", 105, 10), ("send-done", 315, 20), ("recv-done", 342, 50)],
    )
    assert row["stall_ms"] == 0.085


def test_4_a_send_done_after_the_recv_done_counts_in_the_stall(tmp_path: Path) -> None:
    row = _row(
        tmp_path,
        [("send", 0, 10), ("recv", 110, 5), ("recv-done", 315, 50), ("send-done", 372, 20)],
    )
    assert (row["stall_ms"], row["send_done_ms"]) == (0.085, 0.02)


def test_5_a_recv_done_is_not_paired_with_the_send_of_an_older_execution(tmp_path: Path) -> None:
    ops = [("send", 10, 10), ("recv-done", 1500, 50)]
    table = _core(tmp_path, Core([(PROGRAM, 0, 900), (PROGRAM, 1000, 900)], [ops]))
    assert (table["rows"], table["unmatched_sends"], table["unmatched_recv_dones"]) == ([], 1, 1)


def test_6_collectives_are_told_apart_without_channel_ids(tmp_path: Path) -> None:
    both = [Collective("psum.1_0", suffix=".1"), Collective("psum.2_0", suffix=".2")]
    core = Core(
        [(PROGRAM, 0, 5000)], [documented(100, ".1") + documented(1100, ".2")], collectives=both
    )
    assert [(r["rendezvous"], r["occurrences"]) for r in _core(tmp_path, core)["rows"]] == [
        ("psum.1_0", 1),
        ("psum.2_0", 1),
    ]


def test_7_time_stamps_since_the_epoch_keep_every_picosecond(tmp_path: Path) -> None:
    row = _row(tmp_path, documented(), timestamp_ns=1_790_000_000_123_456_789)
    assert row["slack_total_ps"] == 600_000_000
    no_gap = [
        ("send", 1000, 10),
        ("send-done", 1010, 20),
        ("recv", 1030, 5),
        ("recv-done", 1035, 50),
    ]
    assert _row(tmp_path, no_gap, timestamp_ns=1_790_000_000_123_456_789)["slack_total_ps"] == 0


def test_8_no_slack_is_infinite_bandwidth_and_not_a_number(tmp_path: Path) -> None:
    row = _row(
        tmp_path, [("send", 0, 10), ("send-done", 10, 20), ("recv", 30, 5), ("recv-done", 35, 50)]
    )
    assert row["required_bandwidth_bps"] is row["required_bandwidth_gbps"] is None
    assert row["required_bandwidth_note"] == "infinite (no slack)"


def test_9_programs_with_the_same_rendezvous_name_have_rows_of_their_own(tmp_path: Path) -> None:
    small = Collective(transfer_type="ALL_GATHER", payload=array(F32, 8), suffix=".9")
    programs = {PROGRAM: [Collective()], "jit_b(78)": [small]}
    core = Core(
        [(PROGRAM, 0, 2000), ("jit_b(78)", 2500, 2000)],
        [documented(100) + documented(2600, ".9")],
        collectives=[Collective(), small],
    )
    rows = _core(tmp_path, core, programs=programs)["rows"]
    assert [(r["program"], r["transfer_type"], r["payload_bytes"]) for r in rows] == [
        ("jit_b(78)", "ALL_GATHER", 32),
        (PROGRAM, "ALL_REDUCE", 2097152),
    ]


def test_10_each_of_two_outstanding_sends_keeps_its_start(tmp_path: Path) -> None:
    row = _row(tmp_path, sorted(documented(1000) + documented(1060), key=lambda op: op[1]))
    assert (row["occurrences"], row["observed_ms"], row["slack_total_ps"]) == (
        2,
        0.685,
        1_090_000_000,
    )


@pytest.mark.parametrize(
    "unknown",
    [
        Collective(transfer_type="RAGGED_ALL_TO_ALL"),
        Collective(transfer_type=""),
        Collective(target="", info_slices=0),
        Collective(payload=array(99, 8)),
    ],
)
def test_11_an_unknown_size_is_unknown_and_not_zero(tmp_path: Path, unknown: Collective) -> None:
    row = _row(tmp_path, documented(), collectives=[unknown])
    assert row["bytes"] is row["bytes_exact"] is row["required_bandwidth_bps"] is None
    assert row["required_bandwidth_note"] == "unknown size"


def test_12_host_callbacks_are_neither_rows_nor_taken_from_slack(tmp_path: Path) -> None:
    callback = Collective(
        "host_compute_3", "", ".9", handler="tf_rendezvous", target="", info_slices=0
    )
    callbacks = [("send.9", 1020.0, 30.0), ("recv-done.9", 1500.0, 40.0)]
    ops = sorted([*documented(1000), *callbacks], key=lambda op: op[1])
    core = Core([(PROGRAM, 0, 5000)], [ops], collectives=[Collective(), callback])
    table = _core(tmp_path, core)
    assert (len(table["rows"]), table["dcn_ops"]) == (1, 4)
    assert table["rows"][0]["slack_total_ps"] == 600_000_000


def test_13_a_fraction_of_a_byte_is_kept(tmp_path: Path) -> None:
    row = _row(
        tmp_path, documented(), collectives=[Collective(payload=array(F32, 25), info_slices=3)]
    )
    assert row["bytes_exact"] == [400, 3]


def test_14_every_core_of_a_host_counts(tmp_path: Path) -> None:
    cores = [Core([(PROGRAM, 0, 5000)], [documented(1000 + n)], number=n) for n in range(4)]
    document = _document(write(tmp_path, profile(*cores)))
    assert list(document["hosts"]["host0"]["cores"]) == ["0", "1", "2", "3"]
    assert document["hosts"]["host0"]["all_cores"][0]["occurrences"] == 4
    assert document["all_hosts"]["core0_only"][0]["occurrences"] == 1


def test_15_a_send_at_time_zero_is_a_send(tmp_path: Path) -> None:
    assert _row(tmp_path, documented(0))["occurrences"] == 1


def test_16_ops_past_the_module_end_on_other_lines_and_out_of_order_count(tmp_path: Path) -> None:
    module = [(PROGRAM, 0, 1684.999922)]
    assert len(_core(tmp_path, Core(module, [documented(1000)]))["rows"]) == 1
    later, earlier = documented(1000)[2:], documented(1000)[:2]
    assert len(_core(tmp_path, Core(module, [later, earlier]))["rows"]) == 1
    assert len(_core(tmp_path, Core(module, [documented(1000)[::-1]]))["rows"]) == 1


def test_17_ops_without_hlo_are_counted_and_named(tmp_path: Path) -> None:
    document = _document(
        write(tmp_path, profile(Core([(PROGRAM, 0, 5000)], [documented()]), programs={}))
    )
    table = document["hosts"]["host0"]["cores"]["0"]
    assert (
        table["rows"],
        table["dcn_ops"],
        table["dcn_ops_without_hlo"],
        table["dcn_ops_unidentified"],
    ) == (
        [],
        4,
        4,
        4,
    )
    assert any(
        "could not be identified" in p["what"] and p["count"] == 4 for p in document["problems"]
    )


def test_17_a_host_without_collectives_does_not_empty_the_others(tmp_path: Path) -> None:
    write(tmp_path, profile(Core([NOWHERE], [[]], collectives=())), "host0")
    write(tmp_path, profile(Core([(PROGRAM, 0, 5000)], [documented()])), "host1")
    document = _document(tmp_path)
    assert list(document["hosts"]) == ["host0", "host1"]
    assert document["all_hosts"]["all_cores"][0]["occurrences"] == 1


def test_18_a_profile_without_core_0_is_read(tmp_path: Path) -> None:
    table = _core(tmp_path, Core([(PROGRAM, 0, 5000)], [documented()], number=1), core="1")
    assert table["rows"][0]["occurrences"] == 1


def test_19_a_tuple_payload_counts_all_its_arrays(tmp_path: Path) -> None:
    both = tuple_of(array(F32, 100), tuple_of(array(16, 8)))
    row = _row(tmp_path, documented(), collectives=[Collective(payload=both)])
    assert row["payload_bytes"] == 416


def test_20_a_rewritten_profile_gives_a_new_answer(tmp_path: Path) -> None:
    write(tmp_path, profile(Core([(PROGRAM, 0, 5000)], [documented()])))
    before = _document(tmp_path)
    write(tmp_path, profile(Core([(PROGRAM, 0, 5000)], [documented() + documented(3000)])))
    write(tmp_path, profile(Core([(PROGRAM, 0, 5000)], [documented()])), "host1")
    after = _document(tmp_path)
    assert [r["occurrences"] for r in before["all_hosts"]["all_cores"]] == [1]
    assert [r["occurrences"] for r in after["all_hosts"]["all_cores"]] == [3]


def test_21_asking_for_one_host_first_changes_no_later_answer(tmp_path: Path) -> None:
    one = write(tmp_path, profile(Core([(PROGRAM, 0, 5000)], [documented()])), "host0")
    write(tmp_path, profile(Core([(PROGRAM, 0, 5000)], [documented()])), "host1")
    before = _document(tmp_path)
    _document(one)
    assert _document(tmp_path) == before
    assert before["all_hosts"]["all_cores"][0]["occurrences"] == 2


def test_22_nothing_is_written_beside_the_profile(tmp_path: Path) -> None:
    path = write(tmp_path, profile(Core([(PROGRAM, 0, 5000)], [documented()])))
    _document(path)
    assert os.listdir(tmp_path) == ["host0.xplane.pb"]


def test_23_a_single_file_has_the_table_over_all_hosts(tmp_path: Path) -> None:
    path = write(tmp_path, profile(Core([(PROGRAM, 0, 5000)], [documented()])))
    assert len(_document(path)["all_hosts"]["all_cores"]) == 1


def test_a_core_that_was_idle_costs_the_others_nothing(tmp_path: Path) -> None:
    idle = Core([], [[]], number=1, timestamp_ns=1_700_000_000_000_000_000)
    tables = _document(write(tmp_path, profile(Core([(PROGRAM, 0, 5000)], [documented()]), idle)))[
        "hosts"
    ]["host0"]
    assert [len(table["rows"]) for table in tables["cores"].values()] == [1, 0]

"""Memory by op: what was taken and given back, by whom, and in which window."""

from __future__ import annotations

from typing import Any

from torch_traces import profile_of, range_

from stepscope.lenses.trace.allocations import Allocated
from stepscope.model.profile import Profile


def memory(at: float, delta: int, address: int, total: int) -> dict[str, Any]:
    args = {
        "Bytes": delta,
        "Addr": address,
        "Device Type": 0,
        "Device Id": -1,
        "Total Allocated": total,
    }
    return {
        "ph": "i",
        "cat": "cpu_instant_event",
        "name": "[memory]",
        "pid": 1,
        "tid": 1,
        "ts": at,
        "args": args,
    }


def traced() -> Profile:
    return profile_of(
        range_("aten::zeros", 0, 10, cat="cpu_op"),
        range_("aten::empty", 2, 5, cat="cpu_op"),
        memory(3, 100, 1, 100),
        range_("aten::relu", 20, 10, cat="cpu_op"),
        memory(22, 40, 2, 140),
        memory(25, -100, 1, 40),
        memory(50, -7, 9, 33),
    )


def rows(found: list[dict[str, Any]]) -> dict[str, tuple[int, ...]]:
    keys = (
        "self_allocations",
        "self_allocated_bytes",
        "self_released_bytes",
        "allocated_bytes",
        "increase_bytes",
    )
    return {row["name"]: tuple(row[key] for key in keys) for row in found}


def test_ops_have_what_they_allocate_themselves_and_with_what_they_call() -> None:
    assert rows(Allocated(traced()).ops(0)) == {
        "aten::empty": (1, 100, 0, 100, 100),
        "aten::relu": (1, 40, 100, 40, -60),
        "aten::zeros": (0, 0, 0, 100, 100),
        "": (0, 0, 7, 0, -7),
    }


def test_a_window_leaves_only_its_events() -> None:
    assert rows(Allocated(traced()).ops(0, 20_000, 24_000)) == {"aten::relu": (1, 40, 0, 40, 40)}


def test_blocks_know_when_they_were_taken_and_given_back_and_what_called_their_op() -> None:
    found = Allocated(traced()).events(0)
    assert found["count"] == 3
    assert [
        (b["name"], b["caller"], b["bytes"], b["allocated_ps"], b["released_ps"])
        for b in found["events"]
    ] == [
        ("aten::empty", "aten::zeros", 100, 3_000_000, 25_000_000),
        ("aten::relu", "", 40, 22_000_000, None),
        ("", "", 7, None, 50_000_000),
    ]


def test_small_blocks_can_be_left_out() -> None:
    assert [
        block["bytes"] for block in Allocated(traced()).events(0, least_bytes=40)["events"]
    ] == [100, 40]

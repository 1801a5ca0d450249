"""Ops by shape and kernels by launch: every figure of real traces equals the reference."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

import pytest
from torch_reference import reference, right_walk
from torch_traces import TRACES, profile_of, range_, read_golden

from stepscope.lenses.trace import tables

OURS = ("calls", "host_total_ps", "host_ps", "device_ps", "device_total_ps")


@pytest.mark.usefixtures("shared")
@pytest.mark.parametrize("name", TRACES)
def test_tables_of_real_traces_equal_the_reference(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tables, "MAX_ROWS", 10**6)
    profile = read_golden(name)
    right = right_walk(name)
    expected = {}
    for (category, op, shape), row in right.table(by_shape=True).items():
        if category != "user_annotation":
            expected[op, shape] = row
    found = {
        (row["name"], row["input_shape"] or "[]"): tuple(
            row[field] if field == "calls" else row[field] // 1000 for field in OURS
        )
        for row in tables.ops_by_shape(profile)["rows"]
    }
    assert found == expected
    kernels = [
        (
            row["name"],
            row["calls"],
            *(row[field] // 1000 for field in ("total_ps", "min_ps", "max_ps")),
        )
        for row in tables.kernels(profile)["rows"]
    ]
    fields = ("calls", "total_ns", "min_ns", "max_ns")
    assert _merged(kernels) == _merged(
        (key.split("\t")[1], *(row[field] for field in fields))
        for key, row in reference(name)["device"].items()
    )
    by_op: dict[str, Counter[str]] = {}
    for row in tables.kernels(profile, by_launch=True)["rows"]:
        if row["op"]:
            by_op.setdefault(row["name"], Counter())[row["op"]] += row["total_ps"] // 1000
    assert by_op == right.kernel_by_op


def _merged(rows: Iterable[tuple[Any, ...]]) -> dict[str, tuple[int, int, int, int]]:
    """Calls, sum, least and most by name: work of one name may be of several categories."""
    found: dict[str, tuple[int, int, int, int]] = {}
    for name, calls, total, least, most in rows:
        before = found.get(name, (0, 0, least, most))
        found[name] = (
            before[0] + calls,
            before[1] + total,
            min(before[2], least),
            max(before[3], most),
        )
    return found


def test_kernels_of_one_name_are_told_apart_by_how_they_were_launched() -> None:
    def kernel(number: int, start: float, duration: float, blocks: float) -> dict[str, object]:
        args = {
            "correlation": number,
            "device": 0,
            "stream": 7,
            "grid": [number, 1, 1],
            "blocks per SM": blocks,
        }
        return range_("k", start, duration, cat="kernel", pid=0, tid=7, **args)

    profile = profile_of(
        range_("aten::mm", 0, 10, cat="cpu_op"),
        range_("launch", 1, 1, cat="cuda_runtime", correlation=1),
        range_("launch", 3, 1, cat="cuda_runtime", correlation=2),
        kernel(1, 5, 3, 1.0),
        kernel(2, 9, 1, 5.0),
    )
    (row,) = tables.kernels(profile)["rows"]
    assert (row["calls"], row["total_ps"], row["min_ps"], row["max_ps"]) == (
        2,
        4_000_000,
        1_000_000,
        3_000_000,
    )
    assert row["blocks_per_sm"] == 2.0
    rows = tables.kernels(profile, by_launch=True)["rows"]
    assert [(row["op"], row["grid"]) for row in rows] == [
        ("aten::mm", "[1, 1, 1]"),
        ("aten::mm", "[2, 1, 1]"),
    ]

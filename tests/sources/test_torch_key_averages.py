"""Torch's own tables of the traces that it wrote: every row equal, or listed here with its reason."""

from __future__ import annotations

import functools
import gzip
import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from torch_tables import Tables, tables

from paths import SHARED
from stepscope.lenses.trace.allocations import Allocated
from stepscope.model.profile import Profile
from stepscope.sources import torch_trace

GOLDEN = SHARED / "golden" / "torch"
TRACES = sorted(p.parent.name for p in GOLDEN.glob("*/torch.key_averages.json.gz")) or ["absent"]

STEPS = "torch adds steps up as ProfilerStep*; here each has its name"
FRAMES = "torch lists Python frames among ops; here they are the code view's"
RANGES = "where Python frames are traced, torch takes those in a range off its own time and memory"
RECURSION = "torch counts what a call within one of the same op takes twice in the op's total memory; here once"
ADDED_UP = "gpt_acc_events"
"""A folder of traces whose tables hold the cycles before, too (acc_events): compared with the sum of the cycles."""
_FRAME = re.compile(r".*\(\d+\): .*|<.*")

Row = tuple[int, ...]


@functools.lru_cache(4)
def _profile(name: str) -> Profile:
    path = SHARED / "data" / "torch" / (name.replace("~", "/") + ".json.gz")
    profile = torch_trace.read(path if path.exists() else path.with_suffix("")).records[0].record
    assert isinstance(profile, Profile)
    return profile


def _golden(name: str, file: str) -> Any:
    return json.loads(gzip.decompress((GOLDEN / name / f"{file}.json.gz").read_bytes()))


def _cycles(name: str) -> list[str]:
    """The traces that torch's table of a trace is about."""
    if ADDED_UP not in name:
        return [name]
    return [other for other in TRACES if ADDED_UP in other and other <= name]


def _sum(rows: Iterable[Row]) -> Row:
    return tuple(map(sum, zip(*rows, strict=True)))


def _folded(name: str, group: str) -> dict[tuple[str, ...], Row]:
    """Calls, total and self time as torch counts them: the only call of an op, when of the same op, is no call."""
    found: Tables = tables(_profile(name))
    reference = _golden(name, "ref")[group]
    rows: dict[tuple[str, ...], list[Row]] = defaultdict(list)
    for key, (calls, total, own, *_) in getattr(found, group).items():
        fold = reference.get("\t".join(key), {})
        shown = (*key[:2], *(_as_torch_shows(shape) for shape in key[2:]))
        rows[shown].append(
            (calls - fold.get("folded_calls", 0), total - fold.get("folded_total_ns", 0), own)
        )
    return {key: _sum(several) for key, several in rows.items()}


def _as_torch_shows(shape: str) -> str:
    """A list of tensors is shown as []; the trace has its tensors' shapes."""
    return json.dumps(
        [[] if part and isinstance(part[0], list) else part for part in json.loads(shape)]
    )


def _ours(name: str, group: str) -> dict[tuple[str, ...], Row]:
    rows: dict[tuple[str, ...], list[Row]] = defaultdict(list)
    for cycle in _cycles(name):
        for key, row in _folded(cycle, group).items():
            rows[key].append(row)
    return {key: _sum(several) for key, several in rows.items()}


def _key(row: dict[str, Any]) -> tuple[str, str]:
    kind = (
        "user_annotation"
        if row["is_user_annotation"] or row["key"].startswith("nn.Module: ")
        else "cpu_op"
    )
    return kind, row["key"].removeprefix("nn.Module: ")


def _times(row: dict[str, Any]) -> Row:
    return (
        row["count"],
        round(row["cpu_time_total"] * 1000),
        round(row["self_cpu_time_total"] * 1000),
    )


def _difference(row: dict[str, Any], ours: dict[tuple[str, ...], Row], has_frames: bool) -> str:
    """Why a row of torch's is not one of ours; '' where it is, and the rows where nothing says why."""
    key, times = _key(row), _times(row)
    if key[1] == "ProfilerStep*":
        steps = _sum(
            steps for (_, name, *_), steps in ours.items() if name.startswith("ProfilerStep#")
        )
        return (
            STEPS if steps[:2] == times[:2] and (has_frames or steps == times) else f"{steps} {row}"
        )
    if key not in ours:
        return FRAMES if has_frames and _FRAME.fullmatch(row["key"]) else f"not found: {row}"
    if ours[key] == times:
        return ""
    return (
        RANGES
        if has_frames and key[0] == "user_annotation" and ours[key][:2] == times[:2]
        else f"{ours[key]} {row}"
    )


@pytest.mark.usefixtures("shared")
@pytest.mark.parametrize("name", TRACES)
def test_calls_and_times_of_every_row_of_torch_are_ours(name: str) -> None:
    ours, rows = _ours(name, "ops"), _golden(name, "torch.key_averages")["key_averages"]
    why = Counter(_difference(row, ours, _profile(name).has_traces) for row in rows)
    print(f"{name}: {why.pop('', 0)} of {len(rows)} rows of torch are ours; {dict(why)}")
    assert set(why) <= {STEPS, FRAMES, RANGES}
    named = {key[1] for key in map(_key, rows)} | {"ProfilerStep*"}
    assert {name for _, name in ours if not name.startswith("ProfilerStep#")} <= named


@pytest.mark.usefixtures("shared")
@pytest.mark.parametrize("name", TRACES)
def test_ops_by_input_shape_are_those_of_torch(name: str) -> None:
    ours = _ours(name, "ops_by_shape")
    rows = [
        row
        for row in _golden(name, "torch.key_averages")["key_averages_by_input_shape"]
        if _key(row)[0] == "cpu_op"
    ]
    shaped = {
        (*_key(row), json.dumps(row["input_shapes"])): _times(row)
        for row in rows
        if row.get("input_shapes")
    }
    print(f"{name}: {len(shaped)} ops by input shape")
    assert {key: ours.get(key) for key in shaped} == shaped


@pytest.mark.usefixtures("shared")
@pytest.mark.parametrize("name", TRACES)
def test_memory_of_every_op_is_that_of_torch(name: str) -> None:
    held, rows = Allocated(_profile(name)), _golden(name, "torch.key_averages")["key_averages"]
    if not held.devices:
        assert not any(row.get("cpu_memory_usage") for row in rows)
        return
    ops = {row["name"]: row for row in held.ops(held.devices.index("CPU"))}
    kinds = {op: kind for kind, op in tables(_profile(name)).ops}
    why: Counter[str] = Counter()
    for row in rows:
        if row["key"] in kinds:
            own, total = (
                ops.get(row["key"], {}).get(field, 0)
                for field in ("self_increase_bytes", "increase_bytes")
            )
            same_own, same_total = (
                own == row["self_cpu_memory_usage"],
                total == row["cpu_memory_usage"],
            )
            in_range = (
                kinds[row["key"]] == "user_annotation" and same_total and _profile(name).has_traces
            )
            in_itself = same_own and 0 < total < row["cpu_memory_usage"]
            why[
                ""
                if same_own and same_total
                else RANGES
                if in_range
                else RECURSION
                if in_itself
                else str(row)
            ] += 1
    print(f"{name}: memory of {why.pop('', 0)} ops and ranges is that of torch; {dict(why)}")
    assert set(why) <= {RANGES, RECURSION}


def test_traces_of_one_folder_are_told_apart_by_their_stamp(shared: Path) -> None:
    assert [len(_cycles(name)) for name in TRACES if "acc_events" in name] == [1, 2]

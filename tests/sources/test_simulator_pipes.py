"""Instruction traces of the simulator are profiles by core, pipe and instruction."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from stepscope.errors import DamagedSource
from stepscope.model.profile import Profile
from stepscope.sources import registry


def event(pipe: str, name: str, start: float, duration: float, **more: Any) -> dict[str, Any]:
    return {
        "ph": "X",
        "pid": "core0.veccore0",
        "tid": pipe,
        "ts": start,
        "dur": duration,
        "name": name,
    } | more


EVENTS = [
    event("MTE2", "MOV_OUT_TO_UB", 1.0064865350723267, 0.5),
    event("MTE2", "MOV_OUT_TO_UB", 1.2, 0.5),
    event("VECTOR", "VADD", 2.0, 0.25),
    {"ph": "B", "pid": "core0.veccore0", "tid": "MTE2", "ts": 1.0, "name": "SET_FLAG"},
]


def read(path: Path) -> Profile:
    record = registry.read(path).records[0].record
    assert isinstance(record, Profile)
    record.validate()
    return record


def write(path: Path, events: list[Any]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"traceEvents": events}))
    return path


def test_executions_are_summed_by_instruction_and_may_overlap(tmp_path: Path) -> None:
    profile = read(write(tmp_path / "trace.json", EVENTS))
    names = [profile.strings[int(name)] for name in profile.nodes.name]
    assert names == ["core0.veccore0/MTE2/MOV_OUT_TO_UB", "core0.veccore0/VECTOR/VADD"]
    assert profile.node_steps.accelerator_ticks.tolist() == [1_000_000, 250_000]
    assert profile.node_steps.run_count.tolist() == [2, 1]
    assert profile.executions.start_ticks.tolist() == [0, 193_513, 993_513]


def test_a_folder_of_cores_is_one_profile(tmp_path: Path) -> None:
    write(tmp_path / "core0.veccore0" / "trace.json", EVENTS)
    anonymous = event("CUBE", "MMAD", 3.0, 1.0)
    del anonymous["pid"]
    write(tmp_path / "core0.cubecore0" / "trace.json", [anonymous])
    profile = read(tmp_path)
    lanes = [profile.strings[int(device)] for device in profile.lanes.device]
    assert sorted(set(lanes)) == ["core0.cubecore0", "core0.veccore0"]
    assert len(profile.executions) == 4


def test_events_without_a_pipe_or_time_are_counted(tmp_path: Path) -> None:
    odd = [
        event("nowhere", "X", 1.0, 1.0),
        event("CUBE", "X", 1.0, 1.0, dur=None),
        event("CUBE", "X", 1e300, 1.0),
    ]
    assert read(write(tmp_path / "t.json", EVENTS + odd)).header.losses[0].count == 3


def test_a_trace_without_an_instruction_is_damage(tmp_path: Path) -> None:
    with pytest.raises(DamagedSource, match="without an instruction"):
        registry.read(write(tmp_path / "t.json", EVENTS[3:]))

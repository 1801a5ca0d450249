"""Whatever stands in a case's or a capture's JSON, it is read or refused with a clear error."""

from __future__ import annotations

import contextlib
import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stepscope.errors import DamagedSource, StepscopeError
from stepscope.lenses.incore import InCoreOptions, analyze
from stepscope.model.incore import InCore
from stepscope.sources import incore as incore_matrix
from stepscope.sources import swimlane

ODD = [None, True, -1, 1.5, 1 << 64, -(1 << 63), 1 << 80, "", "x", [], [None], [[]], {}, {"a": 1}]
CASE = {
    "case": "c",
    "input": {
        "timing": "timing.npy",
        "shape": [2, 5],
        "dims": ["slot", "field"],
        "columns": {"entry": 0, "body_done": {"column": 4, "kind": "drained", "meaning": "x"}},
        "boundaries": [
            {"name": "a", "column": 0, "reduce": "min"},
            {"name": "b", "column": 4, "reduce": "max"},
        ],
        "participating": [0, 1],
        "producers": [1],
        "generation": {"column": 1, "expected": {"base": "20", "per_invocation": 1}},
        "slot_map": {
            "kind": "table",
            "slots": [{"slot": 0, "name": "AIC_0", "engine": "aic", "core": 0}],
        },
        "l2": {"unit": "cycles", "M0": "1", "M1": "90", "epoch": "e"},
        "pairs": [
            {
                "pair": 0,
                "order": "x",
                "merged": {"M0": "1", "B": "2", "A": "3", "M1": "4"},
                "split": None,
            }
        ],
        "split_runs": [{"run": 0, "P0": "1", "P1": "2", "C0": "3", "C1": "4"}],
        "read_pairs": [[1, 2]],
        "instrumented_total_cycles": [5],
        "clock_freq_hz": 50_000_000,
    },
}
CYCLES = {
    "chip_swimlane_level": 4,
    "metadata": {
        "clock_freq_hz": 50_000_000,
        "core_types": ["aic"],
        "host_capture": {"dropped_records": 0},
    },
    "aicore_tasks": [[0, 7, 1, 1010, 1050, 4, 2]],
    "scheduler_tasks": {"producer": "aicpu", "records": [[0, 1, 1003, 1060, 2]]},
    "scheduler_records": {
        "streams": [
            {
                "scheduler_id": 0,
                "capture": {"dropped": 1},
                "records": [{"start_cycles": 1, "end_cycles": 2}],
            }
        ]
    },
    "aicpu_orchestrator_phases": [
        [{"submit_idx": 0, "task_id": 7, "start_cycles": 1, "end_cycles": 2}]
    ],
}
MICROS = {
    "version": 1,
    "tasks": [
        {
            "task_id": 4,
            "func_id": 1,
            "core_id": 2,
            "start_time_us": 1.0,
            "end_time_us": 2.5,
            "fanout": [5],
        },
    ],
    "aicpu_scheduler_phases": [
        [{"start_time_us": 1.0, "end_time_us": 2.0, "phase": "p", "task_id": 4}]
    ],
}
TRACE = {
    "traceEvents": [
        {"ph": "M", "pid": 4, "name": "process_name", "args": {"name": "Worker View"}},
        {"ph": "M", "pid": 4, "tid": 1, "name": "thread_name", "args": {"name": "AIC_0"}},
        {
            "ph": "X",
            "pid": 4,
            "tid": 1,
            "ts": 1.5,
            "dur": 2.0,
            "name": "a(t0)",
            "args": {"taskId": 0},
        },
        {
            "ph": "X",
            "pid": 2,
            "tid": 1,
            "ts": 1.5,
            "dur": 2.0,
            "cat": "scheduler",
            "args": {"phase": "p"},
        },
    ]
}
DEPS = {
    "tasks": [{"task_id": "7", "kernel_ids": [0, -1, -1]}],
    "edges": [{"pred": "7", "succ": "8"}],
}


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every place in a JSON value, by its keys and indices."""
    items = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    for key, inner in items:
        yield (*path, key)
        yield from places(inner, (*path, key))


@st.composite
def damaged(draw: st.DrawFn, document: dict[str, Any]) -> dict[str, Any]:
    """The document with one value taken away or replaced."""
    result = copy.deepcopy(document)
    *path, last = draw(st.sampled_from(list(places(document))))
    at: Any = result
    for key in path:
        at = at[key]
    if isinstance(at, dict) and draw(st.booleans()):
        del at[last]
    else:
        at[last] = draw(st.sampled_from(ODD))
    return result


def check(record: Any) -> None:
    record.validate()
    if isinstance(record, InCore):
        json.dumps(analyze(record, InCoreOptions(detail="tasks")).to_json())


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("damage")
    np.save(path / "timing.npy", np.array([[10, 20, 30, 40, 50], [11, 20, 31, 41, 51]]))
    return path


@settings(deadline=None, max_examples=300)
@given(damaged(CASE))
def test_a_damaged_case_is_read_or_refused(folder: Path, document: dict[str, Any]) -> None:
    (folder / "case.json").write_text(json.dumps(document))
    with contextlib.suppress(StepscopeError):
        for named in incore_matrix.read(folder).records:
            check(named.record)


@settings(deadline=None, max_examples=300)
@given(
    st.sampled_from([CYCLES, MICROS, TRACE]).flatmap(damaged),
    st.one_of(st.just(DEPS), damaged(DEPS)),
)
def test_a_damaged_capture_is_read_or_refused(
    folder: Path, document: dict[str, Any], deps: dict[str, Any]
) -> None:
    (folder / "records.json").write_text(json.dumps(document))
    (folder / "deps.json").write_text(json.dumps(deps))
    with contextlib.suppress(StepscopeError):
        for named in swimlane.read(folder / "records.json").records:
            check(named.record)


@pytest.mark.parametrize(
    "header",
    [
        "{'descr': '<i8', 'fortran_order': False, 'shape': (2, 5), ",
        "{'descr': '<i8', 'fortran_order': False, 'shape': (2, 99999999999999999999999999)}",
        "{'descr': '<i8', 'fortran_order': False, 'shape': (2, 1 << 40)}",
        "{'descr': '<i8', 'fortran_order': False, 'shape': (1099511627776, 5)}",
        "{'descr': '<i8', 'fortran_order': False, 'shape': (-2, 5)}",
        "{'descr': 'O', 'fortran_order': False, 'shape': (2, 5)}",
        "{'descr': (), 'fortran_order': False, 'shape': (2, 5)}",
        "{'descr': '<i8', 'fortran_order': False, 'shape': (2L, 5L)}",
        "(" * 400,
        "\0" * 40,
    ],
)
def test_a_numpy_file_with_a_broken_header_is_refused(folder: Path, header: str) -> None:
    text = header.encode("latin1") + b"\n"
    (folder / "timing.npy").write_bytes(
        b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text + bytes(80)
    )
    (folder / "case.json").write_text(json.dumps(CASE))
    with pytest.raises(DamagedSource, match=r"timing\.npy: a broken \.npy file"):
        incore_matrix.read(folder)

"""Chrome traces that were made from captures show the same tasks."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from stepscope.errors import DamagedSource
from stepscope.lenses.incore import analyze
from stepscope.model.incore import InCore
from stepscope.sources import registry


def name(pid: int, text: str, tid: int | None = None) -> dict[str, Any]:
    event = {
        "ph": "M",
        "pid": pid,
        "name": "process_name" if tid is None else "thread_name",
        "args": {"name": text},
    }
    return event if tid is None else event | {"tid": tid}


def bar(
    pid: int, tid: int, start: float, duration: float, label: str, **args: Any
) -> dict[str, Any]:
    return {
        "ph": "X",
        "pid": pid,
        "tid": tid,
        "ts": start,
        "dur": duration,
        "name": label,
        "args": args,
    }


def read(folder: Path, events: list[Any]) -> InCore:
    path = folder / "trace.json"
    path.write_text(json.dumps({"traceEvents": events}))
    record = registry.read(path).records[0].record
    assert isinstance(record, InCore)
    return record


MERGED = [
    name(4, "Worker View"),
    name(3, "Scheduler View"),
    name(4, "AIC_0", 10000),
    name(4, "AIV_3", 10030),
    name(4, "AICPU_0", 19000),
    bar(4, 10000, 1.54, 4.58, "pv_matmul(t0)", taskId=0, local_setup_us=0.76),
    bar(4, 10030, 6.5, 1.25, "rope(r1t2)", taskId=(1 << 32) + 2),
    bar(4, 19000, 6.0, 0.1, "dummy(t9)", taskId=9),
    bar(3, 10000, 0.72, 6.56, "pv_matmul(t0)", taskId=0),
    bar(2, 1, 0.7, 0.04, "dispatch(1)", phase="dispatch") | {"cat": "scheduler"},
]


def test_the_workers_view_is_taken_once_and_a_bar_starts_after_its_setup(tmp_path: Path) -> None:
    record = read(tmp_path, MERGED)
    found = analyze(record).to_json()
    assert found["task_bounds_ns"] == {
        "0": ["2300", "6120", 1],
        str((1 << 32) + 2): ["6500", "7750", 1],
    }
    assert found["busy_ns_per_core"] == {"0": 3820, "3": 1250}
    assert [record.text(int(n)) for n in record.functions.name] == ["pv_matmul", "rope"]
    assert record.tasks.receive.tolist() == [1540, -1]
    assert len(record.activities) == 1


def test_blocks_give_their_cores_in_the_arguments(tmp_path: Path) -> None:
    events = [
        name(0, "block0"),
        name(0, "AIC (core0)", 0),
        bar(0, 0, 5.041, 2.5, "GEMM#24", task_id=24, func_id=0, core=0, name="GEMM"),
        bar(0, 2, 9.0, 1.001, "ADD#1", task_id=1, func_id=1, core=25, name="ADD"),
    ]
    found = analyze(read(tmp_path, events)).to_json()
    assert found["busy_ns_per_core"] == {"0": 2500, "25": 1001}
    assert found["per_func_rows"]["1"]["name"] == "ADD"


def test_bars_that_name_no_task_are_counted(tmp_path: Path) -> None:
    record = read(
        tmp_path, [*MERGED, bar(4, 10000, 9.0, 1.0, "?"), {"ph": "X", "pid": 4, "tid": 10000}, 3]
    )
    assert record.header.losses[0].count == 2


def test_a_core_of_thousands_of_digits_is_none(tmp_path: Path) -> None:
    record = read(
        tmp_path, [*MERGED, name(4, "AIV_" + "9" * 5000, 7), bar(4, 7, 9.0, 1.0, "x(t1)", taskId=1)]
    )
    assert record.header.losses[0].count == 1


def test_a_trace_of_cores_without_a_task_is_no_empty_chart(tmp_path: Path) -> None:
    with pytest.raises(DamagedSource, match="without a task"):
        read(tmp_path, MERGED[:5])


def test_the_real_trace_has_its_rows_and_sums(shared: Path) -> None:
    folder = shared / "data" / "swimlane" / "12_real_dist_fullcore"
    expected = json.loads((folder / "SAMPLE.json").read_text())
    found = analyze(registry.read(folder).records[0].record).to_json()  # type: ignore[arg-type]
    assert found["rows"] == expected["x_events"]
    assert found["aicore_window_ns"] == [str(stamp) for stamp in expected["window_ns"]]
    functions = {
        row["name"]: (row["rows"], row["exec_ns"]) for row in found["per_func_rows"].values()
    }
    assert functions == {
        key: (row["rows"], row["sum_ns"]) for key, row in expected["per_name"].items()
    }


def test_a_converted_capture_has_the_busy_time_of_its_source(shared: Path) -> None:
    folder = shared / "golden" / "swimlane" / "01_chip_l4_small"
    source = analyze(registry.read(folder).records[0].record).to_json()  # type: ignore[arg-type]
    trace = analyze(registry.read(folder / "merged_swimlane.json").records[0].record).to_json()  # type: ignore[arg-type]
    nanoseconds = {core: busy * 20 for core, busy in source["busy_cycles_per_core"].items()}
    assert trace["busy_ns_per_core"] == nanoseconds

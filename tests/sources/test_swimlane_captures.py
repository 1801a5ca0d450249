"""Captures of on-device tasks: every generation is read exactly or refused with what was found."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from stepscope.errors import DamagedSource, OptionError, SourceError, UnsupportedSource
from stepscope.lenses.incore import InCoreOptions, analyze
from stepscope.model.incore import InCore
from stepscope.model.incore_capture import Clock
from stepscope.model.profile import Profile
from stepscope.sources import registry

RING = 1 << 32


def cycles(width: int = 6, **more: Any) -> dict[str, Any]:
    """Two tasks on three cores in cycles; task 3 of ring 1 runs on two cores."""
    rows = [
        [0, 7, 1, 1010, 1050, 4, 2],
        [1, RING + 3, 1, 1100, 1160, 5, 2],
        [2, RING + 3, 1, 1090, 1180, 6, 2],
    ]
    scheduler = [[0, 1, 1003, 1060], [1, 1, 1070, 1190], [2, 1, 1071, 1200]]
    level = {"chip_swimlane_level": 2} if width > 5 else {"l2_swimlane_level": 2}
    document: dict[str, Any] = {
        **level,
        "metadata": {"clock_freq_hz": 50_000_000, "core_types": ["aic", "aiv", "aiv"]},
        "aicore_tasks": [row[:width] for row in rows],
    }
    if width == 7:
        document["scheduler_tasks"] = {
            "producer": "aicpu",
            "records": [[*row, 2] for row in scheduler],
        }
    else:
        document["aicpu_tasks"] = scheduler
    return document | more


def micros(**more: Any) -> dict[str, Any]:
    task = {
        "task_id": 4,
        "func_id": 1,
        "core_id": 2,
        "core_type": "aiv",
        "start_time_us": 1.003,
        "end_time_us": 2.72,
    }
    return {
        "version": 1,
        "tasks": [task | {"dispatch_time_us": 0.02, "finish_time_us": 0.0, "fanout": [5, 5]}],
    } | more


def read(folder: Path, document: dict[str, Any]) -> InCore:
    path = folder / "records.json"
    path.write_text(json.dumps(document))
    record = registry.read(path).records[0].record
    assert isinstance(record, InCore)
    record.validate()
    return record


def answer(record: InCore, **options: Any) -> dict[str, Any]:
    return analyze(record, InCoreOptions(**options)).to_json()


@pytest.mark.parametrize("width", [5, 6, 7])
def test_streams_of_cycles_are_joined_by_core_and_dispatch(tmp_path: Path, width: int) -> None:
    found = answer(read(tmp_path, cycles(width)))
    assert found["rows"] == 3
    assert found["logical_tasks"] == 2
    assert found["aicore_window_cycles"] == ["1010", "1180"]
    assert found["dispatch_finish_window_cycles"] == ["1003", "1200"]
    assert found["busy_cycles_per_core"] == {"0": 40, "1": 60, "2": 90}
    assert found["task_bounds_cycles"] == {
        "7": ["1010", "1050", 1],
        str(RING + 3): ["1090", "1180", 2],
    }
    assert found["base_time_cycles"] == "1003"


def test_time_zero_counts_the_receipt_of_a_task(tmp_path: Path) -> None:
    record = read(tmp_path, cycles(aicpu_tasks=[], chip_swimlane_level=1))
    assert record.capture_base == "1006"
    assert record.tasks.receive.tolist() == [0, 89, 78]
    assert record.tasks.dispatch.tolist() == [-1, -1, -1]


def test_a_task_id_above_two_to_the_53_stays_exact(tmp_path: Path) -> None:
    task = (1 << 63) + 12345678901
    document = cycles()
    document["aicore_tasks"][0][1] = task
    assert str(task) in answer(read(tmp_path, document))["task_bounds_cycles"]


def test_epochs_keep_equal_dispatch_numbers_apart(tmp_path: Path) -> None:
    document = cycles(7)
    document["aicore_tasks"].append([0, 8, 1, 2010, 2050, 4, 3])
    document["scheduler_tasks"]["records"].append([0, 1, 2000, 2060, 3])
    record = read(tmp_path, document)
    dispatched = dict(zip(record.tasks.task.tolist(), record.tasks.dispatch.tolist(), strict=True))
    assert dispatched[8] - dispatched[7] == 2000 - 1003


def test_scheduled_tasks_without_a_core_row_are_counted(tmp_path: Path) -> None:
    document = cycles()
    document["aicpu_tasks"] += [[2, 9, 1300, 1400], [2, 10, 1500, 1600]]
    record = read(tmp_path, document)
    assert [(loss.count, "core 2: 2" in loss.what) for loss in record.header.losses] == [(2, True)]


def test_time_zero_counts_scheduled_tasks_whose_row_was_lost(tmp_path: Path) -> None:
    document = cycles()
    document["aicpu_tasks"].append([2, 9, 990, 1400])
    assert answer(read(tmp_path, document))["base_time_cycles"] == "990"


def test_rows_that_cannot_be_joined_are_said(tmp_path: Path) -> None:
    document = cycles()
    document["aicore_tasks"] += [[0, 8, 1, 2010, 2050, 4], [1, 9, 2, 2010, 2050, 4]]
    losses = read(tmp_path, document).header.losses
    assert [(loss.count, loss.what[:11]) for loss in losses] == [
        (2, "is missing:"),
        (2, "rows have n"),
    ]


def test_broken_rows_cost_themselves_only(tmp_path: Path) -> None:
    document = cycles()
    document["aicore_tasks"] += [
        [0, 1, 2, 90, 80, 1],
        [0, 1],
        "x",
        [0, 1, 2, "a", 4, 5],
        [0, 1, 2, 0, 5, 1],
    ]
    record = read(tmp_path, document)
    assert len(record.tasks) == 3
    assert record.header.losses[0].count == 5


def test_microseconds_are_whole_nanoseconds(tmp_path: Path) -> None:
    record = read(tmp_path, micros())
    found = answer(record)
    assert found["busy_ns_per_core"] == {"2": 1717}
    assert found["task_bounds_ns"] == {"4": ["1003", "2720", 1]}
    assert found["clock_freq_hz"] is None
    assert found["edges_unique"] == 1
    assert record.tasks.finish.tolist() == [-1]


@pytest.mark.parametrize(
    ("level", "named"),
    [
        ({"version": 2}, "perf swimlane, version 2"),
        ({"version": None, "l2_perf_level": 3}, "l2 perf"),
        ({"version": None, "l2_swimlane_level": 1}, "l2 swimlane"),
    ],
)
def test_generations_in_microseconds_are_told_apart(
    tmp_path: Path, level: dict[str, Any], named: str
) -> None:
    assert read(tmp_path, micros(**level)).capture_format == f"{named}, in microseconds"


@pytest.mark.parametrize(
    ("document", "error", "message"),
    [
        (cycles(chip_swimlane_level=7), DamagedSource, "Unsupported chip_swimlane_level: 7"),
        (cycles(metadata={"clock_freq_hz": 0}), DamagedSource, "missing/zero clock_freq_hz"),
        (cycles(metadata=[]), DamagedSource, "missing/zero clock_freq_hz"),
        (
            cycles(aicpu_orchestrator_phases=[[{}]], host_orchestrator_phases=[[{}]]),
            DamagedSource,
            "clock-domain source is ambiguous",
        ),
        (cycles(aicore_tasks=[]), DamagedSource, "without a task"),
        (cycles(aicore_tasks=[[0] * 9] * 3), UnsupportedSource, "rows of 9 columns"),
        (cycles(aicore_tasks={}), DamagedSource, "aicore_tasks must be a list"),
        (micros(version=None), DamagedSource, "Missing required field: version"),
        (micros(version=9), DamagedSource, "Unsupported version: 9"),
        (
            {"chip_swimlane_level": 2, "metadata": {}, "lanes": []},
            UnsupportedSource,
            "unknown generation, with the keys chip_swimlane_level, lanes, metadata",
        ),
    ],
)
def test_what_cannot_be_read_is_refused_with_what_was_found(
    tmp_path: Path, document: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        read(tmp_path, document)


def test_a_capture_that_is_cut_off_is_damage(tmp_path: Path) -> None:
    path = tmp_path / "records.json"
    path.write_text(json.dumps(cycles())[:-5])
    with pytest.raises(DamagedSource, match="no valid JSON"):
        registry.read(path)


def neighbours(folder: Path) -> None:
    tasks = [
        {"task_id": "7", "kernel_ids": [0, -1, -1]},
        {"task_id": str(RING + 3), "kernel_ids": [-1, -1, 5]},
    ]
    edge = {"pred": "7", "succ": str(RING + 3), "source": "tensormap"}
    (folder / "deps.json").write_text(json.dumps({"tasks": tasks, "edges": [edge, edge]}))
    (folder / "name_map_x.json").write_text(
        json.dumps({"callable_id_to_name": {"0": "matmul", "5": "softmax"}})
    )


def test_dependencies_and_names_come_from_the_files_beside(tmp_path: Path) -> None:
    neighbours(tmp_path)
    found = answer(read(tmp_path, cycles()))
    assert found["edges_unique"] == 1
    assert {
        key: (row["name"], row["exec_cycles"]) for key, row in found["per_func_rows"].items()
    } == {
        "0": ("matmul", 40),
        "5": ("softmax", 150),
    }


def test_broken_files_beside_a_capture_are_a_loss(tmp_path: Path) -> None:
    (tmp_path / "deps.json").write_text("{")
    (tmp_path / "name_map_x.json").write_text('{"callable_id_to_name": 3}')
    record = read(tmp_path, cycles())
    assert [loss.where for loss in record.header.losses] == ["deps.json", "name_map_x.json"]


def test_the_profile_has_a_node_per_task_with_its_inputs(tmp_path: Path) -> None:
    neighbours(tmp_path)
    (tmp_path / "records.json").write_text(json.dumps(cycles()))
    profile = registry.read(tmp_path).records[1].record
    assert isinstance(profile, Profile)
    profile.validate()
    names = [profile.strings[int(name)] for name in profile.nodes.name]
    assert names == ["matmul(t7)", "softmax(r1t3)"]
    assert profile.tick_ps == 20_000
    assert profile.node_steps.accelerator_ticks.tolist() == [40, 150]
    assert profile.nodes.input_end.tolist() == [0, 1]
    assert profile.inputs.source.tolist() == [0]


def test_a_clock_whose_cycle_is_no_whole_picosecond_is_said(tmp_path: Path) -> None:
    metadata = {"clock_freq_hz": 19_200_000, "core_types": []}
    (tmp_path / "records.json").write_text(json.dumps(cycles(metadata=metadata)))
    profile = registry.read(tmp_path).records[1].record
    assert isinstance(profile, Profile)
    assert profile.tick_ps == 1
    assert profile.node_steps.accelerator_ticks[0] in (2_083_333, 2_083_334)
    assert "no whole number of ps" in profile.header.losses[-1].what


def test_spans_of_the_host_are_on_a_clock_of_their_own(tmp_path: Path) -> None:
    host = [[{"submit_idx": 0, "task_id": 7, "start_host_ns": 10**15, "end_host_ns": 10**15 + 9}]]
    record = read(tmp_path, cycles(host_orchestrator_phases=host))
    done = record.activities
    assert (done.clock.tolist(), done.start.tolist(), done.end.tolist()) == (
        [Clock.HOST_NS],
        [0],
        [9],
    )
    assert record.capture_base == "1003"


def test_every_row_of_a_capture_can_be_had_for_a_swimlane(tmp_path: Path) -> None:
    neighbours(tmp_path)
    phases = [[{"kind": "dispatch", "start_cycles": 1001, "end_cycles": 1004}]]
    record = read(tmp_path, cycles(aicpu_scheduler_phases=phases))
    rows = answer(record, detail="tasks")["tasks"]
    assert rows["task_ids"] == ["7", str(RING + 3)]
    assert rows["rows"]["task"] == [0, 1, 1]
    assert rows["rows"]["start"] == [9, 99, 89]
    assert (rows["activities"]["kinds"], rows["activities"]["kind"]) == (["dispatch"], [0])


def test_a_task_shows_what_it_waited_for_and_the_gap_before_it(tmp_path: Path) -> None:
    neighbours(tmp_path)
    record = read(tmp_path, cycles())
    task = answer(record, task=str(RING + 3))["task"]
    assert task["predecessors"] == [{"id": "7", "function": "matmul", "start": 7, "end": 47}]
    assert task["rows"][1] == {
        "core": 2,
        "start": 87,
        "end": 177,
        "receive": 81,
        "dispatch": 68,
        "finish": 197,
    }
    assert task["gap"] == 1090 - 1050
    first = answer(record, task="7")["task"]
    assert first["gap"] is None
    assert [row["id"] for row in first["successors"]] == [str(RING + 3)]
    for absent in ("8", "x", "-1", str(1 << 70), "9" * 5000):
        with pytest.raises(OptionError, match="no task"):
            answer(record, task=absent)


def test_captures_of_several_cards_are_records_of_their_own_and_a_bad_one_is_a_loss(
    tmp_path: Path,
) -> None:
    other = cycles(aicore_tasks=[[0, 7, 1, 1010, 1051, 4]])
    for rank, document in enumerate((cycles(), cycles(chip_swimlane_level=9), other)):
        folder = tmp_path / f"rank{rank}" / "d0"
        folder.mkdir(parents=True)
        (folder / "chip_swimlane_records.json").write_text(json.dumps(document))
    imported = registry.read(tmp_path)
    assert [(named.name, named.record.KIND) for named in imported.records] == [
        ("rank0/d0/chip_swimlane_records", "incore"),
        ("rank2/d0/chip_swimlane_records", "incore"),
        ("rank0/d0/chip_swimlane_records", "profile"),
        ("rank2/d0/chip_swimlane_records", "profile"),
    ]
    assert (
        imported.records[0].record.header.losses[0].where == "rank1/d0/chip_swimlane_records.json"
    )


def as_int(value: Any) -> Any:
    if isinstance(value, list):
        return [as_int(item) for item in value]
    if isinstance(value, dict):
        return {key: as_int(item) for key, item in value.items() if key != "name"}
    return int(value) if isinstance(value, str) and value.isdigit() else value


def test_all_captures_equal_the_integer_answers_or_are_refused(shared: Path) -> None:
    for folder in sorted((shared / "golden" / "swimlane").iterdir()):
        sample = json.loads((folder / "SAMPLE.json").read_text())
        if sample.get("reader_rc"):
            with pytest.raises(SourceError, match=sample["expected_error_contains"]):
                registry.read(folder)
            continue
        record = registry.read(folder).records[0].record
        assert isinstance(record, InCore)
        check_reader(record, folder / "reader_output.json")
        if record.clock_freq_hz and (folder / "answers_int.json").exists():
            check_answers(record, json.loads((folder / "answers_int.json").read_text()))


def check_answers(record: InCore, expected: dict[str, Any]) -> None:
    """Rows of a dropped buffer are in the answers, but not in the capture: what they touch is left out."""
    found = as_int(answer(record))
    dropped = {str(core) for core, _ in expected.get("dropped_join_keys", ())}
    lost = len(expected.get("dropped_join_keys", ()))
    assert found["rows"] == expected["rows"] - lost
    assert found["logical_tasks"] == expected["logical_tasks"]
    assert found["aicore_window_cycles"] == expected["aicore_window_cycles"]
    for core, busy in expected["busy_cycles_per_core"].items():
        assert core in dropped or found["busy_cycles_per_core"][core] == busy
    if not lost:
        bounds = expected["task_bounds_cycles_first20"]
        assert {task: found["task_bounds_cycles"][task] for task in bounds} == bounds
        assert found["dispatch_finish_window_cycles"] == expected["dispatch_finish_window_cycles"]
    if found["edges_unique"] and not lost:
        assert found["edges_unique"] == expected["edges_unique"]
        assert found["per_func_rows"] == expected["per_func_rows"]


def check_reader(record: InCore, path: Path) -> None:
    """The upstream reader's tasks, in microseconds. Mapped to a host's clock they are stretched, by less than 10 ns."""
    if not path.exists():
        return
    document = json.loads(path.read_text())
    expected = document["tasks"]
    tolerance = 0.01 if "timeline_metadata" in document else 1e-6
    tasks = record.tasks
    assert len(expected) == len(tasks)
    micros = 1e6 / record.clock_freq_hz if record.clock_freq_hz else 1e-3
    rows = sorted(expected, key=lambda row: (row["task_id"], row["core_id"], row["start_time_us"]))
    order = np.lexsort((tasks.start, tasks.core, tasks.task))
    lengths = (tasks.end - tasks.start)[order] * micros
    assert tasks.core[order].tolist() == [row["core_id"] for row in rows]
    assert lengths == pytest.approx([row["duration_us"] for row in rows], abs=tolerance)
    if not record.clock_freq_hz:
        assert (tasks.start[order] * micros) == pytest.approx(
            [row["start_time_us"] for row in rows], abs=1e-9
        )


def test_what_was_made_from_a_capture_is_not_shown_beside_it(tmp_path: Path) -> None:
    (tmp_path / "a_trace.json").write_text('{"traceEvents": [{"args": {"name": "Worker View"}}]}')
    (tmp_path / "derived.json").write_text(json.dumps(micros(chip_swimlane_level=1)))
    (tmp_path / "records.json").write_text(json.dumps(cycles()))
    assert [named.record.KIND for named in registry.read(tmp_path).records] == ["incore", "profile"]


def test_the_same_capture_twice_is_one_record(tmp_path: Path) -> None:
    for name in ("a.json", "b.json"):
        (tmp_path / name).write_text(json.dumps(micros()))
    assert [(named.name, named.record.KIND) for named in registry.read(tmp_path).records] == [
        ("swimlane", "incore"),
        ("swimlane", "profile"),
    ]


@pytest.mark.parametrize("core", [-1, 1 << 20, 1 << 40])
def test_rows_of_absurd_core_ids_are_left_out_and_counted(tmp_path: Path, core: int) -> None:
    document = cycles()
    document["aicore_tasks"].append([core, 9, 2, 1300, 1350, 4])
    record = read(tmp_path, document)
    assert record.tasks.task.tolist() == [7, RING + 3, RING + 3]
    assert [(loss.where, loss.count) for loss in record.header.losses] == [("aicore_tasks", 1)]


def test_the_largest_core_id_is_read(tmp_path: Path) -> None:
    document = cycles(aicpu_tasks=[], chip_swimlane_level=1)
    document["aicore_tasks"] = [[(1 << 20) - 1, 9, 2, 1300, 1350, 4]]
    record = read(tmp_path, document)
    assert record.tasks.core.tolist() == [(1 << 20) - 1]
    assert record.header.losses == ()

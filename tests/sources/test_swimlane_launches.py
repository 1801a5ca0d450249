"""Launches, run epochs and cores of two numberings are told apart."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from stepscope.lenses.incore import analyze
from stepscope.model.incore import InCore
from stepscope.sources import registry

CLOCK = 50_000_000


def record_of(path: Path) -> InCore:
    record = registry.read(path).records[0].record
    assert isinstance(record, InCore)
    return record


def document_of(path: Path) -> dict[str, Any]:
    return analyze(record_of(path)).to_json()


def write(folder: Path, document: dict[str, Any]) -> Path:
    path = folder / "chip_swimlane_records.json"
    path.write_text(json.dumps(document))
    return path


def capture_of(launches: int, seed: int) -> tuple[dict[str, Any], list[list[tuple[int, ...]]]]:
    """A capture of launches whose dispatch numbers restart, and its true (core, number, dispatch, finish)."""
    rng = random.Random(seed)
    rows, scheduler, truth = [], [], []
    boundaries = []
    now = 1000
    for launch in range(launches):
        boundaries.append({"epoch": launch, "start": now})
        free = [now + 200] * 3
        own = []
        for number in range(rng.randint(1, 6)):
            for core in range(3):
                if rng.random() < 0.2:
                    continue
                dispatch = free[core] + rng.randint(1, 40)
                start = dispatch + rng.randint(1, 60)
                end = start + rng.randint(1, 500)
                finish = end + rng.randint(0, 40)
                rows.append([core, number * 3 + core, number, start, end, 1])
                scheduler.append([core, number, dispatch, finish])
                own.append((core, number, start, end, dispatch, finish))
                free[core] = finish
        truth.append(sorted(own))
        now = max([*free, now]) + 2000
    rng.shuffle(rows)
    rng.shuffle(scheduler)
    metadata = {
        "clock_freq_hz": CLOCK,
        "core_types": ["aic", "aiv", "aiv"],
        "run_boundaries": boundaries,
    }
    document = {
        "chip_swimlane_level": 2,
        "metadata": metadata,
        "aicore_tasks": rows,
        "aicpu_tasks": scheduler,
    }
    return document, [own for own in truth if own]


def joined(record: InCore) -> list[list[tuple[int, ...]]]:
    base = int(record.capture_base)
    tasks = record.tasks
    launches = []
    for epoch in sorted(set(tasks.epoch.tolist())):
        own = []
        for row in range(len(tasks)):
            if tasks.epoch[row] == epoch:
                stamps = [
                    int(getattr(tasks, name)[row]) + base
                    for name in ("start", "end", "dispatch", "finish")
                ]
                own.append((int(tasks.core[row]), int(tasks.dispatch_id[row]), *stamps))
        launches.append(sorted(own))
    return launches


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("launches", [1, 2, 3])
def test_stated_launches_keep_their_own_dispatches(
    tmp_path: Path, launches: int, seed: int
) -> None:
    document, truth = capture_of(launches, seed)
    assert joined(record_of(write(tmp_path, document))) == truth


@pytest.mark.parametrize("seed", range(20))
def test_restarts_without_boundaries_never_mix_dispatches(tmp_path: Path, seed: int) -> None:
    document, truth = capture_of(3, seed)
    del document["metadata"]["run_boundaries"]
    record = record_of(write(tmp_path, document))
    flat = sorted(row for launch in joined(record) for row in launch)
    assert flat == sorted(row for launch in truth for row in launch)
    keys = [(row[0], row[1]) for launch in truth for row in launch]
    if len(keys) > len(set(keys)):
        assert any("restarts of the dispatch numbers" in loss.what for loss in record.header.losses)


def test_two_launches_are_invocations_of_their_own(shared: Path) -> None:
    folder = shared / "cases/incore"
    right = json.loads((folder / "swim_two_launches.json").read_text())
    found = document_of(folder / "swim_two_launches")
    assert found["busy_cycles_per_core"] == right["busy_cycles_per_core"]
    for number, launch in enumerate(found["launches"]):
        window = [str(stamp) for stamp in right["windows_cycles"][f"launch{number}"]]
        assert launch["aicore_window_cycles"] == window
        rows = [task for task in right["tasks"] if task["launch"] == number]
        bounds = {str(task["task"]): [str(task["start"]), str(task["end"]), 1] for task in rows}
        assert launch["task_bounds_cycles"] == bounds
        scheduler = [str(min(t["dispatch"] for t in rows)), str(max(t["finish"] for t in rows))]
        assert launch["dispatch_finish_window_cycles"] == scheduler
        assert launch["scheduling"]["head_max_cycles"] == max(t["dispatch_to_start"] for t in rows)


def test_run_epochs_have_bounds_of_their_own(shared: Path) -> None:
    folder = shared / "cases/incore"
    right = json.loads((folder / "run_epochs.right.json").read_text())["bounds"]
    launches = document_of(folder / "run_epochs")["launches"]
    for launch in launches:
        start, end = right[f"epoch {launch['epoch']}"]
        assert launch["task_bounds_cycles"]["1"][:2] == [str(start), str(end)]


def test_a_link_without_an_epoch_takes_the_one_that_holds_the_stamps(shared: Path) -> None:
    folder = shared / "cases/incore"
    right = json.loads((folder / "run_epochs_as_l2.right.json").read_text())
    record = record_of(folder / "run_epochs_as_l2")
    assert analyze(record).to_json()["l2"]["total"] == right["total"]
    assert any(loss.where == "l2.run_epoch" for loss in record.header.losses)


def test_a_link_to_a_stated_epoch_takes_its_bounds_or_names_the_choice(
    shared: Path, tmp_path: Path
) -> None:
    folder = shared / "cases/incore/run_epochs_as_l2"
    for name in ("rec.json", "timing.npy"):
        (tmp_path / name).write_bytes((folder / name).read_bytes())
    case = json.loads((folder / "case.json").read_text())
    case["l2"]["run_epoch"] = 1
    (tmp_path / "case.json").write_text(json.dumps(case))
    assert document_of(tmp_path)["l2_duration_only"]["M1-M0"] == 550
    case["l2"]["run_epoch"] = 7
    (tmp_path / "case.json").write_text(json.dumps(case))
    record = record_of(tmp_path)
    assert "l2" not in analyze(record).to_json()
    assert any("0 (1100 to 1600), 1 (5100 to 5650)" in loss.what for loss in record.header.losses)


def test_incomplete_scheduler_rows_leave_the_others_joined(shared: Path) -> None:
    folder = shared / "cases/incore"
    right = json.loads((folder / "swim_incomplete.json").read_text())
    record = record_of(folder / "swim_incomplete")
    found = analyze(record).to_json()
    assert int((record.tasks.dispatch >= 0).sum()) == right["with_dispatch"]
    assert found["busy_cycles_per_core"] == right["busy_cycles_per_core"]
    window = [str(stamp) for stamp in right["dispatch_finish_window_of_joined_rows"]]
    assert found["dispatch_finish_window_cycles"] == window


def test_cores_numbered_from_zero_each_stay_apart(shared: Path) -> None:
    folder = shared / "cases/incore"
    right = json.loads((folder / "pypto_two_numberings.answer.json").read_text())
    found = document_of(folder / "pypto_two_numberings.json")
    assert found["busy_ns_per_core"] == right["busy_ns"]
    functions = found["per_func_rows"].values()
    assert {f["name"]: f["exec_ns"] // 1000 for f in functions} == right["ops_us"]
    assert {f["name"]: f["rows"] for f in functions} == right["op_runs"]


def test_a_fake_core_is_no_core(shared: Path) -> None:
    folder = shared / "cases/incore"
    right = json.loads((folder / "pypto_machine_view.answer.json").read_text())
    record = record_of(folder / "pypto_machine_view.json")
    assert len(record.tasks) == right["tasks"]
    names = {
        slot: record.text(name)
        for slot, name in zip(record.cores.slot, record.cores.name, strict=True)
    }
    busy: dict[str, int] = {}
    for row in range(len(record.tasks)):
        name = names[record.tasks.core[row]]
        busy[name] = busy.get(name, 0) + int(record.tasks.end[row] - record.tasks.start[row])
    assert busy.keys() == right["busy_us_per_core"].keys()
    for name, micros in right["busy_us_per_core"].items():
        assert abs(busy[name] - micros * 1000) <= 6, "six bars, each rounded to whole ns"


def starved_by_counting(rows: list[tuple[int, int, int, int, int]], cores: int) -> int:
    """The starved cycles of one engine, counted one cycle at a time: (core, ready, dispatch, start, end)."""
    first, last = min(r[3] for r in rows), max(r[4] for r in rows)
    starved = 0
    for now in range(first, last):
        busy = {core for core, _, _, start, end in rows if start <= now < end}
        waits = any(ready <= now < dispatch for _, ready, dispatch, _, _ in rows)
        starved += waits and len(busy) < cores
    return starved


@pytest.mark.parametrize(("latency", "bound"), [(400, True), (2, False)])
def test_a_slow_scheduler_is_told_from_a_fast_one(
    tmp_path: Path, latency: int, bound: bool
) -> None:
    verdicts = []
    for seed in range(20):
        rng = random.Random(seed)
        rows, scheduler, edges, truth = [], [], [], []
        end = 1000
        for task in range(12):
            ready = end
            dispatch = ready + latency + rng.randint(0, 2)
            start = dispatch + 3
            end = start + rng.randint(300, 500)
            rows.append([0, task, task, start, end, 1])
            scheduler.append([0, task, dispatch, end + 1])
            known = ready if task else dispatch
            truth.append((0, known, dispatch, start, end))
            if task:
                edges.append({"pred": task - 1, "succ": task})
        (tmp_path / "deps.json").write_text(json.dumps({"tasks": [], "edges": edges}))
        metadata = {"clock_freq_hz": CLOCK, "core_types": ["aic"]}
        document = {
            "chip_swimlane_level": 2,
            "metadata": metadata,
            "aicore_tasks": rows,
            "aicpu_tasks": scheduler,
        }
        found = document_of(write(tmp_path, document))["scheduling"]
        assert found["starved_cycles"] == {"aic": starved_by_counting(truth, 1)}
        verdicts.append(found["scheduler_bound"])
    assert verdicts == [bound] * 20

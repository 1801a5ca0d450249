"""The replay gives the recorded steps unchanged, and the true elapsed time of a job without its cause."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest
from planted_traces import Workload, simulate

from paths import SHARED
from stepscope.lenses.trace.replay import Change, Replay
from stepscope.lenses.trace.replay_graph import PointKind, ReplayGraph, replay_graph
from stepscope.lenses.trace.spans import Spans
from stepscope.model.profile import Profile
from stepscope.sources import torch_trace

TRACES = sorted((SHARED / "data" / "torch").rglob("*.json.gz")) if SHARED.is_dir() else []


def graph_of(path: Path) -> ReplayGraph | None:
    (record,) = [named.record for named in torch_trace.read(path).records]
    assert isinstance(record, Profile)
    return replay_graph(record)


def simulated(workload: Workload, folder: Path) -> tuple[ReplayGraph, float]:
    """The graph of a simulated job of one rank, and the true elapsed time of a step in us."""
    step_us = simulate(workload, folder)
    graph = graph_of(folder / "rank0.pt.trace.json")
    assert graph is not None
    return graph, step_us


@pytest.mark.parametrize("path", TRACES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_unchanged_replay_of_a_real_trace_gives_its_steps(path: Path) -> None:
    graph = graph_of(path)
    if graph is None:
        return
    recorded = graph.steps.end - graph.steps.start
    replayed = Replay(graph).unchanged.ticks
    assert np.abs(replayed - recorded).max() <= 0.01 * recorded.max()


@pytest.mark.parametrize(
    "workload",
    [
        Workload(),
        Workload(backward_thread=True, host_us=120),
        Workload(items=2, logs=2),
        Workload(pageable_us=500, names="hip"),
        Workload(layers=120, steps=4, kernel_us=200),
    ],
    ids=["ahead", "two threads", "waits", "blocking copies", "full launch queue"],
)
def test_unchanged_replay_of_a_simulated_job_is_exact(workload: Workload, tmp_path: Path) -> None:
    graph, step_us = simulated(workload, tmp_path)
    replayed = Replay(graph).unchanged
    assert np.array_equal(Replay(graph).times(Change()), graph.time)
    assert (replayed.end[-1] - replayed.start[0]) / 1000 / workload.steps == pytest.approx(
        step_us, rel=1e-6
    )


def test_host_work_beside_a_busy_device_costs_nothing(tmp_path: Path) -> None:
    graph, _ = simulated(Workload(layers=10), tmp_path)
    replay = Replay(graph)
    free = int(replay.change(Change(free_host=True)).ticks.sum())
    assert free == pytest.approx(int(replay.unchanged.ticks.sum()), rel=0.02)


def test_removed_work_shortens_the_steps_of_a_busy_device(tmp_path: Path) -> None:
    workload = Workload(layers=8, layout_copies=2)
    graph, _ = simulated(workload, tmp_path / "with")
    profile = graph.profile
    names = profile.nodes.name[profile.executions.node]
    is_copy = np.array(["nchwToNhwc" in profile.strings[name] for name in names.tolist()])
    without, _ = simulated(dataclasses.replace(workload, layout_copies=0), tmp_path / "without")
    changed = Replay(graph).change(Change(removed=np.flatnonzero(is_copy)))
    assert int(changed.ticks.sum()) == pytest.approx(
        int(Replay(without).unchanged.ticks.sum()), rel=0.02
    )


def test_changes_add_up_to_one(tmp_path: Path) -> None:
    graph, _ = simulated(Workload(items=1, logs=1), tmp_path)
    waits = graph.run[(graph.kind == PointKind.RETURN)]
    start, end = graph.time[:1], graph.time[-1:]
    host = Change(host=((int(graph.lane[graph.step_start[0]]), Spans.union(start, end)),))
    both = Replay(graph).change(host | Change(unwaited=waits)).ticks.sum()
    assert both <= min(
        Replay(graph).change(host).ticks.sum(),
        Replay(graph).change(Change(unwaited=waits)).ticks.sum(),
    )


def test_profile_without_executions_has_no_graph() -> None:
    assert replay_graph(Profile()) is None

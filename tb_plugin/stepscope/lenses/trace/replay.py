"""Replays the steps of a trace: unchanged, or as they would be without something.

`Replay(graph)` gives the recorded times. `replay.change(...)` gives the elapsed time of the steps where host work is
removed, device work is shorter, or a call no longer waits.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from stepscope.lenses.trace.replay_graph import PointKind, ReplayGraph
from stepscope.lenses.trace.spans import Spans
from stepscope.model.columns import Ints


@dataclass(frozen=True, eq=False)
class Change:
    """What is different in a replay. `a | b` is both.

    Attributes:
        host: Host time that is gone, as lane and ranges in ticks.
        shorter: Executions on the device and by how many ticks each is shorter.
        removed: Executions on the device that are gone, or run beside the stream.
        unwaited: Calls that no longer wait.
        free_host: Whether the host takes no time at all.
    """

    host: tuple[tuple[int, Spans], ...] = ()
    shorter: tuple[tuple[Ints, Ints], ...] = ()
    removed: Ints = field(default_factory=lambda: np.empty(0, np.int64))
    unwaited: Ints = field(default_factory=lambda: np.empty(0, np.int64))
    free_host: bool = False

    def __or__(self, other: Change) -> Change:
        return Change(
            host=self.host + other.host,
            shorter=self.shorter + other.shorter,
            removed=np.union1d(self.removed, other.removed),
            unwaited=np.union1d(self.unwaited, other.unwaited),
            free_host=self.free_host or other.free_host,
        )


@dataclass(frozen=True, eq=False)
class Elapsed:
    """The steps of a replay.

    Attributes:
        start, end: Of each step, in ticks: from when it starts on the host, or the one before has ended, to its last
            device work.
    """

    start: Ints
    end: Ints

    @property
    def ticks(self) -> Ints:
        """How long each step took."""
        ticks: Ints = self.end - self.start
        return ticks


class Replay:
    """The replay of one graph."""

    def __init__(self, graph: ReplayGraph) -> None:
        self.graph = graph

    @cached_property
    def unchanged(self) -> Elapsed:
        """The steps as they were."""
        return self._elapsed(self.times(Change()))

    def change(self, change: Change) -> Elapsed:
        """The steps with a change."""
        return self._elapsed(self.times(change))

    def times(self, change: Change) -> Ints:
        """When each point comes."""
        graph = self.graph
        lag, launch_lag, wait_lag = graph.lag.copy(), graph.launch_lag.copy(), graph.wait_lag.copy()
        launch, wait = graph.launch.copy(), graph.wait.copy()
        self._shorten(change, lag, launch_lag, wait_lag)
        self._remove_work(change, lag, launch, wait_lag)
        self._remove_waits(change, wait)
        self._remove_host(change, lag)
        return _longest_paths(graph.previous, lag, launch, launch_lag, wait, wait_lag)

    def _shorten(self, change: Change, lag: Ints, launch_lag: Ints, wait_lag: Ints) -> None:
        for runs, ticks in change.shorter:
            points, rows = self._works_of(runs)
            less = ticks[rows]
            lag[points] -= less
            launch_lag[points] -= less
            wait_lag[points] -= less

    def _remove_work(self, change: Change, lag: Ints, launch: Ints, wait_lag: Ints) -> None:
        """Work that is gone takes no time; what comes after it on the stream still waits for what it waited for."""
        points, _ = self._works_of(change.removed)
        first = self.graph.previous[points] < 0
        lag[points] = np.where(first, lag[points], 0)
        launch[points] = -1
        duration = self.graph.profile.executions.duration_ticks[self.graph.run[points]]
        wait_lag[points] = np.maximum(wait_lag[points] - duration, 0)

    def _remove_waits(self, change: Change, wait: Ints) -> None:
        if not len(change.unwaited):
            return
        graph = self.graph
        returns = (graph.kind == PointKind.RETURN) & np.isin(graph.run, change.unwaited)
        wait[returns] = -1

    def _remove_host(self, change: Change, lag: Ints) -> None:
        graph = self.graph
        inner = np.flatnonzero(graph.on_host & (graph.previous >= 0))
        if change.free_host:
            lag[inner] = np.minimum(lag[inner], 0)
            return
        for lane, spans in change.host:
            rows = inner[graph.lane[inner] == lane]
            gone = spans.within(graph.time[graph.previous[rows]], graph.time[rows])
            lag[rows] = np.maximum(lag[rows] - gone, np.minimum(lag[rows], 0))

    def _works_of(self, runs: Ints) -> tuple[Ints, Ints]:
        """The points of executions on the device, and the row of each among the executions given."""
        point = self._point_of_work[runs]
        rows = np.flatnonzero(point >= 0)
        return point[rows], rows

    @cached_property
    def _point_of_work(self) -> Ints:
        graph = self.graph
        point = np.full(len(graph.profile.executions), -1)
        works = np.flatnonzero(graph.kind == PointKind.WORK)
        point[graph.run[works]] = works
        return point

    def _elapsed(self, time: Ints) -> Elapsed:
        graph = self.graph
        begin, end = time[graph.step_start], time[graph.step_end]
        last = end.copy()
        works = np.flatnonzero(graph.work_step >= 0)
        np.maximum.at(last, graph.work_step[works], time[works])
        start = np.empty(len(begin), np.int64)
        stop = np.empty(len(begin), np.int64)
        reached = int(graph.steps.start[0])
        for step in range(len(begin)):
            start[step] = max(reached, int(begin[step]))
            reached = max(int(start[step]), int(last[step]))
            stop[step] = reached
        return Elapsed(start, stop)


def _longest_paths(
    previous: Ints, lag: Ints, launch: Ints, launch_lag: Ints, wait: Ints, wait_lag: Ints
) -> Ints:
    """When each point comes: the latest of what it waits for. Points stand after all that they wait for."""
    times = [0] * (
        len(previous) + 1
    )  # The last one stands for "nothing before", at moment 0: -1 refers to it.
    columns = [column.tolist() for column in (previous, lag, launch, launch_lag, wait, wait_lag)]
    rows = zip(*columns, strict=True)
    for point, (before, own, call, call_lag, other, other_lag) in enumerate(rows):
        time = times[before] + own
        if call >= 0:
            launched = times[call] + call_lag
            if launched > time:
                time = launched
        if other >= 0:
            awaited = times[other] + other_lag
            if awaited > time:
                time = awaited
        times[point] = time
    return np.array(times[:-1], np.int64)

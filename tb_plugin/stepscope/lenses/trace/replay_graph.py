"""What waits for what in a trace: the points at which threads and streams can wait, and what they wait for.

A point is a moment of an execution: where a launch call begins, where a call that waits returns, where device work
ends, where a step begins or ends, where one thread hands over to another. It comes no earlier than

* the point before it on its thread or stream, plus what lies between them (`lag`),
* for device work: the call that launched it, plus launch latency and its own duration (`launch`),
* for device work: the work of another stream that it waits for; for a call that waits: the work that it waits for; for
  a thread that was handed to: the other thread (`wait`).

Each lag is taken from the trace where it decided when the point came, so that the replay without changes gives the
recorded times; where it did not decide, it is at most the usual one.

The dependencies are those of HTA's critical path analysis and of Daydream (Zhu et al., USENIX ATC 2020).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from stepscope.lenses.trace.categories import DEVICE_CATEGORIES, execution_categories
from stepscope.lenses.trace.hand_overs import hand_overs
from stepscope.lenses.trace.step_windows import StepWindows, step_windows
from stepscope.model.columns import Array, Ints
from stepscope.model.profile import LaneKind, NodeKind, Profile
from stepscope.statistics import nearest_rank

NONE = -1

WAITING_CALL = re.compile(
    r"synchroni[sz]e|^(?:cuda|hip|cu|mu|aclrt)Memcpy(?!.*Async)|MemcpyWithStream|^(?:cuda|hip)(?:Free|FreeHost|HostFree)$"
    r"|HostSynchronize|^acl.*Synchronize|waitOnEvent|^mtia.*wait",
    re.IGNORECASE,
)
"""Calls that return only when the device has come to some point. cudaFree waits for all work of the device."""

EXPLAINED_GAP_PS = 30_000_000
"""A gap before work that was launched in time is its stream's own up to 30 us; beyond, it waited for something."""
_USUAL_LATENCY_PS = 6_000_000
_USUAL_GAP_PS = 1_500_000
_USUAL_RETURN_PS = 6_000_000
_LONG_LAUNCH_PS = 100_000_000
_FULL_QUEUE = 500


class PointKind(IntEnum):
    """What happens at a point."""

    WORK = 0
    """Device work ends."""
    CALL = 1
    """A call that launches or waits begins."""
    RETURN = 2
    """A call that waits returns."""
    STEP = 3
    """A step begins or ends on its thread."""
    HAND_OVER = 4
    """A thread wakes another, or is woken by it."""


@dataclass(frozen=True, eq=False)
class ReplayGraph:
    """Points in an order in which each comes after all that it waits for. Columns over points; times in ticks.

    Attributes:
        profile: The profile.
        steps: The windows of its steps.
        time: When the point came, relative to the profile's anchor.
        kind: A `PointKind`.
        run: The execution, -1 for none.
        lane: Its thread or stream.
        previous, lag: The point before on the lane, and the time from there; the first ones have -1 and their time.
        launch, launch_lag: Of device work: the point of the call that launched it; -1 for none.
        wait, wait_lag: The point of another lane that it waits for; -1 for none.
        step_start, step_end: The points of each step.
        work_step: The step of each piece of device work, -1 for none and for other points.
        dropped: Dependencies left out since the trace contradicts them (clocks that disagree).
        unexplained: Ticks in which streams stood still though their work was launched, for no recorded reason.
    """

    profile: Profile
    steps: StepWindows
    time: Ints
    kind: Ints
    run: Ints
    lane: Ints
    previous: Ints
    lag: Ints
    launch: Ints
    launch_lag: Ints
    wait: Ints
    wait_lag: Ints
    step_start: Ints
    step_end: Ints
    work_step: Ints
    dropped: int
    unexplained: int

    def __len__(self) -> int:
        return len(self.time)

    @property
    def on_host(self) -> Array:
        """Which points are of a thread."""
        on_host: Array = self.kind != PointKind.WORK
        return on_host


def replay_graph(profile: Profile) -> ReplayGraph | None:
    """The graph of a nested profile with executions on lanes; None for others and for profiles without time."""
    if not profile.nested or not len(profile.executions) or not len(profile.lanes):
        return None
    category = execution_categories(profile)
    steps = step_windows(profile, category)
    if not len(steps) or int((steps.end - steps.start).sum()) <= 0:
        return None
    return _Builder(profile, category, steps).build()


class _Builder:
    """Collects the points of a profile and what they wait for."""

    def __init__(self, profile: Profile, category: Ints, steps: StepWindows) -> None:
        runs = profile.executions
        self.profile = profile
        self.steps = steps
        self.tick = profile.tick_ps
        self.start = runs.start_ticks.astype(np.int64)
        self.end = self.start + runs.duration_ticks
        self.lane = runs.lane.astype(np.int64)
        on_lane = self.lane >= 0
        lane_kind = np.where(on_lane, profile.lanes.kind[self.lane], LaneKind.OTHER)
        on_device = np.isin(category, DEVICE_CATEGORIES) & (lane_kind == LaneKind.ACCELERATOR)
        rows = np.flatnonzero(on_device)
        self.work = rows[np.lexsort((self.end[rows], self.start[rows], self.lane[rows]))]
        self.launch_of_work = runs.launch[self.work].astype(np.int64)
        self.on_host = lane_kind == LaneKind.HOST

    def build(self) -> ReplayGraph:
        calls = np.unique(self.launch_of_work[self.launch_of_work >= 0])
        awaited = self._awaited(calls)
        waiting = np.flatnonzero(awaited != _NOT_WAITING)
        called = np.union1d(calls, waiting)
        main = self._main_lane()
        step_lane, step_start, step_end = self._host_steps(main)
        handed = hand_overs(self.profile, self.on_host, main)

        works, steps = len(self.work), len(step_start)
        issued = self._issued(called, np.isin(called, waiting))
        time = np.concatenate(
            (self.end[self.work], issued, self.end[waiting], step_start, step_end, handed.time)
        )
        run = np.concatenate(
            (self.work, called, waiting, np.full(2 * steps, NONE), np.full(len(handed.time), NONE))
        )
        kind = np.repeat(
            [PointKind.WORK, PointKind.CALL, PointKind.RETURN, PointKind.STEP, PointKind.HAND_OVER],
            [works, len(called), len(waiting), 2 * steps, len(handed.time)],
        )
        lane = np.concatenate(
            (
                self.lane[run[: works + len(called) + len(waiting)]],
                step_lane,
                step_lane,
                handed.lane,
            )
        )
        first_return = works + len(called)
        first_step = first_return + len(waiting)
        first_hand = first_step + 2 * steps

        point_of_call = np.full(len(self.start), NONE)
        point_of_call[called] = works + np.arange(len(called))
        point_of_work = np.full(len(self.start), NONE)
        point_of_work[self.work] = np.arange(works)

        wait = np.full(len(time), NONE)
        target = awaited[waiting]
        wait[first_return:first_step] = np.where(target >= 0, point_of_work[target], NONE)
        wait[first_hand:] = np.where(handed.wait >= 0, handed.wait + first_hand, NONE)
        launch = np.full(len(time), NONE)
        launched = self.launch_of_work >= 0
        launch[:works] = np.where(launched, point_of_call[self.launch_of_work], NONE)

        began = np.concatenate(
            (time[:works], issued, self.start[waiting], step_start, step_start, handed.time)
        )
        previous = _previous(lane, time, began, kind, works)
        lags = _Lags(self, time, previous, launch, wait, kind, run)
        lags.of_host(first_return, first_step)
        lags.of_handed(first_hand, handed.wait)
        lags.of_work(works)

        in_lane = _place_in_lane(previous, lane, time, began, kind)
        settled = self._settled(time)
        stage = _stages(settled, lags)
        order = np.lexsort((in_lane, stage, settled))
        return self._ordered(order, lags, lane, first_step, steps)

    def _ordered(
        self, order: Ints, lags: _Lags, lane: Ints, first_step: int, steps: int
    ) -> ReplayGraph:
        place = np.empty(len(order), np.int64)
        place[order] = np.arange(len(order))
        dropped = 0
        columns = {"previous": lags.previous, "launch": lags.launch, "wait": lags.wait}
        ordered: dict[str, Ints] = {}
        for name, column in columns.items():
            source = column[order]
            moved = np.where(source >= 0, place[source], NONE)
            backwards = moved >= np.arange(len(order))
            dropped += int(backwards.sum())
            ordered[name] = np.where(backwards, NONE, moved)
        lag = lags.lag[order]
        alone = ordered["previous"] < 0
        lag[alone] = np.where(
            (ordered["launch"][alone] >= 0) | (ordered["wait"][alone] >= 0),
            _NEVER,
            lags.time[order][alone],
        )
        step_of_work = np.full(len(order), NONE)
        step_of_work[: len(self.work)] = self._work_steps()
        return ReplayGraph(
            profile=self.profile,
            steps=self.steps,
            time=lags.time[order],
            kind=lags.kind[order],
            run=lags.run[order],
            lane=lane[order],
            previous=ordered["previous"],
            lag=lag,
            launch=ordered["launch"],
            launch_lag=lags.launch_lag[order],
            wait=ordered["wait"],
            wait_lag=lags.wait_lag[order],
            step_start=place[first_step : first_step + steps],
            step_end=place[first_step + steps : first_step + 2 * steps],
            work_step=step_of_work[order],
            dropped=dropped,
            unexplained=lags.unexplained,
        )

    def _issued(self, called: Ints, waits: Array) -> Ints:
        """When calls give their work to the device: a long call shortly before it returns or its work starts.

        Calls that wait do so at their start: they are long because of what they wait for.
        """
        first = np.full(len(self.start), _LATEST)
        launched = self.launch_of_work >= 0
        np.minimum.at(first, self.launch_of_work[launched], self.start[self.work[launched]])
        until = np.minimum(self.end[called], first[called]) - _USUAL_LATENCY_PS // self.tick
        late = (first[called] < _LATEST) & ~waits
        issued: Ints = np.where(late, np.maximum(self.start[called], until), self.start[called])
        return issued

    def _settled(self, time: Ints) -> Ints:
        """When a point and all before it on its stream have come: kernels of one stream may overlap."""
        settled: Ints = time.copy()
        works = len(self.work)
        if works:
            _, stream = np.unique(self.lane[self.work], return_inverse=True)
            apart = (int(time[:works].max()) - int(time[:works].min()) + 1) * stream
            settled[:works] = np.maximum.accumulate(time[:works] + apart) - apart
        return settled

    def _work_steps(self) -> Ints:
        """The step of each piece of work; with one window for all, what starts or is launched in it."""
        runs = self.profile.executions
        if len(self.profile.steps):
            step = runs.step[self.work].astype(np.int64)
            if (self.launch_of_work >= 0).any():
                step = np.where(self.launch_of_work >= 0, step, NONE)
            return step
        moment = np.where(
            self.launch_of_work >= 0, self.start[self.launch_of_work], self.start[self.work]
        )
        inside = (moment >= self.steps.start[0]) & (moment < self.steps.end[0])
        return np.where(inside, 0, NONE)

    def _main_lane(self) -> int:
        """The thread of the steps, else the one with most executions."""
        runs, nodes = self.profile.executions, self.profile.nodes
        named = np.isin(nodes.name, self.profile.steps.name[self.profile.steps.name >= 0])
        marks = self.on_host & named[runs.node] & (nodes.kind[runs.node] == NodeKind.SCOPE)
        rows = np.flatnonzero(marks if marks.any() else self.on_host)
        if not len(rows):
            return NONE
        lane: int = int(np.bincount(self.lane[rows]).argmax())
        return lane

    def _host_steps(self, main: int) -> tuple[Ints, Ints, Ints]:
        """Lane, start and end of each step on its thread."""
        if len(self.profile.steps):
            start = self.profile.steps.start_ticks.astype(np.int64)
            end = start + self.profile.steps.duration_ticks
        else:
            start, end = self.steps.start, self._window_end()
        return np.full(len(start), main), start, end

    def _window_end(self) -> Ints:
        """The end of the host's work in the one window."""
        last = self.end[self.on_host].max(initial=int(self.steps.start[0]))
        end: Ints = np.minimum(self.steps.end, last)
        return end

    def _awaited(self, calls: Ints) -> Ints:
        """For each execution the device work that it waits for: -1 for none known, `_NOT_WAITING` for all others."""
        names = self.profile.nodes.name
        nodes = self.profile.nodes
        node = self.profile.executions.node
        awaited = np.full(len(self.start), _NOT_WAITING)
        if not len(self.work):
            return awaited
        used = np.unique(names[(nodes.kind == NodeKind.RUNTIME) & (names >= 0)])
        waits = [name for name in used.tolist() if WAITING_CALL.search(self.profile.strings[name])]
        by_name = (
            self.on_host & (nodes.kind[node] == NodeKind.RUNTIME) & np.isin(names[node], waits)
        )
        for call in np.flatnonzero(by_name).tolist():
            awaited[call] = self._work_before(call)
        self._await_own_copies(awaited)
        self._await_full_queue(awaited, calls)
        return awaited

    def _work_before(self, call: int) -> int:
        """The work whose end lets a call return: the last that ends in it, else the last launched before it."""
        by_end, ends = self._by_end
        last = int(np.searchsorted(ends, self.end[call], side="right"))
        first = int(np.searchsorted(ends, self.start[call], side="right"))
        for place in range(last - 1, max(first, last - 64) - 1, -1):
            work = int(by_end[place])
            if self._launch_time[work] <= self.start[call]:
                return int(self.work[work])
        return self._last_launched(call)

    def _last_launched(self, call: int) -> int:
        by_launch, times = self._by_launch
        place = int(np.searchsorted(times, self.start[call], side="right")) - 1
        if place < 0:
            return NONE
        work = int(self.work[by_launch[place]])
        return work if self.end[work] <= self.end[call] else NONE

    @property
    def _launch_time(self) -> Ints:
        if not hasattr(self, "_launch_times"):
            launched = self.launch_of_work >= 0
            self._launch_times = np.where(
                launched, self.start[self.launch_of_work], self.start[self.work]
            )
        return self._launch_times

    @property
    def _by_end(self) -> tuple[Ints, Ints]:
        if not hasattr(self, "_ends"):
            order = np.argsort(self.end[self.work], kind="stable")
            self._ends = (order, self.end[self.work][order])
        return self._ends

    @property
    def _by_launch(self) -> tuple[Ints, Ints]:
        if not hasattr(self, "_launches"):
            order = np.argsort(self._launch_time, kind="stable")
            self._launches = (order, self._launch_time[order])
        return self._launches

    def _await_own_copies(self, awaited: Ints) -> None:
        """Launch calls that return after their own work, which is longer than a call takes: blocking copies."""
        call = self.launch_of_work
        known = np.flatnonzero(call >= 0)
        call, work = call[known], self.work[known]
        duration = self.end[work] - self.start[work]
        long = duration * self.tick >= _USUAL_LATENCY_PS
        blocking = (
            long & (self.end[call] >= self.end[work]) & (self.start[work] >= self.start[call])
        )
        awaited[call[blocking]] = work[blocking]

    def _await_full_queue(self, awaited: Ints, calls: Ints) -> None:
        """Launch calls that take long while hundreds of launches wait: the queue is full."""
        if len(calls) < _FULL_QUEUE:
            return
        duration = self.end[calls] - self.start[calls]
        usual = int(np.median(duration))
        long = (duration > 20 * usual) & (duration * self.tick > _LONG_LAUNCH_PS)
        long &= awaited[calls] == _NOT_WAITING
        starts = np.sort(self.start[self.work])
        launch_times = self._by_launch[1]
        by_end, ends = self._by_end
        for call in calls[long].tolist():
            now = self.start[call]
            queued = int(np.searchsorted(launch_times, now)) - int(np.searchsorted(starts, now))
            last = int(np.searchsorted(ends, self.end[call], side="right")) - 1
            if queued >= _FULL_QUEUE and last >= 0 and ends[last] > now:
                awaited[call] = self.work[by_end[last]]


_MOST_STAGES = 64
_NOT_WAITING = -2
_LATEST = 2**62
_NEVER = -(2**60)
"""A lag that decides nothing: of points that only wait for others."""


class _Lags:
    """How long each dependency takes."""

    def __init__(
        self,
        builder: _Builder,
        time: Ints,
        previous: Ints,
        launch: Ints,
        wait: Ints,
        kind: Ints,
        run: Ints,
    ) -> None:
        self.builder = builder
        self.tick = builder.tick
        self.time = time
        self.previous = previous
        self.launch = launch
        self.wait = wait
        self.kind = kind
        self.run = run
        self.lag = time - np.where(previous >= 0, time[previous], 0)
        self.launch_lag = np.zeros(len(time), np.int64)
        self.wait_lag = np.zeros(len(time), np.int64)
        self.unexplained = 0

    def of_host(self, first: int, stop: int) -> None:
        """Calls that wait: their own cost where they waited, the usual time to return where they did not."""
        rows = np.arange(first, stop)
        usual = _USUAL_RETURN_PS // self.tick
        awaits = self.wait[rows] >= 0
        rows = rows[awaits]
        ended = self.time[self.wait[rows]]
        begun = self.time[self.previous[rows]]
        waited = ended > begun
        returned = self.time[rows] - ended
        self.wait_lag[rows] = np.where(waited, returned, np.minimum(returned, usual))
        self.lag[rows] = np.where(waited, np.minimum(self.lag[rows], usual), self.lag[rows])

    def of_handed(self, first: int, wait: Ints) -> None:
        """Threads that wait for another: nothing of the time between is their own."""
        rows = first + np.flatnonzero(wait >= 0)
        self.wait_lag[rows] = self.time[rows] - self.time[self.wait[rows]]
        self.lag[rows] = np.where(self.previous[rows] >= 0, 0, self.lag[rows])

    def of_work(self, works: int) -> None:
        """Device work: which of stream, launch and other streams decided its start; the usual time of the others."""
        builder = self.builder
        start, duration = builder.start[builder.work], (builder.end - builder.start)[builder.work]
        before, launch = self.previous[:works], self.launch[:works]
        has_before, has_launch = before >= 0, launch >= 0
        gap = start - np.where(has_before, self.time[before], 0)
        latency = start - np.where(has_launch, self.time[launch], 0)
        late = has_launch & (~has_before | (latency < gap))
        queued = has_launch & has_before & (latency > gap + _USUAL_LATENCY_PS // self.tick)
        usual_latency = _usual(latency[late], _USUAL_LATENCY_PS // self.tick)
        usual_gap = _usual(gap[queued], _USUAL_GAP_PS // self.tick)

        predicted_by_launch = start - latency + usual_latency
        predicted_by_stream = start - gap + usual_gap
        by_launch = has_launch & (~has_before | (predicted_by_launch >= predicted_by_stream))
        by_stream = has_before & ~by_launch
        slow = EXPLAINED_GAP_PS // self.tick
        stuck = np.where(by_launch, latency > usual_latency + slow, gap > usual_gap + slow)
        stuck &= has_launch
        other = self._other_stream(works, start, np.flatnonzero(stuck))
        by_other = other >= 0
        by_launch &= ~by_other
        by_stream &= ~by_other
        unknown = stuck & ~by_other
        free_since = start - np.minimum(np.where(has_before, gap, latency), latency)
        self.unexplained = int((start - free_since)[unknown & has_before].sum())

        stream_lag = np.where(by_stream, gap, np.minimum(gap, usual_gap))
        call_lag = np.where(by_launch, latency, np.minimum(latency, usual_latency))
        self.lag[:works] = np.where(has_before, stream_lag + duration, self.lag[:works])
        self.launch_lag[:works] = call_lag + duration
        self.wait[:works] = other
        other_lag = self.time[:works] - np.where(by_other, self.time[other], 0)
        self.wait_lag[:works] = np.where(by_other, other_lag, 0)

    def _other_stream(self, works: int, start: Ints, rows: Ints) -> Ints:
        """For work that was launched and whose stream was free: the work of another stream that ended just before."""
        builder = self.builder
        other = np.full(works, NONE)
        by_end, ends = builder._by_end
        lane = builder.lane[builder.work]
        reach = EXPLAINED_GAP_PS // self.tick
        last = np.searchsorted(ends, start[rows], side="right") - 1
        for row, place in zip(rows.tolist(), last.tolist(), strict=True):
            while place >= 0 and start[row] - ends[place] <= reach:
                candidate = int(by_end[place])
                if lane[candidate] != lane[row]:
                    other[row] = candidate
                    break
                place -= 1
        return other


def _stages(time: Ints, lags: _Lags) -> Ints:
    """An order of the points of one moment, in which each comes after those that it waits for."""
    stage = np.zeros(len(time), np.int64)
    edges = []
    for column, apart in ((lags.previous, 0), (lags.launch, 1), (lags.wait, 1)):
        rows = np.flatnonzero(column >= 0)
        rows = rows[time[column[rows]] == time[rows]]
        edges.append((rows, column[rows], apart))
    for _ in range(_MOST_STAGES):
        before = stage.copy()
        for rows, sources, apart in edges:
            stage[rows] = np.maximum(stage[rows], stage[sources] + apart)
        if np.array_equal(stage, before):
            break
    return stage


def _usual(values: Ints, default: int) -> int:
    """The lower quartile of what was seen, at most a few times the default; the default where nothing was seen."""
    known = values[values >= 0]
    if not len(known):
        return default
    return min(nearest_rank(np.sort(known), 25), 4 * default)


def _previous(lane: Ints, time: Ints, began: Ints, kind: Ints, works: int) -> Ints:
    """The point before each one on its lane: work in order of its start, host points in order of time."""
    previous = np.full(len(time), NONE)
    if works > 1:
        same = lane[1:works] == lane[: works - 1]
        previous[1:works] = np.where(same, np.arange(works - 1), NONE)
    host = np.arange(works, len(time))
    order = host[_host_order(lane[host], time[host], began[host], kind[host])]
    same = lane[order][1:] == lane[order][:-1]
    previous[order[1:]] = np.where(same, order[:-1], NONE)
    return previous


def _host_order(lane: Ints, time: Ints, began: Ints, kind: Ints) -> Ints:
    """By lane and time; at one moment what began earlier ends first, and a call begins before it returns."""
    return np.lexsort((kind == PointKind.RETURN, began, time, lane))


def _place_in_lane(previous: Ints, lane: Ints, time: Ints, began: Ints, kind: Ints) -> Ints:
    """A number for each point that grows along its lane."""
    place = np.arange(len(previous))
    host = np.flatnonzero(kind != PointKind.WORK)
    order = host[_host_order(lane[host], time[host], began[host], kind[host])]
    place[order] = np.arange(len(order)) + (len(previous) - len(order))
    return place

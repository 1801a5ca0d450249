"""What rules over steps share: the replay of a profile, its calls and device work by name, and what changes save."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np

from stepscope.findings.format_time import PS_PER_US
from stepscope.lenses.trace.categories import DEVICE_CATEGORIES, Category, execution_categories
from stepscope.lenses.trace.replay import Change, Replay
from stepscope.lenses.trace.replay_graph import PointKind, ReplayGraph, replay_graph
from stepscope.lenses.trace.spans import Spans
from stepscope.lenses.views import ViewResult, ViewsOptions
from stepscope.model.columns import Array, Ints
from stepscope.model.profile import LaneKind, NodeKind, Profile

LAUNCH_LATENCY_PS = 10_000_000
LEAST_SAVING_SHARE = 0.02
"""What saves less of the steps is no finding."""


class Views(Protocol):
    """Views of one profile, as `ViewEngine` gives them."""

    @property
    def profile(self) -> Profile:
        """The profile."""

    def analyze(self, options: ViewsOptions, /) -> ViewResult:
        """Builds a view."""


@dataclass(frozen=True)
class Saving:
    """What a change saves: elapsed time per step in us, and the part of the step that it is."""

    us: float
    share: float


def step_facts(views: Views) -> StepFacts | None:
    """The facts of a profile whose executions are known one by one; None for others."""
    graph = replay_graph(views.profile)
    return None if graph is None else StepFacts(graph)


class StepFacts:
    """One profile, its replay, and questions about it. Executions are rows of `profile.executions`."""

    def __init__(self, graph: ReplayGraph) -> None:
        self.graph = graph
        self.profile = graph.profile
        self.replay = Replay(graph)
        self.tick_us = graph.profile.tick_ps / PS_PER_US
        self.complete = graph.steps.complete
        self.step_count = int(self.complete.sum())
        self.elapsed_ticks = int(self.replay.unchanged.ticks[self.complete].sum())
        runs = self.profile.executions
        self.start = runs.start_ticks.astype(np.int64)
        self.duration = runs.duration_ticks.astype(np.int64)
        self.end = self.start + self.duration
        self.lane = runs.lane.astype(np.int64)
        self.launch = runs.launch.astype(np.int64)

    @property
    def launch_latency(self) -> int:
        """What lies at most between a launch and its work on a free stream, in ticks."""
        return LAUNCH_LATENCY_PS // self.profile.tick_ps

    @property
    def step_us(self) -> float:
        """The mean elapsed time of the complete steps."""
        return self.elapsed_ticks / max(self.step_count, 1) * self.tick_us

    @cached_property
    def category(self) -> Ints:
        """The category of each execution."""
        return execution_categories(self.profile)

    @cached_property
    def is_work(self) -> Array:
        """Which executions are device work."""
        lanes = self.profile.lanes.kind
        on_device = (
            np.where(self.lane >= 0, lanes[self.lane], LaneKind.OTHER) == LaneKind.ACCELERATOR
        )
        is_work: Array = on_device & np.isin(self.category, DEVICE_CATEGORIES)
        return is_work

    @cached_property
    def has_device(self) -> bool:
        """Whether any device work was recorded."""
        return bool(self.is_work.any())

    @cached_property
    def on_host(self) -> Array:
        """Which executions are on a host thread."""
        lanes = self.profile.lanes.kind
        on_host: Array = np.where(self.lane >= 0, lanes[self.lane], LaneKind.OTHER) == LaneKind.HOST
        return on_host

    @cached_property
    def kind(self) -> Ints:
        """The `NodeKind` of each execution."""
        return self.profile.nodes.kind[self.profile.executions.node].astype(np.int64)

    @cached_property
    def main_lane(self) -> int:
        """The thread of the steps."""
        return int(self.graph.lane[self.graph.step_start[0]])

    @cached_property
    def windows(self) -> tuple[Ints, Ints]:
        """Start and end of each step on its thread."""
        steps = self.profile.steps
        if len(steps):
            return steps.start_ticks.astype(np.int64), (
                steps.start_ticks + steps.duration_ticks
            ).astype(np.int64)
        return self.graph.steps.start, self.graph.steps.end

    @cached_property
    def step(self) -> Ints:
        """The position of the step of each execution, -1 outside every step; one window for all where none are."""
        if len(self.profile.steps):
            return self.profile.executions.step.astype(np.int64)
        start, end = self.windows
        return np.where((self.start >= start[0]) & (self.start < end[0]), 0, -1)

    @cached_property
    def in_steps(self) -> Array:
        """Which executions are of a complete step."""
        in_steps: Array = (self.step >= 0) & self.complete[self.step]
        return in_steps

    def named(self, pattern: re.Pattern[str]) -> Array:
        """Which executions have a name in which the pattern is found."""
        return self._node_hits(pattern)[self.profile.executions.node]

    def _node_hits(self, pattern: re.Pattern[str]) -> Array:
        used, place = np.unique(self.profile.nodes.name, return_inverse=True)
        hits = [
            name >= 0 and pattern.search(self.profile.strings[name]) is not None
            for name in used.tolist()
        ]
        found: Array = np.array(hits, bool)[place]
        return found

    def name(self, run: int) -> str:
        """The name of an execution."""
        name = int(self.profile.nodes.name[self.profile.executions.node[run]])
        return self.profile.strings[name] if name >= 0 else ""

    def callers(self, rows: Ints) -> Ints:
        """The execution that each one was called in, -1 for none."""
        nodes, runs = self.profile.nodes, self.profile.executions
        caller = nodes.caller[runs.node[rows]].astype(np.int64)
        order, keys = self._by_node_and_start
        moment = self.start[rows]
        wanted = caller * self._span + (moment - self._first)
        place = np.searchsorted(keys, wanted, side="right") - 1
        row = order[np.maximum(place, 0)]
        same = (place >= 0) & (caller >= 0) & (runs.node[row] == caller)
        return np.where(same, row, -1)

    @cached_property
    def _first(self) -> int:
        return int(self.start.min(initial=0))

    @cached_property
    def _span(self) -> int:
        return int(self.end.max(initial=1)) - self._first + 1

    @cached_property
    def _by_node_and_start(self) -> tuple[Ints, Ints]:
        key = self.profile.executions.node.astype(np.int64) * self._span + (
            self.start - self._first
        )
        order = np.argsort(key, kind="stable")
        return order, key[order]

    def outermost(self, rows: Ints, pattern: re.Pattern[str]) -> Ints:
        """For each execution the outermost one around it that it reaches through names of a pattern; else itself."""
        hits = self._node_hits(pattern)
        nodes = self.profile.executions.node
        reached: Ints = rows.copy()
        while True:
            above = self.callers(reached)
            climbs = (above >= 0) & hits[nodes[above]]
            if not climbs.any():
                return reached
            reached = np.where(climbs, above, reached)

    def ops_of(self, works: Ints) -> Ints:
        """The op that launched each piece of device work, -1 for none."""
        calls = self.launch[works]
        op = self.callers(np.maximum(calls, 0))
        return np.where(calls >= 0, op, -1)

    def spans(self, rows: Ints) -> tuple[tuple[int, Spans], ...]:
        """The time of executions on the host, by thread."""
        lanes = np.unique(self.lane[rows])
        spans = []
        for lane in lanes.tolist():
            chosen = rows[self.lane[rows] == lane]
            spans.append((int(lane), Spans.union(self.start[chosen], self.end[chosen])))
        return tuple(spans)

    def spans_without(self, rows: Ints, inner: Ints) -> tuple[tuple[int, Spans], ...]:
        """The time of executions on the host without that of executions in them, by thread."""
        left = dict(self.spans(inner))
        nothing = Spans.union(rows[:0], rows[:0])
        return tuple(
            (lane, spans.minus(left.get(lane, nothing))) for lane, spans in self.spans(rows)
        )

    def without_host(self, rows: Ints) -> Change:
        """The change in which executions on the host take no time, and wait for nothing."""
        return Change(host=self.spans(rows), unwaited=rows)

    def without_work(self, rows: Ints) -> Change:
        """The change in which device work and the calls that launch it are gone."""
        calls = np.unique(self.launch[rows][self.launch[rows] >= 0])
        return Change(host=self.spans(calls), removed=rows, unwaited=calls)

    def saving(self, change: Change) -> Saving:
        """What a change saves."""
        changed = int(self.replay.change(change).ticks[self.complete].sum())
        saved = max(self.elapsed_ticks - changed, 0)
        return Saving(us=self.per_step_us(saved), share=saved / max(self.elapsed_ticks, 1))

    def per_step_us(self, ticks: int | float) -> float:
        """A time over all complete steps as us per step."""
        return float(ticks) / max(self.step_count, 1) * self.tick_us

    @cached_property
    def issued(self) -> Ints:
        """When each call gives its work to the device, which long ones do late; the start of all other executions."""
        issued: Ints = self.start.copy()
        calls = np.flatnonzero(self.graph.kind == PointKind.CALL)
        issued[self.graph.run[calls]] = self.graph.time[calls]
        return issued

    def device_idle(self) -> tuple[Spans, Ints]:
        """Ranges in which no stream that computes runs anything, and the work that ends each, -1 for none.

        From the start of the first step to the end of the last.
        """
        computes = self.is_work & np.isin(self.category, (Category.KERNEL, Category.COMMUNICATION))
        rows = np.flatnonzero(self.is_work & np.isin(self.lane, np.unique(self.lane[computes])))
        busy = Spans.union(self.start[rows], self.end[rows])
        first_step, last_step = int(self.graph.steps.start[0]), int(self.graph.steps.end[-1])
        start = np.append(first_step, busy.end)
        end = np.append(busy.start, max(last_step, int(busy.end.max(initial=last_step))))
        real = end > start
        first = rows[np.argsort(self.start[rows], kind="stable")]
        place = np.searchsorted(self.start[first], end)
        works = np.append(first, -1)[np.minimum(place, len(first))]
        return Spans(start[real], end[real]), works[real]

    def covered_us(self, rows: Ints) -> float:
        """How long any of some executions runs, in us per step."""
        return self.spans_us(Spans.union(self.start[rows], self.end[rows]))

    def spans_us(self, union: Spans) -> float:
        """How much of the complete steps is in ranges, in us per step."""
        start, end = self.graph.steps.start[self.complete], self.graph.steps.end[self.complete]
        return self.per_step_us(int(union.within(start, end).sum()))

    def step_id(self, step: int) -> int | None:
        """The number of a step by its position."""
        return int(self.profile.steps.id[step]) if len(self.profile.steps) else None

    def most_common(self, rows: Iterable[int]) -> str:
        """The name that most executions have."""
        counts: dict[str, int] = {}
        for row in rows:
            name = self.name(row)
            counts[name] = counts.get(name, 0) + 1
        return max(counts, key=lambda name: counts[name], default="")

    def is_op(self, rows: Ints) -> Array:
        """Which executions are ops."""
        is_op: Array = self.kind[rows] == NodeKind.OP
        return is_op

    def category_rows(self, category: Category) -> Ints:
        """The executions of a category in complete steps."""
        return np.flatnonzero((self.category == category) & self.in_steps)

"""How work reaches the accelerator: launch delays, short kernels, queues, and why streams stand idle."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from stepscope.lenses.trace.categories import DEVICE_CATEGORIES, execution_categories
from stepscope.model.columns import Array, Ints
from stepscope.model.profile import LaneKind, Profile
from stepscope.statistics import nearest_rank

KERNEL_GAP_PS = 30_000_000
"""A gap shorter than this between kernels that were queued in time is the accelerator's own, as HTA has it: 30 us."""


@dataclass(frozen=True, eq=False)
class Launched:
    """Device work with the call that launched it, in order of the work's start.

    Attributes:
        work, call: In `profile.executions`.
        host_ticks: How long the call took.
        device_ticks: How long the work took.
        delay_ticks: From the call's end to the work's start, 0 when it starts before.
    """

    work: Ints
    call: Ints
    host_ticks: Ints
    device_ticks: Ints
    delay_ticks: Ints


def launched(profile: Profile) -> Launched:
    """Pairs device work with the calls that launched it; work whose launch is not recorded is left out."""
    runs = profile.executions
    work = np.flatnonzero(runs.launch >= 0)
    call = runs.launch[work].astype(np.int64)
    host, device = runs.duration_ticks[call], runs.duration_ticks[work]
    delay = np.maximum(runs.start_ticks[work] - runs.start_ticks[call] - host, 0)
    return Launched(work, call, host, device, delay)


@dataclass(frozen=True, eq=False)
class LaunchCalls:
    """Calls that launch device work, each once however much it starts: a graph launch is one.

    Attributes:
        call: In `profile.executions`, ascending.
        name: What was launched, in strings: the work, or the call itself where it launches a graph.
        work: How many kernels, copies and sets the call started.
        host_ticks: How long the call took.
        device_ticks: How long all that it started took, added up.
        delay_ticks: From the call's end to the first start of its work, 0 when that is before.
    """

    call: Ints
    name: Ints
    work: Ints
    host_ticks: Ints
    device_ticks: Ints
    delay_ticks: Ints

    @property
    def short(self) -> Array:
        """Which calls started work that took less time than the call."""
        short: Array = self.device_ticks < self.host_ticks
        return short


def launch_calls(profile: Profile) -> LaunchCalls:
    """The calls that launched device work."""
    runs, nodes = profile.executions, profile.nodes
    pairs = launched(profile)
    call, first, which, work = np.unique(
        pairs.call, return_index=True, return_inverse=True, return_counts=True
    )
    device = np.zeros(len(call), np.int64)
    np.add.at(device, which, pairs.device_ticks)
    delay = np.full(len(call), np.iinfo(np.int64).max)
    np.minimum.at(delay, which, pairs.delay_ticks)

    own_name = nodes.name[runs.node[call]].astype(np.int64)
    is_graph = (work > 1) | np.isin(own_name, _graph_launches(profile, own_name))
    work_name = nodes.name[runs.node[pairs.work[first]]]
    name = np.where(is_graph, own_name, work_name).astype(np.int64)
    return LaunchCalls(
        call=call,
        name=name,
        work=work,
        host_ticks=runs.duration_ticks[call],
        device_ticks=device,
        delay_ticks=delay,
    )


def _graph_launches(profile: Profile, names: Ints) -> list[int]:
    """Which names are those of calls that launch a graph, such as cudaGraphLaunch."""
    distinct = np.unique(names).tolist()
    return [name for name in distinct if name >= 0 and "GraphLaunch" in profile.strings[name]]


@dataclass(frozen=True)
class StreamIdle:
    """The gaps of a stream, by cause. Definitions of HTA.

    Attributes:
        host_bound_ticks: The next work was launched only after the last had ended: the host was late.
        kernel_gap_ticks: It was queued in time, and the gap is short: the cost of going on to the next.
        other_ticks: It was queued in time, yet the stream waited: for an event, another stream, a copy.
        mean_queue, max_queue: How much work was launched and not yet started, over the moments at which that changes.
    """

    device: str
    stream: str
    count: int
    busy_ticks: int
    host_bound_ticks: int
    kernel_gap_ticks: int
    other_ticks: int
    mean_queue: tuple[int, int]
    max_queue: int

    @property
    def idle_ticks(self) -> int:
        """All gaps between the first and the last work."""
        return self.host_bound_ticks + self.kernel_gap_ticks + self.other_ticks


def stream_idle(profile: Profile, category: Ints) -> tuple[StreamIdle, ...]:
    """The gaps of every stream of an accelerator."""
    runs, lanes = profile.executions, profile.lanes
    found = []
    for lane in np.flatnonzero(lanes.kind == LaneKind.ACCELERATOR).tolist():
        rows = np.flatnonzero((runs.lane == lane) & np.isin(category, DEVICE_CATEGORIES))
        if len(rows):
            found.append(
                _idle(profile, lane, rows[np.argsort(runs.start_ticks[rows], kind="stable")])
            )
    return tuple(found)


def _idle(profile: Profile, lane: int, rows: Ints) -> StreamIdle:
    runs, lanes = profile.executions, profile.lanes
    start = runs.start_ticks[rows]
    reached = np.maximum.accumulate(start + runs.duration_ticks[rows])
    gap = np.maximum(start[1:] - reached[:-1], 0)
    call = runs.launch[rows[1:]]
    late = (call >= 0) & (runs.start_ticks[call] > reached[:-1])
    brief = ~late & (gap * profile.tick_ps < KERNEL_GAP_PS)
    queue = queue_length(profile, rows)[1]
    idle = int(gap.sum())
    host, kernel = int(gap[late].sum()), int(gap[brief].sum())
    device, stream = (
        profile.strings[int(i)] if i >= 0 else "" for i in (lanes.device[lane], lanes.name[lane])
    )
    busy = int(reached[-1] - start[0]) - idle
    mean = (int(queue.sum()), len(queue))
    return StreamIdle(
        device,
        stream,
        len(rows),
        busy,
        host,
        kernel,
        idle - host - kernel,
        mean,
        int(queue.max(initial=0)),
    )


def queue_length(profile: Profile, rows: Ints) -> tuple[Ints, Ints]:
    """How many launches of some device work have not started, after each launch and each start, by time.

    A graph launch is one, and starts with the first work of the graph.
    """
    runs = profile.executions
    queued = rows[runs.launch[rows] >= 0]
    by_start = queued[np.argsort(runs.start_ticks[queued], kind="stable")]
    calls, first = np.unique(runs.launch[by_start], return_index=True)
    time = np.concatenate((runs.start_ticks[calls], runs.start_ticks[by_start[first]]))
    change = np.repeat([1, -1], len(calls))
    order = np.lexsort((-change, time))
    return time[order], np.cumsum(change[order])


@dataclass(frozen=True, eq=False)
class Launches:
    """Launches of a profile, by what was launched, and the streams that wait for them."""

    profile: Profile
    calls: LaunchCalls
    streams: tuple[StreamIdle, ...]

    def to_json(self) -> dict[str, Any]:
        """The document: times in ps, rows with most delay first; `queue_mean` is `[sum, count]`."""
        tick = self.profile.tick_ps
        return {
            "launches": len(self.calls.call),
            "short": int(self.calls.short.sum()),
            "delay_ps": int(self.calls.delay_ticks.sum()) * tick,
            "rows": self._rows(),
            "streams": [self._stream(stream) for stream in self.streams],
        }

    def _stream(self, stream: StreamIdle) -> dict[str, Any]:
        tick = self.profile.tick_ps
        return {
            "device": stream.device,
            "stream": stream.stream,
            "count": stream.count,
            "busy_ps": stream.busy_ticks * tick,
            "idle_ps": stream.idle_ticks * tick,
            "host_bound_ps": stream.host_bound_ticks * tick,
            "kernel_gap_ps": stream.kernel_gap_ticks * tick,
            "other_ps": stream.other_ticks * tick,
            "queue_mean": list(stream.mean_queue),
            "queue_max": stream.max_queue,
        }

    def _rows(self) -> list[dict[str, Any]]:
        """One row for each name of what was launched."""
        calls = self.calls
        names, which = np.unique(calls.name, return_inverse=True)
        order = np.argsort(which, kind="stable")
        end = np.cumsum(np.bincount(which, minlength=len(names)))
        rows = []
        for place, name in enumerate(names.tolist()):
            begin = int(end[place - 1]) if place else 0
            rows.append(self._row(name, order[begin : end[place]]))
        return sorted(rows, key=lambda row: -row["delay_ps"])

    def _row(self, name: int, members: Ints) -> dict[str, Any]:
        tick = self.profile.tick_ps
        calls = self.calls
        delay = np.sort(calls.delay_ticks[members])
        return {
            "name": self.profile.strings[name] if name >= 0 else "",
            "count": len(members),
            "device_ps": int(calls.device_ticks[members].sum()) * tick,
            "host_ps": int(calls.host_ticks[members].sum()) * tick,
            "delay_ps": int(delay.sum()) * tick,
            "short": int(calls.short[members].sum()),
            "delay_p50_ps": nearest_rank(delay, 50) * tick,
            "delay_p95_ps": nearest_rank(delay, 95) * tick,
            "delay_max_ps": int(delay[-1]) * tick,
        }


def launches(profile: Profile) -> Launches:
    """Launch statistics by what was launched, and idle time by cause and stream."""
    return Launches(
        profile=profile,
        calls=launch_calls(profile),
        streams=stream_idle(profile, execution_categories(profile)),
    )

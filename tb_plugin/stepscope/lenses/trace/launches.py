"""How work reaches the accelerator: launch delays, short kernels, queues, and why streams stand idle."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from stepscope.lenses.trace.categories import DEVICE_CATEGORIES, execution_categories
from stepscope.model.columns import Array, Ints
from stepscope.model.profile import LaneKind, Profile

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

    @property
    def short(self) -> Array:
        """Which work took less time than its launch."""
        short: Array = self.device_ticks < self.host_ticks
        return short


def launched(profile: Profile) -> Launched:
    """Pairs device work with the calls that launched it; work whose launch is not recorded is left out."""
    runs = profile.executions
    work = np.flatnonzero(runs.launch >= 0)
    call = runs.launch[work].astype(np.int64)
    host, device = runs.duration_ticks[call], runs.duration_ticks[work]
    delay = np.maximum(runs.start_ticks[work] - runs.start_ticks[call] - host, 0)
    return Launched(work, call, host, device, delay)


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
            found.append(_idle(profile, lane, rows[np.argsort(runs.start_ticks[rows], kind="stable")]))
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
    device, stream = (profile.strings[int(i)] if i >= 0 else "" for i in (lanes.device[lane], lanes.name[lane]))
    busy = int(reached[-1] - start[0]) - idle
    mean = (int(queue.sum()), len(queue))
    return StreamIdle(
        device, stream, len(rows), busy, host, kernel, idle - host - kernel, mean, int(queue.max(initial=0))
    )


def queue_length(profile: Profile, rows: Ints) -> tuple[Ints, Ints]:
    """How much of some device work is launched and has not started, after each launch and each start, by time."""
    runs = profile.executions
    queued = rows[runs.launch[rows] >= 0]
    time = np.concatenate((runs.start_ticks[runs.launch[queued]], runs.start_ticks[queued]))
    change = np.repeat([1, -1], len(queued))
    order = np.lexsort((-change, time))
    return time[order], np.cumsum(change[order])


@dataclass(frozen=True, eq=False)
class Launches:
    """Launches of a profile, by what was launched, and the streams that wait for them."""

    profile: Profile
    pairs: Launched
    streams: tuple[StreamIdle, ...]

    def to_json(self) -> dict[str, Any]:
        """The document: times in ps, rows with most delay first; `queue_mean` is `[sum, count]`."""
        tick, pairs = self.profile.tick_ps, self.pairs
        return {
            "launches": len(pairs.work),
            "short": int(pairs.short.sum()),
            "delay_ps": int(pairs.delay_ticks.sum()) * tick,
            "rows": self._rows(),
            "streams": [
                {
                    "device": one.device,
                    "stream": one.stream,
                    "count": one.count,
                    "busy_ps": one.busy_ticks * tick,
                    "idle_ps": one.idle_ticks * tick,
                    "host_bound_ps": one.host_bound_ticks * tick,
                    "kernel_gap_ps": one.kernel_gap_ticks * tick,
                    "other_ps": one.other_ticks * tick,
                    "queue_mean": list(one.mean_queue),
                    "queue_max": one.max_queue,
                }
                for one in self.streams
            ],
        }

    def _rows(self) -> list[dict[str, Any]]:
        runs, nodes, pairs = self.profile.executions, self.profile.nodes, self.pairs
        name, which = np.unique(nodes.name[runs.node[pairs.work]], return_inverse=True)
        order = np.lexsort((pairs.delay_ticks, which))
        end = np.cumsum(np.bincount(which, minlength=len(name)))
        begin = np.append(0, end[:-1])
        delay = pairs.delay_ticks[order]
        rank = {share: np.maximum(begin, begin - (-(end - begin) * share // 100) - 1) for share in (50, 95, 100)}
        sums = {
            "device_ps": pairs.device_ticks,
            "host_ps": pairs.host_ticks,
            "delay_ps": pairs.delay_ticks,
            "short": pairs.short.astype(np.int64),
        }
        columns: dict[str, Ints] = {"count": end - begin}
        for field, values in sums.items():
            total = np.zeros(len(name), np.int64)
            np.add.at(total, which, values)
            columns[field] = total
        columns |= {
            "delay_p50_ps": delay[rank[50]],
            "delay_p95_ps": delay[rank[95]],
            "delay_max_ps": delay[rank[100]],
        }
        scaled = {f: (v * self.profile.tick_ps if f.endswith("_ps") else v).tolist() for f, v in columns.items()}
        texts = [self.profile.strings[i] if i >= 0 else "" for i in name.tolist()]
        rows = [{"name": texts[i]} | {f: v[i] for f, v in scaled.items()} for i in range(len(name))]
        return sorted(rows, key=lambda row: -row["delay_ps"])


def launches(profile: Profile) -> Launches:
    """Launch statistics by kernel, and idle time by cause and stream."""
    return Launches(profile, launched(profile), stream_idle(profile, execution_categories(profile)))

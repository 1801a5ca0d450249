"""Where one host thread waits for another, such as a training loop for autograd's thread.

A trace does not say it. The main thread is taken to wait for another where it is in no op, nothing of it begins
or ends, and the other thread works for most of that time.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from stepscope.lenses.trace.spans import Spans
from stepscope.model.columns import Array, Ints
from stepscope.model.profile import NodeKind, Profile

_LEAST_PS = 20_000_000
_BUSY = 0.5


@dataclass(frozen=True, eq=False)
class HandOvers:
    """Points at which threads wake each other.

    Attributes:
        time: In ticks.
        lane: The thread of the point.
        wait: The row of this table that the point waits for, -1 for none.
    """

    time: Ints
    lane: Ints
    wait: Ints


def hand_overs(profile: Profile, on_host: Array, main: int) -> HandOvers:
    """The points of all threads that the main one waits for; four for each time that it does."""
    runs = profile.executions
    start = runs.start_ticks.astype(np.int64)
    end = start + runs.duration_ticks
    lane = runs.lane
    of_main = np.flatnonzero(on_host & (lane == main))
    moments = np.sort(np.concatenate((start[of_main], end[of_main])))
    kind = profile.nodes.kind[runs.node[of_main]]
    ops = of_main[(kind == NodeKind.OP) | (kind == NodeKind.RUNTIME)]
    in_op = Spans.union(start[ops], end[ops])
    others = [int(other) for other in np.unique(lane[on_host]).tolist() if other not in (main, -1)]
    time: list[int] = []
    lanes: list[int] = []
    wait: list[int] = []
    for other in others:
        rows = np.flatnonzero(on_host & (lane == other))
        bursts = _bursts(start[rows], end[rows], moments, in_op, _LEAST_PS // profile.tick_ps)
        for asleep, first, last, awake in bursts:
            base = len(time)
            time += [asleep, first, last, awake]
            lanes += [main, other, other, main]
            wait += [-1, base, -1, base + 2]
    return HandOvers(np.array(time, np.int64), np.array(lanes, np.int64), np.array(wait, np.int64))


def _bursts(
    start: Ints, end: Ints, moments: Ints, in_op: Spans, least: int
) -> list[tuple[int, int, int, int]]:
    """Last moment of the main thread, first and last of the other, and next of the main, for each wait."""
    if not len(moments) or not len(start):
        return []
    after = np.searchsorted(moments, start, side="right")
    known = (after > 0) & (after < len(moments))
    busy = Spans.union(start, end)
    bursts = []
    for place in np.unique(after[known]).tolist():
        asleep, awake = int(moments[place - 1]), int(moments[place])
        inside = after == place
        first, last = int(start[inside].min()), int(end[inside].max())
        if awake - asleep < least or last > awake:
            continue
        window = np.array([asleep]), np.array([awake])
        mostly = int(busy.within(*window)[0]) >= _BUSY * (awake - asleep)
        if mostly and not int(in_op.within(*window)[0]):
            bursts.append((asleep, first, last, awake))
    return bursts

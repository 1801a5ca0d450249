"""Goodput: the wall time of a job over all its restarts, partitioned exactly.

Parts are integer nanoseconds and add up to the wall time. Each instant counts toward the first part of `PARTS` that
any rank is in: a synchronous job waits for its slowest rank. Definitions: docs/goodput.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from stepscope.lenses.throughput.goodput_attempts import RankAttempt, group_attempts, rank_attempts
from stepscope.model.arrays import I64
from stepscope.model.throughput import Throughput

PARTS = (
    "restore",
    "compile",
    "checkpoint",
    "evaluation",
    "profile",
    "start_up",
    "lost_work",
    "input_wait",
    "stall",
    "training",
    "unknown",
    "downtime",
)
"""The parts of a job's wall time, in order of priority."""
ROLLING_WINDOWS = 20

_SPAN_PARTS = {
    "restore": "restore",
    "compile": "compile",
    "checkpoint": "checkpoint",
    "evaluation": "evaluation",
    "profile": "profile",
    "data": "input_wait",
    "pause": "stall",
}
_STALL_FACTOR = 10
"""A step this many times as long as the median step stalls; the excess over the median counts."""
_LARGEST_MEAN = 3
"""Results arrive in blocks where the mean step exceeds the median this many times: no interval is a stall there."""


@dataclass(frozen=True)
class _Timeline:
    """Segments side by side, without gaps: segment i lasts from edges[i] to edges[i + 1]."""

    edges: I64
    parts: I64


def goodput(records: Sequence[Throughput]) -> list[dict[str, Any]]:
    """The goodput document of each job.

    Args:
        records: Throughput records of all ranks and restarts. Records of one `header.job` belong together.
            Records without a job form one job of name "".

    Returns:
        Of each job {"job", "attempts", "parts_ns", "wall_ns", "goodput", "rolling", "lost_steps",
        "mean_time_between_failures_ns", "unplaced"}. `unplaced` lists series without a wall clock or without times.
    """
    jobs: dict[str, list[Throughput]] = {}
    for record in records:
        jobs.setdefault(record.header.job, []).append(record)
    return [_job(name, members) for name, members in sorted(jobs.items())]


def _job(name: str, records: Sequence[Throughput]) -> dict[str, Any]:
    ranks: list[RankAttempt] = []
    unplaced: list[str] = []
    for record in records:
        placed = rank_attempts(record)
        ranks += placed
        if not placed:
            unplaced.append(record.name)

    attempts = group_attempts(ranks)
    timelines: list[_Timeline] = []
    documents: list[dict[str, Any]] = []
    lost_steps = 0
    for index, attempt in enumerate(attempts):
        resume = _resume_step(attempts[index + 1 :])
        timeline = _timeline(attempt, resume)
        lost = max((_lost_steps(rank, resume) for rank in attempt), default=0)
        lost_steps += lost
        timelines.append(timeline)
        documents.append(_attempt(index, attempt, timeline, lost))

    whole = _join(timelines)
    parts = _parts(whole)
    wall_ns = sum(parts.values())
    failures = len(attempts) - 1
    running_ns = wall_ns - parts["downtime"]
    return {
        "job": name,
        "attempts": documents,
        "parts_ns": parts,
        "wall_ns": wall_ns,
        "goodput": parts["training"] / wall_ns if wall_ns else None,
        "rolling": _rolling(whole),
        "lost_steps": lost_steps,
        "mean_time_between_failures_ns": running_ns // failures if failures > 0 else None,
        "unplaced": unplaced,
    }


def _attempt(
    index: int, attempt: Sequence[RankAttempt], timeline: _Timeline, lost: int
) -> dict[str, Any]:
    return {
        "attempt": index,
        "start_ns": str(int(timeline.edges[0])),
        "end_ns": str(int(timeline.edges[-1])),
        "ranks": sorted({rank.rank for rank in attempt}),
        "parts_ns": _parts(timeline),
        "lost_steps": lost,
    }


def _resume_step(later: Sequence[Sequence[RankAttempt]]) -> int | None:
    """The earliest step that a later attempt begins with; None where no later attempt states one."""
    steps = [rank.first_step for attempt in later for rank in attempt if rank.first_step >= 0]
    return min(steps, default=None)


def _lost_steps(rank: RankAttempt, resume: int | None) -> int:
    if resume is None or rank.first_step < 0:
        return 0
    return max(0, rank.last_step - max(resume, rank.first_step) + 1)


def _timeline(attempt: Sequence[RankAttempt], resume: int | None) -> _Timeline:
    """The parts of one attempt."""
    starts: list[I64] = []
    ends: list[I64] = []
    priorities: list[I64] = []

    def add(part: str, start: I64, end: I64) -> None:
        starts.append(start)
        ends.append(end)
        priorities.append(np.full(len(start), PARTS.index(part), np.int64))

    for rank in attempt:
        add("unknown", _at(rank.start_ns), _at(rank.end_ns))
        for kind, start_ns, end_ns in rank.spans:
            if kind in _SPAN_PARTS:
                add(_SPAN_PARTS[kind], _at(start_ns), _at(end_ns))
        if not len(rank.time_ns):
            continue
        first_ns = int(rank.time_ns[0])
        last_ns = int(rank.time_ns[-1])
        add("start_up", _at(rank.start_ns), _at(first_ns))
        add("training", _at(first_ns), _at(last_ns))
        add("stall", *_stalls(rank))
        if _lost_steps(rank, resume):
            add("lost_work", _at(_lost_from(rank, resume)), _at(last_ns))
    return _sweep(np.concatenate(starts), np.concatenate(ends), np.concatenate(priorities))


def _at(time_ns: int) -> I64:
    return np.array([time_ns], np.int64)


def _lost_from(rank: RankAttempt, resume: int | None) -> int:
    """When the last step ended that no later attempt does again."""
    assert resume is not None
    again = int(np.argmax(rank.step >= resume))
    return int(rank.time_ns[max(0, again - 1)])


def _stalls(rank: RankAttempt) -> tuple[I64, I64]:
    """What steps far above the median take beyond it, where results arrive step by step."""
    none = np.empty(0, np.int64)
    steps_ns = np.diff(rank.time_ns)
    if not len(steps_ns):
        return none, none
    median_ns = int(np.median(steps_ns))
    if float(np.mean(steps_ns)) > _LARGEST_MEAN * median_ns:
        return none, none
    long = np.flatnonzero(steps_ns > _STALL_FACTOR * median_ns)
    return rank.time_ns[long] + median_ns, rank.time_ns[long + 1]


def _sweep(starts: I64, ends: I64, priorities: I64) -> _Timeline:
    """Between all edges the first part that covers the segment."""
    edges = np.unique(np.concatenate((starts, ends)))
    parts = np.full(len(edges) - 1, PARTS.index("unknown"), np.int64)
    for priority in range(len(PARTS) - 1, -1, -1):
        matching = priorities == priority
        change = np.zeros(len(edges), np.int64)
        np.add.at(change, np.searchsorted(edges, starts[matching]), 1)
        np.add.at(change, np.searchsorted(edges, ends[matching]), -1)
        parts[np.cumsum(change)[:-1] > 0] = priority
    return _Timeline(edges, parts)


def _join(timelines: Sequence[_Timeline]) -> _Timeline:
    """All attempts in order, with the downtime between them."""
    if not timelines:
        return _Timeline(np.zeros(1, np.int64), np.empty(0, np.int64))
    edges = np.concatenate([timeline.edges for timeline in timelines])
    parts: list[I64] = []
    for timeline in timelines:
        parts += [timeline.parts, _at(PARTS.index("downtime"))]
    return _Timeline(edges, np.concatenate(parts[:-1]))


def _parts(timeline: _Timeline) -> dict[str, int]:
    lengths = np.diff(timeline.edges)
    return {part: int(lengths[timeline.parts == index].sum()) for index, part in enumerate(PARTS)}


def _rolling(timeline: _Timeline) -> list[dict[str, Any]]:
    """The share of training in windows of equal length."""
    first = int(timeline.edges[0])
    wall_ns = int(timeline.edges[-1]) - first
    if wall_ns < ROLLING_WINDOWS:
        return []
    training = timeline.parts == PARTS.index("training")
    windows = []
    for index in range(ROLLING_WINDOWS):
        start = first + wall_ns * index // ROLLING_WINDOWS
        end = first + wall_ns * (index + 1) // ROLLING_WINDOWS
        clipped = np.diff(np.clip(timeline.edges, start, end))
        share = int(clipped[training].sum()) / (end - start)
        windows.append({"start_ns": str(start), "end_ns": str(end), "goodput": share})
    return windows

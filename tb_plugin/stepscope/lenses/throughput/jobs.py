"""What the ranks of a job did together."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from stepscope.lenses.throughput.result import Series, numbers
from stepscope.model.arrays import I64
from stepscope.model.throughput import Throughput

MOST_SLOWEST = 8
MOST_TIMES = 50_000
DEVICE = re.compile(r" xla:\d+(?:/\d+)?$")
"""What a series of one device of several is called beside its name."""


def jobs(records: Sequence[Throughput], series: Sequence[Series]) -> tuple[dict[str, Any], ...]:
    """For each job and name with several ranks: the ranks' rates added up, and the slowest rank.

    Rates are added, never averaged: each rank counts its own samples. The slowest rank is the one with the longest
    median step. Ranks that wait for each other in every step are equally slow; then their data-wait shares differ.
    """
    groups: dict[tuple[str, str, str], list[int]] = {}
    for index, record in enumerate(records):
        if record.header.rank >= 0:
            name = DEVICE.sub("", record.name)
            groups.setdefault((record.header.job, name, record.unit), []).append(index)
    return tuple(
        _job(key, [series[index] for index in members])
        for key, members in groups.items()
        if len({series[index].rank for index in members}) > 1
    )


def _job(key: tuple[str, str, str], ranks: Sequence[Series]) -> dict[str, Any]:
    job, name, unit = key
    timed = [one for one in ranks if one.statistics["step_time"]]
    slowest = max(timed, key=lambda one: (one.statistics["step_time"]["p50_ns"], one.rank), default=None)
    return {
        "job": job,
        "name": name,
        "unit": unit,
        "ranks": sorted(one.rank for one in ranks),
        "per_sec": {kind: _sum(ranks, kind) for kind in ("whole_time", "windowed", "training_only")},
        "slowest_rank": slowest.rank if slowest else None,
        "slowest_run": slowest.run if slowest else None,
        "slowest_ranks": _slowest(timed),
        "slowest_p50_ns": slowest.statistics["step_time"]["p50_ns"] if slowest else None,
        "fastest_p50_ns": min((one.statistics["step_time"]["p50_ns"] for one in timed), default=None),
        **_together(ranks),
    }


def _slowest(timed: Sequence[Series]) -> list[dict[str, Any]]:
    """The ranks with the longest median steps, the longest first."""
    ordered = sorted(timed, key=lambda series: (-series.statistics["step_time"]["p50_ns"], series.rank))
    ranks = []
    for series in ordered[:MOST_SLOWEST]:
        p50_ns = series.statistics["step_time"]["p50_ns"]
        ranks.append({"rank": series.rank, "run": series.run, "p50_ns": p50_ns})
    return ranks


def _together(ranks: Sequence[Series]) -> dict[str, Any]:
    """The ranks' rates added up by time, while all of them run; empty where their clocks do not share an origin."""
    running = [series for series in ranks if len(series.time_ns)]
    times = np.empty(0, np.int64)
    clocks: list[I64] = []
    if len(running) == len(ranks) and all(series.clock == "unix" for series in ranks):
        # A clock may step back; what was reached stays reached.
        clocks = [np.maximum.accumulate(series.time_ns) for series in running]
        times = _common_times(clocks)
    step = np.full(len(times), np.iinfo(np.int64).max)
    total = np.zeros(len(times), np.int64)
    local, average = np.zeros(len(times)), np.zeros(len(times))
    if len(times):
        # One rank after the other: a thousand ranks side by side do not fit the memory.
        for series, clock in zip(running, clocks, strict=True):
            place = np.searchsorted(clock, times, side="right") - 1
            step = np.minimum(step, series.step[place])
            total += series.total[place]
            local += series.local[place]
            average += series.average[place]
    return {
        "time_ns": list(map(str, times.tolist())),
        "step": [reached if reached >= 0 else None for reached in step.tolist()],
        "total": total.tolist(),
        "local_samples_per_sec": numbers(local),
        "avg_samples_per_sec": numbers(average),
    }


def _common_times(clocks: Sequence[I64]) -> I64:
    """Times at which rates are added up, while all ranks run: all their samples, of many those of one rank."""
    every = np.unique(max(clocks, key=len)) if sum(map(len, clocks)) > MOST_TIMES else np.unique(np.concatenate(clocks))
    first = max(int(clock[0]) for clock in clocks)
    last = min(int(clock[-1]) for clock in clocks)
    common: I64 = every[(every >= first) & (every <= last)]
    return common


def _sum(ranks: Sequence[Series], kind: str) -> float | None:
    values = [one.statistics[kind]["per_sec"] for one in ranks]
    return None if None in values else sum(values)

"""What the ranks of a job did together."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from stepscope.lenses.throughput.result import Series, known_steps, numbers
from stepscope.model.arrays import I64
from stepscope.model.throughput import Throughput

AVERAGES = ("whole_time", "windowed", "training_only")
MOST_SLOWEST = 8
MOST_TIMES = 50_000
DEVICE = re.compile(r" xla:\d+(?:/\d+)?$")
"""What a series of one device of several is called beside its name."""


def jobs(records: Sequence[Throughput], series: Sequence[Series]) -> tuple[dict[str, Any], ...]:
    """For each job and name with several ranks: the sum of the ranks' rates, and the slowest rank.

    Rates are added, never averaged: each rank counts its own samples. The slowest rank is the one
    with the longest median step. Ranks that wait for each other in every step are equally slow.
    Then their data-wait shares differ.
    """
    groups: dict[tuple[str, str, str], list[int]] = {}
    for index, record in enumerate(records):
        if record.header.rank >= 0:
            name = DEVICE.sub("", record.name)
            groups.setdefault((record.header.job, name, record.unit), []).append(index)
    documents = []
    for key, members in groups.items():
        ranks = [series[index] for index in members]
        if len({rank.rank for rank in ranks}) > 1:
            documents.append(_job(key, ranks))
    return tuple(documents)


def _job(key: tuple[str, str, str], ranks: Sequence[Series]) -> dict[str, Any]:
    job, name, unit = key
    timed = [series for series in ranks if series.statistics["step_time"]]
    return {
        "job": job,
        "name": name,
        "unit": unit,
        "ranks": sorted(series.rank for series in ranks),
        "per_sec": {average: _sum(ranks, average) for average in AVERAGES},
        **_extremes(timed),
        "slowest_ranks": _slowest(timed),
        **_together(ranks),
    }


def _p50_ns(series: Series) -> int:
    p50_ns: int = series.statistics["step_time"]["p50_ns"]
    return p50_ns


def _extremes(timed: Sequence[Series]) -> dict[str, Any]:
    """The ranks with the longest and the shortest median step; None where none is timed."""
    if not timed:
        names = ("slowest_rank", "slowest_run", "slowest_p50_ns", "fastest_p50_ns")
        return dict.fromkeys(names)
    slowest = max(timed, key=lambda series: (_p50_ns(series), series.rank))
    return {
        "slowest_rank": slowest.rank,
        "slowest_run": slowest.run,
        "slowest_p50_ns": _p50_ns(slowest),
        "fastest_p50_ns": min(_p50_ns(series) for series in timed),
    }


def _slowest(timed: Sequence[Series]) -> list[dict[str, Any]]:
    """The ranks with the longest median steps, the longest first."""
    ordered = sorted(timed, key=lambda series: (-_p50_ns(series), series.rank))
    ranks = []
    for series in ordered[:MOST_SLOWEST]:
        ranks.append({"rank": series.rank, "run": series.run, "p50_ns": _p50_ns(series)})
    return ranks


def _together(ranks: Sequence[Series]) -> dict[str, Any]:
    """The ranks' rates added up by time, while all of them run.

    Empty where their clocks do not share an origin.
    """
    running = [series for series in ranks if len(series.time_ns)]
    times = np.empty(0, np.int64)
    clocks: list[I64] = []
    if len(running) == len(ranks) and all(series.clock == "unix" for series in ranks):
        # A clock may step back; what was reached stays reached.
        clocks = [np.maximum.accumulate(series.time_ns) for series in running]
        times = _common_times(clocks)
    step = np.full(len(times), np.iinfo(np.int64).max)
    total = np.zeros(len(times), np.int64)
    local = np.zeros(len(times))
    average = np.zeros(len(times))
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
        "step": known_steps(step),
        "total": total.tolist(),
        "local_samples_per_sec": numbers(local),
        "avg_samples_per_sec": numbers(average),
    }


def _common_times(clocks: Sequence[I64]) -> I64:
    """Times at which rates are added up, while all ranks run: those of all samples."""
    sampled = clocks
    if sum(len(clock) for clock in clocks) > MOST_TIMES:
        # Of many samples those of one rank are enough for a chart.
        sampled = [max(clocks, key=len)]
    every = np.unique(np.concatenate(sampled))
    first = max(int(clock[0]) for clock in clocks)
    last = min(int(clock[-1]) for clock in clocks)
    common: I64 = every[(every >= first) & (every <= last)]
    return common


def _sum(ranks: Sequence[Series], kind: str) -> float | None:
    total = 0.0
    for series in ranks:
        per_sec: float | None = series.statistics[kind]["per_sec"]
        if per_sec is None:
            return None
        total += per_sec
    return total

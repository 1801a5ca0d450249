"""What the ranks of a job did together."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stepscope.lenses.throughput.result import Series, numbers
from stepscope.model.throughput import Throughput

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
        "slowest_p50_ns": slowest.statistics["step_time"]["p50_ns"] if slowest else None,
        "fastest_p50_ns": min((one.statistics["step_time"]["p50_ns"] for one in timed), default=None),
        **_together(ranks),
    }


def _together(ranks: Sequence[Series]) -> dict[str, Any]:
    """The ranks' rates added up by time, while all of them run; empty where their clocks do not share an origin."""
    running = [one for one in ranks if len(one.time_ns)]
    if len(running) < len(ranks) or any(one.clock != "unix" for one in ranks):
        times = np.empty(0, np.int64)
    else:
        # A clock may step back; what was reached stays reached.
        clocks = [np.maximum.accumulate(one.time_ns) for one in running]
        every = np.unique(np.concatenate(clocks))
        times = every[(every >= max(clock[0] for clock in clocks)) & (every <= min(clock[-1] for clock in clocks))]
    places = [np.searchsorted(clock, times, side="right") - 1 for clock in clocks] if len(times) else []
    steps = _reached([one.step for one in running], places)
    return {
        "time_ns": list(map(str, times.tolist())),
        "step": [step if step >= 0 else None for step in steps.tolist()],
        "total": _added([one.total for one in running], places).tolist(),
        "local_samples_per_sec": numbers(_added([one.local for one in running], places)),
        "avg_samples_per_sec": numbers(_added([one.average for one in running], places)),
    }


def _added(columns: Sequence[NDArray[Any]], places: Sequence[NDArray[np.int64]]) -> NDArray[Any]:
    """The sum over ranks of the last value of each."""
    values = [column[place] for column, place in zip(columns, places, strict=bool(places))]
    return np.sum(values, axis=0) if values else np.empty(0)


def _reached(steps: Sequence[NDArray[np.int64]], places: Sequence[NDArray[np.int64]]) -> NDArray[np.int64]:
    """The step that all ranks have reached, -1 where one does not say."""
    values = [step[place] for step, place in zip(steps, places, strict=bool(places))]
    return np.min(values, axis=0) if values else np.empty(0, np.int64)


def _sum(ranks: Sequence[Series], kind: str) -> float | None:
    values = [one.statistics[kind]["per_sec"] for one in ranks]
    return None if None in values else sum(values)

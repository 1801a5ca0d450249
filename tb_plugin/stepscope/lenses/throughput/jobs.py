"""What the ranks of a job did together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from stepscope.lenses.throughput.result import Series
from stepscope.model.throughput import Throughput


def jobs(records: Sequence[Throughput], series: Sequence[Series]) -> tuple[dict[str, Any], ...]:
    """For each job and name with several ranks: the ranks' rates added up, and the slowest rank.

    Rates are added, never averaged: each rank counts its own samples. The slowest rank is the one with the longest
    median step. Ranks that wait for each other in every step are equally slow; then their data-wait shares differ.
    """
    groups: dict[tuple[str, str, str], list[int]] = {}
    for index, record in enumerate(records):
        if record.header.rank >= 0:
            groups.setdefault((record.header.job, record.name, record.unit), []).append(index)
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
    }


def _sum(ranks: Sequence[Series], kind: str) -> float | None:
    values = [one.statistics[kind]["per_sec"] for one in ranks]
    return None if None in values else sum(values)

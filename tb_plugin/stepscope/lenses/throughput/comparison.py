"""Two results side by side."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from stepscope.lenses.comparison import Comparison
from stepscope.lenses.throughput.options import ThroughputOptions
from stepscope.lenses.throughput.result import Series, ThroughputResult

AVERAGES = ("whole_time", "windowed", "training_only")
STEP_TIMES = ("mean_ns", "p50_ns", "p95_ns", "max_ns")
PLAIN = ("steps_per_sec", "mfu", "data_wait_share", "time_to_first_sample_ns", "samples_to_date", "last_step")


def compare(a: ThroughputResult, b: ThroughputResult, options: ThroughputOptions | None = None) -> Comparison:
    """Compares two results, series by series: by name, or the only series of each whatever their names.

    Rows are by series and statistic; those of an average have a `speed_up` too: a over b.
    """
    mine, theirs = _by_name(a), _by_name(b)
    if len(mine) == len(theirs) == 1:
        theirs = dict(zip(mine, theirs.values(), strict=True))
    names = [*mine, *(name for name in theirs if name not in mine)]
    rows = tuple(row for name in names for row in _rows(name, mine.get(name), theirs.get(name)))
    unmatched = sum(row["state"] != "both" for row in rows)
    return Comparison(_title(a), _title(b), rows, unmatched / len(rows) if rows else 0.0)


def _by_name(result: ThroughputResult) -> dict[str, Series]:
    names = [series.name for series in result.series]
    several = len(set(names)) < len(names)
    return {f"{one.run}/{one.name}" if several else one.name: one for one in result.series}


def _title(result: ThroughputResult) -> str:
    return ", ".join(dict.fromkeys(series.run or series.name for series in result.series))


def _rows(name: str, a: Series | None, b: Series | None) -> Iterator[dict[str, Any]]:
    mine, theirs = _figures(a), _figures(b)
    for key in dict.fromkeys([*mine, *theirs]):
        left, right = mine.get(key), theirs.get(key)
        state = "both" if left and right else "added" if left else "removed"
        delta = _delta(left, right) if left and right else {}
        row = {"key": f"{name}/{key}", "a": left, "b": right, "delta": delta, "state": state}
        yield row | _speed_up(left or {}, right or {})


def _figures(series: Series | None) -> dict[str, dict[str, Any]]:
    if series is None:
        return {}
    found = series.statistics
    figures: dict[str, dict[str, Any]] = {
        kind: {"per_sec": found[kind]["per_sec"], "per_sec_per_device": found[kind]["per_sec_per_device"]}
        for kind in AVERAGES
    }
    if found["step_time"]:
        figures["step_time"] = {name: found["step_time"][name] for name in STEP_TIMES}
    figures |= {name: {"value": found[name]} for name in PLAIN}
    return {key: values for key, values in figures.items() if any(value is not None for value in values.values())}


def _delta(left: dict[str, Any], right: dict[str, Any]) -> dict[str, Any]:
    both = {key: (left[key], right[key]) for key in left if left[key] is not None and right[key] is not None}
    return {key: a - b for key, (a, b) in both.items()}


def _speed_up(left: dict[str, Any], right: dict[str, Any]) -> dict[str, float]:
    a, b = left.get("per_sec"), right.get("per_sec")
    return {"speed_up": a / b} if a is not None and b else {}

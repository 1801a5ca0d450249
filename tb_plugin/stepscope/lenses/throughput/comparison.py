"""Two results side by side."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from stepscope.lenses.comparison import Comparison
from stepscope.lenses.throughput.options import ThroughputOptions
from stepscope.lenses.throughput.result import Series, ThroughputResult

AVERAGES = ("whole_time", "windowed", "training_only")
PER_SECOND = ("per_sec", "per_sec_per_device")
STEP_TIMES = ("mean_ns", "p50_ns", "p95_ns", "max_ns")
PLAIN = (
    "steps_per_sec",
    "mfu",
    "data_wait_share",
    "time_to_first_sample_ns",
    "samples_to_date",
    "last_step",
)


def compare(
    a: ThroughputResult,
    b: ThroughputResult,
    options: ThroughputOptions | None = None,
) -> Comparison:
    """Compares two results, series by series: by name, or the only series of each by position.

    Rows are by series and statistic. Rows of an average have a `speed_up` too: a over b.
    """
    series_a = _by_name(a)
    series_b = _by_name(b)
    if len(series_a) == len(series_b) == 1:
        series_b = dict(zip(series_a, series_b.values(), strict=True))
    rows: list[dict[str, Any]] = []
    for name in dict.fromkeys([*series_a, *series_b]):
        rows.extend(_rows(name, series_a.get(name), series_b.get(name)))
    unmatched = sum(row["state"] != "both" for row in rows)
    return Comparison(
        _title(a),
        _title(b),
        tuple(rows),
        unmatched / max(len(rows), 1),
    )


def _by_name(result: ThroughputResult) -> dict[str, Series]:
    """Series by name; with their run where two have one name."""
    names = [series.name for series in result.series]
    if len(set(names)) == len(names):
        return dict(zip(names, result.series, strict=True))
    return {f"{series.run}/{series.name}": series for series in result.series}


def _title(result: ThroughputResult) -> str:
    return ", ".join(dict.fromkeys(series.run or series.name for series in result.series))


def _rows(name: str, a: Series | None, b: Series | None) -> Iterator[dict[str, Any]]:
    metrics_a = _metrics(a)
    metrics_b = _metrics(b)
    for key in dict.fromkeys([*metrics_a, *metrics_b]):
        left = metrics_a.get(key)
        right = metrics_b.get(key)
        row: dict[str, Any] = {"key": f"{name}/{key}", "a": left, "b": right}
        row |= {"delta": {}, "state": "both"}
        if left and right:
            row["delta"] = _delta(left, right)
            row |= _speed_up(left, right)
        elif left:
            row["state"] = "added"
        else:
            row["state"] = "removed"
        yield row


def _metrics(series: Series | None) -> dict[str, dict[str, Any]]:
    """The statistics of a series that are compared; those without any value are left out."""
    if series is None:
        return {}
    statistics = series.statistics
    metrics: dict[str, dict[str, Any]] = {}
    for average in AVERAGES:
        metrics[average] = {name: statistics[average][name] for name in PER_SECOND}
    if statistics["step_time"]:
        metrics["step_time"] = {name: statistics["step_time"][name] for name in STEP_TIMES}
    for name in PLAIN:
        metrics[name] = {"value": statistics[name]}
    return {key: values for key, values in metrics.items() if set(values.values()) != {None}}


def _delta(left: dict[str, Any], right: dict[str, Any]) -> dict[str, Any]:
    delta = {}
    for key, value in left.items():
        if value is not None and right[key] is not None:
            delta[key] = value - right[key]
    return delta


def _speed_up(left: dict[str, Any], right: dict[str, Any]) -> dict[str, float]:
    rate_a = left.get("per_sec")
    rate_b = right.get("per_sec")
    if rate_a is None or not rate_b:
        return {}
    return {"speed_up": rate_a / rate_b}

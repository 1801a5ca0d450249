"""A throughput document as flat rows."""

from __future__ import annotations

from stepscope.lenses.lens import Document, Row

COLUMNS = ("step", "time_ns", "total", "local_samples_per_sec", "avg_samples_per_sec")
AVERAGES = ("whole_time", "windowed", "training_only")
MOST_BRIEF = 20
NS_PER_MS = 1e6


def sample_rows(document: Document) -> list[Row]:
    """One row for each sample of each series."""
    rows: list[Row] = []
    for series in document["series"]:
        columns = [series[column] for column in COLUMNS]
        for values in zip(*columns, strict=True):
            row: Row = {"run": series.get("run", ""), "series": series["name"]}
            row.update(zip(COLUMNS, values, strict=True))
            rows.append(row)
    return rows


def series_rows(document: Document) -> list[Row]:
    """One row for each series: rates, step time, share of input wait, and rate against the best.

    The best one is the fastest series of the same unit.
    """
    best = _best_rates(document)
    rows = []
    for series in document["series"]:
        statistics = series["statistics"]
        row: Row = {"run": series.get("run", ""), "series": series["name"], "unit": series["unit"]}
        for average in AVERAGES:
            row[average] = statistics[average]["per_sec"]
        step_time = statistics["step_time"]
        row["step_p50_ms"] = None
        if step_time is not None:
            row["step_p50_ms"] = step_time["p50_ns"] / NS_PER_MS
        row["data_wait_share"] = statistics["data_wait_share"]
        row["vs_best"] = None
        rate = rate_of(series)
        highest = best.get(series["unit"])
        if rate is not None and highest:
            row["vs_best"] = rate / highest
        row["last_step"] = statistics["last_step"]
        kinds = dict.fromkeys(note["kind"] for note in series["annotations"])
        row["disturbances"] = ", ".join(kinds)
        rows.append(row)
    return rows


def rate_of(series: Document) -> float | None:
    """The rate that a series is ranked by: of the whole time, else of its last steps."""
    statistics = series["statistics"]
    whole: float | None = statistics["whole_time"]["per_sec"]
    last: float | None = statistics["windowed"]["per_sec"]
    if whole is None:
        return last
    return whole


def _best_rates(document: Document) -> dict[str, float]:
    best: dict[str, float] = {}
    for series in document["series"]:
        rate = rate_of(series)
        if rate is not None:
            best[series["unit"]] = max(best.get(series["unit"], 0.0), rate)
    return best


def disturbance_rows(document: Document) -> list[Row]:
    """One row for each annotation: what it is, where, and what it cost."""
    rows = []
    for series in document["series"]:
        for note in series["annotations"]:
            evidence = note["evidence"]
            lost_ns = evidence.get("net_ns", evidence.get("extra_ns", evidence.get("waited_ns")))
            lost_ms: float | None = None
            if lost_ns is not None:
                lost_ms = lost_ns / NS_PER_MS
            rows.append(
                {
                    "run": series.get("run", ""),
                    "series": series["name"],
                    "step": note["step"],
                    "disturbance": note["title"],
                    "lost_ms": lost_ms,
                }
            )
    return rows


def slowest_rows(document: Document) -> list[Row]:
    """The slowest ranks of each job."""
    rows = []
    for job in document.get("jobs", ()):
        for place in job["slowest_ranks"]:
            rows.append(
                {
                    "job": job["job"],
                    "series": job["name"],
                    "slowest_rank": place["rank"],
                    "run": place["run"],
                    "step_p50_ms": place["p50_ns"] / NS_PER_MS,
                }
            )
    return rows


def brief_text(rows: list[Row]) -> str:
    """A few columns of the series as aligned text."""
    lines = [("run", "series", "per second", "unit", "step p50 ms", "data wait", "vs best")]
    for row in rows[:MOST_BRIEF]:
        rate = row["whole_time"]
        if rate is None:
            rate = row["windowed"]
        lines.append(
            (
                str(row["run"]),
                str(row["series"]),
                _text(rate, ",.1f"),
                str(row["unit"]),
                _text(row["step_p50_ms"], ",.3f"),
                _text(row["data_wait_share"], ".1%"),
                _text(row["vs_best"], ".1%"),
            )
        )
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    texts = []
    for line in lines:
        cells = map(str.ljust, line, widths)
        texts.append("  ".join(cells).rstrip())
    if len(rows) > MOST_BRIEF:
        texts.append(f"and {len(rows) - MOST_BRIEF} more series")
    return "\n".join(texts)


def _text(value: float | None, form: str) -> str:
    if value is None:
        return "-"
    return format(value, form)

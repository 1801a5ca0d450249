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
    """One row for each series: rates, step time, share of input wait, and the rate against the best of its unit."""
    best = _best_rates(document)
    rows = []
    for series in document["series"]:
        statistics = series["statistics"]
        row: Row = {"run": series.get("run", ""), "series": series["name"], "unit": series["unit"]}
        for average in AVERAGES:
            row[average] = statistics[average]["per_sec"]
        step_time = statistics["step_time"]
        row["step_p50_ms"] = None if step_time is None else step_time["p50_ns"] / NS_PER_MS
        row["data_wait_share"] = statistics["data_wait_share"]
        rate, highest = rate_of(series), best.get(series["unit"])
        row["vs_best"] = rate / highest if rate is not None and highest else None
        row["last_step"] = statistics["last_step"]
        row["disturbances"] = ", ".join(dict.fromkeys(note["kind"] for note in series["annotations"]))
        rows.append(row)
    return rows


def rate_of(series: Document) -> float | None:
    """The rate that a series is ranked by: of the whole time, else of its last steps."""
    statistics = series["statistics"]
    whole: float | None = statistics["whole_time"]["per_sec"]
    last: float | None = statistics["windowed"]["per_sec"]
    return whole if whole is not None else last


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
            lost = evidence.get("net_ns", evidence.get("extra_ns", evidence.get("waited_ns")))
            rows.append(
                {
                    "run": series.get("run", ""),
                    "series": series["name"],
                    "step": note["step"],
                    "disturbance": note["title"],
                    "lost_ms": None if lost is None else lost / NS_PER_MS,
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
        rate = row["whole_time"] if row["whole_time"] is not None else row["windowed"]
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
    widths = [max(len(line[column]) for line in lines) for column in range(len(lines[0]))]
    texts = ["  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in lines]
    if len(rows) > MOST_BRIEF:
        texts.append(f"and {len(rows) - MOST_BRIEF} more series")
    return "\n".join(texts)


def _text(value: float | None, form: str) -> str:
    return "-" if value is None else format(value, form)

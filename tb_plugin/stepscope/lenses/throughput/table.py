"""A throughput document as flat rows."""

from __future__ import annotations

from stepscope.lenses.lens import Document, Row

COLUMNS = ("step", "time_ns", "total", "local_samples_per_sec", "avg_samples_per_sec")
AVERAGES = ("whole_time", "windowed", "training_only")


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
    """One row for each series with its averages."""
    rows = []
    for series in document["series"]:
        statistics = series["statistics"]
        row: Row = {"run": series.get("run", ""), "series": series["name"], "unit": series["unit"]}
        for average in AVERAGES:
            row[average] = statistics[average]["per_sec"]
        row["data_wait_share"] = statistics["data_wait_share"]
        row["last_step"] = statistics["last_step"]
        rows.append(row)
    return rows

"""metrics.csv of Lightning's CSVLogger with a ThroughputMonitor.

The monitor logs totals (`<stage>/time`, `<stage>/samples`) and a rate over its window. From the totals the samples are
counted; the monitor's own rate is kept as reported. Items, such as tokens, are a series of their own where it has them.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import numpy as np

from stepscope.errors import DamagedSource
from stepscope.model.columns import Header, Strings
from stepscope.model.diagnostic import Diagnostic
from stepscope.model.throughput import UNKNOWN_NS, Marks, RateSamples, Reported, Throughput
from stepscope.sources.content import content
from stepscope.sources.format import Format, Imported, NamedRecord, Progress
from stepscope.sources.throughput import figures

NS_PER_SECOND = 1e9
LARGEST = 2.0**53
LONGEST_SECONDS = 1e9
TOTALS = {"samples": "samples", "items": "lengths"}
"""The column with the total of each unit."""
Row = dict[str, str]


def recognise(path: Path, head: bytes) -> bool:
    """Whether it is a table with steps and rates."""
    columns = head.partition(b"\n")[0].strip().split(b",")
    return b"step" in columns and any(column.endswith(b"/samples_per_sec") for column in columns)


def read(path: Path, progress: Progress | None = None) -> Imported:
    """Reads a table of metrics.

    Raises:
        DamagedSource: No row has a rate that can be read.
    """
    with content(path) as data:
        text = bytes(data).decode("utf-8", "replace")
    rows = _rows(path, text)
    if progress is not None:
        progress(len(text), len(text))
    records = tuple(_series(path, rows))
    if not records:
        raise DamagedSource("no row with a rate", where=str(path), remedy="Give the CSVLogger's metrics.csv")
    return Imported(records, path.parent.name or path.stem)


def _rows(path: Path, text: str) -> list[Row]:
    table = csv.DictReader(io.StringIO(text))
    try:
        return list(table)
    except csv.Error as error:
        raise DamagedSource(
            f"CSV invalid at line {table.line_num} ({error})",
            where=str(path),
            remedy="Give the CSVLogger's metrics.csv as it was written",
        ) from error


def _series(path: Path, rows: list[Row]) -> Iterator[NamedRecord]:
    names = [name for name in (rows[0] if rows else {}) if name]
    for unit in TOTALS:
        rate = f"/{unit}_per_sec"
        stages: dict[str, list[str]] = {}
        for name in names:
            if name.endswith(rate):
                stages.setdefault(name.partition("/")[0], []).append(name)
        for stage, columns in stages.items():
            # The rate of all devices where it is logged, else that of one.
            column = next((name for name in (f"{stage}{rate}", f"{stage}/device{rate}") if name in columns), columns[0])
            found = [row for row in rows if _number(row, column) is not None]
            if found:
                record = _record(path, stage, unit, column, found)
                yield NamedRecord(stage, record, int(record.samples.step.max()))


def _number(row: Row, column: str) -> float | None:
    number = figures.rate(row.get(column))
    return number if number is not None and number < LARGEST else None


def _record(path: Path, stage: str, unit: str, column: str, rows: list[Row]) -> Throughput:
    step = np.array([int(_number(row, "step") or 0) for row in rows])
    times = [_number(row, f"{stage}/time") for row in rows]
    totals = [_number(row, f"{stage}/{TOTALS[unit]}") for row in rows]
    timed = None not in times
    time_ns = np.array([round(min(time or 0.0, LONGEST_SECONDS) * NS_PER_SECOND) for time in times], np.int64)
    counted = (
        timed and None not in totals and all(low <= high for low, high in pairwise(total for total in totals if total))
    )
    losses = () if timed else (Diagnostic("time", "no time is logged", len(rows), "Rates can be shown by step only"),)
    index = np.arange(len(rows))
    total = np.array([int(value or 0) for value in totals], np.int64)
    return Throughput(
        header=Header(producer="Lightning CSVLogger", source=path.name, losses=losses),
        name=stage,
        unit=unit,
        start_ns=0 if counted else UNKNOWN_NS,
        sampling_rule=f"at each logged row, as {column} over the monitor's window",
        devices=1 if "/device/" in column else 0,
        measured_at="the process of the logger",
        strings=Strings.of(()),
        marks=Marks(step=step, time_ns=time_ns, count=np.diff(total, prepend=0)) if counted else Marks(),
        samples=RateSamples(step=step, time_ns=time_ns, mark_end=index + 1 if counted else index * 0),
        reported=Reported(sample=index, local_samples_per_sec=np.array([_number(row, column) or 0.0 for row in rows])),
    )


FORMAT = Format("lightning_csv", "metrics.csv of Lightning's CSVLogger with rates", recognise, read)

"""metrics.csv of Lightning's CSVLogger with a ThroughputMonitor.

The monitor logs totals (`<stage>/time`, `<stage>/samples`) and a rate over its window. StepScope
counts samples from the totals and stores the monitor's rate as reported. Items, such as tokens, are
a separate series.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
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
        raise DamagedSource(
            "no row with a rate",
            where=str(path),
            remedy="Give the CSVLogger's metrics.csv",
        )
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
    """One series for each stage and unit."""
    if not rows:
        return
    names = [name for name in rows[0] if name]
    for unit in TOTALS:
        suffix = f"/{unit}_per_sec"
        stages: dict[str, list[str]] = {}
        for name in names:
            if name.endswith(suffix):
                stages.setdefault(name.partition("/")[0], []).append(name)
        for stage, columns in stages.items():
            column = _rate_column(columns, stage, suffix)
            rated = [row for row in rows if _number(row, column) is not None]
            if rated:
                record = _record(path, rated, stage=stage, unit=unit, column=column)
                yield NamedRecord(stage, record, int(record.samples.step.max()))


def _rate_column(columns: list[str], stage: str, suffix: str) -> str:
    """The rate of all devices where it is logged, else that of one."""
    for name in (f"{stage}{suffix}", f"{stage}/device{suffix}"):
        if name in columns:
            return name
    return columns[0]


def _number(row: Row, column: str) -> float | None:
    number = figures.rate(row.get(column))
    if number is None or number >= LARGEST:
        return None
    return number


def _record(path: Path, rows: list[Row], *, stage: str, unit: str, column: str) -> Throughput:
    step = np.array([int(_number(row, "step") or 0) for row in rows])
    times = [_number(row, f"{stage}/time") for row in rows]
    totals = [_number(row, f"{stage}/{TOTALS[unit]}") for row in rows]
    rates = [_number(row, column) or 0.0 for row in rows]
    seconds = np.array([min(time or 0.0, LONGEST_SECONDS) for time in times])
    time_ns = np.rint(seconds * NS_PER_SECOND).astype(np.int64)
    losses: tuple[Diagnostic, ...] = ()
    if None in times:
        remedy = "Rates can be shown by step only"
        losses = (Diagnostic("time", "no time is logged", len(rows), remedy),)
    index = np.arange(len(rows))
    start_ns = UNKNOWN_NS
    marks = Marks()
    mark_end = np.zeros(len(rows), np.int64)
    if None not in times and _are_totals(totals):
        total = np.array([int(value or 0) for value in totals], np.int64)
        start_ns = 0
        marks = Marks(step=step, time_ns=time_ns, count=np.diff(total, prepend=0))
        mark_end = index + 1
    return Throughput(
        header=Header(producer="Lightning CSVLogger", source=path.name, losses=losses),
        name=stage,
        unit=unit,
        start_ns=start_ns,
        sampling_rule=f"at each logged row, as {column} over the monitor's window",
        devices=int("/device/" in column),
        measured_at="the process of the logger",
        strings=Strings.of(()),
        marks=marks,
        samples=RateSamples(step=step, time_ns=time_ns, mark_end=mark_end),
        reported=Reported(sample=index, local_samples_per_sec=np.array(rates)),
    )


def _are_totals(totals: Sequence[float | None]) -> bool:
    """Whether a column is complete and never falls: then samples can be counted from it."""
    if None in totals:
        return False
    counted = [total for total in totals if total]
    return all(low <= high for low, high in pairwise(counted))


FORMAT = Format("lightning_csv", "metrics.csv of Lightning's CSVLogger with rates", recognise, read)

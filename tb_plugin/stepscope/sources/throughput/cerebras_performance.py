"""performance.json of Cerebras' model zoo: samples, time and rates at the end of a run.

`RateProfiler` writes `total_samples`, `total_time`, `rate`, `global_rate` and `samples_per_sec`, which is
`global_rate` again.
"""

from __future__ import annotations

import json
from pathlib import Path

from stepscope.errors import DamagedSource
from stepscope.sources.content import content
from stepscope.sources.format import Format, Imported, NamedRecord, Progress
from stepscope.sources.throughput import figures
from stepscope.sources.throughput.log_text import NS_PER_SECOND
from stepscope.sources.throughput.stated_series import Line, StatedSeries, record_of

KEYS = (b'"total_samples"', b'"total_time"', b'"samples_per_sec"')


def recognise(path: Path, head: bytes) -> bool:
    """Whether it is an object with the totals and a rate."""
    return head.lstrip()[:1] == b"{" and all(key in head for key in KEYS)


def read(path: Path, progress: Progress | None = None) -> Imported:
    """Reads the figures of a run.

    Raises:
        DamagedSource: It is not valid JSON, or has no total.
    """
    with content(path) as data:
        size = len(data)
        try:
            values = json.loads(bytes(data))
        except (ValueError, RecursionError) as error:
            raise DamagedSource(
                f"invalid JSON ({error})", where=str(path), remedy="Copy the file again"
            ) from error
    if progress is not None:
        progress(size, size)
    total = figures.whole(values.get("total_samples"))
    seconds = figures.rate(values.get("total_time"))
    if total is None or not seconds or seconds > 1e9:
        raise DamagedSource(
            "total_samples and total_time must be numbers",
            where=str(path),
            remedy="Copy the file again",
        )
    average = figures.rate(values.get("global_rate"))
    line = Line(
        step=figures.whole(values.get("total_steps")) or 0,
        duration_ns=round(seconds * NS_PER_SECOND),
        count=total,
        rate=figures.rate(values.get("rate")),
        average=average if average is not None else figures.rate(values.get("samples_per_sec")),
    )
    series = StatedSeries(
        name="train",
        unit="samples",
        producer="Cerebras performance.json",
        lines=[line],
        sampling_rule="at the end of the run",
    )
    record = record_of(series, path.name)
    return Imported((NamedRecord("train", record, None),), path.parent.name or path.stem)


FORMAT = Format("cerebras_performance", "performance.json of Cerebras' model zoo", recognise, read)

"""trainer_log.jsonl of LlamaFactory: one JSON object per log step, with elapsed time and tokens so far.

`throughput` is `total_tokens` over the time since the process began (LlamaFactory, `train/callbacks.py`): after a
resume it counts tokens of earlier processes. Rates are therefore computed from the totals.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

from stepscope.errors import DamagedSource
from stepscope.model.diagnostic import Diagnostic
from stepscope.sources.format import Format, Imported, NamedRecord, Progress
from stepscope.sources.throughput import figures, log_text
from stepscope.sources.throughput.log_marks import loggers
from stepscope.sources.throughput.stated_series import Line, StatedSeries, record_of

_ELAPSED = re.compile(r"^(?:(\d+) days?, )?(\d+):(\d\d):(\d\d)(?:\.\d+)?$")
DAY_S = 86_400
HOUR_S = 3_600
MINUTE_S = 60


def recognise(path: Path, head: bytes) -> bool:
    """Whether it has entries with `current_steps`."""
    return "llamafactory" in loggers(path, head)


def read(path: Path, progress: Progress | None = None) -> Imported:
    """Reads a trainer's log.

    Raises:
        DamagedSource: No entry has a step and an elapsed time.
    """
    entries, broken = _entries(path, progress)
    if not entries:
        raise DamagedSource(
            "no entry with current_steps and elapsed_time",
            where=str(path),
            remedy="Give trainer_log.jsonl as written",
        )
    tokens = any(figures.whole(entry.get("total_tokens")) for entry in entries)
    losses = []
    if broken:
        losses.append(
            Diagnostic(
                f"line {broken[0]}",
                "lines that are not valid JSON",
                len(broken),
                "Copy the file again",
            )
        )
    series = StatedSeries(
        name="train",
        unit="tokens" if tokens else "steps",
        producer="LlamaFactory",
        lines=_lines(entries, tokens=tokens),
        planned_steps=max(
            (figures.whole(entry.get("total_steps")) or 0 for entry in entries), default=0
        ),
        begins_ns={},
        losses=losses,
    )
    record = record_of(series, path.name)
    return Imported(
        (NamedRecord("train", record, series.lines[-1].step),), path.parent.name or path.stem
    )


def _entries(path: Path, progress: Progress | None) -> tuple[list[dict[str, object]], list[int]]:
    """Returns the training entries, and the numbers of lines that cannot be read."""
    entries = []
    broken = []
    for number, text in enumerate(log_text.lines(path, progress), 1):
        start = text.find('{"current_steps"')
        if start < 0:
            continue
        try:
            entry = json.loads(text[start:])
        except (ValueError, RecursionError):
            broken.append(number)
            continue
        step = figures.whole(entry.get("current_steps"))
        evaluated = "eval_loss" in entry or "predict_loss" in entry
        if step is not None and step >= 0 and not evaluated and _elapsed_ns(entry) is not None:
            entries.append(entry)
    return entries, broken


def _elapsed_ns(entry: dict[str, object]) -> int | None:
    match = _ELAPSED.match(str(entry.get("elapsed_time")))
    if match is None:
        return None
    days, hours, minutes, seconds = (int(part or 0) for part in match.groups())
    total_s = days * DAY_S + hours * HOUR_S + minutes * MINUTE_S + seconds
    if total_s >= figures.LARGEST // log_text.NS_PER_SECOND:
        return None
    return total_s * log_text.NS_PER_SECOND


def _lines(entries: list[dict[str, object]], *, tokens: bool) -> list[Line]:
    """Returns a line per entry, in sessions.

    An elapsed time or a step that goes back shows that a new process resumed the run.
    """
    lines: list[Line] = []
    session = 0
    last_ns = 0
    last_total = 0
    last_step = 0
    for entry in entries:
        step = figures.whole(entry.get("current_steps")) or 0
        elapsed_ns = _elapsed_ns(entry) or 0
        total = figures.whole(entry.get("total_tokens")) if tokens else step
        is_resumed = bool(lines) and (elapsed_ns < last_ns or step < last_step)
        if lines and not is_resumed and step == last_step:
            continue
        if is_resumed:
            session += 1
            last_ns = 0
        count = None
        # The log does not state what a resumed process trained before its first entry where
        # steps were done again.
        repeats_steps = is_resumed and step <= last_step
        if total is not None and total >= last_total and not repeats_steps:
            count = total - last_total
        lines.append(
            Line(
                step=step,
                duration_ns=elapsed_ns - last_ns,
                count=count,
                average=_stated(entry, tokens=tokens),
                session=session,
            )
        )
        last_ns = elapsed_ns
        last_step = step
        if total is not None:
            last_total = total
    return lines


def _stated(entry: dict[str, object], *, tokens: bool) -> float | None:
    if not tokens:
        return None
    return figures.rate(entry.get("throughput"))


FORMAT = Format("llamafactory_log", "trainer_log.jsonl of LlamaFactory", recognise, read)

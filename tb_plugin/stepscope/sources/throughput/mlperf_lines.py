"""Lines of MLPerf training logs, of all years: `:::MLLOG {json}`, `:::MLL` of 2019 and `:::MLPv0.5.0` of 2018."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from stepscope.sources.throughput import figures, log_text

NS_PER_MS = 1_000_000
LATEST_MS = 2**42

_MLLOG = ":::MLLOG"
_MLL = re.compile(r":::MLL (\d{1,11})(?:\.(\d+))? ([\w.-]+):\s*(.*)$")
_MLP = re.compile(r":::MLPv[\d.]+ \S+ (\d{1,11})(?:\.(\d+))? \([^)]*\) ([\w.-]+):?\s*(.*)$")
_KEYS_2018 = {
    "train_epoch": "epoch_start",
    "input_size": "train_samples",
    "preproc_num_train_examples": "train_samples",
    "input_batch_size": "global_batch_size",
}


@dataclass(frozen=True)
class Line:
    """One logged event."""

    key: str
    time_ns: int
    value: Any
    metadata: dict[str, Any]

    def count(self, key: str) -> int | None:
        """A whole number of the metadata that is not negative."""
        number = figures.whole(self.metadata.get(key))
        return number if number is not None and number >= 0 else None


def parse(texts: Sequence[str]) -> tuple[list[Line], list[int]]:
    """The events of a log, and the numbers of the lines that cannot be read.

    Where several ranks log into one file, those of the lowest rank are taken: all of them log the whole job.
    """
    ranked: list[tuple[int, Line]] = []
    broken = []
    for number, text in enumerate(texts, 1):
        at = text.find(":::ML")
        if at < 0:
            continue
        line = _line(text[at:])
        if line is None:
            broken.append(number)
        else:
            ranked.append((log_text.rank(text, at), line))
    lowest = min((rank for rank, _ in ranked if rank >= 0), default=-1)
    lines = [line for rank, line in ranked if rank in (-1, lowest)]
    return lines, broken


def _line(text: str) -> Line | None:
    if text.startswith(_MLLOG):
        return _of_json(text[len(_MLLOG) :])
    match = _MLL.match(text) or _MLP.match(text)
    if match is None:
        return None
    seconds, fraction, key, rest = match.groups()
    time_ns = int(seconds) * log_text.NS_PER_SECOND + int((fraction or "0")[:9].ljust(9, "0"))
    value, metadata = _of_text(rest)
    key = _KEYS_2018.get(key, key)
    if key == "epoch_start" and not metadata:
        metadata = {"epoch_num": value}
    return Line(key, time_ns, value, metadata)


def _of_json(text: str) -> Line | None:
    try:
        event = json.loads(text)
        time_ms = figures.whole(event["time_ms"])
        key = str(event["key"])
        metadata = event.get("metadata")
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None
    if time_ms is None or abs(time_ms) > LATEST_MS:
        return None
    return Line(
        key, time_ms * NS_PER_MS, event.get("value"), metadata if isinstance(metadata, dict) else {}
    )


def _of_text(text: str) -> tuple[Any, dict[str, Any]]:
    """Value and metadata of a line before 2020: `{"value": ..., "metadata": {...}}`, a plain value, or nothing."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return text or None, {}
    if not isinstance(value, dict):
        return value, {}
    metadata = value.get("metadata")
    return value.get("value", value), metadata if isinstance(metadata, dict) else value


def value_of(lines: Sequence[Line], key: str) -> Any:
    """The value of the first line with a key, None where there is none."""
    return next((line.value for line in lines if line.key == key), None)

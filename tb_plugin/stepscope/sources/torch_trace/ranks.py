"""Several ranks in one file, taken apart.

SGLang merges the ranks of a job and puts `[TP00] ` before each process id
(`sglang/srt/utils/profile_merger.py`). TraceLens (`TraceFuse`) gives each event the argument `rank`
and calls the processes `RANK 0 - CPU`.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from stepscope.sources.torch_trace.columns import EventColumns
from stepscope.sources.torch_trace.event import Id
from stepscope.sources.torch_trace.numbers import small

_BEFORE_PROCESS = re.compile(r"\s*\[(?P<label>[A-Za-z]+[-_ ]?\d+(?:[-_, ]+[A-Za-z]+[-_ ]?\d+)*)\]")
_PROCESS_NAME = re.compile(r"(?P<label>rank[-_ ]?\d+)\b", re.IGNORECASE)
_NUMBER = re.compile(r"\d+")
_TABLES = ("ops", "frames", "launches", "device", "memory", "arrows")


@dataclass(frozen=True)
class RankEvents:
    """The events of one rank.

    Attributes:
        label: The rank as the file writes it, empty where the file holds one rank.
        rank: The number of the rank, -1 where the label names several dimensions or none.
        events: The columns of the rank's events. Tables of values are those of the whole file.
    """

    label: str
    rank: int
    events: EventColumns


def split_ranks(columns: EventColumns) -> list[RankEvents]:
    """The events of each rank, in order of the labels. Most files hold one."""
    labels = _thread_labels(columns)
    distinct = sorted(set(labels), key=_natural)
    named = [label for label in distinct if label]
    if len(named) < 2:
        return [RankEvents(label="", rank=-1, events=columns)]
    ranks = []
    for label in distinct:
        events = _events_of(columns, labels, label)
        if _has_events(events):
            ranks.append(RankEvents(label=label, rank=_rank_number(label), events=events))
    return ranks


def _thread_labels(columns: EventColumns) -> list[str]:
    """The label of the rank of each thread, empty for none."""
    return [_label(columns, pid) for pid, _ in columns.threads.values()]


def _label(columns: EventColumns, pid: Id) -> str:
    if pid in columns.ranks:
        number = small(columns.ranks[pid], -1)
        return f"rank{number}" if number >= 0 else ""
    before = _BEFORE_PROCESS.match(pid) if isinstance(pid, str) else None
    if before:
        return before["label"]
    named = _PROCESS_NAME.match(columns.process_names.get(pid, ""))
    if named:
        return f"rank{_rank_number(named['label'])}"
    return ""


def _natural(label: str) -> tuple[list[int], str]:
    return [int(digits) for digits in _NUMBER.findall(label)], label


def _rank_number(label: str) -> int:
    """The number in a label of one dimension, such as TP03. Of several dimensions it is unknown."""
    numbers = _NUMBER.findall(label)
    return int(numbers[0]) if len(numbers) == 1 else -1


def _events_of(columns: EventColumns, labels: Sequence[str], label: str) -> EventColumns:
    is_wanted = np.fromiter((other == label for other in labels), bool, len(labels))
    part = copy.copy(columns)
    for name in _TABLES:
        table = getattr(columns, name)
        rows = is_wanted[table["thread"]] if len(table) else np.empty(0, bool)
        setattr(part, name, table.only(rows))
    return part


def _has_events(columns: EventColumns) -> bool:
    return any(len(getattr(columns, name)) for name in ("ops", "frames", "launches", "device"))

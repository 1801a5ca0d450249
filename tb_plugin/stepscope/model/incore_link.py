"""Joins a timing matrix with the capture of the tasks around it."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from stepscope.model.columns import Strings
from stepscope.model.incore import InCore

_WORDS = {
    "functions": ("name",),
    "dependencies": ("source",),
    "activities": ("lane", "kind"),
    "cores": ("name",),
}


def envelopes(capture: InCore, task: int) -> dict[int, tuple[int, int]]:
    """Returns a task's first start and last end in each launch, by epoch (-1 when not stated)."""
    tasks = capture.tasks
    base = int(capture.capture_base)
    bounds: dict[int, tuple[int, int]] = {}
    for epoch in np.unique(tasks.epoch[tasks.task == np.uint64(task)]).tolist():
        rows = (tasks.task == np.uint64(task)) & (tasks.epoch == epoch)
        bounds[epoch] = (base + int(tasks.start[rows].min()), base + int(tasks.end[rows].max()))
    return bounds


def with_capture(record: InCore, capture: InCore) -> InCore:
    """Returns the record with the capture's tasks.

    It takes the capture's cores too where the record's slots are core ids.
    """
    moved: dict[str, Any] = {}
    for name, words in _WORDS.items():
        # Only core ids mean the same core in both.
        if name == "cores" and record.slot_map != "core_id":
            continue
        moved[name] = _moved(getattr(capture, name), words, len(record.strings))
    return dataclasses.replace(
        record,
        strings=Strings.of([*record.strings, *capture.strings]),
        capture_format=capture.capture_format,
        capture_level=capture.capture_level,
        capture_base=capture.capture_base,
        tasks=capture.tasks,
        **moved,
    )


def _moved(group: Any, words: tuple[str, ...], ahead: int) -> Any:
    """Returns the group with its string indices moved behind `ahead` other strings."""
    columns: dict[str, Any] = {}
    for word in words:
        index = getattr(group, word)
        columns[word] = np.where(index >= 0, index + ahead, index)
    return dataclasses.replace(group, **columns)

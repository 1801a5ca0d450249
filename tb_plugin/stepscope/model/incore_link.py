"""Joins a timing matrix with the capture of the tasks around it."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from stepscope.model.columns import Strings
from stepscope.model.incore import InCore

_WORDS = {"functions": ("name",), "dependencies": ("source",), "activities": ("lane", "kind"), "cores": ("name",)}


def envelopes(capture: InCore, task: int) -> dict[int, tuple[int, int]]:
    """The first start and last end of a task in each launch that runs it, by epoch (-1 when not stated)."""
    tasks = capture.tasks
    base = int(capture.capture_base)
    bounds: dict[int, tuple[int, int]] = {}
    for epoch in np.unique(tasks.epoch[tasks.task == np.uint64(task)]).tolist():
        rows = (tasks.task == np.uint64(task)) & (tasks.epoch == epoch)
        bounds[epoch] = (base + int(tasks.start[rows].min()), base + int(tasks.end[rows].max()))
    return bounds


def with_capture(record: InCore, capture: InCore) -> InCore:
    """The record with the capture's tasks; its cores too where the record's slots are the ids of cores."""
    take_cores = record.slot_map == "core_id"
    moved: dict[str, Any] = {
        name: _moved(getattr(capture, name), words, len(record.strings))
        for name, words in _WORDS.items()
        if name != "cores" or take_cores
    }
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
    """The group with its string indices moved behind another table's strings."""
    columns = {word: getattr(group, word) for word in words}
    return dataclasses.replace(group, **{w: np.where(c >= 0, c + ahead, c) for w, c in columns.items()})

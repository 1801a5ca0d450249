"""Launches of one capture: which run of the program each row belongs to, and its dispatch.

Dispatch numbers count from the start of each launch on each core. A capture of several launches
therefore repeats them. Newer captures state `metadata.run_boundaries` or an epoch in each row.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from stepscope.model.arrays import I64
from stepscope.model.diagnostic import Diagnostic

Key = tuple[int, ...]
Stamps = tuple[int, int]
NO_STAMPS: Stamps = (0, 0)
_START_KEYS = ("start", "start_cycles", "start_time")


def boundaries_of(metadata: Mapping[str, Any]) -> list[tuple[int, int]]:
    """The launches that `run_boundaries` states, as (start, epoch) in order of start.

    A boundary without an epoch has its place in the list as epoch.
    """
    listed = metadata.get("run_boundaries")
    if not isinstance(listed, list):
        return []
    boundaries: list[tuple[int, int]] = []
    for place, boundary in enumerate(listed):
        if not isinstance(boundary, Mapping):
            continue
        start = _first_integer(boundary, _START_KEYS)
        epoch = _first_integer(boundary, ("epoch", "run_epoch"))
        if epoch is None:
            epoch = place
        if start is not None:
            boundaries.append((start, epoch))
    return sorted(boundaries)


def _first_integer(row: Mapping[str, Any], keys: Sequence[str]) -> int | None:
    for key in keys:
        value = row.get(key)
        if type(value) is int and 0 <= value < 1 << 62:
            return value
    return None


def epochs_by_boundaries(boundaries: Sequence[tuple[int, int]], starts: Sequence[int]) -> list[int]:
    """The epoch of each row, by the last boundary at or before its start.

    Rows before the first boundary belong to the first launch.
    """
    cuts = np.array([start for start, _ in boundaries], np.int64)
    places = np.searchsorted(cuts, np.asarray(starts, np.int64), side="right") - 1
    epochs = np.array([epoch for _, epoch in boundaries], np.int64)
    found: list[int] = epochs[np.maximum(places, 0)].tolist()
    return found


def epochs_by_restarts(
    *,
    cores: Sequence[int],
    dispatch_ids: Sequence[int],
    starts: Sequence[int],
    ends: Sequence[int],
) -> list[int]:
    """The launch of each row, counted from 0, where a core's dispatch number repeats.

    A repeated number proves a new launch. It begins at the longest pause of all cores between the
    previous kernel of that core and the row that repeats the number.
    """
    start = np.asarray(starts, np.int64)
    end = np.asarray(ends, np.int64)
    order = np.lexsort((end, start))
    ordered_start = start[order]
    ordered_end = end[order]
    pauses = ordered_start.copy()
    pauses[1:] -= np.maximum.accumulate(ordered_end)[:-1]
    keys = [(cores[row], dispatch_ids[row]) for row in order.tolist()]

    cuts: list[int] = []
    first = 0
    while first < len(keys):
        repeat = _first_repeat(keys, first)
        if repeat is None:
            break
        first = _cut(
            keys=keys,
            ends=ordered_end,
            starts=ordered_start,
            pauses=pauses,
            first=first,
            repeat=repeat,
        )
        cuts.append(first)
    launch = np.empty(len(keys), np.int64)
    launch[order] = np.searchsorted(np.array(cuts, np.int64), np.arange(len(keys)), side="right")
    found: list[int] = launch.tolist()
    return found


def _first_repeat(keys: Sequence[Key], first: int) -> int | None:
    """The first place from `first` on whose key stands before it."""
    seen: set[Key] = set()
    for place in range(first, len(keys)):
        if keys[place] in seen:
            return place
        seen.add(keys[place])
    return None


def _cut(
    *,
    keys: Sequence[Key],
    ends: I64,
    starts: I64,
    pauses: I64,
    first: int,
    repeat: int,
) -> int:
    """Where the launch that holds the repeated key begins."""
    core = keys[repeat][0]
    previous = max(place for place in range(first, repeat) if keys[place][0] == core)
    later = range(previous + 1, repeat + 1)
    candidates = [place for place in later if starts[place] >= ends[previous]]
    if not candidates:
        return repeat
    return max(candidates, key=lambda place: int(pauses[place]))


def restart_note(epochs: Sequence[int]) -> Diagnostic | None:
    """A note that launches were told apart by restarts, None where there is one launch."""
    launches = len(set(epochs))
    if launches < 2:
        return None
    return Diagnostic(
        where="metadata.run_boundaries",
        what=(
            f"is missing: StepScope tells {launches} launches apart by restarts of the dispatch numbers"
        ),
        count=launches,
        remedy="Capture with run boundaries to be sure",
    )


def join_stamps(
    task_keys: Sequence[Key],
    spans: Sequence[Stamps],
    rows: Sequence[tuple[Key, Stamps]],
) -> tuple[list[Stamps], list[tuple[Key, Stamps]]]:
    """Gives each kernel the dispatch and finish of its key.

    Where a key occurs once on both sides, the two belong together. Where it repeats, a kernel takes
    the row whose dispatch and finish enclose it.

    Args:
        task_keys: The key of each kernel.
        spans: Start and end of each kernel.
        rows: Key, dispatch and finish of each row of the scheduler.

    Returns:
        Dispatch and finish of each kernel, `NO_STAMPS` where there is none; and the rows left over.
    """
    free: defaultdict[Key, list[Stamps]] = defaultdict(list)
    for key, stamps in sorted(rows):
        free[key].append(stamps)
    places: defaultdict[Key, list[int]] = defaultdict(list)
    for place, key in enumerate(task_keys):
        places[key].append(place)

    joined = [NO_STAMPS] * len(task_keys)
    for key, kernels in places.items():
        candidates = free.get(key, [])
        if len(kernels) == 1 and len(candidates) == 1:
            joined[kernels[0]] = candidates.pop()
            continue
        for place in sorted(kernels, key=lambda kernel: spans[kernel]):
            match = _enclosing(candidates, spans[place])
            if match is not None:
                candidates.remove(match)
                joined[place] = match
    lost: list[tuple[Key, Stamps]] = []
    for key, candidates in free.items():
        lost += [(key, stamps) for stamps in candidates]
    return joined, lost


def _enclosing(candidates: Sequence[Stamps], span: Stamps) -> Stamps | None:
    """The latest dispatch whose row encloses a kernel."""
    start, end = span
    enclosing = [stamps for stamps in candidates if stamps[0] <= start and end <= stamps[1]]
    return max(enclosing, default=None)

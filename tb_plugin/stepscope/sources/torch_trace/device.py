"""Which op each kernel, copy and set belongs to: device event → launch by correlation → innermost op on its thread."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from stepscope.sources.torch_trace.columns import EventColumns
from stepscope.sources.torch_trace.numbers import Ints
from stepscope.sources.torch_trace.ops import OpTree


@dataclass(frozen=True)
class Launches:
    """Calls of the accelerator's host library.

    Attributes:
        around: The innermost op or annotation that makes the call, -1 for none.
        op: The innermost op, which the work that it launches belongs to, -1 for none.
    """

    thread: Ints
    name: Ints
    start: Ints
    duration: Ints
    around: Ints
    op: Ints
    correlation: Ints


def launches(columns: EventColumns, thread: Ints, ops: OpTree) -> Launches:
    """Finds the op around each launch."""
    table = columns.launches
    start = table["start"]
    on = thread[table["thread"]] if len(start) else np.empty(0, np.int64)
    around = ops.ranges.around(on, start, start)
    name = table["name"].astype(np.int64)
    return Launches(on, name, start, table["duration"], around, ops.op_around(on, start), table["correlation"])


@dataclass(frozen=True)
class DeviceWork:
    """Kernels, copies and sets.

    Attributes:
        launch: The call that launched it, -1 when it is not in the file.
        op: The op that it belongs to, -1 for none.
        place, properties, category: In the tables of the trace's columns.
    """

    name: Ints
    start: Ints
    duration: Ints
    launch: Ints
    op: Ints
    place: Ints
    properties: Ints
    category: Ints


def device_work(columns: EventColumns, launched: Launches) -> DeviceWork:
    """Attributes device events to ops. `External id` is no help: from 2022 to 2024 it is another number space."""
    table = columns.device
    launch = _match(table["correlation"], launched.correlation)
    op = np.where(launch >= 0, launched.op[launch], -1) if len(launched.op) else np.full_like(launch, -1)
    return DeviceWork(
        table["name"].astype(np.int64),
        table["start"],
        table["duration"],
        launch,
        op,
        table["place"].astype(np.int64),
        table["properties"].astype(np.int64),
        table["category"].astype(np.int64),
    )


def _match(wanted: Ints, keys: Ints) -> Ints:
    """The last row with each wanted key, -1 where there is none.."""
    order = np.argsort(keys, kind="stable")
    place = np.searchsorted(keys[order], wanted, side="right") - 1
    if not len(keys):
        return np.full(len(wanted), -1, np.int64)
    row = order[np.maximum(place, 0)]
    return np.where((place >= 0) & (keys[row] == wanted) & (wanted >= 0), row, -1)

"""Work on accelerators: which call launched it, and which op or named range it belongs to.

The rule that holds for all ages of traces: device event → launch by correlation → innermost op or
named range on the launching thread. `External id` is no help: from 2022 to 2024 it is another
number space. Traces of torch_npu and from before Kineto have arrows from the op to its work.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from stepscope.model.columns import Array
from stepscope.sources.torch_trace.columns import EventColumns
from stepscope.sources.torch_trace.ops import OpTree
from stepscope.sources.torch_trace.trees import Bools, clipped_ends, nest, nesting_order, self_time

OVERRUN_NS = 1000
"""Clocks of devices are good to less. A longer overlap of one stream's work is worth a word."""

_SHORTEST_LAUNCH_NS = 1000
_LAUNCHING = re.compile(r"launch|memcpy|memset", re.IGNORECASE)
_HOST_FUNCTION = re.compile(r"HostFunc", re.IGNORECASE)


@dataclass(frozen=True)
class Launches:
    """Calls of the accelerator's host library.

    Attributes:
        name: In the trace's names.
        self_duration: Without the calls of the library that a call makes.
        around: The innermost op or named range that makes the call, -1 for none.
        correlation: What device work names its launch by, 0 for nothing.
    """

    thread: Array
    name: Array
    start: Array
    duration: Array
    self_duration: Array
    around: Array
    correlation: Array

    def __len__(self) -> int:
        return len(self.name)


def launches(columns: EventColumns, thread: Array, ops: OpTree) -> Launches:
    """The calls of the host library, in the order of the file.

    Args:
        thread: The thread of each number in `columns.threads`.
    """
    table = columns.launches
    start, duration = table["start"], table["duration"]
    on = thread[table["thread"]] if len(start) else np.empty(0, np.int64)
    return Launches(
        thread=on,
        name=table["name"].astype(np.int64),
        start=start,
        duration=duration,
        self_duration=_without_inner_calls(on, start, duration),
        around=ops.ranges.around(on, start, start),
        correlation=table["correlation"],
    )


def _without_inner_calls(thread: Array, start: Array, duration: Array) -> Array:
    """The time of each call without the calls in it: the runtime of XPUs calls the driver."""
    end = start + duration
    order = nesting_order(thread, start, end)
    is_same_thread = thread[order][1:] == thread[order][:-1]
    is_inside = is_same_thread & (start[order][1:] < end[order][:-1])
    if not is_inside.any():
        return duration
    thread, start, end = thread[order], start[order], end[order]
    parent = nest(thread, start, end)
    inside = clipped_ends(parent, start, end) - start
    self_duration = np.empty(len(order), np.int64)
    self_duration[order] = self_time(parent, inside)
    return self_duration


@dataclass(frozen=True)
class DeviceWork:
    """Kernels, copies, sets and collectives, in the order of the file.

    Attributes:
        name, place, properties: In the tables of the trace's columns.
        duration: As the trace has it, but not beyond the end of later work of its stream.
        launch: The call that launched it, -1 when it is not in the file.
        owner: The op or named range that it belongs to, -1 for none.
        overrun: By how much it runs over the next start on its stream.
        cut: By how much its duration was cut.
        collective: The properties that say what it communicates: its own, or those of the
            `record_param_comms` that launched it.
        collective_sequence, source, destination: Of work that communicates, else -1.
    """

    name: Array
    start: Array
    duration: Array
    launch: Array
    owner: Array
    place: Array
    properties: Array
    overrun: Array
    cut: Array
    collective: Array
    collective_sequence: Array
    source: Array
    destination: Array

    def __len__(self) -> int:
        return len(self.name)


def device_work(
    columns: EventColumns, thread: Array, launched: Launches, ops: OpTree
) -> DeviceWork:
    """Finds the launch and the owner of each piece of device work."""
    table = columns.device
    start, duration = table["start"], table["duration"]
    place = table["place"].astype(np.int64)
    launch = _match(table["correlation"], launched.correlation)
    around = np.where(launch >= 0, launched.around[launch], -1) if len(launched) else launch
    owner = ops.owner(around)
    by_arrow = _arrow_owners(columns, thread, ops)
    owner = np.where(by_arrow >= 0, by_arrow, owner)

    properties = table["properties"].astype(np.int64)
    caller = _communicating_caller(columns, ops, owner, place, properties)

    def of_caller(name: str, values: Array) -> Array:
        return np.where(caller >= 0, values[caller], table[name]) if len(values) else table[name]

    overrun, is_impossible = _overruns(
        place=place,
        start=start,
        duration=duration,
        in_order=table["in_order"],
        correlation=table["correlation"],
    )
    cut = np.where(is_impossible, overrun, 0)
    return DeviceWork(
        name=table["name"].astype(np.int64),
        start=start,
        duration=duration - cut,
        launch=launch,
        owner=owner,
        place=place,
        properties=properties,
        overrun=overrun,
        cut=cut,
        collective=of_caller("properties", ops.properties).astype(np.int64),
        collective_sequence=of_caller("collective_sequence", ops.collective_sequence),
        source=of_caller("source", ops.source),
        destination=of_caller("destination", ops.destination),
    )


def _communicating_caller(
    columns: EventColumns, ops: OpTree, owner: Array, place: Array, properties: Array
) -> Array:
    """The `record_param_comms` that launched work which does not say itself what it communicates.

    The op is the owner or the one around it: a range such as `nccl:all_reduce` may be between them.
    """
    communicates = columns.communicating_sets()
    categories = [str(category).lower() for category, _, _ in columns.places.values()]
    moves = np.fromiter((_is_move(category) for category in categories), bool, len(categories))
    caller = np.full(len(owner), -1, np.int64)
    if not communicates.any() or not len(owner):
        return caller
    silent = np.flatnonzero(~communicates[properties] & ~moves[place] & (owner >= 0))
    is_caller = communicates[ops.properties]
    row = owner[silent]
    above = ops.ranges.parent[row]
    by_range = np.where((above >= 0) & is_caller[above], above, -1)
    caller[silent] = np.where(is_caller[row], row, by_range)
    return caller


def _is_move(category: str) -> bool:
    return "memcpy" in category or "memset" in category


def _match(wanted: Array, keys: Array) -> Array:
    """The last row with each wanted key, -1 where there is none. 0 is no key."""
    if not len(keys):
        return np.full(len(wanted), -1, np.int64)
    order = np.argsort(keys, kind="stable")
    place = np.searchsorted(keys[order], wanted, side="right") - 1
    row = order[np.maximum(place, 0)]
    return np.where((place >= 0) & (keys[row] == wanted) & (wanted != 0), row, -1)


def _arrow_owners(columns: EventColumns, thread: Array, ops: OpTree) -> Array:
    """The op or named range from which an arrow leads to each piece of device work, -1 for none.

    An arrow ends at the thread and the start of the work.
    """
    work, arrows = columns.device, columns.arrows
    owners = np.full(len(work), -1, np.int64)
    if not len(work) or not len(arrows) or not arrows["to_device"].any():
        return owners
    arrows = arrows.only(arrows["to_device"])
    on, time, identity = thread[arrows["thread"]], arrows["start"], arrows["id"].astype(np.int64)
    is_end = arrows["is_end"]
    begin = np.full(int(identity.max()) + 1, -1, np.int64)
    begin[identity[~is_end]] = ops.owner(ops.ranges.around(on, time, time))[~is_end]
    known = np.flatnonzero(is_end)
    known = known[begin[identity[known]] >= 0]

    ends: dict[tuple[int, int], int] = {}
    columns_of_ends = (on[known], time[known], begin[identity[known]])
    for place, moment, owner in zip(*(c.tolist() for c in columns_of_ends), strict=True):
        ends.setdefault((place, moment), owner)
    places = zip(thread[work["thread"]].tolist(), work["start"].tolist(), strict=True)
    for row, end in enumerate(places):
        owners[row] = ends.get(end, -1)
    return owners


def _overruns(
    *, place: Array, start: Array, duration: Array, in_order: Array, correlation: Array
) -> tuple[Array, Bools]:
    """By how much work runs over the next start on its stream, and where that cannot be.

    A stream runs one piece of work after the other. A next one may start early, but it does not end
    early: then the duration is wrong. The kernels of one graph launch, and those that a kernel
    launches (their correlation is 0), may run side by side.
    """
    overrun = np.zeros(len(start), np.int64)
    is_impossible = np.zeros(len(start), bool)
    rows = np.flatnonzero(in_order)
    rows = rows[np.lexsort((start[rows], place[rows]))]
    first, second = rows[:-1], rows[1:]
    end = start + duration
    beyond = end[first] - start[second]
    is_over = (place[first] == place[second]) & (beyond > OVERRUN_NS)
    overrun[first[is_over]] = beyond[is_over]
    is_apart = (correlation[first] != correlation[second]) & (correlation[second] != 0)
    contains = is_over & is_apart & (end[first] - end[second] > OVERRUN_NS)
    is_impossible[first[contains]] = True
    return overrun, is_impossible


def _is_launching(name: str) -> bool:
    """Whether a call of this name starts device work."""
    return bool(_LAUNCHING.search(name)) and not _HOST_FUNCTION.search(name)


def launches_without_work(columns: EventColumns, launched: Launches) -> Array:
    """The calls that launch device work which is not in the file, as rows of `launched`.

    Empty where a trace has no device work at all, or its work names no launches.
    """
    correlation = columns.device["correlation"]
    if not (correlation != 0).any():
        return np.empty(0, np.int64)
    texts = columns.names.values()
    launching = (_is_launching(text) for text in texts)
    is_launching = np.fromiter(launching, bool, len(texts))[launched.name]
    is_lost = ~np.isin(launched.correlation, correlation) & (launched.correlation != 0)
    # A shorter call has nothing to do, such as setting no bytes.
    is_long = launched.duration >= _SHORTEST_LAUNCH_NS
    rows: Array = np.flatnonzero(is_launching & is_lost & is_long)
    return rows

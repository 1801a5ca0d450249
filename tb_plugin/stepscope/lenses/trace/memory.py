"""Memory over time, from allocator events."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from stepscope.model.columns import Ints
from stepscope.model.profile import Profile


@dataclass(frozen=True, eq=False)
class MemorySeries:
    """What an allocator of a device held when.

    Attributes:
        device: The device, '' when unknown.
        allocator: The allocator, '' when unknown.
        tick_ps: Picoseconds per tick.
        time_ticks: When, relative to the profile's anchor, never decreasing.
        allocated_bytes: What was allocated from then on.
        reserved_bytes: What the allocator had reserved, -1 when unknown.
    """

    device: str
    allocator: str
    tick_ps: int
    time_ticks: Ints
    allocated_bytes: Ints
    reserved_bytes: Ints

    def __len__(self) -> int:
        return len(self.time_ticks)

    @property
    def peak(self) -> tuple[int, int]:
        """When most was allocated for the first time, in ticks, and how much."""
        place = int(np.argmax(self.allocated_bytes))
        return int(self.time_ticks[place]), int(self.allocated_bytes[place])

    def thinned(self, columns: int) -> MemorySeries:
        """The series for a chart of some columns of pixels: of each the lowest, the highest and the last value."""
        if len(self) <= 3 * columns:
            return self
        span = int(self.time_ticks[-1] - self.time_ticks[0]) + 1
        column = (self.time_ticks - self.time_ticks[0]) * columns // span
        order = np.lexsort((self.allocated_bytes, column))
        ends = np.flatnonzero(np.append(np.diff(column[order]) > 0, True))
        lowest, highest = order[np.append(0, ends[:-1] + 1)], order[ends]
        last = np.flatnonzero(np.append(np.diff(column) > 0, True))
        return self._take(np.unique(np.concatenate((lowest, highest, last))))

    def highest(self, edges: Ints) -> tuple[Ints, Ints]:
        """Most allocated and most reserved in each part between edges; -1 where nothing is known yet."""
        first = np.searchsorted(self.time_ticks, edges[:-1], side="right") - 1
        last = np.searchsorted(self.time_ticks, edges[1:], side="left")
        bounds = np.stack((np.maximum(first, 0), last), axis=1).reshape(-1)

        def most(values: Ints) -> Ints:
            found = np.maximum.reduceat(np.append(values, -1), bounds)[::2]
            return np.where((first < 0) & (last == 0), -1, found)

        return most(self.allocated_bytes), most(self.reserved_bytes)

    def _take(self, rows: Ints) -> MemorySeries:
        columns = (self.time_ticks[rows], self.allocated_bytes[rows], self.reserved_bytes[rows])
        return MemorySeries(self.device, self.allocator, self.tick_ps, *columns)

    def to_json(self) -> dict[str, Any]:
        """The series as a document; times in ps are differences to the profile's anchor."""
        at, peak = self.peak
        return {
            "device": self.device,
            "allocator": self.allocator,
            "time_ps": (self.time_ticks * self.tick_ps).tolist(),
            "allocated_bytes": self.allocated_bytes.tolist(),
            "reserved_bytes": [
                size if size >= 0 else None for size in self.reserved_bytes.tolist()
            ],
            "peak_bytes": peak,
            "peak_time_ps": at * self.tick_ps,
        }


def memory_over_time(profile: Profile) -> tuple[MemorySeries, ...]:
    """A series for each device and allocator with events, in order of their names.

    Where the source says what was allocated after an event that is the value; else it is what was allocated before and
    the event's change, from 0 on.
    """
    events, texts = profile.allocations, [*profile.strings, ""]
    informative = np.flatnonzero((events.delta_bytes != 0) | (events.total_bytes >= 0))
    order = informative[np.argsort(events.time_ticks[informative], kind="stable")]
    names = (
        [texts[i] for i in events.device[order].tolist()],
        [texts[i] for i in events.allocator[order].tolist()],
    )
    pairs = list(zip(*names, strict=True))
    place = {pair: number for number, pair in enumerate(sorted(set(pairs)))}
    number = np.array([place[pair] for pair in pairs], np.int64)
    found = []
    for (device, allocator), mine in place.items():
        rows = order[number == mine]
        allocated = _allocated(events.delta_bytes[rows], events.total_bytes[rows])
        columns = (events.time_ticks[rows], allocated, events.reserved_bytes[rows])
        found.append(MemorySeries(device, allocator, profile.tick_ps, *columns))
    return tuple(found)


def _allocated(delta: Ints, total: Ints) -> Ints:
    """The running total: from each event whose total is known, changes are added up."""
    known = total >= 0
    added = np.cumsum(np.where(known, 0, delta))
    last_known = np.maximum.accumulate(np.where(known, np.arange(len(delta)), -1))
    allocated: Ints = added + np.where(last_known >= 0, total[last_known] - added[last_known], 0)
    return allocated

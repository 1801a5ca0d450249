"""Which ops take memory and give it back, in a window of time."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from stepscope.model.columns import Array, Ints
from stepscope.model.profile import Profile

MAX_EVENTS = 500
NO_OP = ""


@dataclass(frozen=True, eq=False)
class Blocks:
    """Allocated blocks of memory.

    Attributes:
        taken: The allocation, in `profile.allocations`; -1 for a block that was there before the profile.
        given: The release, -1 for a block that was still held at the profile's end.
    """

    taken: Ints
    given: Ints


def blocks(profile: Profile) -> Blocks:
    """Pairs allocations with the next release at the same address of the same device."""
    events = profile.allocations
    # Of two events at one moment the allocation comes first: a block is never released before it exists.
    order = np.lexsort((events.delta_bytes < 0, events.time_ticks, events.address, events.device))
    order = order[events.delta_bytes[order] != 0]
    before, after = order[:-1], order[1:]
    same = (events.device[before] == events.device[after]) & (
        events.address[before] == events.address[after]
    )
    pair = (
        same
        & (events.address[after] != 0)
        & (events.delta_bytes[before] > 0)
        & (events.delta_bytes[after] < 0)
    )
    release = np.full(len(events), -1, np.int64)
    release[before[pair]] = after[pair]
    taken = order[events.delta_bytes[order] > 0]
    lone = order[(events.delta_bytes[order] < 0) & ~np.isin(order, after[pair])]
    return Blocks(np.append(taken, np.full(len(lone), -1)), np.append(release[taken], lone))


class Allocated:
    """Memory of a profile's ops, by device."""

    def __init__(self, profile: Profile) -> None:
        self._profile = profile

    @cached_property
    def _blocks(self) -> Blocks:
        return blocks(self._profile)

    @cached_property
    def devices(self) -> tuple[str, ...]:
        """The devices with allocations."""
        return tuple(self._profile.strings[i] if i >= 0 else "" for i in self._places)

    @cached_property
    def _places(self) -> list[int]:
        found: list[int] = np.unique(self._profile.allocations.device).tolist()
        return found

    def ops(
        self, device: int, start: int | None = None, end: int | None = None
    ) -> list[dict[str, Any]]:
        """What each op allocated and released itself, and with the ops that it called; the largest first.

        Args:
            device: In `devices`.
            start, end: Only events in this window count, in ticks.
        """
        events = self._profile.allocations
        rows = np.flatnonzero((events.device == self._places[device]) & self._in(start, end))
        name, which = np.unique(self._name_of(rows), return_inverse=True)
        own = _sums(which, len(name), events.delta_bytes[rows])
        every, event = self._around(rows)
        names, place = np.unique(np.append(name, every), return_inverse=True)
        total = _sums(place[len(name) :], len(names), events.delta_bytes[rows[event]])
        at = {int(n): i for i, n in enumerate(name.tolist())}
        zero = dict.fromkeys(own, 0)
        found = []
        for i, number in enumerate(names.tolist()):
            mine = (
                {key: int(values[at[number]]) for key, values in own.items()}
                if number in at
                else zero
            )
            row = {f"self_{key}": value for key, value in mine.items()}
            row |= {key: int(values[i]) for key, values in total.items()} if number >= 0 else mine
            found.append({"name": self._profile.strings[number] if number >= 0 else NO_OP} | row)
        return sorted(
            found,
            key=lambda row: (-row["self_allocated_bytes"], -row["allocated_bytes"], row["name"]),
        )

    def events(
        self, device: int, start: int | None = None, end: int | None = None, least_bytes: int = 0
    ) -> dict[str, Any]:
        """The largest blocks that are taken or given back in a window: op, size, times, and whether it was held on."""
        events, found = self._profile.allocations, self._blocks
        known = np.where(found.taken >= 0, found.taken, found.given)
        size = np.abs(events.delta_bytes[known])
        inside = self._in(start, end)
        touched = (inside[found.taken] & (found.taken >= 0)) | (
            inside[found.given] & (found.given >= 0)
        )
        rows = np.flatnonzero(
            (events.device[known] == self._places[device]) & touched & (size >= least_bytes)
        )
        largest = rows[np.lexsort((events.time_ticks[known[rows]], -size[rows]))][:MAX_EVENTS]
        return {
            "count": len(rows),
            "events": [self._block(int(i), int(size[i])) for i in largest.tolist()],
        }

    def _block(self, row: int, size: int) -> dict[str, Any]:
        events, tick = self._profile.allocations, self._profile.tick_ps
        taken, given = int(self._blocks.taken[row]), int(self._blocks.given[row])
        times = [int(events.time_ticks[i]) * tick if i >= 0 else None for i in (taken, given)]
        name = int(self._name_of(np.array([taken if taken >= 0 else given]))[0])
        return {
            "name": self._profile.strings[name] if name >= 0 else NO_OP,
            "bytes": size,
            "caller": self._caller(taken if taken >= 0 else given),
            "allocated_ps": times[0],
            "released_ps": times[1],
            "held_ps": times[1] - times[0]
            if times[0] is not None and times[1] is not None
            else None,
        }

    def _caller(self, event: int) -> str:
        """The op around the one that an event is of: for `aten::empty` it says more."""
        nodes, node = self._profile.nodes, int(self._profile.allocations.node[event])
        caller = int(nodes.caller[node]) if node >= 0 else -1
        return self._profile.strings[int(nodes.name[caller])] if caller >= 0 else ""

    def _in(self, start: int | None, end: int | None) -> Array:
        time = self._profile.allocations.time_ticks
        inside: Array = np.ones(len(time), bool)
        if start is not None:
            inside &= time >= start
        if end is not None:
            inside &= time < end
        return inside

    def _name_of(self, rows: Ints) -> Ints:
        """The name of the op of each event, in strings, -1 for none."""
        node, names = self._profile.allocations.node[rows], self._profile.nodes.name
        found: Ints = np.full(len(rows), -1, np.int64)
        found[node >= 0] = names[node[node >= 0]]
        return found

    def _around(self, rows: Ints) -> tuple[Ints, Ints]:
        """The names of all callers of each event, its own op among them, each once; and the event, in `rows`."""
        nodes = self._profile.nodes
        event, node = np.arange(len(rows)), self._profile.allocations.node[rows].astype(np.int64)
        pairs: list[Ints] = []
        while len(event := event[node >= 0]):
            node = node[node >= 0]
            pairs.append(event * len(self._profile.strings) + nodes.name[node])
            node = nodes.caller[node].astype(np.int64)
        found = np.unique(np.concatenate(pairs)) if pairs else np.empty(0, np.int64)
        return found % max(len(self._profile.strings), 1), found // max(
            len(self._profile.strings), 1
        )


def _sums(which: Ints, count: int, delta: Ints) -> dict[str, Ints]:
    columns = {
        "allocations": (delta > 0).astype(np.int64),
        "allocated_bytes": np.maximum(delta, 0),
        "released_bytes": np.maximum(-delta, 0),
        "increase_bytes": delta,
    }
    found = {}
    for name, values in columns.items():
        found[name] = np.zeros(count, np.int64)
        np.add.at(found[name], which, values)
    return found

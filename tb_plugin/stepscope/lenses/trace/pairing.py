"""Which calls of a job's ranks are one collective, and which send belongs to which receive."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from stepscope.lenses.trace.categories import COLLECTIVE, attribute_texts
from stepscope.lenses.trace.collective_names import collective_name
from stepscope.model.arrays import I32, Ints
from stepscope.model.profile import NodeKind, Profile

POINT_TO_POINT = ("send", "recv")
_MOST_SHIFTS = 64
_UNKNOWN = -1
_LONGEST_NUMBER = 17
"""Digits: fewer elements than that, of any type, are bytes that fit into 64 bits."""

Series = tuple[str, str, str, int, int]
"""Calls that ranks make together: collective, group, members; of a send and its receive source and destination."""


@dataclass(frozen=True, eq=False)
class Calls:
    """The collectives of one rank, in order of time.

    Attributes:
        name: Such as allreduce, or the kernel's name.
        group: The name of the process group, and `members` its ranks as the source prints them.
        dtype: The type of the elements.
        run: In `profile.executions`.
        start, duration: In ps.
        sequence: The number of the call in its group, -1 when unknown.
        elements: How many elements go in, -1 when unknown.
        source, destination: The ranks of a send or receive, -1 where there are none.
    """

    name: tuple[str, ...]
    group: tuple[str, ...]
    members: tuple[str, ...]
    dtype: tuple[str, ...]
    run: Ints
    start: Ints
    duration: Ints
    sequence: Ints
    elements: Ints
    source: Ints
    destination: Ints

    def __len__(self) -> int:
        return len(self.run)

    def series(self) -> dict[Series, Ints]:
        """The calls of each series, in order of time."""
        found: dict[Series, list[int]] = {}
        for place, name in enumerate(self.name):
            source, destination = _UNKNOWN, _UNKNOWN
            if name in POINT_TO_POINT:
                name = "send/recv"
                source, destination = int(self.source[place]), int(self.destination[place])
            key = (name, self.group[place], self.members[place], source, destination)
            found.setdefault(key, []).append(place)
        return {key: np.array(places, np.int64) for key, places in found.items()}


@dataclass(frozen=True, eq=False)
class PairedCalls:
    """The calls of one series that ranks make together.

    Attributes:
        series: The series.
        ranks: The ranks that have calls of it, as places in the job.
        calls: One row for each of them, one column for each call that all have, in the rank's `Calls`.
        unpaired: How many calls of each of them have no counterpart.
    """

    series: Series
    ranks: tuple[int, ...]
    calls: Ints
    unpaired: tuple[int, ...]


def pair_calls(job: Sequence[Calls]) -> Iterator[PairedCalls]:
    """Pairs the calls of ranks, series by series.

    Calls of a group pair by their number in it (`Seq` of torch) where all of them have one. Otherwise they pair by
    order, shifted so that their sizes are equal. A send pairs with a receive by source, destination and order.
    """
    by_rank = [calls.series() for calls in job]
    every_series = {series for found in by_rank for series in found}
    for series in sorted(every_series):
        ranks = tuple(place for place, found in enumerate(by_rank) if series in found)
        rows = [by_rank[rank][series] for rank in ranks]
        calls = [job[rank] for rank in ranks]
        if series[0] == "send/recv" and not _both_ends(series, calls, rows):
            paired = np.empty((len(ranks), 0), np.int64)
        elif series[0] != "send/recv" and _are_numbered(calls, rows):
            paired = _by_number(calls, rows)
        else:
            paired = _by_order(calls, rows)
        unpaired = tuple(len(row) - paired.shape[1] for row in rows)
        yield PairedCalls(series=series, ranks=ranks, calls=paired, unpaired=unpaired)


def _both_ends(series: Series, calls: Sequence[Calls], rows: Sequence[Ints]) -> bool:
    """Whether one rank sends what the other receives. Without source and destination nobody knows."""
    known = series[3] != _UNKNOWN and series[4] != _UNKNOWN
    if not known or len(calls) > 2:
        return False
    ends = [
        {rank.name[place] for place in row.tolist()} for rank, row in zip(calls, rows, strict=True)
    ]
    return len(ends) < 2 or (len(ends[0]) == len(ends[1]) == 1 and ends[0] != ends[1])


def _are_numbered(calls: Sequence[Calls], rows: Sequence[Ints]) -> bool:
    return all((rank.sequence[row] >= 0).all() for rank, row in zip(calls, rows, strict=True))


def _by_number(calls: Sequence[Calls], rows: Sequence[Ints]) -> Ints:
    """The calls whose number all ranks have. Calls that share a number pair by order among themselves."""
    keyed = []
    for rank, row in zip(calls, rows, strict=True):
        seen: dict[int, int] = {}
        by_key = {}
        for place, number in zip(row.tolist(), rank.sequence[row].tolist(), strict=True):
            by_key[number, seen.get(number, 0)] = place
            seen[number] = seen.get(number, 0) + 1
        keyed.append(by_key)
    common = set(keyed[0]).intersection(*keyed[1:])
    shared = [key for key in keyed[0] if key in common]
    paired = [[by_key[key] for key in shared] for by_key in keyed]
    return np.array(paired, np.int64).reshape(len(rows), len(shared))


def _by_order(calls: Sequence[Calls], rows: Sequence[Ints]) -> Ints:
    """The k-th call of every rank, from where the sizes of all ranks are equal on."""
    sizes = [rank.elements[row] for rank, row in zip(calls, rows, strict=True)]
    longest = int(np.argmax([len(row) for row in rows]))
    shifts = np.array([_shift(sizes[longest], size) for size in sizes])
    begin = int(shifts.max())
    ends = [int(shift) + len(row) for shift, row in zip(shifts, rows, strict=True)]
    count = max(min(ends) - begin, 0)
    columns = np.arange(begin, begin + count)
    paired = [row[columns - shift] for row, shift in zip(rows, shifts, strict=True)]
    equal = np.ones(count, bool)
    for size, shift in zip(sizes, shifts, strict=True):
        equal &= size[columns - shift] == sizes[longest][columns]
    return np.array(paired, np.int64).reshape(len(rows), count)[:, equal]


def _shift(longest: Ints, sizes: Ints) -> int:
    """How many calls of the longest series come before the first of a series, judged by their sizes."""
    spare = len(longest) - len(sizes)
    inside = range(spare + 1)
    shifts: list[int] = list(inside[:_MOST_SHIFTS])
    for far in range(1, min(len(sizes), _MOST_SHIFTS)):
        shifts += (spare + far, -far)
    for shift in shifts:
        begin = max(shift, 0)
        end = min(shift + len(sizes), len(longest))
        if np.array_equal(longest[begin:end], sizes[begin - shift : end - shift]):
            return shift
    return 0


def calls_of(profile: Profile, rows: Ints) -> Calls:
    """Collectives among executions: those on the device, for a rank without any those on the host.

    Args:
        profile: The profile of the rank.
        rows: The executions that communicate.
    """
    runs, nodes = profile.executions, profile.nodes
    on_device = nodes.kind[runs.node[rows]] == NodeKind.DEVICE
    rows = rows[on_device] if on_device.any() else rows
    rows = rows[np.argsort(runs.start_ticks[rows], kind="stable")]
    described = _described(profile, rows)
    node = runs.node[rows].tolist()
    named = attribute_texts(profile, COLLECTIVE)
    group = attribute_texts(profile, "Process Group Name")
    dtype = attribute_texts(profile, "dtype")
    told = profile.communications
    return Calls(
        name=tuple(named[n] or collective_name(profile, n) for n in node),
        group=tuple(group[n] for n in node),
        members=_texts(profile, told.ranks, described),
        dtype=tuple(dtype[n] for n in node),
        run=rows,
        start=runs.start_ticks[rows] * profile.tick_ps,
        duration=runs.duration_ticks[rows] * profile.tick_ps,
        sequence=_numbers(told.sequence, described),
        elements=_elements(profile, node, _numbers(told.input_elements, described)),
        source=_numbers(told.source, described),
        destination=_numbers(told.destination, described),
    )


def _described(profile: Profile, rows: Ints) -> Ints:
    """The row of each execution in the profile's communications, -1 for none."""
    place = np.full(len(profile.executions), _UNKNOWN, np.int64)
    told = profile.communications.execution
    place[told] = np.arange(len(told))
    return place[rows]


def _numbers(column: Ints | I32, described: Ints) -> Ints:
    padded = np.append(column.astype(np.int64), _UNKNOWN)
    return padded[described]


def _texts(profile: Profile, column: Ints | I32, described: Ints) -> tuple[str, ...]:
    places = _numbers(column, described).tolist()
    return tuple(profile.strings[place] if place >= 0 else "" for place in places)


def _elements(profile: Profile, nodes: Sequence[int], told: Ints) -> Ints:
    """Elements that go in. Records of before have them in attributes only."""
    texts = attribute_texts(profile, "In msg nelems")
    found = told.tolist()
    for place, node in enumerate(nodes):
        text = texts[node]
        if found[place] < 0 and text.isdecimal() and len(text) < _LONGEST_NUMBER:
            found[place] = int(text)
    return np.array(found, np.int64)

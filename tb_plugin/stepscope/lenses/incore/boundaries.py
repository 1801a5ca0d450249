"""Boundaries: the moments that bound a kernel's phases, each reduced from the stamps of several slots."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from stepscope.errors import RecordError
from stepscope.lenses.incore.exactness import TOP
from stepscope.model.arrays import U64, Bools
from stepscope.model.incore import InCore, Masks, Reducer, SlotList

# The boundaries of a kernel with a collective: name, event, reducer, and whether only producers count.
CANONICAL = (
    ("E", "entry", Reducer.MIN, False),
    ("R", "producer_done", Reducer.MAX, True),
    ("B", "collective_arrival", Reducer.MAX, False),
    ("A", "collective_release", Reducer.MIN, False),
    ("F", "body_done", Reducer.MAX, False),
)


@dataclass(frozen=True)
class Mask:
    """Slots that take part.

    Attributes:
        slots: [row, slot], one row for all invocations or one each.
        outside: Slots named beyond the matrix, per row.
    """

    slots: Bools
    outside: tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class Boundary:
    """A boundary's definition.

    Attributes:
        word: The column that holds its stamps.
        members: [row, slot]: whose stamps count, one row for all invocations or one each.
    """

    name: str
    word: int
    reducer: Reducer
    members: Bools


def masks(record: InCore) -> tuple[Mask, Mask]:
    """The participating and the producing slots. Without a mask all slots, or all participating ones."""
    participating = Mask(np.ones((1, record.slots), np.bool_), ((),))
    if record.has_participating:
        participating = _mask(record, record.masks, "participating")
    producers = Mask(participating.slots, ((),))
    if record.has_producers:
        producers = _mask(record, record.masks, "producers")
    return participating, producers


def _mask(record: InCore, rows: Masks, name: str) -> Mask:
    slots: SlotList = getattr(record, name)
    ends = getattr(rows, f"{name}_end")
    if not len(ends):
        return Mask(np.zeros((1, record.slots), np.bool_), ((),))
    counts = np.diff(ends, prepend=0)
    row = np.repeat(np.arange(len(ends)), counts)
    inside = (slots.slot >= 0) & (slots.slot < record.slots)
    result = np.zeros((len(ends), record.slots), np.bool_)
    result[row[inside], slots.slot[inside]] = True
    outside: list[list[int]] = [[] for _ in range(len(ends))]
    for index in np.flatnonzero(~inside):
        outside[row[index]].append(int(slots.slot[index]))
    return Mask(result, tuple(tuple(part) for part in outside))


def definitions(record: InCore, participating: Bools, producers: Bools) -> list[Boundary]:
    """The user's boundaries, or those of the known events.

    Raises:
        RecordError: There are fewer than two, so that there is no phase.
    """
    if len(record.boundaries):
        boundaries = list(_user(record, participating))
    else:
        boundaries = list(_known(record, participating, producers))
    if len(boundaries) < 2:
        names = ", ".join(event for _, event, _, _ in CANONICAL)
        raise RecordError(
            f"{len(boundaries)} boundaries",
            where="incore record, columns",
            remedy=f"Name the columns of at least two of {names}, or give boundaries of your own",
        )
    return boundaries


def _user(record: InCore, participating: Bools) -> Iterator[Boundary]:
    rows = record.boundaries
    start = 0
    for index, end in enumerate(rows.slot_end.tolist()):
        members = participating
        if rows.masked[index]:
            slots = record.boundary_slots.slot[start:end]
            members = np.zeros((1, record.slots), np.bool_)
            members[0, slots[(slots >= 0) & (slots < record.slots)]] = True
        yield Boundary(
            name=record.text(int(rows.name[index])),
            word=int(rows.word[index]),
            reducer=Reducer(int(rows.reducer[index])),
            members=members,
        )
        start = end


def _known(record: InCore, participating: Bools, producers: Bools) -> Iterator[Boundary]:
    words = event_words(record)
    for name, event, reducer, only_producers in CANONICAL:
        if event not in words:
            continue
        members = participating
        if only_producers:
            members = producers
        yield Boundary(name=name, word=words[event], reducer=reducer, members=members)


def event_words(record: InCore) -> dict[str, int]:
    """The column of each named event."""
    names = [record.text(name) for name in record.events.name.tolist()]
    return dict(zip(names, record.events.word.tolist(), strict=True))


def reduce_members(stamps: U64, members: Bools, reducer: Reducer) -> U64:
    """The smallest or largest stamp of the members per invocation; both are [invocation, slot]."""
    if reducer is Reducer.MIN:
        result: U64 = np.where(members, stamps, TOP).min(axis=1)
        return result
    result = np.where(members, stamps, np.uint64(0)).max(axis=1)
    return result

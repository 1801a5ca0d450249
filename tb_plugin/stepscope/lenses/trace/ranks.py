"""The ranks of one job side by side: computation against communication, waiting against transfer, and who is late."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from stepscope.lenses.trace.categories import (
    COLLECTIVE,
    Category,
    attribute_texts,
    execution_categories,
)
from stepscope.lenses.trace.spans import Spans, overlap
from stepscope.lenses.trace.step_windows import step_windows
from stepscope.lenses.trace.utilization import utilization
from stepscope.model.columns import Array, Ints
from stepscope.model.diagnostic import Diagnostic
from stepscope.model.profile import NodeKind, Profile

_KERNEL = re.compile(r"(?:nccl|rccl|hccl|oneccl)(?:Dev)?Kernel_?([A-Za-z0-9]+)", re.IGNORECASE)
_ITEM_BYTES = {
    "float": 4, "int": 4, "double": 8, "long": 8, "half": 2, "bfloat16": 2, "byte": 1, "char": 1, "bool": 1,
    "short": 2, "float8_e4m3fn": 1, "float8_e5m2": 1,
}  # fmt: skip
_LONGEST_NUMBER = 17
"""Digits: fewer items than that, of any type, are bytes that fit into 64 bits."""

Key = tuple[str, str]
"""A collective and its process group."""


@dataclass(frozen=True, eq=False)
class _Calls:
    """The collectives of one rank, in order of time, by the series in which ranks take part together."""

    key: tuple[Key, ...]
    run: Ints
    start: Ints
    duration: Ints
    bytes: Ints
    unknown_bytes: Array


@dataclass(frozen=True, eq=False)
class CollectiveWaits:
    """The waiting of one rank in the collectives that all ranks have.

    Attributes:
        run: The collective, in the executions of the rank's profile.
        waited_ps: How long the rank waited in it for the last one.
        level_ps: How much shorter it were if the last rank came when the median of the others does.
    """

    run: Ints
    waited_ps: Ints
    level_ps: Ints


@dataclass(frozen=True, eq=False)
class Rank:
    """One rank.

    Attributes:
        run: The run that it is.
        rank: Its number, -1 when unknown.
        span_ps, computation_ps, overlap_ps, communication_ps: Over the steps. Computation and communication are without
            the time in which both run, and the rest of the span is other.
        busy_ps: How long its devices were busy, their mean (`utilization`).
    """

    run: str
    rank: int
    span_ps: int
    computation_ps: int
    overlap_ps: int
    communication_ps: int
    busy_ps: int
    calls: _Calls


@dataclass(frozen=True, eq=False)
class Ranks:
    """Ranks and the collectives that they took part in.

    Attributes:
        ranks: By rank, then run.
        waiting_ps: Of each rank: how long its collectives took beyond the shortest of all ranks.
        transfer_ps: Of each rank: the shortest durations.
        last: How often each rank came last to a collective: the others waited, and its own call was the shortest.
        caused_ps: How long others waited for it.
        waits: The waiting of each rank, call by call.
        rows: One for each rank and kind of collective.
        problems: Where ranks do not fit together.
    """

    ranks: tuple[Rank, ...]
    waiting_ps: Ints
    transfer_ps: Ints
    last: Ints
    caused_ps: Ints
    waits: tuple[CollectiveWaits, ...]
    rows: tuple[dict[str, Any], ...]
    problems: tuple[Diagnostic, ...]

    def to_json(self) -> dict[str, Any]:
        """The document; times in ps."""
        ranks = [
            {
                "run": one.run,
                "rank": one.rank if one.rank >= 0 else None,
                "span_ps": one.span_ps,
                "computation_ps": one.computation_ps,
                "overlap_ps": one.overlap_ps,
                "communication_ps": one.communication_ps,
                "busy_ps": one.busy_ps,
                "other_ps": one.span_ps - one.computation_ps - one.overlap_ps - one.communication_ps,
                "collectives": len(one.calls.start),
                "transfer_ps": int(self.transfer_ps[i]),
                "waiting_ps": int(self.waiting_ps[i]),
                "came_last": int(self.last[i]),
                "caused_waiting_ps": int(self.caused_ps[i]),
            }
            for i, one in enumerate(self.ranks)
        ]
        problems = [{"where": p.where, "what": p.what, "count": p.count, "remedy": p.remedy} for p in self.problems]
        return {"ranks": ranks, "rows": list(self.rows), "problems": problems}


def ranks(profiles: Sequence[Profile]) -> Ranks:
    """Compares the profiles of a job's ranks, one profile a rank.

    The k-th call of a collective in a process group is taken to be the same one in all ranks. Its transfer is the
    shortest duration of them: who comes last does not wait. Where ranks have different numbers of calls, those that
    all have are compared.
    """
    found = tuple(sorted((_rank(profile) for profile in profiles), key=lambda one: (one.rank, one.run)))
    together = _Together(found)
    return Ranks(
        found, together.waiting, together.transfer, together.last, together.caused, together.waits(),
        tuple(together.rows), tuple(together.problems),
    )  # fmt: skip


class _Together:
    """Matches the calls of ranks, kind by kind."""

    def __init__(self, found: tuple[Rank, ...]) -> None:
        count = len(found)
        self.waiting, self.transfer, self.last, self.caused = (np.zeros(count, np.int64) for _ in range(4))
        self.rows: list[dict[str, Any]] = []
        self.problems: list[Diagnostic] = []
        self._waits: list[list[Ints]] = [[np.empty((3, 0), np.int64)] for _ in range(count)]
        places = [_places(one.calls.key) for one in found]
        for key in sorted({key for mine in places for key in mine}):
            self._match(found, key, [mine.get(key, np.empty(0, np.int64)) for mine in places])

    def waits(self) -> tuple[CollectiveWaits, ...]:
        """The waiting of each rank, call by call."""
        return tuple(CollectiveWaits(*np.concatenate(columns, axis=1)) for columns in self._waits)

    def _match(self, found: tuple[Rank, ...], key: Key, rows: list[Ints]) -> None:
        taking_part = [i for i, at in enumerate(rows) if len(at)]
        common = min(len(rows[i]) for i in taking_part)
        if len({len(rows[i]) for i in taking_part}) > 1:
            counts = ", ".join(f"{found[i].rank}: {len(rows[i])}" for i in taking_part[:16])
            what = f"ranks have different numbers of {key[0]} calls ({counts})"
            extra = sum(len(rows[i]) - common for i in taking_part)
            self.problems.append(Diagnostic("collectives", what, extra, f"The first {common} of each are compared"))
        durations = np.array([found[i].calls.duration[rows[i][:common]] for i in taking_part])
        shortest = durations.min(axis=0)
        waited = durations - shortest
        several = len(taking_part) > 1
        if several:
            late = durations.argmin(axis=0)
            caused = waited.sum(axis=0)
            np.add.at(self.last, np.array(taking_part)[late[caused > 0]], 1)
            np.add.at(self.caused, np.array(taking_part)[late], caused)
            middle = len(taking_part) // 2
            level = np.partition(waited, middle, axis=0)[middle]
            for place, i in enumerate(taking_part):
                runs = found[i].calls.run[rows[i][:common]]
                self._waits[i].append(np.array([runs, waited[place], np.minimum(waited[place], level)]))
        for place, i in enumerate(taking_part):
            self.waiting[i] += waited[place].sum()
            self.transfer[i] += shortest.sum()
            self.rows.append(_row(found[i], key, rows[i], int(shortest.sum()) if several else None, common))


def _places(keys: Sequence[Key]) -> dict[Key, Ints]:
    """The calls of each key, in order."""
    found: dict[Key, list[int]] = {}
    for place, key in enumerate(keys):
        found.setdefault(key, []).append(place)
    return {key: np.array(places, np.int64) for key, places in found.items()}


def _row(one: Rank, key: Key, at: Ints, transfer: int | None, matched: int) -> dict[str, Any]:
    calls = one.calls
    return {
        "run": one.run,
        "rank": one.rank if one.rank >= 0 else None,
        "name": key[0],
        "group": key[1],
        "calls": len(at),
        "matched": matched,
        "bytes": None if calls.unknown_bytes[at].any() else sum(calls.bytes[at].tolist()),
        "latency_ps": int(calls.duration[at].sum()),
        "transfer_ps": transfer,
    }


def _rank(profile: Profile) -> Rank:
    runs, category = profile.executions, execution_categories(profile)
    steps = step_windows(profile, category)
    end = runs.start_ticks + runs.duration_ticks
    kernels = category == Category.KERNEL
    work = kernels if kernels.any() else category == Category.CPU
    talks = category == Category.COMMUNICATION
    computation = Spans.union(runs.start_ticks[work], end[work])
    communication = Spans.union(runs.start_ticks[talks], end[talks])
    tick, header = profile.tick_ps, profile.header
    both = int(overlap(computation, communication, steps.start, steps.end).sum())
    computed, talked = (int(s.within(steps.start, steps.end).sum()) for s in (computation, communication))
    span = int((steps.end - steps.start).sum())
    busy = [ticks for ticks, _ in utilization(profile, category, steps).values()]
    return Rank(
        run=header.run,
        rank=header.rank,
        span_ps=span * tick,
        computation_ps=(computed - both) * tick,
        overlap_ps=both * tick,
        communication_ps=(talked - both) * tick,
        busy_ps=sum(busy) * tick // max(len(busy), 1),
        calls=_calls(profile, np.flatnonzero(talks)),
    )


def _calls(profile: Profile, rows: Ints) -> _Calls:
    """Collectives on the device; for a rank without any those on the host."""
    runs, kind = profile.executions, profile.nodes.kind
    device = kind[runs.node[rows]] == NodeKind.DEVICE
    rows = rows[device] if device.any() else rows
    node = runs.node[rows].tolist()
    named, group = attribute_texts(profile, COLLECTIVE), attribute_texts(profile, "Process Group Name")
    items, dtype = attribute_texts(profile, "In msg nelems"), attribute_texts(profile, "dtype")
    keys = tuple((named[n] or _name(profile, n), group[n]) for n in node)
    size = np.array([_bytes(items[n], dtype[n]) for n in node], np.int64)
    tick = profile.tick_ps
    return _Calls(keys, rows, runs.start_ticks[rows] * tick, runs.duration_ticks[rows] * tick, size, size < 0)


def _name(profile: Profile, node: int) -> str:
    text = profile.strings[int(profile.nodes.name[node])]
    found = _KERNEL.match(text)
    return found[1] if found else text


def _bytes(items: str, dtype: str) -> int:
    """Bytes that a collective of so many items takes in, -1 when unknown."""
    each = _ITEM_BYTES.get(dtype.lower(), 0)
    known = each and items.isdecimal() and len(items) < _LONGEST_NUMBER
    return int(items) * each if known else -1

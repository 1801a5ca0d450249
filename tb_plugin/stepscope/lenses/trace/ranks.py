"""The ranks of one job side by side: computation against communication, waiting against transfer, and who is late."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from stepscope.lenses.trace.categories import Category, execution_categories
from stepscope.lenses.trace.pairing import Calls, PairedCalls, calls_of, pair_calls
from stepscope.lenses.trace.spans import Spans, overlap
from stepscope.lenses.trace.step_windows import step_windows
from stepscope.lenses.trace.utilization import utilization
from stepscope.model.arrays import Ints
from stepscope.model.diagnostic import Diagnostic
from stepscope.model.profile import Profile

_ITEM_BYTES = {
    "float": 4, "int": 4, "double": 8, "long": 8, "half": 2, "bfloat16": 2, "byte": 1, "char": 1, "bool": 1,
    "short": 2, "float8_e4m3fn": 1, "float8_e5m2": 1,
}  # fmt: skip
_MOST_ELEMENT_BYTES = 4 * 10**16
"""More than any memory has: a message of so many bytes is a wrong number."""
_MOST_NAMED = 16


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
    calls: Calls


@dataclass(frozen=True, eq=False)
class Ranks:
    """Ranks and the collectives that they took part in.

    Attributes:
        ranks: By rank, then run.
        waiting_ps: Of each rank: how long its collectives took beyond the shortest of all ranks.
        transfer_ps: Of each rank: the shortest durations.
        unpaired: Of each rank: how many calls have no counterpart in the others.
        last: How often each rank came last to a collective: the others waited, and its own call was the shortest.
        caused_ps: How long others waited for it.
        waits: The waiting of each rank, call by call.
        rows: One for each rank and kind of collective.
        problems: Where ranks do not fit together.
    """

    ranks: tuple[Rank, ...]
    waiting_ps: Ints
    transfer_ps: Ints
    unpaired: Ints
    last: Ints
    caused_ps: Ints
    waits: tuple[CollectiveWaits, ...]
    rows: tuple[dict[str, Any], ...]
    problems: tuple[Diagnostic, ...]

    def to_json(self) -> dict[str, Any]:
        """The document; times in ps."""
        ranks = [self._rank(place) for place in range(len(self.ranks))]
        return {
            "ranks": ranks,
            "rows": list(self.rows),
            "problems": [problem.to_json() for problem in self.problems],
        }

    def _rank(self, place: int) -> dict[str, Any]:
        rank = self.ranks[place]
        parts = rank.computation_ps + rank.overlap_ps + rank.communication_ps
        return {
            "run": rank.run,
            "rank": rank.rank if rank.rank >= 0 else None,
            "span_ps": rank.span_ps,
            "computation_ps": rank.computation_ps,
            "overlap_ps": rank.overlap_ps,
            "communication_ps": rank.communication_ps,
            "busy_ps": rank.busy_ps,
            "other_ps": rank.span_ps - parts,
            "collectives": len(rank.calls),
            "unpaired": int(self.unpaired[place]),
            "transfer_ps": int(self.transfer_ps[place]),
            "waiting_ps": int(self.waiting_ps[place]),
            "came_last": int(self.last[place]),
            "caused_waiting_ps": int(self.caused_ps[place]),
        }


def ranks(profiles: Sequence[Profile]) -> Ranks:
    """Compares the profiles of a job's ranks, one profile a rank.

    `pair_calls` says which calls belong together. Their transfer is the shortest duration of them: who comes last does
    not wait. Calls without a counterpart are not compared, and `problems` says how many there are.
    """
    job = sorted((_rank(profile) for profile in profiles), key=lambda rank: (rank.rank, rank.run))
    matches = _Matches(job)
    for paired in pair_calls([rank.calls for rank in job]):
        matches.add(paired)
    return Ranks(
        ranks=tuple(job),
        waiting_ps=matches.waiting,
        transfer_ps=matches.transfer,
        unpaired=matches.unpaired,
        last=matches.last,
        caused_ps=matches.caused,
        waits=matches.waits(),
        rows=matches.rows(),
        problems=tuple(matches.problems),
    )


class _Matches:
    """Adds up what ranks wait for each other, series by series."""

    def __init__(self, job: Sequence[Rank]) -> None:
        count = len(job)
        self._job = job
        self.waiting = np.zeros(count, np.int64)
        self.transfer = np.zeros(count, np.int64)
        self.unpaired = np.zeros(count, np.int64)
        self.last = np.zeros(count, np.int64)
        self.caused = np.zeros(count, np.int64)
        self.problems: list[Diagnostic] = []
        self._waits: list[list[Ints]] = [[np.empty((3, 0), np.int64)] for _ in range(count)]
        self._transfer = [np.full(len(rank.calls), -1, np.int64) for rank in job]

    def add(self, paired: PairedCalls) -> None:
        """Compares the calls of one series."""
        if len(paired.ranks) < 2:
            self._add_alone(paired)
            return
        self._add_problem(paired)
        if not paired.calls.shape[1]:
            return
        taking_part = np.array(paired.ranks)
        durations = np.array(
            [
                self._job[rank].calls.duration[row]
                for rank, row in zip(taking_part, paired.calls, strict=True)
            ]
        )
        shortest = durations.min(axis=0)
        waited = durations - shortest
        late = taking_part[durations.argmin(axis=0)]
        caused = waited.sum(axis=0)
        np.add.at(self.last, late[caused > 0], 1)
        np.add.at(self.caused, late, caused)
        middle = len(taking_part) // 2
        level = np.partition(waited, middle, axis=0)[middle]
        for place, rank in enumerate(paired.ranks):
            runs = self._job[rank].calls.run[paired.calls[place]]
            self._waits[rank].append(
                np.array([runs, waited[place], np.minimum(waited[place], level)])
            )
            self._transfer[rank][paired.calls[place]] = shortest
            self.waiting[rank] += waited[place].sum()
            self.transfer[rank] += shortest.sum()

    def _add_alone(self, paired: PairedCalls) -> None:
        """Calls that one rank alone has: nobody to compare with."""
        (rank,) = paired.ranks
        count = paired.calls.shape[1] + paired.unpaired[0]
        if len(self._job) < 2:
            self.transfer[rank] += self._job[rank].calls.duration[paired.calls[0]].sum()
            return
        self.unpaired[rank] += count
        what = (
            f"{paired.series[0]} calls are in rank {self._job[rank].rank} only{_in_group(paired)}"
        )
        remedy = "Import the traces of the other ranks of the group"
        self.problems.append(Diagnostic("collectives", what, count, remedy))

    def _add_problem(self, paired: PairedCalls) -> None:
        for place, rank in enumerate(paired.ranks):
            self.unpaired[rank] += paired.unpaired[place]
        extra = sum(paired.unpaired)
        if not extra:
            return
        compared = paired.calls.shape[1]
        counts = []
        for place, rank in enumerate(paired.ranks[:_MOST_NAMED]):
            counts.append(f"{self._job[rank].rank}: {compared + paired.unpaired[place]}")
        what = (
            f"{paired.series[0]} calls{_in_group(paired)} have no counterpart in every rank "
            f"(calls by rank: {', '.join(counts)})"
        )
        remedy = f"StepScope compares {compared} of each. Record the same steps in all ranks"
        self.problems.append(Diagnostic("collectives", what, extra, remedy))

    def waits(self) -> tuple[CollectiveWaits, ...]:
        """The waiting of each rank, call by call."""
        return tuple(CollectiveWaits(*np.concatenate(columns, axis=1)) for columns in self._waits)

    def rows(self) -> tuple[dict[str, Any], ...]:
        """One row for each kind of collective and rank."""
        members: dict[tuple[str, str, int], list[int]] = {}
        for place, rank in enumerate(self._job):
            for call, key in enumerate(zip(rank.calls.name, rank.calls.group, strict=True)):
                members.setdefault((*key, place), []).append(call)
        rows = []
        for name, group, place in sorted(members):
            calls = np.array(members[name, group, place])
            rows.append(_row(self._job[place], calls, self._transfer[place][calls]))
        return tuple(rows)


def _in_group(paired: PairedCalls) -> str:
    group, source, destination = paired.series[1], paired.series[3], paired.series[4]
    words = f" of group {group}" if group else ""
    return f"{words} from {source} to {destination}" if source >= 0 and destination >= 0 else words


def _row(rank: Rank, at: Ints, transfer: Ints) -> dict[str, Any]:
    """A kind of collective in one rank; `transfer` is -1 for calls without a counterpart."""
    calls = rank.calls
    first = int(at[0])
    matched = transfer >= 0
    return {
        "run": rank.run,
        "rank": rank.rank if rank.rank >= 0 else None,
        "name": calls.name[first],
        "group": calls.group[first],
        "calls": len(at),
        "matched": int(matched.sum()),
        "bytes": _bytes(calls, at),
        "latency_ps": int(calls.duration[at].sum()),
        "transfer_ps": int(transfer[matched].sum()) if matched.any() else None,
    }


def _bytes(calls: Calls, at: Ints) -> int | None:
    """Bytes that collectives take in, None where one of them is unknown."""
    total = 0
    for call in at.tolist():
        each = _ITEM_BYTES.get(calls.dtype[call].lower(), 0)
        elements = int(calls.elements[call])
        if not each or elements < 0 or elements * each >= _MOST_ELEMENT_BYTES:
            return None
        total += elements * each
    return total


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
    computed, talked = (
        int(s.within(steps.start, steps.end).sum()) for s in (computation, communication)
    )
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
        calls=calls_of(profile, np.flatnonzero(talks)),
    )

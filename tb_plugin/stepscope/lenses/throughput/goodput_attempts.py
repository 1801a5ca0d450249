"""Attempts of a job: what each process recorded, and which processes ran together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from stepscope.model.arrays import I64
from stepscope.model.throughput import UNKNOWN_NS, ResetKind, Throughput


@dataclass(frozen=True, eq=False)
class RankAttempt:
    """One process of a job. Times are Unix nanoseconds that never step back.

    Attributes:
        rank: Its rank, -1 when unknown.
        start_ns: Its first known moment.
        end_ns: Its last known moment.
        time_ns: When outputs were received.
        step: Their steps, -1 when unknown.
        spans: Kind, start and end of each span.
    """

    rank: int
    start_ns: int
    end_ns: int
    time_ns: I64
    step: I64
    spans: tuple[tuple[str, int, int], ...]

    @property
    def first_step(self) -> int:
        """The first step, -1 when unknown."""
        return int(self.step[0]) if len(self.step) else -1

    @property
    def last_step(self) -> int:
        """The highest step, -1 when unknown."""
        return int(self.step.max()) if len(self.step) else -1


def rank_attempts(record: Throughput) -> list[RankAttempt]:
    """The processes of one series: a reset of kind SESSION begins the next.

    Empty where the series has no wall clock or no times.
    """
    anchor = record.header.wall_anchor_ns
    if anchor <= 0:
        return []
    sessions = np.flatnonzero(record.resets.kind == ResetKind.SESSION)
    cuts = [0, *record.resets.mark_end[sessions].tolist(), len(record.marks)]
    starts = [record.start_ns, *record.resets.time_ns[sessions].tolist()]
    spans = _spans(record)

    attempts: list[RankAttempt] = []
    for index, start_ns in enumerate(starts):
        until_ns = starts[index + 1] if index + 1 < len(starts) else None
        mark_times = record.marks.time_ns[cuts[index] : cuts[index + 1]]
        # A clock may step back; what was reached stays reached.
        time_ns = np.maximum.accumulate(mark_times) + anchor
        from_ns = start_ns if index else None
        members = [span for span in spans if _is_between(span[1], from_ns, until_ns)]
        placed = tuple((kind, start + anchor, end + anchor) for kind, start, end in members)
        times = time_ns[[0, -1]].tolist() if len(time_ns) else []
        for _, start, end in placed:
            times += [start, end]
        if start_ns != UNKNOWN_NS:
            times.append(start_ns + anchor)
        if times and max(times) > min(times):
            attempts.append(
                RankAttempt(
                    rank=record.header.rank,
                    start_ns=min(times),
                    end_ns=max(times),
                    time_ns=time_ns,
                    step=record.marks.step[cuts[index] : cuts[index + 1]],
                    spans=placed,
                )
            )
    return attempts


def _spans(record: Throughput) -> list[tuple[str, int, int]]:
    spans = []
    for kind, start, end in zip(
        record.spans.kind, record.spans.start_ns, record.spans.end_ns, strict=True
    ):
        if end > start:
            spans.append((record.strings[int(kind)], int(start), int(end)))
    return spans


def _is_between(time_ns: int, from_ns: int | None, until_ns: int | None) -> bool:
    if from_ns is not None and time_ns < from_ns:
        return False
    return until_ns is None or time_ns < until_ns


def group_attempts(ranks: Sequence[RankAttempt]) -> list[list[RankAttempt]]:
    """Processes that overlap in time are one attempt, in order of time."""
    attempts: list[list[RankAttempt]] = []
    end_ns = 0
    for rank in sorted(ranks, key=lambda rank: rank.start_ns):
        if not attempts or rank.start_ns >= end_ns:
            attempts.append([])
        attempts[-1].append(rank)
        end_ns = max(end_ns, rank.end_ns)
    return attempts

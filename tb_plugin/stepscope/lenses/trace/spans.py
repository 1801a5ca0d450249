"""Unions of time ranges, and how much of them lies in a window. Exact integers."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from stepscope.model.columns import Ints


@dataclass(frozen=True, eq=False)
class Spans:
    """Disjoint ranges `[start, end)` in order of time."""

    start: Ints
    end: Ints

    @classmethod
    def union(cls, start: Ints, end: Ints) -> Spans:
        """The union of ranges in any order."""
        order = np.argsort(start, kind="stable")
        start, last = (
            start[order].astype(np.int64),
            np.maximum.accumulate(end[order].astype(np.int64)),
        )
        if not len(start):
            return cls(start, last)
        opens = np.flatnonzero(np.append(True, start[1:] > last[:-1]))
        return cls(start[opens], last[np.append(opens[1:], len(start)) - 1])

    @cached_property
    def _covered(self) -> Ints:
        """How much the ranges before each one cover together."""
        covered = np.zeros(len(self.start) + 1, np.int64)
        np.cumsum(self.end - self.start, out=covered[1:])
        return covered

    @property
    def total(self) -> int:
        """How much is covered."""
        return int(self._covered[-1])

    def before(self, time: Ints) -> Ints:
        """How much is covered before each moment."""
        place = np.searchsorted(self.start, time, side="right")
        beyond = np.maximum(self.end[place - 1] - time, 0) if len(self.end) else 0
        covered: Ints = self._covered[place] - np.where(place > 0, beyond, 0)
        return covered

    def within(self, start: Ints, end: Ints) -> Ints:
        """How much is covered in each window."""
        covered: Ints = self.before(end) - self.before(start)
        return covered

    def __or__(self, other: Spans) -> Spans:
        return Spans.union(
            np.concatenate((self.start, other.start)), np.concatenate((self.end, other.end))
        )

    def minus(self, other: Spans) -> Spans:
        """What is in these ranges and in none of the others."""
        edge = np.unique(np.concatenate((self.start, self.end, other.start, other.end)))
        start, end = edge[:-1], edge[1:]
        left = (self.within(start, end) > 0) & (other.within(start, end) == 0)
        return Spans(start[left], end[left])


def overlap(a: Spans, b: Spans, start: Ints, end: Ints) -> Ints:
    """How much both cover in each window."""
    both: Ints = a.within(start, end) + b.within(start, end) - (a | b).within(start, end)
    return both

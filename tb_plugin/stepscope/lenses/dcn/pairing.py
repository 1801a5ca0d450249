"""Pairs of ops by first in, first out: the op that starts a transfer and the one that ends it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from stepscope.model.arrays import I64

Flags = NDArray[np.bool_]


@dataclass(frozen=True)
class Pairs:
    """Rows of ops that belong together, and how many rows stayed alone.

    Attributes:
        opened: Rows of the openers that were closed.
        closed: The row of the closer of each.
        alone_openers: Rows of openers without a closer.
        alone_closers: Rows of closers with no opener before them.
    """

    opened: I64
    closed: I64
    alone_openers: I64
    alone_closers: I64


def pair(group: I64, opens: Flags, closes: Flags) -> Pairs:
    """Pairs openers with closers of their group: a closer takes the opener that is open longest.

    Args:
        group: A number per row; rows of a group need not stand together, but are in order of time.
        opens: Whether the row opens.
        closes: Whether the row closes; a row does not do both.
    """
    rows = np.flatnonzero(opens | closes)
    rows = rows[stable_order(group[rows])]
    is_open = opens[rows]
    first, rank = _runs(group[rows])
    is_paired = ~is_open & ~_finds_nothing(is_open, first, rank)

    # The n-th paired closer of a run takes the n-th opener of the run.
    openers = rows[is_open]
    openers_before_run = _count_before_run(is_open, first)[rank]
    closers_before_in_run = _count_before_in_run(is_paired, first, rank)
    partner = (openers_before_run + closers_before_in_run)[is_paired]
    is_taken = np.zeros(len(openers), np.bool_)
    is_taken[partner] = True
    return Pairs(
        opened=openers[partner],
        closed=rows[is_paired],
        alone_openers=openers[~is_taken],
        alone_closers=rows[~is_open & ~is_paired],
    )


def stable_order(codes: I64) -> I64:
    """The order that sorts the codes and leaves equal ones in place."""
    size = len(codes)
    if size == 0 or int(codes.min()) < -1 or int(codes.max()) >= 2**62 // size:
        return np.argsort(codes, kind="stable")
    # Sorting values is faster than sorting indices, so each value carries its index.
    order: I64 = np.sort(codes * size + np.arange(size)) % size
    return order


def _runs(group: I64) -> tuple[I64, I64]:
    """The first row of each run of equal numbers, and for each row the ordinal of its run."""
    changes = np.diff(group, prepend=group[:1]) != 0
    first = np.flatnonzero(changes)
    if len(group):
        first = np.append(0, first)
    return first, np.cumsum(changes)


def _finds_nothing(is_open: Flags, first: I64, rank: I64) -> Flags:
    """Whether a closer finds nothing open: the balance of its run falls below all values before."""
    step = np.where(is_open, 1, -1)
    balance = np.cumsum(step)
    before_run = (balance - step)[first]
    balance = balance - before_run[rank]
    # Runs are put below each other, so that one running minimum serves them all.
    depth = rank * (2 * len(is_open) + 2)
    lowest = np.minimum.accumulate(np.minimum(balance, 0) - depth) + depth
    before = np.concatenate([lowest[:1] * 0, lowest[:-1]])
    before[first] = 0
    alone: Flags = ~is_open & (balance < before)
    return alone


def _count_before_run(flags: Flags, first: I64) -> I64:
    """The number of flags that are set before each run."""
    before: I64 = np.cumsum(flags) - flags
    return before[first]


def _count_before_in_run(flags: Flags, first: I64, rank: I64) -> I64:
    """The number of flags that are set before each row in its run."""
    before: I64 = np.cumsum(flags) - flags
    return before - before[first][rank]

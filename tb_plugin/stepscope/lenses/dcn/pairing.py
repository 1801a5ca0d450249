"""First in, first out: which op ends what another op began."""

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
        closed: For each of them the row of its closer.
        alone_openers: Rows of openers without a closer.
        alone_closers: Rows of closers that found nothing open.
    """

    opened: I64
    closed: I64
    alone_openers: I64
    alone_closers: I64


def pair(group: I64, opens: Flags, closes: Flags) -> Pairs:
    """Pairs openers with closers: within a group, a closer takes the opener that has been open longest.

    Args:
        group: A number per row; rows of a group need not stand together, but are in order of time.
        opens: Whether the row opens.
        closes: Whether the row closes; a row does not do both.
    """
    rows = np.flatnonzero(opens | closes)
    rows = rows[stable_order(group[rows])]
    is_open = opens[rows]
    first, rank = _runs(group[rows])
    served = ~is_open & ~_finds_nothing(is_open, first, rank)
    open_rows, served_rows = rows[is_open], rows[served]
    partner = _count_before(is_open, first, rank)[1][rank[served]] + _count_before(served, first, rank)[0][served]
    taken = np.zeros(len(open_rows), np.bool_)
    taken[partner] = True
    return Pairs(open_rows[partner], served_rows, open_rows[~taken], rows[~is_open & ~served])


def stable_order(codes: I64) -> I64:
    """The order that sorts the codes and leaves equal ones in place. Sorting values is faster than sorting indices."""
    size = max(len(codes), 1)
    if not len(codes) or int(codes.min()) < -1 or int(codes.max()) >= 2**62 // size:
        return np.argsort(codes, kind="stable")
    order: I64 = np.sort(codes * size + np.arange(len(codes))) % size
    return order


def _runs(group: I64) -> tuple[I64, I64]:
    """The first row of each run of equal numbers, and for each row the ordinal of its run."""
    changes = np.diff(group, prepend=group[:1]) != 0
    return np.concatenate([np.zeros(min(len(group), 1), np.int64), np.flatnonzero(changes)]), np.cumsum(changes)


def _finds_nothing(is_open: Flags, first: I64, rank: I64) -> Flags:
    """Whether a closer finds nothing open: where the balance of its run falls below all that it was before."""
    balance = np.cumsum(np.where(is_open, 1, -1))
    before_run = (balance - np.where(is_open, 1, -1))[first]
    balance = balance - before_run[rank]
    # Runs are put below each other, so that one running minimum serves them all.
    depth = rank * (2 * len(is_open) + 2)
    lowest = np.minimum.accumulate(np.minimum(balance, 0) - depth) + depth
    before = np.concatenate([lowest[:1] * 0, lowest[:-1]])
    before[first] = 0
    alone: Flags = ~is_open & (balance < before)
    return alone


def _count_before(flags: Flags, first: I64, rank: I64) -> tuple[I64, I64]:
    """How many flags stand before each row in its run, and before each run in all."""
    total: I64 = np.cumsum(flags) - flags
    return total - total[first][rank], total[first]

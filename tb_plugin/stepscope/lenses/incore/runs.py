"""Runs of the merged and the split kernel: their parts, and what the merge gains pair by pair."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stepscope.lenses.incore.exactness import difference
from stepscope.model.arrays import Array, Bools
from stepscope.model.incore import InCore, Runs, Variant

_SETUP = ("device", "inputs", "configuration")


@dataclass(frozen=True)
class RunParts:
    """The parts of each run, in cycles.

    Attributes:
        producer: Producer's length; of a merged run with dispatch and drain in it, so not pure producer time.
        gap: From the producer's end to the consumer's start; negative means overlap, and is kept.
        consumer: Consumer's length.
        three_term_applies: Whether the three add up to the total: neither starts nor ends within the other.
        total: From the first start to the last end.
        ordered: Whether each part ends after it starts.
    """

    producer: Array
    gap: Array
    consumer: Array
    three_term_applies: Bools
    total: Array
    ordered: Bools


@dataclass(frozen=True)
class Pair:
    """A pair of runs: the row in Runs of each member, -1 for a missing one.

    Attributes:
        mismatch: The settings in which the two differ.
        total_delta: Merged total - split total, so that negative means that merging wins; None of an incomplete pair.
    """

    number: int
    merged: int
    split: int
    mismatch: tuple[str, ...]
    total_delta: int | None


def parts(runs: Runs) -> RunParts:
    """The parts of each run."""
    starts_first = runs.producer_start <= runs.consumer_start
    ends_first = runs.producer_end <= runs.consumer_end
    first = np.where(starts_first, runs.producer_start, runs.consumer_start)
    last = np.where(ends_first, runs.consumer_end, runs.producer_end)
    return RunParts(
        producer=difference(runs.producer_end, runs.producer_start),
        gap=difference(runs.consumer_start, runs.producer_end),
        consumer=difference(runs.consumer_end, runs.consumer_start),
        three_term_applies=starts_first & ends_first,
        total=difference(last, first),
        ordered=(runs.producer_start <= runs.producer_end)
        & (runs.consumer_start <= runs.consumer_end),
    )


def pair_up(record: InCore, totals: Array) -> tuple[Pair, ...]:
    """The pairs of the record's runs, in order of first appearance."""
    members: dict[int, dict[int, int]] = {}
    variants = record.runs.variant.tolist()
    for row, number in enumerate(record.runs.pair.tolist()):
        if number >= 0:
            members.setdefault(number, {}).setdefault(variants[row], row)
    pairs = [_pair(record, number, rows, totals) for number, rows in members.items()]
    return tuple(pairs)


def _pair(record: InCore, number: int, rows: dict[int, int], totals: Array) -> Pair:
    """A pair from the row of each of its variants."""
    merged = rows.get(Variant.MERGED, -1)
    split = rows.get(Variant.SPLIT, -1)
    mismatch: list[str] = []
    total_delta = None
    if merged >= 0 and split >= 0:
        total_delta = int(totals[merged]) - int(totals[split])
        for name in _SETUP:
            column = getattr(record.runs, name)
            if column[merged] != column[split]:
                mismatch.append(name)
    return Pair(
        number=number,
        merged=merged,
        split=split,
        mismatch=tuple(mismatch),
        total_delta=total_delta,
    )


def deltas(pairs: Sequence[Pair]) -> NDArray[Any]:
    """The total deltas of the complete pairs, in their order."""
    values = [pair.total_delta for pair in pairs if pair.total_delta is not None]
    if all(-(1 << 63) <= value < 1 << 63 for value in values):
        return np.array(values, np.int64)
    return np.array(values, object)

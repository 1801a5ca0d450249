"""The newest rows of a live series, apart from its blocks.

A series that is being logged is written every two seconds. To write a whole block each time would
cost many times its size, so most flushes write only a tail: the rows that the last version of the
block does not hold. All tails of a session lie under one tag, of which the last value counts. A
later version of the block takes the rows over; the tail that is still there then holds nothing new.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import TypeVar

from stepscope.model.columns import Group
from stepscope.model.throughput import Throughput

G = TypeVar("G", bound=Group)


def is_tail(record: Throughput) -> bool:
    """Whether a record is a tail, not a block."""
    return bool(record.tail_after)


def last_tail(parts: Sequence[Throughput]) -> Throughput | None:
    """Returns the tail that reaches farthest, or None where there is none."""
    tails = [part for part in parts if is_tail(part)]
    return max(tails, key=lambda tail: tail.tail_after[0] + len(tail.marks), default=None)


def beyond(blocks: Sequence[Throughput], tail: Throughput) -> Throughput:
    """Returns the tail as one more block: without the rows that the blocks hold already.

    Args:
        blocks: All blocks of the session, in order.
        tail: Its tail.
    """
    before_marks, before_samples, before_resets, before_spans = tail.tail_after
    held_marks = sum(len(block.marks) for block in blocks)
    marks = max(held_marks - before_marks, 0)
    samples = max(sum(len(block.samples) for block in blocks) - before_samples, 0)
    resets = max(sum(len(block.resets) for block in blocks) - before_resets, 0)
    # A span that is still open in a block comes again once it has ended.
    spans = max(sum(int((block.spans.open == 0).sum()) for block in blocks) - before_spans, 0)

    number = blocks[-1].block + 1 if blocks else 0
    # The block between is lost: its number is left out, by which the loss is counted.
    if held_marks < before_marks:
        number += 1
    counts = tail.marks.count[:marks]
    kept_samples = _after(tail.samples, samples)
    kept_resets = _after(tail.resets, resets)
    return dataclasses.replace(
        tail,
        block=number,
        total_before=tail.total_before + int(counts[counts > 0].sum()),
        tail_after=(),
        marks=_after(tail.marks, marks),
        samples=dataclasses.replace(kept_samples, mark_end=kept_samples.mark_end - marks),
        resets=dataclasses.replace(
            kept_resets,
            mark_end=kept_resets.mark_end - marks,
            sample_end=kept_resets.sample_end - samples,
        ),
        spans=_after(tail.spans, spans),
    )


def _after(group: G, rows: int) -> G:
    columns = {spec.name: getattr(group, spec.name)[rows:] for spec in dataclasses.fields(group)}
    return dataclasses.replace(group, **columns)

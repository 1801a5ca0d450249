"""Where the members of a repeated field lie, when they stand one after the other by the million.

Each member tells only where the next one starts. So that they need not be followed one by one, many walks start at
once: each looks for a place in its part of the bytes that reads as a row of members, and the walk before must arrive
exactly there.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from stepscope.model.arrays import I64, U8
from stepscope.sources.wire import PADDING, Messages

LANES = 1024
WINDOW = 64
HOPS = 12
LEAST_BYTES = 1 << 18


def find_run(body: bytes, start: int, field: int) -> tuple[Messages, int] | None:
    """The members of a run of a length-delimited field that begins at a position, and the position after the run.

    None where the bytes are too few to be worth it, or do not read as one run: then they must be read one by one.
    """
    if len(body) - start < LEAST_BYTES:
        return None
    data = np.frombuffer(body + PADDING, np.uint8)
    tag, size = field << 3 | 2, len(body)
    heads = _heads(data, start, size, tag)
    walked = _walk(data, heads, size, tag)
    if walked is None:
        return None
    position, after = walked
    end = np.append(position[1:], after)
    return Messages(data, position + np.where(end - position > 0x81, 3, 2), end), after


def _member(data: U8, position: I64) -> tuple[I64, I64]:
    """Where the content of the members at the positions starts and ends; a length takes one or two bytes."""
    low, high = data[position + 1].astype(np.int64), data[position + 2].astype(np.int64)
    short = low < 0x80
    content = position + np.where(short, 2, 3)
    return content, content + np.where(short, low, (low & 0x7F) | (high << 7))


def _is_long(data: U8, position: I64) -> NDArray[np.bool_]:
    """Whether the length of a member takes more than two bytes."""
    long: NDArray[np.bool_] = (data[position + 1] >= 0x80) & (data[position + 2] >= 0x80)
    return long


def _heads(data: U8, start: int, size: int, tag: int) -> I64:
    """A place in each part of the bytes at which some members that follow each other arrive; the first is the start.

    A part of a member may read as a row of members too, such as the stats of an event, but such a row joins the members
    soon: so the place is where the row arrives, and not where it begins.
    """
    parts = np.linspace(start, size, LANES, endpoint=False).astype(np.int64)[1:]
    place = np.minimum(parts[:, None] + np.arange(WINDOW), size - 1)
    reads = data[place] == tag
    at = place
    for _ in range(HOPS):
        at = np.minimum(_member(data, at)[1], size - 1)
        reads &= data[at] == tag
    found = reads.any(axis=1)
    heads = at[found, reads[found].argmax(axis=1)]
    return np.unique(np.concatenate([[start], heads[heads < size - 1]]))


def _walk(data: U8, heads: I64, size: int, tag: int) -> tuple[I64, int] | None:
    """The positions of all members and the position after the last; None where the bytes end within a member.

    A walk goes on until it arrives at a head. Heads at which none arrives read as members only by chance, so the walks
    that count are those that the first walk leads to, one after the other.
    """
    goal = np.append(heads[1:], size)
    position = heads.copy()
    lane = np.arange(len(heads))
    seen: list[tuple[I64, I64]] = []
    while len(lane):
        here = position[lane]
        is_member = data[here] == tag
        lane, here = lane[is_member], here[is_member]
        seen.append((lane, here))
        end = np.where(_is_long(data, here), size + 1, _member(data, here)[1])
        position[lane] = end
        past = end >= goal[lane]
        if past.any():
            place = np.searchsorted(heads, end[past])
            goal[lane[past]] = np.append(heads, size)[place]
        lane = lane[(end != goal[lane]) & (end < size)]
    return _joined(heads, position, seen, size)


def _joined(
    heads: I64, position: I64, seen: list[tuple[I64, I64]], size: int
) -> tuple[I64, int] | None:
    next_lane = {head: lane for lane, head in enumerate(heads.tolist())}
    ends = position.tolist()
    counts = np.zeros(len(heads), np.bool_)
    lane: int | None = 0
    after = int(heads[0])
    while lane is not None:
        counts[lane] = True
        after = ends[lane]
        lane = next_lane.get(after)
        if lane is not None and counts[lane]:
            break
    if after > size:
        return None
    return np.sort(np.concatenate([here[counts[lanes]] for lanes, here in seen])), after

"""Pairing in columns gives what a queue gives."""

from __future__ import annotations

from collections import defaultdict, deque

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from stepscope.lenses.dcn.pairing import pair

_ROWS = st.lists(st.tuples(st.integers(-1, 3), st.sampled_from("oc-")), max_size=40)


@given(_ROWS)
def test_a_closer_takes_the_opener_that_is_open_longest(rows: list[tuple[int, str]]) -> None:
    group = np.array([g for g, _ in rows], np.int64)
    kind = np.array([k for _, k in rows] or [""])[: len(rows)]
    found = pair(group, kind == "o", kind == "c")
    queues: dict[int, deque[int]] = defaultdict(deque)
    pairs, alone = set(), set()
    for row, (g, k) in enumerate(rows):
        if k == "o":
            queues[g].append(row)
        elif k == "c" and queues[g]:
            pairs.add((queues[g].popleft(), row))
        elif k == "c":
            alone.add(row)
    assert set(zip(found.opened.tolist(), found.closed.tolist(), strict=True)) == pairs
    assert set(found.alone_closers.tolist()) == alone
    assert set(found.alone_openers.tolist()) == {row for queue in queues.values() for row in queue}

"""Subtrees that stand under another name in the other profile: what looks removed and added may only have moved."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Any

import numpy as np

from stepscope.lenses.views import ViewResult
from stepscope.lenses.views.comparison import Comparison

MOST = 1000


def renames(found: Comparison) -> list[dict[str, Any]]:
    """Subtrees of `b` that `a` has under another name or at another place, the largest first.

    Two subtrees are taken for one when all below their top rows is called alike, and no third one is like them.
    A row alone says nothing.
    """
    mine = _unique(found.a, found.a_rows[found.b_rows < 0])
    theirs = _unique(found.b, found.b_rows[found.a_rows < 0])
    pairs = [(theirs[shape], row) for shape, row in mine.items() if shape in theirs]
    pairs.sort(key=lambda pair: -(int(found.a.end[pair[1]]) - pair[1]))
    return [
        {
            "from": found.b.stable_key(old),
            "to": found.a.stable_key(new),
            "rows": int(found.a.end[new]) - new,
        }
        for old, new in pairs[:MOST]
    ]


def _unique(result: ViewResult, lone: Iterable[int]) -> dict[bytes, int]:
    """The top rows of subtrees that only one side has, by what is below them; those that are alike are left out."""
    alone = np.zeros(len(result) + 1, bool)
    alone[np.asarray(lone, np.int64)] = True
    rows = np.flatnonzero(alone[:-1])
    tops = rows[~alone[result.parent[rows]] & (result.end[rows] > rows + 1)]
    found: dict[bytes, int] = {}
    twice: set[bytes] = set()
    for row in tops.tolist():
        shape = _shape(result, row)
        if shape in found:
            twice.add(shape)
        found[shape] = row
    return {shape: row for shape, row in found.items() if shape not in twice}


def _shape(result: ViewResult, top: int) -> bytes:
    """A digest of the names and depths below a row, in an order of their own."""
    rows = np.arange(top + 1, int(result.end[top]))
    depth = (result.depth[rows] - result.depth[top]).tolist()
    parents = result.parent[rows].tolist()
    names = dict(zip(rows.tolist(), result.names(rows), strict=True))
    lines = sorted(
        f"{at}\0{names.get(up, '')}\0{names[row]}"
        for row, at, up in zip(names, depth, parents, strict=True)
    )
    return hashlib.blake2b("\n".join(lines).encode("utf-8", "replace"), digest_size=16).digest()

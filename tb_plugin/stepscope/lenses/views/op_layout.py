"""The layout of the op view."""

from __future__ import annotations

import numpy as np

from stepscope.lenses.views.index import RUNTIME, ProfileIndex, distinct
from stepscope.lenses.views.layout import ROOT, Layout
from stepscope.lenses.views.tree import flat, inverse, preorder
from stepscope.model.columns import Ints, Strings
from stepscope.model.profile import NodeKind

_APART = {NodeKind.SCOPE: " (scope)", NodeKind.DEVICE: " (device)", NodeKind.RUNTIME: " (runtime)"}
"""What tells rows of the op view apart that are called alike."""


def op_layout(index: ProfileIndex, tfprof: bool) -> Layout:
    """One row for each kind of node and op.

    Where ops call ops, kernels, copies and runtime calls stand below the row of the op that launched
    them. What only the runtime knows is one row; tfprof has one for each, and no rows below rows.
    """
    kind = index.profile.nodes.kind.astype(np.int64)
    unknown = np.zeros(len(kind), bool) if tfprof else index.runtime_nodes
    ranks = np.where(unknown, 0, index.string_ranks(index.op) + 1)
    key = ranks * len(NodeKind) + kind
    if tfprof or not (index.launcher >= 0).any():
        distinct_key, row_of_node = distinct(key, int(key.max(initial=0)) + 1)
        row_of_node = row_of_node + 1
        tree = flat(len(distinct_key))
    else:
        row_of_node, parent, rank = _rows_below_launchers(
            launcher=index.launcher,
            caller=index.profile.nodes.caller.astype(np.int64),
            key=key,
        )
        tree, place = preorder(parent, rank)
        row_of_node = inverse(place)[row_of_node]

    rows = len(tree)
    first = np.empty(rows, np.int64)
    first[row_of_node[::-1]] = np.arange(len(key))[::-1]
    first = first[1:]
    texts = [text.decode("utf-8", "replace") for text in index.texts(index.op[first])]
    names = [
        RUNTIME if one else text for one, text in zip(unknown[first].tolist(), texts, strict=True)
    ]
    words = [_APART.get(one, "") for one in kind[first].tolist()]
    return Layout(
        tree,
        row_of_node,
        Strings.of(names),
        np.arange(ROOT, rows - 1),
        np.concatenate(([NodeKind.SCOPE], kind[first])).astype(np.int8),
        rank=lambda: np.concatenate(([-1], ranks[first])),
        node_rank=lambda: index.node_ranks,
        keys=Strings.of(name + word for name, word in zip(names, words, strict=True)),
        key_separator=" > " if index.profile.nested else "",
        divides_launches=not tfprof,
    )


def _rows_below_launchers(launcher: Ints, caller: Ints, key: Ints) -> tuple[Ints, Ints, Ints]:
    """One row for each key among host nodes, and below it one for each key among what they launched, and so on.

    Args:
        launcher: For each node the op that launched it, -1 for none: nodes of the top.
        caller: For each node the one that called or launched it directly.
        key: What tells nodes of one parent apart.

    Returns:
        The row of each node; and of each row, the root first, its parent and its key.
    """
    row_of_node = np.full(len(key), -1, np.int64)
    parents = [np.array([-1])]
    keys = [np.array([-1])]
    keys_count = int(key.max(initial=0)) + 1
    rows = 1
    level = np.flatnonzero(launcher < 0)
    above = np.zeros(len(level), np.int64)
    waiting = np.flatnonzero(launcher >= 0)
    while len(level):
        pair, which = np.unique(above * keys_count + key[level], return_inverse=True)
        row_of_node[level] = rows + which
        parents.append(pair // keys_count)
        keys.append(pair % keys_count)
        rows += len(pair)
        is_next = row_of_node[caller[waiting]] >= 0
        level = waiting[is_next]
        above = row_of_node[caller[level]]
        waiting = waiting[~is_next]
    return row_of_node, np.concatenate(parents), np.concatenate(keys)

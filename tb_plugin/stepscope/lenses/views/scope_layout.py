"""The layout of the scope view."""

from __future__ import annotations

import numpy as np

from stepscope.lenses.views.index import RUNTIME, ProfileIndex
from stepscope.lenses.views.layout import ROOT, Layout
from stepscope.lenses.views.matching import byte_ranks
from stepscope.lenses.views.tree import Tree, inverse, preorder
from stepscope.model.columns import Array, Ints, Strings
from stepscope.model.profile import NodeKind

_OPTIMIZERS = (
    b"ArithmeticOptimizer",
    b"ConstantFolding",
    b"ConstantFoldingCtrl",
    b"Func",
    b"LoopOptimizer",
)
"""The scopes into which TensorFlow's graph optimizers put what they make."""


def scope_layout(index: ProfileIndex, tfprof: bool) -> Layout:
    """The tree of name scopes with the ops in it. Kernels are part of the op that launched them.

    Scopes that only the runtime's names make stand below one row; with tfprof each stands at the top.
    """
    profile, scopes = index.profile, index.scopes
    invented = np.empty(0, np.int64) if tfprof else _invented(index)
    tree, entry = _grouped(index, invented) if len(invented) else index.scope_tree
    row_of_node = np.where(index.launcher >= 0, -1, inverse(entry)[scopes.of_node + 1])
    used = tree.sums(_node_counts(row_of_node, len(tree))) > 0
    used[0] = True
    if not used.all():
        place = np.cumsum(used) - 1
        tree, kept = tree.keep(used)
        entry = entry[kept]
        row_of_node = np.where(row_of_node < 0, -1, place[row_of_node])
    names, label = index.scope_names
    return Layout(
        tree,
        row_of_node,
        Strings.of([*(text.decode("utf-8", "replace") for text in names), RUNTIME]),
        np.concatenate(([ROOT], label, [len(names)]))[entry],
        _kinds(row_of_node, profile.nodes.kind, len(tree)),
        rank=lambda: _ranks(index)[entry],
        node_rank=lambda: index.node_ranks,
        separator="/",
        nameless=int(np.argmax(entry > len(scopes.parent))) if len(invented) else -1,
    )


def _invented(index: ProfileIndex) -> Ints:
    """The top scopes, counted from 1, that hold nothing but what the runtime made, and are called as it calls them.

    No op or scope of a user's starts with '_'.
    """
    made = index.runtime_nodes
    if not made.any():
        return np.empty(0, np.int64)
    tree, entry = index.scope_tree
    row = inverse(entry)[index.scopes.of_node + 1]
    others = tree.sums(_node_counts(row[~made], len(tree)))
    found: Ints = entry[np.flatnonzero((tree.depth == 1) & (others == 0))]
    texts, which = index.scope_names
    names = [texts[at] for at in which[found - 1].tolist()]
    invented: Ints = found[
        np.array([name.startswith(b"_") or name in _OPTIMIZERS for name in names], bool)
    ]
    return invented


def _grouped(index: ProfileIndex, invented: Ints) -> tuple[Tree, Ints]:
    """The scope tree in which one more entry, the last, holds those scopes."""
    texts, which = index.scope_names
    parent = np.concatenate(([-1], index.scopes.parent + 1, [0]))
    parent[invented] = len(parent) - 1
    ranks = byte_ranks([*texts, RUNTIME.encode()])
    return preorder(parent, np.concatenate(([0], ranks[which], ranks[-1:])))


def _ranks(index: ProfileIndex) -> Ints:
    """The place of each entry's path in byte order, of the root, and of the row for what is the runtime's."""
    texts, which = index.scope_names
    ranks = byte_ranks([*texts, RUNTIME.encode()])
    later = (index.scopes.parent < 0) & (ranks[which] > ranks[-1])
    first = int(index.scope_ranks[later].min(initial=len(later)))
    return np.concatenate(([-1], 2 * index.scope_ranks, [2 * first - 1]))


def _node_counts(row_of_node: Ints, rows: int) -> Ints:
    return np.bincount(row_of_node[row_of_node >= 0], minlength=rows).astype(np.int64)


def _kinds(row_of_node: Ints, kind: Array, rows: int) -> Array:
    """The kind of the first node in each row; rows without nodes are scopes."""
    kinds = np.full(rows, NodeKind.SCOPE, np.int8)
    placed = np.flatnonzero(row_of_node >= 0)[::-1]
    kinds[row_of_node[placed]] = kind[placed]
    return kinds

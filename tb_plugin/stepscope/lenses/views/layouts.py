"""The layouts of the scope and op views."""

from __future__ import annotations

import numpy as np

from stepscope.lenses.views.figures import launchers
from stepscope.lenses.views.index import ProfileIndex, distinct
from stepscope.lenses.views.layout import ROOT, Layout
from stepscope.lenses.views.tree import flat, inverse
from stepscope.model.columns import Array, Ints, Strings
from stepscope.model.profile import NodeKind

RUNTIME = "(runtime)"
"""The row of nodes that only the runtime knows."""
_RUNTIME_NAMES = (b"_arg_", b"_retval_")
_APART = {NodeKind.SCOPE: " (scope)", NodeKind.DEVICE: " (device)", NodeKind.RUNTIME: " (runtime)"}
"""What tells rows of the op view apart that are called alike."""


def scope_layout(index: ProfileIndex) -> Layout:
    """The tree of name scopes with the ops in it. Kernels are part of the op that launched them."""
    profile, scopes = index.profile, index.scopes
    tree, entry = index.scope_tree
    row_of_node = np.where(launchers(profile) >= 0, -1, inverse(entry)[scopes.of_node + 1])
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
        Strings.of(text.decode("utf-8", "replace") for text in names),
        np.concatenate(([ROOT], label))[entry],
        _kinds(row_of_node, profile.nodes.kind, len(tree)),
        rank=lambda: np.concatenate(([-1], index.scope_ranks))[entry],
        node_rank=lambda: index.node_ranks,
        separator="/",
    )


def op_layout(index: ProfileIndex, tfprof: bool) -> Layout:
    """One row for each kind of node and op. What only the runtime knows is one row too; tfprof has one for each."""
    kind = index.profile.nodes.kind.astype(np.int64)
    unknown = np.zeros(len(kind), bool) if tfprof else _runtime_nodes(index)
    ranks = np.where(unknown, 0, index.string_ranks(index.op) + 1)
    key = ranks * len(NodeKind) + kind
    rows, which = distinct(key, int(key.max(initial=0)) + 1)
    first = np.empty(len(rows), np.int64)
    first[which[::-1]] = np.arange(len(key))[::-1]
    texts = [text.decode("utf-8", "replace") for text in index.texts(index.op[first])]
    names = [RUNTIME if one else text for one, text in zip(unknown[first].tolist(), texts, strict=True)]
    words = [_APART.get(one, "") for one in kind[first].tolist()]
    return Layout(
        flat(len(first)),
        which + 1,
        Strings.of(names),
        np.arange(-1, len(first)),
        np.concatenate(([NodeKind.SCOPE], kind[first])).astype(np.int8),
        rank=lambda: np.concatenate(([-1], ranks[first])),
        node_rank=lambda: index.node_ranks,
        keys=Strings.of(name + word for name, word in zip(names, words, strict=True)),
    )


def _runtime_nodes(index: ProfileIndex) -> Array:
    """Nodes that only the runtime knows, such as `_arg_x_0_0` and folded constants: their op is their own name.

    A name with a '/' or one that the runtime makes is no op; a node of the graph has inputs or a call stack.
    """
    nodes = index.profile.nodes
    nameless = (index.op == nodes.name) & (np.diff(nodes.input_end, prepend=0) == 0) & (nodes.trace < 0)
    candidates = np.flatnonzero(nameless & (not index.profile.nested))
    made = [b"/" in text or text.startswith(_RUNTIME_NAMES) for text in index.texts(nodes.name[candidates])]
    found = np.zeros(len(nameless), bool)
    found[candidates[np.array(made, bool)]] = True
    return found


def _node_counts(row_of_node: Ints, rows: int) -> Ints:
    return np.bincount(row_of_node[row_of_node >= 0], minlength=rows).astype(np.int64)


def _kinds(row_of_node: Ints, kind: Array, rows: int) -> Array:
    """The kind of the first node in each row; rows without nodes are scopes."""
    kinds = np.full(rows, NodeKind.SCOPE, np.int8)
    placed = np.flatnonzero(row_of_node >= 0)[::-1]
    kinds[row_of_node[placed]] = kind[placed]
    return kinds

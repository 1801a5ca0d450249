"""The layout of the op view."""

from __future__ import annotations

import numpy as np

from stepscope.lenses.views.index import RUNTIME, ProfileIndex, distinct
from stepscope.lenses.views.layout import Layout
from stepscope.lenses.views.tree import flat
from stepscope.model.columns import Strings
from stepscope.model.profile import NodeKind

_APART = {NodeKind.SCOPE: " (scope)", NodeKind.DEVICE: " (device)", NodeKind.RUNTIME: " (runtime)"}
"""What tells rows of the op view apart that are called alike."""


def op_layout(index: ProfileIndex, tfprof: bool) -> Layout:
    """One row for each kind of node and op. What only the runtime knows is one row too; tfprof has one for each."""
    kind = index.profile.nodes.kind.astype(np.int64)
    unknown = np.zeros(len(kind), bool) if tfprof else index.runtime_nodes
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

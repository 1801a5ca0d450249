"""What several views need to know of a profile, worked out once: ops, paths and their order."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from stepscope.lenses.views.matching import byte_ranks, chosen
from stepscope.lenses.views.tree import preorder
from stepscope.model.columns import Array, Ints
from stepscope.model.profile import Profile


def distinct(values: Ints, limit: int, shift: int = 0) -> tuple[Ints, Ints]:
    """The distinct ones of values in [0, limit), ascending, plus `shift`; and the place of each value in them."""
    used = np.zeros(limit, bool)
    used[values] = True
    place = np.cumsum(used) - 1
    return np.flatnonzero(used) + shift, place[values]


@dataclass(frozen=True, eq=False)
class ScopeTable:
    """The scope tree, with an entry for each node that the record gives none.

    Attributes:
        parent: The entry above, -1 at the top.
        name: The last component of the path, in strings.
        of_node: The entry of each node.
    """

    parent: Ints
    name: Ints
    of_node: Ints


class ProfileIndex:
    """Answers about one profile that do not depend on options."""

    def __init__(self, profile: Profile) -> None:
        self.profile = profile

    @cached_property
    def op(self) -> Ints:
        """The op of each node, in strings; -1 when it has none."""
        profile = self.profile
        end = profile.nodes.op_type_end
        start = np.concatenate((end[:1] * 0, end[:-1]))
        op = profile.nodes.op.astype(np.int64)
        typed = np.flatnonzero((op < 0) & (end > start))
        op[typed] = profile.op_types.type[start[typed]]
        return np.where((op < 0) & profile.nested, profile.nodes.name, op)

    @cached_property
    def scopes(self) -> ScopeTable:
        """The scope tree. Nodes outside it hang at the top, one entry for each name."""
        profile = self.profile
        of_node = profile.nodes.scope.astype(np.int64)
        parent, name = profile.scopes.parent.astype(np.int64), profile.scopes.name.astype(np.int64)
        loose = np.flatnonzero(of_node < 0)
        if len(loose):
            names, which = np.unique(profile.nodes.name[loose], return_inverse=True)
            of_node[loose] = len(parent) + which
            parent = np.concatenate((parent, np.full(len(names), -1)))
            name = np.concatenate((name, names))
        return ScopeTable(parent, name, of_node)

    def string_ranks(self, ids: Array) -> Ints:
        """The place of each string in byte order."""
        distinct, which = self.distinct_strings(ids)
        ranks: Ints = byte_ranks(self.texts(distinct))[which]
        return ranks

    def distinct_strings(self, ids: Array) -> tuple[Ints, Ints]:
        """The distinct ones of strings by index (-1 for none), ascending, and the place of each given one in them."""
        return distinct(ids + 1, len(self.profile.strings) + 1, -1)

    def texts(self, ids: Array) -> list[bytes]:
        """Strings as UTF-8; those of negative ids are empty."""
        return chosen(self.profile.strings, ids)

    @cached_property
    def scope_ranks(self) -> Ints:
        """The place of each scope entry's path, its names joined by '/', in byte order.

        A path sorts among its siblings by its last name, but what is below it by that name and '/': `a`, `a-b`, `a/c`.
        So each entry stands in a tree twice, once for itself and once for what is below it.
        """
        scopes = self.scopes
        rows = len(scopes.parent)
        holds = np.zeros(rows, bool)
        holds[scopes.parent[scopes.parent >= 0]] = True
        own = 1 + np.arange(rows) + np.cumsum(holds)
        below = own - 1
        parent = np.full(1 + rows + int(holds.sum()), -1, np.int64)
        above = np.where(scopes.parent >= 0, below[scopes.parent], 0)
        parent[own] = above
        parent[below[holds]] = above[holds]
        rank = np.zeros(len(parent), np.int64)
        rank[own], rank[below[holds]] = self._component_ranks(scopes.name, holds)
        _, order = preorder(parent, rank)
        place = np.empty(len(parent), np.int64)
        place[order] = np.arange(len(parent))
        ranks: Ints = place[own]
        return ranks

    def _component_ranks(self, name: Ints, holds: Array) -> tuple[Ints, Ints]:
        own, own_at = self.distinct_strings(name)
        below, below_at = self.distinct_strings(name[holds])
        texts = self.texts(own) + [text + b"/" for text in self.texts(below)]
        ranks = byte_ranks(texts)
        return ranks[own_at], ranks[len(own) + below_at]

    @cached_property
    def node_ranks(self) -> Ints:
        """The place of each node's name in byte order."""
        if self.profile.nested or (self.profile.nodes.scope < 0).any():
            return self.string_ranks(self.profile.nodes.name)
        return self.scope_ranks[self.scopes.of_node]

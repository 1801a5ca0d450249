"""What several views need to know of a profile, worked out once: ops, paths and their order."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from stepscope.lenses.launchers import launchers
from stepscope.lenses.views.matching import byte_ranks, chosen
from stepscope.lenses.views.tree import Tree, inverse, preorder
from stepscope.model.columns import Array, Ints
from stepscope.model.profile import Profile

RUNTIME = "(runtime)"
"""The row of nodes that only the runtime knows."""
_RUNTIME_NAMES = (b"_arg_", b"_retval_")
_BEHIND_SLASH = b"0"
"""The byte after '/'."""


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
    def launcher(self) -> Ints:
        """For each kernel and runtime call the op or range that launched it, -1 for none and for all other nodes."""
        return launchers(self.profile)

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
    def runtime_nodes(self) -> Array:
        """Nodes that only the runtime knows, such as `_arg_x_0_0` and folded constants: their op is their own name.

        A name with a '/' or one that the runtime makes is no op; a node of the graph has inputs or a call stack.
        """
        nodes = self.profile.nodes
        nameless = (
            (self.op == nodes.name) & (np.diff(nodes.input_end, prepend=0) == 0) & (nodes.trace < 0)
        )
        candidates = np.flatnonzero(nameless & (not self.profile.nested))
        made = [
            b"/" in text or text.startswith(_RUNTIME_NAMES)
            for text in self.texts(nodes.name[candidates])
        ]
        found = np.zeros(len(nameless), bool)
        found[candidates[np.array(made, bool)]] = True
        return found

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
    def scope_names(self) -> tuple[list[bytes], Ints]:
        """The distinct names of scope entries, and the place of each entry's name in them."""
        names, which = self.distinct_strings(self.scopes.name)
        return self.texts(names), which

    @cached_property
    def scope_tree(self) -> tuple[Tree, Ints]:
        """The scope tree below a root, siblings by name; and for each of its rows the entry, counted from 1."""
        texts, which = self.scope_names
        parent = np.concatenate(([-1], self.scopes.parent + 1))
        return preorder(parent, np.concatenate(([0], byte_ranks(texts)[which])))

    @cached_property
    def scope_ranks(self) -> Ints:
        """The place of each scope entry's path, its names joined by '/', in byte order."""
        holds = np.zeros(len(self.scopes.parent), bool)
        holds[self.scopes.parent[self.scopes.parent >= 0]] = True
        texts, which = self.scope_names
        if not _sort_apart(texts, np.unique(which[holds])):
            return inverse(self.scope_tree[1])[1:]
        return self._ranks_apart(holds)

    def _ranks_apart(self, holds: Array) -> Ints:
        """The same where a path sorts elsewhere than what is below it: `a`, `a-b`, `a/c`.

        Each entry that holds others stands in a tree twice: by its name for itself, and by that and '/' for them.
        """
        scopes = self.scopes
        rows = len(scopes.parent)
        own = 1 + np.arange(rows) + np.cumsum(holds)
        below = own - 1
        parent = np.full(1 + rows + int(holds.sum()), -1, np.int64)
        above = np.where(scopes.parent >= 0, below[scopes.parent], 0)
        parent[own] = above
        parent[below[holds]] = above[holds]
        texts, which = self.scope_names
        holders, holder = np.unique(which[holds], return_inverse=True)
        ranks = byte_ranks([*texts, *(texts[at] + b"/" for at in holders.tolist())])
        rank = np.zeros(len(parent), np.int64)
        rank[own], rank[below[holds]] = ranks[which], ranks[len(texts) + holder]
        place: Ints = inverse(preorder(parent, rank)[1])[own]
        return place

    @cached_property
    def node_ranks(self) -> Ints:
        """The place of each node's name in byte order."""
        if self.profile.nested or (self.profile.nodes.scope < 0).any():
            return self.string_ranks(self.profile.nodes.name)
        ranks: Ints = self.scope_ranks[self.scopes.of_node]
        return ranks


def _sort_apart(texts: list[bytes], holders: Ints) -> bool:
    """Whether a name sorts between one of the holders and that one's name with a '/' and anything behind it."""
    ordered = sorted(texts)
    for at in holders.tolist():
        following = bisect_right(ordered, texts[at])
        if following < len(ordered) and ordered[following] < texts[at] + _BEHIND_SLASH:
            return True
    return False

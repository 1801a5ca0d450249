"""The layouts of the graph view: a node's inputs, or where the source nests ops, what an op calls."""

from __future__ import annotations

from array import array
from dataclasses import replace

import numpy as np

from stepscope.lenses.views.index import ProfileIndex
from stepscope.lenses.views.layout import ROOT, Layout
from stepscope.lenses.views.tree import Tree, preorder, stable_order
from stepscope.model.columns import Array, Ints
from stepscope.model.diagnostic import Diagnostic
from stepscope.model.profile import NodeKind, Profile


def graph_layout(index: ProfileIndex, tfprof: bool) -> Layout:
    """The tree of first visits: from the nodes that are nobody's input, by name, down the inputs in their order.

    A node belongs to the row that reaches it first. Nodes in closed cycles, which no root reaches, come last, from the
    first of them by name; tfprof leaves them out.
    """
    profile = index.profile
    ends, source = profile.nodes.input_end, profile.inputs.source
    by_name = stable_order((index.node_ranks,))
    # One more, for inputs from nowhere: -1.
    is_input = np.zeros(len(ends) + 1, bool)
    is_input[source] = True
    is_input = is_input[:-1]
    visits = _Visits(source, ends)
    visits.walk(by_name[~is_input[by_name]])
    if not tfprof:
        visits.walk(by_name)
    order = np.frombuffer(visits.order, np.int64)
    row_of_node = np.full(len(ends), -1, np.int64)
    row_of_node[order] = np.arange(1, len(order) + 1)
    parent = _visitors(
        row_of_node.astype(np.int32), np.diff(ends, prepend=0), source, len(order) + 1
    )
    cycles = 0 if tfprof else int(np.count_nonzero((parent[1:] == 0) & is_input[order]))
    return _layout(index, _from_preorder(parent), row_of_node, order, _cycles(cycles))


class _Visits:
    """A walk depth first that visits each node once.

    Args:
        source: The inputs of the nodes, in the order of the nodes; -1 for none.
        ends: For each node the one after its last input.

    Attributes:
        order: The nodes in order of their visit.
    """

    def __init__(self, source: Array, ends: Ints) -> None:
        self.order = array("q")
        # From the last to the first, so that of a node's inputs the first comes off the stack first. Arrays, because
        # numbers made when they are asked for lie nearer than those of a list of millions.
        self._inputs = array("i", source[::-1].astype(np.int32).tobytes())
        self._cuts = array("q", np.concatenate(([len(source)], len(source) - ends)).tobytes())
        self._seen = bytearray(len(ends) + 1)
        self._seen[-1] = 1

    def walk(self, tops: Ints) -> None:
        """Starts from those of the nodes that are not visited yet, one after the other."""
        inputs, cuts, seen = self._inputs, self._cuts, self._seen
        new = tops[np.frombuffer(seen, np.uint8)[tops] == 0]
        stack = new[::-1].tolist()
        pop, visit = stack.pop, self.order.append
        while stack:
            node = pop()
            if not seen[node]:
                seen[node] = 1
                visit(node)
                stack += inputs[cuts[node + 1] : cuts[node]]


def _visitors(row_of_node: Array, inputs: Ints, source: Array, rows: int) -> Ints:
    """The row from which each row was visited: of the consumers visited before it, the last one."""
    above, row = np.repeat(row_of_node, inputs), np.append(row_of_node, -1)[source]
    above[above >= row] = -1
    parent = np.zeros(rows, row_of_node.dtype)
    parent[0] = -1
    np.maximum.at(parent, row, above)
    return parent.astype(np.int64)


def _from_preorder(parent: Ints) -> Tree:
    """A tree whose rows stand in preorder: a subtree ends at the next sibling, or where that of its parent does."""
    rows = len(parent)
    order = stable_order((parent,))
    has_next = parent[order[1:]] == parent[order[:-1]]
    end = np.full(rows, -1, np.int64)
    end[order[:-1][has_next]] = order[1:][has_next]
    end[0] = rows
    above = parent.copy()
    while len(open_ended := np.flatnonzero(end < 0)):
        up = above[open_ended]
        end[open_ended], above[open_ended] = end[up], above[up]
    tree = Tree(parent, np.zeros(rows, np.int64), end)
    return replace(tree, depth=tree.path_sums(np.ones(rows, np.int64)) - 1)


def _cycles(count: int) -> tuple[Diagnostic, ...]:
    if not count:
        return ()
    what = "closed cycles that no other node leads to; they hang below their first node by name"
    return (Diagnostic("graph view", what, count),)


def call_layout(index: ProfileIndex) -> Layout:
    """The tree of calls, in the order of the record."""
    profile = index.profile
    parent = np.concatenate(([-1], profile.nodes.caller.astype(np.int64) + 1))
    tree, row = preorder(parent, np.arange(len(parent)))
    row_of_node = np.empty(len(row), np.int64)
    row_of_node[row] = np.arange(len(row))
    return _layout(index, tree, row_of_node[1:], row[1:] - 1, ())


def _layout(
    index: ProfileIndex, tree: Tree, row_of_node: Ints, node: Ints, problems: tuple[Diagnostic, ...]
) -> Layout:
    """A layout in which each row but the root is one node."""
    profile = index.profile
    return Layout(
        tree,
        row_of_node,
        profile.strings,
        np.concatenate(([ROOT], profile.nodes.name[node])),
        _kinds(profile, node),
        rank=lambda: np.concatenate(([-1], index.node_ranks[node])),
        node_rank=lambda: index.node_ranks,
        key_separator=" > " if profile.nested else "",
        divides_launches=profile.nested,
        problems=problems,
    )


def _kinds(profile: Profile, node: Ints) -> Array:
    return np.concatenate(([NodeKind.SCOPE], profile.nodes.kind[node])).astype(np.int8)

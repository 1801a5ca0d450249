"""The layout of the code view: call stacks, with the ops that each line made and a branch for their gradients."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from stepscope.lenses.views.index import ProfileIndex
from stepscope.lenses.views.layout import ROOT, Layout
from stepscope.lenses.views.matching import byte_ranks, slices
from stepscope.lenses.views.tree import depths, levels, preorder
from stepscope.model.columns import Array, Ints, StringBuilder, Strings
from stepscope.model.diagnostic import Diagnostic
from stepscope.model.profile import NodeKind, Profile

UNATTRIBUTED = "(unattributed)"
GRADIENT = " (gradient)"
_LONG_FUNCTION_BYTES = 20
_NO_FORWARD = -2


def code_layout(index: ProfileIndex, tfprof: bool) -> Layout:
    """The tree of lines of code, siblings in the order in which nodes, by name, first come to them.

    A gradient node stands on the line that made its forward node, in a branch of its own whose lines are marked. Nodes
    without a call stack, and gradients of unknown nodes, stand in one row at the end. tfprof leaves them out, and the
    gradients that have no call stack themselves.
    """
    profile = index.profile
    forward = forward_nodes(profile)
    is_gradient = forward >= 0
    maker = np.where(is_gradient, forward, np.arange(len(forward)))
    trace = profile.nodes.trace.astype(np.int64)
    made = np.where(forward == _NO_FORWARD, -1, trace[maker])
    placed = (made >= 0) & ((trace >= 0) | (not tfprof))
    entry = np.where(placed, made + is_gradient * len(profile.traces), -1)
    ranks = index.node_ranks
    position = ranks[maker] + is_gradient * (ranks.max(initial=0) + 1)
    lines = _lines(profile, tfprof)
    parent, key, order, line_of_entry = _merged(profile, lines, entry, position)
    rest = not tfprof and not placed.all()
    if rest:
        parent, key = np.append(parent, 0), np.append(key, len(lines.short) - 1)
        order = np.append(order, np.iinfo(np.int64).max)
    tree, row = preorder(parent, order)
    place = np.empty(len(row), np.int64)
    place[row] = np.arange(len(row))
    row_of_node = np.where(placed, place[line_of_entry[entry]], place[-1] if rest else -1)
    label = np.concatenate(([ROOT], key[1:]))[row]
    return Layout(
        tree,
        row_of_node,
        lines.short,
        label,
        np.full(len(tree), NodeKind.SCOPE, np.int8),
        rank=lambda: _ranks(lines.short, label),
        node_rank=lambda: index.node_ranks,
        keys=lines.long,
        key_separator=" > ",
        problems=_losses(
            int(np.count_nonzero(~placed)), int(np.count_nonzero(forward == _NO_FORWARD))
        ),
    )


@dataclass(frozen=True, eq=False)
class _Lines:
    """Distinct lines of code: all forward ones, then the same as gradients, then the row of what has no line.

    Attributes:
        of_frame: The line of each frame.
        short: What lines are called.
        long: The same with full paths.
    """

    of_frame: Ints
    short: Strings
    long: Strings


def _lines(profile: Profile, tfprof: bool) -> _Lines:
    """Frames are one line when their full paths are; for tfprof when their short texts are."""
    frames, strings = profile.frames, profile.strings
    builder = StringBuilder()
    of_frame: list[int] = []
    short: list[str] = []
    long: list[str] = []
    for file, line, function in zip(
        frames.file.tolist(), frames.line.tolist(), frames.function.tolist(), strict=True
    ):
        path, name = strings[file], strings[function] if function >= 0 else ""
        brief = f"{path.rsplit('/', 1)[-1]}:{line}:{_cut(name) if tfprof else name}"
        full = f"{path}:{line}:{name}"
        place = builder(brief if tfprof else full)
        if place == len(short):
            short.append(brief)
            long.append(full)
        of_frame.append(place)
    texts = [
        [*names, *(name + GRADIENT for name in names), UNATTRIBUTED] for names in (short, long)
    ]
    return _Lines(np.array(of_frame, np.int64), Strings.of(texts[0]), Strings.of(texts[1]))


def _cut(function: str) -> str:
    text = function.encode("utf-8", "replace")
    if len(text) < _LONG_FUNCTION_BYTES:
        return function
    return text[: _LONG_FUNCTION_BYTES - 3].decode("utf-8", "replace") + "..."


def forward_nodes(profile: Profile) -> Ints:
    """For each gradient node the node it is the gradient of, or _NO_FORWARD; -1 for other nodes."""
    strings, name = profile.strings, profile.nodes.name
    forward = np.full(len(name), -1, np.int64)
    has_both = _starts(strings, b"gradients/") & _starts(strings, b"_grad/")
    candidates = np.flatnonzero(has_both[name]) if len(name) else name
    if not len(candidates):
        return forward
    node_of = {text: node for node, text in enumerate(_names(profile))}
    for node in candidates.tolist():
        original = _forward_name(strings[int(name[node])])
        if original is not None:
            forward[node] = node_of.get(original, _NO_FORWARD)
    known = np.flatnonzero(forward >= 0)
    forward[known[profile.nodes.trace[forward[known]] < 0]] = _NO_FORWARD
    return forward


def _names(profile: Profile) -> list[str]:
    texts = list(profile.strings)
    return [texts[i] for i in profile.nodes.name.tolist()]


def _starts(strings: Strings, word: bytes) -> Array:
    """In which texts the word starts. Some may not hold all of it: texts follow each other without a gap."""
    found = np.zeros(len(strings), bool)
    starts = [match.start() for match in re.finditer(word, strings.blob.data)]
    found[np.searchsorted(strings.end, starts, side="right")] = True
    return found


def _forward_name(name: str) -> str | None:
    """The name of the node that a node is the gradient of, None when it is none."""
    _, found, rest = name.partition("gradients/")
    before = name.find("_grad/")
    if not found or before < 0:
        return None
    return rest if before < len(name) - len(rest) else rest[: rest.index("_grad/")] or None


def _merged(
    profile: Profile, lines: _Lines, entry: Ints, position: Ints
) -> tuple[Ints, Ints, Ints, Ints]:
    """Joins call stacks whose lines are the same into one tree.

    Args:
        profile: The profile.
        lines: The lines of its frames.
        entry: The call stack of each node, -1 for none; gradient branches come after all others.
        position: When the walk comes to each node.

    Returns:
        For each row of the tree, the root first: its parent, its line, and when the walk first comes to it. And the row
        of each call stack.
    """
    traces, count = profile.traces, len(profile.traces)
    above = traces.parent.astype(np.int64)
    parent = np.concatenate((above, np.where(above >= 0, above + count, -1)))
    line = lines.of_frame[traces.frame]
    key = np.concatenate((line, line + (len(lines.short) - 1) // 2))
    never = np.iinfo(np.int64).max
    first = np.full(2 * count, never, np.int64)
    placed = np.flatnonzero(entry >= 0)
    np.minimum.at(first, entry[placed], position[placed])
    rows_at = levels(depths(parent))
    for rows in reversed(rows_at[1:]):
        np.minimum.at(first, parent[rows], first[rows])
    row_of_entry = np.full(2 * count + 1, 0, np.int64)
    parents, keys, firsts, size = [np.array([-1])], [np.array([ROOT])], [np.array([-1])], 1
    for level in rows_at:
        rows = level[first[level] < never]
        pairs = row_of_entry[parent[rows]] * len(lines.short) + key[rows]
        distinct, example, which = np.unique(pairs, return_index=True, return_inverse=True)
        row_of_entry[rows] = size + which
        earliest = np.full(len(distinct), never, np.int64)
        np.minimum.at(earliest, which, first[rows])
        parents.append(row_of_entry[parent[rows[example]]])
        keys.append(key[rows[example]])
        firsts.append(earliest)
        size += len(distinct)
    return np.concatenate(parents), np.concatenate(keys), np.concatenate(firsts), row_of_entry


def _ranks(labels: Strings, label: Ints) -> Ints:
    ranks = byte_ranks([*slices(labels), b""])
    result: Ints = ranks[label]
    return result


def _losses(without: int, orphans: int) -> tuple[Diagnostic, ...]:
    found = []
    if orphans:
        found.append(
            Diagnostic(
                "code view",
                "gradient nodes of unknown nodes, or of nodes without a call stack",
                orphans,
            )
        )
    if without > orphans:
        found.append(Diagnostic("code view", "nodes without a call stack", without - orphans))
    return tuple(found)

"""What the nodes of a profile with nested calls are, in the words that tables show: op, range, module, kernel, ..."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np

from stepscope.model.columns import Array, Ints
from stepscope.model.profile import NodeKind, Profile

OP, RANGE, MODULE, STEP, KERNEL, COPY, RUNTIME, SCOPE, LINE, TOTAL = range(10)
WORDS = ("op", "range", "module", "step", "kernel", "copy", "runtime", "scope", "line", "total")
"""The word of each kind of row.

`scope` is a name scope without a node, `line` a line of code, `total` the first row.
"""

MEMCPY = re.compile("mem_?cpy|copy(?:Host|Device)|dma_", re.IGNORECASE)
MEMSET = re.compile("mem_?set|FillBuffer", re.IGNORECASE)
_MODULE = re.compile(r"[A-Za-z_]\w*_\d+")
"""Names that torch's profiler gives modules: the class, and the order of the first call (`Linear_4`)."""


def node_words(profile: Profile) -> Ints:
    """The place in `WORDS` of what each node is."""
    nodes = profile.nodes
    words = np.full(len(nodes), OP, np.int64)
    words[nodes.kind == NodeKind.SCOPE] = RANGE
    words[nodes.kind == NodeKind.RUNTIME] = RUNTIME
    on_device = nodes.kind == NodeKind.DEVICE
    words[on_device] = KERNEL
    words[
        on_device & (_starts(profile, on_device, MEMCPY) | _starts(profile, on_device, MEMSET))
    ] = COPY
    words[module_nodes(profile)] = MODULE
    words[step_nodes(profile)] = STEP
    return words


def step_nodes(profile: Profile) -> Array:
    """Which nodes are profiled steps."""
    names = profile.steps.name[profile.steps.name >= 0]
    is_range = profile.nodes.kind == NodeKind.SCOPE
    steps: Array = is_range & np.isin(profile.nodes.name, names)
    return steps


def module_nodes(profile: Profile) -> Array:
    """Which nodes are calls of modules: ranges named like modules, called by nothing but modules and calling no others.

    The record keeps modules in a tree of their own, because ops do not call them.
    """
    nodes = profile.nodes
    is_range = (nodes.kind == NodeKind.SCOPE) & profile.nested
    module: Array = is_range & _fully(profile, is_range, _MODULE) & ~step_nodes(profile)
    called = np.flatnonzero(nodes.caller >= 0)
    caller = nodes.caller[called]
    while True:
        # Callers and what they call are modules together, or none of them is.
        mixed = module[called] != module[caller]
        if not mixed.any():
            return module
        module[called[mixed]] = False
        module[caller[mixed]] = False


def _starts(profile: Profile, nodes: Array, pattern: re.Pattern[str]) -> Array:
    """Which of the nodes have a name that starts as the pattern says."""
    return _named(profile, nodes, lambda name: pattern.match(name) is not None)


def _fully(profile: Profile, nodes: Array, pattern: re.Pattern[str]) -> Array:
    """Which of the nodes have a name that the pattern covers."""
    return _named(profile, nodes, lambda name: pattern.fullmatch(name) is not None)


def _named(profile: Profile, nodes: Array, test: Callable[[str], bool]) -> Array:
    names, place = np.unique(profile.nodes.name[nodes], return_inverse=True)
    passes = np.array([i >= 0 and test(profile.strings[i]) for i in names.tolist()], bool)
    named = np.zeros(len(nodes), bool)
    named[nodes] = passes[place]
    return named

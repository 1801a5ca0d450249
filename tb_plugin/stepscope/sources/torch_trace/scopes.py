"""Where ops stand: in the chain of named ranges and modules, and in the code."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from stepscope.model.columns import Array
from stepscope.sources.torch_trace.columns import EventColumns
from stepscope.sources.torch_trace.modules import Modules
from stepscope.sources.torch_trace.ops import OpTree
from stepscope.sources.torch_trace.python import (
    FrameText,
    PythonFrames,
    is_module,
    module_name,
    parse_frame,
)
from stepscope.sources.torch_trace.tables import Interner
from stepscope.sources.torch_trace.trees import nearest, paths


@dataclass(frozen=True)
class ScopePaths:
    """The chains of named ranges and modules.

    Attributes:
        of_op: The chain around each op, or that ends in each named range, in the tree; -1 for none.
        of_module: The chain that ends in each module.
        parent, name: The tree, names in `names`.
    """

    of_op: Array
    of_module: Array
    parent: Array
    name: Array
    names: list[str]


def scope_paths(columns: EventColumns, ops: OpTree, modules: Modules) -> ScopePaths:
    """Orders named ranges and modules into one tree: the later start is the inner one."""
    count = len(ops.name)
    rows = np.arange(count)
    is_range = ops.is_annotation & ~ops.is_step
    own_range = nearest(rows, ops.ranges.parent, is_range)
    range_above = nearest(ops.ranges.parent, ops.ranges.parent, is_range)
    ranges = modules.ranges
    around = ops.ranges.around(ranges.thread, ranges.start, ranges.start)
    range_of_module = nearest(around, ops.ranges.parent, is_range)
    is_before = modules.of_op >= 0
    is_before[is_before] = ranges.start[modules.of_op[is_before]] < ops.ranges.start[is_before]

    # One index space: rows of ops first, then modules.
    earliest = np.iinfo(np.int64).min
    starts = np.concatenate([ops.ranges.start, ranges.start, [earliest]])

    def later(of_range: Array, of_module: Array) -> Array:
        module = np.where(of_module >= 0, of_module + count, -1)
        return np.where(starts[module] > starts[of_range], module, of_range)

    parent_of_range = later(range_above, np.where(is_before, modules.of_op, -1))
    parent_of_module = later(range_of_module, ranges.parent)
    parent = np.concatenate([parent_of_range, parent_of_module])
    is_scope = np.concatenate([is_range, np.ones(len(modules), bool)])
    number = np.cumsum(is_scope) - 1
    scope_parent = parent[is_scope]

    interner = Interner()
    texts = [module_name(text) for text in columns.names.values()]
    name = interner.of(texts).astype(np.int64)
    keys = name[np.concatenate([ops.name, modules.name])[is_scope]]
    tree = paths(np.where(scope_parent >= 0, number[scope_parent], -1), keys)
    of = np.full(len(is_scope) + 1, -1, np.int64)
    of[:-1][is_scope] = tree.of
    around_op = np.where(is_range, rows, later(own_range, modules.of_op))
    return ScopePaths(
        of_op=of[around_op],
        of_module=of[count:-1],
        parent=tree.parent,
        name=tree.key,
        names=interner.values(),
    )


@dataclass(frozen=True)
class CallSites:
    """Call stacks as a tree, and the one of each op.

    Attributes:
        of_op: In the tree, -1 where the trace says nothing.
        parent, frame: The tree; frames in `frames`.
        frames: File, line and function.
    """

    of_op: Array
    parent: Array
    frame: Array
    frames: list[FrameText]


def call_sites(columns: EventColumns, ops: OpTree, python: PythonFrames, frame: Array) -> CallSites:
    """The call stack of each op.

    It is that of the Python frame around the op, else what the op's arguments say, else that of
    the op around it.

    Args:
        frame: The Python frame around each op.
    """
    texts = columns.names.values()
    interner = Interner()
    used = np.unique(python.trace_name)
    number = np.full(len(texts), -1, np.int64)
    number[used] = interner.of([parse_frame(texts[i]) for i in used.tolist()])
    stacks = _StackTree(interner, python.trace_parent.tolist(), number[python.trace_name].tolist())
    of_stack = np.array([stacks.add(text) for text in columns.stacks.values()], np.int64)
    own = of_stack[ops.stack] if len(of_stack) else np.full(len(ops.stack), -1, np.int64)
    around = python.trace_of(frame)
    own = np.where(around >= 0, around, own)
    source = nearest(np.arange(len(own)), ops.ranges.parent, own >= 0)
    return CallSites(
        of_op=np.where(source >= 0, own[source], -1) if len(own) else own,
        parent=np.array(stacks.parents, np.int64),
        frame=np.array(stacks.frames, np.int64),
        frames=interner.values(),
    )


class _StackTree:
    """A tree of call stacks that grows by those written in arguments."""

    def __init__(self, interner: Interner, parents: list[int], frames: list[int]) -> None:
        self.parents = parents
        self.frames = frames
        self._interner = interner
        self._rows: dict[tuple[int, int], int] = {}

    def add(self, text: bytes) -> int:
        """Adds a stack written as `inner;outer;...`; its innermost frame, -1 for an empty one."""
        above = -1
        for part in reversed(text.decode("utf-8", "replace").strip('"').split(";")):
            if not part.strip() or is_module(part):
                continue
            frame = self._interner.number(parse_frame(part.strip()))
            row = self._rows.get((above, frame))
            if row is None:
                row = self._rows[above, frame] = len(self.parents)
                self.parents.append(above)
                self.frames.append(frame)
            above = row
        return above

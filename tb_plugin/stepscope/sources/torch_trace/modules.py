"""The calls of modules in a trace, and whose time it is where modules and ops contain each other.

Modules come from Python's frames, and follow time: the ids of frames may skip a module.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from stepscope.model.columns import Array
from stepscope.sources.torch_trace.ops import OpTree
from stepscope.sources.torch_trace.python import PythonFrames
from stepscope.sources.torch_trace.trees import Bools, Ranges, clipped_ends, nest, nesting_order


@dataclass(frozen=True)
class Modules:
    """Calls of modules by thread and start, nested by time.

    Attributes:
        ranges: Their times and tree. A call does not end later than the call around it.
        frame: The Python frame that each is.
        name: In the trace's names.
        of_op: The innermost call around each op, -1 for none.
    """

    ranges: Ranges
    frame: Array
    name: Array
    duration: Array
    of_op: Array

    def __len__(self) -> int:
        return len(self.frame)


def nest_modules(ops: OpTree, frames: PythonFrames) -> Modules:
    """Nests the calls of modules, and finds the one around each op.

    A named range starts in its own enter call, so the module is the one at its middle, too.
    """
    rows = np.flatnonzero(frames.is_module)
    thread = frames.ranges.thread[rows]
    start = frames.ranges.start[rows]
    order = nesting_order(thread, start, frames.ranges.end[rows])
    rows, thread, start = rows[order], thread[order], start[order]
    end = frames.ranges.end[rows]
    parent = nest(thread, start, end)
    end = clipped_ends(parent, start, end)
    ranges = Ranges(thread=thread, start=start, end=end, parent=parent)
    return Modules(
        ranges=ranges,
        frame=rows,
        name=frames.name[rows],
        duration=end - start,
        of_op=ranges.around(ops.ranges.thread, ops.ranges.start, ops.middle()),
    )


@dataclass(frozen=True)
class ModuleTimes:
    """Time by the tree of ops, ranges and modules together, in which each is in the innermost.

    Attributes:
        shared: For each op or range the part of its self time that is of modules in it.
        own: For each module its time without what lies directly in it.
        enclosed: The part of `own` that an op or range around the module has in its self time, too.
    """

    shared: Array
    own: Array
    enclosed: Array


def module_times(ops: OpTree, modules: Modules) -> ModuleTimes:
    """Divides time between modules and the ops and ranges around and in them."""
    module_in_op, module_in_module, is_enclosed = _around_modules(ops, modules)
    op_in_module = _module_around_ops(ops, modules)
    shared = np.zeros(len(ops.name) + 1, np.int64)
    np.add.at(shared, module_in_op, modules.duration)
    is_moved = (op_in_module >= 0) & (ops.ranges.parent >= 0)
    np.subtract.at(shared, ops.ranges.parent[is_moved], ops.duration[is_moved])
    inside = np.zeros(len(modules) + 1, np.int64)
    np.add.at(inside, module_in_module, modules.duration)
    np.add.at(inside, op_in_module, ops.duration)
    own = modules.duration - inside[:-1]
    return ModuleTimes(shared=shared[:-1], own=own, enclosed=np.where(is_enclosed, own, 0))


def _around_modules(ops: OpTree, modules: Modules) -> tuple[Array, Array, Bools]:
    """The op and the module that each module lies directly in, and whether it is in an op at all.

    At least one of the op and the module is -1.
    """
    ranges = modules.ranges
    op = ops.ranges.around(ranges.thread, ranges.start, ranges.end - 1)
    module = ranges.parent
    is_in_module = _is_later(ops, modules, op, module)
    is_enclosed: Bools = op >= 0
    return np.where(is_in_module, -1, op), np.where(is_in_module, module, -1), is_enclosed


def _module_around_ops(ops: OpTree, modules: Modules) -> Array:
    """The module that each op lies directly in, -1 where an op is nearer or there is none."""
    module = modules.of_op
    if not len(modules):
        return module
    start, end = modules.ranges.start[module], modules.ranges.end[module]
    is_longer = (start == ops.ranges.start) & (end > ops.ranges.end)
    module = np.where((start < ops.ranges.start) | is_longer, module, -1)
    return np.where(_is_later(ops, modules, ops.ranges.parent, module), module, -1)


def _is_later(ops: OpTree, modules: Modules, op: Array, module: Array) -> Bools:
    """Whether of an op and a module around something, each -1 for none, the module is the inner."""
    if not len(ops.name) or not len(modules):
        return np.asarray(module >= 0)
    op_start, module_start = ops.ranges.start[op], modules.ranges.start[module]
    is_same_start = module_start == op_start
    is_shorter = is_same_start & (modules.ranges.end[module] <= ops.ranges.end[op])
    is_inner: Bools = (module >= 0) & ((op < 0) | (module_start > op_start) | is_shorter)
    return is_inner

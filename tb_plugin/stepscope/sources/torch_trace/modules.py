"""Whose time it is where modules and ops contain each other. Modules come from Python's frames, ops do not."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from stepscope.sources.torch_trace.numbers import Ints
from stepscope.sources.torch_trace.ops import OpTree
from stepscope.sources.torch_trace.python import PythonFrames
from stepscope.sources.torch_trace.trees import Bools


@dataclass(frozen=True)
class ModuleTimes:
    """Time by the tree of ops, ranges and modules together, in which each thing lies in the innermost one around it.

    Attributes:
        shared: For each op or range the part of its self time that is of modules in it.
        own: For each frame that is a module its time without what lies directly in it, else 0.
        enclosed: The part of `own` that an op or range around the module has in its self time, too.
    """

    shared: Ints
    own: Ints
    enclosed: Ints


def module_times(ops: OpTree, python: PythonFrames, frame: Ints) -> ModuleTimes:
    """Divides time between modules and the ops and ranges around and in them.

    Args:
        frame: The Python frame around each op.
    """
    modules = np.flatnonzero(python.is_module)
    module_in_op, module_in_module, is_enclosed = _around_modules(ops, python, modules)
    op_in_module = _module_around(ops, python, frame)
    shared = np.zeros(len(ops.name) + 1, np.int64)
    np.add.at(shared, module_in_op, python.duration[modules])
    moved = (op_in_module >= 0) & (ops.ranges.parent >= 0)
    np.subtract.at(shared, ops.ranges.parent[moved], ops.duration[moved])
    inside = np.zeros(len(python.name) + 1, np.int64)
    np.add.at(inside, module_in_module, python.duration[modules])
    np.add.at(inside, op_in_module, ops.duration)
    own = np.where(python.is_module, python.duration - inside[:-1], 0)
    enclosed = np.zeros(len(own), np.int64)
    enclosed[modules[is_enclosed]] = own[modules[is_enclosed]]
    return ModuleTimes(shared=shared[:-1], own=own, enclosed=enclosed)


def _around_modules(ops: OpTree, python: PythonFrames, modules: Ints) -> tuple[Ints, Ints, Bools]:
    """The op and the module that each module lies directly in, and whether it lies in an op at all.

    At least one of the op and the module is -1.
    """
    frames = python.ranges
    start, end = frames.start[modules], frames.end[modules]
    op = ops.ranges.around(frames.thread[modules], start, end - 1)
    module = python.module_of(frames.parent)[modules]
    in_module = _later(ops, python, op, module)
    is_enclosed: Bools = op >= 0
    return np.where(in_module, -1, op), np.where(in_module, module, -1), is_enclosed


def _module_around(ops: OpTree, python: PythonFrames, frame: Ints) -> Ints:
    """The module that each op lies directly in, -1 where an op is nearer or there is none."""
    module = python.module_of(frame)
    if not len(python.name):
        return module
    start, end = python.ranges.start[module], python.ranges.end[module]
    longer = (start == ops.ranges.start) & (end > ops.ranges.end)
    module = np.where((start < ops.ranges.start) | longer, module, -1)
    return np.where(_later(ops, python, ops.ranges.parent, module), module, -1)


def _later(ops: OpTree, python: PythonFrames, op: Ints, module: Ints) -> Bools:
    """Whether of an op and a module around a thing, each -1 for none, the module is the inner one."""
    if not len(ops.name) or not len(python.name):
        return np.asarray(module >= 0)
    op_start, module_start = ops.ranges.start[op], python.ranges.start[module]
    shorter = (module_start == op_start) & (python.ranges.end[module] <= ops.ranges.end[op])
    inner: Bools = (module >= 0) & ((op < 0) | (module_start > op_start) | shorter)
    return inner

"""The ops and annotations of a trace: their tree, steps, scopes and call sites."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from stepscope.sources.torch_trace.columns import EventColumns, Interner
from stepscope.sources.torch_trace.numbers import Ints
from stepscope.sources.torch_trace.python import PythonFrames, is_module, module_name, parse_frame
from stepscope.sources.torch_trace.trees import Bools, Ranges, nearest, nest, nesting_order, paths, self_time

_STEP = re.compile(r"ProfilerStep#(\d{1,18})")
_ANNOTATION = "user_annotation"


@dataclass(frozen=True)
class StepRanges:
    """The profiled steps in order of time."""

    id: Ints
    name: Ints
    start: Ints
    duration: Ints

    def at(self, time: Ints) -> Ints:
        """The step that is running at each moment, -1 outside every step."""
        if not len(self.start):
            return np.full(len(time), -1, np.int64)
        place = np.searchsorted(self.start, time, side="right") - 1
        row = np.maximum(place, 0)
        return np.where((place >= 0) & (time < self.start[row] + self.duration[row]), place, -1)


@dataclass(frozen=True)
class OpTree:
    """Ops and annotations in nesting order.

    Attributes:
        name, dims, stack, properties: In the tables of the trace's columns.
        sequence: Number of the autograd node that the op made or runs, -1 for none.
        forward_thread: Above 0 for backward ops.
        is_annotation: Whether a row is a user's named range or a step, else an op.
        is_step: Whether a row is a profiler step.
    """

    ranges: Ranges
    name: Ints
    duration: Ints
    self_duration: Ints
    dims: Ints
    stack: Ints
    properties: Ints
    sequence: Ints
    forward_thread: Ints
    is_annotation: Bools
    is_step: Bools
    steps: StepRanges

    def op_around(self, thread: Ints, time: Ints) -> Ints:
        """The innermost op (annotations do not count) that is running on the thread, -1 where none is."""
        return nearest(self.ranges.around(thread, time, time), self.ranges.parent, ~self.is_annotation)


def op_tree(columns: EventColumns, thread: Ints) -> OpTree:
    """Nests a trace's ops and annotations by time on each thread."""
    table = columns.ops
    start, duration = table["start"], table["duration"]
    on = thread[table["thread"]] if len(start) else np.empty(0, np.int64)
    order = nesting_order(on, start, start + duration)
    on, start, duration = on[order], start[order], duration[order]
    parent = nest(on, start, start + duration)
    name = table["name"][order].astype(np.int64)
    annotation = columns.categories.index.get(_ANNOTATION, -1)
    numbers = _step_numbers(columns)[name]
    is_annotation = table["category"][order] == annotation
    is_step = (numbers >= 0) & (is_annotation | (parent < 0))
    return OpTree(
        Ranges(on, start, start + duration, parent),
        name,
        duration,
        self_time(parent, duration),
        table["dims"][order].astype(np.int64),
        table["stack"][order].astype(np.int64),
        table["properties"][order].astype(np.int64),
        table["sequence"][order],
        table["forward_thread"][order],
        is_annotation | is_step,
        is_step,
        _steps(numbers[is_step], name[is_step], start[is_step], duration[is_step]),
    )


def _step_numbers(columns: EventColumns) -> Ints:
    names = columns.names.values()
    found = (_STEP.fullmatch(text) for text in names)
    return np.fromiter((int(m[1]) if m else -1 for m in found), np.int64, len(names))


def _steps(number: Ints, name: Ints, start: Ints, duration: Ints) -> StepRanges:
    order = np.argsort(start, kind="stable")
    return StepRanges(number[order], name[order], start[order], duration[order])


@dataclass(frozen=True)
class ScopePaths:
    """The chains of named ranges and modules.

    Attributes:
        of_op: The chain around each op, or that ends in each annotation, in the tree; -1 for none.
        of_module: The chain that ends in each module frame (-1 for other frames).
        parent, name: The tree, names in `names`.
    """

    of_op: Ints
    of_module: Ints
    parent: Ints
    name: Ints
    names: list[str]


def scope_paths(columns: EventColumns, ops: OpTree, python: PythonFrames, frame: Ints) -> ScopePaths:
    """Orders named ranges and modules into one tree: what is around a thing is whichever of both started last.

    Args:
        frame: The Python frame around each op.
    """
    is_range = ops.is_annotation & ~ops.is_step
    in_range = nearest(np.arange(len(ops.name)), ops.ranges.parent, is_range)
    above_range = nearest(ops.ranges.parent, ops.ranges.parent, is_range)
    in_module = python.module_of(frame)
    count, frames = len(ops.name), python.ranges
    # One index space: annotations first, then frames that are modules.
    starts = np.concatenate([ops.ranges.start, frames.start, [np.iinfo(np.int64).min]])

    def later(of_range: Ints, of_module: Ints) -> Ints:
        module = np.where(of_module >= 0, of_module + count, -1)
        return np.where(starts[module] > starts[of_range], module, of_range)

    around_module = nearest(ops.ranges.around(frames.thread, frames.start, frames.start), ops.ranges.parent, is_range)
    before = in_module >= 0
    before[before] = frames.start[in_module[before]] < ops.ranges.start[before]
    parent_of_range = later(above_range, np.where(before, in_module, -1))
    parent_of_module = later(around_module, python.module_of(frames.parent))
    parent = np.concatenate([parent_of_range, parent_of_module])
    interner = Interner()
    texts = [module_name(text) for text in columns.names.values()]
    number = interner.of(texts).astype(np.int64)
    kept = np.concatenate([is_range, python.is_module])
    row = np.cumsum(kept) - 1
    kept_parent = parent[kept]
    tree = paths(
        np.where(kept_parent >= 0, row[kept_parent], -1),
        number[np.concatenate([ops.name, python.name])[kept]],
    )
    of = np.full(len(kept) + 1, -1, np.int64)
    of[:-1][kept] = tree.of
    around_op = np.where(is_range, np.arange(count), later(in_range, in_module))
    return ScopePaths(of[around_op], of[count:-1], tree.parent, tree.key, interner.values())


@dataclass(frozen=True)
class CallSites:
    """Call stacks as a tree, and the one of each op.

    Attributes:
        of_op: In the tree, -1 where the trace says nothing.
        parent, frame: The tree; frames in `frames`.
        frames: File, line and function.
    """

    of_op: Ints
    parent: Ints
    frame: Ints
    frames: list[tuple[str, int, str]]


def call_sites(columns: EventColumns, ops: OpTree, python: PythonFrames, frame: Ints) -> CallSites:
    """The call stack of each op: of the Python frame around it, else as its arguments say, else its caller's."""
    texts = columns.names.values()
    interner = Interner()
    used = np.unique(python.trace_name)
    number = np.full(len(texts), -1, np.int64)
    number[used] = interner.of([parse_frame(texts[i]) for i in used.tolist()])
    parents = python.trace_parent.tolist()
    frames = number[python.trace_name].tolist()
    known: dict[tuple[int, int], int] = {}
    of_stack = np.fromiter(
        (_grow(text, interner, parents, frames, known) for text in columns.stacks.values()),
        np.int64,
        len(columns.stacks.index),
    )
    own = of_stack[ops.stack] if len(of_stack) else np.full(len(ops.stack), -1, np.int64)
    around = python.trace_of(frame)
    own = np.where(around >= 0, around, own)
    source = nearest(np.arange(len(own)), ops.ranges.parent, own >= 0)
    of_op = np.where(source >= 0, own[source], -1) if len(own) else own
    return CallSites(of_op, np.array(parents, np.int64), np.array(frames, np.int64), interner.values())


def _grow(
    text: bytes, interner: Interner, parents: list[int], frames: list[int], known: dict[tuple[int, int], int]
) -> int:
    """Adds a stack written as `inner;outer;...` to the tree; its innermost frame, -1 for an empty one."""
    written = text.decode("utf-8", "replace").strip('"').split(";")
    parts = [part for part in written if part.strip() and not is_module(part)]
    above = -1
    for part in reversed(parts):
        frame = int(interner.of([parse_frame(part.strip())])[0])
        row = known.get((above, frame))
        if row is None:
            row = known[above, frame] = len(parents)
            parents.append(above)
            frames.append(frame)
        above = row
    return above

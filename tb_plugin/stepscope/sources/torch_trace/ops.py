"""The ops and named ranges of a trace: their tree, and the profiled steps."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from stepscope.model.columns import Array
from stepscope.sources.torch_trace.columns import EventColumns
from stepscope.sources.torch_trace.kinds import ANNOTATION
from stepscope.sources.torch_trace.python import PythonFrames
from stepscope.sources.torch_trace.trees import (
    Bools,
    Ranges,
    clipped_ends,
    nearest,
    nest,
    nesting_order,
    self_time,
)

_STEP = re.compile(r"ProfilerStep#(\d{1,18})")
_COMMUNICATION = re.compile(r"(?:nccl|gloo|mpi|ucc|xccl|hccl):")
"""Ranges of communication end with it, whatever else their thread does meanwhile."""
_ENTER_CALL = re.compile(r".*_record_function_enter")
_ITERATION = re.compile(
    r"execute_(?:\d+_)?context_\d+\(.*\)_generation_\d+\(.*\)|step\[[A-Z_]+ .*\]"
)
"""Iterations of vLLM (`execute_context_0(0)_generation_16(16)`) and SGLang (`step[DECODE bs=4]`)."""


@dataclass(frozen=True)
class StepRanges:
    """The profiled steps in order of time."""

    id: Array
    name: Array
    start: Array
    duration: Array

    def at(self, time: Array) -> Array:
        """The step that is running at each moment, -1 outside every step."""
        if not len(self.start):
            return np.full(len(time), -1, np.int64)
        place = np.searchsorted(self.start, time, side="right") - 1
        row = np.maximum(place, 0)
        return np.where((place >= 0) & (time < self.start[row] + self.duration[row]), place, -1)


@dataclass(frozen=True)
class OpTree:
    """Ops and named ranges in nesting order.

    Attributes:
        ranges: Their times, as the trace has them, and their tree.
        name, dims, stack, properties: In the tables of the trace's columns.
        duration: Up to the end of the range around, at most.
        overrun: By how much each range outlasts the range around it.
        sequence: Number of the autograd node that the op made or runs, -1 for none.
        forward_thread: Above 0 for backward ops.
        collective_sequence, source, destination: Of calls that communicate, else -1.
        is_annotation: Whether a row is a user's named range or a step, else an op.
        is_step: Whether a row is a profiler step.
    """

    ranges: Ranges
    name: Array
    duration: Array
    self_duration: Array
    overrun: Array
    dims: Array
    stack: Array
    properties: Array
    sequence: Array
    forward_thread: Array
    collective_sequence: Array
    source: Array
    destination: Array
    is_annotation: Bools
    is_step: Bools
    steps: StepRanges

    def middle(self) -> Array:
        """The middle of each named range, the start of each op."""
        start = self.ranges.start
        return np.where(self.is_annotation, start + (self.ranges.end - start) // 2, start)

    def op_around(self, thread: Array, time: Array) -> Array:
        """The innermost op that is running on the thread, -1 where none is. Ranges do not count."""
        around = self.ranges.around(thread, time, time)
        return nearest(around, self.ranges.parent, ~self.is_annotation)

    def owner(self, around: Array) -> Array:
        """The op or named range that device work belongs to, whose launch has this row around it.

        Profiler steps own no work.
        """
        return nearest(around, self.ranges.parent, ~self.is_step)


def nest_ops(columns: EventColumns, thread: Array, frames: PythonFrames) -> OpTree:
    """Nests a trace's ops and named ranges by time on each thread.

    Args:
        thread: The thread of each number in `columns.threads`.
        frames: The trace's Python frames.
    """
    table = columns.ops
    start = table["start"]
    end = start + table["duration"]
    on = thread[table["thread"]] if len(start) else np.empty(0, np.int64)
    order, ranges = _nested(on, start, end)
    crossing = order[_outlasting(ranges)]
    if len(crossing):
        above = np.full(len(order), -1, np.int64)
        above[order] = np.where(ranges.parent >= 0, order[ranges.parent], -1)
        in_file = Ranges(thread=on, start=start, end=end, parent=above)
        ends = _ends_by_nature(columns, crossing, in_file, frames)
        order, ranges = _nested(on, start, ends)
    on, start, end, parent = ranges.thread, ranges.start, ranges.end, ranges.parent
    raw_end = (table["start"] + table["duration"])[order]
    clipped = clipped_ends(parent, start, end)
    duration = clipped - start

    name = table["name"][order].astype(np.int64)
    annotation = columns.categories.index.get(ANNOTATION, -1)
    is_annotation = table["category"][order] == annotation
    numbers = _step_numbers(columns)[name]
    is_step = (numbers >= 0) & (is_annotation | (parent < 0))
    if is_step.any():
        steps = _steps(numbers, is_step, name=name, start=start, duration=duration)
    else:
        steps = _iterations(columns, ranges, is_annotation, name=name, duration=duration)
    return OpTree(
        ranges=ranges,
        name=name,
        duration=duration,
        self_duration=self_time(parent, duration),
        overrun=raw_end - clipped,
        dims=table["dims"][order].astype(np.int64),
        stack=table["stack"][order].astype(np.int64),
        properties=table["properties"][order].astype(np.int64),
        sequence=table["sequence"][order],
        forward_thread=table["forward_thread"][order],
        collective_sequence=table["collective_sequence"][order],
        source=table["source"][order],
        destination=table["destination"][order],
        is_annotation=is_annotation | is_step,
        is_step=is_step,
        steps=steps,
    )


def _nested(thread: Array, start: Array, end: Array) -> tuple[Array, Ranges]:
    """The nesting order of ranges, and the ranges in it."""
    order = nesting_order(thread, start, end)
    on, begin, stop = thread[order], start[order], end[order]
    return order, Ranges(thread=on, start=begin, end=stop, parent=nest(on, begin, stop))


def _outlasting(ranges: Ranges) -> Array:
    """The ranges that end after their parents."""
    rows: Array = np.flatnonzero(ranges.parent >= 0)
    return rows[ranges.end[rows] > ranges.end[ranges.parent[rows]]]


def _ends_by_nature(
    columns: EventColumns, crossing: Array, ranges: Ranges, frames: PythonFrames
) -> Array:
    """The end of each range, where two cross and one of them ends earlier by its nature.

    Communication that outlasts the op which starts it ends with the op: later ops of the thread are
    not in it. A named range starts in its own enter call, so an op of that call ends where the
    range starts.

    Args:
        crossing: The ranges that outlast their parents.
        ranges: All of them, as rows of `columns.ops`.
    """
    texts = columns.names.values()
    matches = np.fromiter((_COMMUNICATION.match(t) is not None for t in texts), bool, len(texts))
    is_communication = matches[columns.ops["name"][crossing]]
    start, end, parent = ranges.start, ranges.end, ranges.parent
    ends: Array = end.copy()
    asynchronous = crossing[is_communication]
    ends[asynchronous] = end[parent[asynchronous]]
    if not len(frames):
        return ends

    others = crossing[~is_communication]
    frame = frames.ranges.around(ranges.thread[others], start[others], start[others])
    is_entering = (frame >= 0) & frames.matches(_ENTER_CALL)[frame]
    entered = others[is_entering]
    ends[parent[entered]] = np.minimum(ends[parent[entered]], start[entered])
    return ends


def _step_numbers(columns: EventColumns) -> Array:
    """The number of the step that each name is of, -1 for other names."""
    numbers = []
    for text in columns.names.values():
        match = _STEP.fullmatch(text)
        numbers.append(int(match[1]) if match else -1)
    return np.array(numbers, np.int64)


def _steps(
    number: Array, is_step: Bools, *, name: Array, start: Array, duration: Array
) -> StepRanges:
    rows = np.flatnonzero(is_step)
    rows = rows[np.argsort(start[rows], kind="stable")]
    return StepRanges(id=number[rows], name=name[rows], start=start[rows], duration=duration[rows])


def _iterations(
    columns: EventColumns, ranges: Ranges, is_annotation: Bools, *, name: Array, duration: Array
) -> StepRanges:
    """The iterations of a serving engine as steps, of the thread that runs most of them."""
    texts = columns.names.values()
    matches = np.fromiter((_ITERATION.fullmatch(t) is not None for t in texts), bool, len(texts))
    is_iteration = matches[name] & is_annotation
    outer = nearest(ranges.parent, ranges.parent, is_iteration)
    rows = np.flatnonzero(is_iteration & (outer < 0))
    if len(rows):
        threads, counts = np.unique(ranges.thread[rows], return_counts=True)
        rows = rows[ranges.thread[rows] == threads[np.argmax(counts)]]
    return StepRanges(
        id=np.arange(len(rows)), name=name[rows], start=ranges.start[rows], duration=duration[rows]
    )

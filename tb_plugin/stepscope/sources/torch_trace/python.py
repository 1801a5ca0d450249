"""The Python frames of a trace: their tree, and the call stacks that they make."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from stepscope.model.columns import Array
from stepscope.sources.torch_trace.columns import EventColumns
from stepscope.sources.torch_trace.trees import Bools, Ranges, climb, nearest, nest, paths

_MODULE = "nn.Module: "
_FRAME = re.compile(r"(?P<file>.*)\((?P<line>\d+)\): (?P<function>.*)", re.DOTALL)
_MODULE_CALL = re.compile(_MODULE)
_SCOPE_HOOK = re.compile(r".*stepscope/integrations/torch\.py\(\d+\): open_module_scope")
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")

FrameText = tuple[str, int, str]
"""File, line and function."""


def parse_frame(text: str) -> FrameText:
    """The parts of `file(line): function`. A builtin has no file, and loses its address."""
    if parts := _FRAME.fullmatch(text):
        return parts["file"], int(parts["line"]) & 0x7FFFFFFF, parts["function"]
    return "", 0, _ADDRESS.sub("", text)


@dataclass(frozen=True)
class PythonFrames:
    """Python frames by thread and start, nested by the ids that the profiler gave them.

    Attributes:
        ranges: Their times and tree.
        name: In the trace's names.
        is_module: Which frames are calls of modules that no named range stands for.
        trace: The call stack of each frame, in `trace_parent` and `trace_name`. Calls of modules
            are no part of it.
        trace_parent: The tree of distinct call stacks, outermost frame at the top.
        trace_name: In the trace's names.
        texts: The trace's names.
    """

    ranges: Ranges
    name: Array
    duration: Array
    is_module: Bools
    trace: Array
    trace_parent: Array
    trace_name: Array
    texts: list[str]

    def __len__(self) -> int:
        return len(self.name)

    def matches(self, pattern: re.Pattern[str]) -> Bools:
        """Which frames have a name that starts as the pattern says."""
        matches: Bools = _matching(self.texts, pattern)[self.name]
        return matches

    def trace_of(self, frame: Array) -> Array:
        """The call stack of each frame, -1 where there is none."""
        if not len(self.trace):
            return np.full_like(frame, -1)
        return np.where(frame >= 0, self.trace[frame], -1)


def nest_frames(columns: EventColumns, thread: Array) -> PythonFrames:
    """Nests a trace's Python frames.

    Args:
        thread: The thread of each number in `columns.threads`.
    """
    table = columns.frames
    ids, start, duration = table["id"], table["start"], table["duration"]
    on = thread[table["thread"]] if len(ids) else np.empty(0, np.int64)
    order = np.lexsort((ids, -duration, start, on))
    ids, start, duration, on = ids[order], start[order], duration[order], on[order]
    end = start + duration
    by_id = _parents(ids, table["caller"][order])
    parent = _nearer_parents(by_id, on, start, end)
    name = table["name"][order].astype(np.int64)

    names = columns.names.values()
    rows = np.arange(len(ids))
    is_module_call = _matching(names, _MODULE_CALL)[name]
    # The hook's range has the module's attribute path, which says more than the class and a count.
    is_hook = _matching(names, _SCOPE_HOOK)[name]
    is_module = is_module_call.copy()
    named_by_hook = nearest(rows[is_hook], parent, is_module_call)
    is_module[named_by_hook[named_by_hook >= 0]] = False

    stack = paths(nearest(parent, parent, ~is_module_call), name)
    frame = nearest(rows, parent, ~is_module_call)
    is_used = np.zeros(len(stack), bool)
    is_used[stack.of[~is_module_call]] = True
    number = np.where(is_used, np.cumsum(is_used) - 1, -1)
    above = stack.parent[is_used]
    return PythonFrames(
        ranges=Ranges(thread=on, start=start, end=end, parent=parent),
        name=name,
        duration=duration,
        is_module=is_module,
        trace=np.where(frame >= 0, number[stack.of[frame]], -1) if len(rows) else rows,
        trace_parent=np.where(above >= 0, number[above], -1) if len(above) else above,
        trace_name=stack.key[is_used],
        texts=names,
    )


def _parents(ids: Array, caller: Array) -> Array:
    """The row of each frame's caller, -1 where it is not in the file or not before the frame."""
    if not len(ids):
        return np.empty(0, np.int64)
    order = np.argsort(ids, kind="stable")
    place = np.minimum(np.searchsorted(ids[order], caller), len(ids) - 1)
    row = order[place]
    is_known = (caller >= 0) & (ids[row] == caller) & (row < np.arange(len(ids)))
    return np.where(is_known, row, -1)


def _nearer_parents(by_id: Array, thread: Array, start: Array, end: Array) -> Array:
    """The parent of each frame, where its id may name a frame farther away.

    Some writers skip frames that time shows between a frame and the caller that it names.
    """
    count = len(by_id)
    if count < 2:
        return by_id
    previous = np.arange(-1, count - 1)
    previous[1:][thread[1:] != thread[:-1]] = -1

    def is_over(at: Array, rows: Array) -> Bools:
        over: Bools = end[rows] <= start[at]
        return over

    # While ids are right, the frame that is open at the start is the parent.
    by_time, _ = climb(previous, by_id, is_over)
    is_nearer = (by_time > by_id) & (end[by_time] >= end)
    if not is_nearer.any():
        return by_id
    by_time = nest(thread, start, end)
    is_nearer = (by_time > by_id) & (end[by_time] >= end)
    return np.where(is_nearer, by_time, by_id)


def _matching(texts: list[str], pattern: re.Pattern[str]) -> Bools:
    return np.fromiter((pattern.match(text) is not None for text in texts), bool, len(texts))


def is_module(text: str) -> bool:
    """Whether a frame stands for a module's call."""
    return text.startswith(_MODULE)


def module_name(text: str) -> str:
    """The class and number of a module's frame."""
    return text.removeprefix(_MODULE)

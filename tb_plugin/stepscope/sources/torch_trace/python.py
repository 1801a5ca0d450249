"""The Python frames of a trace: their tree, the modules in it, and the call stacks they make."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from stepscope.sources.torch_trace.columns import EventColumns
from stepscope.sources.torch_trace.numbers import Ints
from stepscope.sources.torch_trace.trees import Bools, Ranges, nearest, paths

_MODULE = "nn.Module: "
_FRAME = re.compile(r"(?P<file>.*)\((?P<line>\d+)\): (?P<function>.*)", re.DOTALL)
_MODULE_CALL = re.compile(_MODULE)
_SCOPE_HOOK = re.compile(r".*stepscope/integrations/torch\.py\(\d+\): open_module_scope")
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")

FrameText = tuple[str, int, str]
"""File, line and function."""


def parse_frame(text: str) -> FrameText:
    """`file(line): function` in parts; what has no file (a builtin) is a function only, without its address."""
    if found := _FRAME.fullmatch(text):
        return found["file"], int(found["line"]) & 0x7FFFFFFF, found["function"]
    return "", 0, _ADDRESS.sub("", text)


@dataclass(frozen=True)
class PythonFrames:
    """Python frames by thread and start, nested by the ids that the profiler gave them.

    Attributes:
        ranges: Their times and tree.
        name: In the trace's names.
        is_module: Which frames are calls of modules that no named range stands for.
        module: The innermost module around each frame, itself included, as a row; -1 where none is.
        trace: The call stack of each frame in `trace_parent` and `trace_name`; modules are no frames of it.
        trace_parent: The tree of distinct call stacks, outermost frame at the top.
        trace_name: In the trace's names.
    """

    ranges: Ranges
    name: Ints
    duration: Ints
    is_module: Bools
    module: Ints
    trace: Ints
    trace_parent: Ints
    trace_name: Ints

    def module_of(self, frame: Ints) -> Ints:
        """The module around each frame, as a row; -1 where none is."""
        return np.where(frame >= 0, self.module[frame], -1) if len(self.module) else np.full_like(frame, -1)

    def trace_of(self, frame: Ints) -> Ints:
        """The call stack of each frame, -1 where there is none."""
        return np.where(frame >= 0, self.trace[frame], -1) if len(self.trace) else np.full_like(frame, -1)


def python_frames(columns: EventColumns, thread: Ints) -> PythonFrames:
    """Nests a trace's Python frames.

    Args:
        thread: The thread of each number in `columns.threads`.
    """
    table = columns.python
    ids, start, duration = table["id"], table["start"], table["duration"]
    on = thread[table["thread"]] if len(ids) else np.empty(0, np.int64)
    order = np.lexsort((ids, -duration, start, on))
    ids, start, duration, on = ids[order], start[order], duration[order], on[order]
    parent = _parents(ids, table["caller"][order])
    name = table["name"][order].astype(np.int64)
    names = columns.names.values()
    is_module = _matching(names, _MODULE_CALL)[name]
    rows = np.arange(len(ids))
    # The hook's range has the module's attribute path, which says more than the class and a count.
    is_hook = _matching(names, _SCOPE_HOOK)[name]
    is_scope = is_module.copy()
    named = nearest(rows[is_hook], parent, is_module)
    is_scope[named[named >= 0]] = False
    module = nearest(rows, parent, is_scope)
    stack = paths(nearest(parent, parent, ~is_module), name)
    trace, trace_parent, trace_name = _without(stack.of, stack.parent, stack.key, is_module, rows, parent)
    return PythonFrames(
        Ranges(on, start, start + duration, parent), name, duration, is_scope, module, trace, trace_parent, trace_name
    )


def _without(
    of: Ints, path_parent: Ints, path_name: Ints, is_module: Bools, rows: Ints, parent: Ints
) -> tuple[Ints, Ints, Ints]:
    """The call stacks of frames that are no modules; a module has that of the frame around it."""
    frame = nearest(rows, parent, ~is_module)
    kept = np.zeros(len(path_parent), bool)
    kept[of[~is_module]] = True
    number = np.where(kept, np.cumsum(kept) - 1, -1)
    trace = np.where(frame >= 0, number[of[frame]], -1) if len(rows) else rows
    above = path_parent[kept]
    return trace, np.where(above >= 0, number[above], -1) if len(above) else above, path_name[kept]


def _parents(ids: Ints, caller: Ints) -> Ints:
    """The row of each frame's caller; -1 where it is not in the file or would not stand before the frame."""
    order = np.argsort(ids, kind="stable")
    place = np.minimum(np.searchsorted(ids[order], caller), max(len(ids) - 1, 0))
    row = order[place] if len(ids) else place
    known = (caller >= 0) & (ids[row] == caller) & (row < np.arange(len(ids))) if len(ids) else np.empty(0, bool)
    return np.where(known, row, -1)


def _matching(texts: list[str], pattern: re.Pattern[str]) -> Bools:
    return np.fromiter((pattern.match(text) is not None for text in texts), bool, len(texts))


def is_module(text: str) -> bool:
    """Whether a frame stands for a module's call."""
    return text.startswith(_MODULE)


def module_name(text: str) -> str:
    """The class and number of a module's frame."""
    return text.removeprefix(_MODULE)

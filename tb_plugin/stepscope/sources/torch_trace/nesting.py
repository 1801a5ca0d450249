"""What contains what on the host: ops, named ranges, modules and Python frames."""

from __future__ import annotations

from dataclasses import dataclass

from stepscope.model.columns import Array
from stepscope.sources.torch_trace.columns import EventColumns
from stepscope.sources.torch_trace.labels import threads
from stepscope.sources.torch_trace.modules import Modules, ModuleTimes, module_times, nest_modules
from stepscope.sources.torch_trace.ops import OpTree, nest_ops
from stepscope.sources.torch_trace.python import PythonFrames, nest_frames
from stepscope.sources.torch_trace.scopes import CallSites, ScopePaths, call_sites, scope_paths


@dataclass(frozen=True)
class Nesting:
    """The host's side of a trace.

    Attributes:
        thread: The thread of each number in the trace's table of threads.
        threads: The name of each thread.
        ops: Ops and named ranges by time.
        frames: Python frames by the ids of their callers.
        modules: Calls of modules by time.
        module_times: Whose time it is where modules and ops contain each other.
        scopes: The chain of named ranges and modules around each op.
        sites: The call stack of each op.
    """

    thread: Array
    threads: list[str]
    ops: OpTree
    frames: PythonFrames
    modules: Modules
    module_times: ModuleTimes
    scopes: ScopePaths
    sites: CallSites


def nest_events(columns: EventColumns) -> Nesting:
    """Nests the host's events of a trace."""
    thread, names = threads(columns)
    frames = nest_frames(columns, thread)
    ops = nest_ops(columns, thread, frames)
    modules = nest_modules(ops, frames)
    frame_of_op = frames.ranges.around(ops.ranges.thread, ops.ranges.start, ops.middle())
    return Nesting(
        thread=thread,
        threads=names,
        ops=ops,
        frames=frames,
        modules=modules,
        module_times=module_times(ops, modules),
        scopes=scope_paths(columns, ops, modules),
        sites=call_sites(columns, ops, frames, frame_of_op),
    )

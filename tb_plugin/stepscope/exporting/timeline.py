"""A view as Chrome traces, one per step.

The scope and code views, and the op view where it is asked for, are a flame graph of totals; the graph view is what ran
when, on which device.
"""

from __future__ import annotations

import dataclasses
from typing import Any

from stepscope.exporting.chrome import Event, process_name, span
from stepscope.exporting.graph_timeline import graph_events
from stepscope.lenses.views import ViewEngine, ViewResult

Trace = dict[str, list[Event]]


def to_timeline(result: ViewResult) -> dict[str, Trace]:
    """A trace for each step of the answer, by the step's number, `all` or `average`.

    The timeline of the graph view without a step has one trace for each profiled step; where ops call ops, or no step
    is known, one of everything. tfprof has none of the op view.
    """
    options = result.resolved.options
    if result.view == "graph":
        return _graph_traces(result)
    if not len(result) or (result.resolved.tfprof and result.view == "op"):
        return {}
    return {str(options.step): {"traceEvents": _flame_graph(result)}}


def _graph_traces(result: ViewResult) -> dict[str, Trace]:
    profile, one_step = result.profile, result.resolved.step is not None
    if one_step or profile.nested or not (len(profile.steps) or result.resolved.tfprof):
        return {str(result.resolved.options.step): {"traceEvents": graph_events(result)}}
    engine = ViewEngine(result.profile)
    traces = {}
    for number, _ in result.steps:
        if number < 0 and result.resolved.tfprof:
            continue
        one = engine.analyze(dataclasses.replace(result.resolved.options, step=str(number)))
        traces[str(number)] = {"traceEvents": graph_events(one)}
    return traces


def _flame_graph(result: ViewResult) -> list[Event]:
    """Rows side by side below the row that holds them, each as wide as its total time; a process per depth.

    Rows of the op view are as wide as their own time, since ops may contain each other. Rows that are wider together
    than the row above them, as `start_name_regexes` makes them, end with it.
    """
    names: list[str] = result.paths(range(len(result)))
    total: list[Any] = result.column("total_exec_micros").tolist()
    if result.view == "op":
        total[1:] = result.column("exec_micros").tolist()[1:]
    parent, depth = result.parent.tolist(), result.depth.tolist()
    free, end = [0] * len(result), [0] * len(result)
    events: list[Event] = []
    named: set[int] = set()
    for row, micros in enumerate(total):
        above = parent[row]
        start, limit = (free[above], end[above]) if row else (0, micros)
        width = min(micros, limit - start)
        if row and width <= 0:
            continue
        if row:
            free[above] = start + width
        free[row], end[row] = start, start + width
        if depth[row] not in named:
            named.add(depth[row])
            events.append(process_name(depth[row], f"Scope:{depth[row]}"))
        events.append(
            span(names[row], start, width, depth[row], 0, {"name": names[row], "op": names[row]})
        )
    return events

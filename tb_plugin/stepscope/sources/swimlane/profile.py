"""A capture as a profile of ops: one node per task, whose inputs are the tasks it waits for."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from stepscope.model.arrays import I64
from stepscope.model.columns import Header, StringBuilder
from stepscope.model.diagnostic import Diagnostic
from stepscope.model.incore import Engine, InCore
from stepscope.model.incore_values import group
from stepscope.model.profile import (
    Executions,
    Inputs,
    LaneKind,
    Lanes,
    Nodes,
    OpTypes,
    Profile,
    Scopes,
)
from stepscope.sources.execution_sums import accelerator_sums

_PS = 10**12


def profile_of(record: InCore) -> Profile:
    """The profile of a record's captured tasks. A task's time is the sum over its cores."""
    strings = StringBuilder()
    tasks = record.tasks
    ids, first, node = np.unique(tasks.task, return_index=True, return_inverse=True)
    count = len(ids)
    kernels = _kernels(record, first)
    names = []
    for kernel, task in zip(kernels, ids.tolist(), strict=True):
        names.append(f"{kernel}({task_label(task)})")

    # Scopes are the kernels, then the tasks below their kernel.
    unique, kernel_of = np.unique(np.array(kernels, dtype=object).astype(str), return_inverse=True)
    kernel_count = len(unique)
    scope_names = [*unique.tolist(), *names]
    input_end, sources = _inputs(record, ids)
    ticks = _ticks(record)
    duration = ticks.end - ticks.start
    header = Header(
        producer=record.header.producer,
        source=record.header.source,
        losses=(*record.header.losses, *ticks.losses),
    )
    return Profile(
        header=header,
        tick_ps=ticks.tick_ps,
        nodes=group(
            Nodes,
            name=[strings(name) for name in names],
            scope=kernel_count + np.arange(count),
            device=_devices(record, first, strings),
            op_type_end=np.arange(1, count + 1),
            input_end=input_end,
            output_end=np.zeros(count, np.int64),
        ),
        op_types=group(OpTypes, type=[strings(kernel) for kernel in kernels]),
        inputs=group(Inputs, source=sources),
        scopes=group(
            Scopes,
            parent=np.concatenate([np.full(kernel_count, -1), kernel_of]),
            name=[strings(name) for name in scope_names],
        ),
        lanes=_lanes(record, strings),
        node_steps=accelerator_sums(node, count, ticks.start, ticks.end),
        executions=group(
            Executions,
            node=node,
            lane=np.searchsorted(record.cores.slot, tasks.core),
            start_ticks=ticks.start,
            duration_ticks=duration,
            self_ticks=duration,
        ),
        strings=strings.build(),
    )


def task_label(task: int) -> str:
    """A task id as the ring and the number within it; the ring stands in the bits above 32."""
    ring = task >> 32
    local = task & 0xFFFFFFFF
    if ring == 0:
        return f"t{local}"
    return f"r{ring}t{local}"


def _kernels(record: InCore, rows: I64) -> list[str]:
    """The kernel's name of each task row."""
    names = [record.text(name) for name in record.functions.name.tolist()]
    kernels = []
    for function in record.tasks.function[rows].tolist():
        if function < 0:
            kernels.append("task")
        else:
            kernels.append(names[function])
    return kernels


@dataclass(frozen=True)
class _Ticks:
    """Starts and ends of the task rows in ticks of `tick_ps`."""

    tick_ps: int
    start: I64
    end: I64
    losses: tuple[Diagnostic, ...] = ()


def _ticks(record: InCore) -> _Ticks:
    """The times in cycles where a cycle is a whole number of ps, else in ps."""
    start = record.tasks.start
    end = record.tasks.end
    clock = record.clock_freq_hz
    if not clock:
        return _Ticks(1000, start, end)
    if _PS % clock == 0:
        return _Ticks(_PS // clock, start, end)
    loss = Diagnostic(
        where="clock_freq_hz",
        what=f"a cycle of {clock} Hz is no whole number of ps: times are rounded down",
    )
    return _Ticks(1, _whole_ps(start, clock), _whole_ps(end, clock), (loss,))


def _whole_ps(cycles: I64, clock_freq_hz: int) -> I64:
    # Cycles times 10^12 exceed 64 bits, so Python's integers multiply.
    return np.array([stamp * _PS // clock_freq_hz for stamp in cycles.tolist()], np.int64)


def _inputs(record: InCore, ids: NDArray[np.uint64]) -> tuple[I64, NDArray[np.int32]]:
    """For each task the tasks it waits for, without those that have no row in the capture."""
    edges = record.dependencies
    has_rows = np.isin(edges.predecessor, ids) & np.isin(edges.successor, ids)
    source = np.searchsorted(ids, edges.predecessor[has_rows])
    target = np.searchsorted(ids, edges.successor[has_rows])
    order = np.argsort(target, kind="stable")
    counts = np.bincount(target, minlength=len(ids))
    return np.cumsum(counts).astype(np.int64), source[order].astype(np.int32)


def _devices(record: InCore, first: I64, strings: StringBuilder) -> NDArray[np.int32]:
    cores = np.searchsorted(record.cores.slot, record.tasks.core[first])
    names = [strings(_device(Engine(number))) for number in range(len(Engine))]
    return np.array(names, np.int32)[record.cores.engine[cores]]


def _device(engine: Engine) -> str:
    if engine is Engine.UNKNOWN:
        return "device"
    return engine.name.lower()


def _lanes(record: InCore, strings: StringBuilder) -> Lanes:
    engines = [Engine(engine) for engine in record.cores.engine.tolist()]
    return group(
        Lanes,
        device=[strings(_device(engine)) for engine in engines],
        name=[strings(record.text(name)) for name in record.cores.name.tolist()],
        kind=[LaneKind.ACCELERATOR] * len(engines),
    )

"""A capture as a profile, so that kernels can be seen as ops: one node per task, its inputs what it waits for."""

from __future__ import annotations

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
    functions = tasks.function[first]
    known = [record.text(name) for name in record.functions.name.tolist()]
    kernels = [known[function] if function >= 0 else "task" for function in functions.tolist()]
    names = [f"{kernel}({task_label(task)})" for kernel, task in zip(kernels, ids.tolist(), strict=True)]
    tick_ps, start, end, loss = _ticks(record)
    input_end, sources = _inputs(record, ids)
    unique, kernel_of = np.unique(np.array(kernels, dtype=object).astype(str), return_inverse=True)
    count, kinds = len(ids), len(unique)
    header = Header(producer=record.header.producer, source=record.header.source, losses=(*record.header.losses, *loss))
    return Profile(
        header=header,
        tick_ps=tick_ps,
        nodes=group(
            Nodes,
            name=[strings(name) for name in names],
            scope=kinds + np.arange(count),
            device=_devices(record, first, strings),
            op_type_end=np.arange(1, count + 1),
            input_end=input_end,
            output_end=np.zeros(count, np.int64),
        ),
        op_types=group(OpTypes, type=[strings(kernel) for kernel in kernels]),
        inputs=group(Inputs, source=sources),
        scopes=group(
            Scopes,
            parent=np.concatenate([np.full(kinds, -1), kernel_of]),
            name=[strings(str(name)) for name in unique] + [strings(name) for name in names],
        ),
        lanes=_lanes(record, strings),
        node_steps=accelerator_sums(node, count, start, end),
        executions=group(
            Executions,
            node=node,
            lane=np.searchsorted(record.cores.slot, tasks.core),
            start_ticks=start,
            duration_ticks=end - start,
            self_ticks=end - start,
        ),
        strings=strings.build(),
    )


def task_label(task: int) -> str:
    """A task id as the ring and the number within it; the ring stands in the bits above 32."""
    ring, local = task >> 32, task & 0xFFFFFFFF
    return f"r{ring}t{local}" if ring else f"t{local}"


def _ticks(record: InCore) -> tuple[int, I64, I64, tuple[Diagnostic, ...]]:
    """The tick in ps, and the starts and ends in ticks: cycles where a cycle is a whole number of ps."""
    start, end = record.tasks.start, record.tasks.end
    clock = record.clock_freq_hz
    if not clock:
        return 1000, start, end, ()
    if _PS % clock == 0:
        return _PS // clock, start, end, ()
    exact = (np.array([int(x) * _PS // clock for x in stamps.tolist()], np.int64) for stamps in (start, end))
    loss = Diagnostic("clock_freq_hz", f"a cycle of {clock} Hz is no whole number of ps: times are rounded down", 0, "")
    return 1, next(exact), next(exact), (loss,)


def _inputs(record: InCore, ids: NDArray[np.uint64]) -> tuple[I64, NDArray[np.int32]]:
    """For each task the tasks it waits for; those without a row in the capture are left out."""
    edges = record.dependencies
    source, target = (np.searchsorted(ids, column) for column in (edges.predecessor, edges.successor))
    known = np.isin(edges.predecessor, ids) & np.isin(edges.successor, ids)
    order = np.argsort(target[known], kind="stable")
    counts = np.bincount(target[known], minlength=len(ids))
    return np.cumsum(counts).astype(np.int64), source[known][order].astype(np.int32)


def _devices(record: InCore, first: I64, strings: StringBuilder) -> NDArray[np.int32]:
    engine = record.cores.engine[np.searchsorted(record.cores.slot, record.tasks.core[first])]
    names = np.array([strings(_device(Engine(e))) for e in range(len(Engine))], np.int32)
    return names[engine]


def _device(engine: Engine) -> str:
    return "device" if engine is Engine.UNKNOWN else engine.name.lower()


def _lanes(record: InCore, strings: StringBuilder) -> Lanes:
    engines = [Engine(engine) for engine in record.cores.engine.tolist()]
    return group(
        Lanes,
        device=[strings(_device(engine)) for engine in engines],
        name=[strings(record.text(name)) for name in record.cores.name.tolist()],
        kind=[LaneKind.ACCELERATOR] * len(engines),
    )

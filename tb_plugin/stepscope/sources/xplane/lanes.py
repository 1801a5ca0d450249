"""Lanes of a profile: the threads of hosts, the op lines of TPU cores, the streams of GPUs, and the steps."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from stepscope.model.arrays import I64, Bools
from stepscope.model.profile import LaneKind, NodeKind
from stepscope.sources.xplane.cores import OPS_LINE
from stepscope.sources.xplane.ops import (
    OpInfo,
    ProgramOps,
    device_op,
    framework_op,
    python_call,
    scope_of,
)
from stepscope.sources.xplane.plane import Events, EventStats, PlaneView, text

STEPS_LINE = "Steps"
_ACCELERATOR = re.compile(r"/device:(TPU|GPU):\d+")
_STREAM = re.compile(r"Stream #")
_MEMORY_SIGNS = {"MemoryAllocation": 1, "MemoryDeallocation": -1}
_NUMBERED_NAME = re.compile(r"[.\d]+$")
_LANE_NUMBER = re.compile(r"^\[\d+\] ")
_LONGEST_STEP_NUMBER = 17
_METADATA_PLANE = "/host:metadata"


@dataclass(frozen=True)
class Lane:
    """Events of one line.

    Attributes:
        timestamp_ns: The time stamp that `start` counts from.
        start: Start of each event, ps.
        duration: Duration of each event, ps.
        info: The op of each event, in `infos`.
    """

    device: str
    name: str
    kind: LaneKind
    timestamp_ns: int
    start: I64
    duration: I64
    info: I64
    infos: list[OpInfo]

    def take(self, rows: Bools) -> Lane:
        """Some of the events."""
        return replace(
            self, start=self.start[rows], duration=self.duration[rows], info=self.info[rows]
        )


@dataclass(frozen=True)
class StepMarks:
    """Training steps as a plane marks them; `open_ended` steps last until the next one starts."""

    plane: str
    timestamp_ns: int
    id: I64
    start: I64
    duration: I64
    open_ended: bool


@dataclass(frozen=True)
class MemoryMarks:
    """Allocator events of a host thread."""

    timestamp_ns: int
    time: I64
    delta_bytes: I64
    total_bytes: I64
    reserved_bytes: I64
    address: I64
    allocator: list[str]
    device: list[str]


@dataclass(frozen=True)
class PlaneLanes:
    """The lanes, steps and allocator events of a plane."""

    plane: str
    lanes: list[Lane]
    steps: list[StepMarks]
    memory: list[MemoryMarks]
    programs: Mapping[int, ProgramOps]


def read_lanes(view: PlaneView, programs: Mapping[int, ProgramOps]) -> PlaneLanes:
    """Reads the lanes of a host or accelerator plane; other planes have none."""
    plane = PlaneLanes(view.name, lanes=[], steps=[], memory=[], programs=programs)
    if _ACCELERATOR.fullmatch(view.name):
        _read_accelerator(view, plane)
    elif view.name.startswith("/host:") and view.name != _METADATA_PLANE:
        for line in view.lines():
            if len(line):
                _read_thread(view, line, plane)
    return plane


def _read_accelerator(view: PlaneView, plane: PlaneLanes) -> None:
    device = view.name.removeprefix("/device:")
    for line in view.lines():
        if not len(line):
            continue
        if line.line == STEPS_LINE:
            plane.steps.append(_step_line(view, line))
        elif line.line == OPS_LINE and device.startswith("TPU"):
            info, infos = _tpu_infos(view, line, device, plane.programs)
            plane.lanes.append(_lane(device, line, LaneKind.ACCELERATOR, info, infos))
        elif _STREAM.match(line.line):
            info, infos = _gpu_infos(view, line, device, plane.programs)
            plane.lanes.append(_lane(device, line, LaneKind.ACCELERATOR, info, infos))


def _lane(device: str, line: Events, kind: LaneKind, info: I64, infos: list[OpInfo]) -> Lane:
    return Lane(
        device=device,
        name=line.line,
        kind=kind,
        timestamp_ns=line.timestamp_ns,
        start=line.offset_ps,
        duration=line.duration_ps,
        info=info,
        infos=infos,
    )


def _step_line(view: PlaneView, line: Events) -> StepMarks:
    """The steps of a device: their events are named by number, and counted where they are not."""
    ids: list[int] = []
    for position, key in enumerate(line.metadata_id.tolist()):
        name = view.event_name(key)
        is_number = name.isdecimal() and len(name) <= _LONGEST_STEP_NUMBER
        ids.append(int(name) if is_number else position)
    return StepMarks(
        plane=view.name,
        timestamp_ns=line.timestamp_ns,
        id=np.array(ids, np.int64),
        start=line.offset_ps,
        duration=line.duration_ps,
        open_ended=False,
    )


def _tpu_infos(
    view: PlaneView, line: Events, device: str, programs: Mapping[int, ProgramOps]
) -> tuple[I64, list[OpInfo]]:
    keys, info = np.unique(line.metadata_id, return_inverse=True)
    infos = [_tpu_info(view, key, device, programs) for key in keys.tolist()]
    return info, infos


def _tpu_info(view: PlaneView, key: int, device: str, programs: Mapping[int, ProgramOps]) -> OpInfo:
    table = view.plane.event_metadata
    if key not in table:
        return OpInfo(str(key), device=device)
    metadata = table[key]
    name = text(metadata.display_name or metadata.name.split(b" ", 1)[0]).lstrip("%")
    return device_op(name, view.stats(metadata.stats), device, programs)


@dataclass(frozen=True)
class _Launch:
    """What the events of a stream that are one op have in common.

    Attributes:
        hlo_op: The HLO instruction that launched the kernel, empty for none.
        framework_name: The framework op that launched it, empty for none.
        program: The id of its program, 0 for none.
    """

    kernel: str
    hlo_op: str
    framework_name: str
    program: int


def _gpu_infos(
    view: PlaneView, line: Events, device: str, programs: Mapping[int, ProgramOps]
) -> tuple[I64, list[OpInfo]]:
    stats = line.stats()
    kernels = [view.event_name(key) for key in line.metadata_id.tolist()]
    hlo_ops = stats.texts(view.stat_ids("hlo_op"), view.stat_names)
    framework_names = stats.texts(view.stat_ids("tf_op", "level 0", "name"), view.stat_names)
    program_ids = _program_ids(view, stats, programs)
    numbers: dict[tuple[str, str, str, int], int] = {}
    info: list[int] = []
    for row in zip(kernels, hlo_ops, framework_names, program_ids, strict=True):
        info.append(numbers.setdefault(row, len(numbers)))
    infos = [_kernel(_Launch(*row), device, programs) for row in numbers]
    return np.array(info, np.int64), infos


def _program_ids(
    view: PlaneView, stats: EventStats, programs: Mapping[int, ProgramOps]
) -> list[int]:
    """Per event the id of its program, by its number or else by its module's name; 0 for none."""
    given = stats.integers(view.stat_ids("program_id"), 0).tolist()
    modules = stats.texts(view.stat_ids("hlo_module"), view.stat_names)
    id_of_module = {text(program.module.name): key for key, program in programs.items()}
    program_ids: list[int] = []
    for number, module in zip(given, modules, strict=True):
        program_ids.append(number or id_of_module.get(module.partition("(")[0], 0))
    return program_ids


def _kernel(launch: _Launch, device: str, programs: Mapping[int, ProgramOps]) -> OpInfo:
    launched_by: OpInfo | None
    if launch.hlo_op:
        launched_by = _instruction(launch.hlo_op, launch.program, device, programs)
    else:
        launched_by = framework_op(launch.framework_name, device)
    scope = scope_of(launch.framework_name)
    if launched_by:
        scope = (*launched_by.scope, launched_by.name.rpartition("/")[2])
    return OpInfo(
        name=launch.kernel,
        types=(launch.kernel,),
        kind=NodeKind.DEVICE,
        device=device,
        scope=scope,
        launched_by=launched_by,
    )


def _instruction(
    name: str, program: int, device: str, programs: Mapping[int, ProgramOps]
) -> OpInfo:
    program_id = program % (1 << 64)
    known = programs.get(program_id)
    if known:
        return known.describe(name, device, program_id)
    return OpInfo(name, types=(_NUMBERED_NAME.sub("", name),), device=device)


@dataclass(frozen=True)
class _HostOp:
    """What the events of a thread that are one op have in common.

    Attributes:
        key: The event's metadata.
        hlo_op: The HLO instruction that it runs, empty for none.
        program: The id of its program, 0 for none.
        ordinal: The device that runs it, -1 for none.
    """

    key: int
    kind: int
    hlo_op: str = ""
    program: int = 0
    ordinal: int = -1


def _read_thread(view: PlaneView, line: Events, plane: PlaneLanes) -> None:
    """Adds the ops, steps and allocator events of a host thread to its plane."""
    names = {key: view.event_name(key) for key in np.unique(line.metadata_id).tolist()}
    memory_keys = [key for key, name in names.items() if name in _MEMORY_SIGNS]
    is_memory = np.isin(line.metadata_id, memory_keys)
    if is_memory.any():
        plane.memory.append(_memory(view, line.take(is_memory), names))
        line = line.take(~is_memory)
    if not len(line):
        return

    stats = line.stats()
    steps = stats.integers(view.stat_ids("step_num"), -1)
    marked = np.flatnonzero(steps >= 0)
    if len(marked):
        plane.steps.append(
            StepMarks(
                plane=view.name,
                timestamp_ns=line.timestamp_ns,
                id=steps[marked],
                start=line.offset_ps[marked],
                duration=line.duration_ps[marked],
                open_ended=True,
            )
        )
    kinds = np.where(steps >= 0, NodeKind.SCOPE, NodeKind.OP)
    kinds[stats.integers(view.stat_ids("correlation_id"), -1) >= 0] = NodeKind.RUNTIME

    hlo_ops = stats.texts(view.stat_ids("hlo_op"), view.stat_names)
    program_ids = _program_ids(view, stats, plane.programs)
    ordinals = stats.integers(view.stat_ids("device_ordinal"), -1).tolist()
    keys = line.metadata_id.tolist()
    numbers: dict[tuple[int, int, str, int, int], int] = {}
    info: list[int] = []
    for row in zip(keys, kinds.tolist(), hlo_ops, program_ids, ordinals, strict=True):
        # Only an instruction belongs to a program and a device.
        distinct = row if row[2] else (row[0], row[1], "", 0, -1)
        info.append(numbers.setdefault(distinct, len(numbers)))
    infos: list[OpInfo] = []
    for row in numbers:
        op = _HostOp(*row)
        infos.append(_host_info(names[op.key], op, plane.programs))
    plane.lanes.append(_lane("CPU", line, LaneKind.HOST, np.array(info, np.int64), infos))


def _host_info(name: str, op: _HostOp, programs: Mapping[int, ProgramOps]) -> OpInfo:
    kind = NodeKind(op.kind)
    if kind is not NodeKind.OP:
        return OpInfo(name, types=(name,), kind=kind, device="CPU")
    if op.hlo_op:
        device = f"CPU:{op.ordinal}" if op.ordinal >= 0 else "CPU"
        return _instruction(op.hlo_op, op.program, device, programs)
    call = python_call(name) or framework_op(name, "CPU")
    return call or OpInfo(name, types=(_LANE_NUMBER.sub("", name),), device="CPU")


def _memory(view: PlaneView, line: Events, names: Mapping[int, str]) -> MemoryMarks:
    stats = line.stats()

    def number(name: str, default: int = 0) -> I64:
        return stats.integers(view.stat_ids(name), default)

    signs = [_MEMORY_SIGNS[names[key]] for key in line.metadata_id.tolist()]
    allocated = number("allocation_bytes")
    size = np.where(allocated > 0, allocated, number("requested_bytes"))
    indices = number("index_on_host", -1).tolist()
    return MemoryMarks(
        timestamp_ns=line.timestamp_ns,
        time=line.offset_ps,
        delta_bytes=np.array(signs, np.int64) * size,
        total_bytes=number("bytes_allocated", -1),
        reserved_bytes=number("bytes_reserved", -1),
        address=number("addr"),
        allocator=stats.texts(view.stat_ids("allocator_name"), view.stat_names),
        device=[f"TPU:{index}" if index >= 0 else "CPU" for index in indices],
    )

"""Lanes of a profile: the threads of hosts, the op lines of TPU cores, the streams of GPUs, and the steps."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from stepscope.model.arrays import I64, Bools
from stepscope.model.profile import LaneKind, NodeKind
from stepscope.sources.xplane.cores import OPS_LINE
from stepscope.sources.xplane.ops import OpInfo, ProgramOps, device_op, framework_op, python_call, scope_of
from stepscope.sources.xplane.plane import Events, EventStats, PlaneView, text

STEPS_LINE = "Steps"
_ACCELERATOR = re.compile(r"/device:(TPU|GPU):\d+")
_STREAM = re.compile(r"Stream #")
_MEMORY = {"MemoryAllocation": 1, "MemoryDeallocation": -1}


@dataclass(frozen=True)
class Lane:
    """Events of one line.

    Attributes:
        info: For each event, in `infos`.
        timestamp_ns: What `start` is relative to.
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
        return replace(self, start=self.start[rows], duration=self.duration[rows], info=self.info[rows])


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
    """What a plane gives to the profile."""

    plane: str
    lanes: list[Lane]
    steps: list[StepMarks]
    memory: list[MemoryMarks]
    programs: Mapping[int, ProgramOps]


def read_lanes(view: PlaneView, programs: Mapping[int, ProgramOps]) -> PlaneLanes:
    """Reads the lanes of a host or accelerator plane; of other planes there are none."""
    found = PlaneLanes(view.name, [], [], [], programs)
    if _ACCELERATOR.fullmatch(view.name):
        _read_accelerator(view, found)
    elif view.name.startswith("/host:") and view.name != "/host:metadata":
        for line in view.lines():
            if len(line):
                _read_thread(view, line, found)
    return found


def _read_accelerator(view: PlaneView, found: PlaneLanes) -> None:
    device = view.name.removeprefix("/device:")
    for line in view.lines():
        if line.line == STEPS_LINE and len(line):
            found.steps.append(_step_line(view, line))
        elif line.line == OPS_LINE and device.startswith("TPU") and len(line):
            found.lanes.append(
                _lane(device, line, LaneKind.ACCELERATOR, *_tpu_infos(view, line, device, found.programs))
            )
        elif _STREAM.match(line.line) and len(line):
            infos = _gpu_infos(view, line, device, found.programs)
            found.lanes.append(_lane(device, line, LaneKind.ACCELERATOR, *infos))


def _lane(device: str, line: Events, kind: LaneKind, info: I64, infos: list[OpInfo]) -> Lane:
    return Lane(device, line.line, kind, line.timestamp_ns, line.offset_ps, line.duration_ps, info, infos)


def _step_line(view: PlaneView, line: Events) -> StepMarks:
    names = [view.event_name(key) for key in line.metadata_id.tolist()]
    ids = [int(name) if name.isdecimal() and len(name) < 18 else i for i, name in enumerate(names)]
    return StepMarks(
        view.name, line.timestamp_ns, np.array(ids, np.int64), line.offset_ps, line.duration_ps, open_ended=False
    )


def _tpu_infos(
    view: PlaneView, line: Events, device: str, programs: Mapping[int, ProgramOps]
) -> tuple[I64, list[OpInfo]]:
    keys, info = np.unique(line.metadata_id, return_inverse=True)
    return info, [_tpu_info(view, key, device, programs) for key in keys.tolist()]


def _tpu_info(view: PlaneView, key: int, device: str, programs: Mapping[int, ProgramOps]) -> OpInfo:
    table = view.plane.event_metadata
    if key not in table:
        return OpInfo(str(key), device=device)
    metadata = table[key]
    name = text(metadata.display_name or metadata.name.split(b" ", 1)[0]).lstrip("%")
    return device_op(name, view.stats(metadata.stats), device, programs)


def _gpu_infos(
    view: PlaneView, line: Events, device: str, programs: Mapping[int, ProgramOps]
) -> tuple[I64, list[OpInfo]]:
    stats = line.stats()
    columns = [
        [view.event_name(key) for key in line.metadata_id.tolist()],
        stats.texts(view.stat_ids("hlo_op"), view.stat_names),
        stats.texts(view.stat_ids("tf_op", "level 0", "name"), view.stat_names),
        _program_ids(view, stats, programs),
    ]
    numbers: dict[tuple[str, str, str, int], int] = {}
    info = [numbers.setdefault(row, len(numbers)) for row in zip(*columns, strict=True)]
    return np.array(info, np.int64), [_kernel(*row, device, programs) for row in numbers]


def _program_ids(view: PlaneView, stats: EventStats, programs: Mapping[int, ProgramOps]) -> list[int]:
    """Per event the id of its program, by its number or else by its module's name; 0 for none."""
    given = stats.integers(view.stat_ids("program_id"), 0).tolist()
    modules = stats.texts(view.stat_ids("hlo_module"), view.stat_names)
    by_name = {text(program.module.name): key for key, program in programs.items()}
    return [number or by_name.get(name.partition("(")[0], 0) for number, name in zip(given, modules, strict=True)]


def _kernel(
    name: str, hlo_op: str, tf_op: str, program: int, device: str, programs: Mapping[int, ProgramOps]
) -> OpInfo:
    by = _instruction(hlo_op, program, device, programs) if hlo_op else framework_op(tf_op, device)
    scope = (*by.scope, by.name.rpartition("/")[2]) if by else scope_of(tf_op)
    return OpInfo(name, (name,), NodeKind.DEVICE, device, scope, launched_by=by)


def _instruction(name: str, program: int, device: str, programs: Mapping[int, ProgramOps]) -> OpInfo:
    known = programs.get(program % (1 << 64))
    if known:
        return known.describe(name, device, program % (1 << 64))
    return OpInfo(name, (re.sub(r"[.\d]+$", "", name),), device=device)


def _read_thread(view: PlaneView, line: Events, found: PlaneLanes) -> None:
    names = {key: view.event_name(key) for key in np.unique(line.metadata_id).tolist()}
    memory = np.isin(line.metadata_id, [key for key, name in names.items() if name in _MEMORY])
    if memory.any():
        found.memory.append(_memory(view, line.take(memory), names))
        line = line.take(~memory)
    if not len(line):
        return
    stats = line.stats()
    steps = stats.integers(view.stat_ids("step_num"), -1)
    marked = np.flatnonzero(steps >= 0)
    if len(marked):
        spans = (steps[marked], line.offset_ps[marked], line.duration_ps[marked])
        found.steps.append(StepMarks(view.name, line.timestamp_ns, *spans, open_ended=True))
    ops = stats.texts(view.stat_ids("hlo_op"), view.stat_names)
    program = _program_ids(view, stats, found.programs)
    ordinal = stats.integers(view.stat_ids("device_ordinal"), -1).tolist()
    kinds = np.where(steps >= 0, NodeKind.SCOPE, NodeKind.OP)
    kinds[stats.integers(view.stat_ids("correlation_id"), -1) >= 0] = NodeKind.RUNTIME
    numbers: dict[tuple[int, int, str, int, int], int] = {}
    rows = zip(line.metadata_id.tolist(), kinds.tolist(), ops, program, ordinal, strict=True)
    keyed = (row if row[2] else (*row[:2], "", 0, -1) for row in rows)
    info = [numbers.setdefault(row, len(numbers)) for row in keyed]
    infos = [_host_info(names[row[0]], NodeKind(row[1]), *row[2:], found.programs) for row in numbers]
    found.lanes.append(_lane("CPU", line, LaneKind.HOST, np.array(info, np.int64), infos))


def _host_info(
    name: str, kind: NodeKind, hlo_op: str, program: int, ordinal: int, programs: Mapping[int, ProgramOps]
) -> OpInfo:
    if kind is not NodeKind.OP:
        return OpInfo(name, (name,), kind, "CPU")
    if hlo_op:
        return _instruction(hlo_op, program, f"CPU:{ordinal}" if ordinal >= 0 else "CPU", programs)
    call = python_call(name) or framework_op(name, "CPU")
    return call or OpInfo(name, (re.sub(r"^\[\d+\] ", "", name),), device="CPU")


def _memory(view: PlaneView, line: Events, names: Mapping[int, str]) -> MemoryMarks:
    stats = line.stats()

    def number(name: str, default: int = 0) -> I64:
        return stats.integers(view.stat_ids(name), default)

    sign = np.array([_MEMORY[names[key]] for key in line.metadata_id.tolist()], np.int64)
    size = np.where(number("allocation_bytes") > 0, number("allocation_bytes"), number("requested_bytes"))
    index = number("index_on_host", -1).tolist()
    return MemoryMarks(
        line.timestamp_ns,
        line.offset_ps,
        sign * size,
        number("bytes_allocated", -1),
        number("bytes_reserved", -1),
        number("addr"),
        stats.texts(view.stat_ids("allocator_name"), view.stat_names),
        [f"TPU:{i}" if i >= 0 else "CPU" for i in index],
    )

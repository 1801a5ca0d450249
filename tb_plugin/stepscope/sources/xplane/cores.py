"""What one TPU core did: module executions and host transfer ops, as columns."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from google.protobuf.message import DecodeError

from stepscope.model.arrays import I64
from stepscope.model.collectives import OpKind
from stepscope.pb import xplane_pb2
from stepscope.sources.xplane.hlo import (
    TARGET,
    Instruction,
    group_size_of_target,
    parse_instruction,
)
from stepscope.sources.xplane.plane import Events, PlaneView, base_ns, text, window_ps

MODULES_LINE, OPS_LINE = "XLA Modules", "XLA Ops"
_CORE_PLANE = re.compile(r"/device:TPU:(\d+)")
_CATEGORY = re.compile(r"host (send|recv)(-done)?")
_KINDS = {
    ("send", None): OpKind.SEND,
    ("send", "-done"): OpKind.SEND_DONE,
    ("recv", None): OpKind.RECV,
    ("recv", "-done"): OpKind.RECV_DONE,
}
_MAX_SPREAD_NS = 1 << 52


@dataclass(frozen=True)
class OpSource:
    """What a plane says of an op beside its events.

    Attributes:
        kind: By its category; None when it is no host transfer.
        program_id: As an unsigned number, None when the plane does not say.
        described: From the instruction text, None when it is short or missing.
        group_size: From the collective's info, 0 when there is none.
    """

    name: str
    kind: OpKind | None
    program_id: int | None
    described: Instruction | None
    group_size: int


@dataclass(frozen=True)
class CoreTrace:
    """The executions and ops of a core, in order of start, relative to `base_ns`.

    Attributes:
        programs: Names of the programs that executions run.
        execution_program: In programs.
        sources: What the plane says of each kind of op, by the id that `op_metadata` holds.
        op_metadata: Of the host transfer ops.
        op_execution: The execution in which an op starts, -1 for none.
        run_counts: Executions and time of every op of the plane, by metadata id.
        damaged: Events that could not be read.
    """

    id: int
    name: str
    device_type: str
    base_ns: int
    window_ps: tuple[int, int]
    programs: list[str]
    execution_program: I64
    execution_run: I64
    execution_start: I64
    execution_duration: I64
    sources: dict[int, OpSource]
    op_metadata: I64
    op_execution: I64
    op_start: I64
    op_duration: I64
    run_counts: dict[int, tuple[int, int]]
    damaged: int


def core_id(plane_name: str) -> int | None:
    """The number of the core whose plane it is, None for other planes."""
    match = _CORE_PLANE.fullmatch(plane_name)
    return int(match[1]) if match else None


def read_core(view: PlaneView, number: int) -> CoreTrace:
    """Reads a TPU core's plane."""
    lines = list(view.lines(MODULES_LINE, OPS_LINE))
    kept = _comparable(lines)
    base = base_ns(kept)
    modules = [line for line in kept if line.line == MODULES_LINE]
    ops = [line for line in kept if line.line == OPS_LINE]
    programs, program, run, start, duration = _executions(view, modules, base)
    sources = _sources(view)
    metadata, op_start, op_duration, counts = _ops(
        ops, base, [k for k, s in sources.items() if s.kind is not None]
    )
    return CoreTrace(
        id=number,
        name=view.name,
        device_type=str(view.stats(view.plane.stats).get("device_type_string", "")),
        base_ns=base,
        window_ps=window_ps(kept, base),
        programs=programs,
        execution_program=program,
        execution_run=run,
        execution_start=start,
        execution_duration=duration,
        sources=sources,
        op_metadata=metadata,
        op_execution=_enclosing(start, duration, op_start),
        op_start=op_start,
        op_duration=op_duration,
        run_counts=counts,
        damaged=sum(line.damaged for line in lines) + sum(map(len, lines)) - sum(map(len, kept)),
    )


def _comparable(lines: Sequence[Events]) -> list[Events]:
    """The lines with events whose clock is that of the line with most: a damaged time stamp must not cost others."""
    anchor = max(lines, key=len).timestamp_ns if lines else 0
    return [
        line for line in lines if len(line) and abs(line.timestamp_ns - anchor) < _MAX_SPREAD_NS
    ]


def _executions(
    view: PlaneView, modules: Sequence[Events], base: int
) -> tuple[list[str], I64, I64, I64, I64]:
    programs: dict[str, int] = {}
    rows: list[tuple[int, int, int, int]] = []
    for line in modules:
        names = {key: view.event_name(key) for key in set(line.metadata_id.tolist())}
        index = [
            programs.setdefault(names[key], len(programs)) for key in line.metadata_id.tolist()
        ]
        starts = line.starts_ps(base).tolist()
        rows += zip(starts, line.duration_ps.tolist(), index, _run_ids(view, line), strict=True)
    table = np.array(sorted(rows), np.int64).reshape(-1, 4)
    return list(programs), table[:, 2], table[:, 3], table[:, 0], table[:, 1]


def _run_ids(view: PlaneView, line: Events) -> list[int]:
    keys = view.stat_ids("run_id")
    return line.stats().integers(keys).tolist() if keys else [0] * len(line)


def _sources(view: PlaneView) -> dict[int, OpSource]:
    return {key: _source(view, metadata) for key, metadata in view.plane.event_metadata.items()}


def _source(view: PlaneView, metadata: xplane_pb2.EventMetadata) -> OpSource:
    stats = view.stats(metadata.stats)
    match = _CATEGORY.search(str(stats.get("hlo_category", "")))
    program = stats.get("program_id")
    program_id = program % (1 << 64) if isinstance(program, int) else None
    name = text(metadata.display_name or metadata.name.split(b" ", 1)[0]).lstrip("%")
    if not match:
        return OpSource(name, None, program_id, None, 0)
    described = parse_instruction(text(metadata.name))
    info = stats.get("dcn_collective_info")
    group = group_size_of_info(info) if isinstance(info, bytes) else 0
    return OpSource(name, _KINDS[match[1], match[2]], program_id, described, group)


def group_size_of_info(body: bytes) -> int:
    """How many slices exchange data, from the profile's collective info; 0 when it does not say."""
    try:
        info = xplane_pb2.DcnCollectiveInfo.FromString(body)
    except DecodeError:
        return 0
    if info.one_to_one_groups:
        return 1
    return len(info.endpoint_groups[0].endpoints) if info.endpoint_groups else 0


def group_size(source: OpSource, transfer: Instruction) -> int:
    """The group size of an op: by the profile's info, else by the target that the HLO names; 0 when unknown."""
    return source.group_size or group_size_of_target(transfer.attributes.get(TARGET, ""))


def _ops(
    lines: Sequence[Events], base: int, wanted: Sequence[int]
) -> tuple[I64, I64, I64, dict[int, tuple[int, int]]]:
    empty = np.empty(0, np.int64)
    metadata = np.concatenate([empty, *(line.metadata_id for line in lines)])
    start = np.concatenate([empty, *(line.starts_ps(base) for line in lines)])
    duration = np.concatenate([empty, *(line.duration_ps for line in lines)])
    keys, inverse = distinct(metadata)
    counts = _run_counts(keys, inverse, duration)
    rows = np.flatnonzero(np.isin(keys, wanted)[inverse]) if len(keys) else empty
    rows = rows[np.argsort(start[rows], kind="stable")]
    return metadata[rows], start[rows], duration[rows], counts


def distinct(values: I64) -> tuple[I64, I64]:
    """The distinct values in order, and for each value its place among them."""
    if len(values) and int(values.min()) >= 0 and int(values.max()) < _TABLE_SIZE:
        seen = np.bincount(values)
        keys = np.flatnonzero(seen)
        place = np.zeros(len(seen), np.int64)
        place[keys] = np.arange(len(keys))
        return keys, place[values]
    keys, inverse = np.unique(values, return_inverse=True)
    return keys, inverse


_TABLE_SIZE = 1 << 20


def _run_counts(keys: I64, inverse: I64, duration: I64) -> dict[int, tuple[int, int]]:
    counts = np.bincount(inverse, minlength=len(keys))
    totals = np.zeros(len(keys), np.int64)
    np.add.at(totals, inverse, duration)
    return dict(zip(keys.tolist(), zip(counts.tolist(), totals.tolist(), strict=True), strict=True))


def _enclosing(start: I64, duration: I64, op_start: I64) -> I64:
    """The execution in which each op starts: an op may outlast its execution by a clock step."""
    place = np.searchsorted(start, op_start, side="right") - 1
    if not len(start):
        return place
    return np.where((place >= 0) & (op_start < (start + duration)[place]), place, -1)

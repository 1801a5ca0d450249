"""What a trace says of itself: time base, devices, rank. Everything else at its top level is private and never read."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import msgspec

from stepscope.sources.torch_trace.events import UNREADABLE, Id
from stepscope.sources.torch_trace.numbers import integer
from stepscope.sources.torch_trace.repair import parse_leniently

_BASE = re.compile(rb'"baseTimeNanoseconds"\s*:\s*(\d{1,19})')
_SUFFIX = re.compile(r"(\.pt)?(\.trace)?\.json(\.gz)?$")
_STAMP = re.compile(r"\.(\d{10,})$")
_RANK = re.compile(r"rank[-_]?(\d{1,9})(?!\d)", re.IGNORECASE)
_HOST_AND_PROCESS = re.compile(r"(?P<host>.+)_\d+$")


class DeviceProperties(msgspec.Struct):
    """One entry of `deviceProperties`."""

    id: Id = None
    name: str | None = None
    memory_bytes: Id = msgspec.field(name="totalGlobalMem", default=None)
    compute_major: Id = msgspec.field(name="computeMajor", default=None)
    compute_minor: Id = msgspec.field(name="computeMinor", default=None)
    multiprocessors: Id = msgspec.field(name="numSms", default=None)
    threads_per_multiprocessor: Id = msgspec.field(name="maxThreadsPerMultiprocessor", default=None)


class _Distributed(msgspec.Struct):
    rank: Id = None
    world_size: Id = None
    backend: str | None = None


class _Top(msgspec.Struct):
    base: Id = msgspec.field(name="baseTimeNanoseconds", default=None)
    devices: list[DeviceProperties] | None = msgspec.field(name="deviceProperties", default=None)
    distributed: _Distributed | None = msgspec.field(name="distributedInfo", default=None)


@dataclass(frozen=True)
class TraceHeader:
    """What is kept of a trace's top level.

    Attributes:
        base_ns: What every `ts` is relative to, 0 when they are absolute.
        rank: -1 when unknown.
        world_size: 0 when unknown.
        damaged: Whether the top level is not valid JSON, so that only the time base could be had.
    """

    base_ns: int = 0
    rank: int = -1
    world_size: int = 0
    devices: tuple[DeviceProperties, ...] = ()
    damaged: bool = False


def read_header(skeleton: bytes) -> TraceHeader:
    """Reads the known keys of a file without its events."""
    top = _parse(skeleton)
    if top is None:
        found = _BASE.search(skeleton)
        return TraceHeader(base_ns=int(found[1]) if found else 0, damaged=True)
    distributed = top.distributed or _Distributed()
    return TraceHeader(
        max(integer(top.base, 0), 0),
        integer(distributed.rank, -1),
        integer(distributed.world_size, 0),
        tuple(top.devices or ()),
    )


def _parse(skeleton: bytes) -> _Top | None:
    try:
        return msgspec.json.decode(skeleton, type=_Top)
    except UNREADABLE:
        pass
    try:
        return msgspec.convert(parse_leniently(skeleton), _Top)
    except msgspec.ValidationError:
        return None


@dataclass(frozen=True)
class FileName:
    """What the name of a trace file says.

    Attributes:
        worker: The process: `host_pid`, or as the user named it.
        host: The machine, where the name has the profiler's form.
        stamp_ms: Unix time of the export in ms, 0 when the name has none.
        rank: -1 when the name has none.
    """

    worker: str
    host: str
    stamp_ms: int
    rank: int


def parse_name(path: Path) -> FileName:
    """Takes a name as `tensorboard_trace_handler` writes it apart; any other name is the worker."""
    stem = _SUFFIX.sub("", path.name) or path.name
    stamp = _STAMP.search(stem)
    worker = stem[: stamp.start()] if stamp else stem
    rank = _RANK.search(worker)
    host = _HOST_AND_PROCESS.fullmatch(worker) if stamp else None
    return FileName(worker, host["host"] if host else "", int(stamp[1]) if stamp else 0, int(rank[1]) if rank else -1)

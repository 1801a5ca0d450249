"""What a trace says of itself: time base, devices, rank. Everything else at its top level is private and never read."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any, TypeVar

import msgspec
from msgspec import Raw

from stepscope.sources.torch_trace.event import UNREADABLE, Id
from stepscope.sources.torch_trace.numbers import small
from stepscope.sources.torch_trace.repair import leading_object, parse_leniently

_BASE = re.compile(rb'"baseTimeNanoseconds"\s*:\s*(\d{1,19})')
_SUFFIX = re.compile(r"(\.pt)?(\.trace)?\.json(\.gz)?$")
_STAMP = re.compile(r"\.(\d{10,})$")
_RANK = re.compile(r"rank[-_]?(\d{1,9})(?!\d)", re.IGNORECASE)
_PARALLEL = re.compile(r"(?<![A-Za-z])(TP|PP)[-_]?(\d{1,9})(?!\d)", re.IGNORECASE)
"""SGLang names files by the place in each dimension, and leaves dimensions of one rank out."""
_YEAR_2116_NS = 1 << 62
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


class _Top(msgspec.Struct):
    """Each part as text, so that one that cannot be read does not take the others with it."""

    base: Raw = msgspec.field(name="baseTimeNanoseconds", default=Raw(b""))
    devices: Raw = msgspec.field(name="deviceProperties", default=Raw(b""))
    distributed: Raw = msgspec.field(name="distributedInfo", default=Raw(b""))


@dataclass(frozen=True)
class TraceHeader:
    """What is kept of a trace's top level.

    Attributes:
        base_ns: What every `ts` is relative to, 0 when they are absolute.
        rank: -1 when unknown.
        world_size: 0 when unknown.
        damaged: Whether the top level, devices or rank could not be read.
        base_lost: Whether the file has a time base that is no time.
        trailing: Whether something comes after the end of the trace.
    """

    base_ns: int = 0
    rank: int = -1
    world_size: int = 0
    devices: tuple[DeviceProperties, ...] = ()
    damaged: bool = False
    base_lost: bool = False
    trailing: bool = False


def read_header(skeleton: bytes) -> TraceHeader:
    """Reads the known keys of a file without its events."""
    top, trailing = _parse(skeleton)
    if top is None:
        found = _BASE.search(skeleton)
        base = _base(found[1] if found else b"")
        return TraceHeader(base or 0, damaged=True, base_lost=base is None)
    base, distributed = _base(top.base), _part(top.distributed, _Distributed)
    devices = _part(top.devices, list[DeviceProperties])
    return TraceHeader(
        base or 0,
        small(distributed.rank if distributed else None, -1),
        small(distributed.world_size if distributed else None, 0),
        tuple(devices or ()),
        damaged=bool(top.distributed and distributed is None)
        or bool(top.devices and devices is None),
        base_lost=base is None,
        trailing=trailing,
    )


def _parse(skeleton: bytes) -> tuple[_Top | None, bool]:
    """The known keys, None where the text is no object; and whether something follows it."""
    try:
        return msgspec.json.decode(skeleton, type=_Top), False
    except UNREADABLE:
        pass
    found, rest = parse_leniently(skeleton), b""
    if found is None:
        found, rest = leading_object(skeleton)
    top = None if found is None else msgspec.json.decode(_encoded(found), type=_Top)
    return top, top is not None and bool(rest.strip())


def _encoded(found: Any) -> bytes:
    try:
        return msgspec.json.encode(found)
    except UnicodeEncodeError:
        # A text with half of a surrogate pair, which JSON can escape and UTF-8 cannot carry.
        return json.dumps(found, ensure_ascii=False).encode("utf-8", "replace")


P = TypeVar("P")


def _part(text: Raw, kind: type[P]) -> P | None:
    try:
        return msgspec.json.decode(text, type=kind) if bytes(text) else None
    except UNREADABLE:
        return None


def _base(text: bytes | Raw) -> int | None:
    """The time base; 0 where there is none, None where it is no time that the clock of a machine shows."""
    digits = bytes(text).strip(b'" ')
    try:
        base = int(Decimal(digits.decode("ascii"))) if digits not in (b"", b"null") else 0
    except (ArithmeticError, ValueError):
        return None
    return base if 0 <= base < _YEAR_2116_NS else None


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
    host = _HOST_AND_PROCESS.fullmatch(worker) if stamp else None
    return FileName(
        worker=worker,
        host=host["host"] if host else "",
        stamp_ms=int(stamp[1]) if stamp else 0,
        rank=_rank(worker),
    )


def _rank(worker: str) -> int:
    """The rank in a name: `rank3`, or `TP-3` where the pipeline has no later stage."""
    rank = _RANK.search(worker)
    if rank:
        return int(rank[1])
    places = {name.upper(): int(place) for name, place in _PARALLEL.findall(worker)}
    return places.get("TP", -1) if places.get("PP", 0) == 0 else -1

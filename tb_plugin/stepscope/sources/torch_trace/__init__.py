"""PyTorch profiler traces: the JSON that Kineto writes, of every age, and what others write like it.

The way of a trace, stage by stage:

    bytes → events            `ByteChunks`, `EventStream`
    events → columns          `EventColumns`, one `RankEvents` per rank
    columns → nesting         `Nesting`: what contains what on the host
    nesting → links           `EventLinks`: launches, device work, backward ops, memory
    links → profile           `Profile`
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path

from stepscope.model.columns import Header
from stepscope.model.diagnostic import Diagnostic
from stepscope.model.profile import Profile
from stepscope.sources.format import Format, Imported, NamedRecord, Progress
from stepscope.sources.torch_trace.bytes import ByteChunks
from stepscope.sources.torch_trace.columns import read_columns
from stepscope.sources.torch_trace.diagnostics import event_diagnostics, file_diagnostics
from stepscope.sources.torch_trace.events import EventStream
from stepscope.sources.torch_trace.header import FileName, TraceHeader, parse_name, read_header
from stepscope.sources.torch_trace.links import link_events
from stepscope.sources.torch_trace.nesting import nest_events
from stepscope.sources.torch_trace.processes import sort_plain_ranges
from stepscope.sources.torch_trace.profile import NO_LAUNCH, OUTSIDE_OP, build_profile, first_ns
from stepscope.sources.torch_trace.ranks import RankEvents, split_ranks

__all__ = ["FORMAT", "NAME", "NO_LAUNCH", "OUTSIDE_OP", "read", "recognise"]

NAME = "torch"
_MARKS = re.compile(
    rb'"(?:schemaVersion|deviceProperties|baseTimeNanoseconds'
    rb'|cat"\s*:\s*"(?:cpu_op|python_function|Operator|user_annotation|kernel|cuda_runtime'
    rb"|gpu_mem(?:cpy|set)|async_npu|cpu_to_cuda)"
    rb'|pid"\s*:\s*"(?:CPU|CUDA) functions|External id|PyTorch Profiler|Ascend Hardware)'
)
_YEAR_2001_NS = 10**18


def recognise(path: Path, head: bytes) -> bool:
    """Whether a file is a trace of a PyTorch profiler: JSON with a mark that only those leave."""
    start = head.lstrip(b"\xef\xbb\xbf \t\r\n")
    is_json = start[:1] in (b"{", b"[")
    has_events = b'"traceEvents"' in head or b'"ph"' in head
    return is_json and has_events and bool(_MARKS.search(head))


def read(path: Path, progress: Progress | None = None) -> Imported:
    """Reads a trace as nested profiles in nanoseconds, one for each rank in the file.

    Raises:
        DamagedSource: The file is empty or holds no events array.
        LimitExceeded: It is more than 16 GiB when decompressed.
    """
    chunks = ByteChunks(path, progress)
    stream = EventStream(chunks)
    columns = read_columns(stream)
    sort_plain_ranges(columns)
    columns.drop_far()
    header = read_header(stream.skeleton)
    name = parse_name(path)
    file = _TraceFile(path=path, header=header, name=name)
    losses = file_diagnostics(chunks, stream, columns, header)
    ranks = split_ranks(columns)
    records = tuple(_rank_record(file, rank, len(ranks), losses) for rank in ranks)
    return Imported(records, name.worker)


@dataclass(frozen=True)
class _TraceFile:
    """What holds for all ranks of a file."""

    path: Path
    header: TraceHeader
    name: FileName


def _rank_record(
    file: _TraceFile, rank: RankEvents, rank_count: int, losses: list[Diagnostic]
) -> NamedRecord:
    """The record of one rank's events. Each says what the file as a whole lost."""
    nesting = nest_events(rank.events)
    links = link_events(rank.events, nesting)
    profile = build_profile(rank.events, nesting, links, file.header.devices)
    said = [*losses, *event_diagnostics(rank.events, nesting, links)]
    header = _record_header(file, rank, first_ns(nesting, links), said)
    if rank.label:
        header = replace(header, world_size=max(header.world_size, rank_count))
    return NamedRecord(
        name=NAME,
        record=replace(profile, header=header),
        step=_first_step(profile),
        run=f"{file.name.worker}/{rank.label}" if rank.label else "",
    )


def _first_step(profile: Profile) -> int | None:
    return int(profile.steps.id[0]) if len(profile.steps) else None


def _record_header(
    file: _TraceFile, rank: RankEvents, start_ns: int, losses: list[Diagnostic]
) -> Header:
    header, name = file.header, file.name
    anchor = header.base_ns + start_ns
    number = header.rank if header.rank >= 0 else name.rank
    return Header(
        run=f"{name.worker}/{rank.label}" if rank.label else name.worker,
        host=name.host,
        rank=rank.rank if rank.label else number,
        world_size=header.world_size,
        producer="torch.profiler",
        wall_anchor_ns=anchor if anchor > _YEAR_2001_NS else 0,
        losses=tuple(losses),
        source=file.path.name,
    )


FORMAT = Format(
    "torch-trace",
    "PyTorch profiler trace (torch.profiler, Kineto, torch_npu; .json or .json.gz)",
    recognise,
    read,
)

"""PyTorch profiler traces: the JSON that Kineto writes, of every age, and what older profilers wrote."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

from stepscope.model.columns import Header
from stepscope.model.diagnostic import Diagnostic
from stepscope.sources.format import Format, Imported, NamedRecord, Progress
from stepscope.sources.torch_trace.build import NO_LAUNCH, OUTSIDE_OP, ProfileBuilder
from stepscope.sources.torch_trace.bytes import ByteChunks
from stepscope.sources.torch_trace.columns import EventColumns
from stepscope.sources.torch_trace.events import EventStream
from stepscope.sources.torch_trace.header import FileName, TraceHeader, parse_name, read_header

__all__ = ["FORMAT", "NAME", "NO_LAUNCH", "OUTSIDE_OP", "read", "recognise"]

NAME = "torch"
_MARKS = re.compile(
    rb'"(?:schemaVersion|deviceProperties|baseTimeNanoseconds|cat"\s*:\s*"(?:cpu_op|python_function|Operator|user_annotation|'
    rb'kernel|cuda_runtime)|pid"\s*:\s*"(?:CPU|CUDA) functions|External id|PyTorch Profiler)'
)
_YEAR_2001_NS = 10**18


def recognise(path: Path, head: bytes) -> bool:
    """Whether a file is a trace of the PyTorch profiler: JSON with a mark that only Kineto or its forerunner leaves."""
    start = head.lstrip(b"\xef\xbb\xbf \t\r\n")
    return start[:1] in (b"{", b"[") and (b'"traceEvents"' in head or b'"ph"' in head) and bool(_MARKS.search(head))


def read(path: Path, progress: Progress | None = None) -> Imported:
    """Reads a trace as a nested profile in nanoseconds.

    Raises:
        DamagedSource: The file is empty or holds no events array.
        LimitExceeded: It is more than 16 GiB when decompressed.
    """
    chunks = ByteChunks(path, progress)
    stream = EventStream(chunks)
    columns = EventColumns()
    for events in stream:
        columns.add(events)
    columns.finish()
    top, named = read_header(stream.skeleton), parse_name(path)
    builder = ProfileBuilder(columns, top.devices)
    profile = builder.build()
    losses = _losses(chunks, stream, columns, top)
    record = replace(profile, header=_header(path, top, named, builder.first_ns, losses))
    step = int(profile.steps.id[0]) if len(profile.steps) else None
    return Imported((NamedRecord(NAME, record, step),), named.worker)


def _header(path: Path, top: TraceHeader, named: FileName, first_ns: int, losses: tuple[Diagnostic, ...]) -> Header:
    anchor = top.base_ns + first_ns
    return Header(
        run=named.worker,
        host=named.host,
        rank=top.rank if top.rank >= 0 else named.rank,
        world_size=top.world_size,
        producer="torch.profiler",
        wall_anchor_ns=anchor if anchor > _YEAR_2001_NS else 0,
        losses=losses,
        source=path.name,
    )


def _losses(chunks: ByteChunks, stream: EventStream, columns: EventColumns, top: TraceHeader) -> tuple[Diagnostic, ...]:
    """What could not be read, each with its count and a remedy."""
    again = "Export the trace again, and let the process end before copying the file"
    apart = "Import each trace from a file of its own: times of different hosts or runs may not agree"
    newer = "Nothing is lost; a newer PyTorch writes such names correctly"
    untimed = columns.without_duration
    unknown = ", ".join(f"{name} ({count})" for name, count in columns.unknown.most_common(8))
    found = [
        (stream.arrays > 1, f"{stream.arrays} lists of events in one file, shown together", stream.arrays, apart),
        (bool(chunks.damage), f"{chunks.damage}; what comes before is shown", 0, again),
        (stream.cut_off and not chunks.damage, "the file is cut off; the events before the cut are shown", 0, again),
        (stream.repaired > 0, f"repaired {_events(stream.repaired)}: not valid JSON", stream.repaired, newer),
        (stream.dropped > 0, f"dropped {_events(stream.dropped)}: nothing could be understood", stream.dropped, again),
        (stream.replaced > 0, "replaced bytes that are not UTF-8 in names", stream.replaced, newer),
        (top.damaged, "the file's properties are not valid JSON: devices and rank are unknown", 0, again),
        (top.trailing, "something after the end of the trace is left out", 0, again),
        (top.base_lost, "the time base cannot be used: the time of day is unknown", 0, again),
        (columns.without_time > 0, f"{_events(columns.without_time)} without a start time", columns.without_time, ""),
        (columns.far > 0, f"{_events(columns.far)} more than 100 days away from the others", columns.far, ""),
        (untimed > 0, f"{_events(untimed)} without a duration, taken as 0", untimed, ""),
        (columns.negative > 0, f"{_events(columns.negative)} of negative duration, taken as 0", columns.negative, ""),
        (bool(unknown), f"events of unknown categories: {unknown}", columns.unknown.total(), "Report the categories"),
        (
            not columns.count,
            "no events",
            0,
            "Check that the profiler's schedule had an active step (prof.step() in the loop)",
        ),
    ]
    return tuple(
        Diagnostic(where="traceEvents", what=what, count=count, remedy=how)
        for is_so, what, count, how in found
        if is_so
    )


def _events(count: int) -> str:
    return "1 event" if count == 1 else f"{count} events"


FORMAT = Format("torch-trace", "PyTorch profiler trace (torch.profiler, Kineto; .json or .json.gz)", recognise, read)

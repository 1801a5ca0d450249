"""In-kernel Chrome traces of Triton's Proton: regions of each warp, by core and thread block.

Follows Proton's trace writer: a process is `KERNEL CoreN CTAN`, a thread is `warp N (line N)`, and
`line` keeps overlapping regions of one warp apart. Times are microseconds with decimals, kept as
whole picoseconds. They become a profile whose ops are regions within kernels, and whose lanes are
warps. Proton assumes the clock that the file states as `Frequency (MHz)`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from stepscope.errors import DamagedSource
from stepscope.model.columns import Header, StringBuilder
from stepscope.model.diagnostic import Diagnostic
from stepscope.model.incore_values import group
from stepscope.model.profile import Executions, LaneKind, Lanes, Nodes, OpTypes, Profile, Scopes
from stepscope.sources.execution_sums import accelerator_sums
from stepscope.sources.format import Format, Imported, NamedRecord, Progress
from stepscope.sources.swimlane.json import load

_PROCESS = re.compile(r"(.*) (Core\d+ CTA\d+)$")
_WARP = re.compile(r"warp \d+( \(line \d+\))?$")
_PROCESS_IN_FILE = re.compile(rb'"pid"\s*:\s*"[^"]* Core\d+ CTA\d+"')
_THREAD_IN_FILE = re.compile(rb'"tid"\s*:\s*"warp \d+')

Span = tuple[str, str, str, str, int, int]
"""Kernel, thread block, warp, region, start ps, end ps."""


def recognise(path: Path, head: bytes) -> bool:
    """Whether it is a Chrome trace whose processes are thread blocks and whose threads are warps."""
    if path.is_dir() or b'"traceEvents"' not in head:
        return False
    return bool(_PROCESS_IN_FILE.search(head) and _THREAD_IN_FILE.search(head))


def read(path: Path, progress: Progress | None = None) -> Imported:
    """Reads a trace.

    Raises:
        DamagedSource: It has no region.
    """
    document = load(path)
    events = document.get("traceEvents")
    listed = events if isinstance(events, list) else []
    complete = [event for event in listed if isinstance(event, Mapping) and event.get("ph") == "X"]
    spans: list[Span] = []
    for event in complete:
        span = _span(event)
        if span is not None:
            spans.append(span)
    if not spans:
        raise DamagedSource(
            "Proton trace has no region",
            where=str(path),
            remedy="Record the kernel again with scopes",
        )
    losses = []
    skipped = len(complete) - len(spans)
    if skipped:
        losses.append(
            Diagnostic("traceEvents", "events lack a thread block, warp or time", skipped, "")
        )
    if progress:
        progress(1, 1)
    header = Header(producer="Triton Proton, in-kernel", source=path.name, losses=tuple(losses))
    return Imported((NamedRecord("proton", _profile(spans, header)),), path.stem)


def _span(event: Mapping[str, Any]) -> Span | None:
    process = _PROCESS.match(str(event.get("pid", "")))
    warp = str(event.get("tid", ""))
    start, duration = _ps(event.get("ts")), _ps(event.get("dur"))
    if (
        process is None
        or _WARP.match(warp) is None
        or start is None
        or duration is None
        or duration < 0
    ):
        return None
    return process[1], process[2], warp, str(event.get("name", "?")), start, start + duration


def _ps(micros: Any) -> int | None:
    """Whole picoseconds, None for what is no time or does not fit 63 bits."""
    if isinstance(micros, bool) or not isinstance(micros, int | float) or not abs(micros) < 1 << 42:
        return None
    return round(micros * 1_000_000)


def _profile(spans: list[Span], header: Header) -> Profile:
    """One op for each region of each kernel, one lane for each warp of each thread block."""
    strings = StringBuilder()
    kernels = list(dict.fromkeys(kernel for kernel, *_ in spans))
    regions = list(dict.fromkeys((kernel, region) for kernel, _, _, region, _, _ in spans))
    warps = list(dict.fromkeys((kernel, block, warp) for kernel, block, warp, *_ in spans))
    scope_of_kernel = {kernel: place for place, kernel in enumerate(kernels)}
    node_of_region = {region: place for place, region in enumerate(regions)}
    lane_of_warp = {warp: place for place, warp in enumerate(warps)}

    node = np.array(
        [node_of_region[kernel, region] for kernel, _, _, region, _, _ in spans], np.int32
    )
    lane = [lane_of_warp[kernel, block, warp] for kernel, block, warp, *_ in spans]
    start = np.array([span[4] for span in spans], np.int64)
    end = np.array([span[5] for span in spans], np.int64)
    base = int(start.min())
    device = strings("gpu")
    empty = np.zeros(len(regions), np.int64)
    return Profile(
        header=header,
        tick_ps=1,
        nodes=group(
            Nodes,
            name=[strings(f"{kernel}/{region}") for kernel, region in regions],
            scope=len(kernels) + np.arange(len(regions)),
            device=[device] * len(regions),
            op_type_end=np.arange(1, len(regions) + 1),
            input_end=empty,
            output_end=empty,
        ),
        op_types=group(OpTypes, type=[strings(region) for _, region in regions]),
        scopes=group(
            Scopes,
            parent=[-1] * len(kernels) + [scope_of_kernel[kernel] for kernel, _ in regions],
            name=[strings(kernel) for kernel in kernels]
            + [strings(region) for _, region in regions],
        ),
        lanes=group(
            Lanes,
            device=[device] * len(warps),
            name=[strings(f"{kernel} {block} {warp}") for kernel, block, warp in warps],
            kind=[LaneKind.ACCELERATOR] * len(warps),
        ),
        node_steps=accelerator_sums(node, len(regions), start - base, end - base),
        executions=group(
            Executions,
            node=node,
            lane=lane,
            start_ticks=start - base,
            duration_ticks=end - start,
            self_ticks=end - start,
        ),
        strings=strings.build(),
    )


FORMAT = Format("proton", "in-kernel Chrome traces of Triton's Proton", recognise, read)

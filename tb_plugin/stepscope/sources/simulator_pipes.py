"""Instruction traces of the operator simulator: Chrome traces of the pipes of one core or of all.

They become a profile whose ops are instructions within pipe within core. Times are microseconds
with decimals, read as whole picoseconds.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
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

_PIPES = (
    "SCALAR",
    "VECTOR",
    "CUBE",
    "MTE1",
    "MTE2",
    "MTE3",
    "FIXP",
    "FIXPIPE",
    "ALL",
    "FLOWCTRL",
    "CACHEMISS",
)
_MAX_MICROS = 1 << 42
"""Times from here on do not fit 63 bits of picoseconds."""
_PIPE = re.compile(rb'"tid"\s*:\s*"(SCALAR|VECTOR|CUBE|MTE[123]|FIXP|FIXPIPE)"')
_CORES = ("core*.veccore*/trace.json", "core*.cubecore*/trace.json")


@dataclass(frozen=True)
class _Span:
    """An instruction on a pipe of a core; times in ps."""

    core: str
    pipe: str
    name: str
    start: int
    end: int


def recognise(path: Path, head: bytes) -> bool:
    """Whether it is a trace whose threads are pipes, or a folder of one such trace per core."""
    if path.is_dir():
        return bool(_traces_of_cores(path))
    return b'"traceEvents"' in head[:4096] and _PIPE.search(head) is not None


def _traces_of_cores(folder: Path) -> list[Path]:
    traces: list[Path] = []
    for pattern in _CORES:
        traces += folder.glob(pattern)
    return sorted(traces)


def read(path: Path, progress: Progress | None = None) -> Imported:
    """Reads a trace, or all cores' traces of a folder.

    Raises:
        DamagedSource: The traces hold no instruction.
    """
    if path.is_dir():
        run = path.name
        cores = {file: file.parent.name for file in _traces_of_cores(path)}
    else:
        run = path.stem
        cores = {path: path.stem}
    spans: list[_Span] = []
    losses: list[Diagnostic] = []
    for number, (file, core) in enumerate(cores.items()):
        spans_of_core, skipped = _spans(load(file), core)
        spans += spans_of_core
        if skipped:
            losses.append(
                Diagnostic(file.name, "events without a pipe, time or duration", skipped, "")
            )
        if progress:
            progress(number + 1, len(cores))
    if not spans:
        raise DamagedSource(
            "a simulator trace without an instruction",
            where=str(path),
            remedy="Simulate again",
        )
    header = Header(producer="operator simulator", source=path.name, losses=tuple(losses))
    return Imported((NamedRecord("simulator", _profile(spans, header)),), run)


def _spans(document: Mapping[str, Any], core: str) -> tuple[list[_Span], int]:
    """The spans of a trace, and the number of events without a pipe, time or duration."""
    events = document.get("traceEvents")
    if not isinstance(events, list):
        return [], 0
    spans = []
    skipped = 0
    for event in events:
        if not isinstance(event, Mapping) or event.get("ph") != "X":
            continue
        span = _span(event, core)
        if span is None:
            skipped += 1
        else:
            spans.append(span)
    return spans, skipped


def _span(event: Mapping[str, Any], core: str) -> _Span | None:
    start = _ps(event.get("ts"))
    duration = _ps(event.get("dur"))
    pipe = event.get("tid")
    if pipe not in _PIPES or start is None or duration is None:
        return None
    return _Span(
        core=str(event.get("pid", core)),
        pipe=str(pipe),
        name=str(event.get("name", "?")),
        start=start,
        end=start + duration,
    )


def _ps(micros: Any) -> int | None:
    """Whole picoseconds, None where the value is not a time or does not fit 63 bits."""
    if not isinstance(micros, int | float) or abs(micros) >= _MAX_MICROS:
        return None
    return round(micros * 1_000_000)


def _profile(spans: list[_Span], header: Header) -> Profile:
    strings = StringBuilder()
    scopes = _Scopes(strings)
    node = np.array([scopes.node(span.core, span.pipe, span.name) for span in spans], np.int32)
    start = np.array([span.start for span in spans], np.int64)
    end = np.array([span.end for span in spans], np.int64)
    base = int(start.min())
    keys = list(scopes.nodes)
    lanes: dict[tuple[str, str], int] = {}
    op_types = []
    for core, pipe, name in keys:
        lanes.setdefault((core, pipe), len(lanes))
        op_types += [strings(name), strings(pipe)]
    return Profile(
        header=header,
        tick_ps=1,
        nodes=group(
            Nodes,
            name=[strings("/".join(key)) for key in keys],
            scope=list(scopes.nodes.values()),
            device=[strings(core) for core, _, _ in keys],
            op_type_end=2 * np.arange(1, len(keys) + 1),
            input_end=np.zeros(len(keys), np.int64),
            output_end=np.zeros(len(keys), np.int64),
        ),
        op_types=group(OpTypes, type=op_types),
        scopes=group(Scopes, parent=scopes.parents, name=scopes.names),
        lanes=group(
            Lanes,
            device=[strings(core) for core, _ in lanes],
            name=[strings(pipe) for _, pipe in lanes],
            kind=[LaneKind.ACCELERATOR] * len(lanes),
        ),
        node_steps=accelerator_sums(node, len(keys), start - base, end - base),
        executions=group(
            Executions,
            node=node,
            lane=[lanes[span.core, span.pipe] for span in spans],
            start_ticks=start - base,
            duration_ticks=end - start,
            self_ticks=end - start,
        ),
        strings=strings.build(),
    )


class _Scopes:
    """The tree of cores, pipes and instructions, and the node of each instruction."""

    def __init__(self, strings: StringBuilder) -> None:
        self.parents: list[int] = []
        self.names: list[int] = []
        self.nodes: dict[tuple[str, str, str], int] = {}
        self._strings = strings
        self._index: dict[tuple[str, ...], int] = {}
        self._order: dict[tuple[str, str, str], int] = {}

    def node(self, core: str, pipe: str, name: str) -> int:
        """The node of an instruction on a pipe of a core."""
        known = self._order.get((core, pipe, name))
        if known is None:
            known = self._order[core, pipe, name] = len(self._order)
            self.nodes[core, pipe, name] = self._scope((core, pipe, name))
        return known

    def _scope(self, path: tuple[str, ...]) -> int:
        parent = -1
        for depth in range(1, len(path) + 1):
            part = path[:depth]
            if part not in self._index:
                self._index[part] = len(self.parents)
                self.parents.append(parent)
                self.names.append(self._strings(part[-1]))
            parent = self._index[part]
        return parent


FORMAT = Format(
    "simulator-pipes",
    "instruction traces of the Ascend operator simulator",
    recognise,
    read,
)

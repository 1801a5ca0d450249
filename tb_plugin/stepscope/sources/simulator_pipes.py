"""Instruction traces of the operator simulator: what each pipe did, as Chrome traces of one core or of all.

They become a profile whose ops are instructions within pipe within core. Times are microseconds with decimals, kept as
whole picoseconds.
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

_PIPES = ("SCALAR", "VECTOR", "CUBE", "MTE1", "MTE2", "MTE3", "FIXP", "FIXPIPE", "ALL", "FLOWCTRL", "CACHEMISS")
_PIPE = re.compile(rb'"tid"\s*:\s*"(SCALAR|VECTOR|CUBE|MTE[123]|FIXP|FIXPIPE)"')
_CORES = ("core*.veccore*/trace.json", "core*.cubecore*/trace.json")

Span = tuple[str, str, str, int, int]


def recognise(path: Path, head: bytes) -> bool:
    """Whether it is a trace whose threads are pipes, or a folder of one such trace per core."""
    if path.is_dir():
        return any(True for pattern in _CORES for _ in path.glob(pattern))
    return b'"traceEvents"' in head[:4096] and _PIPE.search(head) is not None


def read(path: Path, progress: Progress | None = None) -> Imported:
    """Reads a trace, or all cores' traces of a folder.

    Raises:
        DamagedSource: There is no instruction in it.
    """
    files = sorted(f for pattern in _CORES for f in path.glob(pattern)) if path.is_dir() else [path]
    spans: list[Span] = []
    losses: list[Diagnostic] = []
    for number, file in enumerate(files):
        found, skipped = _spans(load(file), file.parent.name if path.is_dir() else path.stem)
        spans += found
        if skipped:
            losses.append(Diagnostic(file.name, "events without a pipe, time or duration", skipped, ""))
        if progress:
            progress(number + 1, len(files))
    if not spans:
        raise DamagedSource("a simulator trace without an instruction", where=str(path), remedy="Simulate again")
    profile = _profile(spans, Header(producer="operator simulator", source=path.name, losses=tuple(losses)))
    return Imported((NamedRecord("simulator", profile),), path.name if path.is_dir() else path.stem)


def _spans(document: Mapping[str, Any], core: str) -> tuple[list[Span], int]:
    """The spans as (core, pipe, instruction, start ps, end ps), and how many events had to be left out."""
    listed = document.get("traceEvents")
    events = [e for e in listed if isinstance(e, Mapping) and e.get("ph") == "X"] if isinstance(listed, list) else []
    found = [span for event in events if (span := _span(event, core)) is not None]
    return found, len(events) - len(found)


def _span(event: Mapping[str, Any], core: str) -> Span | None:
    begin, duration, pipe = _ps(event.get("ts")), _ps(event.get("dur")), event.get("tid")
    if pipe not in _PIPES or begin is None or duration is None:
        return None
    return str(event.get("pid", core)), str(pipe), str(event.get("name", "?")), begin, begin + duration


def _ps(micros: Any) -> int | None:
    """Whole picoseconds, None of what is no time or does not fit 63 bits."""
    return round(micros * 1_000_000) if isinstance(micros, int | float) and abs(micros) < 1 << 42 else None


def _profile(spans: list[Span], header: Header) -> Profile:
    strings = StringBuilder()
    scopes = _Scopes(strings)
    node = np.array([scopes.node(core, pipe, name) for core, pipe, name, _, _ in spans], np.int32)
    start, end = (np.array([span[at] for span in spans], np.int64) for at in (3, 4))
    base = int(start.min())
    keys = list(scopes.nodes)
    lanes = {(core, pipe): None for core, pipe, _ in keys}
    lane = {key: index for index, key in enumerate(lanes)}
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
        op_types=group(OpTypes, type=[strings(word) for _, pipe, name in keys for word in (name, pipe)]),
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
            lane=[lane[core, pipe] for core, pipe, *_ in spans],
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

    def node(self, *key: str) -> int:
        """The node of (core, pipe, instruction)."""
        core, pipe, name = key
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


FORMAT = Format("simulator-pipes", "instruction traces of the Ascend operator simulator", recognise, read)

"""Profiles of TensorFlow's tfprof: ProfileProto files, whatever their name.

The file is a sequence of map entries, one per node, which is read in blocks: memory does not grow with what is decoded.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from stepscope.errors import DamagedSource
from stepscope.model.columns import Header
from stepscope.model.diagnostic import Diagnostic
from stepscope.model.profile import Profile
from stepscope.sources.content import content, release
from stepscope.sources.format import Format, Imported, NamedRecord, Progress
from stepscope.sources.tfprof.draft import Draft, FrameRows, Ints
from stepscope.sources.tfprof.layout import lay_out
from stepscope.sources.tfprof.nodes import NodeReader
from stepscope.sources.wire import LENGTH, VARINT, MalformedWire, decode, fields, padded, varint

NODES, HAS_TRACE, STEPS, STRINGS = 1, 2, 3, 4
_NAMELESS = ("", "profile", "raw", "graph", "run_metadata", "run_meta", "op_log", "tfprof_log")
_BLOCK_NODES = 1 << 12
_BLOCK_BYTES = 16 << 20
_NODE_FIELDS = {
    **dict.fromkeys((1, 2, 3, 4, 5, 6, 7, 9, 10, 11, 12, 14, 15, 16), LENGTH),
    **dict.fromkeys((8, 13), VARINT),
}
_TELLING = {5, 9, 10, 12, 15}
"""Op types, op, trace, executions and output shapes: a node that ran or is of a graph has some."""


def recognise(path: Path, head: bytes) -> bool:
    """Whether the content starts with an entry of ProfileProto.nodes: a node id and a node with more than a name."""
    try:
        entry = next(fields(head, 0, 1 << 62))
    except (MalformedWire, StopIteration, IndexError):
        return False
    if (entry.number, entry.wire) != (NODES, LENGTH):
        return False
    return _is_entry(head, entry.value, min(entry.end, len(head)))


def _is_entry(head: bytes, start: int, stop: int) -> bool:
    seen: dict[int, Any] = {}
    try:
        for field in fields(head, start, stop):
            seen[field.number] = field
    except MalformedWire as error:
        if not error.cut_off or stop < len(head):
            return False
    if 1 not in seen or seen[1].wire != VARINT:
        return False
    if 2 in seen:
        node_start, node_end = seen[2].value, seen[2].end
    else:
        node_start, node_end = _cut_node(head, stop)
    return _is_node(head, node_start, node_end)


def _cut_node(head: bytes, stop: int) -> tuple[int, int]:
    at = head.find(b"\x12", 0, 32)
    if at < 0:
        return 0, 0
    return varint(head, at + 1, stop)[1], stop


def _is_node(head: bytes, start: int, stop: int) -> bool:
    numbers = []
    try:
        for field in fields(head, start, stop):
            wanted = _NODE_FIELDS.get(field.number)
            if wanted != field.wire and (field.number, field.wire) != (4, VARINT):
                return False
            numbers.append(field.number)
    except MalformedWire as error:
        if not error.cut_off or stop < len(head):
            return False
    return 1 in numbers and (not _TELLING.isdisjoint(numbers) or stop == len(head))


def read(path: Path, progress: Progress | None = None) -> Imported:
    """Reads a ProfileProto file.

    Raises:
        DamagedSource: The file holds no node, or refers to nodes or strings that are not in it.
        LimitExceeded: The decompressed file is larger than 4 GiB.
    """
    with content(path) as data:
        profile = read_profile(data, path.name, progress)
    return imported(profile, path)


def imported(profile: Profile, path: Path) -> Imported:
    """The profile under the last step that it is of."""
    last = int(profile.steps.id[-1]) if len(profile.steps) else None
    return Imported((NamedRecord("profile", profile, last),), run_of(path))


def run_of(path: Path) -> str:
    """The run name of a file or folder: its own name without endings, or its folder's where that says nothing."""
    name = path.name.split(".", 1)[0]
    return path.resolve().parent.name if name.lower() in _NAMELESS else name


def read_profile(data: Any, source: str, progress: Progress | None = None) -> Profile:
    """Reads a ProfileProto from bytes or a memory map. Raises what `read` raises; `source` is its name there."""
    draft = Draft()
    tail = _Tail()
    reader = NodeReader(draft, source)
    for start, stop, spans in _blocks(data, tail, draft, source):
        reader.add(data[start:stop], spans[:, 0] - start, spans[:, 1] - start)
        release(data, stop)
        if progress:
            progress(stop, len(data))
    if not reader.count:
        raise DamagedSource("no node in a tfprof profile", where=source, remedy="Write the profile again")
    draft.steps.update(tail.steps)
    _add_frames(draft, tail, source)
    return lay_out(draft, Header(source=source, producer="tfprof"))


class _Tail:
    """What a ProfileProto holds beside its nodes."""

    def __init__(self) -> None:
        self.steps: set[int] = set()
        self.texts: dict[int, bytes] = {}

    def take(self, data: Any, number: int, wire: int, value: int, end: int) -> None:
        if number == STRINGS and wire == LENGTH:
            entry = {f.number: f for f in fields(data, value, end)}
            key = entry[1].value if 1 in entry else 0
            self.texts[_signed(key)] = data[entry[2].value : entry[2].end] if 2 in entry else b""
        elif number == STEPS and wire == VARINT:
            self.steps.add(_signed(value))
        elif number == STEPS and wire == LENGTH:
            while value < end:
                step, value = varint(data, value, end)
                self.steps.add(_signed(step))


def _signed(value: int) -> int:
    return value - (1 << 64) if value >> 63 else value


def _blocks(data: Any, tail: _Tail, draft: Draft, source: str) -> Iterator[tuple[int, int, Ints]]:
    """Blocks of the file with the spans of the node entries in them; the rest goes to the tail."""
    spans: list[tuple[int, int]] = []
    try:
        for field in fields(data, 0, len(data)):
            if field.number != NODES or field.wire != LENGTH:
                tail.take(data, field.number, field.wire, field.value, field.end)
                continue
            spans.append((field.value, field.end))
            if len(spans) == _BLOCK_NODES or field.end - spans[0][0] > _BLOCK_BYTES:
                yield spans[0][0], field.end, np.array(spans, np.int64)
                spans = []
    except MalformedWire as error:
        draft.complete = False
        what = "the file ends or is damaged here; what comes before is shown"
        draft.losses.append(
            Diagnostic(f"{source}, byte {error.offset}", what, len(data) - error.offset, "Copy the file again")
        )
    if spans:
        yield spans[0][0], spans[-1][1], np.array(spans, np.int64)


def _add_frames(draft: Draft, tail: _Tail, source: str) -> None:
    """Adds the frames of the distinct call stacks."""
    stacks = draft.stacks.texts()
    end = np.cumsum([len(s) for s in stacks], dtype=np.int64) if stacks else np.empty(0, np.int64)
    start = np.concatenate([[0], end[:-1]]) if stacks else end
    traces = decode(padded(b"".join(stacks)), start, end).sub(1)
    file, function = traces.ints(6), traces.ints(7)
    ids = np.unique(np.concatenate([file, function]))
    unknown = [i for i in ids.tolist() if i not in tail.texts]
    if unknown and draft.complete:
        raise DamagedSource(
            f"code traces name {len(unknown)} files or functions that are not in id_to_string, such as id {unknown[0]}",
            where=source,
            remedy="Write the profile again, together with its op log",
        )
    if unknown:
        draft.losses.append(Diagnostic(source, "code traces whose names stand behind the end", len(stacks)))
        return
    text = np.array([draft.strings(tail.texts[i]) for i in ids.tolist()], np.int64)
    files, functions = text[np.searchsorted(ids, file)], text[np.searchsorted(ids, function)]
    draft.add(FrameRows(traces.owner, files, traces.ints(2), functions, traces.ints(5)))


FORMAT = Format("tfprof", "TensorFlow profile of tfprof (ProfileProto)", recognise, read)

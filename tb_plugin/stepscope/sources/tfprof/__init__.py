"""Profiles of TensorFlow's tfprof: ProfileProto files, whatever their name.

The file is a sequence of map entries, one per node, which is read in blocks: memory does not grow with what is decoded.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from stepscope.errors import DamagedSource
from stepscope.model.arrays import Ints
from stepscope.model.columns import Header
from stepscope.model.diagnostic import Diagnostic
from stepscope.model.profile import Profile
from stepscope.model.wire import (
    DELIMITED,
    NO_END,
    VARINT,
    Field,
    WireError,
    fields,
    key,
    named_fields,
    signed,
    varint_at,
)
from stepscope.sources.content import content, release
from stepscope.sources.format import Format, Imported, NamedRecord, Progress
from stepscope.sources.tfprof.draft import Draft, FrameRows
from stepscope.sources.tfprof.layout import lay_out
from stepscope.sources.tfprof.nodes import NodeReader
from stepscope.sources.wire import Messages, decode

NODES, HAS_TRACE, STEPS, STRINGS = 1, 2, 3, 4
_NAMELESS = ("", "profile", "raw", "graph", "run_metadata", "run_meta", "op_log", "tfprof_log")
_BLOCK_NODES = 1 << 12
_BLOCK_BYTES = 16 << 20
_NODES_KEY = key(NODES, DELIMITED)
_LONGEST_ENTRY_HEAD = 32
_NODE_FIELDS = {
    **dict.fromkeys((1, 2, 3, 4, 5, 6, 7, 9, 10, 11, 12, 14, 15, 16), DELIMITED),
    **dict.fromkeys((8, 13), VARINT),
}
_TELLING = {5, 9, 10, 12, 15}
"""Op types, op, trace, executions and output shapes: a node that ran or is of a graph has some."""


def recognise(path: Path, head: bytes) -> bool:
    """Whether the content starts with an entry of ProfileProto.nodes.

    An entry is a node id and a node with more than a name.
    """
    try:
        entry = next(named_fields(head, 0, NO_END))
    except (WireError, StopIteration):
        return False
    if (entry.number, entry.wire_type) != (NODES, DELIMITED):
        return False
    return _is_entry(head, entry.value, min(entry.end, len(head)))


def _is_entry(head: bytes, start: int, stop: int) -> bool:
    seen: dict[int, Field] = {}
    try:
        for field in named_fields(head, start, stop):
            seen[field.number] = field
    except WireError as error:
        if not error.is_cut_off or stop < len(head):
            return False
    if 1 not in seen or seen[1].wire_type != VARINT:
        return False
    if 2 in seen:
        return _is_node(head, seen[2].value, seen[2].end)
    return _is_node(head, *_cut_node(head, stop))


def _cut_node(head: bytes, stop: int) -> tuple[int, int]:
    """Where the node of an entry starts and ends that reaches beyond the head."""
    at = head.find(b"\x12", 0, _LONGEST_ENTRY_HEAD)
    if at < 0:
        return 0, 0
    try:
        return varint_at(head, at + 1)[1], stop
    except (IndexError, WireError):
        return 0, 0


def _is_node(head: bytes, start: int, stop: int) -> bool:
    numbers: list[int] = []
    try:
        for field in named_fields(head, start, stop):
            wire_type = _NODE_FIELDS.get(field.number)
            is_shape = (field.number, field.wire_type) == (4, VARINT)
            if wire_type != field.wire_type and not is_shape:
                return False
            numbers.append(field.number)
    except WireError as error:
        if not error.is_cut_off or stop < len(head):
            return False
    is_telling = not _TELLING.isdisjoint(numbers) or stop == len(head)
    return 1 in numbers and is_telling


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
        raise DamagedSource(
            "no node in a tfprof profile", where=source, remedy="Write the profile again"
        )
    draft.steps.update(tail.steps)
    _add_frames(draft, tail, source)
    return lay_out(draft, Header(source=source, producer="tfprof"))


class _Tail:
    """The fields of a ProfileProto beside its nodes."""

    def __init__(self) -> None:
        self.steps: set[int] = set()
        self.texts: dict[int, bytes] = {}

    def take(self, data: Any, field: Field) -> None:
        """Keeps a field that is a step or a string."""
        if field.number == STRINGS and field.wire_type == DELIMITED:
            self._take_text(data, field)
        elif field.number == STEPS and field.wire_type == VARINT:
            self.steps.add(signed(field.value))
        elif field.number == STEPS and field.wire_type == DELIMITED:
            position = field.value
            while position < field.end:
                step, position = varint_at(data, position)
                self.steps.add(signed(step))

    def _take_text(self, data: Any, field: Field) -> None:
        entry = {inner.number: inner for inner in named_fields(data, field.value, field.end)}
        key = signed(entry[1].value) if 1 in entry else 0
        text = entry.get(2)
        self.texts[key] = b"" if text is None else data[text.value : text.end]


def _blocks(data: Any, tail: _Tail, draft: Draft, source: str) -> Iterator[tuple[int, int, Ints]]:
    """Blocks of the file with the spans of their node entries; other fields go to the tail."""
    spans: list[tuple[int, int]] = []
    try:
        for tag, value, after in fields(data, 0, len(data)):
            if tag != _NODES_KEY:
                end = after if tag & 7 == DELIMITED else -1
                tail.take(data, Field(tag >> 3, tag & 7, value, end, after))
                continue
            spans.append((value, after))
            if len(spans) == _BLOCK_NODES or after - spans[0][0] > _BLOCK_BYTES:
                yield spans[0][0], after, np.array(spans, np.int64)
                spans = []
    except WireError as error:
        draft.complete = False
        draft.losses.append(
            Diagnostic(
                where=f"{source}, byte {error.offset}",
                what="the file ends or is damaged here; StepScope reads the nodes before",
                count=len(data) - error.offset,
                remedy="Copy the file again",
            )
        )
    if spans:
        yield spans[0][0], spans[-1][1], np.array(spans, np.int64)


def _add_frames(draft: Draft, tail: _Tail, source: str) -> None:
    """Adds the frames of the distinct call stacks."""
    stacks = draft.stacks.texts()
    traces = decode(Messages.of(stacks)).sub(1)
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
        draft.losses.append(
            Diagnostic(source, "code traces whose names stand behind the end", len(stacks))
        )
        return
    text = np.array([draft.strings(tail.texts[i]) for i in ids.tolist()], np.int64)
    files, functions = text[np.searchsorted(ids, file)], text[np.searchsorted(ids, function)]
    draft.add(FrameRows(traces.owner, files, traces.ints(2), functions, traces.ints(5)))


FORMAT = Format("tfprof", "TensorFlow profile of tfprof (ProfileProto)", recognise, read)

"""The raw data of tfprof: GraphDef, RunMetadata and OpLogProto files, one of them or a folder with several.

Files are told by content. A `manifest.json` in a folder gives the calls in order; without one the graphs come first,
then the op logs, then the runs, whose step is the number at the end of the file's name.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Literal

from google.protobuf import text_format
from google.protobuf.message import DecodeError, Message
from tensorboard.compat.proto import config_pb2, graph_pb2, tfprof_log_pb2

from stepscope.errors import DamagedSource, SourceError
from stepscope.model.columns import Header
from stepscope.model.diagnostic import Diagnostic
from stepscope.model.wire import DELIMITED, Field, WireError, named_fields, varint_at
from stepscope.sources.content import content, head
from stepscope.sources.format import Format, Imported, Progress
from stepscope.sources.tfprof import imported
from stepscope.sources.tfprof.replay import Replay

Kind = Literal["graph", "op_log", "run"]
_MESSAGES: dict[Kind, Callable[[], Message]] = {
    "graph": graph_pb2.GraphDef,
    "op_log": tfprof_log_pb2.OpLogProto,
    "run": config_pb2.RunMetadata,
}
_OP = re.compile(rb"[A-Z_][A-Za-z0-9_>.]*")
_TEXT_GRAPH = re.compile(rb"\s*(#.*\s*)*(node|versions|library)\s*:?\s*\{")
_CALL_FILES: tuple[tuple[str, Kind], ...] = (
    ("graph", "graph"),
    ("run_meta", "run"),
    ("op_log", "op_log"),
)
_PARTITION_GRAPHS, _FUNCTION_GRAPHS = 3, 4
_MAX_FILES = 10_000
_MAX_LOOKED = 1000
_MANIFEST = "manifest.json"


@dataclass(frozen=True)
class _Part:
    """A file to be replayed."""

    path: Path
    kind: Kind
    step: int = 0


def recognise(path: Path, head: bytes) -> bool:
    """Whether a file is one of the three, or a folder holds a graph or a run directly."""
    return _holds_raw(path) if path.is_dir() else kind_of(head) is not None


def _holds_raw(folder: Path) -> bool:
    manifest = folder / _MANIFEST
    if manifest.is_file() and any(part.kind != "op_log" for part in _listed(manifest)):
        return True
    return any(
        _kind_of_file(file) in ("graph", "run") for file in islice(_files(folder), _MAX_LOOKED)
    )


def _files(folder: Path) -> Iterator[Path]:
    return (file for file in sorted(folder.iterdir()) if file.is_file())


def _kind_of_file(file: Path) -> Kind | None:
    """Which of the three a file in a folder is; None also where it cannot be opened."""
    try:
        return kind_of(head(file))
    except SourceError:
        return None


def kind_of(start: bytes) -> Kind | None:
    """Which of the three a file is, told by its first bytes; None when it is none."""
    if _TEXT_GRAPH.match(start):
        return "graph"
    outer = _enter(start, 0, len(start))
    if outer is not None and outer.value == outer.end:
        outer = _enter(
            start, outer.end, len(start)
        )  # A run without step_stats starts with an empty field.
    if outer is None:
        return None
    if outer.number in (_PARTITION_GRAPHS, _FUNCTION_GRAPHS):
        return "run" if _holds_graph(start, outer) else None
    return _kind_of_first(start, outer) if outer.number == 1 else None


def _kind_of_first(start: bytes, outer: Field) -> Kind | None:
    found = _fields_in_sight(start, outer)
    name = found.get(1)
    if name is None or name.wire_type != DELIMITED:
        return None
    if _is_node(start, found):
        return "graph"
    if _is_device_stats(start, name):
        return "run"
    return "op_log" if _is_log_entry(start, found) else None


def _is_node(data: bytes, found: dict[int, Field]) -> bool:
    op = found.get(2)
    return (
        op is not None
        and op.wire_type == DELIMITED
        and _OP.fullmatch(data, op.value, op.end) is not None
    )


def _holds_graph(data: bytes, outer: Field) -> bool:
    """Whether a message of a run is, or starts with, a graph."""
    graph = _enter(data, outer.value, outer.end) if outer.number == _FUNCTION_GRAPHS else outer
    node = _enter(data, graph.value, graph.end) if graph is not None else None
    return node is not None and node.number == 1 and _is_node(data, _fields_in_sight(data, node))


def _enter(data: bytes, at: int, stop: int) -> Field | None:
    """The field at a position if it has a length. Its end is cut to `stop`."""
    try:
        key, at = varint_at(data, at)
        size, value = varint_at(data, at)
    except (IndexError, WireError):
        return None
    has_content = key & 7 == DELIMITED and key >> 3
    if not has_content or value > stop:
        return None
    end = min(value + size, stop)
    return Field(key >> 3, DELIMITED, value, end, end)


def _fields_in_sight(data: bytes, outer: Field) -> dict[int, Field]:
    """The first of each of a message's fields, as far as the data goes."""
    found: dict[int, Field] = {}
    at = outer.value
    try:
        for one in named_fields(data, outer.value, outer.end):
            found.setdefault(one.number, one)
            at = one.after
    except WireError:
        cut = _enter(data, at, outer.end)
        if cut is not None and cut.end == len(data):
            found.setdefault(cut.number, cut)
        elif outer.end < len(data):
            return {}
    return found


def _is_device_stats(data: bytes, stats: Field) -> bool:
    """Whether a message starts with the name of a device."""
    device = _enter(data, stats.value, stats.end)
    return (
        device is not None and device.number == 1 and data[device.value : device.value + 1] == b"/"
    )


def _is_log_entry(data: bytes, found: dict[int, Field]) -> bool:
    wires = {1: 2, 2: 0, 3: 2, 4: 2}
    if any(wires.get(number) != one.wire_type for number, one in found.items()):
        return False
    name = data[found[1].value : found[1].end]
    return len(found) > 1 and name.isascii() and name.decode().isprintable()


def read(path: Path, progress: Progress | None = None) -> Imported:
    """Reads a file, or all graphs, runs and op logs of a folder.

    Raises:
        DamagedSource: A file cannot be parsed, an input names a node that is in no graph, or there is no node.
    """
    parts = (
        _parts(path)
        if path.is_dir()
        else [_Part(path, _sure(kind_of(head(path)), path), _step_of(path, 0))]
    )
    total = sum(part.path.stat().st_size for part in parts)
    replay = Replay()
    losses: list[Diagnostic] = []
    done = 0
    for part in parts:
        _replay(replay, part, losses)
        done += part.path.stat().st_size
        if progress:
            progress(done, total)
    header = Header(source=path.name, producer="tfprof", losses=tuple(losses))
    return imported(replay.profile(header), path)


def _sure(kind: Kind | None, path: Path) -> Kind:
    if kind is None:
        raise DamagedSource(
            "no GraphDef, RunMetadata or OpLogProto", where=str(path), remedy="Check the path"
        )
    return kind


def _replay(replay: Replay, part: _Part, losses: list[Diagnostic]) -> None:
    try:
        message = _parse(part)
    except DamagedSource as error:
        losses.append(Diagnostic(error.where, error.found, 1, error.remedy))
        return
    if isinstance(message, graph_pb2.GraphDef):
        replay.add_graph(message)
    elif isinstance(message, config_pb2.RunMetadata):
        replay.add_run(part.step, message)
    elif isinstance(message, tfprof_log_pb2.OpLogProto):
        replay.add_op_log(message)


def _parse(part: _Part) -> Message:
    message = _MESSAGES[part.kind]()
    try:
        with content(part.path) as data:
            if _TEXT_GRAPH.match(data[: 1 << 12]):
                text_format.Parse(data[:], message, allow_unknown_field=True)
            else:
                message.ParseFromString(data[:])
    except (DecodeError, text_format.ParseError) as error:
        raise DamagedSource(
            f"no whole {type(message).__name__} ({error})",
            where=str(part.path),
            remedy="Write or copy the file again",
        ) from error
    return message


def _parts(folder: Path) -> list[_Part]:
    """The files of a folder in the order in which they are replayed."""
    manifest = folder / _MANIFEST
    if manifest.is_file():
        listed = _listed(manifest)
        if listed:
            return listed
    found = [(file, _kind_of_file(file)) for file in islice(_files(folder), _MAX_FILES)]
    runs = sorted(
        (file for file, kind in found if kind == "run"), key=lambda f: (_step_of(f, -1), f.name)
    )
    parts = [
        _Part(file, kind)
        for wanted in ("graph", "op_log")
        for file, kind in found
        if kind == wanted
    ]
    return parts + [_Part(file, "run", _step_of(file, place)) for place, file in enumerate(runs)]


def _step_of(file: Path, default: int) -> int:
    """The number at the end of a file's name without its endings, such as 20 of `run_meta_20.pb.gz`."""
    digits = re.search(r"(\d{1,18})$", file.name.split(".", 1)[0])
    return int(digits.group(1)) if digits else default


def _listed(manifest: Path) -> list[_Part]:
    """The calls of a manifest: graph, run and op log of each; none where it is no such manifest."""
    try:
        calls = json.loads(manifest.read_bytes())["calls"]
        return list(_of_calls(manifest.parent, calls))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return []


def _of_calls(folder: Path, calls: Iterable[dict[str, Any]]) -> Iterable[_Part]:
    seen: set[Path] = set()
    for call in calls:
        step = int(call.get("step", 0))
        for key, kind in _CALL_FILES:
            name = call.get(key)
            path = folder / Path(name).name if name else None
            if path is None or (path in seen and kind != "run") or not path.is_file():
                continue
            seen.add(path)
            yield _Part(path, kind, step)


FORMAT = Format(
    "tfprof-raw",
    "TensorFlow GraphDef, RunMetadata and OpLogProto files, or a folder of them",
    recognise,
    read,
)

"""Timing matrices with the JSON that describes them: a folder with case.json, the JSON, or a matrix.

The matrix is a .npy file, a .pt file of one tensor, or raw binary whose shape and dtype the JSON
gives. docs/incore.md describes the JSON.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from tokenize import TokenError
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stepscope.errors import DamagedSource, NotFound, RecordError, SourceError, UnsupportedSource
from stepscope.model.columns import Header
from stepscope.model.diagnostic import Diagnostic
from stepscope.model.incore import InCore
from stepscope.model.incore_link import envelopes, with_capture
from stepscope.model.incore_slots import cores_of
from stepscope.model.incore_timing import from_timing
from stepscope.model.incore_values import exact
from stepscope.sources.content import head as read_head
from stepscope.sources.format import Format, Imported, NamedRecord, Progress
from stepscope.sources.incore.schema import KEYS, checked
from stepscope.sources.incore.torch_tensor import is_tensor_file, load_tensor
from stepscope.sources.swimlane import read_capture
from stepscope.sources.swimlane.json import load
from stepscope.sources.swimlane.profile import profile_of

_CASE = "case.json"
_NUMPY = b"\x93NUMPY"
_INPUT = re.compile(rb'"input"\s*:\s*\{')
_CONTENT = re.compile(rb'"(timing|pairs|split_runs|read_pairs|instrumented_total_cycles)"\s*:')
_RUNS = re.compile(rb'"(pairs|split_runs)"\s*:\s*\[\s*\{|"read_pairs"\s*:\s*(\[\s*\[|"[^"]*\.npy")')
_MEANING = re.compile(rb'"(columns|boundaries|participating)"\s*:')
_OF_FILES = frozenset({"timing", "shape", "dtype", "step", "name"})
# numpy reads the header as Python, so a damaged one fails in any of these ways.
_BROKEN_HEADER = (
    EOFError,
    LookupError,
    MemoryError,
    OSError,
    OverflowError,
    RecursionError,
    SyntaxError,
    TokenError,
    TypeError,
    ValueError,
    Warning,
)
_REMEDY = (
    f"Put a JSON beside it, of the same name with .json or named {_CASE}; docs/incore.md shows one"
)


def recognise(path: Path, head: bytes) -> bool:
    """Whether it is a folder with a case, the JSON of one, or a matrix in a .npy or .pt file."""
    if path.is_dir():
        case = path / _CASE
        return case.is_file() and _is_case(read_head(case))
    return head.startswith(_NUMPY) or is_tensor_file(head) or _is_case(head)


def read(path: Path, progress: Progress | None = None) -> Imported:
    """Reads a case.

    Raises:
        SourceError: A file is missing, damaged, or larger or smaller than the JSON says.
        RecordError: The JSON does not describe the matrix.
    """
    described, matrix = _find(path)
    document = load(described)
    given = document.get("input", document)
    if not isinstance(given, Mapping):
        raise DamagedSource(
            "input is no object",
            where=str(described),
            remedy="Write it as docs/incore.md shows",
        )
    case = checked(given, str(described))
    losses = []
    for key in sorted(set(given) - KEYS):
        what = f"{key} is no key that is known"
        losses.append(Diagnostic(described.name, what, 1, "Check its spelling"))
    record, capture = _record(case, described, matrix, losses)
    file_name = path.stem
    if path.is_dir():
        file_name = path.name
    name = str(document.get("case") or case.get("name") or file_name)
    step = case.get("step")
    records = [NamedRecord(name, record, step)]
    if capture is not None:
        records.append(NamedRecord(name, profile_of(capture), step))
    if progress:
        progress(1, 1)
    return Imported(tuple(records), name)


def _is_case(head: bytes) -> bool:
    """Whether a JSON holds a case, by the keys near its start."""
    if not head.lstrip().startswith(b"{") or b'"traceEvents"' in head:
        return False
    if _RUNS.search(head):
        return True
    return _CONTENT.search(head) is not None and bool(_INPUT.search(head) or _MEANING.search(head))


def _find(path: Path) -> tuple[Path, Path | None]:
    """The JSON of a case, and the matrix where the path is one."""
    if path.is_dir():
        return path / _CASE, None
    if read_head(path).lstrip().startswith(b"{"):
        return path, None
    beside = (path.with_suffix(".json"), path.with_name(f"{path.name}.json"), path.with_name(_CASE))
    found = next((candidate for candidate in beside if candidate.is_file()), None)
    if found is None:
        raise UnsupportedSource(
            "matrix or checkpoint without a JSON that describes its columns",
            where=str(path),
            remedy=f"{_REMEDY}. Checkpoints are unsupported",
        )
    return found, path


def _record(
    given: dict[str, Any],
    described: Path,
    matrix: Path | None,
    losses: list[Diagnostic],
) -> tuple[InCore, InCore | None]:
    """The record of a case, and the capture that its task's bounds come from. Adds to the losses."""
    folder = described.parent
    where = str(described)
    arguments = {key: value for key, value in given.items() if key not in _OF_FILES}
    losses += _check_slot_map(arguments)
    if matrix is None and given.get("timing"):
        matrix = _neighbour(folder, given["timing"], where)
    timing = None
    if matrix is not None:
        timing = _array(matrix, given)
    if isinstance(given.get("read_pairs"), str):
        arguments["read_pairs"] = _array(_neighbour(folder, given["read_pairs"], where), {})
    capture = None
    if "records" in given.get("l2", {}):
        capture = read_capture(_neighbour(folder, given["l2"]["records"], where))
        arguments["l2"], bounds_losses = _bounds(
            given["l2"],
            capture=capture,
            given=given,
            where=where,
            timing=timing,
        )
        losses += bounds_losses
    if timing is not None and not any(
        given.get(check) for check in ("generation", "magic", "slot_id")
    ):
        loss = Diagnostic(
            where="generation",
            what=(
                "neither generation, magic nor slot_id is described: stale rows cannot be told from fresh ones"
            ),
            count=0,
            remedy="Stamp a launch generation into each row",
        )
        losses.append(loss)
    header = Header(producer="in-core matrix", source=described.name, losses=tuple(losses))
    record = from_timing(timing, header=header, **arguments)
    if capture is not None:
        record = with_capture(record, capture)
    return record, capture


def _check_slot_map(arguments: dict[str, Any]) -> list[Diagnostic]:
    """Removes a broken slot map: it only names cores, and no figure depends on it."""
    try:
        cores_of(arguments.get("slot_map") or {}, 0)
    except (RecordError, AttributeError) as error:
        del arguments["slot_map"]
        return [
            Diagnostic(
                "slot_map", f"cannot be used ({error})", 1, "Slots are shown by their number"
            )
        ]
    return []


def _bounds(
    l2: Mapping[str, Any],
    *,
    capture: InCore,
    given: Mapping[str, Any],
    where: str,
    timing: NDArray[Any] | None,
) -> tuple[dict[str, Any], list[Diagnostic]]:
    """M0 and M1 of a task from its capture: the first start and the last end over its rows."""
    if l2.get("bounds", "envelope") != "envelope":
        raise UnsupportedSource(f"l2 bounds {l2['bounds']!r}", where=where, remedy='Use "envelope"')
    task = exact(l2.get("task_id"), "l2.task_id", below=1 << 64)
    known: Mapping[int, tuple[int, int]] = {}
    if task >= 0:
        known = envelopes(capture, task)
    if not known:
        what = f"task {task} is not in {l2['records']}"
        return {}, [Diagnostic("l2.task_id", what, 1, "Check the task id")]
    bounds_of_task, loss = _bounds_of_epoch(known, l2, task, timing)
    if bounds_of_task is None:
        return {}, loss
    first, last = bounds_of_task
    clock = given.get("clock_freq_hz")
    unit = capture.unit
    if clock and capture.clock_freq_hz not in (0, clock):
        unit = f"cycles of {capture.clock_freq_hz} Hz"
    bounds = {"unit": unit, "M0": first, "M1": last, "epoch": l2.get("epoch", "")}
    return {**bounds, "task_id": str(task), "source": str(l2["records"])}, loss


def _bounds_of_epoch(
    known: Mapping[int, tuple[int, int]],
    l2: Mapping[str, Any],
    task: int,
    timing: NDArray[Any] | None,
) -> tuple[tuple[int, int] | None, list[Diagnostic]]:
    """The bounds of the task in one launch: the stated one, the only one, or the one that holds the stamps."""
    spans = ", ".join(f"{epoch} ({first} to {last})" for epoch, (first, last) in known.items())
    if "run_epoch" in l2:
        chosen = exact(l2["run_epoch"], "l2.run_epoch")
        if chosen in known:
            return known[chosen], []
        what = f"{chosen} does not run task {task}, which runs in run epochs {spans}"
        return None, [Diagnostic("l2.run_epoch", what, 1, "Give one of these as run_epoch")]
    if len(known) == 1:
        return next(iter(known.values())), []
    holding = [epoch for epoch, bounds in known.items() if _holds(bounds, timing)]
    if len(holding) == 1:
        what = (
            f"is missing: of run epochs {spans}, only {holding[0]} holds the stamps and is linked"
        )
        return known[holding[0]], [
            Diagnostic("l2.run_epoch", what, 0, "Give run_epoch to choose another")
        ]
    what = f"is missing: task {task} runs in run epochs {spans}"
    return None, [Diagnostic("l2.run_epoch", what, 1, "Give one of these as run_epoch in l2")]


def _holds(bounds: tuple[int, int], timing: NDArray[Any] | None) -> bool:
    """Whether the largest stamp of the matrix, and so its last boundary, lies within a task's bounds."""
    if timing is None or not timing.size:
        return False
    first, last = bounds
    return first <= int(timing.max()) <= last


def _neighbour(folder: Path, name: Any, where: str) -> Path:
    """A file that the JSON names; it must lie in the JSON's folder or below."""
    path = folder / str(name)
    if not path.resolve().is_relative_to(folder.resolve()):
        raise SourceError(
            f"a file outside its folder: {name!r:.80}",
            where=where,
            remedy="Put it beside the JSON",
        )
    if not path.is_file():
        raise NotFound(f"{name!r:.80} is not there", where=where, remedy="Put it beside the JSON")
    return path


def _array(path: Path, given: Mapping[str, Any]) -> NDArray[Any]:
    start = read_head(path)
    shape = tuple(exact(n, "shape") for n in given.get("shape", ()))
    if start.startswith(_NUMPY):
        array = _numpy_file(path)
    elif is_tensor_file(start):
        array = load_tensor(path)
    else:
        array = _raw(path, shape, str(given.get("dtype", "int64")))
    if shape and array.shape != shape:
        raise DamagedSource(
            f"an array of shape {array.shape}, where {shape} is described",
            where=str(path),
            remedy="Correct the shape, or save the matrix again",
        )
    return array


def _numpy_file(path: Path) -> NDArray[Any]:
    try:
        array: NDArray[Any] = np.load(path, allow_pickle=False)
    except _BROKEN_HEADER as error:
        raise DamagedSource(
            f"a broken .npy file ({error})",
            where=str(path),
            remedy="Save the matrix again",
        ) from error
    return array


def _raw(path: Path, shape: tuple[int, ...], dtype: str) -> NDArray[Any]:
    """Raw little-endian binary of the described shape."""
    if not shape:
        raise UnsupportedSource(
            "raw binary without a shape", where=str(path), remedy="Give shape and dtype in the JSON"
        )
    try:
        kind = np.dtype(dtype).newbyteorder("<")
    except TypeError as error:
        raise UnsupportedSource(
            f"dtype {dtype!r:.40}", where=str(path), remedy="Use int64 or uint64"
        ) from error
    data = path.read_bytes()
    # As Python's integers: a damaged shape may exceed 64 bits.
    wanted = int(np.prod(shape, dtype=object)) * kind.itemsize
    if kind.hasobject or len(data) != wanted:
        raise DamagedSource(
            f"{len(data)} bytes, where {shape} of {kind} take {wanted}",
            where=str(path),
            remedy="Correct shape and dtype, or copy the whole buffer",
        )
    return np.frombuffer(data, kind).reshape(shape)


FORMAT = Format(
    "incore",
    "in-core timing matrices of .npy, .pt or raw binary, with their JSON",
    recognise,
    read,
)

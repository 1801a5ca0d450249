"""What the two readers of tfprof data gather, and how it becomes a profile record.

Readers add rows in any number of parts. Until the profile is laid out, times are absolute microseconds, steps are the
training steps' numbers, and inputs name their source by the key that the file gives it.
"""

from __future__ import annotations

import dataclasses
from array import array
from collections.abc import Iterable
from dataclasses import dataclass
from math import prod
from typing import Any, TypeVar

import numpy as np

from stepscope.model.arrays import Ints
from stepscope.model.columns import Strings
from stepscope.model.diagnostic import Diagnostic
from stepscope.model.profile import Dims, LaneKind, Lanes, Shapes

MAX_INT64 = (1 << 63) - 1

R = TypeVar("R", bound="Rows")


@dataclass(frozen=True, eq=False)
class Rows:
    """Integer columns of one length."""

    @classmethod
    def of(cls: type[R], rows: Iterable[tuple[int, ...]]) -> R:
        """Makes columns of tuples in the order of the fields."""
        width = len(dataclasses.fields(cls))
        table = np.array(list(rows), np.int64).reshape(-1, width)
        return cls(*table.T)

    def take(self: R, rows: Any) -> R:
        """The rows of a mask or an index."""
        return type(self)(*(getattr(self, f.name)[rows] for f in dataclasses.fields(self)))


@dataclass(frozen=True, eq=False)
class NodeRows(Rows):
    """Nodes. Texts are interned; -1 where there is no device, shape or stack."""

    key: Ints
    name: Ints
    op: Ints
    device: Ints
    float_ops: Ints
    shape: Ints
    stack: Ints


@dataclass(frozen=True, eq=False)
class TypeRows(Rows):
    """Types of nodes, as listed."""

    node: Ints
    type: Ints


@dataclass(frozen=True, eq=False)
class InputRows(Rows):
    """Inputs of nodes: `source` is a node's key, `slot` is -1 when unknown."""

    node: Ints
    place: Ints
    source: Ints
    slot: Ints
    kind: Ints


@dataclass(frozen=True, eq=False)
class OutputRows(Rows):
    """What is known of an output slot: an interned shape or bytes, -1 for not known."""

    node: Ints
    slot: Ints
    shape: Ints
    bytes: Ints


@dataclass(frozen=True, eq=False)
class AttributeRows(Rows):
    """Attributes of nodes, interned."""

    node: Ints
    key: Ints
    value: Ints


@dataclass(frozen=True, eq=False)
class StepRows(Rows):
    """What a node cost in a step. A start of 0 is unknown."""

    node: Ints
    step: Ints
    run_count: Ints
    start: Ints
    end: Ints
    host: Ints
    accelerator: Ints
    requested: Ints
    peak: Ints
    residual: Ints
    output: Ints
    in_use: Ints
    uncounted_host: Ints
    uncounted_accelerator: Ints


@dataclass(frozen=True, eq=False)
class ExecutionRows(Rows):
    """Executions on lanes."""

    node: Ints
    step: Ints
    lane: Ints
    start: Ints
    duration: Ints


@dataclass(frozen=True, eq=False)
class MemoryRows(Rows):
    """Allocator events: a change, or a total (-1: not known) at a time."""

    node: Ints
    step: Ints
    time: Ints
    delta: Ints
    total: Ints


@dataclass(frozen=True, eq=False)
class FrameRows(Rows):
    """Frames of call stacks, outermost first; texts are interned."""

    stack: Ints
    file: Ints
    line: Ints
    function: Ints
    first_line: Ints


K = TypeVar("K")


class Numbers(dict[K, int]):
    """Numbers its keys when they are first looked up: faster than `setdefault` each time."""

    def __missing__(self, key: K) -> int:
        number = self[key] = len(self)
        return number


class Interner:
    """Gives each distinct byte string an index, in order of first use."""

    def __init__(self) -> None:
        self.index: Numbers[bytes] = Numbers()

    def __call__(self, text: bytes) -> int:
        """The text's index."""
        return self.index[text]

    def __len__(self) -> int:
        return len(self.index)

    def spans(self, data: bytes, start: Ints, end: Ints) -> Ints:
        """The indices of the spans [start, end) of a buffer."""
        index = self.index
        return np.array(
            [index[data[a:b]] for a, b in zip(start.tolist(), end.tolist(), strict=True)], np.int64
        )

    def texts(self) -> list[bytes]:
        """All texts so far, by index."""
        return list(self.index)

    def text(self, index: int) -> str:
        """One text. Walks the table: for messages."""
        return self.texts()[index].decode("utf-8", "replace")

    def strings(self) -> Strings:
        """The table of all texts so far."""
        end = np.cumsum(
            np.fromiter(map(len, self.index), np.int64, len(self.index)), dtype=np.int64
        )
        return Strings(np.frombuffer(b"".join(self.index), np.uint8), end)


class LaneTable:
    """Gives each pair of device and kind a lane."""

    def __init__(self) -> None:
        self.index: dict[tuple[int, int], int] = {}

    def __call__(self, device: int, kind: LaneKind) -> int:
        """The lane's index."""
        return self.index.setdefault((device, int(kind)), len(self.index))

    def group(self) -> Lanes:
        """The lanes so far."""
        devices, kinds = [d for d, _ in self.index], [k for _, k in self.index]
        return Lanes(device=np.array(devices, np.int32), kind=np.array(kinds, np.int8))


class ShapeTable:
    """Gives each distinct shape an index. The empty shape is the one of unknown rank, as tfprof writes it."""

    def __init__(self) -> None:
        self.index: dict[tuple[int, ...], int] = {}

    def __call__(self, dims: Iterable[int]) -> int:
        """The shape's index."""
        return self.index.setdefault(tuple(dims), len(self.index))

    def groups(self) -> tuple[Shapes, Dims]:
        """The shapes so far, and their dimensions."""
        lengths = np.fromiter(map(len, self.index), np.int64, len(self.index))
        sizes = [d if d >= 0 else -1 for dims in self.index for d in dims]
        shapes = Shapes(
            rank=np.where(lengths, lengths, -1), dim_end=np.cumsum(lengths, dtype=np.int64)
        )
        return shapes, Dims(size=np.array(sizes, np.int64))

    def parameters(self) -> list[int]:
        """For each shape the number of elements, 0 where it is not known."""
        return [prod(dims) if dims and min(dims) >= 0 else 0 for dims in self.index]


class _Columns(dict[type[Rows], dict[str, "array[int]"]]):
    """The columns of each kind of rows. They grow where they are: parts would leave the memory full of holes."""

    def __missing__(self, kind: type[Rows]) -> dict[str, array[int]]:
        columns = self[kind] = {field.name: array("q") for field in dataclasses.fields(kind)}
        return columns


class Draft:
    """A profile in the making.

    Attributes:
        complete: Whether the source was read to its end, so that what a reference names must be there.
    """

    def __init__(self) -> None:
        self.strings = Interner()
        self.shapes = ShapeTable()
        self.stacks = Interner()
        self.lanes = LaneTable()
        self.steps: set[int] = set()
        self.losses: list[Diagnostic] = []
        self.complete = True
        self._columns = _Columns()

    def add(self, *parts: Rows) -> None:
        """Appends rows."""
        for rows in parts:
            for name, column in self._columns[type(rows)].items():
                column.frombytes(np.ascontiguousarray(getattr(rows, name), np.int64).data.cast("B"))

    def column(self, kind: type[Rows], name: str) -> Ints:
        """A copy of a column so far."""
        return np.array(self._columns[kind][name])

    def take(self, kind: type[R]) -> R:
        """All rows of a kind, which the draft then has no more."""
        columns = self._columns[kind]
        del self._columns[kind]
        return kind(*(np.frombuffer(column, np.int64) for column in columns.values()))

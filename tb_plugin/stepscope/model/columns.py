"""Columns, string tables and the codec between records and protobuf messages.

A record is a frozen dataclass whose fields are a header, scalars, string tables and groups. A group is a frozen dataclass
of numpy columns of one length. The protobuf message of a record or group has the same field names, so one codec serves
every record: a column that a message has is looked up by name, and a missing column is empty.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, TypeVar

import numpy as np
from google.protobuf.message import DecodeError
from numpy.typing import NDArray

from stepscope.errors import RecordError
from stepscope.pb import common_pb2

Array = NDArray[Any]
Ints = NDArray[np.int64]

_DTYPES: dict[str, int] = {name.lower(): number for name, number in common_pb2.DType.items() if number}
_NUMPY: dict[int, np.dtype[Any]] = {number: np.dtype(name).newbyteorder("<") for name, number in _DTYPES.items()}

G = TypeVar("G", bound="Group")


def column(dtype: str, doc: str, *, default: int | None = None) -> Any:
    """Declares a column of a group.

    Args:
        dtype: The numpy type that the column is kept in.
        doc: What an element means, with its unit.
        default: The value of every element where a column is left out of the constructor or missing in a stored record.
            Without one, a left-out column makes an invalid group unless the group is empty.
    """
    metadata = {"dtype": np.dtype(dtype), "doc": doc, "default": default}
    return field(default_factory=lambda: np.empty(0, dtype), metadata=metadata)


@dataclass(frozen=True, eq=False)
class Group:
    """Columns of one length. Subclasses declare them with `column`."""

    def __post_init__(self) -> None:
        arrays = {f.name: _as_column(f, getattr(self, f.name)) for f in dataclasses.fields(self)}
        rows = max((len(a) for a in arrays.values()), default=0)
        for f in dataclasses.fields(self):
            array = arrays[f.name]
            if not len(array) and rows and f.metadata["default"] is not None:
                array = np.full(rows, f.metadata["default"], f.metadata["dtype"])
            object.__setattr__(self, f.name, array)

    def __len__(self) -> int:
        names = dataclasses.fields(self)
        return len(getattr(self, names[0].name)) if names else 0

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        names = [f.name for f in dataclasses.fields(self)]
        return all(np.array_equal(getattr(self, n), getattr(other, n)) for n in names)

    __hash__ = None  # type: ignore[assignment]

    def check_lengths(self, where: str) -> None:
        """Raises RecordError unless all columns have one length."""
        lengths = {f.name: len(getattr(self, f.name)) for f in dataclasses.fields(self)}
        if len(set(lengths.values())) > 1:
            raise RecordError(
                f"columns of {type(self).__name__} differ in length: {lengths}",
                where=where,
                remedy="Give every column one value per row",
            )


def _as_column(spec: dataclasses.Field[Any], values: object) -> Array:
    wanted: np.dtype[Any] = spec.metadata["dtype"]
    array = np.asarray(values)
    if array.ndim != 1:
        raise RecordError(
            f"column {spec.name} has {array.ndim} dimensions",
            where=spec.name,
            remedy="Give a one-dimensional array",
        )
    if array.dtype == wanted:
        return array
    converted = array.astype(wanted)
    if not np.array_equal(converted, array):
        raise RecordError(
            f"values of column {spec.name} do not fit {wanted}",
            where=spec.name,
            remedy="Check the units and the base that times are relative to",
        )
    return converted


class Strings(Sequence[str]):
    """An immutable table of strings: one blob of UTF-8 and the end offset of each string.

    Args:
        blob: The bytes of all strings, one after the other, uint8.
        end: For each string the offset after its last byte, int64, never decreasing.
    """

    __slots__ = ("blob", "end")

    def __init__(self, blob: NDArray[np.uint8] | None = None, end: Ints | None = None) -> None:
        self.blob = np.empty(0, np.uint8) if blob is None else blob
        self.end = np.empty(0, np.int64) if end is None else end

    @classmethod
    def of(cls, texts: Iterable[str]) -> Strings:
        """Makes a table of the texts in their order. Lone surrogates are kept as '?'."""
        encoded = [text.encode("utf-8", "replace") for text in texts]
        end = np.cumsum(np.fromiter((len(b) for b in encoded), np.int64, len(encoded)))
        return cls(np.frombuffer(b"".join(encoded), np.uint8), end.astype(np.int64))

    def __len__(self) -> int:
        return len(self.end)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        position = int(index)
        if position < 0:
            position += len(self)
        if not 0 <= position < len(self):
            raise IndexError(index)
        start = int(self.end[position - 1]) if position else 0
        return self.blob[start : int(self.end[position])].tobytes().decode("utf-8", "replace")

    def __iter__(self) -> Iterator[str]:
        data, start = self.blob.tobytes(), 0
        for end in self.end.tolist():
            yield data[start:end].decode("utf-8", "replace")
            start = end

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Strings):
            return NotImplemented
        return np.array_equal(self.end, other.end) and np.array_equal(self.blob, other.blob)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Strings({len(self)} texts, {len(self.blob)} bytes)"

    def check(self, where: str) -> None:
        """Raises RecordError unless the offsets are in order and inside the blob."""
        steps = np.diff(self.end, prepend=0)
        last = int(self.end[-1]) if len(self.end) else 0
        if (len(steps) and int(steps.min()) < 0) or last != len(self.blob):
            raise RecordError(
                f"string offsets do not match a blob of {len(self.blob)} bytes",
                where=where,
                remedy="Write the record again",
            )


class StringBuilder:
    """Gives each distinct text an index, in order of first use."""

    def __init__(self) -> None:
        self._index: dict[str, int] = {}

    def __call__(self, text: str) -> int:
        return self._index.setdefault(text, len(self._index))

    def __len__(self) -> int:
        return len(self._index)

    def build(self) -> Strings:
        """The table of all texts so far."""
        return Strings.of(self._index)


@dataclass(frozen=True)
class Loss:
    """Something of the source that is not in the record, and why."""

    where: str
    what: str
    count: int = 0
    remedy: str = ""


@dataclass(frozen=True)
class Header:
    """Where a record comes from.

    Attributes:
        wall_anchor_ns: Unix time in ns at relative time 0 of the record, 0 when unknown.
        rank: Rank of the process in its job, -1 when unknown.
        world_size: Number of ranks of the job, 0 when unknown.
    """

    job: str = ""
    run: str = ""
    host: str = ""
    rank: int = -1
    world_size: int = 0
    producer: str = ""
    producer_version: str = ""
    wall_anchor_ns: int = 0
    losses: tuple[Loss, ...] = ()
    source: str = ""


@dataclass(frozen=True)
class Record:
    """A record of one kind. Subclasses add scalars, string tables and groups, and say their message and schema."""

    KIND: ClassVar[str]
    SCHEMA: ClassVar[int]
    MESSAGE: ClassVar[Any]

    header: Header = field(default_factory=Header)

    def validate(self) -> None:
        """Raises RecordError where the record breaks a rule of its model."""
        for spec in dataclasses.fields(self):
            value = getattr(self, spec.name)
            where = f"{self.KIND} record, {spec.name}"
            if isinstance(value, Group):
                value.check_lengths(where)
            elif isinstance(value, Strings):
                value.check(where)


@dataclass(frozen=True)
class Element:
    """A part of a record's message, with the names of what it holds: `group`, or `group.column`."""

    fields: tuple[str, ...]
    body: bytes


LARGE_COLUMN_BYTES = 1 << 20
CHUNK_BYTES = 16 << 20


def encode(record: Record) -> list[Element]:
    """Encodes a record as parts whose messages, merged in order, are the record's message.

    The first part holds the header and the scalars. Each group is one part, but a column over 1 MiB is a part of its own
    (cut at 16 MiB), so that a reader can take only the columns it needs.
    """
    first = record.MESSAGE()
    elements: list[Element] = []
    names: list[str] = []
    for spec in dataclasses.fields(record):
        value = getattr(record, spec.name)
        if isinstance(value, Group | Strings):
            elements += _encode_group(record, spec.name, value)
        else:
            names.append(spec.name)
            _set_scalar(first, spec.name, value)
    return [Element(tuple(names), first.SerializeToString()), *elements]


def _arrays(value: Group | Strings) -> list[tuple[str, Array]]:
    if isinstance(value, Strings):
        return [("blob", value.blob), ("end", value.end)]
    return [(f.name, getattr(value, f.name)) for f in dataclasses.fields(value)]


def _encode_group(record: Record, group: str, value: Group | Strings) -> list[Element]:
    small = record.MESSAGE()
    small_names: list[str] = []
    large: list[Element] = []
    for name, array in _arrays(value):
        if not len(array):
            continue
        if array.nbytes <= LARGE_COLUMN_BYTES:
            small_names.append(f"{group}.{name}")
            _fill(getattr(getattr(small, group), name), array, array)
        else:
            large += _encode_large(record, group, name, array)
    if small_names:
        large.append(Element(tuple(small_names), small.SerializeToString()))
    return large


def _encode_large(record: Record, group: str, name: str, array: Array) -> Iterator[Element]:
    step = CHUNK_BYTES // array.itemsize
    for start in range(0, len(array), step):
        message = record.MESSAGE()
        _fill(getattr(getattr(message, group), name), array, array[start : start + step])
        yield Element((f"{group}.{name}",), message.SerializeToString())


def _fill(target: Any, array: Array, chunk: Array) -> None:
    little = chunk.astype(chunk.dtype.newbyteorder("<"), copy=False)
    target.dtype = _DTYPES[array.dtype.name]
    target.length = len(array)
    target.data.append(little.tobytes())


def _set_scalar(message: Any, name: str, value: Any) -> None:
    if isinstance(value, Header):
        _set_header(message.header, value)
    elif isinstance(value, tuple):
        getattr(message, name).extend(value)
    elif value is not None:
        setattr(message, name, value)


def _set_header(target: Any, header: Header) -> None:
    for spec in dataclasses.fields(header):
        if spec.name != "losses":
            setattr(target, spec.name, getattr(header, spec.name))
    for loss in header.losses:
        target.losses.add(**dataclasses.asdict(loss))


R = TypeVar("R", bound=Record)


def decode(record_type: type[R], bodies: Iterable[bytes], where: str = "") -> R:
    """Decodes a record from the bodies of its elements, or from some of them: absent groups come out empty.

    Raises:
        RecordError: A body is no part of such a record, or a column does not hold what it declares.
    """
    message = record_type.MESSAGE()
    for body in bodies:
        try:
            message.MergeFromString(body)
        except DecodeError as error:
            raise RecordError(
                f"not a part of a {record_type.KIND} record ({error})",
                where=where,
                remedy="Write the record again",
            ) from error
    values: dict[str, Any] = {}
    for spec in dataclasses.fields(record_type):
        values[spec.name] = _decode_field(spec, getattr(message, spec.name), where)
    return record_type(**values)


def _decode_field(spec: dataclasses.Field[Any], value: Any, where: str) -> Any:
    factory: Any = spec.default_factory
    if spec.name == "header":
        return _header(value)
    if factory is Strings:
        blob, end = _array(value.blob, where), _array(value.end, where)
        return Strings(blob.astype(np.uint8, copy=False), end.astype(np.int64, copy=False))
    if isinstance(factory, type) and issubclass(factory, Group):
        arrays = {f.name: getattr(value, f.name) for f in dataclasses.fields(factory)}
        present = {n: _array(c, f"{where} {spec.name}.{n}") for n, c in arrays.items() if c.dtype}
        return factory(**present)
    return tuple(value) if isinstance(spec.default, tuple) else value


def _header(message: Any) -> Header:
    names = [f.name for f in dataclasses.fields(Header) if f.name != "losses"]
    losses = tuple(Loss(m.where, m.what, m.count, m.remedy) for m in message.losses)
    return Header(**{n: getattr(message, n) for n in names}, losses=losses)


def _array(message: Any, where: str) -> Array:
    if not message.dtype:
        return np.empty(0, np.int64)
    dtype = _NUMPY.get(message.dtype)
    chunks = message.data
    data = chunks[0] if len(chunks) == 1 else b"".join(chunks)
    if dtype is None or len(data) != message.length * dtype.itemsize:
        raise RecordError(
            f"a column declares {message.length} elements of type {message.dtype}, but holds {len(data)} bytes",
            where=where,
            remedy="Write the record again",
        )
    array = np.frombuffer(data, dtype)
    return array.astype(dtype.newbyteorder("="), copy=False)

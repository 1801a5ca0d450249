"""Columns, string tables and the codec between records and protobuf messages.

A record is a frozen dataclass whose fields are a header, scalars, string tables and groups. A group is a frozen
dataclass of numpy columns of one length. The protobuf message of a record or group has the same field names, so one
codec serves every record: a column that a message has is looked up by name, and a missing column is empty.
"""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, TypeVar

import numpy as np
from google.protobuf.message import DecodeError
from numpy.typing import NDArray

from stepscope.errors import RecordError
from stepscope.model import deltas, wire
from stepscope.model.arrays import Array as Array
from stepscope.model.arrays import Ints as Ints
from stepscope.model.diagnostic import Diagnostic
from stepscope.model.wire import Buffer, WireError
from stepscope.pb import common_pb2

_DTYPES: dict[str, int] = {
    name.lower(): number for name, number in common_pb2.DType.items() if number
}
_NUMPY: dict[int, np.dtype[Any]] = {number: np.dtype(name) for name, number in _DTYPES.items()}
# Field numbers of Column.
_DTYPE, _LENGTH, _DATA, _ENCODING = 1, 2, 3, 4
# A varint of ten bytes is still one.
_MOST_SPARE = 9


def column(dtype: str, doc: str, *, default: int | None = None, grows: bool = False) -> Any:
    """Declares a column of a group.

    Args:
        dtype: The numpy type that the column is kept in.
        doc: What an element means, with its unit.
        default: The value of every element where a column is left out of the constructor or missing in a stored record.
            Without one, a left-out column makes an invalid group unless the group is empty. A column of nothing but its
            default is not stored.
        grows: Whether an int64 column grows by nearly the same number each time, as stamps do: a small one is then
            stored as differences.
    """
    metadata = {"dtype": np.dtype(dtype), "doc": doc, "default": default, "grows": grows}
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
                # One element seen by every row: a column of defaults takes no memory, and cannot be written to.
                array = np.broadcast_to(np.array(f.metadata["default"], f.metadata["dtype"]), rows)
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
    with np.errstate(invalid="ignore"):
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
        """The index of the text."""
        return self._index.setdefault(text, len(self._index))

    def __len__(self) -> int:
        return len(self._index)

    def build(self) -> Strings:
        """The table of all texts so far."""
        return Strings.of(self._index)


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
    losses: tuple[Diagnostic, ...] = ()
    source: str = ""


@dataclass(frozen=True)
class Record:
    """A record of one kind. Subclasses add scalars, string tables and groups, and say their message and schema."""

    KIND: ClassVar[str]
    SCHEMA: ClassVar[int]
    MESSAGE: ClassVar[Any]

    header: Header = field(default_factory=Header)

    @property
    def rows(self) -> int:
        """Rows of the record's main group: the first that is declared."""
        values = (getattr(self, spec.name) for spec in dataclasses.fields(self))
        return next((len(value) for value in values if isinstance(value, Group)), 0)

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
    """A part of a record's message, with the names of what it holds: `header`, `group`, or `group.column`."""

    fields: tuple[str, ...]
    body: bytes


LARGE_COLUMN_BYTES = 1 << 20
COMPACT_BYTES = 4096
CHUNK_BYTES = 16 << 20


def encode(record: Record) -> list[Element]:
    """Encodes a record as parts whose messages, merged in order, are the record's message.

    The first part holds the header and the scalars. Each group is one part, but a column over 1 MiB is a part by itself
    (cut at 16 MiB), so that a reader can take only the columns it needs. A record below 4 KiB is one part.
    """
    return list(iter_encoded(record))


def iter_encoded(record: Record) -> Iterator[Element]:
    """The parts of `encode`, one at a time, so that a large record is not held twice."""
    small = [Element(("header",), _encode_scalars(record))]
    for spec in dataclasses.fields(record):
        value = getattr(record, spec.name)
        if isinstance(value, Group | Strings):
            small += _encode_small(record.MESSAGE.DESCRIPTOR.fields_by_name[spec.name], value)
    if sum(len(element.body) for element in small) <= COMPACT_BYTES:
        small = [_merged(small)]
    yield from small
    for spec in dataclasses.fields(record):
        value = getattr(record, spec.name)
        if isinstance(value, Group | Strings):
            yield from _encode_large(record.MESSAGE.DESCRIPTOR.fields_by_name[spec.name], value)


def _encode_scalars(record: Record) -> bytes:
    message = record.MESSAGE()
    for spec in dataclasses.fields(record):
        value = getattr(record, spec.name)
        if not isinstance(value, Group | Strings):
            _set_scalar(message, spec.name, value)
    encoded: bytes = message.SerializeToString()
    return encoded


def _merged(elements: Sequence[Element]) -> Element:
    names = [name for element in elements for name in element.fields]
    return Element(tuple(names), b"".join(element.body for element in elements))


def _stored_arrays(value: Group | Strings) -> Iterator[tuple[str, Array]]:
    """The columns that have to be stored: not those that hold nothing but their default, but always the first."""
    if isinstance(value, Strings):
        yield from (("blob", value.blob), ("end", value.end))
        return
    for number, spec in enumerate(dataclasses.fields(value)):
        array = getattr(value, spec.name)
        if not number or not _all_equal(array, spec.metadata["default"]):
            yield spec.name, array


def _all_equal(array: Array, value: int | None) -> bool:
    if value is None or not len(array) or array[0] != value or array[-1] != value:
        return False
    return array.strides == (0,) or bool((array == value).all())


def _growing(value: Group | Strings) -> frozenset[str]:
    """The columns that are stored as differences."""
    if isinstance(value, Strings):
        return frozenset()
    return frozenset(spec.name for spec in dataclasses.fields(value) if spec.metadata["grows"])


def _encode_small(field: Any, value: Group | Strings) -> Iterator[Element]:
    """The columns of a group that lie in one element together."""
    chunks: list[Buffer] = []
    names: list[str] = []
    growing = _growing(value)
    is_whole = True
    for name, array in _stored_arrays(value):
        if array.nbytes > LARGE_COLUMN_BYTES:
            is_whole = False
        elif len(array):
            number = field.message_type.fields_by_name[name].number
            chunks += _small_column(field.number, number, array, grows=name in growing)
            names.append(f"{field.name}.{name}")
    if names:
        yield Element((field.name,) if is_whole else tuple(names), b"".join(chunks))


def _encode_large(field: Any, value: Group | Strings) -> Iterator[Element]:
    """The columns of a group that lie in elements of their own."""
    for name, array in _stored_arrays(value):
        if array.nbytes <= LARGE_COLUMN_BYTES:
            continue
        number = field.message_type.fields_by_name[name].number
        step = CHUNK_BYTES // array.itemsize
        for start in range(0, len(array), step):
            chunks = _aligned_column(field.number, number, array, array[start : start + step])
            yield Element((f"{field.name}.{name}",), b"".join(chunks))


def _column(
    group_number: int, column_number: int, array: Array, chunk: Array, spare: int = 0
) -> list[Buffer]:
    """The record's message with nothing but a column, or a chunk of it. Such messages merge when they are joined."""
    little = np.ascontiguousarray(chunk, chunk.dtype.newbyteorder("<"))
    head = wire.number_field(_DTYPE, _DTYPES[array.dtype.name], spare) + wire.number_field(
        _LENGTH, len(array)
    )
    data = wire.delimited(_DATA, little.data.cast("B"))
    return wire.delimited(group_number, *wire.delimited(column_number, head, *data))


def _small_column(
    group_number: int, column_number: int, array: Array, *, grows: bool
) -> list[Buffer]:
    """The record's message with nothing but a column, which lies in one element."""
    if not grows:
        return _column(group_number, column_number, array, array)
    head = wire.number_field(_DTYPE, _DTYPES["int64"]) + wire.number_field(_LENGTH, len(array))
    encoding = wire.number_field(_ENCODING, common_pb2.DELTAS)
    data = wire.delimited(_DATA, deltas.encode(array))
    return wire.delimited(group_number, *wire.delimited(column_number, head, encoding, *data))


def _aligned_column(
    group_number: int, column_number: int, array: Array, chunk: Array
) -> list[Buffer]:
    """The same, in which the data starts at a multiple of eight bytes, so that who reads it need not copy it."""
    tried = (
        _column(group_number, column_number, array, chunk, spare) for spare in range(_MOST_SPARE)
    )
    aligned = (parts for parts in tried if not sum(map(len, parts[:-1])) % 8)
    return next(aligned, None) or _column(group_number, column_number, array, chunk)


def _set_scalar(message: Any, name: str, value: Any) -> None:
    if isinstance(value, Header):
        _set_header(message.header, value)
    elif isinstance(value, tuple):
        getattr(message, name).extend(map(_storable, value))
    elif value is not None:
        setattr(message, name, _storable(value))


def _set_header(target: Any, header: Header) -> None:
    for spec in dataclasses.fields(header):
        if spec.name != "losses":
            setattr(target, spec.name, _storable(getattr(header, spec.name)))
    for loss in header.losses:
        target.losses.add(**{name: _storable(value) for name, value in loss.to_json().items()})


def _storable(value: Any) -> Any:
    """The value; of a text, what is no text is replaced: names of files may be any bytes."""
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else value


R = TypeVar("R", bound=Record)


def decode(
    record_type: type[R],
    bodies: Iterable[Buffer],
    where: str = "",
    *,
    wanted: Collection[str] | None = None,
) -> R:
    """Decodes a record from the bodies of its elements, or from some of them: absent groups come out empty.

    Columns are views of the bodies where a column is in one body, and aligned there.

    Args:
        record_type: The type of the record.
        bodies: The bodies.
        where: The place that an error names.
        wanted: The groups to decode, None for all; the others come out empty.

    Raises:
        RecordError: A body is no part of such a record, or a column does not hold what it declares.
    """
    fields = {f.number: f for f in record_type.MESSAGE.DESCRIPTOR.fields}
    groups = {spec.name: spec for spec in dataclasses.fields(record_type) if is_group(spec)}
    columns: dict[str, _Pieces] = {}
    message = record_type.MESSAGE()
    try:
        for body in bodies:
            message.MergeFromString(_take_columns(body, fields, groups, columns))
    except (WireError, DecodeError) as error:
        raise RecordError(
            f"not a part of a {record_type.KIND} record ({error})",
            where=where,
            remedy="Write the record again",
        ) from error
    values: dict[str, Any] = {}
    for spec in dataclasses.fields(record_type):
        if spec.name in groups and wanted is not None and spec.name not in wanted:
            continue
        if spec.name in groups:
            values[spec.name] = _decode_group(spec, columns, where)
        else:
            values[spec.name] = _decode_scalar(spec, getattr(message, spec.name))
    return record_type(**values)


def is_group(spec: dataclasses.Field[Any]) -> bool:
    """Whether a field of a record is a group or a string table."""
    factory = spec.default_factory
    return isinstance(factory, type) and issubclass(factory, Group | Strings)


@dataclass
class _Pieces:
    """A column as far as its bodies have been read."""

    dtype: int = 0
    length: int = 0
    encoding: int = common_pb2.PLAIN
    data: list[memoryview] = field(default_factory=list)

    def is_whole(self) -> bool:
        """Whether the data is as long as declared."""
        dtype = _NUMPY.get(self.dtype)
        return dtype is not None and sum(map(len, self.data)) == self.length * dtype.itemsize


def _take_columns(
    body: Buffer, fields: dict[int, Any], groups: Collection[str], columns: dict[str, _Pieces]
) -> bytes:
    """Moves the columns of a message into `columns`; what is left of the message comes back."""
    rest: list[Buffer] = []
    view, begin = memoryview(body), 0
    for tag, value, after in wire.fields(body, 0, len(body)):
        group = fields.get(tag >> 3)
        if group is not None and group.name in groups and tag & 7 == wire.DELIMITED:
            for column_tag, start, end in wire.fields(body, value, after):
                member = group.message_type.fields_by_number.get(column_tag >> 3)
                if member is not None:
                    _take_column(
                        view,
                        start,
                        end,
                        columns.setdefault(f"{group.name}.{member.name}", _Pieces()),
                    )
        else:
            rest.append(view[begin:after])
        begin = after
    return b"".join(rest)


def _take_column(view: memoryview, start: int, end: int, pieces: _Pieces) -> None:
    for tag, value, after in wire.fields(view, start, end):
        if tag == _DTYPE << 3:
            pieces.dtype = value
        elif tag == _LENGTH << 3:
            pieces.length = value
        elif tag == _ENCODING << 3:
            pieces.encoding = value
        elif tag == _DATA << 3 | wire.DELIMITED:
            pieces.data.append(view[value:after])
    if len(pieces.data) > 1 and pieces.is_whole():
        pieces.data.append(_joined(pieces.data).data)


def _decode_group(spec: dataclasses.Field[Any], columns: dict[str, _Pieces], where: str) -> Any:
    factory: Any = spec.default_factory
    names = (
        ("blob", "end")
        if factory is Strings
        else tuple(f.name for f in dataclasses.fields(factory))
    )
    paths = {name: f"{spec.name}.{name}" for name in names}
    arrays = {
        n: _array(columns[path], f"{where} {path}".lstrip())
        for n, path in paths.items()
        if path in columns
    }
    if factory is not Strings:
        return factory(**arrays)
    blob, end = arrays.get("blob", np.empty(0, np.uint8)), arrays.get("end", np.empty(0, np.int64))
    return Strings(blob.astype(np.uint8, copy=False), end.astype(np.int64, copy=False))


def _decode_scalar(spec: dataclasses.Field[Any], value: Any) -> Any:
    if spec.name == "header":
        return _header(value)
    return tuple(value) if isinstance(spec.default, tuple) else value


def _header(message: Any) -> Header:
    names = [f.name for f in dataclasses.fields(Header) if f.name != "losses"]
    losses = tuple(Diagnostic(m.where, m.what, m.count, m.remedy) for m in message.losses)
    return Header(**{n: getattr(message, n) for n in names}, losses=losses)


def _array(pieces: _Pieces, where: str) -> Array:
    if pieces.encoding != common_pb2.PLAIN:
        return _from_deltas(pieces, where)
    dtype = _NUMPY.get(pieces.dtype)
    if dtype is None or not pieces.is_whole():
        size = sum(map(len, pieces.data))
        raise RecordError(
            f"a column declares {pieces.length} elements of type {pieces.dtype}, but holds {size} bytes",
            where=where,
            remedy="Write the record again",
        )
    raw = np.frombuffer(pieces.data[0] if pieces.data else b"", np.uint8)
    # Bytes are copied many times faster than numbers that lie across the borders of words.
    array: Array = (raw.copy() if raw.ctypes.data % dtype.alignment else raw).view(dtype)
    # A dtype of stated byte order would keep numpy from its fast loops.
    return array if sys.byteorder == "little" else array.byteswap()


def _from_deltas(pieces: _Pieces, where: str) -> Array:
    if pieces.encoding != common_pb2.DELTAS:
        remedy = "Upgrade StepScope"
        raise RecordError(
            f"column encoding {pieces.encoding} is unknown", where=where, remedy=remedy
        )
    data = np.frombuffer(b"".join(pieces.data), np.uint8)
    try:
        return deltas.decode(data, pieces.length)
    except ValueError as error:
        raise RecordError(
            f"column is damaged: {error}", where=where, remedy="Write the record again"
        ) from error


def _joined(data: list[memoryview]) -> NDArray[np.uint8]:
    """The pieces as one, each given up once it is copied, so that a large column is not held twice."""
    joined = np.empty(sum(map(len, data)), np.uint8)
    position = 0
    data.reverse()
    while data:
        piece = data.pop()
        joined[position : position + len(piece)] = piece
        position += len(piece)
    return joined

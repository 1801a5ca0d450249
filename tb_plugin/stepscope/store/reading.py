"""What every reader of records offers."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import NamedTuple, Protocol, TypeVar

import numpy as np
from google.protobuf.message import DecodeError
from numpy.typing import NDArray

from stepscope.errors import DamagedRecord, LimitExceeded, RecordError
from stepscope.model import kinds
from stepscope.model.columns import Record
from stepscope.model.diagnostic import Diagnostic
from stepscope.model.scalar_rates import rate_tag
from stepscope.model.wire import Buffer
from stepscope.pb import storage_pb2
from stepscope.store import envelope

Message = TypeVar("Message", storage_pb2.RecordIndex, storage_pb2.ElementTable)


LARGEST_READ_BYTES = 8 << 30
"""The most that one read gives, so that a file that was made to cannot fill the memory."""


_FARTHEST_S = 2.0**32
_THREADS = 4
_WORTH_A_THREAD_BYTES = 1 << 20


class RecordEntry(NamedTuple):
    """A record that can be read. Entries sort by run, kind, name, session and block.

    Attributes:
        run: The run's name, as TensorBoard forms it.
        session: The writer's word: blocks of one name and session are one series.
        block: Its number among the session's records of this name.
        tag: The tag that holds its index.
        version: How often it was written before.
        closed: Whether no further version follows.
        first_step: The first training step that it tells of, None where it has none.
        last_step: The last one.
        rows: Rows of its main group.
        schema: The schema version of its kind that it was written in.
        producer: The StepScope that wrote it.
        written_wall_ns: Unix time at which it was written.
        size_bytes: Its size without compression.
    """

    run: str
    kind: str
    name: str
    session: str
    block: int
    tag: str
    version: int
    closed: bool
    first_step: int | None
    last_step: int | None
    rows: int
    schema: int
    producer: str
    written_wall_ns: int
    size_bytes: int


@dataclass(frozen=True, eq=False)
class ScalarSeries:
    """A rate that was logged as scalars, in the order of the files.

    Attributes:
        step: int64, as logged.
        wall_time_s: float64, Unix time.
        value: float64.
    """

    run: str
    tag: str
    step: NDArray[np.int64]
    wall_time_s: NDArray[np.float64]
    value: NDArray[np.float64]


class RecordStore(Protocol):
    """Reads records. Safe to call from several threads."""

    def refresh(self) -> None:
        """Looks for what was written since the last time."""

    def runs(self) -> list[str]:
        """The runs that hold something to show, by name."""

    def entries(self) -> list[RecordEntry]:
        """The records, by run, kind, name, session and block; the last version of each."""

    def problems(self) -> list[Diagnostic]:
        """What was found damaged or cannot be read."""

    def read(self, entry: RecordEntry, groups: Collection[str] | None = None) -> Record:
        """Reads a record's last version.

        Args:
            entry: Which record.
            groups: The groups and string tables wanted, as `group` or `group.column`; the others come out empty. None:
                all, and the record is validated.

        Raises:
            NotFound: The record is gone.
            DamagedRecord: A checksum, size or index does not hold.
            LimitExceeded: It is larger than can be read at once.
            NewerSchema: A newer StepScope wrote it.
            RecordError: It breaks a rule of its model.
        """

    def scalar_series(self) -> list[ScalarSeries]:
        """The scalars under the rates' tags, such as `avg_samples_per_sec`."""


def is_rate(tag: str) -> bool:
    """Whether a tag names a rate, such as `avg_samples_per_sec`."""
    return rate_tag(tag) is not None


def is_moment(wall_time_s: float) -> bool:
    """Whether a wall time is one: a number, and near enough for nanoseconds in int64."""
    return abs(wall_time_s) < _FARTHEST_S


def read_index(blob: bytes, where: str) -> storage_pb2.RecordIndex:
    """The index in the first element of a record's tag.

    Raises:
        DamagedRecord: The element holds none.
    """
    index = _parsed(storage_pb2.RecordIndex, blob, where)
    if not index.kind:
        raise DamagedRecord("element is not an index", where=where, remedy="Write the record again")
    return index


def read_table(blob: bytes, where: str) -> storage_pb2.ElementTable:
    """The table of elements in the second element of a record's tag.

    Raises:
        DamagedRecord: The element holds none.
    """
    return _parsed(storage_pb2.ElementTable, blob, where)


def _parsed(message: type[Message], blob: bytes, where: str) -> Message:
    try:
        return message.FromString(bytes(envelope.unpack(blob, where)))
    except DecodeError as error:
        found = f"element is not a {message.DESCRIPTOR.name} ({error})"
        raise DamagedRecord(found, where=where, remedy="Write the record again") from error


def read_entry(run: str, tag: str, blob: bytes) -> RecordEntry:
    """What the index in the first element of a record's tag says of the record.

    Raises:
        DamagedRecord: The element holds no index.
    """
    index = read_index(blob, tag)
    return RecordEntry(
        run=run,
        kind=index.kind,
        name=index.name,
        session=index.session,
        block=index.block,
        tag=tag,
        version=index.version,
        closed=index.closed,
        first_step=index.first_step if index.has_step else None,
        last_step=index.last_step if index.has_step else None,
        rows=index.rows,
        schema=index.schema,
        producer=index.producer,
        written_wall_ns=index.written_wall_ns,
        size_bytes=index.size_bytes,
    )


def wanted_elements(
    kind: str, table: storage_pb2.ElementTable, groups: Collection[str] | None, where: str
) -> Iterator[storage_pb2.ElementEntry]:
    """The elements that hold any of the groups, and those with the record's header and scalars.

    Raises:
        LimitExceeded: Together they hold more than LARGEST_READ_BYTES.
    """
    wanted = None if groups is None else kinds.with_first_columns(kind, groups)
    known = kinds.groups_of(kind)
    left = LARGEST_READ_BYTES
    for element in table.elements:
        if wanted is None or any(_is_wanted(name, wanted, known) for name in element.fields):
            left -= element.raw_size_bytes
            if left < 0:
                found = f"{kind} record is larger than {LARGEST_READ_BYTES} bytes"
                remedy = (
                    "Read fewer groups. If the size is wrong, the record is corrupt: log it again"
                )
                raise LimitExceeded(found, where=f"{where}, table of elements", remedy=remedy)
            yield element


def _is_wanted(name: str, wanted: Collection[str], known: Collection[str]) -> bool:
    group = name.partition(".")[0]
    if group not in known:
        # The header and the scalars.
        return True
    if group in wanted or name in wanted:
        return True
    return name == group and any(column.startswith(f"{group}.") for column in wanted)


def unpacked(blobs: Iterable[tuple[bytes, str, int]]) -> Iterator[Buffer]:
    """The bodies of elements in their order. Large ones are decompressed a few at a time, as zlib lets threads run.

    Args:
        blobs: Each element as it is stored, the place that an error names, and its size in the table.

    Raises:
        DamagedRecord: See `envelope.unpack`.
    """
    with ThreadPoolExecutor(_THREADS) as pool:
        begun: deque[Callable[[], Buffer]] = deque()
        for blob, where, size in blobs:
            unpack: Callable[[], Buffer] = partial(envelope.unpack, blob, where, size=size)
            if size >= _WORTH_A_THREAD_BYTES:
                unpack = pool.submit(unpack).result
            begun.append(unpack)
            if len(begun) > _THREADS:
                yield begun.popleft()()
        while begun:
            yield begun.popleft()()


def decode(
    index: storage_pb2.RecordIndex,
    bodies: Iterable[Buffer],
    where: str,
    groups: Collection[str] | None,
) -> Record:
    """Makes the record of its elements' bodies, or the groups of it; validates it where all are there."""
    wanted = None if groups is None else {name.partition(".")[0] for name in groups}
    record = kinds.decode(index.kind, index.schema, bodies, where, wanted=wanted)
    if wanted is None:
        try:
            record.validate()
        except RecordError as error:
            raise error.within(where) from error
    return record


def unsupported(entries: Iterable[RecordEntry]) -> Iterator[Diagnostic]:
    """What to say of records that this StepScope does not know."""
    for entry in entries:
        reason = _why_unsupported(entry.kind, entry.schema)
        if reason is not None:
            yield Diagnostic(
                entry.tag, f"{reason}, written by {entry.producer}", 1, kinds.UPGRADE, run=entry.run
            )


_why_unsupported = lru_cache(256)(kinds.why_unsupported)

"""Records into a sink: encoded, put into envelopes, cut into parts."""

from __future__ import annotations

import os
import secrets
import threading
import time
from collections import defaultdict
from collections.abc import Iterator

from stepscope.model import columns
from stepscope.model.columns import Record
from stepscope.pb import storage_pb2
from stepscope.store import envelope, names
from stepscope.store.sink import Sink
from stepscope.version import __version__

FIRST_STEP = -(1 << 40)
"""The summary step of a tag's first version: below every training step, so that no other writer's purge reaches it."""
PART_BYTES = 64 << 20
_HEADS = 2


def new_session() -> str:
    """A word that no other writer uses, in order of time."""
    return f"{time.time_ns() // 1_000_000:x}{secrets.token_hex(4)}"


PRODUCER = f"stepscope {__version__}"
"""What every stored record is said to be written by."""


class RecordWriter:
    """Writes records into a sink, each under a tag of its own. Safe to call from several threads.

    Args:
        sink: Where the values go; flushed and closed by its owner.
        session: Part of every tag, and unique to this writer. After a fork the child takes a new one.
    """

    def __init__(self, sink: Sink, session: str | None = None) -> None:
        self._sink = sink
        self._start(session or new_session())

    def _start(self, session: str) -> None:
        self._session = session
        self._pid = os.getpid()
        self._lock = threading.Lock()
        self._next_block: defaultdict[tuple[str, str], int] = defaultdict(int)
        self._next_step: defaultdict[str, int] = defaultdict(lambda: FIRST_STEP)

    def write(
        self,
        record: Record,
        *,
        name: str,
        block: int | None = None,
        version: int = 0,
        closed: bool = True,
        steps: tuple[int, int] | None = None,
    ) -> str:
        """Writes a record, or a further version of a growing one that holds all of the earlier.

        Args:
            record: The record.
            name: What the user calls it.
            block: The same number for all versions of one record; a new number where it is None.
            version: Counted from 0 within the block.
            closed: Whether no further version follows.
            steps: The first and last training step that it tells of.

        Returns:
            The tag.

        Raises:
            RecordError: The record breaks a rule of its model.
            StoreError: The sink cannot take it.
        """
        record.validate()
        if os.getpid() != self._pid:
            self._start(new_session())
        name = name.encode("utf-8", "replace").decode()
        with self._lock:
            number = self._number(record.KIND, name, block)
            index = _index(record, name, self._session, number, steps)
            index.version = version
            index.closed = closed
            tag = names.tag_of(record.KIND, name, self._session, number)
            self._write(tag, record, index)
        return tag

    def _number(self, kind: str, name: str, block: int | None) -> int:
        """The block's number; the next one of its name where none is given."""
        if block == names.TAIL_BLOCK:
            return block
        following = self._next_block[kind, name]
        number = following if block is None else block
        self._next_block[kind, name] = max(following, number + 1)
        return number

    def _write(self, tag: str, record: Record, index: storage_pb2.RecordIndex) -> None:
        # A tail is written most often; the blocks of its session say what kind it is of.
        content = _content(index)
        if index.block == names.TAIL_BLOCK:
            content = b""
            index.producer = ""
        wall_time_s = index.written_wall_ns / 1e9
        # All parts of one version have one step, by which a reader knows that they belong together.
        step = self._next_step[tag]
        self._next_step[tag] = step + 1
        table = storage_pb2.ElementTable()
        first: list[bytes] = []
        for part, blobs in _parts(record, table):
            index.parts = part + 1
            if part:
                self._sink.add_blobs(
                    names.part_tag(tag, part), content, blobs, step=step, wall_time_s=wall_time_s
                )
            else:
                first = blobs
        index.size_bytes = sum(element.raw_size_bytes for element in table.elements)
        heads = [
            envelope.pack(message.SerializeToString(), compress=False) for message in (index, table)
        ]
        # The index goes last: who sees it finds its parts.
        self._sink.add_blobs(tag, content, [*heads, *first], step=step, wall_time_s=wall_time_s)


def _index(
    record: Record, name: str, session: str, block: int, steps: tuple[int, int] | None
) -> storage_pb2.RecordIndex:
    index = storage_pb2.RecordIndex(
        kind=record.KIND,
        name=name,
        schema=record.SCHEMA,
        session=session,
        block=block,
        rows=record.rows,
        written_wall_ns=time.time_ns(),
        producer=PRODUCER,
    )
    if steps is not None:
        index.has_step = True
        index.first_step, index.last_step = steps
    return index


def _content(index: storage_pb2.RecordIndex) -> bytes:
    content = storage_pb2.TagContent(
        kind=index.kind, name=index.name, schema=index.schema, producer=index.producer
    )
    return content.SerializeToString()


def _parts(record: Record, table: storage_pb2.ElementTable) -> Iterator[tuple[int, list[bytes]]]:
    """The parts in order with their envelopes, noted in the table. One part at a time is in memory, and part 0."""
    part = 0
    size = 0
    blobs: list[bytes] = []
    for element in columns.iter_encoded(record):
        blob = envelope.pack(element.body)
        if blobs and size + len(blob) > PART_BYTES:
            yield part, blobs
            part += 1
            size = 0
            blobs = []
        position = len(blobs)
        if not part:
            position += _HEADS
        table.elements.add(
            fields=element.fields,
            part=part,
            position=position,
            raw_size_bytes=len(element.body),
        )
        blobs.append(blob)
        size += len(blob)
    yield part, blobs

"""What one event file holds of ours, as far as it has been read."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from google.protobuf.message import DecodeError

from stepscope.errors import StepscopeError
from stepscope.model.diagnostic import Diagnostic
from stepscope.pb import storage_pb2
from stepscope.store import events, names
from stepscope.store.reading import RecordEntry, is_moment, is_rate, read_entry
from stepscope.store.tfrecord import RecordReader

_REMEDY_DAMAGE = (
    "What was stored there is lost; if the run goes on, later records are read as usual"
)
_REMEDY_UNFINISHED = (
    "If it is being written, it appears once it is whole; otherwise the writer was stopped or the file was cut off: "
    "copy it again"
)
_OURS = f"{names.ROOT}/".encode()
_is_rate = lru_cache(4096)(is_rate)


class _Span(NamedTuple):
    """Where an event lies in its file."""

    start: int
    end: int


class Stored:
    """The last value of a tag.

    Attributes:
        file: The event file that holds it.
        step: The step of its event.
        start: Byte offset of its event in the file.
        end: Byte offset after the event.
        ordinal: Which of the event's values it is.
        first_blob: Its first element.
        found: What the element says, once it was read.
    """

    __slots__ = ("end", "file", "first_blob", "found", "ordinal", "start", "step")

    def __init__(self, file: EventFile, step: int, span: _Span, ordinal: int) -> None:
        self.file = file
        self.step = step
        self.start = span.start
        self.end = span.end
        self.ordinal = ordinal
        self.first_blob = b""
        self.found: RecordEntry | Diagnostic | None = None

    @property
    def where(self) -> str:
        """The file and offset, for messages."""
        return f"{self.file.path}, byte {self.start}"

    def read_entry(self, run: str, tag: str) -> RecordEntry | Diagnostic:
        """What the index in the first blob says of the record, or why it cannot be read."""
        try:
            self.found = read_entry(run, tag, self.first_blob)
        except StepscopeError as error:
            self.found = Diagnostic(self.where, error.found, 1, error.remedy, run=run)
        return self.found


class Points:
    """The scalars of a tag, in compact columns that grow."""

    __slots__ = ("step", "value", "wall_time_s")

    def __init__(self) -> None:
        self.step = array("q")
        self.wall_time_s = array("d")
        self.value = array("d")

    def append(self, step: int, wall_time_s: float, value: float) -> None:
        """Adds a scalar."""
        self.step.append(step)
        self.wall_time_s.append(wall_time_s)
        self.value.append(value)


class EventFile:
    """One event file, read as it grows.

    Attributes:
        stored: The last value of each tag of ours.
        scalars: The points of each tag that names a rate, in order.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self._identity: tuple[int, int] | None = None
        self._start_over()

    def _start_over(self) -> None:
        self._reader = RecordReader(self.path)
        self._size = 0
        self._unreadable = ""
        self.stored: dict[str, Stored] = {}
        self.scalars: dict[str, Points] = {}

    def refresh(self, identity: tuple[int, int], size: int) -> bool:
        """Reads what was added. Whether anything may have changed.

        Args:
            identity: The file's device and number, by which a replaced file is told.
            size: Its size.
        """
        if size == self._size and identity == self._identity and not self._unreadable:
            return False
        if identity != self._identity or size < self._reader.offset:
            self._start_over()
        self._identity = identity
        self._size = size
        self._unreadable = ""
        try:
            for offset, payload in self._reader.read_new():
                self._take(payload, offset)
        except OSError as error:
            self._unreadable = error.strerror or str(error)
        return True

    def _take(self, payload: bytes, offset: int) -> None:
        """Takes up the values of an event that are ours, or rates."""
        try:
            event = events.parse(payload)
            if event is not None:
                self._take_values(event, _Span(offset, offset + len(payload)))
        except DecodeError:
            self._reader.report(offset, len(payload), "record is not an event")

    def _take_values(self, event: storage_pb2.EventView, span: _Span) -> None:
        for ordinal, value in enumerate(event.summary.value):
            tag = str(value.tag, "utf-8", "replace")
            if events.is_ours(value.metadata):
                self._take_blobs(tag, value, Stored(self, event.step, span, ordinal))
            elif _is_rate(tag):
                self._take_rate(tag, value, event, span)

    def _take_blobs(self, tag: str, value: storage_pb2.ValueView, stored: Stored) -> None:
        before = self.stored.get(tag)
        if before is not None and before.step > stored.step:
            return
        blobs = value.tensor.string_val
        if blobs:
            stored.first_blob = blobs[0]
        self.stored[tag] = stored

    def _take_rate(
        self, tag: str, value: storage_pb2.ValueView, event: storage_pb2.EventView, span: _Span
    ) -> None:
        number = events.scalar_of(value)
        if number is None:
            return
        if not is_moment(event.wall_time):
            what = f"scalar has an impossible wall time: {event.wall_time} s"
            self._reader.report(span.start, span.end - span.start, what)
            return
        if tag not in self.scalars:
            self.scalars[tag] = Points()
        self.scalars[tag].append(event.step, event.wall_time, number)

    def problems(self, run: str) -> Iterator[Diagnostic]:
        """What of the file could not be read."""
        if self._unreadable:
            what = f"file cannot be read ({self._unreadable})"
            yield Diagnostic(self.path, what, remedy="Check its permissions", run=run)
        for damage in self._reader.damages:
            yield Diagnostic(
                where=f"{self.path}, byte {damage.offset}",
                what=f"{damage.what}, {damage.length} bytes",
                count=damage.length,
                remedy=_REMEDY_DAMAGE,
                run=run,
            )
        # Of other programs' records a part may wait in a buffer for minutes; ours are written at once.
        if _OURS in self._reader.unfinished:
            length = self._size - self._reader.offset
            yield Diagnostic(
                where=f"{self.path}, byte {self._reader.offset}",
                what=f"record is incomplete: {length} bytes",
                count=length,
                remedy=_REMEDY_UNFINISHED,
                run=run,
            )

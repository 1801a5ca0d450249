"""What one event file holds of ours, as far as it has been read."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any, NamedTuple

from google.protobuf.message import DecodeError

from stepscope.errors import StepscopeError
from stepscope.store import events
from stepscope.store.reading import Problem, RecordEntry, entry_of, is_rate, read_index
from stepscope.store.tfrecord import RecordReader

_REMEDY_DAMAGE = "What was stored there is lost; if the run goes on, later records are read as usual"
_is_rate = lru_cache(4096)(is_rate)


class Stored:
    """The last value of a tag: which value of the event in file[start:end] it is, and for an index its element."""

    __slots__ = ("_entry", "end", "file", "index_blob", "ordinal", "start", "step")

    def __init__(self, file: EventFile, step: int, start: int, end: int, ordinal: int, index_blob: bytes) -> None:
        self.file = file
        self.step = step
        self.start = start
        self.end = end
        self.ordinal = ordinal
        self.index_blob = index_blob
        self._entry: RecordEntry | Problem | None = None

    @property
    def where(self) -> str:
        """The file and offset, for messages."""
        return f"{self.file.path}, byte {self.start}"

    def entry(self, run: str, tag: str) -> RecordEntry | Problem:
        """What the index says, or why it cannot be read."""
        if self._entry is None:
            try:
                self._entry = entry_of(run, tag, read_index(self.index_blob, self.where))
            except StepscopeError as error:
                self._entry = Problem(run, self.where, error.found, error.remedy, 1)
        return self._entry


class Point(NamedTuple):
    """A logged scalar."""

    step: int
    wall_time_s: float
    value: float


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
        self._strange: list[int] = []
        self.stored: dict[str, Stored] = {}
        self.scalars: dict[str, list[Point]] = {}

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
        self._identity, self._size, self._unreadable = identity, size, ""
        try:
            for buffer, start, end, base in self._reader.read_new():
                try:
                    self._take(events.scan(buffer, start, end, _is_rate), base + start, base + end)
                except DecodeError:
                    self._strange.append(base + start)
        except OSError as error:
            self._unreadable = error.strerror or str(error)
        return True

    def _take(self, values: list[events.BlobValue | events.ScalarValue], start: int, end: int) -> None:
        for value in values:
            if isinstance(value, events.BlobValue):
                before = self.stored.get(value.tag)
                if before is None or before.step <= value.step:
                    self.stored[value.tag] = Stored(self, value.step, start, end, value.ordinal, value.first_blob)
            else:
                number = value.value if value.value is not None else _number(value.tensor)
                if number is not None:
                    point = Point(value.step, value.wall_time_s, number)
                    self.scalars.setdefault(value.tag, []).append(point)

    def problems(self, run: str) -> Iterator[Problem]:
        """What of the file could not be read."""
        if self._unreadable:
            what = f"a file that cannot be read ({self._unreadable})"
            yield Problem(run, self.path, what, "Check its permissions")
        for damage in self._reader.damages:
            where = f"{self.path}, byte {damage.offset}"
            yield Problem(run, where, f"{damage.what}, {damage.length} bytes", _REMEDY_DAMAGE, damage.length)
        for offset in self._strange:
            yield Problem(run, f"{self.path}, byte {offset}", "a record that is no event", _REMEDY_DAMAGE, 1)


def _number(tensor: bytes) -> float | None:
    """The number in a tensor of one element, None where it holds something else."""
    # Only scalars written by TensorFlow come as stored.
    from tensorboard.compat.proto.tensor_pb2 import TensorProto
    from tensorboard.util.tensor_util import make_ndarray

    try:
        array: Any = make_ndarray(TensorProto.FromString(tensor))
    except (DecodeError, TypeError, ValueError):
        return None
    return float(array.reshape(-1)[0]) if array.size == 1 and array.dtype.kind in "fiu" else None

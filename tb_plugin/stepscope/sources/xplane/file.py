"""Planes of an XPlane file (`*.xplane.pb`, also gzipped), as far as they can be read.

A file is an XSpace message whose planes are read one at a time, so that memory holds one plane and not the file, and
files over protobuf's limit of 2 GiB open. A cut or broken plane gives the lines and events that are whole.
"""

from __future__ import annotations

import mmap
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from google.protobuf.message import DecodeError, Message

from stepscope.errors import DamagedSource, LimitExceeded, SourceError
from stepscope.model.diagnostic import Diagnostic
from stepscope.model.wire import WireError, field_at
from stepscope.pb import xplane_pb2
from stepscope.sources.content import plain
from stepscope.sources.format import Progress
from stepscope.sources.gunzip import MAGIC, unpack

MAX_PLANE_BYTES = (1 << 31) - 1
MAX_DECOMPRESSED_BYTES = 1 << 33

METADATA_PLANE = b"/host:metadata"
_PLANE_FIELD = 1
_NAME_FIELD = 2
_LINES_FIELD = 3
EVENTS_FIELD = 4
_REPLACEMENT = "�".encode()

Buffer = bytes | mmap.mmap
M = TypeVar("M", bound=Message)


@dataclass
class SpaceReader:
    """Reads one file.

    Attributes:
        path: The file.
        losses: What could not be read; complete once all planes were taken.
    """

    path: Path
    progress: Progress | None = None
    losses: list[Diagnostic] = field(default_factory=list)

    def planes(self) -> Iterator[Any]:
        """The file's planes as `xplane_pb2.Plane` messages: first those of programs, which describe what others name.

        Raises:
            SourceError: The file cannot be opened, is larger than the limit, or holds nothing that can be read.
        """
        with _contents(self.path, self.losses) as data:
            if not len(data):
                self._lose("the file is empty", 1, _EMPTY_REMEDY)
            yield from self._walk(data)

    def _walk(self, data: Buffer) -> Iterator[Any]:
        spans = sorted(
            self._spans(data), key=lambda span: plane_name(data, span[0]) != METADATA_PLANE
        )
        done = 0
        for start, end in spans:
            yield self._plane(data, start, end)
            done += end - start
            if self.progress:
                self.progress(min(done, len(data)), len(data))

    def _spans(self, data: Buffer) -> Iterator[tuple[int, int]]:
        position = 0
        while position < len(data):
            try:
                number, start, end = field_at(data, position)
            except WireError:
                self._stop(data, position)
                return
            if number == _PLANE_FIELD:
                yield start, end
            position = end

    def _plane(self, data: Buffer, start: int, end: int) -> Any:
        if min(end, len(data)) - start > MAX_PLANE_BYTES:
            raise LimitExceeded(
                f"a plane of {end - start:,} bytes, over protobuf's limit of 2 GiB",
                where=f"{self.path.name}, byte {start}",
                remedy="Profile fewer steps, or lower the tracer levels",
            )
        body = data[start : min(end, len(data))]
        if end > len(data):
            if _is_mangled(body):
                raise DamagedSource("damaged throughout", where=self.path.name, remedy=_TEXT_REMEDY)
            missing = end - len(data)
            self._lose(
                f"the file ends {missing:,} bytes before the plane at byte {start} does",
                missing,
                _CUT_REMEDY,
            )
        try:
            return xplane_pb2.Plane.FromString(body)
        except DecodeError:
            plane, lost = _salvage_plane(body)
            if end <= len(data):
                self._lose(
                    f"{lost:,} bytes of the plane at byte {start} are damaged", lost, _CUT_REMEDY
                )
            return plane

    def _stop(self, data: Buffer, position: int) -> None:
        found = (
            "no XPlane profile"
            if not position
            else f"the {len(data) - position:,} bytes from here on are damaged"
        )
        remedy = _TEXT_REMEDY if _is_mangled(data[position : position + 4096]) else _CUT_REMEDY
        if not position:
            raise DamagedSource(found, where=f"{self.path.name}, byte 0", remedy=remedy)
        self._lose(found, len(data) - position, remedy, position)

    def _lose(self, what: str, count: int, remedy: str, position: int | None = None) -> None:
        where = self.path.name if position is None else f"{self.path.name}, byte {position}"
        self.losses.append(Diagnostic(where, what, count, remedy))


_EMPTY_REMEDY = "A profile over 2 GB is written as an empty file: profile fewer steps, or have it written as .riegeli"
_CUT_REMEDY = "Copy the file again, or profile again and wait until the profile is written"
_TEXT_REMEDY = (
    "The file went through a text conversion that replaced its bytes: copy it again as binary"
)


def plane_name(data: Buffer, start: int) -> bytes:
    """The name of the plane whose content starts at a position, which stands at its beginning; empty if it does not."""
    try:
        number, inner, end = field_at(data, start)
        if number == 1:
            number, inner, end = field_at(data, end)
    except WireError:
        return b""
    return data[inner:end] if number == _NAME_FIELD else b""


def _is_mangled(body: bytes) -> bool:
    return body[:4096].count(_REPLACEMENT) > 3


def parse_line(body: bytes) -> Any:
    """A line; where it is broken, its whole events."""
    try:
        return xplane_pb2.Line.FromString(body)
    except DecodeError:
        return _salvage(xplane_pb2.Line, body)[0]


def events_start(body: bytes) -> int:
    """Where the first event of a line stands; name and time stamp come before it."""
    position = 0
    while position < len(body):
        try:
            number, _, end = field_at(body, position)
        except WireError:
            break
        if number == EVENTS_FIELD:
            break
        position = end
    return min(position, len(body))


def _salvage_plane(body: bytes) -> tuple[Any, int]:
    plane, read = _salvage(xplane_pb2.Plane, body)
    lost = len(body) - read
    try:
        number, start, end = field_at(body, read)
    except WireError:
        return plane, lost
    if number == _LINES_FIELD and end > len(body):
        line, used = _salvage(xplane_pb2.Line, body[start:])
        plane.lines.append(line.SerializeToString())
        lost -= start - read + used
    return plane, lost


def _salvage(message_type: type[M], body: bytes) -> tuple[M, int]:
    """A message of the fields that are whole, up to the first that is not, and how many bytes they take."""
    message, position = message_type(), 0
    while position < len(body):
        try:
            end = field_at(body, position)[2]
            if end > len(body):
                break
            message.MergeFromString(body[position:end])
        except (WireError, DecodeError):
            break
        position = end
    return message, position


@contextmanager
def _contents(path: Path, losses: list[Diagnostic]) -> Iterator[Buffer]:
    try:
        with path.open("rb") as file:
            if file.read(len(MAGIC)) == MAGIC:
                file.seek(0)
                unpacked, damage = unpack(path, file, MAX_DECOMPRESSED_BYTES)
                if damage:
                    what = f"{damage} after {len(unpacked):,} unpacked bytes"
                    losses.append(Diagnostic(path.name, what, 0, _CUT_REMEDY))
                yield unpacked
            else:
                with plain(file) as data:
                    yield data
    except OSError as error:
        raise SourceError(
            f"cannot be read ({error.strerror or error})",
            where=str(path),
            remedy="Check the path and its permissions",
        ) from error

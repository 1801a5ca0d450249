"""TFRecord files: the framing of event files, written, and read as they grow or where they are damaged.

A record is its length (uint64), the masked CRC-32C of the length, the payload, and the masked CRC-32C of the payload,
all little-endian. TensorBoard's own reader and writer compute the checksum in Python at 5 to 12 MB/s; google-crc32c
does gigabytes.
"""

from __future__ import annotations

import io
import os
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import BinaryIO

import google_crc32c
import numpy as np
from numpy.typing import NDArray

from stepscope.model.wire import Buffer

_HEADER = struct.Struct("<QI")
_FOOTER = struct.Struct("<I")
_MASK_DELTA = 0xA282EAD8
READ_BYTES = 4 << 20
LARGEST_PAYLOAD_BYTES = 128 << 20
"""Above this, a record cannot be one of ours and is passed over unread."""
LARGEST_LENGTH = 1 << 32
"""Longer than any event: a protobuf message ends below 2 GiB."""
UNFINISHED_BYTES = 256
"""So much of a record that is not complete is kept: enough to tell whose it is."""
MOST_DAMAGES = 1000
"""Further ones are joined into the last, so that a file of rubbish does not fill the memory."""


def crc32c(data: Buffer) -> int:
    """CRC-32C (Castagnoli) of the bytes."""
    return int(google_crc32c.value(_checkable(data)))


def _checkable(data: Buffer) -> bytes | NDArray[np.uint8]:
    """google-crc32c takes bytes and arrays, but no memoryview."""
    if isinstance(data, bytes):
        return data
    return np.frombuffer(data, np.uint8)


def _mask(crc: int) -> int:
    return ((crc >> 15 | crc << 17) + _MASK_DELTA) & 0xFFFFFFFF


@lru_cache(4096)
def _length_crc(length: int) -> int:
    return _mask(google_crc32c.value(length.to_bytes(8, "little")))


def frame(*chunks: Buffer) -> bytes:
    """The record whose payload is the chunks."""
    crc = length = 0
    for chunk in chunks:
        crc = google_crc32c.extend(crc, _checkable(chunk))
        length += len(chunk)
    return b"".join((_HEADER.pack(length, _length_crc(length)), *chunks, _FOOTER.pack(_mask(crc))))


@dataclass(frozen=True)
class Damage:
    """Bytes of a file that hold no readable record.

    Attributes:
        offset: Where they start.
        length: How many there are; so far, where the damage reaches to the end of the file.
        what: What does not hold.
    """

    offset: int
    length: int
    what: str


class RecordReader:
    """Reads the records of one file, and later those that were added.

    A record that is not yet complete is waited for. After a damaged one, reading goes on at the next place where a
    length and its checksum agree.

    Attributes:
        offset: Everything before it was read.
        damages: What could not be read so far.
        unfinished: The first bytes of the payload of a record at the end of the file that is not complete.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self.offset = 0
        self.damages: list[Damage] = []
        self.unfinished = b""
        self._lost = False

    def read_new(self) -> Iterator[tuple[int, bytes]]:
        """Reads what was added since the last call.

        Yields:
            A payload, and the offset in the file at which it starts.

        Raises:
            OSError: The file cannot be opened or read.
        """
        self.unfinished = b""
        with open(self.path, "rb", buffering=0) as file:
            size = os.fstat(file.fileno()).st_size
            wanted = READ_BYTES
            while self.offset < size:
                buffer = read_at(file, self.offset, min(wanted, size - self.offset))
                before = self.offset
                if self._lost:
                    self._find_header(buffer, size)
                else:
                    yield from self._records(buffer, size)
                if self.offset > before:
                    wanted = READ_BYTES
                    continue
                wanted = _pending_bytes(buffer, size - before)
                if not wanted:
                    if not self._lost:
                        self.unfinished = buffer[12 : 12 + UNFINISHED_BYTES]
                    return

    def _records(self, buffer: bytes, size: int) -> Iterator[tuple[int, bytes]]:
        base = self.offset
        position = 0
        available = len(buffer)
        # Looked up once: the loop runs for every record of a file.
        header = _HEADER.unpack_from
        footer = _FOOTER.unpack_from
        while position + 12 <= available:
            length, length_crc = header(buffer, position)
            if length >= LARGEST_LENGTH or length_crc != _length_crc(length):
                self._lose(base + position, "record length is damaged")
                return
            start = position + 12
            end = start + length
            if length > LARGEST_PAYLOAD_BYTES and base + end + 4 <= size:
                self.offset = base + end + 4
                return
            if end + 4 > available:
                return
            payload = buffer[start:end]
            crc = google_crc32c.value(payload)
            if footer(buffer, end)[0] == ((crc >> 15 | crc << 17) + _MASK_DELTA) & 0xFFFFFFFF:
                position = end + 4
                self.offset = base + position
                yield base + start, payload
            elif self._skip_payload(buffer, position, end + 4):
                position = end + 4
            else:
                return

    def _skip_payload(self, buffer: bytes, position: int, after: int) -> bool:
        """Passes over a record whose payload is damaged. False where the next one has to be searched for."""
        what = "record checksum does not match"
        if after + 12 <= len(buffer):
            length, length_crc = _HEADER.unpack_from(buffer, after)
            if length >= LARGEST_LENGTH or length_crc != _length_crc(length):
                # A writer died within this record and another went on in the same file.
                self._lose(self.offset, what)
                return False
        self.report(self.offset, after - position, what)
        self.offset += after - position
        return True

    def report(self, offset: int, length: int, what: str) -> None:
        """Notes that so many bytes hold no readable record."""
        if len(self.damages) == MOST_DAMAGES:
            start = self.damages.pop().offset
            length += offset - start
            offset = start
            what = "many records are damaged"
        self.damages.append(Damage(offset, length, what))

    def _lose(self, offset: int, what: str) -> None:
        self.report(offset, 0, what)
        self._lost = True
        self.offset = offset + 1

    def _find_header(self, buffer: bytes, size: int) -> None:
        """Moves to the next header in the buffer, or over the bytes that start none."""
        found = next_header(buffer)
        self._lost = found < 0
        if self._lost:
            self.offset += max(len(buffer) - 11, 0)
            end = size
        else:
            self.offset += found
            end = self.offset
        damage = self.damages[-1]
        self.damages[-1] = Damage(damage.offset, end - damage.offset, damage.what)


def _pending_bytes(buffer: bytes, available: int) -> int:
    """The size of the record at the buffer's start, where the buffer is too small for it and the file has it whole."""
    if len(buffer) < 12:
        return 0
    needed = int(_HEADER.unpack_from(buffer)[0]) + 16
    if not len(buffer) < needed <= available:
        return 0
    return needed


def next_header(buffer: bytes) -> int:
    """The first offset at which a length below 4 GiB and its checksum agree, or -1."""
    count = len(buffer) - 11
    if count <= 0:
        return -1
    data = np.frombuffer(buffer, np.uint8)
    # A length below 4 GiB ends in four zero bytes; no event is empty.
    high = data[4 : count + 4] | data[5 : count + 5] | data[6 : count + 6] | data[7 : count + 7]
    low = data[:count] | data[1 : count + 1] | data[2 : count + 2] | data[3 : count + 3]
    for candidate in np.flatnonzero((high == 0) & (low != 0)).tolist():
        length, length_crc = _HEADER.unpack_from(buffer, candidate)
        if length_crc == _length_crc(length):
            return int(candidate)
    return -1


def read_at(file: BinaryIO | io.FileIO, offset: int, size: int) -> bytes:
    """Reads so many bytes at an offset of an unbuffered file; fewer only at its end."""
    file.seek(offset)
    data = b""
    while len(data) < size:
        more = file.read(size - len(data))
        if not more:
            break
        data += more
    return data

"""gzip streams, unpacked piece by piece as far as they hold together.

Python's gzip module drops everything in its buffer when a byte is damaged, which may be all of a
small trace. `Gunzip` gives everything that precedes the damage.

Source: RFC 1952 (gzip), RFC 1951 (deflate).
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO

from stepscope.errors import LimitExceeded, OptionError

MAGIC = b"\x1f\x8b"
PIECE_BYTES = 1 << 20
MAX_RATIO = 200
"""Unpacked to packed bytes. Profiles and logs stay below 100."""
RATIO_FROM_BYTES = 256 << 20
"""Contents below this size may have any ratio."""
LIMIT_VARIABLE = "STEPSCOPE_MAX_UNPACKED_GIB"
"""An environment variable: accept contents up to so many GiB, whatever their ratio."""

_GZIP_WINDOW = 31
_SALVAGE_STEPS = (1 << 14, 1 << 8, 1)
_GIB = 1 << 30


class Gunzip:
    """Unpacks a gzip stream of one or several members.

    Attributes:
        damage: Why the content ends early or may be wrong, empty where the stream is whole.
    """

    def __init__(self) -> None:
        self.damage = ""
        self._unpack = zlib.decompressobj(_GZIP_WINDOW)
        self._inside_member = False

    def pieces(self, packed: Iterable[bytes]) -> Iterator[bytes]:
        """The unpacked content in pieces of 1 byte to about 1 MiB, up to the first damaged byte."""
        for chunk in packed:
            yield from self._unpacked(chunk)
            if self.damage:
                return
        if self._inside_member:
            self.damage = "gzip stream cut off"
            rest = self._unpack.flush()
            if rest:
                yield rest

    def _unpacked(self, data: bytes) -> Iterator[bytes]:
        while data:
            if not self._inside_member:
                # Zero bytes between and after members are padding.
                data = data.lstrip(b"\0")
                if data[:2] != MAGIC[: len(data)]:
                    self.damage = "bytes after the gzip stream are not gzip"
                    return
            before = self._unpack.copy()
            try:
                piece = self._unpack.decompress(data, PIECE_BYTES)
            except zlib.error as error:
                self.damage = f"gzip stream damaged ({error})"
                rest = _until_damage(before, data)
                if rest:
                    yield rest
                return
            if piece:
                yield piece
            self._inside_member = bool(data) and not self._unpack.eof
            data = self._unpack.unconsumed_tail
            if self._unpack.eof:
                data = self._unpack.unused_data
                self._unpack = zlib.decompressobj(_GZIP_WINDOW)


def _until_damage(unpack: zlib._Decompress, data: bytes) -> bytes:
    """What a stream gives of data that is damaged, by feeding it ever smaller parts."""
    pieces: list[bytes] = []
    position = 0
    for step in _SALVAGE_STEPS:
        while position < len(data):
            trial = unpack.copy()
            try:
                piece = trial.decompress(data[position : position + step])
            except zlib.error:
                break
            pieces.append(piece)
            unpack = trial
            position += step
    return b"".join(pieces)


def unpack(path: Path, packed: BinaryIO, limit_bytes: int) -> tuple[bytes, str]:
    """The whole content of an open gzip file, and its damage (empty for a whole file).

    Raises:
        LimitExceeded: See `check_unpacked`.
    """
    gunzip = Gunzip()
    packed_bytes = path.stat().st_size
    pieces: list[bytes] = []
    size = 0
    for piece in gunzip.pieces(iter(lambda: packed.read(PIECE_BYTES), b"")):
        size += len(piece)
        check_unpacked(path, size, packed_bytes, limit_bytes)
        pieces.append(piece)
    return b"".join(pieces), gunzip.damage


def unpacked_limit(default_bytes: int) -> int:
    """The largest content to unpack, in bytes: the user's limit, or a default.

    Raises:
        OptionError: The environment variable STEPSCOPE_MAX_UNPACKED_GIB is not a positive number.
    """
    given = os.environ.get(LIMIT_VARIABLE, "")
    if not given:
        return default_bytes
    try:
        limit = int(float(given) * _GIB)
    except (ValueError, OverflowError):
        limit = 0
    if limit <= 0:
        raise OptionError(
            f"{LIMIT_VARIABLE} must be a positive number, got {given!r:.40}",
            remedy=f"Set it to a size in GiB, such as {LIMIT_VARIABLE}=16",
        )
    return limit


def check_unpacked(path: Path, unpacked_bytes: int, packed_bytes: int, limit_bytes: int) -> None:
    """Refuses a gzip file that unpacks to far more than profiles and logs do.

    Raises:
        LimitExceeded: More than the limit, or more than 200 times the packed size above 256 MiB
            where the user set no limit.
    """
    if unpacked_bytes > unpacked_limit(limit_bytes):
        raise LimitExceeded(
            f"gzip content exceeds {unpacked_limit(limit_bytes) / _GIB:g} GiB when unpacked",
            where=str(path),
            remedy=f"Profile fewer steps, or set {LIMIT_VARIABLE} to a larger size",
        )
    is_user_limit = bool(os.environ.get(LIMIT_VARIABLE))
    is_suspect = unpacked_bytes > RATIO_FROM_BYTES and unpacked_bytes > MAX_RATIO * packed_bytes
    if is_suspect and not is_user_limit:
        raise LimitExceeded(
            f"gzip file of {packed_bytes:,} bytes unpacks to more than {MAX_RATIO} times its size",
            where=str(path),
            remedy=f"If you trust it, set {LIMIT_VARIABLE}={-(-limit_bytes // _GIB)}",
        )

"""The bytes of a trace file in chunks, decompressed, as far as the file goes."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from pathlib import Path

from stepscope.errors import LimitExceeded, SourceError
from stepscope.sources.content import MAX_DECOMPRESSED_BYTES
from stepscope.sources.format import Progress

READ_BYTES = 1 << 20
_GZIP_MAGIC = b"\x1f\x8b"


class ByteChunks:
    """Iterates over the decompressed content of a file.

    A gzip stream that is cut off or damaged gives what comes before the damage; `damage` then says what was found.

    Args:
        path: The file, plain or gzip (told by its first bytes).
        progress: Told how many bytes of the file, as it lies on disk, were read.
    """

    def __init__(self, path: Path, progress: Progress | None = None) -> None:
        self.path = path
        self.damage = ""
        self._progress = progress

    def __iter__(self) -> Iterator[bytes]:
        raw = self._read()
        first = next(raw, b"")
        if not first.startswith(_GZIP_MAGIC):
            yield first
            yield from raw
            return
        size = 0
        for part in self._gunzip(first, raw):
            size += len(part)
            if size > MAX_DECOMPRESSED_BYTES:
                raise LimitExceeded(
                    "more than 16 GiB when decompressed",
                    where=str(self.path),
                    remedy="Profile fewer steps, or decompress and split the file",
                )
            if part:
                yield part

    def _read(self) -> Iterator[bytes]:
        try:
            total = self.path.stat().st_size
            with self.path.open("rb") as stream:
                done = 0
                while chunk := stream.read(READ_BYTES):
                    done += len(chunk)
                    if self._progress:
                        self._progress(done, total)
                    yield chunk
        except OSError as error:
            raise SourceError(
                f"cannot be read ({error.strerror})", where=str(self.path), remedy="Check the path and its permissions"
            ) from error

    def _gunzip(self, first: bytes, rest: Iterator[bytes]) -> Iterator[bytes]:
        unpack = zlib.decompressobj(wbits=31)
        data: bytes | None = first
        try:
            while data is not None:
                yield unpack.decompress(data, READ_BYTES)
                data = unpack.unconsumed_tail
                if unpack.eof and (following := unpack.unused_data.lstrip(b"\0")):
                    unpack, data = zlib.decompressobj(wbits=31), following
                elif not data:
                    data = next(rest, None)
        except zlib.error as error:
            self.damage = f"gzip stream damaged ({error})"
            return
        if not unpack.eof:
            self.damage = "gzip stream cut off"
            yield unpack.flush()

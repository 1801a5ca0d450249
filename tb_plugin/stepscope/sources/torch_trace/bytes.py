"""The bytes of a trace file in chunks, unpacked, as far as the file goes."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from pathlib import Path

from stepscope.errors import SourceError
from stepscope.sources.content import MAX_DECOMPRESSED_BYTES
from stepscope.sources.format import Progress
from stepscope.sources.gunzip import MAGIC, Gunzip, check_unpacked

READ_BYTES = 1 << 20


class ByteChunks:
    """Iterates over the unpacked content of a file.

    A gzip stream that is cut off or damaged gives the content before the damage, which `damage` names.

    Args:
        path: The file, plain or gzip (told by its first bytes).
        progress: Receives how many bytes of the file, as it lies on disk, were read.
    """

    def __init__(self, path: Path, progress: Progress | None = None) -> None:
        self.path = path
        self.damage = ""
        self._progress = progress

    def __iter__(self) -> Iterator[bytes]:
        raw = self._read()
        first = next(raw, b"")
        if not first.startswith(MAGIC):
            yield first
            yield from raw
            return
        gunzip = Gunzip()
        packed_bytes = self.path.stat().st_size
        size = 0
        for piece in gunzip.pieces(chain([first], raw)):
            size += len(piece)
            check_unpacked(self.path, size, packed_bytes, MAX_DECOMPRESSED_BYTES)
            yield piece
        self.damage = gunzip.damage

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
                f"cannot be read ({error.strerror})",
                where=str(self.path),
                remedy="Check the path and its permissions",
            ) from error

"""The bytes of a file, decompressed where they are gzip."""

from __future__ import annotations

import gzip
import mmap
import os
import stat
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import BinaryIO

from stepscope.errors import DamagedSource, LimitExceeded, NotFound, SourceError
from stepscope.model.diagnostic import Diagnostic

HEAD_BYTES = 64 << 10
MAX_DECOMPRESSED_BYTES = 16 << 30
"""Of a file that is read piece by piece."""
MAX_UNPACKED_BYTES = 4 << 30
"""Of a file that is held in memory as a whole. A protobuf message ends below 2 GiB."""
MAX_RATIO = 200
"""Unpacked to packed bytes, above SMALL_BYTES. Profiles and logs stay below 100; what is made to fill memory, above."""
SMALL_BYTES = 256 << 20
MAPPED_FROM_BYTES = 256 << 20
_GZIP_MAGIC = b"\x1f\x8b"
_BLOCK_BYTES = 1 << 20
_losses: ContextVar[list[Diagnostic] | None] = ContextVar("losses", default=None)
_mapping: ContextVar[bool] = ContextVar("mapping", default=True)


def head(path: Path) -> bytes:
    """The first 64 KiB of a file's content, empty for a folder.

    Raises:
        NotFound: There is no such file.
        SourceError: It is no file, or cannot be opened.
    """
    if path.is_dir():
        return b""
    with _opened(path) as raw:
        start = raw.read(HEAD_BYTES)
    if not start.startswith(_GZIP_MAGIC):
        return start
    try:
        return zlib.decompressobj(wbits=31).decompress(start, HEAD_BYTES)
    except zlib.error:
        return b""


@contextmanager
def content(path: Path) -> Iterator[bytes | mmap.mmap]:
    """The whole content of a file: read, mapped into memory, or decompressed.

    Raises:
        NotFound: There is no such file.
        DamagedSource: The gzip stream is broken from the start.
        LimitExceeded: The content is larger than 4 GiB when decompressed.
    """
    with _opened(path) as raw:
        magic = raw.read(2)
        if magic == _GZIP_MAGIC:
            yield decompress(path)
        else:
            with plain(raw) as data:
                yield data


@contextmanager
def plain(raw: BinaryIO) -> Iterator[bytes | mmap.mmap]:
    """The whole content of an open file: read, or mapped into memory where it is large."""
    raw.seek(0, os.SEEK_END)
    if raw.tell() < MAPPED_FROM_BYTES or not _mapping.get():
        raw.seek(0)
        yield raw.read()
    else:
        with mmap.mmap(raw.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
            yield mapped


@contextmanager
def without_mapping() -> Iterator[None]:
    """Reads files into memory instead of mapping them.

    Where somebody cuts a mapped file short, the system ends the process by SIGBUS. That must not
    end a training loop.
    """
    token = _mapping.set(False)
    try:
        yield
    finally:
        _mapping.reset(token)


def release(data: bytes | mmap.mmap, end: int) -> None:
    """Lets the system take back the memory of what was read of a mapped file up to a position."""
    whole_pages = end // mmap.PAGESIZE * mmap.PAGESIZE
    if isinstance(data, mmap.mmap) and whole_pages and hasattr(mmap, "MADV_DONTNEED"):
        data.madvise(mmap.MADV_DONTNEED, 0, whole_pages)


def decompress(path: Path) -> bytes:
    """The content of a gzip file. A file that is cut off or damaged gives what comes before the damage.

    Raises:
        DamagedSource: The stream is broken from the start.
        LimitExceeded: The content is larger than 4 GiB, or so much larger than the file that it was made to be.
    """
    parts: list[bytes] = []
    size, packed = 0, path.stat().st_size
    try:
        with gzip.open(path) as stream:
            while part := stream.read1(_BLOCK_BYTES):
                size += len(part)
                if size > MAX_UNPACKED_BYTES:
                    raise LimitExceeded(
                        "more than 4 GiB when decompressed",
                        where=str(path),
                        remedy="Profile fewer steps, or decompress and split the file",
                    )
                check_ratio(path, size, packed)
                parts.append(part)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        if not parts:
            raise DamagedSource(
                f"the gzip stream is broken ({error})", where=str(path), remedy="Copy the file again"
            ) from error
        what = f"the gzip stream is broken after {size:,} unpacked bytes ({error}): what comes before is shown"
        if (losses := _losses.get()) is not None:
            losses.append(Diagnostic(path.name, what, 0, "Copy the file again"))
    return b"".join(parts)


def check_ratio(path: Path, size: int, packed: int) -> None:
    """Raises LimitExceeded where a file unpacks to more than any profile or log does."""
    if size > SMALL_BYTES and size > MAX_RATIO * packed:
        raise LimitExceeded(
            f"a gzip file of {packed:,} bytes that unpacks to more than {MAX_RATIO} times as many",
            where=str(path),
            remedy="No profile does: check what it is, and decompress it by hand",
        )


@contextmanager
def noted_losses() -> Iterator[list[Diagnostic]]:
    """Gathers what `content` and `decompress` cannot give of the files read meanwhile."""
    losses: list[Diagnostic] = []
    token = _losses.set(losses)
    try:
        yield losses
    finally:
        _losses.reset(token)


@contextmanager
def _opened(path: Path) -> Iterator[BinaryIO]:
    try:
        # Before it is opened: a pipe that nobody writes to would keep us waiting for ever.
        if not stat.S_ISREG(path.stat().st_mode):
            raise SourceError(
                "a folder, pipe or device, not a file", where=str(path), remedy="Save its content to a file first"
            )
        stream = path.open("rb")
    except FileNotFoundError as error:
        raise NotFound("no such file or folder", where=str(path), remedy="Check the path") from error
    except OSError as error:
        raise SourceError(
            f"cannot be opened ({error.strerror})", where=str(path), remedy="Check the path and its permissions"
        ) from error
    with stream:
        yield stream

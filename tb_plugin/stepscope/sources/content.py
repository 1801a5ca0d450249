"""The bytes of a file, unpacked where they are gzip."""

from __future__ import annotations

import mmap
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import BinaryIO

from stepscope.errors import DamagedSource, NotFound, SourceError
from stepscope.model.diagnostic import Diagnostic
from stepscope.sources.gunzip import MAGIC, Gunzip, unpack

HEAD_BYTES = 64 << 10
MAX_DECOMPRESSED_BYTES = 16 << 30
"""Of a file that is read piece by piece."""
MAX_UNPACKED_BYTES = 4 << 30
"""Of a file that is held in memory as a whole. A protobuf message ends below 2 GiB."""
MAPPED_FROM_BYTES = 256 << 20
_losses: ContextVar[list[Diagnostic] | None] = ContextVar("losses", default=None)
_mapping: ContextVar[bool] = ContextVar("mapping", default=True)


def head(path: Path) -> bytes:
    """The first 64 KiB of a file's content, empty for a folder.

    A damaged gzip file gives the content before the damage.

    Raises:
        NotFound: The file does not exist.
        SourceError: The path is not a file, or cannot be opened.
    """
    if path.is_dir():
        return b""
    with _opened(path) as raw:
        start = raw.read(HEAD_BYTES)
    if not start.startswith(MAGIC):
        return start
    content_start = b""
    for piece in Gunzip().pieces([start]):
        content_start += piece
        if len(content_start) >= HEAD_BYTES:
            break
    return content_start[:HEAD_BYTES]


@contextmanager
def content(path: Path) -> Iterator[bytes | mmap.mmap]:
    """The whole content of a file: read, mapped into memory, or unpacked.

    Raises:
        NotFound: The file does not exist.
        DamagedSource: The gzip stream is damaged from the start.
        LimitExceeded: The content exceeds 4 GiB when unpacked.
    """
    with _opened(path) as raw:
        magic = raw.read(len(MAGIC))
        if magic == MAGIC:
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

    When another process truncates a mapped file, the system ends this process by SIGBUS. That must
    not end a training loop.
    """
    token = _mapping.set(False)
    try:
        yield
    finally:
        _mapping.reset(token)


def release(data: bytes | mmap.mmap, end: int) -> None:
    """Returns the memory of a mapped file up to a position to the system."""
    whole_pages = end // mmap.PAGESIZE * mmap.PAGESIZE
    if isinstance(data, mmap.mmap) and whole_pages and hasattr(mmap, "MADV_DONTNEED"):
        data.madvise(mmap.MADV_DONTNEED, 0, whole_pages)


def decompress(path: Path) -> bytes:
    """The content of a gzip file. A damaged file gives the content before the damage.

    Raises:
        DamagedSource: The stream is damaged from the start.
        LimitExceeded: The content exceeds 4 GiB, or 200 times the file's size.
    """
    with _opened(path) as raw:
        data, damage = unpack(path, raw, MAX_UNPACKED_BYTES)
    if damage and not data:
        raise DamagedSource(damage, where=str(path), remedy="Copy the file again")
    if damage:
        what = f"{damage} after {len(data):,} unpacked bytes; StepScope reads those"
        _note(Diagnostic(path.name, what, 0, "Copy the file again"))
    return data


def _note(loss: Diagnostic) -> None:
    losses = _losses.get()
    if losses is not None:
        losses.append(loss)


@contextmanager
def noted_losses() -> Iterator[list[Diagnostic]]:
    """Collects the losses of the files that `content` and `decompress` read meanwhile."""
    losses: list[Diagnostic] = []
    token = _losses.set(losses)
    try:
        yield losses
    finally:
        _losses.reset(token)


@contextmanager
def _opened(path: Path) -> Iterator[BinaryIO]:
    try:
        # Checked before opening: opening a pipe without a writer would wait forever.
        if not stat.S_ISREG(path.stat().st_mode):
            raise SourceError(
                "not a file but a folder, pipe or device",
                where=str(path),
                remedy="Save its content to a file first",
            )
        stream = path.open("rb")
    except FileNotFoundError as error:
        raise NotFound(
            "no such file or folder", where=str(path), remedy="Check the path"
        ) from error
    except OSError as error:
        raise SourceError(
            f"cannot be opened ({error.strerror})",
            where=str(path),
            remedy="Check the path and its permissions",
        ) from error
    with stream:
        yield stream

"""Where values go: into an event file of our own, or through another writer that offers the same."""

from __future__ import annotations

import contextlib
import itertools
import os
import re
import socket
import threading
import time
import weakref
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import BinaryIO, Protocol

from stepscope.errors import LimitExceeded, StoreError
from stepscope.model.wire import Buffer
from stepscope.store import events, tfrecord

_WRITE_AT_BYTES = 1 << 20
LARGEST_PENDING_BYTES = 256 << 20


class Sink(Protocol):
    """Takes values with their tags. Safe to call from several threads."""

    def add_blobs(
        self, tag: str, content: bytes, blobs: Sequence[bytes], *, step: int, wall_time_s: float
    ) -> None:
        """Adds a blob sequence with its plugin content."""

    def add_scalars(self, values: Mapping[str, float], *, step: int, wall_time_s: float) -> None:
        """Adds scalars by their tags."""

    def flush(self) -> None:
        """Hands everything added so far to the operating system."""

    def close(self) -> None:
        """Flushes and gives the file back. Adding afterwards raises StoreError."""


class EventFileSink:
    """One event file of our own in a directory, made at construction.

    No two sinks share a file. After a fork the child starts a file of its own at its first value, and what the parent
    had not flushed stays with the parent.

    Args:
        directory: The run's directory; made where it is absent.

    Raises:
        StoreError: The file cannot be made or written. What was added is kept and written by the next flush.
    """

    def __init__(self, directory: str | os.PathLike[str]) -> None:
        # Absolute: the process may go elsewhere before a file has to be made anew, as in a forked child.
        self.directory = Path(os.path.abspath(directory))
        self.path: Path | None = None
        self._closed = False
        self._forget_file()
        with self._lock:
            self._open()
            try:
                self._write_pending()
            except StoreError:
                self._close_file()
                raise
        _sinks.add(self)

    def _forget_file(self) -> None:
        self._lock = threading.Lock()
        self._file: BinaryIO | None = None
        self._pending: list[bytes] = []
        self._pending_bytes = 0
        self._written_bytes = 0

    def _open(self) -> None:
        try:
            self.directory.mkdir(parents=True, exist_ok=True)
            self.path, self._file = _create(self.directory)
        except OSError as error:
            raise _failed("make an event file", self.directory, error) from error
        self._written_bytes = 0
        self._keep(tfrecord.frame(events.version_event(time.time())), at=0)

    def _keep(self, record: bytes, *, at: int) -> None:
        self._pending.insert(at, record)
        self._pending_bytes += len(record)

    def _close_file(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None

    def add_blobs(
        self, tag: str, content: bytes, blobs: Sequence[bytes], *, step: int, wall_time_s: float
    ) -> None:
        """Adds a blob sequence with its plugin content."""
        self._add(events.blob_event(tag, content, blobs, step, wall_time_s))

    def add_scalars(self, values: Mapping[str, float], *, step: int, wall_time_s: float) -> None:
        """Adds scalars by their tags, in single precision as all of TensorBoard's."""
        self._add(events.scalar_event(values, step, wall_time_s))

    def _add(self, event: Sequence[Buffer]) -> None:
        record = tfrecord.frame(*event)
        with self._lock:
            if self._closed:
                raise StoreError(
                    "writer is closed", where=str(self.path), remedy="Create a new writer"
                )
            if self._pending_bytes > LARGEST_PENDING_BYTES:
                found = f"event file cannot be written; {self._pending_bytes} bytes are waiting"
                raise LimitExceeded(found, where=str(self.path), remedy="Free disk space")
            self._keep(record, at=len(self._pending))
            if self._pending_bytes >= _WRITE_AT_BYTES:
                # What cannot be written is kept: the next flush says so. Who were told here would add it once more.
                with contextlib.suppress(StoreError):
                    self._write_pending()

    def flush(self) -> None:
        """Hands everything added so far to the operating system."""
        with self._lock:
            if not self._closed:
                self._write_pending()

    def close(self) -> None:
        """Flushes and closes the file. Closing twice does nothing."""
        with self._lock:
            if self._closed:
                return
            try:
                self._write_pending()
            finally:
                self._closed = True
                self._close_file()

    def _write_pending(self) -> None:
        if not self._pending:
            return
        if self._file is not None and self._was_removed():
            self._close_file()
        if self._file is None:
            self._open()
        # Joining one large record would copy it.
        data = self._pending[0] if len(self._pending) == 1 else b"".join(self._pending)
        self._write(data)
        self._pending.clear()
        self._pending_bytes = 0

    def _was_removed(self) -> bool:
        """Whether somebody deleted the file: what is written to it then is lost without an error."""
        assert self._file is not None
        assert self.path is not None
        try:
            return os.fstat(self._file.fileno()).st_nlink == 0 and not self.path.exists()
        except OSError:
            return False

    def _write(self, data: bytes) -> None:
        assert self._file is not None
        view = memoryview(data)
        done = 0
        try:
            while done < len(data):
                done += self._file.write(view[done:])
        except OSError as error:
            # A record that is cut off would hide all later ones of this file from TensorBoard.
            with contextlib.suppress(OSError):
                self._file.truncate(self._written_bytes)
                self._file.seek(self._written_bytes)
            raise _failed("write", self.path, error) from error
        self._written_bytes += len(data)


def _create(directory: Path) -> tuple[Path, BinaryIO]:
    host = re.sub(r"[^\w.-]|_", "-", socket.gethostname())
    for n in itertools.count():
        path = (
            directory / f"events.out.tfevents.{int(time.time())}.{host}.{os.getpid()}.{n}.stepscope"
        )
        with contextlib.suppress(FileExistsError):
            return path, open(path, "xb", buffering=0)
    raise AssertionError


def _failed(what: str, path: Path | None, error: OSError) -> StoreError:
    remedy = "Check that the directory can be written and the disk has room"
    return StoreError(f"cannot {what} ({error.strerror or error})", where=str(path), remedy=remedy)


_sinks: weakref.WeakSet[EventFileSink] = weakref.WeakSet()


def _forget_files() -> None:
    for sink in list(_sinks):
        sink._close_file()
        sink._forget_file()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_files)

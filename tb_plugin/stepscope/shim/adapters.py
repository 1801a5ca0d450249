"""Where a Writer's values go: an event file of our own, or a summary writer that the user already has."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from stepscope.errors import OptionError
from stepscope.store import events
from stepscope.store.sink import EventFileSink, Sink


def sink_for(target: Any) -> Sink:
    """The sink of a log directory, or of a torch, tensorboardX or TensorFlow summary writer.

    Raises:
        OptionError: It is none of these.
        StoreError: The directory cannot be written.
    """
    if isinstance(target, str | os.PathLike):
        return EventFileSink(target)
    if hasattr(target, "_get_file_writer"):
        return SummaryWriterSink(target)
    if hasattr(target, "as_default") and "tensorflow" in sys.modules:
        return TensorFlowSink(target)
    raise OptionError(
        f"Writer() expects a log directory or a SummaryWriter, not {type(target).__name__}",
        remedy="Pass a directory, a SummaryWriter of torch or tensorboardX, or a tf.summary file writer",
    )


class ForeignSink:
    """Writes through another writer, which stays its owner's to close.

    After a fork the other writer's thread is gone in the child: there, values go to an event file in its directory.
    """

    def __init__(self, directory: str | None) -> None:
        self._directory = directory
        self._pid = os.getpid()
        self._own: EventFileSink | None = None

    def add_blobs(
        self, tag: str, content: bytes, blobs: Sequence[bytes], *, step: int, wall_time_s: float
    ) -> None:
        """Adds a blob sequence with its plugin content."""
        if self._forked():
            self._child().add_blobs(tag, content, blobs, step=step, wall_time_s=wall_time_s)
        else:
            self._write(b"".join(events.blob_event(tag, content, blobs, step, wall_time_s)))

    def add_scalars(self, values: Mapping[str, float], *, step: int, wall_time_s: float) -> None:
        """Adds scalars by their tags."""
        if self._forked():
            self._child().add_scalars(values, step=step, wall_time_s=wall_time_s)
        else:
            self._write(b"".join(events.scalar_event(values, step, wall_time_s)))

    def flush(self) -> None:
        """Hands everything added so far to the operating system."""
        if self._forked():
            self._child().flush()
        else:
            self._flush()

    def close(self) -> None:
        """Flushes; the other writer stays open."""
        self.flush()

    def _forked(self) -> bool:
        return os.getpid() != self._pid

    def _child(self) -> EventFileSink:
        if self._own is None:
            if self._directory is None:
                raise OSError(
                    "log directory of the parent's summary writer is unknown in a forked process"
                )
            self._own = EventFileSink(Path(self._directory))
        return self._own

    def _write(self, event: bytes) -> None:
        raise NotImplementedError

    def _flush(self) -> None:
        raise NotImplementedError


class SummaryWriterSink(ForeignSink):
    """Writes through a SummaryWriter of torch or tensorboardX."""

    def __init__(self, writer: Any) -> None:
        super().__init__(
            os.path.abspath(writer.logdir if hasattr(writer, "logdir") else writer.log_dir)
        )
        self._writer = writer
        root = type(writer).__module__.partition(".")[0]
        place = (
            "tensorboardX.proto.event_pb2"
            if root == "tensorboardX"
            else "tensorboard.compat.proto.event_pb2"
        )
        self._event = import_module(place).Event

    def _write(self, event: bytes) -> None:
        self._writer._get_file_writer().event_writer.add_event(self._event.FromString(event))

    def _flush(self) -> None:
        self._writer.flush()


class TensorFlowSink(ForeignSink):
    """Writes through a writer of tf.summary.create_file_writer."""

    def __init__(self, writer: Any) -> None:
        # It does not say its directory; and TensorFlow itself does not survive a fork.
        super().__init__(None)
        self._writer = writer
        self._summary = sys.modules["tensorflow"].summary
        self._event = import_module("tensorboard.compat.proto.event_pb2").Event

    def _write(self, event: bytes) -> None:
        parsed = self._event.FromString(event)
        with self._writer.as_default():
            self._summary.experimental.write_raw_pb(
                parsed.summary.SerializeToString(), step=parsed.step
            )

    def _flush(self) -> None:
        self._writer.flush()

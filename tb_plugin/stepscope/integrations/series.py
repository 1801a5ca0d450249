"""A throughput series that a framework's callbacks begin, feed and end."""

from __future__ import annotations

from contextlib import ExitStack
from typing import Any

from stepscope.shim.throughput_log import ThroughputLog
from stepscope.shim.writer import Writer


class CallbackSeries:
    """The series of one training at a time, with at most one span open; outside of training nothing is logged.

    Spans begin in one callback and end in another: beginning one ends the other.

    Args:
        target: A Writer, or what one takes: a log directory or a summary writer.
        name: The series' name.
        settings: See `stepscope.shim.settings.SeriesSettings`.
    """

    def __init__(self, target: Any, name: str, settings: dict[str, Any]) -> None:
        self._target = target
        self._name = name
        self._settings = settings
        self._log: ThroughputLog | None = None
        self._writer = ExitStack()
        self._span = ExitStack()
        self.span_kind = ""

    def begin(self, planned_steps: int | None, rank: int = 0, world_size: int = 1) -> ThroughputLog:
        """Begins the series, in a writer of its own unless one was given."""
        self.close()
        writer = self._target
        if not isinstance(writer, Writer):
            writer = Writer(writer, rank=rank if world_size > 1 else None, world_size=world_size)
            self._writer.callback(writer.close)
        settings: dict[str, Any] = {"planned_steps": planned_steps} | self._settings
        self._log = writer.throughput(self._name, **settings)
        return self._log

    def add(self, count: int | None, step: int) -> None:
        """Counts a batch."""
        if self._log is not None:
            self._log.add(count, step=step)

    def begin_span(self, kind: str) -> None:
        """Begins a span, unless one of this kind is open."""
        if self._log is None or kind == self.span_kind:
            return
        self.end_span()
        self._span.enter_context(self._log.span(kind))
        self.span_kind = kind

    def end_span(self) -> None:
        """Ends the open span, if any."""
        self._span.close()
        self.span_kind = ""

    def close(self) -> None:
        """Ends the series, and the writer where it was made here."""
        self.end_span()
        if self._log is not None:
            self._log.close()
            self._log = None
        self._writer.close()

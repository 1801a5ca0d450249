"""Spans that begin in one callback and end in another."""

from __future__ import annotations

from contextlib import ExitStack

from stepscope.shim.throughput_log import ThroughputLog


class SpanSwitch:
    """At most one span of a series at a time: beginning one ends the other."""

    def __init__(self, log: ThroughputLog) -> None:
        self._log = log
        self._open = ExitStack()
        self.kind = ""

    def begin(self, kind: str) -> None:
        """Begins a span, unless one of this kind is open."""
        if kind == self.kind:
            return
        self.end()
        self._open.enter_context(self._log.span(kind))
        self.kind = kind

    def end(self) -> None:
        """Ends the open span, if any."""
        self._open.close()
        self.kind = ""

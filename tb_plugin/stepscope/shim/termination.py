"""A flush when SIGTERM comes, for who asks for it."""

from __future__ import annotations

import os
import signal
import threading
from types import FrameType
from typing import Protocol

LOCK_WAIT_SECS = 1.0


class Flushable(Protocol):
    """What can be flushed from a signal handler."""

    def flush_before_death(self, wait_secs: float) -> None:
        """Flushes, waiting so long for a lock."""


_writers: list[Flushable] = []
_previous: signal._HANDLER = None


def flush_on_sigterm(writer: Flushable) -> None:
    """Flushes the writer when SIGTERM comes, and then does what was done before.

    A handler can only be set from the main thread; from another one nothing is set.
    """
    global _previous
    if threading.current_thread() is not threading.main_thread():
        return
    _writers.append(writer)
    current = signal.getsignal(signal.SIGTERM)
    if current is not _flush_all:
        _previous = current
        signal.signal(signal.SIGTERM, _flush_all)


def _flush_all(number: int, frame: FrameType | None) -> None:
    for writer in _writers:
        writer.flush_before_death(LOCK_WAIT_SECS)
    if callable(_previous):
        _previous(number, frame)
    elif _previous is not signal.SIG_IGN:
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)

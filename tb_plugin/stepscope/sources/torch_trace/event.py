"""One event of a trace, with numbers and arguments as they stand in the text."""

from __future__ import annotations

import msgspec
from msgspec import Raw

Id = int | str | float | None

EVENT_KEY = rb'"(?:ph|cat|name|pid|tid|ts|dur|id|bp|s|args)"\s*:'
"""A key that tells an event from other objects, as a pattern."""

BLANK = b" \t\r\n,"
"""What may stand between two events."""


class Event(msgspec.Struct, gc=False):
    """One entry of `traceEvents`; numbers and arguments as they stand in the text."""

    ph: str = ""
    cat: str | None = None
    name: str = ""
    pid: Id = None
    tid: Id = None
    ts: Raw = Raw(b"")
    dur: Raw = Raw(b"")
    id: Id = None
    args: Raw = Raw(b"")


UNREADABLE = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
"""What decoding broken or endlessly nested text raises."""

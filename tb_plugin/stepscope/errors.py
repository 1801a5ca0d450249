"""The errors of StepScope.

    StepscopeError
    ├── SourceError          a foreign file cannot be read
    │   ├── UnrecognisedSource   no known format matches
    │   ├── DamagedSource        a known format, but broken or cut off
    │   └── UnsupportedSource    a known format in a version that is not supported
    ├── RecordError          a record breaks the rules of its model
    ├── StoreError           a stored record cannot be read or written
    │   ├── DamagedRecord        a checksum, size or index does not hold
    │   └── NewerSchema          written by a newer StepScope
    ├── OptionError          an option has a wrong name, type or value
    ├── NotFound             no such run, record or tag
    └── LimitExceeded        an answer or a file is larger than the limit

Every message says what was found, where, and what to do.
"""

from __future__ import annotations

from functools import partial
from typing import Any, ClassVar

LONGEST_FOUND = 500
"""Characters: what was found may repeat what somebody gave, of any length."""


class StepscopeError(Exception):
    """Something a user can understand and act on.

    Args:
        found: What was found, as a clause without a final full stop.
        where: The place: file, byte offset, record, run, tag.
        remedy: What to do about it, as a sentence without a final full stop.
    """

    exit_code: ClassVar[int] = 1
    http_status: ClassVar[int] = 422

    def __init__(self, found: str, *, where: str = "", remedy: str = "") -> None:
        self.found = found if len(found) <= LONGEST_FOUND else f"{found[:LONGEST_FOUND]}…"
        self.where = where
        self.remedy = remedy
        super().__init__(self.found, where, remedy)

    def __reduce__(self) -> tuple[Any, ...]:
        return partial(type(self), where=self.where, remedy=self.remedy), (self.found,)

    def __str__(self) -> str:
        text = f"{self.where}: {self.found}." if self.where else f"{self.found}."
        return f"{text} {self.remedy}." if self.remedy else text


class SourceError(StepscopeError):
    """A foreign file cannot be read."""


class UnrecognisedSource(SourceError):
    """No known format matches the file."""


class DamagedSource(SourceError):
    """The file is of a known format, but broken or cut off."""


class UnsupportedSource(SourceError):
    """The file is of a known format, in a version that is not supported."""


class RecordError(StepscopeError):
    """A record breaks the rules of its model."""

    def within(self, place: str) -> RecordError:
        """The same error, said of a record that lies at this place."""
        return RecordError(
            self.found, where=f"{place}: {self.where}" if self.where else place, remedy=self.remedy
        )


class StoreError(StepscopeError):
    """A stored record cannot be read or written."""


class DamagedRecord(StoreError):
    """A checksum, a size or an index of a stored record does not hold."""


class NewerSchema(StoreError):
    """The record was written by a newer StepScope."""


class OptionError(StepscopeError):
    """An option has a wrong name, type or value."""

    exit_code = 2
    http_status = 400


class NotFound(StepscopeError):
    """There is no such run, record or tag."""

    exit_code = 2
    http_status = 404


class LimitExceeded(StepscopeError):
    """An answer or a file is larger than the limit."""

    http_status = 413

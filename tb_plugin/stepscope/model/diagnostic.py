"""What could not be read or shown, and what to do about it."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

from stepscope.errors import StepscopeError


@dataclass(frozen=True)
class Diagnostic:
    """Something that is missing from a record, an answer or an index.

    Attributes:
        where: The file and byte offset, the tag, or the part of the source.
        what: What is missing or wrong, as a clause.
        count: How many bytes, records or points are concerned, 0 where unknown.
        remedy: What to do about it, as a sentence without a full stop.
        run: The run. Empty inside a record, and where several runs are concerned.
    """

    where: str
    what: str
    count: int = 0
    remedy: str = ""
    run: str = ""

    @classmethod
    def of_error(cls, error: StepscopeError, *, run: str = "", count: int = 1) -> Diagnostic:
        """The diagnostic that tells what an error tells."""
        return cls(where=error.where, what=error.found, count=count, remedy=error.remedy, run=run)

    def in_run(self, run: str) -> Diagnostic:
        """The same diagnostic, said of a run."""
        return dataclasses.replace(self, run=run)

    def to_json(self) -> dict[str, Any]:
        """The document of a diagnostic whose run is told elsewhere."""
        return {"where": self.where, "what": self.what, "count": self.count, "remedy": self.remedy}

"""What the trace lens answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from stepscope.lenses.trace.breakdown import Breakdown
from stepscope.lenses.trace.launches import Launches
from stepscope.lenses.trace.ranks import Ranks
from stepscope.model.diagnostic import Diagnostic


@dataclass(frozen=True, eq=False)
class TraceResult:
    """A table or a picture of the single executions of a profile.

    Attributes:
        show: What is shown, as in the options.
        document: The document, for those that are documents already.
        value: The `Breakdown`, `Launches` or `Ranks` that the document is made from; None for the others.
        steps: How many steps the profile has.
        run: The profile's run.
    """

    show: str
    document: dict[str, Any]
    value: Breakdown | Launches | Ranks | None
    steps: int
    run: str

    def __repr__(self) -> str:
        return f"<TraceResult {self.show} of {self.run or 'a profile'}>"

    @property
    def problems(self) -> tuple[Diagnostic, ...]:
        """What does not fit together in the records."""
        return self.value.problems if isinstance(self.value, Ranks) else ()

    def to_json(self) -> dict[str, Any]:
        """The document. Times are in ps, relative to the profile's anchor."""
        return self.document

"""The parts of a report: how much it holds, and a document with the questions that it answers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from stepscope.errors import StepscopeError


@dataclass(frozen=True)
class Extent:
    """How much a report holds.

    Attributes:
        depth: Levels of a view.
        rows: Rows of a view and of a comparison: those that cost the most, and what is above them.
        details: Rows of a view with all that is known of them.
        points: Points of a throughput series.
        comparisons: Pairs of runs that are compared in each lens, those side by side first.
        profiles: Profiles of which the single executions are kept: steps, trace, kernels, launches, memory.
        windows: Parts of a trace in which short executions are told apart, of one length and side by side.
        callers: Rows of a view whose callers are kept, for looking at it from the bottom up.
    """

    depth: int = 64
    rows: int = 2000
    details: int = 200
    points: int = 2000
    comparisons: int = 24
    profiles: int = 8
    windows: int = 8
    callers: int = 40


@dataclass(frozen=True)
class SnapshotEntry:
    """A document, and the questions that it answers; or the error that they are answered with."""

    route: str
    questions: tuple[dict[str, str], ...]
    document: Any
    error: dict[str, str] | None = None

    def to_json(self) -> dict[str, Any]:
        """What frontend/src/report/snapshot_documents.ts reads."""
        answer = {"document": self.document} if self.error is None else {"error": self.error}
        return {"route": self.route, "questions": self.questions} | answer


def entry(route: str, questions: Sequence[dict[str, str]], make: Callable[[], Any]) -> SnapshotEntry:
    """What a question is answered, be it with an error: one bad record does not stop a report."""
    try:
        return SnapshotEntry(route, tuple(questions), make())
    except StepscopeError as error:
        said = {"found": error.found, "where": error.where, "remedy": error.remedy}
        return SnapshotEntry(route, tuple(questions), None, said)

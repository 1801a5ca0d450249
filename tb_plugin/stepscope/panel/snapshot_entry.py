"""The parts of a report: how much it holds, and documents with the questions that they answer."""

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
        rows: Rows of a view and of a comparison: the costliest, with their ancestors.
        details: Rows of a view with all their details.
        points: Points of a throughput series.
        comparisons: Pairs of runs that are compared in each lens, those side by side first.
        profiles: Profiles whose trace is held: steps, timeline, kernels, launches, memory.
        windows: Windows of a timeline in which short executions are told apart, of one length and side by side.
        callers: Rows of a view whose callers are held, for the bottom-up view.
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
        head = {"route": self.route, "questions": self.questions}
        if self.error is not None:
            return head | {"error": self.error}
        return head | {"document": self.document}


def entry(
    route: str, questions: Sequence[dict[str, str]], make: Callable[[], Any]
) -> SnapshotEntry:
    """The answer to questions. An error is an answer, too: one bad record does not stop a report."""
    try:
        document = make()
    except StepscopeError as error:
        told = {"found": error.found, "where": error.where, "remedy": error.remedy}
        return SnapshotEntry(route, tuple(questions), document=None, error=told)
    return SnapshotEntry(route, tuple(questions), document)

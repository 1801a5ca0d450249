"""The answer of the in-core lens."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from stepscope.lenses.incore.capture import Capture
from stepscope.lenses.incore.detail import detail
from stepscope.lenses.incore.document import document
from stepscope.lenses.incore.options import InCoreOptions
from stepscope.lenses.incore.phases import Phases
from stepscope.lenses.incore.probes import ProbeCost
from stepscope.lenses.incore.problems import Problems
from stepscope.lenses.incore.runs import Pair, RunParts
from stepscope.lenses.incore.swimlane import swimlane, task_document
from stepscope.model.incore import InCore


@dataclass(frozen=True)
class InCoreResult:
    """What the in-core lens answers about a record.

    Attributes:
        phases: None where the record has no timing matrix.
        run_parts: The parts of each row of the record's runs.
        pairs: Pairs of a merged and a split run.
        probes: What the probes cost.
        capture: The tasks around the kernel, None where they were not captured.
        problems: All codes and warnings.
    """

    record: InCore
    options: InCoreOptions
    phases: Phases | None
    run_parts: RunParts
    pairs: tuple[Pair, ...]
    probes: ProbeCost
    capture: Capture | None
    problems: Problems

    @property
    def status(self) -> str:
        """ok, warning, mixed (some invocations are bad), or error."""
        bad = self.problems.invocations
        codes = self.problems.codes
        if any(problem.is_error for problem in codes):
            return "error"
        if bad and len(bad) == self.record.invocations:
            return "error"
        if bad:
            return "mixed"
        if codes:
            return "warning"
        return "ok"

    def to_json(self) -> dict[str, Any]:
        """The document; docs/incore.md lists its fields. Absolute stamps are decimal texts, differences integers."""
        answer = document(self)
        if self.options.detail != "brief":
            answer["detail"] = detail(self)
        if self.options.detail == "tasks" and self.capture:
            answer["tasks"] = swimlane(self.record)
        if self.options.task is not None:
            answer["task"] = task_document(self.record, self.options.task)
        return answer

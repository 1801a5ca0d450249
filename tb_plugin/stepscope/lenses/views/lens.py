"""The views lens."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from stepscope.lenses.lens import Document, HasComparisonDocument, Leading, Lens, Row, Scope, Shows
from stepscope.lenses.views.comparison import COST, Comparison, compare
from stepscope.lenses.views.engine import ViewEngine
from stepscope.lenses.views.options import DEVICE, HOST, RESOURCES, ViewsOptions
from stepscope.lenses.views.renames import renames
from stepscope.lenses.views.result import ViewResult
from stepscope.lenses.views.table import leading_rows, node_rows
from stepscope.model.columns import Record
from stepscope.model.profile import Profile

_RESOURCE_OF = {RESOURCES[DEVICE]: " device", RESOURCES[HOST]: " host", "exec_micros": ""}


class SharedEngine:
    """A view engine that threads take turns at: it keeps what it works out."""

    def __init__(self, profile: Profile) -> None:
        self.profile = profile
        self._engine = ViewEngine(profile)
        self._lock = threading.Lock()

    def analyze(self, options: ViewsOptions) -> ViewResult:
        """Builds a view."""
        with self._lock:
            return self._engine.analyze(options)


class ViewsLens(Lens[SharedEngine, ViewsOptions, ViewResult]):
    """Trees of a profile: by graph, scope, line of code, or op."""

    name = "views"
    title = "Views"
    question = "which op, scope, line of code or graph node costs the time and memory"
    record_kind = Profile.KIND
    options_type = ViewsOptions
    shows: ClassVar[Shows] = "record"
    how_to_log = (
        "stepscope import trace.pt.trace.json --logdir LOGDIR\n\n# or from Python\n"
        "with stepscope.Writer(LOGDIR) as writer:\n"
        '    writer.log_profile("trace.pt.trace.json", step=10)'
    )
    nothing_logged = "No profile is logged here"

    def scope(self, options: ViewsOptions) -> Scope:
        """A view is of one profile."""
        return Scope.RECORD

    def prepare(self, records: Sequence[Record]) -> SharedEngine:
        """The engine of the profile."""
        (profile,) = records
        assert isinstance(profile, Profile)
        return SharedEngine(profile)

    def analyze(self, prepared: SharedEngine, options: ViewsOptions) -> ViewResult:
        """Builds a view."""
        return prepared.analyze(options)

    def compare(self, a: ViewResult, b: ViewResult, options: ViewsOptions) -> Comparison:
        """Two views, row by row."""
        return compare(a, b, options)

    def comparison_values(
        self, values: Mapping[str, Any], a: SharedEngine, b: SharedEngine
    ) -> Mapping[str, Any]:
        """Compares profiles of unequally many steps per step, unless `step` says otherwise."""
        decided = dict(values)
        a_steps = len(a.profile.steps)
        b_steps = len(b.profile.steps)
        if decided.get("step") is None and 0 < a_steps != b_steps > 0:
            decided["step"] = "average"
        if decided.get("step") == "average":
            # A node that ran in one of two steps costs half as much a step, whatever its name is in the other.
            decided.setdefault("average_over", "steps")
        return decided

    def comparison_notes(
        self, a: ViewResult, b: ViewResult, comparison: HasComparisonDocument
    ) -> Mapping[str, Any]:
        """The view, whether metrics are per step, and subtrees that may have been renamed."""
        assert isinstance(comparison, Comparison)
        averaged = a.divisor > 1 or b.divisor > 1 or a.resolved.average
        return {
            "view": a.view,
            "per": "step" if averaged else "total",
            "renames": renames(comparison),
        }

    def comparison_sentences(self, document: Document) -> list[str]:
        """What A and B are, and subtrees that may have been renamed."""
        resource = _RESOURCE_OF[document["time"]]
        metric = "self" if document["view"] == "op" and resource else "total"
        per = ", averaged over the steps of each profile" if document["per"] == "step" else ""
        sentences = [f"A, B and delta are {metric}{resource} times in us{per}."]
        renamed = "{from} may be {to} now: {rows} rows match."
        return sentences + [renamed.format(**row) for row in document["renames"]]

    def leading(self, document: Document) -> Leading:
        """The time that adds up: totals of ops that call each other hold the same time twice."""
        return {COST: ("us", 1)}

    def rows(self, document: Document, options: ViewsOptions) -> list[Row]:
        """The nodes in preorder."""
        return node_rows(document)

    def summary(self, document: Document, options: ViewsOptions) -> list[Row]:
        """The nodes with time, its share, calls, and the selected columns."""
        return leading_rows(document)

    def printed(self, document: Document, options: ViewsOptions) -> list[list[Row]]:
        """The summary."""
        return [leading_rows(document)]

    def finding_subject(self, prepared: SharedEngine) -> SharedEngine:
        """The engine: rules ask it for the views that they need."""
        return prepared

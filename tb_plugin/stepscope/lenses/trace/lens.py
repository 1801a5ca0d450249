"""The trace lens."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from stepscope.lenses.comparison import Comparison
from stepscope.lenses.lens import Document, Leading, Lens, Row, Scope, Shows
from stepscope.lenses.trace.comparison import OrderComparison, compare
from stepscope.lenses.trace.executions import Executions
from stepscope.lenses.trace.options import TraceOptions
from stepscope.lenses.trace.result import TraceResult
from stepscope.lenses.trace.table import rows_of
from stepscope.model.columns import Record
from stepscope.model.profile import Profile


class TraceLens(Lens[Executions, TraceOptions, TraceResult]):
    """Single executions on threads and streams."""

    name = "trace"
    title = "Trace"
    question = (
        "where each step's time goes on threads and streams: kernels, launches, memory, ranks"
    )
    record_kind = Profile.KIND
    options_type = TraceOptions
    shows: ClassVar[Shows] = "record"
    keeps_results = False
    how_to_log = "stepscope import trace.pt.trace.json --logdir LOGDIR"
    nothing_logged = "No trace is logged here"

    def scope(self, options: TraceOptions) -> Scope:
        """One profile, but for the ranks of a job."""
        return Scope.JOB if options.show == "ranks" else Scope.RECORD

    def prepare(self, records: Sequence[Record]) -> Executions:
        """The executions of the profile, with the profiles of the job's other ranks."""
        return Executions(*(record for record in records if isinstance(record, Profile)))

    def analyze(self, prepared: Executions, options: TraceOptions) -> TraceResult:
        """The table, or the picture, that the options ask for."""
        return prepared.analyze(options)

    def compare(
        self, a: TraceResult, b: TraceResult, options: TraceOptions
    ) -> Comparison | OrderComparison:
        """Two tables, row by row."""
        return compare(a, b, options)

    def leading(self, document: Document) -> Leading | None:
        """Time, or bytes."""
        units = {"_ps": ("us", 1e-6), "_bytes": ("bytes", 1.0)}
        metric = document["metric"]
        for end, unit in units.items():
            if metric.endswith(end):
                return {metric: unit}
        return None

    def rows(self, document: Document, options: TraceOptions) -> list[Row]:
        """The rows of the table."""
        return rows_of(options.show, document)

    def finding_subject(self, prepared: Executions) -> Executions:
        """The executions: rules ask for what they need."""
        return prepared

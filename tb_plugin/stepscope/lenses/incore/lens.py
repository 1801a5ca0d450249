"""The in-core lens."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from stepscope.lenses.incore.analysis import analyze
from stepscope.lenses.incore.comparison import Comparison, compare
from stepscope.lenses.incore.options import InCoreOptions
from stepscope.lenses.incore.result import InCoreResult
from stepscope.lenses.incore.table import document_rows
from stepscope.lenses.lens import Document, Leading, Lens, Row, Shows
from stepscope.model.columns import Record
from stepscope.model.incore import InCore


class InCoreLens(Lens[Sequence[InCore], InCoreOptions, InCoreResult]):
    """Phases inside one fused kernel, from timestamps of its cores."""

    name = "incore"
    title = "In-core"
    question = "which phase inside one fused kernel is long"
    record_kind = InCore.KIND
    options_type = InCoreOptions
    shows: ClassVar[Shows] = "record"
    how_to_log = (
        "with stepscope.Writer(LOGDIR) as writer:\n"
        "    writer.log_incore(timing, columns=columns, participating=slots, producers=producers, step=step)"
    )
    nothing_logged = "No in-core timing is logged here"

    def prepare(self, records: Sequence[Record]) -> Sequence[InCore]:
        """The records."""
        return [record for record in records if isinstance(record, InCore)]

    def analyze(self, prepared: Sequence[InCore], options: InCoreOptions) -> InCoreResult:
        """The phases of the invocations."""
        return analyze(prepared, options)

    def compare(self, a: InCoreResult, b: InCoreResult, options: InCoreOptions) -> Comparison:
        """Two results, phase by phase."""
        return compare(a, b, options)

    def leading(self, document: Document) -> Leading:
        """Cycles. Medians of even counts are halves, so that documents hold twice the cycles."""
        return {"cycles_x2": ("cycles", 0.5)}

    def rows(self, document: Document, options: InCoreOptions) -> list[Row]:
        """The invocations."""
        return document_rows(document, invocations=options.invocations)

    def summary(self, document: Document, options: InCoreOptions) -> list[Row]:
        """The invocations, or the values of one."""
        return document_rows(document, invocations=options.invocations)

    def report_values(self, *, rows: int, points: int) -> Mapping[str, Any]:
        """Every row of a capture: the panel's lanes show them."""
        return {"detail": "tasks"}

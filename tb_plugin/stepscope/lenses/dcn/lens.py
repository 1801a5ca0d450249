"""The dcn lens."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

from stepscope.lenses.comparison import Comparison
from stepscope.lenses.dcn.analysis import analyze
from stepscope.lenses.dcn.comparison import compare
from stepscope.lenses.dcn.options import DcnOptions
from stepscope.lenses.dcn.result import DcnResult
from stepscope.lenses.dcn.table import collective_rows, core_rows
from stepscope.lenses.lens import Document, Leading, Lens, Row, Shows
from stepscope.model.collectives import Collectives
from stepscope.model.columns import Record

MOST_FILTERS = 8
"""Transfer types, and programs, that a report can be narrowed to."""


class DcnLens(Lens[Sequence[Collectives], DcnOptions, DcnResult]):
    """Collectives between slices, over the data-center network."""

    name = "dcn"
    title = "DCN"
    question = "which cross-slice collective stalls the accelerator"
    record_kind = Collectives.KIND
    options_type = DcnOptions
    shows: ClassVar[Shows] = "run"
    needs_rows = True
    how_to_log = "stepscope import host0.xplane.pb host1.xplane.pb --logdir LOGDIR"
    nothing_logged = "No cross-slice collectives are logged here"

    def prepare(self, records: Sequence[Record]) -> Sequence[Collectives]:
        """The records."""
        return [record for record in records if isinstance(record, Collectives)]

    def analyze(self, prepared: Sequence[Collectives], options: DcnOptions) -> DcnResult:
        """The tables of collectives."""
        return analyze(prepared, options)

    def compare(self, a: DcnResult, b: DcnResult, options: DcnOptions) -> Comparison:
        """Two results, collective by collective."""
        return compare(a, b, options)

    def leading(self, document: Document) -> Leading:
        """Stall time."""
        return {"total_stall_ms": ("stall ms", 1)}

    def rows(self, document: Document, options: DcnOptions) -> list[Row]:
        """The collectives of each core."""
        return core_rows(document)

    def summary(self, document: Document, options: DcnOptions) -> list[Row]:
        """The collectives over all hosts."""
        return collective_rows(document)

    def printed(self, document: Document, options: DcnOptions) -> list[list[Row]]:
        """The collectives of each core, and in full detail the causes of their stalls."""
        tables = [core_rows(document)]
        if "diagnosis" in document:
            tables.append(document["diagnosis"]["causes"])
        return tables

    def report_values(self, *, rows: int, points: int) -> Mapping[str, Any]:
        """The tables with the first occurrences."""
        return {"detail": "occurrences", "limit": rows}

    def report_filters(self, document: Document) -> Iterator[Mapping[str, Any]]:
        """One transfer type, or one program, where there are several."""
        rows = document["all_hosts"]["all_cores"]
        for name in ("transfer_type", "program"):
            words = sorted({row[name] for row in rows if row[name]})
            if len(words) < 2:
                continue
            for word in words[:MOST_FILTERS]:
                yield {"detail": "full", name: (word,)}

"""The throughput lens."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from stepscope.lenses.comparison import Comparison
from stepscope.lenses.lens import Document, HasComparisonDocument, Lens, Row, Shows
from stepscope.lenses.throughput.analysis import analyze
from stepscope.lenses.throughput.comparison import compare
from stepscope.lenses.throughput.options import ThroughputOptions
from stepscope.lenses.throughput.result import ThroughputResult
from stepscope.lenses.throughput.significance import significance
from stepscope.lenses.throughput.table import (
    brief_text,
    disturbance_rows,
    sample_rows,
    series_rows,
    slowest_rows,
)
from stepscope.model.columns import Record
from stepscope.model.throughput import Throughput


class ThroughputLens(Lens[Sequence[Throughput], ThroughputOptions, ThroughputResult]):
    """Rates of training, and what disturbed them."""

    name = "throughput"
    title = "Throughput"
    question = "how fast the run is, on average and right now"
    record_kind = Throughput.KIND
    options_type = ThroughputOptions
    shows: ClassVar[Shows] = "runs"
    how_to_log = (
        "from stepscope.shim.loops import timed_batches\n"
        "with stepscope.Writer(LOGDIR) as writer:\n"
        '    rate = writer.throughput("train", unit="samples", log_every=10)\n'
        "    for step, batch in enumerate(timed_batches(loader, rate)):\n"
        "        ...\n"
        "        rate.add(len(batch), step=step)"
    )
    nothing_logged = "No throughput is logged here"

    def prepare(self, records: Sequence[Record]) -> Sequence[Throughput]:
        """The records."""
        return [record for record in records if isinstance(record, Throughput)]

    def analyze(
        self,
        prepared: Sequence[Throughput],
        options: ThroughputOptions,
    ) -> ThroughputResult:
        """The rates of each series."""
        return analyze(prepared, options)

    def compare(
        self,
        a: ThroughputResult,
        b: ThroughputResult,
        options: ThroughputOptions,
    ) -> Comparison:
        """Two results, series by series."""
        return compare(a, b, options)

    def comparison_notes(
        self, a: ThroughputResult, b: ThroughputResult, comparison: HasComparisonDocument
    ) -> Mapping[str, Any]:
        """Whether the mean rates differ significantly."""
        return {"significance": significance(a, b)}

    def comparison_sentences(self, document: Document) -> list[str]:
        """One sentence for each rate of each series: its difference, interval and verdict."""
        sentences = []
        for row in document["significance"]:
            for figure in row["figures"].values():
                sentences.append(f"{row['series']}: {figure['sentence']}")
        return sentences

    def rows(self, document: Document, options: ThroughputOptions) -> list[Row]:
        """The samples of all series."""
        return sample_rows(document)

    def summary(self, document: Document, options: ThroughputOptions) -> list[Row]:
        """The series with their averages."""
        return series_rows(document)

    def printed(self, document: Document, options: ThroughputOptions) -> list[list[Row]]:
        """All series, then the disturbances and samples of one series, or the slowest ranks of a job."""
        tables = [series_rows(document)]
        if len(document["series"]) == 1:
            tables += [disturbance_rows(document), sample_rows(document)]
        else:
            tables.append(slowest_rows(document))
        return [table for table in tables if table] or [[]]

    def brief(self, result: ThroughputResult) -> str:
        """A compact table of the series."""
        return brief_text(series_rows(result.to_json()))

    def report_values(self, *, rows: int, points: int) -> Mapping[str, Any]:
        """Downsampled series."""
        return {"points": points}

"""The contract of a lens: what commands, routes, tables, reports, findings and the panel need to know of it.

A lens is one folder here, one in the panel, and one line in `lenses/registry.py`. Everything else is made from
what its class says: the command and its flags, the method of an opened source, the route and its OpenAPI
description, the tables and exported files, the documents of a report, and the panel's tab.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from enum import Enum
from typing import Any, ClassVar, Literal, Protocol, TypeVar

from stepscope.model.columns import Record

Prepared = TypeVar("Prepared")
Options = TypeVar("Options", contravariant=True)
Result = TypeVar("Result", bound="HasDocument")

Row = dict[str, Any]
Document = Mapping[str, Any]
Leading = Mapping[str, tuple[str, float]]
"""Metrics that a comparison is read by: for each its unit, and the factor from the document's value to that unit."""

Shows = Literal["record", "run", "runs"]


class HasDocument(Protocol):
    """A result."""

    def to_json(self) -> dict[str, Any]:
        """The document."""


class HasComparisonDocument(Protocol):
    """A comparison of two results."""

    def to_json(self, limit: int | None = None) -> dict[str, Any]:
        """The document. A limit leaves out rows of a tree that differ least."""


class Scope(Enum):
    """Which records an analysis takes."""

    RECORD = "the newest record"
    RECORDS = "the newest record of each name in the chosen runs"
    JOB = "the newest record of each rank of a job"


class Lens(Protocol[Prepared, Options, Result]):
    """A lens.

    Attributes:
        name: The word of the command, the route, the method and the folder.
        title: The name of the panel's tab.
        question: What the lens answers, without a question mark.
        record_kind: The kind of record that it looks at.
        options_type: The dataclass of its options.
        shows: What one page of the panel shows: a record, all records of a run as one, or all runs.
        needs_rows: Whether a record without rows is nothing to look at.
        keeps_results: Whether results are kept for the next query. Not where what is prepared keeps all that is costly.
        how_to_log: A command or a line of Python that logs such a record.
        nothing_logged: What the panel says where there is none.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    question: ClassVar[str]
    record_kind: ClassVar[str]
    options_type: ClassVar[type[Any]]
    shows: ClassVar[Shows]
    needs_rows: ClassVar[bool] = False
    keeps_results: ClassVar[bool] = True
    how_to_log: ClassVar[str]
    nothing_logged: ClassVar[str]

    def scope(self, options: Options) -> Scope:
        """Which records an analysis with these options takes."""
        return Scope.RECORDS

    def prepare(self, records: Sequence[Record]) -> Prepared:
        """What all analyses of the records share. It is kept while the records are."""

    def analyze(self, prepared: Prepared, options: Options) -> Result:
        """The result for these options."""

    def compare(self, a: Result, b: Result, options: Options) -> HasComparisonDocument:
        """What differs between two results. Deltas are a minus b."""

    def comparison_values(
        self, values: Mapping[str, Any], a: Prepared, b: Prepared
    ) -> Mapping[str, Any]:
        """The options that two sources are compared with, from those that were given."""
        return values

    def comparison_notes(
        self, a: Result, b: Result, comparison: HasComparisonDocument
    ) -> Mapping[str, Any]:
        """What a comparison's document says beside its rows."""
        return {}

    def comparison_sentences(self, document: Document) -> list[str]:
        """The notes of a comparison's document, to be read."""
        return []

    def leading(self, document: Document) -> Leading | None:
        """The metrics that a comparison is read by. None: all of them, in the document's order."""
        return None

    def rows(self, document: Document, options: Options) -> list[Row]:
        """All rows of a document, with the same columns: for CSV, data frames and the table of `--format csv`."""

    def summary(self, document: Document, options: Options) -> list[Row]:
        """The rows to read first, for a terminal or a notebook."""
        return self.rows(document, options)

    def printed(self, document: Document, options: Options) -> list[list[Row]]:
        """The tables that the command prints for a document."""
        return [self.rows(document, options)]

    def brief(self, result: Result) -> str | None:
        """The result as a short text for an interactive session. None: its name and options."""
        return None

    def finding_subject(self, prepared: Prepared) -> Any:
        """What the rules of the findings look at: by default the result for the default options."""
        return self.analyze(prepared, self.options_type())

    def report_values(self, *, rows: int, points: int) -> Mapping[str, Any]:
        """The options that a report's documents are made with, so that the panel needs no server."""
        return {}

    def report_filters(self, document: Document) -> Iterable[Mapping[str, Any]]:
        """Options by which the panel narrows a report's document, where each answer has to be kept."""
        return ()

"""An opened source: the lenses and the findings over its records."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

from stepscope.errors import OptionError, StepscopeError
from stepscope.findings import tfprof_advice
from stepscope.lenses.registry import AnyLens, lens_named
from stepscope.lenses.throughput.goodput import goodput
from stepscope.lenses.trace.breakdown import Breakdown
from stepscope.lenses.trace.executions import Executions
from stepscope.lenses.trace.launches import Launches
from stepscope.lenses.trace.ranks import Ranks
from stepscope.lenses.views import ViewResult
from stepscope.model.collectives import Collectives
from stepscope.model.columns import Record
from stepscope.model.diagnostic import Diagnostic
from stepscope.model.throughput import Throughput
from stepscope.session import options as option_tables
from stepscope.session.analysis import analyze, compare, prepared
from stepscope.session.cache import Caches
from stepscope.session.catalog import Catalog, RecordRef
from stepscope.session.findings import findings, summaries
from stepscope.session.lens_methods import LensMethods
from stepscope.session.results import ComparisonAnswer, FindingList, LensAnswer, ViewsAnswer
from stepscope.session.selection import (
    Selection,
    candidates,
    newest,
    newest_captures,
    newest_of_each,
    require_one_run,
)

Table = TypeVar("Table", Breakdown, Launches, Ranks)


@dataclass(frozen=True)
class Source(LensMethods):
    """Records, and which of them are selected. Parsed once, then queried.

    Attributes:
        catalog: The records.
        selection: Which of them queries are about.
        where: The path that was opened.
        caches: Records read and results computed.
    """

    catalog: Catalog
    selection: Selection = Selection()
    where: str = ""
    caches: Caches = dataclasses.field(default_factory=Caches, repr=False, compare=False)

    def __repr__(self) -> str:
        runs = self.catalog.runs()
        selected = f", {self.selection}" if self.selection != Selection() else ""
        return f"<Source {self.where}: {len(runs)} run{'' if len(runs) == 1 else 's'}{selected}>"

    def select(
        self, run: str | None = None, name: str | None = None, record_step: int | None = None
    ) -> Source:
        """The same source with a narrower selection. What is not given stays as it is."""
        selection = self.selection
        if run is not None:
            selection = dataclasses.replace(selection, runs=(run,))
        if name is not None:
            selection = dataclasses.replace(selection, name=name)
        if record_step is not None:
            selection = dataclasses.replace(selection, record_step=record_step)
        return dataclasses.replace(self, selection=selection)

    def problems(self) -> list[Diagnostic]:
        """What could not be read, and why."""
        return self.catalog.problems()

    def record(self, kind: str) -> Record:
        """The newest selected record of a kind.

        Raises:
            OptionError: Records of several runs are selected.
            NotFound: No such record.
        """
        return self.read(self.select_record(kind))

    def candidates(self, kind: str) -> list[RecordRef]:
        """The references of all selected records of a kind.

        Raises:
            NotFound: No such record.
        """
        refs = self.catalog.refs(kind)
        if not any(ref.kind == kind for ref in refs):
            # The message names the kinds that the source contains.
            refs = self.catalog.refs()
        return candidates(refs, kind, self.selection)

    def select_record(self, kind: str) -> RecordRef:
        """The reference of the newest selected record of a kind.

        Raises:
            OptionError: Records of several runs are selected.
            NotFound: No such record.
        """
        refs = self.candidates(kind)
        require_one_run(refs)
        return newest(refs)

    def select_records(self, kind: str) -> list[RecordRef]:
        """The references of the newest selected record of each run and name.

        Of collectives, those of the newest capture of each run: several are never added up.

        Raises:
            OptionError: There are several runs, and none was selected. Throughput is of all runs then.
            NotFound: No such record.
        """
        refs = self.candidates(kind)
        if not self.selection.runs and kind != Throughput.KIND:
            require_one_run(refs)
        if kind == Collectives.KIND:
            return newest_captures(refs)
        return newest_of_each(refs)

    def read(self, ref: RecordRef) -> Record:
        """A record, kept for the next query."""
        key = (ref.run, ref.kind, ref.name, ref.key)
        return self.caches.records.get(key, lambda: self.catalog.read(ref))

    def readable(self, refs: Iterable[RecordRef]) -> list[Record]:
        """Reads several records. Unreadable ones are reported in `problems`; the rest are returned.

        Raises:
            StepscopeError: None can be read.
        """
        records: list[Record] = []
        errors: list[StepscopeError] = []
        for ref in refs:
            try:
                records.append(self.read(ref))
            except StepscopeError as error:
                errors.append(error)
        if errors and not records:
            raise errors[0]
        return records

    def ask(
        self, lens: AnyLens, values: Mapping[str, Any], baseline: Source | None = None
    ) -> LensAnswer[Any] | ComparisonAnswer:
        """What a lens answers.

        Args:
            lens: The lens.
            values: Checked values of the options that were given; see `stepscope.session.options`.
            baseline: The source to compare with.
        """
        if baseline is not None:
            return self.compare(lens, values, baseline)
        options = lens.options_type(**values)
        result = analyze(self, lens, options)
        if isinstance(result, ViewResult):
            return ViewsAnswer(lens, options, result)
        return LensAnswer(lens, options, result)

    def compare(
        self, lens: AnyLens, values: Mapping[str, Any], baseline: Source
    ) -> ComparisonAnswer:
        """What differs from a baseline. Deltas are this source minus the baseline.

        Args:
            lens: The lens.
            values: Checked values of the options that were given.
            baseline: The source to compare with.
        """
        return compare(self, baseline, lens, values)

    def _ask(self, name: str, baseline: object, given: Mapping[str, Any]) -> Any:
        if baseline is not None and not isinstance(baseline, Source):
            remedy = "Pass compare=stepscope.open(...)"
            raise OptionError(
                f"compare must be a Source, not {baseline!r}", where="compare", remedy=remedy
            )
        return self.ask(lens_named(name), option_tables.check(name, given), baseline)

    def executions(self) -> Executions:
        """The single executions of the selected profile, for queries that `trace` has no table for."""
        lens = lens_named("trace")
        executions: Executions = prepared(self, lens, self.select_record(lens.record_kind))
        return executions

    def breakdown(self) -> LensAnswer[Breakdown]:
        """The time of each step by category, and what each accelerator did: `trace(show="steps")`."""
        return self._table("steps", Breakdown)

    def launches(self) -> LensAnswer[Launches]:
        """Launch delays by kernel, and why streams are idle: `trace(show="launches")`."""
        return self._table("launches", Launches)

    def ranks(self) -> LensAnswer[Ranks]:
        """The ranks of the selected runs, or of the job of the one run: `trace(show="ranks")`."""
        return self._table("ranks", Ranks)

    def _table(
        self, show: Literal["steps", "launches", "ranks"], kind: type[Table]
    ) -> LensAnswer[Table]:
        """A table of the trace lens, whose answer has the attributes of the analysis itself."""
        answer = self.trace(show=show)
        table = answer.result.value
        assert isinstance(table, kind)
        return LensAnswer(answer.lens, answer.options, table)

    def advise(
        self, compat: str | None = None, checkers: Sequence[str] | None = None
    ) -> dict[str, list[str]]:
        """The reports of tfprof's four checkers on the selected profile.

        Args:
            compat: "tfprof" for its own words and figures.
            checkers: Names of checkers. None: all.
        """
        lens = lens_named("views")
        engine = prepared(self, lens, self.select_record(lens.record_kind))
        return tfprof_advice.advise(engine, checkers, compat)

    def goodput(self) -> list[dict[str, Any]]:
        """Where the wall time of each job went, over all its restarts: `stepscope.lenses.throughput.goodput`.

        Raises:
            NotFound: No throughput record.
        """
        records = self.readable(self.select_records(Throughput.KIND))
        return goodput([record for record in records if isinstance(record, Throughput)])

    def findings(self, *, compare: Source | None = None) -> FindingList:
        """What the rules find, the largest saving first.

        Args:
            compare: A baseline. Findings then say what is new, gone, larger or smaller than there.
        """
        return FindingList(findings(self, compare))

    def summary(self, *, compare: Source | None = None) -> list[dict[str, Any]]:
        """Of each run where its step goes, the first thing to do, and the largest costs; the worst run first.

        Args:
            compare: A baseline. `difference` then says which run is slower, and the finding that explains it.
        """
        return summaries(self, compare)

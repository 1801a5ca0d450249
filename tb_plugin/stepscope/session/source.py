"""A source that was opened: the four lenses and the findings over its records."""

from __future__ import annotations

import dataclasses
import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from stepscope.errors import OptionError, StepscopeError
from stepscope.findings import tfprof_advice
from stepscope.lenses import views
from stepscope.lenses.trace.executions import Executions
from stepscope.lenses.views import ViewResult, ViewsOptions
from stepscope.model.columns import Record
from stepscope.model.diagnostic import Diagnostic
from stepscope.model.profile import Profile
from stepscope.session import options as option_tables
from stepscope.session.cache import Caches
from stepscope.session.catalog import Catalog, RecordRef
from stepscope.session.compare import compare as compare_lens
from stepscope.session.findings import findings
from stepscope.session.job import compare_ranks
from stepscope.session.lenses import LENS_KINDS, LENSES
from stepscope.session.results import FindingList, LensAnswer, ShapeAnswer, ViewsAnswer
from stepscope.session.selection import Selection, candidates, newest, newest_of_each, require_one_run


class SharedEngine:
    """A view engine that threads take turns at: it keeps what it works out."""

    def __init__(self, profile: Profile) -> None:
        self.profile = profile
        self._engine = views.ViewEngine(profile)
        self._lock = threading.Lock()

    def analyze(self, chosen: ViewsOptions) -> ViewResult:
        """Builds a view."""
        with self._lock:
            return self._engine.analyze(chosen)


@dataclass(frozen=True)
class Source:
    """Records, and what is chosen of them. Loaded once, asked often."""

    catalog: Catalog
    selection: Selection = Selection()
    where: str = ""
    caches: Caches = dataclasses.field(default_factory=Caches, repr=False, compare=False)

    def select(self, run: str | None = None, name: str | None = None, record_step: int | None = None) -> Source:
        """The same source, with a narrower selection."""
        selection = Selection(
            (run,) if run is not None else self.selection.runs,
            name if name is not None else self.selection.name,
            record_step if record_step is not None else self.selection.record_step,
        )
        return dataclasses.replace(self, selection=selection)

    def problems(self) -> list[Diagnostic]:
        """What could not be read, and why."""
        return self.catalog.problems()

    def record(self, kind: str) -> Record:
        """The newest record of a kind that the selection allows.

        Raises:
            OptionError: Several runs are left.
            NotFound: No such record.
        """
        return self.read(self.select_record(kind))

    def select_record(self, kind: str) -> RecordRef:
        """The reference of the newest record of a kind that the selection allows."""
        found = candidates(self.catalog.refs(), kind, self.selection)
        require_one_run(found)
        return newest(found)

    def select_records(self, kind: str) -> list[RecordRef]:
        """The newest record of each run and name that the selection allows."""
        found = candidates(self.catalog.refs(), kind, self.selection)
        if not self.selection.runs:
            require_one_run(found)
        return newest_of_each(found)

    def read(self, ref: RecordRef) -> Record:
        """A record, kept for the next question."""
        return self.caches.records.get((ref.run, ref.kind, ref.name, ref.key), lambda: self.catalog.read(ref))

    def readable(self, refs: Iterable[RecordRef]) -> list[Record]:
        """Those of several records that can be read: one that is damaged hides no other. `problems` tells of it.

        Raises:
            StepscopeError: None can be read.
        """
        found: list[Record] = []
        errors: list[StepscopeError] = []
        for ref in refs:
            try:
                found.append(self.read(ref))
            except StepscopeError as error:
                errors.append(error)
        if errors and not found:
            raise errors[0]
        return found

    def views(self, *, compare: Source | None = None, **values: Any) -> Any:
        """The views lens over the chosen profile. Options: see `stepscope.lenses.views.options.ViewsOptions`."""
        if compare is not None:
            return compare_lens("views", self, require_source(compare), values)
        return ViewsAnswer(self.view(self.select_record("profile"), option_tables.build("views", values)))

    def view(self, ref: RecordRef, chosen: ViewsOptions) -> ViewResult:
        """A view of a profile."""
        key = ("view", ref.run, ref.name, ref.key, chosen)
        return self.caches.views.get(key, lambda: self.engine(ref).analyze(chosen))

    def engine(self, ref: RecordRef) -> SharedEngine:
        """The view engine of a profile."""
        return self.caches.engines.get((ref.run, ref.name, ref.key), lambda: SharedEngine(self._profile(ref)))

    def executions(self) -> Executions:
        """Questions to the chosen profile's single executions: `timeline`, `event`, `memory`."""
        ref = self.select_record("profile")
        key = ("executions", ref.run, ref.name, ref.key)
        return self.caches.engines.get(key, lambda: Executions(self._profile(ref)))

    def breakdown(self) -> ShapeAnswer:
        """The time of each step by category, and what each accelerator did in it: a `Breakdown`."""
        return ShapeAnswer("breakdown", self.executions().breakdown)

    def launches(self) -> ShapeAnswer:
        """Launch delays by kernel, and why streams stand idle: `Launches`."""
        return ShapeAnswer("launches", self.executions().launches)

    def ranks(self) -> ShapeAnswer:
        """The `Ranks` of a job side by side: those of the chosen runs, or of the job that the one run is part of."""
        return ShapeAnswer("ranks", compare_ranks(self))

    def advise(self, compat: str | None = None, checkers: Sequence[str] | None = None) -> dict[str, list[str]]:
        """The reports of tfprof's four checkers on the chosen profile, with `compat="tfprof"` in its own words."""
        return tfprof_advice.advise(self.engine(self.select_record("profile")), checkers, compat)

    def findings(self) -> FindingList:
        """What to do first, over all lenses and every run that the selection allows: the largest share first."""
        return FindingList(finding.to_json() for finding in findings(self))

    def _profile(self, ref: RecordRef) -> Profile:
        record = self.read(ref)
        assert isinstance(record, Profile)
        return record

    def throughput(self, *, compare: Source | None = None, **values: Any) -> Any:
        """The throughput lens. Options: see `stepscope.lenses.throughput.options.ThroughputOptions`."""
        return self._many("throughput", compare, values)

    def incore(self, *, compare: Source | None = None, **values: Any) -> Any:
        """The in-core lens. Options: see `stepscope.lenses.incore.options.InCoreOptions`."""
        return self._many("incore", compare, values)

    def dcn(self, *, compare: Source | None = None, **values: Any) -> Any:
        """The dcn lens. Options: see `stepscope.lenses.dcn.options.DcnOptions`."""
        return self._many("dcn", compare, values)

    def _many(self, lens: str, compare: Source | None, values: dict[str, Any]) -> Any:
        if compare is not None:
            return compare_lens(lens, self, require_source(compare), values)
        return LensAnswer(lens, self.analyze(lens, option_tables.build(lens, values)))

    def analyze(self, lens: str, chosen: Any) -> Any:
        """What the throughput, in-core or dcn lens says of the chosen records."""
        refs = self.select_records(LENS_KINDS[lens])
        key = (lens, chosen, tuple((ref.run, ref.name, ref.key) for ref in refs))
        return self.caches.answers.get(key, lambda: LENSES[lens].analyze(self.readable(refs), chosen))


def require_source(compare: Any) -> Source:
    """The source to compare with.

    Raises:
        OptionError: It is something else, such as a path.
    """
    if not isinstance(compare, Source):
        remedy = "Give what stepscope.open answers: compare=stepscope.open(...)"
        raise OptionError(f"{compare!r} is no source", where="compare", remedy=remedy)
    return compare


def require_lens(lens: str) -> str:
    """The lens's name.

    Raises:
        OptionError: There is no such lens.
    """
    if lens not in LENS_KINDS:
        raise OptionError(f"no lens {lens!r}", remedy=f"Choose from {', '.join(LENS_KINDS)}")
    return lens

"""Several sources under one door."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from stepscope.errors import NotFound
from stepscope.model.columns import Record
from stepscope.model.diagnostic import Diagnostic
from stepscope.session.catalog import RecordRef
from stepscope.session.selection import Selection, candidates
from stepscope.session.source import Source


def join(sources: Sequence[Source]) -> Source:
    """One source with all records that the given ones choose. Runs of one name are told apart by their source."""
    if len(sources) == 1:
        return sources[0]
    return Source(JoinedCatalog(tuple(sources)), where=", ".join(source.where for source in sources))


@dataclass
class JoinedCatalog:
    """The records that several sources choose."""

    sources: tuple[Source, ...]
    _origins: dict[RecordRef, tuple[Source, RecordRef]] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        self._find()

    def refresh(self) -> None:
        """Looks for what came since the last time."""
        for source in self.sources:
            source.catalog.refresh()
        self._find()

    def _find(self) -> None:
        chosen = [(source, chosen_refs(source)) for source in self.sources]
        places = Counter(run for _, refs in chosen for run in {ref.run for ref in refs})
        self._origins = {
            dataclasses.replace(ref, run=_called(source, ref.run, places), key=(at, ref.key)): (source, ref)
            for at, (source, refs) in enumerate(chosen)
            for ref in refs
        }

    def runs(self) -> list[str]:
        """The names of all runs, in order."""
        return sorted({ref.run for ref in self._origins})

    def refs(self, kind: str | None = None) -> list[RecordRef]:
        """All records, in the order of the sources."""
        return list(self._origins)

    def problems(self) -> list[Diagnostic]:
        """What could not be read, and why."""
        return [problem for source in self.sources for problem in source.catalog.problems()]

    def read(self, ref: RecordRef, groups: Collection[str] | None = None) -> Record:
        """The record, or those groups of it."""
        source, own = self._origins[ref]
        record = source.catalog.read(own, groups)
        return dataclasses.replace(record, header=dataclasses.replace(record.header, run=ref.run))


def chosen_refs(source: Source) -> list[RecordRef]:
    """All records that a source's selection allows."""
    refs = source.catalog.refs()
    if source.selection == Selection():
        return refs
    return [ref for kind in sorted({ref.kind for ref in refs}) for ref in _allowed(refs, kind, source.selection)]


def _allowed(refs: Sequence[RecordRef], kind: str, selection: Selection) -> list[RecordRef]:
    try:
        return candidates(refs, kind, selection)
    except NotFound:
        return []


def _called(source: Source, run: str, places: Counter[str]) -> str:
    if places[run] < 2:
        return run
    stem = Path(source.where).name
    return f"{stem}/{run}" if run not in ("", ".") else stem

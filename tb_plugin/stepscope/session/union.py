"""Several sources as one."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from stepscope.model.columns import Record
from stepscope.model.diagnostic import Diagnostic
from stepscope.session.catalog import RecordRef
from stepscope.session.selection import allowed
from stepscope.session.source import Source


def join(sources: Sequence[Source]) -> Source:
    """One source with the selected records of several. Runs of one name get the name of their source in front."""
    if len(sources) == 1:
        return sources[0]
    where = ", ".join(source.where for source in sources)
    return Source(UnionCatalog(tuple(sources)), where=where)


@dataclass
class UnionCatalog:
    """The selected records of several sources."""

    sources: tuple[Source, ...]
    _origins: dict[RecordRef, tuple[Source, RecordRef]] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        self._collect()

    def refresh(self) -> None:
        """Looks for what was written since the last time."""
        for source in self.sources:
            source.catalog.refresh()
        self._collect()

    def _collect(self) -> None:
        refs_of = [selected_refs(source) for source in self.sources]
        sources_with: Counter[str] = Counter()
        for refs in refs_of:
            sources_with.update({ref.run for ref in refs})

        self._origins = {}
        for place, (source, refs) in enumerate(zip(self.sources, refs_of, strict=True)):
            for ref in refs:
                is_ambiguous = sources_with[ref.run] > 1
                run = _name_in_source(source, ref.run) if is_ambiguous else ref.run
                renamed = dataclasses.replace(ref, run=run, key=(place, ref.key))
                self._origins[renamed] = (source, ref)

    def runs(self) -> list[str]:
        """The names of all runs, in order."""
        return sorted({ref.run for ref in self._origins})

    def refs(self, kind: str | None = None) -> list[RecordRef]:
        """All records, in the order of the sources."""
        return list(self._origins)

    def problems(self) -> list[Diagnostic]:
        """What could not be read, and why."""
        problems: list[Diagnostic] = []
        for source in self.sources:
            problems += source.catalog.problems()
        return problems

    def read(self, ref: RecordRef, groups: Collection[str] | None = None) -> Record:
        """The record, or those groups of it."""
        source, original = self._origins[ref]
        record = source.catalog.read(original, groups)
        return dataclasses.replace(record, header=dataclasses.replace(record.header, run=ref.run))


def selected_refs(source: Source) -> list[RecordRef]:
    """All records that a source selects, in its order."""
    return [ref for ref in source.catalog.refs() if allowed(ref, source.selection)]


def _name_in_source(source: Source, run: str) -> str:
    stem = Path(source.where).name
    return stem if run in ("", ".") else f"{stem}/{run}"

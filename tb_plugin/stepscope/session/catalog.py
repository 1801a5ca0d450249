"""The records of a log directory or of foreign files, under one contract."""

from __future__ import annotations

import threading
from collections.abc import Collection, Hashable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from stepscope.model.columns import Record
from stepscope.model.diagnostic import Diagnostic
from stepscope.sources.format import Imported, NamedRecord


@dataclass(frozen=True)
class RecordRef:
    """A record that can be queried. A growing series is one record, whatever number of blocks it lies in.

    Attributes:
        key: Equal only while the record's content is the same.
        first_step: First training step, None when unknown.
        closed: False while the record may still grow.
        rows: What is counted in it: nodes, marks, invocations, ops.
        written_wall_ns: When it was written, Unix ns; 0 when unknown.
    """

    run: str
    kind: str
    name: str
    tag: str
    key: Hashable
    first_step: int | None = None
    last_step: int | None = None
    closed: bool = True
    rows: int = 0
    written_wall_ns: int = 0
    producer: str = ""
    schema: int = 1


class Catalog(Protocol):
    """A place that holds records."""

    def refresh(self) -> None:
        """Looks for what was written since the last time."""

    def runs(self) -> list[str]:
        """The names of all runs, in order."""

    def refs(self, kind: str | None = None) -> list[RecordRef]:
        """All records, or at least those of a kind; the newest of a kind and run last."""

    def problems(self) -> list[Diagnostic]:
        """What could not be read, and why."""

    def read(self, ref: RecordRef, groups: Collection[str] | None = None) -> Record:
        """The record, or those groups of it."""


class FileCatalog:
    """The records of foreign files. A file without runs of its own is a run.

    Deferred records are read when those of their kind are listed.
    """

    def __init__(
        self,
        imported: Sequence[tuple[Path, Imported]],
        problems: Sequence[Diagnostic] = (),
    ) -> None:
        self._records: dict[RecordRef, Record] = {}
        self._problems = list(problems)
        self._deferred: list[tuple[Path, Imported]] = []
        self._lock = threading.Lock()
        for path, file in imported:
            self._add(path, file, file.records, first_position=0)
            if file.deferred is not None:
                self._deferred.append((path, file))

    def _add(
        self,
        path: Path,
        file: Imported,
        records: Sequence[NamedRecord],
        *,
        first_position: int,
    ) -> None:
        for position, named in enumerate(records, first_position):
            run = file.run_of(named) or path.name
            self._records[_file_ref(path, position, run, named)] = named.record
            losses = [loss.in_run(run) for loss in named.record.header.losses]
            self._problems += [loss for loss in losses if loss not in self._problems]

    def _load_deferred(self, kind: str | None) -> None:
        with self._lock:
            waiting: list[tuple[Path, Imported]] = []
            for path, file in self._deferred:
                assert file.deferred is not None
                if kind is not None and kind not in file.deferred.kinds:
                    waiting.append((path, file))
                    continue
                records = file.deferred.load()
                self._add(path, file, records, first_position=len(file.records))
            self._deferred = waiting

    def refresh(self) -> None:
        """Does nothing: files are read once."""

    def runs(self) -> list[str]:
        """The names of all runs, in order."""
        return sorted({ref.run for ref in self.refs()})

    def refs(self, kind: str | None = None) -> list[RecordRef]:
        """All records, or at least those of a kind, in the order of the files."""
        self._load_deferred(kind)
        return list(self._records)

    def problems(self) -> list[Diagnostic]:
        """What could not be read of the records so far, and why."""
        return self._problems

    def read(self, ref: RecordRef, groups: Collection[str] | None = None) -> Record:
        """The record, whole."""
        return self._records[ref]


def _file_ref(path: Path, position: int, run: str, named: NamedRecord) -> RecordRef:
    record = named.record
    return RecordRef(
        run=run,
        kind=record.KIND,
        name=named.name,
        # Tags sort in the order of the file: of records of one time the last is the newest.
        tag=f"{path}#{position:04}",
        key=(str(path), position),
        first_step=named.step,
        last_step=named.step,
        rows=record.rows,
        written_wall_ns=record.header.wall_anchor_ns,
        producer=record.header.producer,
    )

"""What there is to ask about: the records of a log directory or of foreign files, under one door."""

from __future__ import annotations

import threading
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol, TypeVar

import numpy as np

from stepscope.errors import NotFound, StepscopeError
from stepscope.model.columns import Header, Record
from stepscope.model.diagnostic import Diagnostic
from stepscope.model.scalar_rates import from_scalars, rate_tag
from stepscope.model.throughput import Throughput
from stepscope.model.throughput_merge import merge
from stepscope.sources.format import Imported, NamedRecord
from stepscope.store.names import TAIL_BLOCK
from stepscope.store.reading import RecordEntry, RecordStore, ScalarSeries

T = TypeVar("T")


@dataclass(frozen=True)
class RecordRef:
    """A record that can be asked about. A growing series is one record, whatever number of blocks it lies in.

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
        """Looks for what came since the last time."""

    def runs(self) -> list[str]:
        """The names of all runs, in order."""

    def refs(self, kind: str | None = None) -> list[RecordRef]:
        """All records, or at least those of a kind; the newest of a kind and run last."""

    def problems(self) -> list[Diagnostic]:
        """What could not be read, and why."""

    def read(self, ref: RecordRef, groups: Collection[str] | None = None) -> Record:
        """The record, or those groups of it."""


class StoreCatalog:
    """The records of a log directory."""

    def __init__(self, store: RecordStore) -> None:
        self._store = store
        self._entries: list[RecordEntry] = []
        self._blocks: dict[RecordRef, list[RecordEntry]] = {}
        self._scalars: dict[RecordRef, list[ScalarSeries]] = {}
        self._unreadable: dict[RecordRef, Diagnostic] = {}

    def refresh(self) -> None:
        """Looks for what came since the last time."""
        self._store.refresh()
        entries = self._store.entries()
        if entries != self._entries:
            self._blocks = {_joined(blocks): blocks for blocks in _grouped(entries)}
            self._entries = entries
            self._unreadable = {ref: problem for ref, problem in self._unreadable.items() if ref in self._blocks}
        self._scalars = _scalar_refs(self._store.scalar_series(), self._blocks)

    def runs(self) -> list[str]:
        """The names of all runs, in order."""
        return self._store.runs()

    def refs(self, kind: str | None = None) -> list[RecordRef]:
        """All records, the newest of a kind and run last."""
        return sorted((*self._blocks, *self._scalars), key=lambda r: (r.run, r.kind, r.written_wall_ns, r.tag))

    def problems(self) -> list[Diagnostic]:
        """What could not be read, and why; also of the records that were asked for."""
        unreadable = [problem for ref, problem in list(self._unreadable.items()) if ref in self._blocks]
        return self._store.problems() + unreadable

    def read(self, ref: RecordRef, groups: Collection[str] | None = None) -> Record:
        """The record, or those groups of it; as it is now, where it grew since it was listed.

        Of a series whose blocks cannot all be read those that can are its record, and its header says what is lost.

        Raises:
            NotFound: It is gone.
            StepscopeError: See `RecordStore.read`.
        """
        try:
            record = self._read(ref, groups)
        except StepscopeError as error:
            self._unreadable[ref] = Diagnostic.of_error(error, run=ref.run)
            raise
        if groups is None:
            self._unreadable.pop(ref, None)
        return record

    def _read(self, ref: RecordRef, groups: Collection[str] | None) -> Record:
        blocks, scalars = _now(self._blocks, ref), _now(self._scalars, ref)
        if blocks is not None:
            record = self._read_blocks(blocks, groups)
        elif scalars is not None:
            record = from_scalars(scalars)
        else:
            raise NotFound(
                f"the {ref.kind} record {ref.name} is no longer there", where=ref.run, remedy="Load the page again"
            )
        return replace(record, header=replace(record.header, run=ref.run))

    def _read_blocks(self, blocks: Sequence[RecordEntry], groups: Collection[str] | None) -> Record:
        found: list[Record] = []
        errors: list[StepscopeError] = []
        for entry in blocks:
            try:
                found.append(self._store.read(entry, groups))
            except StepscopeError as error:
                errors.append(error)
        if not found:
            raise errors[0]
        record = found[0] if len(found) == 1 else merge([one for one in found if isinstance(one, Throughput)])
        losses = tuple(Diagnostic.of_error(error) for error in errors)
        return replace(record, header=replace(record.header, losses=record.header.losses + losses))


def _now(listed: Mapping[RecordRef, list[T]], ref: RecordRef) -> list[T] | None:
    """What lies under a reference, or under the one that took its place when the record grew."""
    if ref in listed:
        return listed[ref]
    series = _series(ref)
    return next((found for other, found in listed.items() if _series(other) == series), None)


def _series(ref: RecordRef) -> tuple[str, str, str, str]:
    """What stays of a reference while its record grows: only throughput goes on under further tags."""
    return ref.run, ref.kind, ref.name, "" if ref.kind == Throughput.KIND else ref.tag


def _grouped(entries: Sequence[RecordEntry]) -> Iterable[list[RecordEntry]]:
    """The entries of each record: the blocks of a throughput series are one, every other entry is by itself."""
    blocks: dict[tuple[str, str, str, str], list[RecordEntry]] = {}
    for entry in entries:
        own_tag = "" if entry.kind == Throughput.KIND else entry.tag
        blocks.setdefault((entry.run, entry.kind, entry.name, own_tag), []).append(entry)
    return blocks.values()


def _joined(entries: Sequence[RecordEntry]) -> RecordRef:
    entries = sorted(entries, key=lambda e: (e.written_wall_ns, e.session, e.block))
    last = entries[-1]
    starts = [e.first_step for e in entries if e.first_step is not None]
    ends = [e.last_step for e in entries if e.last_step is not None]
    return RecordRef(
        last.run,
        last.kind,
        last.name,
        last.tag,
        tuple((e.tag, e.version, e.written_wall_ns) for e in entries),
        min(starts, default=None),
        max(ends, default=None),
        last.closed,
        _count_rows(entries),
        last.written_wall_ns,
        last.producer,
        last.schema,
    )


def _count_rows(entries: Sequence[RecordEntry]) -> int:
    """The rows of a record. The rows of a tail are in the block that was written after it.

    Args:
        entries: All blocks and tails of the record, in order of writing.
    """
    rows = 0
    tails: dict[str, int] = {}
    for entry in entries:
        if entry.block == TAIL_BLOCK:
            tails[entry.session] = entry.rows
        else:
            tails[entry.session] = 0
            rows += entry.rows
    return rows + sum(tails.values())


def _scalar_refs(series: Sequence[ScalarSeries], blocks: Collection[RecordRef]) -> dict[RecordRef, list[ScalarSeries]]:
    logged = {(ref.run, ref.name) for ref in blocks if ref.kind == "throughput"}
    grouped: dict[tuple[str, str], list[ScalarSeries]] = {}
    for one in series:
        tag = rate_tag(one.tag)
        if tag is not None:
            grouped.setdefault((one.run, tag.name or "train"), []).append(one)
    return {
        _scalar_ref(run, name, found): found
        for (run, name), found in grouped.items()
        if (run, name) not in logged and not any(r == run for r, _ in logged)
    }


def _scalar_ref(run: str, name: str, found: Sequence[ScalarSeries]) -> RecordRef:
    steps = np.concatenate([one.step for one in found])
    key = tuple((one.tag, len(one.step), int(one.step[-1]) if len(one.step) else 0) for one in found)
    wall_ns = max((int(one.wall_time_s[-1] * 1e9) for one in found if len(one.wall_time_s)), default=0)
    first, last = (int(steps.min()), int(steps.max())) if len(steps) else (None, None)
    return RecordRef(run, "throughput", name, found[0].tag, key, first, last, True, len(steps), wall_ns, "scalars")


class FileCatalog:
    """The records of foreign files, each of which is a run. Deferred ones are read when needed."""

    def __init__(
        self,
        imported: Sequence[tuple[Path, Imported]],
        problems: Sequence[Diagnostic] = (),
    ) -> None:
        self._records: dict[RecordRef, Record] = {}
        self._problems = list(problems)
        self._deferred: list[tuple[Path, Imported]] = []
        self._lock = threading.Lock()
        for path, found in imported:
            self._add(path, found, found.records, first_position=0)
            if found.deferred is not None:
                self._deferred.append((path, found))

    def _add(
        self,
        path: Path,
        found: Imported,
        records: Sequence[NamedRecord],
        *,
        first_position: int,
    ) -> None:
        for position, named in enumerate(records, first_position):
            header: Header = named.record.header
            run = found.run_of(named) or path.name
            # Tags sort in the order of the file: of records of one time the last is the newest.
            ref = RecordRef(
                run=run,
                kind=named.record.KIND,
                name=named.name,
                tag=f"{path}#{position:04}",
                key=(str(path), position),
                first_step=named.step,
                last_step=named.step,
                rows=named.record.rows,
                written_wall_ns=header.wall_anchor_ns,
                producer=header.producer,
            )
            self._records[ref] = named.record
            losses = [loss.in_run(run) for loss in header.losses]
            self._problems += [loss for loss in losses if loss not in self._problems]

    def _load_deferred(self, kind: str | None) -> None:
        with self._lock:
            waiting: list[tuple[Path, Imported]] = []
            for path, found in self._deferred:
                assert found.deferred is not None
                if kind is None or kind in found.deferred.kinds:
                    records = found.deferred.load()
                    self._add(path, found, records, first_position=len(found.records))
                else:
                    waiting.append((path, found))
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

"""The records of a log directory."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

import numpy as np

from stepscope.errors import NotFound, StepscopeError
from stepscope.model.columns import Record
from stepscope.model.diagnostic import Diagnostic
from stepscope.model.scalar_rates import from_scalars, rate_tag
from stepscope.model.throughput import Throughput
from stepscope.model.throughput_merge import merge
from stepscope.session.catalog import RecordRef
from stepscope.store.names import TAIL_BLOCK
from stepscope.store.reading import RecordEntry, RecordStore, ScalarSeries

T = TypeVar("T")
SeriesKey = tuple[str, str, str, str]

DEFAULT_SERIES = "train"
"""The name of rates that are logged as plain scalars without one."""


class StoreCatalog:
    """The records of a log directory. Rates that were logged as plain scalars are records, too."""

    def __init__(self, store: RecordStore) -> None:
        self._store = store
        self._entries: list[RecordEntry] = []
        self._blocks: dict[RecordRef, list[RecordEntry]] = {}
        self._scalars: dict[RecordRef, list[ScalarSeries]] = {}
        self._unreadable: dict[RecordRef, Diagnostic] = {}

    def refresh(self) -> None:
        """Looks for what was written since the last time."""
        self._store.refresh()
        entries = self._store.entries()
        if entries != self._entries:
            self._entries = entries
            self._blocks = {_block_ref(blocks): blocks for blocks in _grouped(entries)}
            for ref in list(self._unreadable):
                if ref not in self._blocks:
                    del self._unreadable[ref]
        self._scalars = _scalar_refs(self._store.scalar_series(), self._blocks)

    def runs(self) -> list[str]:
        """The names of all runs, in order."""
        return self._store.runs()

    def refs(self, kind: str | None = None) -> list[RecordRef]:
        """All records, the newest of a kind and run last."""
        refs = (*self._blocks, *self._scalars)
        return sorted(refs, key=lambda ref: (ref.run, ref.kind, ref.written_wall_ns, ref.tag))

    def problems(self) -> list[Diagnostic]:
        """What could not be read, and why, records that were read before among it."""
        problems = self._store.problems()
        for ref, problem in list(self._unreadable.items()):
            if ref in self._blocks:
                problems.append(problem)
        return problems

    def read(self, ref: RecordRef, groups: Collection[str] | None = None) -> Record:
        """The record, or those groups of it, as it is now where it grew since it was listed.

        Where some blocks of a series cannot be read, the others are its record; the header lists what is lost.

        Raises:
            NotFound: The record is gone.
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
        blocks = _current(self._blocks, ref)
        scalars = _current(self._scalars, ref)
        if blocks is not None:
            record = self._read_blocks(blocks, groups)
        elif scalars is not None:
            record = from_scalars(scalars)
        else:
            found = f"the {ref.kind} record {ref.name} was deleted"
            raise NotFound(found, where=ref.run, remedy="Load the page again")
        return replace(record, header=replace(record.header, run=ref.run))

    def _read_blocks(self, blocks: Sequence[RecordEntry], groups: Collection[str] | None) -> Record:
        records: list[Record] = []
        errors: list[StepscopeError] = []
        for entry in blocks:
            try:
                records.append(self._store.read(entry, groups))
            except StepscopeError as error:
                errors.append(error)
        if not records:
            raise errors[0]
        record = records[0]
        if len(records) > 1:
            record = merge([block for block in records if isinstance(block, Throughput)])
        losses = tuple(Diagnostic.of_error(error) for error in errors)
        header = replace(record.header, losses=record.header.losses + losses)
        return replace(record, header=header)


def _current(listed: Mapping[RecordRef, list[T]], ref: RecordRef) -> list[T] | None:
    """What lies under a reference, or under the one that replaced it when the record grew."""
    if ref in listed:
        return listed[ref]
    series = _series_of_ref(ref)
    for other, parts in listed.items():
        if _series_of_ref(other) == series:
            return parts
    return None


def _series_of_ref(ref: RecordRef) -> SeriesKey:
    """What stays of a reference while its record grows: only throughput continues under further tags."""
    tag = "" if ref.kind == Throughput.KIND else ref.tag
    return ref.run, ref.kind, ref.name, tag


def _grouped(entries: Sequence[RecordEntry]) -> Iterable[list[RecordEntry]]:
    """The entries of each record: the blocks of a throughput series are one, every other entry is a record."""
    blocks: dict[SeriesKey, list[RecordEntry]] = {}
    for entry in entries:
        tag = "" if entry.kind == Throughput.KIND else entry.tag
        blocks.setdefault((entry.run, entry.kind, entry.name, tag), []).append(entry)
    return blocks.values()


def _block_ref(entries: Sequence[RecordEntry]) -> RecordRef:
    """The reference of a record that lies in these entries."""
    in_order = sorted(entries, key=lambda e: (e.written_wall_ns, e.session, e.block))
    last = in_order[-1]
    first_steps = [entry.first_step for entry in in_order if entry.first_step is not None]
    last_steps = [entry.last_step for entry in in_order if entry.last_step is not None]
    return RecordRef(
        run=last.run,
        kind=last.kind,
        name=last.name,
        tag=last.tag,
        key=tuple((entry.tag, entry.version, entry.written_wall_ns) for entry in in_order),
        first_step=min(first_steps, default=None),
        last_step=max(last_steps, default=None),
        closed=last.closed,
        rows=_count_rows(in_order),
        written_wall_ns=last.written_wall_ns,
        producer=last.producer,
        schema=last.schema,
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


def _scalar_refs(
    series: Sequence[ScalarSeries], blocks: Collection[RecordRef]
) -> dict[RecordRef, list[ScalarSeries]]:
    """The rates that were logged as plain scalars, in runs that have no throughput record."""
    logged_runs = {ref.run for ref in blocks if ref.kind == Throughput.KIND}
    parts_of: dict[tuple[str, str], list[ScalarSeries]] = {}
    for scalar in series:
        tag = rate_tag(scalar.tag)
        if tag is not None and scalar.run not in logged_runs:
            name = tag.name or DEFAULT_SERIES
            parts_of.setdefault((scalar.run, name), []).append(scalar)
    return {_scalar_ref(run, name, parts): parts for (run, name), parts in parts_of.items()}


def _scalar_ref(run: str, name: str, parts: Sequence[ScalarSeries]) -> RecordRef:
    steps = np.concatenate([part.step for part in parts])
    written_s = [float(part.wall_time_s[-1]) for part in parts if len(part.wall_time_s)]
    return RecordRef(
        run=run,
        kind=Throughput.KIND,
        name=name,
        tag=parts[0].tag,
        key=tuple(_scalar_key(part) for part in parts),
        first_step=int(steps.min()) if len(steps) else None,
        last_step=int(steps.max()) if len(steps) else None,
        rows=len(steps),
        written_wall_ns=max((int(time_s * 1e9) for time_s in written_s), default=0),
        producer="scalars",
    )


def _scalar_key(part: ScalarSeries) -> Hashable:
    last_step = int(part.step[-1]) if len(part.step) else 0
    return part.tag, len(part.step), last_step

"""Reads local log directories from the event files themselves: incremental, checked, and alike for every loader."""

from __future__ import annotations

import contextlib
import io
import itertools
import os
import stat
import threading
from collections.abc import Callable, Collection, Iterator
from functools import partial

import numpy as np

from stepscope.errors import DamagedRecord, NotFound
from stepscope.model.columns import Record
from stepscope.model.diagnostic import Diagnostic
from stepscope.model.wire import WireError
from stepscope.pb import storage_pb2
from stepscope.store import events, names, reading, rundirs
from stepscope.store.eventfile import EventFile, Stored
from stepscope.store.reading import RecordEntry, ScalarSeries
from stepscope.store.tfrecord import read_at


class _Run:
    """The event files of a run, and what they hold together."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.files: dict[str, EventFile] = {}
        self.stored: dict[str, Stored] = {}
        self.entries: list[RecordEntry] = []
        self.problems: list[Diagnostic] = []

    def refresh(self, listing: list[os.DirEntry[str]]) -> None:
        """Reads what the files listed have gained, and forgets those that are gone."""
        changed = False
        files: dict[str, EventFile] = {}
        for item in listing:
            with contextlib.suppress(OSError):
                # Not the entry's own: Windows does not keep its size up to date.
                status = os.stat(item.path)
                if not stat.S_ISREG(status.st_mode):
                    continue
                file = files[item.path] = self.files.get(item.path) or EventFile(item.path)
                changed |= file.refresh((status.st_dev, status.st_ino), status.st_size)
        if changed or files.keys() != self.files.keys():
            self.files = files
            self._merge()

    def _merge(self) -> None:
        stored: dict[str, Stored] = {}
        for file in self.files.values():
            for tag, value in file.stored.items():
                # The last version of a tag has the highest step, whichever file it is in.
                if tag not in stored or stored[tag].step <= value.step:
                    stored[tag] = value
        found = [
            v.found or v.read_entry(self.name, tag)
            for tag, v in stored.items()
            if not names.is_part(tag)
        ]
        self.stored = stored
        self.entries = sorted(entry for entry in found if isinstance(entry, RecordEntry))
        self.problems = []
        for file in self.files.values():
            self.problems += file.problems(self.name)
        self.problems += [entry for entry in found if isinstance(entry, Diagnostic)]
        self.problems += reading.unsupported(self.entries)

    def has_content(self) -> bool:
        """Whether there is something to show, or to say."""
        return bool(self.entries or self.problems) or any(
            file.scalars for file in self.files.values()
        )

    def scalars(self) -> Iterator[ScalarSeries]:
        """The rates that were logged as scalars."""
        tags: set[str] = set()
        for file in self.files.values():
            tags.update(file.scalars)
        for tag in sorted(tags):
            points = [file.scalars[tag] for file in self.files.values() if tag in file.scalars]
            yield ScalarSeries(
                run=self.name,
                tag=tag,
                step=np.concatenate([np.array(p.step, np.int64) for p in points]),
                wall_time_s=np.concatenate([np.array(p.wall_time_s, np.float64) for p in points]),
                value=np.concatenate([np.array(p.value, np.float64) for p in points]),
            )


class LocalStore:
    """Reads the event files of local directories. Safe to call from several threads.

    Args:
        logdir: A directory, as for TensorBoard's `--logdir`.
        logdir_spec: Directories with names of runs, as for its `--logdir_spec`. Only where `logdir` is empty.
    """

    def __init__(self, logdir: str | os.PathLike[str] = "", logdir_spec: str = "") -> None:
        self._roots = rundirs.roots(os.fspath(logdir), logdir_spec)
        self._lock = threading.RLock()
        self._runs: dict[str, _Run] = {}
        self._problems: list[Diagnostic] = []

    def refresh(self) -> None:
        """Looks for what was written since the last time: new runs, new files, and bytes added to files."""
        with self._lock:
            problems: list[Diagnostic] = []
            listings: dict[str, list[os.DirEntry[str]]] = {}
            for root, prefix in self._roots.items():
                for name, listing in rundirs.find(root, prefix, problems):
                    listings.setdefault(name, []).extend(listing)
            self._runs = {name: self._runs.get(name) or _Run(name) for name in listings}
            for name, listing in listings.items():
                self._runs[name].refresh(listing)
            self._problems = problems

    def runs(self) -> list[str]:
        """The runs that hold something to show, by name."""
        with self._lock:
            return sorted(run.name for run in self._runs.values() if run.has_content())

    def entries(self) -> list[RecordEntry]:
        """The records, by run, kind, name, session and block; the last version of each."""
        with self._lock:
            entries: list[RecordEntry] = []
            for name in sorted(self._runs):
                entries += self._runs[name].entries
            return entries

    def problems(self) -> list[Diagnostic]:
        """What was found damaged or cannot be read, with file and byte offset."""
        with self._lock:
            problems = list(self._problems)
            for run in self._runs.values():
                problems += run.problems
            return problems

    def scalar_series(self) -> list[ScalarSeries]:
        """The scalars under the rates' tags, such as `avg_samples_per_sec`."""
        with self._lock:
            series: list[ScalarSeries] = []
            for name in sorted(self._runs):
                series += self._runs[name].scalars()
            return series

    def read(self, entry: RecordEntry, groups: Collection[str] | None = None) -> Record:
        """Reads a record's last version, element by element. See `RecordStore.read`."""
        parts = self._parts(entry)
        where = f"run {entry.run}, {entry.tag}"
        index = reading.read_index(parts[0].first_blob, parts[0].where)
        with contextlib.ExitStack() as stack:
            try:
                blobs = _Blobs(parts, stack)
                wanted = reading.wanted_elements(index.kind, blobs.table(), groups, where)
                bodies = reading.unpacked(
                    (*blobs.element(one), one.raw_size_bytes) for one in wanted
                )
                return reading.decode(index, bodies, where, groups)
            except OSError as error:
                found = f"event file can no longer be read ({error.strerror or error})"
                raise NotFound(found, where=where, remedy="Refresh the list of records") from error

    def _parts(self, entry: RecordEntry) -> list[Stored]:
        """The values that hold the record's parts, all of one version."""
        with self._lock:
            run = self._runs.get(entry.run)
            if run is None or entry.tag not in run.stored:
                where = f"run {entry.run}, {entry.tag}"
                raise NotFound("record not found", where=where, remedy="Refresh the list")
            first = run.stored[entry.tag]
            count = reading.read_index(first.first_blob, first.where).parts
            further = (run.stored.get(names.part_tag(entry.tag, part)) for part in range(1, count))
            present = itertools.takewhile(
                lambda value: value is not None and value.step == first.step, further
            )
            parts = [first, *(value for value in present if value is not None)]
        if len(parts) < count:
            found = f"part {len(parts)} of {count} is missing"
            remedy = (
                "If it is being written, refresh the list; otherwise see the problems of the run"
            )
            raise DamagedRecord(found, where=first.where, remedy=remedy)
        return parts


class _Blobs:
    """Reads elements of a record from its event files, which stay open meanwhile."""

    def __init__(self, parts: list[Stored], stack: contextlib.ExitStack) -> None:
        self._parts = parts
        self._stack = stack
        self._files: dict[str, io.FileIO] = {}
        self._spans: dict[int, list[tuple[int, int]]] = {}

    def table(self) -> storage_pb2.ElementTable:
        """The record's table of elements."""
        return reading.read_table(*self._blob(0, 1))

    def element(self, element: storage_pb2.ElementEntry) -> tuple[bytes, str]:
        """An element as it is stored, and where it lies."""
        return self._blob(element.part, element.position)

    def _blob(self, number: int, position: int) -> tuple[bytes, str]:
        """An element of a part as it is stored, and where it lies."""
        spans: list[tuple[int, int]] = []
        if number < len(self._parts):
            spans = self._spans_of(number)
        if position >= len(spans):
            found = f"element {position} of part {number} is missing"
            raise DamagedRecord(found, where=self._parts[0].where, remedy="Write the record again")
        offset, size = spans[position]
        path = self._parts[number].file.path
        return self._reader(path)(offset, size), f"{path}, byte {offset}"

    def _spans_of(self, number: int) -> list[tuple[int, int]]:
        if number not in self._spans:
            part = self._parts[number]
            try:
                spans = events.blob_spans(
                    self._reader(part.file.path), part.start, part.end, part.ordinal
                )
            except WireError as error:
                raise DamagedRecord(
                    str(error), where=part.where, remedy="Refresh the list of records"
                ) from error
            self._spans[number] = spans
        return self._spans[number]

    def _reader(self, path: str) -> Callable[[int, int], bytes]:
        if path not in self._files:
            self._files[path] = self._stack.enter_context(io.FileIO(path))
        file = self._files[path]

        return partial(read_at, file)

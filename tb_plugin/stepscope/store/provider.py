"""Reads records through TensorBoard's data provider: remote directories, hosted experiments, in-process tests.

TensorBoard's two loaders differ in what they raise, and the fast one lets small answers wait 40 ms (delayed
acknowledgements), so elements are read by several threads.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import grpc
import numpy as np
from tensorboard import errors as tensorboard_errors
from tensorboard.data.provider import RunTagFilter

from stepscope.errors import DamagedRecord, NotFound, StepscopeError, StoreError
from stepscope.model.columns import Record
from stepscope.model.diagnostic import Diagnostic
from stepscope.store import names, reading
from stepscope.store.events import PLUGIN_NAME
from stepscope.store.reading import RecordEntry, ScalarSeries

T = TypeVar("T")

THREADS = 16
ATTEMPTS = 8
# `downsample` is mandatory, and the sampling hint must not be passed on as it may be 0.
_ALL = 10**7
_SCALARS_KEPT = 1000
_MOST_PARTS = 10_000
_Key = tuple[str, str]


class _Gone(Exception):
    """A value that was listed is no longer there: a later version has taken its place."""


class ProviderStore:
    """Reads records through a data provider. Safe to call from several threads.

    Args:
        data_provider: TensorBoard's, of whichever loader.
        context: A tensorboard RequestContext.
        experiment_id: As TensorBoard gives it for the request; empty for local directories.
    """

    def __init__(self, data_provider: Any, context: Any, experiment_id: str = "") -> None:
        self._provider = data_provider
        self._context = context
        self._experiment_id = experiment_id
        self._lock = threading.RLock()
        self._seen: dict[_Key, tuple[int, float]] = {}
        self._found: dict[_Key, RecordEntry | Diagnostic] = {}
        self._problems: list[Diagnostic] = []
        self._scalars: list[ScalarSeries] = []

    def refresh(self) -> None:
        """Lists again, and reads the index of every record that is new or has a new version."""
        with self._lock:
            self._problems = []
            try:
                pending = self._list_changed()
                for _ in range(ATTEMPTS):
                    if not pending:
                        break
                    pending = self._read_indexes(pending)
                self._scalars = list(self._read_scalars())
            except _Gone:
                pass
            except StoreError as error:
                self._problems.append(Diagnostic.of_error(error, count=0))

    def _list_changed(self) -> set[_Key]:
        listing = self._call(self._provider.list_blob_sequences, plugin_name=PLUGIN_NAME)
        seen: dict[_Key, tuple[int, float]] = {}
        for run, tags in listing.items():
            for tag, series in tags.items():
                if not names.is_part(tag):
                    seen[run, tag] = (series.max_step, series.max_wall_time)
        self._found = {key: found for key, found in self._found.items() if key in seen}
        changed = {
            key
            for key, last in seen.items()
            if key not in self._found or self._seen.get(key) != last
        }
        self._seen = seen
        return changed

    def _read_indexes(self, keys: set[_Key]) -> set[_Key]:
        """Reads indexes; those that were replaced meanwhile come back."""
        data = self._references({run for run, _ in keys}, {tag for _, tag in keys})
        present = [key for key in keys if key in data]
        results = _in_threads(lambda key: self._read_entry(key, data[key]), present)
        replaced: set[_Key] = set()
        for key, found in zip(present, results, strict=True):
            if found is None:
                replaced.add(key)
            else:
                self._found[key] = found
        return replaced

    def _read_entry(self, key: _Key, datum: Any) -> RecordEntry | Diagnostic | None:
        run, tag = key
        where = f"run {run}, {tag}"
        try:
            return reading.read_entry(run, tag, self._blob(datum, 0, where))
        except _Gone:
            return None
        except StepscopeError as error:
            return Diagnostic.of_error(error, run=run)

    def _references(self, runs: Collection[str], tags: Collection[str]) -> dict[_Key, Any]:
        """The last value of each tag: its step and the keys of its blobs."""
        wanted = RunTagFilter(runs=runs, tags=tags)
        read = self._provider.read_blob_sequences
        found = self._call(read, plugin_name=PLUGIN_NAME, downsample=_ALL, run_tag_filter=wanted)
        last: dict[_Key, Any] = {}
        for run, series in found.items():
            for tag, data in series.items():
                if data:
                    last[run, tag] = max(data, key=lambda datum: datum.step)
        return last

    def _blob(self, datum: Any | None, position: int, where: str) -> bytes:
        if datum is None or position >= len(datum.values):
            found = f"element {position} is missing, though the index names it"
            raise DamagedRecord(found, where=where, remedy="Write the record again")
        return bytes(
            _asked(
                self._provider.read_blob, self._context, blob_key=datum.values[position].blob_key
            )
        )

    def _call(self, method: Callable[..., T], **arguments: Any) -> T:
        return _asked(method, self._context, experiment_id=self._experiment_id, **arguments)

    def runs(self) -> list[str]:
        """The runs that hold something to show, by name."""
        with self._lock:
            return sorted(
                {run for run, _ in self._found} | {series.run for series in self._scalars}
            )

    def entries(self) -> list[RecordEntry]:
        """The records, by run, kind, name, session and block; the last version of each."""
        with self._lock:
            return sorted(entry for entry in self._found.values() if isinstance(entry, RecordEntry))

    def problems(self) -> list[Diagnostic]:
        """What cannot be read, and where TensorBoard may have left points out."""
        with self._lock:
            problems = self._problems + [
                p for p in self._found.values() if isinstance(p, Diagnostic)
            ]
        return problems + list(reading.unsupported(self.entries()))

    def scalar_series(self) -> list[ScalarSeries]:
        """The scalars under the rates' tags, as TensorBoard kept them."""
        with self._lock:
            return list(self._scalars)

    def _read_scalars(self) -> Iterator[ScalarSeries]:
        listing = self._call(self._provider.list_scalars, plugin_name="scalars")
        keys: list[_Key] = []
        for run, tags in sorted(listing.items()):
            keys += [(run, tag) for tag in sorted(tags) if reading.is_rate(tag)]
        if not keys:
            return
        wanted = RunTagFilter(runs={run for run, _ in keys}, tags={tag for _, tag in keys})
        read = self._provider.read_scalars
        found = self._call(read, plugin_name="scalars", downsample=_ALL, run_tag_filter=wanted)
        for run, tag in keys:
            points = [
                point
                for point in found.get(run, {}).get(tag, ())
                if reading.is_moment(point.wall_time)
            ]
            if len(points) == _SCALARS_KEPT:
                what = f"TensorBoard kept {_SCALARS_KEPT} scalars and may have dropped others"
                remedy = "Start TensorBoard with --samples_per_plugin=scalars=0"
                self._problems.append(Diagnostic(tag, what, remedy=remedy, run=run))
            yield ScalarSeries(
                run=run,
                tag=tag,
                step=np.array([point.step for point in points], np.int64),
                wall_time_s=np.array([point.wall_time for point in points], np.float64),
                value=np.array([point.value for point in points], np.float64),
            )

    def read(self, entry: RecordEntry, groups: Collection[str] | None = None) -> Record:
        """Reads a record's last version. See `RecordStore.read`."""
        for _ in range(ATTEMPTS):
            try:
                return self._read_once(entry, groups)
            except _Gone:
                continue
        remedy = "Refresh the list of records; if it is rewritten without pause, wait"
        raise NotFound("record not found", where=f"run {entry.run}, {entry.tag}", remedy=remedy)

    def _read_once(self, entry: RecordEntry, groups: Collection[str] | None) -> Record:
        where = f"run {entry.run}, {entry.tag}"
        first = self._references([entry.run], [entry.tag]).get((entry.run, entry.tag))
        if first is None:
            raise _Gone
        index = reading.read_index(self._blob(first, 0, where), where)
        data = {0: first, **self._parts(entry, index.parts, first.step)}
        table = reading.read_table(self._blob(first, 1, where), where)
        wanted = list(reading.wanted_elements(index.kind, table, groups, where))
        blobs = _in_threads(
            lambda element: self._blob(data.get(element.part), element.position, where), wanted
        )
        sizes = (element.raw_size_bytes for element in wanted)
        bodies = reading.unpacked(
            (blob, where, size) for blob, size in zip(blobs, sizes, strict=True)
        )
        return reading.decode(index, bodies, where, groups)

    def _parts(self, entry: RecordEntry, count: int, step: int) -> dict[int, Any]:
        """The values of a record's further parts, of one version with the first."""
        if count < 2:
            return {}
        if count > _MOST_PARTS:
            where = f"run {entry.run}, {entry.tag}"
            raise DamagedRecord(
                f"index claims {count} parts", where=where, remedy="Write the record again"
            )
        tags = {names.part_tag(entry.tag, part): part for part in range(1, count)}
        data = {tags[tag]: datum for (_, tag), datum in self._references([entry.run], tags).items()}
        if len(data) < count - 1 or any(datum.step != step for datum in data.values()):
            raise _Gone
        return data


def _in_threads(function: Callable[[Any], T], items: Iterable[Any]) -> list[T]:
    """The function's answers in order; the first error is raised."""
    items = list(items)
    if len(items) < 2:
        return [function(item) for item in items]
    with ThreadPoolExecutor(min(THREADS, len(items))) as pool:
        return list(pool.map(function, items))


def _asked(method: Callable[..., T], context: Any, **arguments: Any) -> T:
    """Calls the provider, whose loaders raise different errors for the same thing."""
    try:
        return method(context, **arguments)
    except (tensorboard_errors.NotFoundError, KeyError, IndexError) as error:
        raise _Gone from error
    except (tensorboard_errors.PublicError, grpc.RpcError, ValueError) as error:
        found = f"TensorBoard's loader cannot read the value ({error})"
        remedy = "Rename runs with quotes, backslashes or control characters, or start with --load_fast=false"
        raise StoreError(found, where="data provider", remedy=remedy) from error

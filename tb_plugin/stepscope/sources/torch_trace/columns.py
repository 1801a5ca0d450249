"""The events of a trace as columns, sorted by what they are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from itertools import islice

import msgspec
import numpy as np

from stepscope.model.columns import Array
from stepscope.sources.torch_trace.args import (
    PROPERTIES,
    CommunicationArgs,
    DeviceArgs,
    LaunchArgs,
    MemoryArgs,
    NameArgs,
    OpArgs,
    PlainArgs,
    PropertyArgs,
    PythonArgs,
    decode_args,
)
from stepscope.sources.torch_trace.event import Event, Id
from stepscope.sources.torch_trace.kinds import ANNOTATION, DEVICE_ARROWS, EventKind, event_kind
from stepscope.sources.torch_trace.numbers import MISSING, identities, integers, nanoseconds
from stepscope.sources.torch_trace.tables import Interner, Table

FAR_NS = 9 * 10**15
"""About 100 days. Events farther apart are not of one trace, and their picoseconds exceed 64 bits."""

PYTHON_GC = "Python GC"
"""The name of garbage collection, as torch 2.10 and later record it."""

_COLLECTIVE = PROPERTIES.index("Collective name")
_PARAM_COMMS = "record_param_comms"
_NO_PROPERTIES = b""
_NAMES = frozenset(("thread_name", "process_name", "process_labels"))

Sink = Callable[[list[Event]], None]


class _Groups(dict[tuple[str, str | None], list[Event]]):
    """Lists of events by phase and category.

    Kinds with one sink share a list, so that it keeps the order of the file.
    """

    def __init__(self, sinks: dict[EventKind, Sink]) -> None:
        super().__init__()
        self.by_kind: dict[EventKind, list[Event]] = {}
        self._sinks = sinks

    def __missing__(self, key: tuple[str, str | None]) -> list[Event]:
        kind = event_kind(*key)
        if kind not in self._sinks:
            kind = EventKind.IGNORED
        group = self[key] = self.by_kind.setdefault(kind, [])
        return group


class EventColumns:
    """All that the importer reads of a trace's events.

    Attributes:
        ops, frames, launches, device, memory, arrows: A table for each kind of event. Numbers in
            the columns `name`, `thread`, `category`, `place`, ... count in the tables of values.
        count: Events in the file.
        without_time, without_duration, negative, far: Events whose time cannot be used.
        unpaired: Begins without an end, or ends without a begin.
        unknown: How many events of each unknown category.
        process_names, process_labels, thread_names: As the trace's metadata says.
        ranks: The rank of each process, where the file says one.
    """

    def __init__(self) -> None:
        self.names = Interner()
        self.categories = Interner()
        self.threads = Interner()
        self.dims = Interner()
        self.stacks = Interner()
        self.properties = Interner()
        self.places = Interner()
        self.arrow_ids = Interner()
        self.tasks = Interner()

        self.ops = Table()
        self.frames = Table()
        self.launches = Table()
        self.device = Table()
        self.memory = Table()
        self.arrows = Table()
        self.marks = Table()
        self.plain = Table()

        self.process_names: dict[Id, str] = {}
        self.process_labels: dict[Id, str] = {}
        self.thread_names: dict[tuple[Id, Id], str] = {}
        self.ranks: dict[Id, Id] = {}

        self.count = 0
        self.without_time = 0
        self.without_duration = 0
        self.negative = 0
        self.far = 0
        self.unpaired = 0
        self.unknown: Counter[str] = Counter()

        self._sinks: dict[EventKind, Sink] = {
            EventKind.OP: self._add_ops,
            EventKind.FRAME: self._add_frames,
            EventKind.COLLECTION: self._add_collections,
            EventKind.LAUNCH: self._add_launches,
            EventKind.DEVICE: self._add_device,
            EventKind.PLAIN: self._add_plain,
            EventKind.MEMORY: self._add_memory,
            EventKind.ARROW: self._add_arrows,
            EventKind.MARK: self._add_marks,
            EventKind.NAME: self._add_names,
            EventKind.UNKNOWN: self._add_unknown,
        }
        self._groups = _Groups(self._sinks)
        self._is_collective: list[bool] = []

    def add(self, events: list[Event]) -> None:
        """Takes a batch of events."""
        self.count += len(events)
        groups = self._groups
        for event in events:
            groups[event.ph, event.cat].append(event)
        for kind, group in groups.by_kind.items():
            sink = self._sinks.get(kind)
            if group and sink is not None:
                sink(group)
            group.clear()

    def _timed(self, events: list[Event]) -> tuple[list[Event], dict[str, Array]]:
        """The events that have a time, and the columns that all kinds share."""
        start = nanoseconds([event.ts for event in events])
        has_time = start != MISSING
        if not has_time.all():
            events = _where(events, has_time)
            self.without_time += len(start) - len(events)
            start = start[has_time]
        columns = {
            "start": start,
            "name": self.names.of([event.name for event in events]),
            "thread": self.threads.of([(event.pid, event.tid) for event in events]),
        }
        return events, columns

    def _complete(self, events: list[Event]) -> tuple[list[Event], dict[str, Array]]:
        """The events that have a time, and the columns of those with a duration."""
        events, columns = self._timed(events)
        duration = nanoseconds([event.dur for event in events])
        missing = (duration == MISSING) | (duration > FAR_NS)
        self.without_duration += int(np.count_nonzero(missing))
        duration[missing] = 0
        self.negative += int(np.count_nonzero(duration < 0))
        columns["duration"] = np.maximum(duration, 0)
        columns["category"] = self.categories.of([(event.cat or "").lower() for event in events])
        return events, columns

    def _add_ops(self, events: list[Event]) -> None:
        events, columns = self._complete(events)
        args = decode_args(OpArgs, events)
        self._note_ranks(events, [a.rank for a in args])
        names = [event.name for event in events]
        communicates = [row for row, name in enumerate(names) if name == _PARAM_COMMS]
        self.ops.add(
            **columns,
            **self._properties(events, communicates),
            **self._op_columns(args),
        )

    def _op_columns(self, args: list[OpArgs]) -> dict[str, Array]:
        return {
            "dims": self.dims.of([bytes(a.dims) or bytes(a.old_dims) for a in args]),
            "stack": self.stacks.of([bytes(a.stack) for a in args]),
            "sequence": integers([a.sequence for a in args], -1),
            "forward_thread": integers([a.forward_thread for a in args], 0),
        }

    def _properties(self, events: list[Event], rows: list[int]) -> dict[str, Array]:
        """What the arguments of some of the events say of how they ran, and of communication."""
        properties = np.full(len(events), self.properties.number(_NO_PROPERTIES), np.int32)
        columns = {"properties": properties}
        for field in CommunicationArgs.__struct_fields__:
            columns[field] = np.full(len(events), -1, np.int64)
        if not rows:
            return columns

        selected = events if len(rows) == len(events) else [events[row] for row in rows]
        decoded = map(msgspec.structs.astuple, decode_args(PropertyArgs, selected))
        numbers = self.properties.of([b"\0".join(values) for values in decoded])
        properties[rows] = numbers
        communicating = np.flatnonzero(self.communicating_sets()[numbers])
        if len(communicating):
            args = decode_args(
                CommunicationArgs, [selected[place] for place in communicating.tolist()]
            )
            at = np.array(rows, np.int64)[communicating]
            for field in CommunicationArgs.__struct_fields__:
                columns[field][at] = integers([getattr(a, field) for a in args], -1)
        return columns

    def communicating_sets(self) -> Array:
        """Which sets of properties are of communication."""
        for values in islice(self.properties.index, len(self._is_collective), None):
            fields = values.split(b"\0")
            self._is_collective.append(len(fields) > _COLLECTIVE and fields[_COLLECTIVE] != b"")
        return np.array(self._is_collective, bool)

    def _note_ranks(self, events: list[Event], ranks: list[Id]) -> None:
        """TraceLens merges ranks into one file, and gives each event the argument `rank`."""
        if ranks.count(None) == len(ranks):
            return
        for event, rank in zip(events, ranks, strict=True):
            if rank is not None:
                self.ranks.setdefault(event.pid, rank)

    def _add_frames(self, events: list[Event]) -> None:
        events, columns = self._complete(events)
        args = decode_args(PythonArgs, events)
        ids = integers([a.id for a in args], -1)
        callers = integers([a.parent for a in args], -1)
        self.frames.add(**columns, id=ids, caller=callers)
        collections = [event for event in events if event.name == PYTHON_GC]
        if collections:
            self._add_collections(collections)

    def _add_collections(self, events: list[Event]) -> None:
        """Runs of the garbage collector are named ranges."""
        for event in events:
            event.name = PYTHON_GC
            event.cat = ANNOTATION
        self._add_ops(events)

    def _add_launches(self, events: list[Event]) -> None:
        events, columns = self._complete(events)
        args = decode_args(LaunchArgs, events)
        self.launches.add(**columns, correlation=identities([a.correlation for a in args]))

    def _add_device(self, events: list[Event]) -> None:
        events, columns = self._complete(events)
        is_timed = (columns["start"] != 0) | (columns["duration"] != 0)
        if not is_timed.all():
            # The profiler lost the times of these: both are 0.
            events = _where(events, is_timed)
            self.without_time += int(np.count_nonzero(~is_timed))
            columns = {name: values[is_timed] for name, values in columns.items()}
        args = decode_args(DeviceArgs, events)
        self._note_ranks(events, [a.rank for a in args])
        places = []
        for event, arg in zip(events, args, strict=True):
            device = event.pid if arg.device is None else arg.device
            stream = event.tid if arg.stream is None else arg.stream
            places.append((event.cat, device, stream))
        in_order = np.fromiter((a.stream is not None for a in args), bool, len(args))
        self.device.add(
            **columns,
            **self._properties(events, list(range(len(events)))),
            correlation=identities([a.correlation for a in args]),
            place=self.places.of(places),
            in_order=in_order,
        )

    def _add_plain(self, events: list[Event]) -> None:
        events, columns = self._complete(events)
        ops = decode_args(OpArgs, events)
        device = decode_args(DeviceArgs, events)
        plain = decode_args(PlainArgs, events)
        identity = []
        for own, other in zip(device, plain, strict=True):
            identity.append(other.connection if own.correlation is None else own.correlation)
        places = [(event.cat, event.pid, event.tid) for event in events]
        self.plain.add(
            **columns,
            **self._properties(events, []),
            **self._op_columns(ops),
            correlation=identities(identity),
            place=self.places.of(places),
            in_order=np.zeros(len(events), bool),
            task=self.tasks.of([str(a.task or "") for a in plain]),
        )

    def _add_unknown(self, events: list[Event]) -> None:
        self.unknown.update(str(event.cat) for event in events)

    def _add_memory(self, events: list[Event]) -> None:
        events = [event for event in events if event.name == "[memory]"]
        events, columns = self._timed(events)
        if not events:
            return
        args = decode_args(MemoryArgs, events)
        places = []
        for a in args:
            kind = int(integers([a.device_type], 0)[0])
            number = int(integers([a.device_id], -1)[0])
            places.append(("memory", kind, number))
        self.memory.add(
            **columns,
            delta=integers([a.delta for a in args], 0),
            address=integers([a.address for a in args], 0),
            allocated=integers([a.allocated for a in args], -1),
            reserved=integers([a.reserved for a in args], -1),
            device=self.places.of(places),
        )

    def _add_arrows(self, events: list[Event]) -> None:
        events, columns = self._timed(events)
        to_device = [(event.cat or "").lower() in DEVICE_ARROWS for event in events]
        self.arrows.add(
            **columns,
            id=self.arrow_ids.of([(event.cat, event.id) for event in events]),
            is_end=np.fromiter((event.ph == "f" for event in events), bool, len(events)),
            to_device=np.array(to_device, bool),
        )

    def _add_marks(self, events: list[Event]) -> None:
        events, columns = self._timed(events)
        ends = np.fromiter((event.ph == "E" for event in events), bool, len(events))
        categories = self.categories.of([(event.cat or "").lower() for event in events])
        self.marks.add(**columns, is_end=ends, category=categories)

    def _add_names(self, events: list[Event]) -> None:
        # Some writers repeat the names before each batch of events: the last ones count.
        latest: dict[tuple[str, Id, Id], Event] = {}
        for event in events:
            if event.name in _NAMES:
                latest[event.name, event.pid, event.tid] = event
        events = list(latest.values())
        for event, args in zip(events, decode_args(NameArgs, events), strict=True):
            if event.name == "process_labels":
                self.process_labels[event.pid] = str(args.labels or "")
            elif args.name is None:
                continue
            elif event.name == "process_name":
                self.process_names[event.pid] = str(args.name)
            else:
                self.thread_names[event.pid, event.tid] = str(args.name)

    def pair_marks(self) -> None:
        """Makes ranges of the begin and end marks, which may lie in any batches."""
        marks = self.marks
        if not len(marks):
            return
        order = np.lexsort((marks["start"], marks["thread"]))
        columns = [marks[name][order].tolist() for name in ("thread", "is_end", "start")]
        open_marks: dict[int, list[tuple[int, int]]] = {}
        rows: list[int] = []
        durations: list[int] = []
        for row, thread, is_end, start in zip(order.tolist(), *columns, strict=True):
            waiting = open_marks.setdefault(thread, [])
            if not is_end:
                waiting.append((row, start))
            elif waiting:
                begin, since = waiting.pop()
                rows.append(begin)
                durations.append(start - since)
        self.unpaired += len(order) - 2 * len(rows)
        self._add_ranges(np.array(rows, np.int64), np.array(durations, np.int64))
        self.marks = Table()

    def _add_ranges(self, rows: Array, durations: Array) -> None:
        columns = {name: self.marks[name][rows] for name in ("start", "name", "thread", "category")}
        self.ops.add(
            **columns,
            duration=durations,
            **self._properties([Event()] * len(rows), []),
            **self._op_columns([OpArgs()] * len(rows)),
        )

    def drop_far(self) -> None:
        """Drops events so far away from the others that no clock of one trace shows both."""
        tables = (self.ops, self.frames, self.launches, self.device, self.memory)
        starts = np.concatenate([table["start"] for table in tables])
        if not len(starts) or int(starts.max()) - int(starts.min()) < FAR_NS:
            return
        middle = int(np.sort(starts)[len(starts) // 2])
        for table in tables:
            near = np.abs(table["start"].astype(np.float64) - middle) < FAR_NS
            self.far += int(np.count_nonzero(~near))
            table.keep(near)


def _where(events: list[Event], mask: Array) -> list[Event]:
    return [event for event, is_wanted in zip(events, mask.tolist(), strict=True) if is_wanted]


def read_columns(batches: Iterable[list[Event]]) -> EventColumns:
    """The columns of all events of a trace."""
    columns = EventColumns()
    for events in batches:
        columns.add(events)
    columns.pair_marks()
    return columns

"""Events of a trace, sorted by what they are, as columns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stepscope.sources.torch_trace.args import (
    DeviceArgs,
    LaunchArgs,
    MemoryArgs,
    NameArgs,
    OpArgs,
    PropertyArgs,
    PythonArgs,
    decode_args,
)
from stepscope.sources.torch_trace.events import Event, Id
from stepscope.sources.torch_trace.numbers import MISSING, Ints, integers, nanoseconds

_OPS = ("cpu_op", "operator", "user_annotation")
_LAUNCHES = (
    "cuda_runtime",
    "cuda_driver",
    "runtime",
    "mtia_runtime",
    "xpu_runtime",
    "xpu_driver",
    "glow_runtime",
    "privateuse1_runtime",
    "privateuse1_driver",
)
_DEVICE = ("kernel", "gpu_memcpy", "gpu_memset", "memcpy", "memset", "mtia_ccp_events", "hpu_op", "concurrent_kernel")
_FLOWS = ("fwdbwd", "forward_backward")
_IGNORED = (
    "trace",
    "gpu_user_annotation",
    "overhead",
    "cuda_sync",
    "cuda_event",
    "cuda_profiler_range",
    "mtia_insight",
)


FAR_NS = 9 * 10**15
"""About 100 days: what lies farther apart is no one trace, and its picoseconds would not fit 64 bits."""


class _Numbers(dict[Any, int]):
    """Numbers of values; a new value gets the next number."""

    def __missing__(self, value: Any) -> int:
        number = self[value] = len(self)
        return number


class Interner:
    """Gives each distinct value a number, in order of first use."""

    def __init__(self) -> None:
        self.index = _Numbers()

    def of(self, values: Sequence[Any]) -> NDArray[np.int32]:
        """The numbers of values."""
        return np.fromiter(map(self.index.__getitem__, values), np.int32, len(values))

    def values(self) -> list[Any]:
        """The distinct values by number."""
        return list(self.index)


@dataclass
class Table:
    """Columns that grow batch by batch."""

    batches: list[dict[str, NDArray[Any]]] = field(default_factory=list)

    def add(self, **columns: NDArray[Any]) -> None:
        """Appends a batch: one array per column, of one length."""
        self.batches.append(columns)

    def keep(self, rows: NDArray[np.bool_]) -> None:
        """Drops all rows but some."""
        if not rows.all():
            self.batches = [{name: self[name][rows] for name in self.batches[0]}]

    def __len__(self) -> int:
        return sum(len(next(iter(batch.values()))) for batch in self.batches)

    def __getitem__(self, name: str) -> NDArray[Any]:
        parts = [batch[name] for batch in self.batches]
        return np.concatenate(parts) if parts else np.empty(0, np.int64)


Kind = tuple[str, str | None]
"""Phase and category."""
Sink = Callable[[list[Event]], None]


class _Groups(dict[Kind, list[Event]]):
    """Lists of events by phase and category. Kinds with one sink share a list, so that it keeps the file's order."""

    def __init__(self, route: Callable[[str, str | None], Sink | None]) -> None:
        super().__init__()
        self.by_sink: dict[Sink | None, list[Event]] = {}
        self._route = route

    def __missing__(self, kind: Kind) -> list[Event]:
        found = self[kind] = self.by_sink.setdefault(self._route(*kind), [])
        return found


class EventColumns:
    """All that the importer keeps of a trace's events."""

    def __init__(self) -> None:
        self.names, self.categories, self.threads = Interner(), Interner(), Interner()
        self.dims, self.stacks, self.properties = Interner(), Interner(), Interner()
        self.devices, self.flow_ids = Interner(), Interner()
        self.ops, self.python, self.launches, self.device = Table(), Table(), Table(), Table()
        self.memory, self.flows, self.marks = Table(), Table(), Table()
        self.thread_names: dict[tuple[Id, Id], str] = {}
        self.count = 0
        self.without_time = self.without_duration = self.far = 0
        self.negative = 0
        self.unknown: Counter[str] = Counter()
        self._groups = _Groups(self._route)

    def add(self, events: list[Event]) -> None:
        """Takes a batch of events."""
        self.count += len(events)
        groups = self._groups
        for event in events:
            groups[event.ph, event.cat].append(event)
        for take, group in groups.by_sink.items():
            if group and take is not None:
                take(group)
            group.clear()

    def _route(self, phase: str, category: str | None) -> Sink | None:
        known = (category or "").lower()
        if phase == "X":
            return self._route_complete(known)
        if phase in ("B", "E"):
            return self._add_marks
        if phase == "M":
            return self._add_names
        if phase in ("i", "I") and known in ("cpu_instant_event", ""):
            return self._add_memory
        return self._add_flows if phase in ("s", "f") and known in _FLOWS else None

    def _route_complete(self, known: str) -> Sink | None:
        if known in _OPS:
            return self._add_ops
        if known == "python_function":
            return self._add_python
        if known in _LAUNCHES:
            return self._add_launches
        if known in _DEVICE:
            return self._add_device
        if not known:
            return self._add_uncategorised
        return None if known in _IGNORED else self._add_unknown

    def _timed(self, events: list[Event]) -> tuple[list[Event], dict[str, NDArray[Any]]]:
        """The columns that all kinds have, and the events that have a time."""
        start = nanoseconds([event.ts for event in events])
        if (start == MISSING).any():
            events = [e for e, known in zip(events, (start != MISSING).tolist(), strict=True) if known]
            self.without_time += len(start) - len(events)
            start = start[start != MISSING]
        return events, {
            "start": start,
            "name": self.names.of([event.name for event in events]),
            "thread": self.threads.of([(event.pid, event.tid) for event in events]),
        }

    def _complete(self, events: list[Event]) -> tuple[list[Event], dict[str, NDArray[Any]]]:
        events, columns = self._timed(events)
        duration = nanoseconds([event.dur for event in events]) if events else np.empty(0, np.int64)
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
        dims = self.dims.of([bytes(a.dims) or bytes(a.old_dims) for a in args])
        stack = self.stacks.of([bytes(a.stack) for a in args])
        self.ops.add(
            **columns,
            dims=dims,
            stack=stack,
            properties=self._collective_properties(events),
            sequence=integers([a.sequence for a in args], -1),
            forward_thread=integers([a.forward_thread for a in args], 0),
        )

    def _collective_properties(self, events: list[Event]) -> NDArray[np.int32]:
        found = np.full(len(events), self.properties.of([b""])[0], np.int32)
        rows = [row for row, event in enumerate(events) if event.name == "record_param_comms"]
        if rows:
            found[rows] = self._properties([events[row] for row in rows])
        return found

    def _properties(self, events: list[Event]) -> NDArray[np.int32]:
        fields = PropertyArgs.__struct_fields__
        args = decode_args(PropertyArgs, events)
        return self.properties.of([b"\0".join([getattr(a, name) for name in fields]) for a in args])

    def _add_python(self, events: list[Event]) -> None:
        events, columns = self._complete(events)
        args = decode_args(PythonArgs, events)
        ids = integers([a.id for a in args], -1)
        self.python.add(**columns, id=ids, caller=integers([a.parent for a in args], -1))

    def _add_launches(self, events: list[Event]) -> None:
        events, columns = self._complete(events)
        args = decode_args(LaunchArgs, events)
        self.launches.add(**columns, correlation=integers([a.correlation for a in args], -1))

    def _add_device(self, events: list[Event]) -> None:
        events, columns = self._complete(events)
        args = decode_args(DeviceArgs, events)
        places = [
            (e.cat, e.pid if a.device is None else a.device, e.tid if a.stream is None else a.stream)
            for e, a in zip(events, args, strict=True)
        ]
        correlation = integers([a.correlation for a in args], -1)
        self.device.add(
            **columns, correlation=correlation, place=self.devices.of(places), properties=self._properties(events)
        )

    def _add_uncategorised(self, events: list[Event]) -> None:
        """Exports from before Kineto have no categories: the process says which side an event is on."""
        on_device = [event for event in events if event.pid == "CUDA functions"]
        on_host = [event for event in events if event.pid != "CUDA functions"]
        if on_device:
            self._add_device(on_device)
        if on_host:
            self._add_ops(on_host)

    def _add_unknown(self, events: list[Event]) -> None:
        self.unknown.update(str(event.cat) for event in events)

    def _add_memory(self, events: list[Event]) -> None:
        events = [event for event in events if event.name == "[memory]"]
        events, columns = self._timed(events)
        if not events:
            return
        args = decode_args(MemoryArgs, events)
        kinds = [(integers([a.device_type], 0)[0], integers([a.device_id], -1)[0]) for a in args]
        self.memory.add(
            **columns,
            delta=integers([a.delta for a in args], 0),
            address=integers([a.address for a in args], 0),
            allocated=integers([a.allocated for a in args], -1),
            reserved=integers([a.reserved for a in args], -1),
            device=self.devices.of([("memory", int(kind), int(number)) for kind, number in kinds]),
        )

    def _add_flows(self, events: list[Event]) -> None:
        events, columns = self._timed(events)
        ends = np.fromiter((event.ph == "f" for event in events), np.int8, len(events))
        self.flows.add(**columns, id=self.flow_ids.of([event.id for event in events]), is_end=ends)

    def _add_marks(self, events: list[Event]) -> None:
        events, columns = self._timed(events)
        ends = np.fromiter((event.ph == "E" for event in events), np.int8, len(events))
        kept = self.categories.of([(event.cat or "").lower() for event in events])
        self.marks.add(**columns, is_end=ends, category=kept)

    def finish(self) -> None:
        """Does what needs all batches. Call once, after the last."""
        self._pair_marks()
        self._leave_far_out()

    def _leave_far_out(self) -> None:
        """Drops events of times so far away that no clock of one trace can have shown both."""
        tables = (self.ops, self.python, self.launches, self.device, self.memory)
        starts = np.concatenate([table["start"] for table in tables])
        if not len(starts) or int(starts.max()) - int(starts.min()) < FAR_NS:
            return
        middle = int(np.sort(starts)[len(starts) // 2])
        for table in tables:
            near = np.abs(table["start"].astype(np.float64) - middle) < FAR_NS
            self.far += int(np.count_nonzero(~near))
            table.keep(near)

    def _pair_marks(self) -> None:
        """Makes ranges of the begin and end marks, which may lie in any batches."""
        marks = self.marks
        if not len(marks):
            return
        order = np.lexsort((marks["start"], marks["thread"]))
        rows = zip(
            *(marks[name][order].tolist() for name in ("thread", "is_end", "start")), order.tolist(), strict=True
        )
        open_marks: dict[int, list[tuple[int, int]]] = {}
        pairs: list[tuple[int, int]] = []
        for thread, is_end, start, row in rows:
            waiting = open_marks.setdefault(thread, [])
            if not is_end:
                waiting.append((row, start))
            elif waiting:
                begun, since = waiting.pop()
                pairs.append((begun, start - since))
        taken = np.array(pairs, np.int64).reshape(-1, 2)
        if len(order) > 2 * len(pairs):
            self.unknown["B/E without a partner"] = len(order) - 2 * len(pairs)
        self._add_ranges(taken[:, 0], taken[:, 1])

    def _add_ranges(self, row: Ints, duration: Ints) -> None:
        nothing = np.full(len(row), 0, np.int32)
        begun = {name: self.marks[name][row] for name in ("start", "name", "thread", "category")}
        self.dims.of([b""]), self.stacks.of([b""]), self.properties.of([b""])
        self.ops.add(
            **begun,
            duration=duration,
            dims=nothing + self.dims.index[b""],
            stack=nothing + self.stacks.index[b""],
            properties=nothing + self.properties.index[b""],
            sequence=nothing - 1,
            forward_thread=nothing,
        )

    def _add_names(self, events: list[Event]) -> None:
        events = [event for event in events if event.name == "thread_name"]
        for event, args in zip(events, decode_args(NameArgs, events), strict=True):
            if args.name is not None:
                self.thread_names[event.pid, event.tid] = str(args.name)

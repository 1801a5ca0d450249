"""The in-core record: what the cores of one fused kernel stamped while it ran.

The heart is a timing matrix [invocation, slot, column] of counter values exactly as the device wrote them. A *slot* is
the row of one logical core, a *column* one 64-bit word of that row, an *event* the meaning of a column. Beside it, or
alone: the task's bounds, single runs of a split or merged kernel, and samples of what the probes themselves cost.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from enum import IntEnum
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from stepscope.errors import RecordError
from stepscope.model.arrays import I32, I64, U64, Bools
from stepscope.model.columns import Group, Record, Strings, column
from stepscope.model.incore_capture import Activities, Dependencies, Functions, Tasks
from stepscope.pb import incore_pb2

I8 = NDArray[np.int8]


class StampKind(IntEnum):
    """What had happened when a stamp was taken. The scalar read itself waits for nothing."""

    UNKNOWN = 0
    ENTERED = 1
    """The core began the kernel."""
    ISSUED = 2
    """Work was handed to a pipeline, which may still be busy."""
    DRAINED = 3
    """A wait for the pipelines had returned."""
    LAST_WORKER_DONE = 4
    """All workers that this core waits for had finished."""
    ARRIVAL = 5
    """The core told a collective that it is there."""
    RELEASE = 6
    """The collective let the core go on."""


class Reducer(IntEnum):
    """How the stamps of several slots make one boundary."""

    MIN = 0
    MAX = 1


class CheckKind(IntEnum):
    """What a word of a row must equal, so that a row of another launch is seen."""

    GENERATION = 0
    MAGIC = 1
    SLOT_ID = 2


class Engine(IntEnum):
    """The kind of core."""

    UNKNOWN = 0
    AIC = 1
    AIV = 2


class Variant(IntEnum):
    """How producer and consumer are launched."""

    MERGED = 0
    """One kernel with a collective between the two."""
    SPLIT = 1
    """Two kernels, one after the other."""


@dataclass(frozen=True, eq=False)
class Timing(Group):
    """The timing matrix in C order: `invocations * slots * columns` rows."""

    stamp: U64 = column("uint64", "Counter value as written; a negative int64 is the same 64 bits")


@dataclass(frozen=True, eq=False)
class Events(Group):
    """The named columns of the matrix, in the order in which a row passes them."""

    name: I32 = column("int32", "In strings")
    word: I32 = column("int32", "Index of its 64-bit word in a row")
    kind: I8 = column("int8", "StampKind", default=0)
    meaning: I32 = column("int32", "What exactly the stamp marks, in strings", default=-1)


@dataclass(frozen=True, eq=False)
class Boundaries(Group):
    """Boundaries that the user defined, in order; two neighbours bound a phase."""

    name: I32 = column("int32", "In strings")
    word: I32 = column("int32", "Index of its 64-bit word in a row")
    reducer: I8 = column("int8", "Reducer")
    masked: Bools = column(
        "bool", "Whether only the slots listed count; else all participating", default=0
    )
    slot_end: I64 = column("int64", "End of the boundary's rows in boundary_slots", default=0)


@dataclass(frozen=True, eq=False)
class SlotList(Group):
    """Slots, grouped by the end offsets of another group."""

    slot: I32 = column("int32", "Slot as the user gave it, perhaps out of range")


@dataclass(frozen=True, eq=False)
class Masks(Group):
    """Who takes part: one row for all invocations, or one row each."""

    participating_end: I64 = column("int64", "End of the row's slots in participating", default=0)
    producers_end: I64 = column("int64", "End of the row's slots in producers", default=0)


@dataclass(frozen=True, eq=False)
class Checks(Group):
    """Words that identify a row: expected = base + per_invocation * invocation + per_slot * slot, modulo 2^64."""

    kind: I8 = column("int8", "CheckKind")
    word: I32 = column("int32", "Index of its 64-bit word in a row")
    base: U64 = column("uint64", "Expected in slot 0 of invocation 0")
    per_invocation: I64 = column("int64", "Increase from one invocation to the next", default=0)
    per_slot: I64 = column("int64", "Increase from one slot to the next", default=0)


@dataclass(frozen=True, eq=False)
class Cores(Group):
    """Which core a slot belongs to."""

    slot: I32 = column("int32", "Row of the matrix")
    engine: I8 = column("int8", "Engine", default=0)
    core: I32 = column(
        "int32", "Number of the core among those of its engine, -1 when unknown", default=-1
    )
    name: I32 = column("int32", "As shown, in strings")


@dataclass(frozen=True, eq=False)
class TaskBounds(Group):
    """Start and end of the whole task as the runtime saw it: one row for all invocations, or one row each."""

    start: I32 = column("int32", "M0 in task_unit as a decimal text, in strings")
    end: I32 = column("int32", "M1 in task_unit as a decimal text, in strings")


@dataclass(frozen=True, eq=False)
class Runs(Group):
    """Single runs of a producer and a consumer, merged into one kernel or split into two.

    A merged run's producer ends at its last arrival B and its consumer starts at its first release A, so that the four
    stamps of both variants stand in the same columns.
    """

    run: I64 = column(
        "int64", "Number of a run that stands alone, -1 for a member of a pair", default=-1
    )
    pair: I64 = column("int64", "Number of the pair, -1 for a run that stands alone", default=-1)
    variant: I8 = column("int8", "Variant")
    order: I32 = column("int32", "Which member ran first, in strings", default=-1)
    device: I32 = column("int32", "In strings", default=-1)
    inputs: I32 = column("int32", "In strings", default=-1)
    configuration: I32 = column("int32", "In strings", default=-1)
    producer_start: U64 = column("uint64", "M0 or P0")
    producer_end: U64 = column("uint64", "B or P1")
    consumer_start: U64 = column("uint64", "A or C0")
    consumer_end: U64 = column("uint64", "M1 or C1")


@dataclass(frozen=True, eq=False)
class ReadPairs(Group):
    """Two reads of the counter with nothing between them."""

    first: U64 = column("uint64", "First read")
    second: U64 = column("uint64", "Second read")


@dataclass(frozen=True, eq=False)
class Envelopes(Group):
    """Whole runs of the kernel with and without probes."""

    total_cycles: I64 = column("int64", "Length of the run")
    instrumented: Bools = column("bool", "Whether the probes were compiled in")


@dataclass(frozen=True)
class InCore(Record):
    """A record of in-core timing.

    Attributes:
        dims: Names of the dimensions before slot and column, outermost first.
        shape: Their lengths; their product is the number of invocations.
        clock_freq_hz: Counts a second of the counter, 0 when unknown. Never guessed.
        unit: Unit of the stamps.
        epoch: A word for the counter's zero; stamps of two epochs are never subtracted.
        variant: "merged", "split" or empty.
        pair: Number of the pair of runs this one belongs to, -1 for none.
        slot_map: The rule by which slots were given to cores.
        has_participating: Whether the mask was given; without it all slots take part.
        has_producers: Whether the mask was given; without it all participating slots produce.
        task_unit: Unit of the task's bounds.
        task_epoch: Epoch of the task's bounds, empty when not stated.
        task_source: Where the bounds come from when a capture gave them.
        capture_format: The format of the captured tasks, empty where there are none.
        capture_level: How much was captured: 1 cores, 2 dispatches, 3 schedulers, 4 orchestrators; 0 when not told.
        capture_base: The counter value, as a decimal text, that the capture's times are relative to.
    """

    KIND: ClassVar[str] = "incore"
    SCHEMA: ClassVar[int] = 1
    MESSAGE = incore_pb2.InCore

    title: str = ""
    dims: tuple[str, ...] = ()
    shape: tuple[int, ...] = ()
    slots: int = 0
    columns: int = 0
    clock_freq_hz: int = 0
    unit: str = "cycles"
    epoch: str = ""
    variant: str = ""
    pair: int = -1
    device: str = ""
    inputs: str = ""
    configuration: str = ""
    slot_map: str = ""
    has_participating: bool = False
    has_producers: bool = False
    task_unit: str = ""
    task_epoch: str = ""
    task_id: str = ""
    task_source: str = ""
    capture_format: str = ""
    capture_level: int = 0
    capture_base: str = "0"
    strings: Strings = field(default_factory=Strings)
    timing: Timing = field(default_factory=Timing)
    events: Events = field(default_factory=Events)
    boundaries: Boundaries = field(default_factory=Boundaries)
    boundary_slots: SlotList = field(default_factory=SlotList)
    masks: Masks = field(default_factory=Masks)
    participating: SlotList = field(default_factory=SlotList)
    producers: SlotList = field(default_factory=SlotList)
    checks: Checks = field(default_factory=Checks)
    cores: Cores = field(default_factory=Cores)
    task_bounds: TaskBounds = field(default_factory=TaskBounds)
    runs: Runs = field(default_factory=Runs)
    read_pairs: ReadPairs = field(default_factory=ReadPairs)
    envelopes: Envelopes = field(default_factory=Envelopes)
    tasks: Tasks = field(default_factory=Tasks)
    functions: Functions = field(default_factory=Functions)
    dependencies: Dependencies = field(default_factory=Dependencies)
    activities: Activities = field(default_factory=Activities)

    @property
    def invocations(self) -> int:
        """The number of matrices [slot, column] in the record."""
        return math.prod(self.shape) if self.slots and self.columns else 0

    def matrix(self) -> U64:
        """The stamps as [invocation, slot, column], without a copy."""
        return self.timing.stamp.reshape(self.invocations, self.slots, self.columns)

    def text(self, index: int) -> str:
        """The string at an index, empty for -1."""
        return str(self.strings[index]) if index >= 0 else ""

    def validate(self) -> None:
        """Raises RecordError where lengths, indices, kinds or offsets do not hold together."""
        super().validate()
        self._check_matrix()
        for group, name in _TEXTS:
            _check_range(self, group, name, -1, len(self.strings))
        _check_range(self, "tasks", "function", -1, len(self.functions))
        for group in ("events", "boundaries", "checks"):
            _check_range(self, group, "word", 0, self.columns)
        for group, name, words in _WORDS:
            _check_range(self, group, name, 0, len(words))
        for group, name, target in _OFFSETS:
            _check_offsets(self, group, name, target)
        for group in ("masks", "task_bounds"):
            self._check_rows(group)

    def _check_matrix(self) -> None:
        if len(self.dims) != len(self.shape) or min((*self.shape, self.slots, self.columns)) < 0:
            raise _broken(
                "shape", f"dimensions {self.dims} of lengths {self.shape}, {self.slots} slots"
            )
        size = self.invocations * self.slots * self.columns
        if len(self.timing) != size:
            raise _broken("timing", f"{len(self.timing)} stamps, but the shape needs {size}")

    def _check_rows(self, group: str) -> None:
        rows = len(getattr(self, group))
        if rows not in (0, 1, self.invocations):
            raise _broken(group, f"{rows} rows for {self.invocations} invocations")


_TEXTS = (
    ("events", "name"),
    ("events", "meaning"),
    ("boundaries", "name"),
    ("cores", "name"),
    ("task_bounds", "start"),
    ("task_bounds", "end"),
    ("runs", "order"),
    ("runs", "device"),
    ("runs", "inputs"),
    ("runs", "configuration"),
    ("functions", "name"),
    ("dependencies", "source"),
    ("activities", "lane"),
    ("activities", "kind"),
)
_WORDS: tuple[tuple[str, str, type[IntEnum]], ...] = (
    ("events", "kind", StampKind),
    ("boundaries", "reducer", Reducer),
    ("checks", "kind", CheckKind),
    ("cores", "engine", Engine),
    ("runs", "variant", Variant),
)
_OFFSETS = (
    ("boundaries", "slot_end", "boundary_slots"),
    ("masks", "participating_end", "participating"),
    ("masks", "producers_end", "producers"),
)


def _broken(place: str, found: str) -> RecordError:
    return RecordError(
        found, where=f"incore record, {place}", remedy="Report this to whoever wrote the record"
    )


def _check_range(record: InCore, group: str, name: str, low: int, high: int) -> None:
    values = getattr(getattr(record, group), name)
    outside = (values < low) | (values >= high)
    if outside.any():
        bad = int(np.argmax(outside))
        raise _broken(f"{group}.{name}[{bad}]", f"{int(values[bad])} is not in [{low}, {high})")


def _check_offsets(record: InCore, group: str, name: str, target: str) -> None:
    end, size = getattr(getattr(record, group), name), len(getattr(record, target))
    last = int(end[-1]) if len(end) else 0
    if last != size or bool((np.diff(end, prepend=0) < 0).any()):
        raise _broken(f"{group}.{name}", f"end offsets do not divide the {size} rows of {target}")

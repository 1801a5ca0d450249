"""What the rows and columns of an in-core timing matrix mean, as objects that belong together.

`describe` makes a `Description` from the flat names that JSON files, `Writer.log_incore` and `from_timing` take.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypedDict

from stepscope.model.columns import Header

if TYPE_CHECKING:
    from numpy.typing import ArrayLike
    from typing_extensions import Unpack

Words = Mapping[str, Any]


@dataclass(frozen=True)
class Layout:
    """How the dimensions of the matrix are laid out.

    Attributes:
        dims: Names of the dimensions: those before `slot` are kept, those after it are laid side by side as columns.
        invocation_slot_offset: Slots from one invocation to the next, where they share one matrix.
        invocations: How many invocations share the matrix.
    """

    dims: Sequence[str] | None = None
    invocation_slot_offset: int | None = None
    invocations: int | None = None


@dataclass(frozen=True)
class Meaning:
    """What columns and slots stand for.

    Attributes:
        columns: The column of each event, `{"entry": 0, ...}`, or the events in the order of the columns. An event
            may be `{"column", "kind", "meaning"}` with the lower-case name of a StampKind.
        boundaries: The user's boundaries in order,
            `{"name", "column", "reduce": "min" | "max", "cores"?: slots}`.
        participating: Slots that run the kernel: a list, one list per invocation, or a boolean mask. None: all.
        producers: Slots whose producer_done counts, likewise. None: all that participate.
        slot_map: Which core a slot is of; see `incore_slots.cores_of`.
    """

    columns: Words | Sequence[str] = ()
    boundaries: Sequence[Words] = ()
    participating: ArrayLike | None = None
    producers: ArrayLike | None = None
    slot_map: Words | None = None


@dataclass(frozen=True)
class Clock:
    """The counter of the timestamps.

    Attributes:
        clock_freq_hz: Counts per second. None: unknown; it is never assumed.
        unit: Unit of the timestamps.
        epoch: A word for the counter's zero.
    """

    clock_freq_hz: int | None = None
    unit: str = "cycles"
    epoch: str = ""


@dataclass(frozen=True)
class Guards:
    """Columns that tell whether a row was written by this invocation.

    Attributes:
        generation: `{"column", "expected": N or {"base", "per_invocation"}}`.
        magic: The same for a constant word.
        slot_id: `{"column", "expected"?: {"base", "per_slot"}}`, by default the slot's number.
    """

    generation: Words | None = None
    magic: Words | None = None
    slot_id: Words | None = None


@dataclass(frozen=True)
class MeasuredRuns:
    """Runs that are measured as a whole.

    Attributes:
        l2: Bounds of the whole task, `{"unit", "M0", "M1", "epoch"?, "task_id"?, "source"?}`. M0 and M1 may be lists
            with one per invocation. The last two say which task of which capture they are of.
        pairs: Pairs of a merged and a split run; see `incore_runs.runs_group`.
        split_runs: Split runs without a pair; see `incore_runs.runs_group`.
    """

    l2: Words | None = None
    pairs: Iterable[Words] = ()
    split_runs: Iterable[Words] = ()


@dataclass(frozen=True)
class Probes:
    """What the cost of reading the counter is measured by.

    Attributes:
        read_pairs: Counter values [sample, 2] of reads with nothing between them.
        instrumented_total_cycles: Lengths of runs with probes.
        uninstrumented_total_cycles: Lengths of runs without probes.
    """

    read_pairs: ArrayLike | None = None
    instrumented_total_cycles: Sequence[int] = ()
    uninstrumented_total_cycles: Sequence[int] = ()


@dataclass(frozen=True)
class Setup:
    """What ran where.

    Attributes:
        title: Free text.
        variant: "merged" or "split".
        pair: Number of the pair of runs that this one belongs to.
        device: What it ran on. Both runs of a pair must have the same, as for the next two.
        inputs: What it ran with.
        configuration: How it was built.
    """

    title: str = ""
    variant: str = ""
    pair: int = -1
    device: str = ""
    inputs: str = ""
    configuration: str = ""


@dataclass(frozen=True)
class Description:
    """All that is known of a timing matrix.

    Attributes:
        header: Where the record comes from.
    """

    layout: Layout = field(default_factory=Layout)
    meaning: Meaning = field(default_factory=Meaning)
    clock: Clock = field(default_factory=Clock)
    guards: Guards = field(default_factory=Guards)
    runs: MeasuredRuns = field(default_factory=MeasuredRuns)
    probes: Probes = field(default_factory=Probes)
    setup: Setup = field(default_factory=Setup)
    header: Header | None = None


class Described(TypedDict, total=False):
    """The flat names of a `Description`; their meanings are those of the attributes."""

    dims: Sequence[str] | None
    invocation_slot_offset: int | None
    invocations: int | None
    columns: Words | Sequence[str]
    boundaries: Sequence[Words]
    participating: ArrayLike | None
    producers: ArrayLike | None
    slot_map: Words | None
    clock_freq_hz: int | None
    unit: str
    epoch: str
    generation: Words | None
    magic: Words | None
    slot_id: Words | None
    l2: Words | None
    pairs: Iterable[Words]
    split_runs: Iterable[Words]
    read_pairs: ArrayLike | None
    instrumented_total_cycles: Sequence[int]
    uninstrumented_total_cycles: Sequence[int]
    title: str
    variant: str
    pair: int
    device: str
    inputs: str
    configuration: str
    header: Header | None


_PARTS = {
    "layout": Layout,
    "meaning": Meaning,
    "clock": Clock,
    "guards": Guards,
    "runs": MeasuredRuns,
    "probes": Probes,
    "setup": Setup,
}


def describe(**described: Unpack[Described]) -> Description:
    """The description with these flat names.

    Raises:
        TypeError: A name is not one of `Described`.
    """
    left = dict(described)
    header = described.get("header")
    left.pop("header", None)
    parts: dict[str, Any] = {}
    for part, kind in _PARTS.items():
        names = [spec.name for spec in dataclasses.fields(kind)]
        parts[part] = kind(**{name: left.pop(name) for name in names if name in left})
    if left:
        raise TypeError(f"unknown words of an in-core description: {', '.join(sorted(left))}")
    return Description(**parts, header=header)

"""Makes an in-core record from a timing matrix and the words that say what its rows and columns mean."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from enum import IntEnum
from typing import Any, TypeVar

import numpy as np

from stepscope.errors import RecordError
from stepscope.model.columns import Header, StringBuilder
from stepscope.model.diagnostic import Diagnostic
from stepscope.model.incore import (
    Boundaries,
    CheckKind,
    Checks,
    Envelopes,
    Events,
    InCore,
    ReadPairs,
    Reducer,
    SlotList,
    StampKind,
    TaskBounds,
    Timing,
)
from stepscope.model.incore_runs import runs_group
from stepscope.model.incore_shape import masks_of, matrix_of
from stepscope.model.incore_slots import cores_group, cores_of
from stepscope.model.incore_values import exact, group, stamp, stamps

E = TypeVar("E", bound=IntEnum)

_KINDS = {"entry": "entered", "collective_arrival": "arrival", "collective_release": "release"}


def from_timing(
    timing: Any = None,
    *,
    columns: Mapping[str, Any] | Sequence[str] = (),
    boundaries: Sequence[Mapping[str, Any]] = (),
    participating: Any = None,
    producers: Any = None,
    dims: Sequence[str] | None = None,
    invocation_slot_offset: int | None = None,
    invocations: int | None = None,
    clock_freq_hz: int | None = None,
    unit: str = "cycles",
    epoch: str = "",
    generation: Mapping[str, Any] | None = None,
    magic: Mapping[str, Any] | None = None,
    slot_id: Mapping[str, Any] | None = None,
    slot_map: Mapping[str, Any] | None = None,
    l2: Mapping[str, Any] | None = None,
    pairs: Iterable[Mapping[str, Any]] = (),
    split_runs: Iterable[Mapping[str, Any]] = (),
    read_pairs: Any = None,
    instrumented_total_cycles: Sequence[int] = (),
    uninstrumented_total_cycles: Sequence[int] = (),
    title: str = "",
    variant: str = "",
    pair: int = -1,
    device: str = "",
    inputs: str = "",
    configuration: str = "",
    header: Header | None = None,
) -> InCore:
    """An in-core record.

    Args:
        timing: Counter values [..., slot, column]: a numpy array, a torch tensor or nested lists of integers.
        columns: The column of each event, `{"entry": 0, ...}`, or the events in the order of the columns. An event may
            be `{"column", "kind", "meaning"}` with the lower-case name of a StampKind.
        boundaries: The user's boundaries in order, `{"name", "column", "reduce": "min" | "max", "cores"?: slots}`.
        participating: Slots that run the kernel: a list, one list per invocation, or a boolean mask. None: all.
        producers: Slots whose producer_done counts, likewise. None: all that participate.
        dims: Names of the dimensions: those before `slot` are kept, those after it are laid side by side as columns.
        invocation_slot_offset: Slots from one invocation to the next, where they share one matrix.
        invocations: How many invocations share the matrix.
        clock_freq_hz: Counts a second; never assumed.
        unit: Unit of the stamps.
        epoch: A word for the counter's zero.
        generation: `{"column", "expected": N or {"base", "per_invocation"}}`.
        magic: The same for a constant word.
        slot_id: `{"column", "expected"?: {"base", "per_slot"}}`, by default the slot's number.
        slot_map: See `incore_slots.cores_of`.
        l2: Bounds of the whole task, `{"unit", "M0", "M1", "epoch"?, "task_id"?, "source"?}`; M0 and M1 may be lists
            with one per invocation. The last two say which task of which capture they are of.
        pairs: See `incore_runs.runs_group`.
        split_runs: See `incore_runs.runs_group`.
        read_pairs: Counter values [sample, 2] of reads with nothing between them.
        instrumented_total_cycles: Lengths of runs with probes.
        uninstrumented_total_cycles: Lengths of runs without probes.
        title: Free text.
        variant: "merged" or "split".
        pair: Number of the pair of runs that this one belongs to.
        device: What it ran on; of a pair both must say the same, as for the next two.
        inputs: What it ran with.
        configuration: How it was built.
        header: Where the record comes from.

    Raises:
        RecordError: Something of this is missing, of a wrong shape, or no integer.
    """
    strings = StringBuilder()
    matrix = matrix_of(timing, dims, invocation_slot_offset, invocations)
    count, slots, words = matrix.stamps.shape
    user_boundaries, boundary_slots = _boundaries(boundaries, strings)
    masks, participating_slots, producer_slots = masks_of(participating, producers, count, invocation_slot_offset)
    cores = cores_of(slot_map or {}, slots)
    record = InCore(
        header=_header(header, slot_map if cores is None else None),
        title=title,
        dims=matrix.dims,
        shape=matrix.shape,
        slots=slots,
        columns=words,
        clock_freq_hz=exact(clock_freq_hz or 0, "clock_freq_hz"),
        unit=unit,
        epoch=epoch,
        variant=variant,
        pair=pair,
        device=device,
        inputs=inputs,
        configuration=configuration,
        slot_map=str((slot_map or {}).get("kind", "")),
        has_participating=participating is not None,
        has_producers=producers is not None,
        timing=Timing(stamp=matrix.stamps.reshape(-1)),
        events=_events(columns, strings),
        boundaries=user_boundaries,
        boundary_slots=boundary_slots,
        masks=masks,
        participating=participating_slots,
        producers=producer_slots,
        checks=_checks({CheckKind.GENERATION: generation, CheckKind.MAGIC: magic, CheckKind.SLOT_ID: slot_id}),
        cores=cores_group(cores or (), strings),
        runs=runs_group(pairs, split_runs, strings),
        read_pairs=_read_pairs(read_pairs),
        envelopes=_envelopes(instrumented_total_cycles, uninstrumented_total_cycles),
        **_task(l2 or {}, strings),
        strings=strings.build(),
    )
    record.validate()
    return record


def _header(header: Header | None, unknown_map: Mapping[str, Any] | None) -> Header:
    header = header or Header(producer="stepscope")
    if not unknown_map:
        return header
    found = f"a slot map of unknown kind {unknown_map.get('kind')!r}"
    loss = Diagnostic("slot_map", found, 1, "Use core_id, block, groups_of_three or table; slots are shown by number")
    return dataclasses.replace(header, losses=(*header.losses, loss))


def _events(columns: Mapping[str, Any] | Sequence[str], strings: StringBuilder) -> Events:
    named = columns if isinstance(columns, Mapping) else {name: index for index, name in enumerate(columns)}
    rows = [(name, value if isinstance(value, Mapping) else {"column": value}) for name, value in named.items()]
    meanings = [str(row.get("meaning", "")) for _, row in rows]
    return group(
        Events,
        name=[strings(name) for name, _ in rows],
        word=[exact(row.get("column"), f"columns.{name}") for name, row in rows],
        kind=[
            _member(StampKind, row.get("kind", _KINDS.get(name, "unknown")), f"columns.{name}") for name, row in rows
        ],
        meaning=[strings(meaning) if meaning else -1 for meaning in meanings],
    )


def _member(kind: type[E], word: Any, where: str) -> E:
    found = kind.__members__.get(str(word).upper())
    if found is None:
        choices = ", ".join(name.lower() for name in kind.__members__)
        raise RecordError(f"{word!r} is not known here", where=where, remedy=f"Use one of {choices}")
    return found


def _boundaries(rows: Sequence[Mapping[str, Any]], strings: StringBuilder) -> tuple[Boundaries, SlotList]:
    for index, row in enumerate(rows):
        if not {"name", "column", "reduce"} <= set(row):
            raise RecordError(
                f"a boundary with {', '.join(row)}", where=f"boundaries[{index}]", remedy="Give name, column and reduce"
            )
    slots = [[exact(slot, "boundaries.cores") for slot in row.get("cores") or ()] for row in rows]
    boundaries_group = group(
        Boundaries,
        name=[strings(str(row["name"])) for row in rows],
        word=[exact(row["column"], "boundaries.column") for row in rows],
        reducer=[_member(Reducer, row["reduce"], "boundaries.reduce") for row in rows],
        masked=np.array([row.get("cores") is not None for row in rows], np.bool_),
        slot_end=np.cumsum([len(part) for part in slots], dtype=np.int64),
    )
    return boundaries_group, group(SlotList, slot=[slot for part in slots for slot in part])


def _checks(given: Mapping[CheckKind, Mapping[str, Any] | None]) -> Checks:
    rows = [(kind, check) for kind, check in given.items() if check is not None]
    expected = [_expected(kind, check) for kind, check in rows]
    names = [kind.name.lower() for kind, _ in rows]
    return group(
        Checks,
        kind=[kind for kind, _ in rows],
        word=[exact(check.get("column"), f"{name}.column") for name, (_, check) in zip(names, rows, strict=True)],
        base=np.array([stamp(e.get("base", 0), n) for n, e in zip(names, expected, strict=True)], np.uint64),
        per_invocation=[exact(e.get("per_invocation", 0), n) for n, e in zip(names, expected, strict=True)],
        per_slot=[exact(e.get("per_slot", 0), n) for n, e in zip(names, expected, strict=True)],
    )


def _expected(kind: CheckKind, check: Mapping[str, Any]) -> Mapping[str, Any]:
    expected = check.get("expected")
    if expected is None and kind is CheckKind.SLOT_ID:
        return {"per_slot": 1}
    return expected if isinstance(expected, Mapping) else {"base": expected}


def _task(l2: Mapping[str, Any], strings: StringBuilder) -> dict[str, Any]:
    """The bounds of the task, kept as texts: what is not in cycles must not be rounded to them."""
    if l2.get("M0") is None or l2.get("M1") is None:
        return {}
    starts, ends = (value if isinstance(value, list | tuple) else [value] for value in (l2["M0"], l2["M1"]))
    return {
        "task_unit": str(l2.get("unit", "")),
        "task_epoch": str(l2.get("epoch", "")),
        "task_id": str(l2.get("task_id", "")),
        "task_source": str(l2.get("source", "")),
        "task_bounds": group(TaskBounds, start=[strings(str(m)) for m in starts], end=[strings(str(m)) for m in ends]),
    }


def _read_pairs(samples: Any) -> ReadPairs:
    if samples is None:
        return ReadPairs()
    array = stamps(samples, "read_pairs")
    if array.ndim != 2 or array.shape[1] != 2:
        raise RecordError(f"read pairs of shape {array.shape}", where="read_pairs", remedy="Give [sample, 2] stamps")
    return ReadPairs(first=array[:, 0], second=array[:, 1])


def _envelopes(instrumented: Sequence[int], uninstrumented: Sequence[int]) -> Envelopes:
    totals = [exact(n, "total_cycles") for n in (*instrumented, *uninstrumented)]
    flags = np.arange(len(totals)) < len(instrumented)
    return Envelopes(total_cycles=np.array(totals, np.int64), instrumented=flags)

"""Makes an in-core record from a timing matrix and the words that say what its rows and columns mean."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from enum import IntEnum
from typing import TYPE_CHECKING, Any, TypeVar

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
from stepscope.model.incore_description import Described, Description, Probes, describe
from stepscope.model.incore_runs import runs_group
from stepscope.model.incore_shape import masks_of, matrix_of
from stepscope.model.incore_slots import cores_group, cores_of
from stepscope.model.incore_values import exact, group, stamp, stamps

if TYPE_CHECKING:
    from numpy.typing import ArrayLike
    from typing_extensions import Unpack

E = TypeVar("E", bound=IntEnum)

_KINDS = {"entry": "entered", "collective_arrival": "arrival", "collective_release": "release"}


def from_timing(timing: ArrayLike | None = None, **described: Unpack[Described]) -> InCore:
    """An in-core record from a matrix and the flat names of its description.

    Args:
        timing: Counter values [..., slot, column]: a numpy array, a torch tensor or nested lists of integers.
        **described: What rows and columns mean, by the names of `incore_description`: columns, participating,
            producers, clock_freq_hz and more.

    Raises:
        RecordError: Something of this is missing, of a wrong shape, or not an integer.
        TypeError: A name is unknown.
    """
    return incore_record(timing, describe(**described))


def incore_record(timing: ArrayLike | None, description: Description) -> InCore:
    """An in-core record.

    Args:
        timing: Counter values [..., slot, column]: a numpy array, a torch tensor or nested lists of integers.
        description: What rows and columns mean.

    Raises:
        RecordError: Something of this is missing, of a wrong shape, or not an integer.
    """
    strings = StringBuilder()
    layout = description.layout
    meaning = description.meaning
    clock = description.clock
    guards = description.guards
    runs = description.runs
    setup = description.setup

    matrix = matrix_of(timing, layout.dims, layout.invocation_slot_offset, layout.invocations)
    count, slots, words = matrix.stamps.shape
    boundaries, boundary_slots = _boundaries(meaning.boundaries, strings)
    masks, participating, producers = masks_of(
        participating=meaning.participating,
        producers=meaning.producers,
        invocations=count,
        slot_offset=layout.invocation_slot_offset,
    )
    slot_map = meaning.slot_map or {}
    cores = cores_of(slot_map, slots)
    checks = {
        CheckKind.GENERATION: guards.generation,
        CheckKind.MAGIC: guards.magic,
        CheckKind.SLOT_ID: guards.slot_id,
    }
    record = InCore(
        header=_header(description.header, slot_map if cores is None else None),
        title=setup.title,
        dims=matrix.dims,
        shape=matrix.shape,
        slots=slots,
        columns=words,
        clock_freq_hz=exact(clock.clock_freq_hz or 0, "clock_freq_hz"),
        unit=clock.unit,
        epoch=clock.epoch,
        variant=setup.variant,
        pair=setup.pair,
        device=setup.device,
        inputs=setup.inputs,
        configuration=setup.configuration,
        slot_map=str(slot_map.get("kind", "")),
        has_participating=meaning.participating is not None,
        has_producers=meaning.producers is not None,
        timing=Timing(stamp=matrix.stamps.reshape(-1)),
        events=_events(meaning.columns, strings),
        boundaries=boundaries,
        boundary_slots=boundary_slots,
        masks=masks,
        participating=participating,
        producers=producers,
        checks=_checks(checks),
        cores=cores_group(cores or (), strings),
        runs=runs_group(runs.pairs, runs.split_runs, strings),
        read_pairs=_read_pairs(description.probes.read_pairs),
        envelopes=_envelopes(description.probes),
        **_task(runs.l2 or {}, strings),
        strings=strings.build(),
    )
    record.validate()
    return record


def _header(header: Header | None, unknown_map: Mapping[str, Any] | None) -> Header:
    header = header or Header(producer="stepscope")
    if not unknown_map:
        return header
    loss = Diagnostic(
        where="slot_map",
        what=f"a slot map of unknown kind {unknown_map.get('kind')!r}",
        count=1,
        remedy="Use core_id, block, groups_of_three or table; slots are shown by number",
    )
    return dataclasses.replace(header, losses=(*header.losses, loss))


def _events(columns: Mapping[str, Any] | Sequence[str], strings: StringBuilder) -> Events:
    if not isinstance(columns, Mapping):
        columns = {name: index for index, name in enumerate(columns)}
    names: list[int] = []
    words: list[int] = []
    kinds: list[StampKind] = []
    meanings: list[int] = []
    for name, value in columns.items():
        row = value if isinstance(value, Mapping) else {"column": value}
        where = f"columns.{name}"
        meaning = str(row.get("meaning", ""))
        names.append(strings(name))
        words.append(exact(row.get("column"), where))
        kinds.append(_member(StampKind, row.get("kind", _KINDS.get(name, "unknown")), where))
        meanings.append(strings(meaning) if meaning else -1)
    return group(Events, name=names, word=words, kind=kinds, meaning=meanings)


def _member(kind: type[E], word: Any, where: str) -> E:
    member = kind.__members__.get(str(word).upper())
    if member is None:
        choices = ", ".join(name.lower() for name in kind.__members__)
        raise RecordError(f"unknown word {word!r}", where=where, remedy=f"Choose from: {choices}")
    return member


def _boundaries(
    rows: Sequence[Mapping[str, Any]], strings: StringBuilder
) -> tuple[Boundaries, SlotList]:
    for index, row in enumerate(rows):
        if not {"name", "column", "reduce"} <= set(row):
            raise RecordError(
                f"a boundary has only {', '.join(row)}",
                where=f"boundaries[{index}]",
                remedy="Give name, column and reduce",
            )
    slots: list[int] = []
    slot_end: list[int] = []
    for row in rows:
        slots += [exact(slot, "boundaries.cores") for slot in row.get("cores") or ()]
        slot_end.append(len(slots))
    boundaries = group(
        Boundaries,
        name=[strings(str(row["name"])) for row in rows],
        word=[exact(row["column"], "boundaries.column") for row in rows],
        reducer=[_member(Reducer, row["reduce"], "boundaries.reduce") for row in rows],
        masked=np.array([row.get("cores") is not None for row in rows], np.bool_),
        slot_end=np.array(slot_end, np.int64),
    )
    return boundaries, group(SlotList, slot=slots)


def _checks(given: Mapping[CheckKind, Mapping[str, Any] | None]) -> Checks:
    columns: dict[str, list[int]] = {
        "kind": [],
        "word": [],
        "base": [],
        "per_invocation": [],
        "per_slot": [],
    }
    for kind, check in given.items():
        if check is None:
            continue
        name = kind.name.lower()
        expected = _expected(kind, check)
        columns["kind"].append(kind)
        columns["word"].append(exact(check.get("column"), f"{name}.column"))
        columns["base"].append(stamp(expected.get("base", 0), name))
        columns["per_invocation"].append(exact(expected.get("per_invocation", 0), name))
        columns["per_slot"].append(exact(expected.get("per_slot", 0), name))
    base = np.array(columns.pop("base"), np.uint64)
    return group(Checks, base=base, **columns)


def _expected(kind: CheckKind, check: Mapping[str, Any]) -> Mapping[str, Any]:
    expected = check.get("expected")
    if expected is None and kind is CheckKind.SLOT_ID:
        return {"per_slot": 1}
    return expected if isinstance(expected, Mapping) else {"base": expected}


def _task(l2: Mapping[str, Any], strings: StringBuilder) -> dict[str, Any]:
    """The bounds of the task, kept as texts: what is not in cycles must not be rounded to them."""
    if l2.get("M0") is None or l2.get("M1") is None:
        return {}
    starts = [strings(text) for text in _texts(l2["M0"])]
    ends = [strings(text) for text in _texts(l2["M1"])]
    return {
        "task_unit": str(l2.get("unit", "")),
        "task_epoch": str(l2.get("epoch", "")),
        "task_id": str(l2.get("task_id", "")),
        "task_source": str(l2.get("source", "")),
        "task_bounds": group(TaskBounds, start=starts, end=ends),
    }


def _texts(value: Any) -> list[str]:
    values = value if isinstance(value, list | tuple) else [value]
    return [str(one) for one in values]


def _read_pairs(samples: ArrayLike | None) -> ReadPairs:
    if samples is None:
        return ReadPairs()
    array = stamps(samples, "read_pairs")
    if array.ndim != 2 or array.shape[1] != 2:
        found = f"read pairs have shape {array.shape}"
        raise RecordError(found, where="read_pairs", remedy="Give timestamps [sample, 2]")
    return ReadPairs(first=array[:, 0], second=array[:, 1])


def _envelopes(probes: Probes) -> Envelopes:
    instrumented = probes.instrumented_total_cycles
    totals = [*instrumented, *probes.uninstrumented_total_cycles]
    cycles = [exact(total, "total_cycles") for total in totals]
    is_instrumented = np.arange(len(totals)) < len(instrumented)
    return Envelopes(total_cycles=np.array(cycles, np.int64), instrumented=is_instrumented)

"""Blocks of throughput series joined into one record."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from typing import TypeVar

import numpy as np

from stepscope.errors import RecordError
from stepscope.model.columns import Group, Strings
from stepscope.model.diagnostic import Diagnostic
from stepscope.model.throughput import (
    UNKNOWN_NS,
    Marks,
    RateSamples,
    Reported,
    ResetKind,
    Resets,
    Spans,
    Throughput,
)
from stepscope.model.throughput_tail import beyond, is_tail, last_tail


def merge(records: Iterable[Throughput]) -> Throughput:
    """Joins blocks of one series, in any order, into one record.

    Blocks of one session follow each other. A later session is put on the first one's clock by the wall-clock anchors
    and begins with a reset of kind SESSION. A block that is missing is counted in the header's losses.

    Raises:
        RecordError: There is no block, or blocks differ in name or unit.
    """
    blocks = list(records)
    if not blocks:
        raise _unmergeable("no block to join")
    first = blocks[0]
    for block in blocks[1:]:
        if (block.name, block.unit) != (first.name, first.unit):
            raise _unmergeable(
                f"series {block.name} in {block.unit} beside {first.name} in {first.unit}"
            )
    sessions: dict[str, list[Throughput]] = {}
    for block in blocks:
        sessions.setdefault(block.session, []).append(block)
    joined = [_join_session(parts) for parts in sessions.values()]
    joined.sort(key=_wall_start)
    return _join(joined, sessions=True)


def _wall_start(record: Throughput) -> int:
    known = record.start_ns if record.start_ns != UNKNOWN_NS else 0
    return (record.header.wall_anchor_ns or record.base_ns) + known


def _join_session(parts: list[Throughput]) -> Throughput:
    blocks = [part for part in parts if not is_tail(part)]
    latest = {
        part.block: part
        for part in sorted(blocks, key=lambda part: len(part.marks) + len(part.samples))
    }
    ordered = [latest[number] for number in sorted(latest)]
    newest = last_tail(parts)
    if newest is not None:
        ordered.append(beyond(ordered, newest))
    return _join(ordered, sessions=False)


def _join(parts: Sequence[Throughput], *, sessions: bool) -> Throughput:
    first = parts[0]
    if len(parts) == 1:
        return first
    shifts = [_clock_shift(first, part) for part in parts]
    moved = [_shifted(part, shift) for part, shift in zip(parts, shifts, strict=True)]
    strings = list(dict.fromkeys(text for part in parts for text in part.strings))
    mark_base = _bases(parts, "marks")
    sample_base = _bases(parts, "samples")
    losses = tuple(dict.fromkeys(loss for part in parts for loss in part.header.losses))
    losses += _overlaps(moved) if sessions else _missing_blocks(parts)
    return dataclasses.replace(
        first,
        header=dataclasses.replace(first.header, losses=losses),
        first_sample_ns=_first_known(moved),
        planned_steps=max(part.planned_steps for part in parts),
        strings=Strings.of(strings),
        marks=_stack(Marks, [part.marks for part in moved]),
        samples=_stack(RateSamples, [part.samples for part in moved], {"mark_end": mark_base}),
        reported=_stack(Reported, [part.reported for part in moved], {"sample": sample_base}),
        resets=_join_resets(moved, mark_base, sample_base, sessions=sessions),
        spans=_stack(Spans, [_renamed_spans(part, strings) for part in moved]),
    )


def _clock_shift(first: Throughput, part: Throughput) -> int:
    if part.session == first.session or not (
        first.header.wall_anchor_ns and part.header.wall_anchor_ns
    ):
        return part.base_ns - first.base_ns
    return part.header.wall_anchor_ns - first.header.wall_anchor_ns


def _shifted(part: Throughput, shift: int) -> Throughput:
    if not shift:
        return part
    spans = part.spans
    return dataclasses.replace(
        part,
        start_ns=_moved(part.start_ns, shift),
        first_sample_ns=_moved(part.first_sample_ns, shift),
        marks=dataclasses.replace(part.marks, time_ns=part.marks.time_ns + shift),
        samples=dataclasses.replace(part.samples, time_ns=part.samples.time_ns + shift),
        resets=dataclasses.replace(part.resets, time_ns=part.resets.time_ns + shift),
        spans=dataclasses.replace(
            spans, start_ns=spans.start_ns + shift, end_ns=spans.end_ns + shift
        ),
    )


def _moved(stamp_ns: int, shift: int) -> int:
    return UNKNOWN_NS if stamp_ns == UNKNOWN_NS else stamp_ns + shift


def _first_known(parts: Sequence[Throughput]) -> int:
    return next(
        (part.first_sample_ns for part in parts if part.first_sample_ns != UNKNOWN_NS), UNKNOWN_NS
    )


def _bases(parts: Sequence[Throughput], group: str) -> list[int]:
    ends = np.cumsum([len(getattr(part, group)) for part in parts])
    return [0, *ends[:-1].tolist()]


G = TypeVar("G", bound=Group)


def _stack(kind: type[G], groups: Sequence[G], bases: dict[str, list[int]] | None = None) -> G:
    columns = {}
    for spec in dataclasses.fields(kind):
        arrays = [getattr(group, spec.name) for group in groups]
        if bases and spec.name in bases:
            arrays = [array + base for array, base in zip(arrays, bases[spec.name], strict=True)]
        columns[spec.name] = np.concatenate(arrays)
    return kind(**columns)


def _renamed_spans(part: Throughput, strings: list[str]) -> Spans:
    index = np.array([strings.index(text) for text in part.strings], np.int32)
    return (
        dataclasses.replace(part.spans, kind=index[part.spans.kind])
        if len(part.spans)
        else part.spans
    )


def _join_resets(
    parts: Sequence[Throughput], marks: list[int], samples: list[int], *, sessions: bool
) -> Resets:
    groups, mark_bases, sample_bases = [], [], []
    for number, part in enumerate(parts):
        group = part.resets
        if sessions and number:
            group = _stack(Resets, [_session_start(part), group])
        groups.append(group)
        mark_bases.append(marks[number])
        sample_bases.append(samples[number])
    return _stack(Resets, groups, {"mark_end": mark_bases, "sample_end": sample_bases})


def _session_start(part: Throughput) -> Resets:
    start = part.start_ns
    if start == UNKNOWN_NS:
        stamps = [int(group.time_ns[0]) for group in (part.marks, part.samples) if len(group)]
        start = min(stamps, default=0)
    return Resets(time_ns=np.array([start]), kind=np.array([ResetKind.SESSION], np.int8))


def _overlaps(sessions: Sequence[Throughput]) -> tuple[Diagnostic, ...]:
    """Sessions that began before an earlier one had ended: no resume, but processes side by side."""
    overlapping, reached = 0, UNKNOWN_NS
    for session in sessions:
        stamps = np.concatenate([session.marks.time_ns, session.samples.time_ns])
        if not len(stamps):
            continue
        overlapping += int(stamps.min()) < reached
        reached = max(reached, int(stamps.max()))
    if not overlapping:
        return ()
    what = "processes logged this series at the same time; their rates stand one after the other and are not added"
    remedy = "Give each process its rank, or its series a name of its own"
    return (Diagnostic("sessions", what, overlapping + 1, remedy),)


def _missing_blocks(parts: Sequence[Throughput]) -> tuple[Diagnostic, ...]:
    losses = []
    expected, total = 0, 0
    for part in parts:
        if part.block != expected:
            where = f"session {part.session}, blocks {expected} to {part.block - 1}"
            remedy = (
                "Totals after the gap are too small by that count; look for a damaged event file"
            )
            losses.append(
                Diagnostic(
                    where,
                    "samples in blocks that cannot be read",
                    max(part.total_before - total, 0),
                    remedy,
                )
            )
        expected = part.block + 1
        total = part.total_before + int(part.marks.count[part.marks.count > 0].sum())
    return tuple(losses)


def _unmergeable(reason: str) -> RecordError:
    return RecordError(
        reason, where="throughput record, merge", remedy="Merge blocks of one series only"
    )

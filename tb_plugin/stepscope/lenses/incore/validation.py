"""Whether a timing matrix can be believed: per slot, before anything is computed from it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from stepscope.lenses.incore.boundaries import Boundary, Mask
from stepscope.model.arrays import U64, Bools
from stepscope.model.incore import CheckKind, InCore


@dataclass(frozen=True)
class SlotProblem:
    """A code with the slots that it concerns.

    Attributes:
        slots: [invocation, slot].
        outside: Slots beyond the matrix, for which no row stands: one row for all invocations or one each.
        flagged: [invocation]: concerned, whether or not a slot is to blame.
    """

    code: str
    slots: Bools
    outside: tuple[tuple[int, ...], ...] = ((),)
    flagged: Bools | None = None

    @property
    def invocations(self) -> Bools:
        """The invocations that it concerns."""
        outside = np.array([bool(row) for row in self.outside])
        hit: Bools = self.slots.any(axis=1) | outside
        return hit if self.flagged is None else hit | self.flagged

    def slots_of(self, invocation: int) -> list[int]:
        """The slots that it concerns in an invocation, ascending."""
        outside = self.outside[invocation if len(self.outside) > 1 else 0]
        return sorted([*np.flatnonzero(self.slots[invocation]).tolist(), *outside])


@dataclass(frozen=True)
class Verdict:
    """What validation found.

    Attributes:
        problems: By code; invocations with one have no figures.
        warnings: Problems that leave the figures as they are.
        never_written: Whether every stamp of every invocation is zero.
        usable: [invocation]: whether the stamps can be used.
    """

    problems: tuple[SlotProblem, ...]
    warnings: tuple[SlotProblem, ...]
    never_written: bool
    usable: Bools


def validate(
    record: InCore, boundaries: Sequence[Boundary], participating: Mask, producers: Mask
) -> Verdict:
    """Checks masks, missing and unordered stamps, and rows left over from other launches.

    Where the masks themselves are in conflict it cannot be said which stamps a row owes, so its rows are not judged.
    """
    matrix = record.matrix()
    active = np.broadcast_to(participating.slots, matrix.shape[:2])
    written = matrix.any(axis=2)
    foreign = list(_foreign_rows(record, matrix, active & written))
    known = ~np.logical_or.reduce([p.slots for p in foreign]) if foreign else np.ones_like(active)
    missing, unordered = _check_rows(matrix, boundaries, active & known)
    conflicts = _present(_mask_problems(record, boundaries, participating, producers, active))
    settled = ~_concerned(conflicts, len(matrix))[:, None]
    rows = (
        *foreign,
        SlotProblem("ZERO_TIMESTAMP", missing),
        SlotProblem("ROW_NOT_MONOTONIC", unordered),
    )
    problems = _present((*conflicts, *(SlotProblem(p.code, p.slots & settled) for p in rows)))
    warnings = _present(
        (SlotProblem("INACTIVE_ROW_WRITTEN", written & ~active), _unmapped(record, active))
    )
    return Verdict(problems, warnings, not written.any(), ~_concerned(problems, len(matrix)))


def _concerned(problems: Iterable[SlotProblem], invocations: int) -> Bools:
    """The invocations that one of the problems concerns."""
    concerned = np.zeros(invocations, np.bool_)
    for problem in problems:
        concerned |= problem.invocations
    return concerned


def _present(found: Iterable[SlotProblem]) -> tuple[SlotProblem, ...]:
    return tuple(sorted((p for p in found if p.invocations.any()), key=lambda p: p.code))


def _check_rows(matrix: U64, boundaries: Sequence[Boundary], checked: Bools) -> tuple[Bools, Bools]:
    """Which rows lack a required stamp, and which of the others go back in time. Counter values compare unsigned."""
    missing = np.zeros_like(checked)
    unordered = np.zeros_like(checked)
    last = np.zeros(checked.shape, np.uint64)
    for boundary in boundaries:
        stamps = matrix[:, :, boundary.word]
        required = checked & boundary.members
        missing |= required & (stamps == 0)
        unordered |= required & (stamps < last)
        np.copyto(last, stamps, where=required)
    return missing, unordered & ~missing


_CHECK_CODES = {
    CheckKind.GENERATION: "STALE_GENERATION",
    CheckKind.MAGIC: "BAD_MAGIC",
    CheckKind.SLOT_ID: "WRONG_SLOT_ID",
}


def _foreign_rows(record: InCore, matrix: U64, written: Bools) -> Iterator[SlotProblem]:
    """Rows whose generation, magic or slot id is not the expected one. Rows never written are missing, not foreign."""
    checks = record.checks
    invocations = _launches(record)[:, None]
    slots = np.arange(matrix.shape[1], dtype=np.uint64)[None, :]
    for index, kind in enumerate(checks.kind.tolist()):
        per_invocation, per_slot = (
            column.view(np.uint64)[index] for column in (checks.per_invocation, checks.per_slot)
        )
        expected = checks.base[index : index + 1] + invocations * per_invocation + slots * per_slot
        yield SlotProblem(
            _CHECK_CODES[CheckKind(kind)], written & (matrix[:, :, checks.word[index]] != expected)
        )


def _launches(record: InCore) -> U64:
    """The number of the launch that each matrix is of: its place along the dimension `invocation`, if there is one."""
    places = np.arange(record.invocations, dtype=np.uint64)
    if "invocation" not in record.dims:
        return places
    axis = record.dims.index("invocation")
    launches: U64 = np.indices(record.shape, np.uint64)[axis].reshape(-1)
    return launches


def _mask_problems(
    record: InCore,
    boundaries: Sequence[Boundary],
    participating: Mask,
    producers: Mask,
    active: Bools,
) -> Iterator[SlotProblem]:
    conflict = np.broadcast_to(producers.slots, active.shape) & ~active
    for boundary in boundaries:
        conflict = conflict | (boundary.members & ~active)
    empty = np.zeros(len(active), np.bool_)
    for boundary in boundaries:
        empty |= ~boundary.members.any(axis=1)
    yield SlotProblem("MASK_CONFLICT", conflict, flagged=empty)
    for mask in (participating, producers):
        yield SlotProblem("SLOT_OUT_OF_RANGE", np.zeros_like(active), mask.outside)
    mapped = record.cores.slot[_inside(record)]
    repeated = np.bincount(mapped, minlength=record.slots) > 1
    yield SlotProblem("SLOT_MAP_COLLISION", active & repeated)


def _unmapped(record: InCore, active: Bools) -> SlotProblem:
    """Cores of the slot map that have no row."""
    outside = tuple(sorted(record.cores.slot[~_inside(record)].tolist()))
    return SlotProblem("SLOT_OUT_OF_RANGE", np.zeros_like(active), (outside,))


def _inside(record: InCore) -> Bools:
    inside: Bools = (record.cores.slot >= 0) & (record.cores.slot < record.slots)
    return inside

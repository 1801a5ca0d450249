"""Codes of problems with a record or an invocation, the slots and runs concerned, and remedies."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stepscope.lenses.incore.runs import Pair, RunParts
from stepscope.lenses.incore.task import TaskLink
from stepscope.lenses.incore.validation import SlotProblem, Verdict
from stepscope.model.arrays import Bools
from stepscope.model.incore import InCore, Variant

REMEDIES = {
    "BAD_MAGIC": "Check that these slots write the row layout that the reader expects, and the slot map",
    "BOUNDARY_ORDER": "Check the masks, the reducers, and that all cores read one counter; figures stay as they are",
    "INACTIVE_ROW_WRITTEN": "If these slots took part, add them to the mask; else zero the buffer before each launch",
    "L2_EPOCH": "Take both from one run of one counter; each keeps its own durations",
    "L2_ORDER": "Check that the bounds are of the same task, run and counter; each source keeps its own durations",
    "L2_UNIT": "Give the task's bounds as cycles of the same counter; they are not combined with these stamps",
    "MASK_CONFLICT": "Every producer, and every core of a boundary, must participate, and no mask may be empty",
    "PAIR_MISMATCH": "Run both members on the same device with the same inputs and configuration",
    "ROW_NOT_MONOTONIC": "Check the order in which these slots write their stamps, and that no old row remains",
    "RUN_ORDER": "A kernel ends after it starts: check which stamp was put where",
    "SLOT_MAP_COLLISION": "Give each core a row of its own",
    "SLOT_OUT_OF_RANGE": "Make the matrix as high as the highest slot, or correct the mask or map",
    "SPLIT_OVERLAP": "The consumer starts before the producer ends; the negative gap is kept",
    "STALE_GENERATION": "These rows are of another launch: zero the buffer, or check that these slots ran",
    "UNKNOWN_CLOCK": "Give clock_freq_hz of the device to see time; cycles are exact without it",
    "UNPAIRED_RUN": "Repeat the pair; a run without its partner is in no comparison",
    "WRONG_SLOT_ID": "Check the slot map: these rows were written by another core",
    "ZERO_TIMESTAMP": "Check that these slots ran and wrote every stamp before the buffer was copied back",
}
NEVER_WRITTEN = (
    "Every stamp is zero: this is likely the golden file, written before the device ran, "
    "and not the device's output. Save the tensor that the comparator receives"
)
_MILD = frozenset({"L2_EPOCH", "L2_ORDER", "L2_UNIT", "PAIR_MISMATCH", "UNPAIRED_RUN"})


@dataclass(frozen=True)
class Problem:
    """A code with the slots, runs or pairs concerned.

    Attributes:
        subject: What the numbers count: "slots", "runs", "pairs", or empty.
        numbers: The slots, runs or pairs, ascending.
    """

    code: str
    subject: str = ""
    numbers: tuple[int, ...] = ()

    @property
    def is_error(self) -> bool:
        """Whether figures are missing or meaningless."""
        return self.code not in _MILD

    def to_json(self) -> dict[str, Any]:
        """The code with its numbers."""
        document: dict[str, Any] = {"code": self.code}
        if self.subject:
            document[self.subject] = list(self.numbers)
        return document


@dataclass(frozen=True)
class Problems:
    """The problems of a result.

    Attributes:
        codes: Of the record as a whole; without further dimensions also of its one invocation.
        invocations: Of the bad invocations of a record with further dimensions.
        warnings: Problems that change no figure.
    """

    codes: tuple[Problem, ...] = ()
    invocations: dict[int, tuple[Problem, ...]] = field(default_factory=dict)
    warnings: tuple[Problem, ...] = ()


def of_slots(problem: SlotProblem, invocation: int) -> Problem:
    """A slot problem in one invocation."""
    return Problem(problem.code, "slots", tuple(problem.slots_of(invocation)))


def of_invocations(verdict: Verdict, ordered: Bools) -> dict[int, tuple[Problem, ...]]:
    """The errors of each bad invocation."""
    disordered = verdict.usable & ~ordered
    problems: dict[int, tuple[Problem, ...]] = {}
    for index in np.flatnonzero(~verdict.usable | disordered).tolist():
        if disordered[index]:
            problems[index] = (Problem("BOUNDARY_ORDER"),)
            continue
        of_index = [problem for problem in verdict.problems if problem.invocations[index]]
        problems[index] = tuple(of_slots(problem, index) for problem in of_index)
    return problems


def warnings_of(verdict: Verdict) -> Iterator[Problem]:
    """The warnings of all usable invocations, their slots joined."""
    for problem in verdict.warnings:
        invocations = np.flatnonzero(problem.invocations & verdict.usable).tolist()
        slots: set[int] = set()
        for index in invocations:
            slots.update(problem.slots_of(index))
        if invocations:
            yield Problem(problem.code, "slots", tuple(sorted(slots)))


def of_task(task: TaskLink | None, usable: Bools) -> Iterator[Problem]:
    """The reason why the task's bounds and the stamps are not combined."""
    if task is None or not usable.any():
        return
    if task.code:
        yield Problem(task.code)
    elif not task.ordered[usable].all():
        yield Problem("L2_ORDER")


def of_runs(
    record: InCore,
    parts: RunParts,
    pairs: Sequence[Pair],
) -> tuple[list[Problem], list[Problem]]:
    """Codes and warnings of single runs and of pairs."""
    runs = record.runs
    is_alone = runs.pair < 0
    disordered_runs = runs.run[is_alone & ~parts.ordered]
    disordered_pairs = runs.pair[~is_alone & ~parts.ordered]
    unpaired = tuple(pair.number for pair in pairs if pair.total_delta is None)
    mismatched = tuple(pair.number for pair in pairs if pair.mismatch)
    codes = [
        Problem("RUN_ORDER", "runs", _sorted(disordered_runs)),
        Problem("RUN_ORDER", "pairs", _sorted(disordered_pairs)),
        Problem("UNPAIRED_RUN", "pairs", unpaired),
        Problem("PAIR_MISMATCH", "pairs", mismatched),
    ]
    # The row of a pair shows the overlap of its split runs already.
    overlaps = (runs.variant == Variant.SPLIT) & (runs.consumer_start < runs.producer_end)
    warnings = [Problem("SPLIT_OVERLAP", "runs", _sorted(runs.run[overlaps & is_alone]))]
    return _with_numbers(codes), _with_numbers(warnings)


def _with_numbers(problems: Sequence[Problem]) -> list[Problem]:
    return [problem for problem in problems if problem.numbers]


def _sorted(numbers: NDArray[np.int64]) -> tuple[int, ...]:
    return tuple(sorted(set(numbers.tolist())))

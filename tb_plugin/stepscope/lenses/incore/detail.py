"""The detail beside an in-core document: single cores, deciding slots, remedies and distributions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from stepscope.lenses.incore.capture_document import capture_document
from stepscope.lenses.incore.exactness import difference
from stepscope.lenses.incore.phases import Phases
from stepscope.lenses.incore.probes import Distribution, ProbeCost
from stepscope.lenses.incore.problems import NEVER_WRITTEN, REMEDIES, Problem
from stepscope.lenses.incore.runs import deltas
from stepscope.model.arrays import Array
from stepscope.model.diagnostic import Diagnostic
from stepscope.model.incore import Engine, InCore, Reducer, StampKind

if TYPE_CHECKING:
    from stepscope.lenses.incore.result import InCoreResult

Json = dict[str, Any]

PROBE_NOTE = "Probes change what they measure: confirm a conclusion on the uninstrumented kernel, and subtract nothing"
_SAMPLES = 1000


def detail(result: InCoreResult) -> Json:
    """The detail of a result."""
    record = result.record
    answer: Json = {
        "title": record.title,
        "unit": record.unit,
        "clock_freq_hz": record.clock_freq_hz or None,
        "epoch": record.epoch,
        "variant": record.variant,
        "pair": None,
        "setup": {
            "device": record.device,
            "inputs": record.inputs,
            "configuration": record.configuration,
        },
        "problems": _problems(result),
        "losses": [_loss(loss) for loss in record.header.losses],
        "events": _events(record),
        "cores": _cores(record),
    }
    if record.pair >= 0:
        answer["pair"] = record.pair
    if result.phases and record.dims:
        answer["distributions"] = _distributions(result.phases)
    elif result.phases:
        answer.update(_lanes(result, result.phases))
    if result.phases and result.capture:
        answer["capture"] = capture_document(record, result.capture)
    if result.pairs:
        answer["pairs"] = _pairs(result)
    probes = _probe_samples(result.probes)
    if probes:
        answer["probes"] = {**probes, "note": PROBE_NOTE}
    return answer


def _loss(loss: Diagnostic) -> Json:
    return {"where": loss.where, "what": loss.what, "count": loss.count, "remedy": loss.remedy}


def _problems(result: InCoreResult) -> list[Json]:
    problems = result.problems
    rows = [_problem(result, problem) for problem in (*problems.codes, *problems.warnings)]
    for invocation, of_invocation in problems.invocations.items():
        rows += [_problem(result, problem, invocation) for problem in of_invocation]
    return rows


def _problem(result: InCoreResult, problem: Problem, invocation: int | None = None) -> Json:
    """A problem with its remedy, and the place of its invocation in the matrix's dimensions."""
    remedy = REMEDIES[problem.code]
    never_written = result.phases is not None and result.phases.verdict.never_written
    if never_written and problem.code == "ZERO_TIMESTAMP":
        remedy = NEVER_WRITTEN
    place = None
    if invocation is not None:
        indices = np.unravel_index(invocation, result.record.shape)
        place = {name: int(i) for name, i in zip(result.record.dims, indices, strict=True)}
    return {
        **problem.to_json(),
        "invocation": invocation,
        "at": place or None,
        "error": problem.is_error,
        "remedy": remedy,
    }


def _events(record: InCore) -> list[Json]:
    rows = record.events
    events = []
    for i in range(len(rows)):
        event = {
            "name": record.text(int(rows.name[i])),
            "column": int(rows.word[i]),
            "kind": StampKind(int(rows.kind[i])).name.lower(),
            "meaning": record.text(int(rows.meaning[i])),
        }
        events.append(event)
    return events


def _cores(record: InCore) -> list[Json]:
    rows = record.cores
    cores = []
    for i in range(len(rows)):
        core = {
            "slot": int(rows.slot[i]),
            "name": record.text(int(rows.name[i])),
            "engine": Engine(int(rows.engine[i])).name.lower(),
            "core": int(rows.core[i]),
        }
        cores.append(core)
    return cores


def _lanes(result: InCoreResult, phases: Phases) -> Json:
    """The stamps of each participating slot, relative to the first boundary.

    A slot that does not count for a boundary has None there.
    """
    matrix = result.record.matrix()[0]
    if not phases.verdict.usable[0]:
        # Without a first boundary the axis ends at the largest stamp.
        boundaries = _boundaries(result, phases, usable=False)
        return {"base": str(matrix.max()), "boundaries": boundaries, "lanes": []}

    base = phases.values[0, 0]
    words = [boundary.word for boundary in phases.boundaries]
    stamps = difference(matrix[:, words], np.broadcast_to(base, (len(matrix), len(words))))
    lanes = []
    for slot in np.flatnonzero(phases.participating[0]).tolist():
        of_slot: list[int | None] = []
        for column, boundary in enumerate(phases.boundaries):
            stamp = None
            if boundary.members[0, slot]:
                stamp = int(stamps[slot, column])
            of_slot.append(stamp)
        lanes.append({"slot": slot, "stamps": of_slot})
    boundaries = _boundaries(result, phases, usable=True)
    return {"base": str(base), "boundaries": boundaries, "lanes": lanes}


def _boundaries(result: InCoreResult, phases: Phases, *, usable: bool) -> list[Json]:
    events = result.record.events
    kinds = dict(zip(events.word.tolist(), events.kind.tolist(), strict=True))
    rows = []
    for index, boundary in enumerate(phases.boundaries):
        deciding_slots: list[int] = []
        if usable:
            deciding_slots = phases.deciding_slots(result.record, 0, index)
        row = {
            "name": boundary.name,
            "column": boundary.word,
            "reduce": Reducer(boundary.reducer).name.lower(),
            "kind": StampKind(kinds.get(boundary.word, 0)).name.lower(),
            "deciding_slots": deciding_slots,
        }
        rows.append(row)
    return rows


def _distributions(phases: Phases) -> Json:
    """Each phase over the usable invocations. Medians of phases do not add up to that of the total."""
    usable = phases.verdict.usable
    cycles = phases.cycles[usable]
    distributions = {name: _summary(cycles[:, i]) for i, name in enumerate(phases.names)}
    distributions["total"] = _summary(phases.total[usable])
    return distributions


def _summary(samples: Array) -> Json | None:
    if not len(samples):
        return None
    distribution = Distribution(samples)
    return {
        "n": len(samples),
        "min": distribution.min,
        "median_x2": distribution.median_x2,
        "p99_nearest_rank": distribution.p99_nearest_rank,
        "max": distribution.max,
    }


def _pairs(result: InCoreResult) -> Json:
    total_deltas = deltas(result.pairs)
    unpaired = []
    mismatches = []
    for pair in result.pairs:
        if pair.total_delta is None:
            unpaired.append(pair.number)
        if pair.mismatch:
            mismatches.append({"pair": pair.number, "settings": list(pair.mismatch)})
    return {
        "total_delta": _summary(total_deltas),
        "merged_wins": int((total_deltas < 0).sum()),
        "split_wins": int((total_deltas > 0).sum()),
        "ties": int((total_deltas == 0).sum()),
        "unpaired": unpaired,
        "mismatches": mismatches,
    }


def _probe_samples(cost: ProbeCost) -> Json:
    """The smallest samples of each measurement that the record holds."""
    distributions = {
        "reads": cost.reads,
        "instrumented": cost.instrumented,
        "uninstrumented": cost.uninstrumented,
    }
    samples = {}
    for name, distribution in distributions.items():
        if distribution:
            samples[name] = np.sort(distribution.samples)[:_SAMPLES].tolist()
    return samples

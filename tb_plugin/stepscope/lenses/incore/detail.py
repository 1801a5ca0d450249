"""The detail beside an in-core document: single cores, deciding slots, remedies and distributions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from stepscope.lenses.incore.capture_document import capture_document
from stepscope.lenses.incore.exactness import difference
from stepscope.lenses.incore.phases import Phases
from stepscope.lenses.incore.probes import Distribution
from stepscope.lenses.incore.problems import NEVER_WRITTEN, REMEDIES, Problem
from stepscope.lenses.incore.runs import deltas
from stepscope.model.arrays import Array
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
        "pair": record.pair if record.pair >= 0 else None,
        "setup": {"device": record.device, "inputs": record.inputs, "configuration": record.configuration},
        "problems": _problems(result),
        "losses": [
            {"where": x.where, "what": x.what, "count": x.count, "remedy": x.remedy} for x in record.header.losses
        ],
        "events": _events(record),
        "cores": _cores(record),
    }
    if result.phases:
        answer.update(_lanes(result, result.phases) if not record.dims else _distributions(result.phases))
    if result.phases and result.capture:
        answer["capture"] = capture_document(record, result.capture)
    if result.pairs:
        answer["pairs"] = _pairs(result)
    answer.update(_probes(result))
    return answer


def _problems(result: InCoreResult) -> list[Json]:
    problems = result.problems
    never_written = result.phases is not None and result.phases.verdict.never_written
    rows: list[tuple[int | None, Problem]] = [(None, problem) for problem in (*problems.codes, *problems.warnings)]
    rows += [(index, problem) for index, found in problems.invocations.items() for problem in found]
    return [_problem(result.record, index, problem, never_written) for index, problem in rows]


def _problem(record: InCore, invocation: int | None, problem: Problem, never_written: bool) -> Json:
    """A problem with its remedy, and where the matrix has several dimensions its place in them."""
    remedy = NEVER_WRITTEN if never_written and problem.code == "ZERO_TIMESTAMP" else REMEDIES[problem.code]
    place = [] if invocation is None else [int(i) for i in np.unravel_index(invocation, record.shape)]
    at = dict(zip(record.dims, place, strict=True)) if place else None
    return {**problem.to_json(), "invocation": invocation, "at": at, "error": problem.is_error, "remedy": remedy}


def _events(record: InCore) -> list[Json]:
    rows = record.events
    columns = zip(rows.name.tolist(), rows.word.tolist(), rows.kind.tolist(), rows.meaning.tolist(), strict=True)
    return [
        {
            "name": record.text(name),
            "column": word,
            "kind": StampKind(kind).name.lower(),
            "meaning": record.text(meaning),
        }
        for name, word, kind, meaning in columns
    ]


def _cores(record: InCore) -> list[Json]:
    rows = record.cores
    columns = zip(rows.slot.tolist(), rows.name.tolist(), rows.engine.tolist(), rows.core.tolist(), strict=True)
    return [
        {"slot": slot, "name": record.text(name), "engine": Engine(engine).name.lower(), "core": core}
        for slot, name, engine, core in columns
    ]


def _lanes(result: InCoreResult, phases: Phases) -> Json:
    """Every participating slot's stamps, relative to the first boundary; None for a stamp that it does not owe."""
    record, usable = result.record, bool(phases.verdict.usable[0])
    matrix = record.matrix()[0]
    base = phases.values[0, 0] if usable else matrix.max()
    active = np.flatnonzero(phases.participating[0]).tolist()
    owed = np.stack([boundary.members[0] for boundary in phases.boundaries], axis=1)
    words = [boundary.word for boundary in phases.boundaries]
    ahead = difference(matrix[:, words], np.broadcast_to(base, (len(matrix), len(words))))
    lanes = [
        {
            "slot": slot,
            "stamps": [int(x) if given else None for x, given in zip(ahead[slot], owed[slot], strict=True)],
        }
        for slot in active
    ]
    return {"base": str(base), "boundaries": _boundaries(result, phases, usable), "lanes": lanes if usable else []}


def _boundaries(result: InCoreResult, phases: Phases, usable: bool) -> list[Json]:
    kinds = dict(zip(result.record.events.word.tolist(), result.record.events.kind.tolist(), strict=True))
    return [
        {
            "name": boundary.name,
            "column": boundary.word,
            "reduce": Reducer(boundary.reducer).name.lower(),
            "kind": StampKind(kinds.get(boundary.word, 0)).name.lower(),
            "deciding_slots": phases.deciding_slots(result.record, 0, index) if usable else [],
        }
        for index, boundary in enumerate(phases.boundaries)
    ]


def _distributions(phases: Phases) -> Json:
    """Each phase over the usable invocations. Medians of phases do not add up to that of the total."""
    usable = phases.verdict.usable
    columns = [*phases.cycles[usable].T, phases.total[usable]]
    names = [*phases.names, "total"]
    return {"distributions": {name: _summary(column) for name, column in zip(names, columns, strict=True)}}


def _summary(samples: Array) -> Json | None:
    if not len(samples):
        return None
    found = Distribution(samples)
    return {
        "n": len(samples),
        "min": found.min,
        "median_x2": found.median_x2,
        "p99_nearest_rank": found.p99_nearest_rank,
        "max": found.max,
    }


def _pairs(result: InCoreResult) -> Json:
    found = deltas(result.pairs)
    return {
        "total_delta": _summary(found),
        "merged_wins": int((found < 0).sum()),
        "split_wins": int((found > 0).sum()),
        "ties": int((found == 0).sum()),
        "unpaired": [pair.number for pair in result.pairs if pair.total_delta is None],
        "mismatches": [{"pair": p.number, "settings": list(p.mismatch)} for p in result.pairs if p.mismatch],
    }


def _probes(result: InCoreResult) -> Json:
    cost = result.probes
    found = {"reads": cost.reads, "instrumented": cost.instrumented, "uninstrumented": cost.uninstrumented}
    samples = {name: [int(x) for x in np.sort(d.samples)[:_SAMPLES]] for name, d in found.items() if d}
    return {"probes": {**samples, "note": PROBE_NOTE}} if samples else {}

"""The in-core analysis: phases between boundaries, exact to the cycle, for all invocations at once.

Over the participating slots p and the producers q of an invocation: E = min entry(p),
R = max producer_done(q), B = max collective_arrival(p), A = min collective_release(p),
F = max body_done(p). The phases R-E, B-R, A-B, F-A add up to F-E whatever the stamps are. They mean
something where E <= R <= B <= A <= F; the analysis reports where that does not hold.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence

import numpy as np

from stepscope.lenses.incore.boundaries import definitions, event_words, masks, reduce_members
from stepscope.lenses.incore.capture import summarise
from stepscope.lenses.incore.collective import Collective, diagnose
from stepscope.lenses.incore.combining import combine
from stepscope.lenses.incore.exactness import difference
from stepscope.lenses.incore.options import InCoreOptions
from stepscope.lenses.incore.phases import Phases
from stepscope.lenses.incore.probes import probe_cost
from stepscope.lenses.incore.problems import (
    Problem,
    Problems,
    of_invocations,
    of_runs,
    of_task,
    warnings_of,
)
from stepscope.lenses.incore.result import InCoreResult
from stepscope.lenses.incore.runs import Pair, RunParts, pair_up, parts
from stepscope.lenses.incore.selection import one_invocation
from stepscope.lenses.incore.task import link
from stepscope.lenses.incore.validation import validate
from stepscope.model.arrays import Bools
from stepscope.model.incore import InCore


def analyze(
    records: InCore | Sequence[InCore], options: InCoreOptions | None = None
) -> InCoreResult:
    """Analyses one record, or the runs of several records as pairs.

    Raises:
        RecordError: Its columns name no phase.
        OptionError: There is no such invocation, or one of several records belongs to no pair.
    """
    options = options or InCoreOptions()
    if isinstance(records, InCore):
        return _analyze_one(records, options)
    if len(records) == 1:
        return _analyze_one(records[0], options)
    merged: list[dict[str, int] | None] = []
    for record in records:
        stamps = None
        if record.variant == "merged":
            stamps = merged_run(_analyze_one(record, options).phases)
        merged.append(stamps)
    return _analyze_one(combine(records, merged), options)


def merged_run(phases: Phases | None) -> dict[str, int] | None:
    """The stamps of a merged run, where its task's bounds hold its collective."""
    if phases is None or phases.collective is None or phases.task is None:
        return None
    if not len(phases.task.ordered):
        return None
    if not (phases.verdict.usable[0] and phases.task.ordered[0]):
        return None
    stamps = phases.stamps(0)
    task = phases.task
    return {
        "producer_start": int(task.start[0]),
        "producer_end": stamps["B"],
        "consumer_start": stamps["A"],
        "consumer_end": int(task.end[0]),
    }


def _analyze_one(record: InCore, options: InCoreOptions) -> InCoreResult:
    if options.invocation is not None:
        record = one_invocation(record, options.invocation)
    run_parts = parts(record.runs)
    pairs = pair_up(record, run_parts.total)
    phases = None
    if record.invocations:
        phases = _phases(record)
    return InCoreResult(
        record=record,
        options=options,
        phases=phases,
        run_parts=run_parts,
        pairs=pairs,
        probes=probe_cost(record),
        capture=summarise(record),
        problems=_problems(record, phases, run_parts, pairs),
    )


def _problems(
    record: InCore,
    phases: Phases | None,
    run_parts: RunParts,
    pairs: tuple[Pair, ...],
) -> Problems:
    codes, warnings = of_runs(record, run_parts, pairs)
    bad: dict[int, tuple[Problem, ...]] = {}
    if phases:
        bad = of_invocations(phases.verdict, phases.ordered)
        codes += of_task(phases.task, phases.verdict.usable)
        warnings += warnings_of(phases.verdict)
    if not record.dims:
        codes += bad.pop(0, ())
    if not record.clock_freq_hz and record.unit == "cycles":
        warnings.append(Problem("UNKNOWN_CLOCK"))
    by_code = operator.attrgetter("code")
    return Problems(tuple(sorted(codes, key=by_code)), bad, tuple(sorted(warnings, key=by_code)))


def _phases(record: InCore) -> Phases:
    participating, producers = masks(record)
    boundaries = definitions(record, participating.slots, producers.slots)
    verdict = validate(record, boundaries, participating, producers)
    matrix = record.matrix()
    columns = []
    for boundary in boundaries:
        stamps = matrix[:, :, boundary.word]
        columns.append(reduce_members(stamps, boundary.members, boundary.reducer))
    values = np.stack(columns, axis=1)
    ordered: Bools = np.all(values[:, 1:] >= values[:, :-1], axis=1)
    return Phases(
        boundaries=tuple(boundaries),
        participating=participating.slots,
        verdict=verdict,
        values=values,
        cycles=difference(values[:, 1:], values[:, :-1]),
        total=difference(values[:, -1], values[:, 0]),
        ordered=ordered,
        collective=_collective(record, participating.slots),
        task=link(record, values, ordered),
    )


def _collective(record: InCore, members: Bools) -> Collective | None:
    words = event_words(record)
    if len(record.boundaries):
        return None
    if "collective_arrival" not in words or "collective_release" not in words:
        return None
    matrix = record.matrix()
    return diagnose(
        arrival=matrix[:, :, words["collective_arrival"]],
        release=matrix[:, :, words["collective_release"]],
        members=members,
    )

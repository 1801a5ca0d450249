"""The in-core document: a result as JSON values. Absolute stamps are decimal texts; differences are integers."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from stepscope.lenses.incore.capture_document import capture_document
from stepscope.lenses.incore.collective import DURATIONS, Collective
from stepscope.lenses.incore.exactness import median_x2
from stepscope.lenses.incore.phases import Phases
from stepscope.lenses.incore.probes import Distribution, ProbeCost
from stepscope.lenses.incore.runs import deltas
from stepscope.lenses.incore.task import TaskLink
from stepscope.model.incore import Variant

if TYPE_CHECKING:
    from stepscope.lenses.incore.result import InCoreResult

Json = dict[str, Any]


def document(result: InCoreResult) -> Json:
    """The document of a result, without the detail of single slots."""
    record, problems = result.record, result.problems
    answer: Json = {"status": result.status}
    if record.dims:
        answer["dims"] = list(record.dims)
    codes = _codes(result)
    if codes or result.pairs or not (len(record.boundaries) or result.phases is None):
        answer["codes"] = codes
    if result.phases:
        answer.update(_table(result, result.phases) if record.dims else _single(result, result.phases))
    elif result.capture:
        answer.update(capture_document(record, result.capture))
    answer.update(_runs(result))
    answer.update(_probes(result.probes))
    if problems.warnings:
        answer["warnings"] = [warning.to_json() for warning in problems.warnings]
    return answer


def _codes(result: InCoreResult) -> list[Json]:
    """The codes of the record; what single invocations add stands without their slots."""
    problems = result.problems
    inner = {p.code for found in problems.invocations.values() for p in found}
    codes = [*(p.to_json() for p in problems.codes), *({"code": code} for code in inner)]
    return sorted(codes, key=lambda row: str(row["code"]))


def _single(result: InCoreResult, phases: Phases) -> Json:
    if not phases.verdict.usable[0]:
        return {}
    names = [boundary.name for boundary in phases.boundaries]
    values = {name: str(value) for name, value in zip(names, phases.values[0].tolist(), strict=True)}
    cycles = [int(c) for c in phases.cycles[0]]
    total = int(phases.total[0])
    if len(result.record.boundaries):
        rows = zip(pairwise(names), cycles, strict=True)
        listed = [{"from": start, "to": end, "cycles": length} for (start, end), length in rows]
        return {"boundary_values": values, "phases": listed, "total": total, **_task(result, phases)}
    answer: Json = {
        "boundaries": values,
        "partition": dict(zip(phases.names, cycles, strict=True)),
        "total": total,
        "ordered": bool(phases.ordered[0]),
    }
    if phases.collective:
        answer["collective"] = _collective(phases.collective)
    return {**answer, **_task(result, phases)}


def _collective(found: Collective) -> Json:
    return {
        **{name: int(getattr(found, name)[0]) for name in DURATIONS},
        "early_core_residence_slots": np.flatnonzero(found.resident[0]).tolist(),
        "last_arrival_slots": np.flatnonzero(found.last_arrival[0]).tolist(),
        "first_release_slots": np.flatnonzero(found.first_release[0]).tolist(),
    }


def _task(result: InCoreResult, phases: Phases) -> Json:
    task = phases.task
    if task is None:
        return {}
    first, last = phases.boundaries[0].name, phases.boundaries[-1].name
    if task.code or not task.ordered[0]:
        answer: Json = {"l2": {"ordered": None if task.code else False, "partition": None}}
        if len(task.total):
            answer["l2_duration_only"] = {"M1-M0": int(task.total[0]), f"{last}-{first}": int(phases.total[0])}
        return answer
    inner = dict(zip(phases.names, (int(c) for c in phases.cycles[0]), strict=True))
    partition = {f"{first}-M0": int(task.before[0]), **inner, f"M1-{last}": int(task.after[0])}
    answer = {"l2": {"ordered": True, "partition": partition, "total": int(task.total[0])}}
    if phases.collective and result.record.variant != "split":
        answer["merged"] = _merged(phases, task)
    if result.record.task_source:
        answer["l2_bounds"] = {"M0": str(int(task.start[0])), "M1": str(int(task.end[0]))}
    return answer


def _merged(phases: Phases, task: TaskLink) -> Json:
    """Producer M0 to B, gap B to A, consumer A to M1. Dispatch and drain lie within: not pure producer time."""
    stamps = {b.name: int(phases.values[0, i]) for i, b in enumerate(phases.boundaries)}
    start, end = int(task.start[0]), int(task.end[0])
    return {
        "producer_equivalent": stamps["B"] - start,
        "gap": stamps["A"] - stamps["B"],
        "consumer_equivalent": end - stamps["A"],
        "total": end - start,
    }


def _table(result: InCoreResult, phases: Phases) -> Json:
    """One row per invocation, None where the stamps cannot be used."""
    figures = [*phases.cycles.T, phases.total]
    columns = [*phases.names, "total"]
    if phases.collective:
        columns += DURATIONS
        figures += [getattr(phases.collective, name) for name in DURATIONS]
    rows: list[list[int] | None] = [list(row) for row in zip(*(f.tolist() for f in figures), strict=True)]
    for index in np.flatnonzero(~phases.verdict.usable).tolist():
        rows[index] = None
    bad = [
        {"invocation": index, "codes": [p.to_json() for p in found]}
        for index, found in result.problems.invocations.items()
    ]
    answer: Json = {"bad_invocations": bad, "columns": columns, "per_invocation": rows}
    if phases.task:
        answer["l2"] = _task_table(phases, phases.task)
    if not bad:
        answer["phase_medians_x2"] = [median_x2(column) for column in phases.cycles.T]
        answer["total_median_x2"] = median_x2(phases.total)
    return answer


def _task_table(phases: Phases, task: TaskLink) -> Json:
    if task.code:
        return {"ordered": None, "columns": None, "per_invocation": None}
    ordered = phases.verdict.usable & task.ordered
    names = [f"{phases.boundaries[0].name}-M0", f"M1-{phases.boundaries[-1].name}", "total"]
    figures = zip(task.before.tolist(), task.after.tolist(), task.total.tolist(), strict=True)
    rows = [list(row) if fits else None for row, fits in zip(figures, ordered.tolist(), strict=True)]
    return {"ordered": bool(ordered.all()), "columns": names, "per_invocation": rows}


def _runs(result: InCoreResult) -> Json:
    runs = result.record.runs
    alone = np.flatnonzero(runs.pair < 0).tolist()
    answer: Json = {}
    if alone:
        answer["per_run"] = [{"run": int(runs.run[row]), **_run(result, row)} for row in alone]
    if result.pairs:
        answer["per_pair"] = [
            {
                "pair": pair.number,
                "merged": _run(result, pair.merged),
                "split": _run(result, pair.split),
                "total_delta": pair.total_delta,
            }
            for pair in result.pairs
        ]
        found = deltas(result.pairs)
        answer["total_delta_list"] = found.tolist()
        answer["total_delta_median_x2"] = median_x2(found)
        answer["merged_wins"] = int((found < 0).sum())
    return answer


def _run(result: InCoreResult, row: int) -> Any:
    if row < 0:
        return None
    parts = result.run_parts
    producer, gap, consumer, total = (
        int(column[row]) for column in (parts.producer, parts.gap, parts.consumer, parts.total)
    )
    if result.record.runs.variant[row] == Variant.MERGED:
        return {"producer_equivalent": producer, "gap": gap, "consumer_equivalent": consumer, "total": total}
    return {
        "producer": producer,
        "gap": gap,
        "consumer": consumer,
        "three_term_applies": bool(parts.three_term_applies[row]),
        "overlap": gap < 0,
        "total": total,
    }


def _probes(cost: ProbeCost) -> Json:
    answer: Json = {}
    if cost.reads:
        answer["read_cost"] = {
            "n": len(cost.reads.samples),
            "min": cost.reads.min,
            "median_x2": cost.reads.median_x2,
            "p99_nearest_rank": cost.reads.p99_nearest_rank,
            "max": cost.reads.max,
        }
    envelopes = {"instrumented": cost.instrumented, "uninstrumented": cost.uninstrumented}
    if cost.instrumented or cost.uninstrumented:
        answer["envelopes"] = {name: _envelope(found) for name, found in envelopes.items()}
    return answer


def _envelope(found: Distribution | None) -> Json | None:
    return None if found is None else {"min": found.min, "median_x2": found.median_x2, "max": found.max}

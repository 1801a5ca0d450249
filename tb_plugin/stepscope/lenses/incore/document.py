"""The in-core document. Absolute stamps are decimal texts, differences are integers."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from stepscope.lenses.incore.capture_document import capture_document
from stepscope.lenses.incore.collective import DURATIONS, Collective
from stepscope.lenses.incore.exactness import median_x2
from stepscope.lenses.incore.phases import Phases
from stepscope.lenses.incore.probes import Distribution, ProbeCost
from stepscope.lenses.incore.runs import Pair, deltas
from stepscope.lenses.incore.task import TaskLink
from stepscope.model.arrays import Bools
from stepscope.model.incore import Variant

if TYPE_CHECKING:
    from stepscope.lenses.incore.result import InCoreResult

Json = dict[str, Any]


def document(result: InCoreResult) -> Json:
    """The document of a result, without the detail of single slots."""
    record = result.record
    phases = result.phases
    answer: Json = {"status": result.status}
    if record.dims:
        answer["dims"] = list(record.dims)
    codes = _codes(result)
    has_known_events = phases is not None and not len(record.boundaries)
    if codes or result.pairs or has_known_events:
        answer["codes"] = codes
    if phases and record.dims:
        answer.update(_table(result, phases))
    elif phases:
        answer.update(_single(result, phases))
    elif result.capture:
        answer.update(capture_document(record, result.capture))
    answer.update(_runs(result))
    answer.update(_probes(result.probes))
    if result.problems.warnings:
        answer["warnings"] = [warning.to_json() for warning in result.problems.warnings]
    return answer


def _codes(result: InCoreResult) -> list[Json]:
    """The codes of the record, and without slots those of its invocations."""
    of_invocations: set[str] = set()
    for problems in result.problems.invocations.values():
        of_invocations |= {problem.code for problem in problems}
    codes: list[Json] = [problem.to_json() for problem in result.problems.codes]
    codes += [{"code": code} for code in of_invocations]
    return sorted(codes, key=lambda row: str(row["code"]))


def _single(result: InCoreResult, phases: Phases) -> Json:
    if not phases.verdict.usable[0]:
        return {}
    names = [boundary.name for boundary in phases.boundaries]
    stamps = [str(value) for value in phases.values[0].tolist()]
    values = dict(zip(names, stamps, strict=True))
    cycles = phases.cycles[0].tolist()
    total = int(phases.total[0])
    if len(result.record.boundaries):
        rows = []
        for (start, end), length in zip(pairwise(names), cycles, strict=True):
            rows.append({"from": start, "to": end, "cycles": length})
        task = _task(result, phases)
        return {"boundary_values": values, "phases": rows, "total": total, **task}
    answer: Json = {
        "boundaries": values,
        "partition": dict(zip(phases.names, cycles, strict=True)),
        "total": total,
        "ordered": bool(phases.ordered[0]),
    }
    if phases.collective:
        answer["collective"] = _collective(phases.collective)
    return {**answer, **_task(result, phases)}


def _collective(collective: Collective) -> Json:
    durations = {name: int(getattr(collective, name)[0]) for name in DURATIONS}
    return {
        **durations,
        "early_core_residence_slots": np.flatnonzero(collective.resident[0]).tolist(),
        "last_arrival_slots": np.flatnonzero(collective.last_arrival[0]).tolist(),
        "first_release_slots": np.flatnonzero(collective.first_release[0]).tolist(),
    }


def _task(result: InCoreResult, phases: Phases) -> Json:
    task = phases.task
    if task is None:
        return {}
    first = phases.boundaries[0].name
    last = phases.boundaries[-1].name
    if task.code or not task.ordered[0]:
        # Bounds of another unit or launch have no order with the stamps.
        ordered = None
        if not task.code:
            ordered = False
        answer: Json = {"l2": {"ordered": ordered, "partition": None}}
        if len(task.total):
            answer["l2_duration_only"] = {
                "M1-M0": int(task.total[0]),
                f"{last}-{first}": int(phases.total[0]),
            }
        return answer

    inner = dict(zip(phases.names, phases.cycles[0].tolist(), strict=True))
    partition = {f"{first}-M0": int(task.before[0]), **inner, f"M1-{last}": int(task.after[0])}
    answer = {"l2": {"ordered": True, "partition": partition, "total": int(task.total[0])}}
    if phases.collective and result.record.variant != "split":
        answer["merged"] = _merged(phases, task)
    if result.record.task_source:
        answer["l2_bounds"] = {"M0": str(int(task.start[0])), "M1": str(int(task.end[0]))}
    return answer


def _merged(phases: Phases, task: TaskLink) -> Json:
    """Producer M0 to B, gap B to A, consumer A to M1. Producer and consumer include dispatch and drain."""
    stamps = phases.stamps(0)
    start = int(task.start[0])
    end = int(task.end[0])
    return {
        "producer_equivalent": stamps["B"] - start,
        "gap": stamps["A"] - stamps["B"],
        "consumer_equivalent": end - stamps["A"],
        "total": end - start,
    }


def _table(result: InCoreResult, phases: Phases) -> Json:
    """One row per invocation, None where the stamps cannot be used."""
    figures = [column.tolist() for column in (*phases.cycles.T, phases.total)]
    columns = [*phases.names, "total"]
    if phases.collective:
        columns += DURATIONS
        figures += [getattr(phases.collective, name).tolist() for name in DURATIONS]
    rows = _usable_rows(figures, phases.verdict.usable)

    bad = []
    for index, problems in result.problems.invocations.items():
        bad.append({"invocation": index, "codes": [problem.to_json() for problem in problems]})
    answer: Json = {"bad_invocations": bad, "columns": columns, "per_invocation": rows}
    if phases.task:
        answer["l2"] = _task_table(phases, phases.task)
    if not bad:
        answer["phase_medians_x2"] = [median_x2(column) for column in phases.cycles.T]
        answer["total_median_x2"] = median_x2(phases.total)
    return answer


def _usable_rows(columns: Sequence[Sequence[int]], usable: Bools) -> list[list[int] | None]:
    rows: list[list[int] | None] = [list(row) for row in zip(*columns, strict=True)]
    for index in np.flatnonzero(~usable).tolist():
        rows[index] = None
    return rows


def _task_table(phases: Phases, task: TaskLink) -> Json:
    if task.code:
        return {"ordered": None, "columns": None, "per_invocation": None}
    ordered = phases.verdict.usable & task.ordered
    names = [f"{phases.boundaries[0].name}-M0", f"M1-{phases.boundaries[-1].name}", "total"]
    figures = [task.before.tolist(), task.after.tolist(), task.total.tolist()]
    rows = _usable_rows(figures, ordered)
    return {"ordered": bool(ordered.all()), "columns": names, "per_invocation": rows}


def _runs(result: InCoreResult) -> Json:
    runs = result.record.runs
    alone = np.flatnonzero(runs.pair < 0).tolist()
    answer: Json = {}
    if alone:
        answer["per_run"] = [{"run": int(runs.run[row]), **_run(result, row)} for row in alone]
    if result.pairs:
        total_deltas = deltas(result.pairs)
        answer["per_pair"] = [_pair(result, pair) for pair in result.pairs]
        answer["total_delta_list"] = total_deltas.tolist()
        answer["total_delta_median_x2"] = median_x2(total_deltas)
        answer["merged_wins"] = int((total_deltas < 0).sum())
    return answer


def _pair(result: InCoreResult, pair: Pair) -> Json:
    return {
        "pair": pair.number,
        "merged": _run(result, pair.merged),
        "split": _run(result, pair.split),
        "total_delta": pair.total_delta,
    }


def _run(result: InCoreResult, row: int) -> Any:
    """The parts of a run, None where a pair lacks it."""
    if row < 0:
        return None
    parts = result.run_parts
    producer = int(parts.producer[row])
    gap = int(parts.gap[row])
    consumer = int(parts.consumer[row])
    total = int(parts.total[row])
    if result.record.runs.variant[row] == Variant.MERGED:
        return {
            "producer_equivalent": producer,
            "gap": gap,
            "consumer_equivalent": consumer,
            "total": total,
        }
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
    if cost.instrumented or cost.uninstrumented:
        answer["envelopes"] = {
            "instrumented": _envelope(cost.instrumented),
            "uninstrumented": _envelope(cost.uninstrumented),
        }
    return answer


def _envelope(cycles: Distribution | None) -> Json | None:
    if cycles is None:
        return None
    return {"min": cycles.min, "median_x2": cycles.median_x2, "max": cycles.max}

"""Rules over several lenses of one run or job: where two of them see the same cause, or explain each other."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from stepscope.findings import dcn as dcn_rules
from stepscope.findings import throughput as rates
from stepscope.findings.finding import Finding
from stepscope.findings.format_time import NS_PER_US, time_words
from stepscope.findings.rules import CrossRule, LensResult, RunResults
from stepscope.lenses.dcn.diagnosis import profiled_ps
from stepscope.lenses.incore import InCoreResult
from stepscope.lenses.throughput.result import Annotation, Series
from stepscope.lenses.trace.utilization import utilization
from stepscope.lenses.views import ViewsOptions

LEAST_WAIT = 0.1
LOW_UTILIZATION = 0.5
LINED_UP = 0.5
OUTSIDE_KERNEL = 0.25


def _idle_with_wait(together: RunResults) -> Iterator[Finding]:
    """The accelerator is idle, and the loop waits for input: the one because of the other."""
    for profile, logged in together.pairs("views", "throughput"):
        busy, window = np.sum(
            [(0, 0), *utilization(profile.result.profile).values()], axis=0
        ).tolist()
        waits = [(rates.span_share(series, "data"), series) for series in logged.result.series]
        share, series = max(waits, key=lambda one: one[0], default=(0.0, None))
        if series is None or not window or busy / window >= LOW_UTILIZATION or share < LEAST_WAIT:
            continue
        idle = 1 - busy / window
        yield Finding(
            "starved-accelerator",
            f"Accelerators idle {idle:.0%} of the time while {series.name} waits for input {share:.0%} of it",
            min(idle, share),
            share * rates.whole_ns(series) / NS_PER_US,
            "us",
            (rates.shown(logged, series),),
            "The input does not keep up: prefetch more, load with more workers, or move preprocessing ahead",
            "derived",
            (
                ("idle-accelerator", profile.run, "*"),
                ("lost-to-data-wait", logged.run, series.name),
            ),
        )


def _dips_with_checkpoints(together: RunResults) -> Iterator[Finding]:
    """Stalls of one series that lie in checkpoints which another series of the job logged."""
    every = [
        (subject, series)
        for subject in together.of("throughput")
        for series in subject.result.series
    ]
    for subject, series in every:
        others = [(s, o) for s, o in every if o is not series and o.clock == series.clock == "unix"]
        stalls = [
            note
            for note in series.annotations
            if note.kind == "stall" and note.start_ns is not None
        ]
        for other_subject, other in others:
            inside = [note for note in stalls if _covered(note, other) >= LINED_UP]
            lost, whole = (
                sum(int(note.evidence["extra_ns"]) for note in inside),
                rates.whole_ns(series),
            )
            if inside and whole and lost / whole >= rates.LEAST_SHARE:
                place = rates.shown(other_subject, other, inside[0])
                yield _dips(subject, series, other, inside, lost / whole, lost, place)
                break


def _dips(
    subject: LensResult[Any],
    series: Series,
    other: Series,
    inside: list[Annotation],
    share: float,
    lost: int,
    place: Any,
) -> Finding:
    all_of_them = len(inside) == sum(note.kind == "stall" for note in series.annotations)
    return Finding(
        "checkpoint-dips",
        f"{series.name} of {subject.run} stands still {len(inside)} times while {other.run} writes checkpoints",
        share,
        lost / NS_PER_US,
        "us",
        (rates.shown(subject, series, inside[0]), place),
        "All ranks wait for the one that writes: save in the background, less often, or each rank its own part",
        "derived",
        (("lost-to-stall", subject.run, series.name),) if all_of_them else (),
    )


def _covered(note: Annotation, other: Series) -> float:
    """How much of an annotation's time lies in the checkpoints of a series, or of those in it."""
    start, end = note.start_ns or 0, note.end_ns or 0
    spans = [(s.start_ns, s.end_ns) for s in other.spans if s.kind == "checkpoint"]
    inside = sum(max(min(end, stop) - max(start, begin), 0) for begin, stop in spans)
    return inside / (end - start) if end > start else 0.0


def _stall_of_step(together: RunResults) -> Iterator[Finding]:
    """What all collectives stall a core in a training step."""
    for collectives, logged in together.pairs("dcn", "throughput"):
        result = collectives.result
        whole, worst = profiled_ps(result), dcn_rules.stalling(result)
        step = next(
            (s for series in logged.result.series if (s := series.statistics.get("step_time"))),
            None,
        )
        stall = sum(row.stall_total_ps for row in result.all_cores)
        if step is None or not whole or not worst or stall / whole < LEAST_WAIT:
            continue
        share, step_us = stall / whole, step["p50_ns"] / NS_PER_US
        yield Finding(
            "stall-of-step",
            f"Collectives stall a core {time_words(share * step_us)} of a step of {time_words(step_us)}; "
            f"{worst[0].stall_share:.0%} of it in {worst[0].row.rendezvous}",
            share,
            share * step_us,
            "us",
            (dcn_rules.shown(collectives, worst[0]), rates.shown(logged, logged.result.series[0])),
            dcn_rules.advice(result, worst[0]),
            "derived",
            (("stalling-collective", collectives.run, worst[0].row.rendezvous),),
        )


def _kernel_of_op(together: RunResults) -> Iterator[Finding]:
    """What an op takes beyond the phases of its fused kernel: launch, waiting, and the kernel's ends."""
    for kernel, profile in together.pairs("incore", "views"):
        inside_us, found = _kernel_us(kernel.result), None
        if inside_us:
            found = _op_named(profile, kernel.result.record.title or kernel.name)
        if found is None or not inside_us:
            continue
        name, each_us, runs, whole_us = found
        outside = each_us - inside_us
        if outside < OUTSIDE_KERNEL * each_us:
            continue
        yield Finding(
            "kernel-in-op",
            f"{name} takes {time_words(each_us)}, its kernel's phases {time_words(inside_us)} of it",
            outside * runs / whole_us if whole_us else None,
            outside * runs,
            "us",
            (profile.evidence(name, view="op", search=name), kernel.evidence("total")),
            "The rest is outside the stamps: launch, waiting for inputs, and what the kernel does before and after",
            "derived",
        )


def _kernel_us(result: InCoreResult) -> float:
    """The mean envelope of the usable invocations in us, 0 where it is not known."""
    record, phases = result.record, result.phases
    if (
        phases is None
        or not record.clock_freq_hz
        or record.unit != "cycles"
        or not phases.verdict.usable.any()
    ):
        return 0.0
    return float(phases.total[phases.verdict.usable].mean() / float(record.clock_freq_hz) * 1e6)


def _op_named(profile: LensResult[Any], title: str) -> tuple[str, float, int, float] | None:
    """Name, mean time and runs of the op that a kernel is called like, and the time of the profile; times in us."""
    result = profile.result.analyze(ViewsOptions(view="op"))
    if not title or not len(result):
        return None
    names = result.paths(range(len(result)))
    row = next((row for row, name in enumerate(names) if row and name == title), None)
    if row is None:
        return None
    runs, micros = int(result.column("run_count")[row]), float(result.column("exec_micros")[row])
    return (
        (names[row], micros / runs, runs, float(result.column("total_exec_micros")[0]))
        if runs and micros
        else None
    )


RULES: tuple[CrossRule, ...] = (
    CrossRule(
        "starved-accelerator",
        ("views", "throughput"),
        "Accelerators that are idle for half of the time while the loop waits for input",
        _idle_with_wait,
    ),
    CrossRule(
        "checkpoint-dips",
        ("throughput",),
        "Stalls that line up with the checkpoints of another rank or series of the job",
        _dips_with_checkpoints,
    ),
    CrossRule(
        "stall-of-step",
        ("dcn", "throughput"),
        "Collectives whose stall is a tenth of the step time or more",
        _stall_of_step,
    ),
    CrossRule(
        "kernel-in-op",
        ("incore", "views"),
        "Ops that take much longer than the phases of the fused kernel of the same name",
        _kernel_of_op,
    ),
)

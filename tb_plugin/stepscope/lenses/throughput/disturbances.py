"""What disturbed the run: found in its marks and spans, with the evidence and how to read the rates around it."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from stepscope.lenses.throughput import messages, pauses
from stepscope.lenses.throughput.pace import Pace
from stepscope.lenses.throughput.patterns import Blocks, Period, blocks, flat_interval, fluctuation, period
from stepscope.lenses.throughput.rates import Questions
from stepscope.lenses.throughput.result import Annotation
from stepscope.lenses.throughput.segments import span_intervals
from stepscope.model.throughput import PAUSE_KINDS, UNKNOWN_NS, ResetKind, Throughput

Bools = NDArray[np.bool_]
MOST_OF_A_KIND = 20
MOST_SPANS = 5
DATA_WAIT_SHARE = 0.1
LATE = 1.5


def disturbances(record: Throughput, asked: Questions, run: Pace, base_ns: int) -> list[Annotation]:
    """Everything found: what is about the whole run first, then in order of time."""
    # Where a clock went back nothing can be measured; the step itself is reported.
    run = run.only(run.end_ns > run.begin_ns)
    found = [
        *_sampling(record),
        *_restarts(record, base_ns),
        *_clock_steps(record, base_ns),
        *_unknown_batches(record),
        *_data_wait(record, run),
        *_timed(record, asked, run, base_ns),
    ]
    return sorted(found, key=lambda one: (one.start_ns is not None, one.start_ns or 0))


def _sampling(record: Throughput) -> Iterator[Annotation]:
    if record.sampling_rule == "batch":
        evidence = {}
        if len(record.reported):
            evidence = {
                "first_local": float(record.reported.local_samples_per_sec[0]),
                "first_average": float(record.reported.avg_samples_per_sec[0]),
            }
        yield Annotation("per_batch", *messages.PER_BATCH, evidence=evidence)
    if record.start_ns == UNKNOWN_NS and _starts_late(record):
        yield Annotation("excerpt", *messages.EXCERPT, step=int(record.samples.step[0]))


def _starts_late(record: Throughput) -> bool:
    """Whether more steps lie before the first question than between the others."""
    step = record.samples.step
    return len(step) > 1 and int(step[0]) > LATE * max(float(np.median(np.diff(step))), 1.0)


def _restarts(record: Throughput, base_ns: int) -> Iterator[Annotation]:
    resets = record.resets
    for index in range(min(len(resets), MOST_OF_A_KIND)):
        kind = ResetKind(resets.kind[index])
        title, text = messages.RESTARTS[kind]
        at = int(resets.time_ns[index]) + base_ns
        mark = int(resets.mark_end[index])
        step = int(record.marks.step[mark]) if mark < len(record.marks) else None
        evidence = {"offset_ns": int(resets.offset_ns[index])}
        yield Annotation("resume" if kind == ResetKind.SESSION else "reset", title, text, at, at, step, evidence)


def _clock_steps(record: Throughput, base_ns: int) -> Iterator[Annotation]:
    time = record.marks.time_ns
    if np.array_equal(time, record.samples.time_ns) or not len(record.samples):
        order, steps = time, record.marks.step
    else:
        # Samples fall between marks: a clock may go back and be seen by them only.
        order = np.insert(time, record.samples.mark_end, record.samples.time_ns)
        steps = np.insert(record.marks.step, record.samples.mark_end, record.samples.step)
    back = np.diff(order)
    for index in np.flatnonzero(back < 0)[:MOST_OF_A_KIND].tolist():
        at, by = int(order[index + 1]) + base_ns, int(-back[index])
        title, text = messages.clock_step(by)
        yield Annotation("clock_step", title, text, at, at, _step(int(steps[index + 1])), {"back_ns": by})


def _unknown_batches(record: Throughput) -> Iterator[Annotation]:
    unknown = int((record.marks.count < 0).sum())
    if unknown and not len(record.reported):
        title, text = messages.unknown_batches(unknown, len(record.marks))
        yield Annotation("unknown_batch", title, text, evidence={"marks": unknown, "of": len(record.marks)})


def _data_wait(record: Throughput, run: Pace) -> Iterator[Annotation]:
    if not len(run) or "data" not in list(record.strings):
        return
    begin, end = int(run.begin_ns[0]), int(run.end_ns[-1])
    waited = span_intervals(record, ["data"]).inside(begin, end)
    share = waited / (end - begin) if end > begin else 0.0
    if share > DATA_WAIT_SHARE:
        title, text = messages.data_wait(share)
        yield Annotation("data_wait", title, text, evidence={"share": share, "waited_ns": waited})


def _timed(record: Throughput, asked: Questions, run: Pace, base_ns: int) -> Iterator[Annotation]:
    """Disturbances with a time of their own, then the patterns in what is left."""
    if not len(run):
        return
    disturbed = _inside_spans(record, run)
    found = blocks(run, disturbed)
    if found is not None:
        yield _blocks(found, record, asked)
        # Within a block nothing is steady; block by block the rest can be told.
        run = run.grouped(found.starts)
        disturbed = _inside_spans(record, run)
    typical = _typical(run, disturbed)
    first = pauses.first_step(run, disturbed)
    if first is not None:
        yield _first_step(run, first, base_ns)
    yield from _span_annotations(record, run, typical, disturbed, base_ns)
    regular = period(run, ~disturbed & ~run.first) if run.stride > 1 and found is None else None
    if regular is not None:
        yield _aliasing(regular, run.stride)
        return
    for pause in pauses.stalls(run, disturbed, typical, MOST_OF_A_KIND):
        disturbed[pause.index] = True
        yield _stall(run, pause, typical, disturbed, base_ns)
    share = fluctuation(run, ~disturbed & ~run.first) if run.stride > 1 and found is None else None
    if share is not None:
        yield Annotation("fluctuation", *messages.fluctuation(share), evidence={"deviation": share})


def _inside_spans(record: Throughput, run: Pace) -> Bools:
    spans = span_intervals(record, PAUSE_KINDS)
    return run.touched(spans.start_ns, spans.end_ns)


def _typical(run: Pace, disturbed: Bools) -> float:
    calm = run.per_step_ns[~disturbed & ~run.first]
    return float(np.median(calm)) if len(calm) else float(np.median(run.per_step_ns))


def _blocks(found: Blocks, record: Throughput, asked: Questions) -> Annotation:
    log_marks = round(float(np.median(np.diff(asked.mark_end)))) if len(asked.mark_end) > 1 else found.marks
    evidence = {"block_steps": found.steps, "blocks": found.count, "gap_ns": found.gap_ns, "log_marks": log_marks}
    if log_marks % found.marks == 0:
        return Annotation("blocks", *messages.blocks(found.steps), evidence=evidence)
    log_steps = round(log_marks * found.steps / found.marks)
    flat = flat_interval(found.steps, log_steps)
    evidence |= {"log_steps": log_steps, "flat_steps": flat}
    return Annotation("aliasing", *messages.aliasing(found.steps, log_steps, flat), evidence=evidence)


def _first_step(run: Pace, pause: pauses.Pause, base_ns: int) -> Annotation:
    title, text = messages.first_step(int(run.steps[0]), pause.extra_ns)
    evidence = {"extra_ns": pause.extra_ns, "ratio": pause.ratio, "steps": int(run.steps[0])}
    begin, end = int(run.begin_ns[0]) + base_ns, int(run.end_ns[0]) + base_ns
    return Annotation("first_step", title, text, begin, end, _step(int(run.step[0])), evidence)


def _span_annotations(
    record: Throughput, run: Pace, typical: float, disturbed: Bools, base_ns: int
) -> Iterator[Annotation]:
    for kind in PAUSE_KINDS:
        spans = span_intervals(record, [kind])
        inside = np.flatnonzero((spans.end_ns > run.begin_ns[0]) & (spans.start_ns < run.end_ns[-1]))
        several = len(inside) > MOST_SPANS
        if several:
            total = int((spans.end_ns[inside] - spans.start_ns[inside]).sum())
            title, text = messages.spans(kind, len(inside), total)
            yield Annotation(kind, title, text, evidence={"duration_ns": total, "spans": len(inside)})
        for index in inside[:MOST_OF_A_KIND].tolist():
            start, end = int(spans.start_ns[index]), int(spans.end_ns[index])
            place = min(int(np.searchsorted(run.end_ns, end)), len(run) - 1)
            if not several:
                title, text = messages.span(kind, end - start)
                step, evidence = _step(int(run.step[place])), {"duration_ns": end - start}
                yield Annotation(kind, title, text, start + base_ns, end + base_ns, step, evidence)
            yield from _burst(run, place, typical, end - start, disturbed, base_ns)


def _burst(
    run: Pace, place: int, typical: float, paused_ns: int, disturbed: Bools, base_ns: int
) -> Iterator[Annotation]:
    length = pauses.burst(run, place, typical, paused_ns)
    if not length:
        return
    last = place + length
    # The interval in which the queue runs empty is still partly too fast.
    disturbed[place + 1 : last + 2] = True
    steps = int(run.steps[place + 1 : last + 1].sum())
    took = int(run.end_ns[last] - run.end_ns[place])
    factor = typical * steps / max(took, 1)
    title, text = messages.burst(steps, factor)
    evidence = {"steps": steps, "duration_ns": took, "times_faster": factor}
    begin, end = int(run.end_ns[place]) + base_ns, int(run.end_ns[last]) + base_ns
    yield Annotation("burst", title, text, begin, end, _step(int(run.step[place + 1])), evidence)


def _stall(run: Pace, pause: pauses.Pause, typical: float, disturbed: Bools, base_ns: int) -> Annotation:
    begin, end = int(run.begin_ns[pause.index]) + base_ns, int(run.end_ns[pause.index]) + base_ns
    step = _step(int(run.step[pause.index]))
    evidence = {"extra_ns": pause.extra_ns, "ratio": pause.ratio}
    queued = next(_burst(run, pause.index, typical, pause.extra_ns, disturbed, base_ns), None)
    if queued is None:
        return Annotation("stall", *messages.stall(pause.extra_ns), begin, end, step, evidence)
    evidence |= {"burst_steps": queued.evidence["steps"], "times_faster": queued.evidence["times_faster"]}
    return Annotation(
        "burst", *messages.pause_and_burst(pause.extra_ns, evidence), begin, queued.end_ns, step, evidence
    )


def _aliasing(regular: Period, log_steps: int) -> Annotation:
    flat = regular.intervals * log_steps
    evidence = {
        "log_steps": log_steps,
        "flat_steps": flat,
        "amplitude": regular.amplitude,
        "explained": regular.explained,
        "shortest_ns": regular.shortest_ns,
        "longest_ns": regular.longest_ns,
    }
    return Annotation("aliasing", *messages.period(log_steps, flat, regular.amplitude), evidence=evidence)


def _step(step: int) -> int | None:
    return step if step >= 0 else None

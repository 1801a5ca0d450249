"""What disturbed the run: from its marks and spans, with the evidence and how to read the rates around it."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from stepscope.lenses.throughput import causes, messages, pauses
from stepscope.lenses.throughput.causes import Change, SlowSteps
from stepscope.lenses.throughput.diagnosis import Diagnosis
from stepscope.lenses.throughput.fluctuation import fluctuation
from stepscope.lenses.throughput.pace import Pace
from stepscope.lenses.throughput.pauses import CatchUp
from stepscope.lenses.throughput.rates import SamplePoints
from stepscope.lenses.throughput.result import Annotation
from stepscope.lenses.throughput.segments import span_intervals
from stepscope.model.arrays import I64, Bools
from stepscope.model.throughput import PAUSE_KINDS, UNKNOWN_NS, ResetKind, Throughput

MOST_OF_A_KIND = 20
MOST_SPANS = 5
DATA_WAIT_SHARE = 0.1
LATE = 1.5
BLOCK_LIKE = 50.0
"""A first interval so many times as long as others may be the wait for a first block."""
LIKE_SLOW = 1.5
NEAR_EVENT = 0.06
"""A change within this share of the run after an event is told as its consequence."""


def disturbances(record: Throughput, points: SamplePoints, diagnosis: Diagnosis, base_ns: int) -> list[Annotation]:
    """All annotations: those of the whole run first, then in order of time."""
    notes = [
        *_sampling(record),
        *_restarts(record, base_ns),
        *_clock_steps(record, base_ns),
        *_unknown_batches(record),
        *_data_wait(record, diagnosis.single),
    ]
    if len(diagnosis.single):
        notes.extend(_arrivals(record, points, diagnosis))
    if len(diagnosis.run):
        notes.extend(_spans(record, diagnosis, base_ns))
        notes.extend(_pauses(diagnosis, base_ns))
        notes.extend(_causes(record, diagnosis, base_ns))
    return sorted(notes, key=lambda note: (note.start_ns is not None, note.start_ns or 0))


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
    """Whether more steps lie before the first sample than between the others."""
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
        word = "resume" if kind == ResetKind.SESSION else "reset"
        yield Annotation(word, title, text, at, at, step, evidence)


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
        title, text = messages.data_wait(share, waited)
        yield Annotation("data_wait", title, text, evidence={"share": share, "waited_ns": waited})


def _arrivals(record: Throughput, points: SamplePoints, diagnosis: Diagnosis) -> Iterator[Annotation]:
    """Blocks, and intervals too few to say."""
    found = diagnosis.blocks
    if found is None:
        if diagnosis.unclear:
            yield Annotation("unclear", *messages.UNCLEAR, evidence={"intervals": len(diagnosis.single)})
        return
    log_steps = _log_steps(record, points, diagnosis.single)
    evidence = {
        "block_steps": found.steps,
        "least_block_steps": found.low,
        "most_block_steps": found.high,
        "blocks": len(found.ends),
        "gap_ns": found.gap_ns,
        "log_steps": log_steps,
        "flat_steps": found.steps,
    }
    if found.dispatched and log_steps % found.steps == 0 and (found.taken % found.steps == 0).all():
        yield Annotation("dispatch_bursts", *messages.dispatch_bursts(found), evidence=evidence)
    elif log_steps % found.steps == 0:
        yield Annotation("blocks", *messages.blocks(found), evidence=evidence)
    else:
        yield Annotation("aliasing", *messages.aliasing(found, log_steps), evidence=evidence)


def _log_steps(record: Throughput, points: SamplePoints, run: Pace) -> int:
    """Steps between two samples of the rate."""
    step = points.step
    if len(step) > 1 and int(step[-1]) >= 0:
        return max(round(float(np.median(np.diff(step)))), 1)
    marks = np.diff(points.mark_end)
    per_mark = run.stride
    return max(round(float(np.median(marks))) * per_mark, 1) if len(marks) else max(record.log_every, 1)


def _spans(record: Throughput, diagnosis: Diagnosis, base_ns: int) -> Iterator[Annotation]:
    run = diagnosis.single
    whole = int(run.end_ns[-1] - run.begin_ns[0])
    for kind in PAUSE_KINDS:
        spans = span_intervals(record, [kind])
        inside = np.flatnonzero((spans.end_ns > run.begin_ns[0]) & (spans.start_ns < run.end_ns[-1]))
        net_ns = sum(catch.net_ns - catch.paused_ns for catch in diagnosis.catch_ups if catch.kind == kind)
        if len(inside) > MOST_SPANS:
            total = int((spans.end_ns[inside] - spans.start_ns[inside]).sum())
            title, text = messages.spans(kind, len(inside), total, (total + net_ns) / max(whole, 1))
            yield Annotation(kind, title, text, evidence={"duration_ns": total, "spans": len(inside)})
            continue
        for index in inside.tolist():
            start, end = int(spans.start_ns[index]), int(spans.end_ns[index])
            place = min(int(np.searchsorted(run.end_ns, end)), len(run) - 1)
            saved_ns = sum(catch.saved_ns for catch in diagnosis.catch_ups if _covers(diagnosis.run, catch, kind, end))
            title, text = messages.span(kind, end - start, max(end - start - saved_ns, 0) / max(whole, 1))
            evidence = {"duration_ns": end - start, "net_ns": max(end - start - saved_ns, 0)}
            step = _step(int(run.step[place]))
            yield Annotation(kind, title, text, start + base_ns, end + base_ns, step, evidence)


def _covers(run: Pace, catch: CatchUp, kind: str, end_ns: int) -> bool:
    return catch.kind == kind and int(run.begin_ns[catch.index]) < end_ns <= int(run.end_ns[catch.index])


def _pauses(diagnosis: Diagnosis, base_ns: int) -> Iterator[Annotation]:
    """The first step, stalls, and the bursts after pauses."""
    run = diagnosis.run
    first = pauses.first_step(run, diagnosis.disturbed)
    whole = max(int(run.end_ns[-1] - run.begin_ns[0]), 1)
    if first is not None and not diagnosis.unclear and not _one_of_the_slow(run, diagnosis.slow):
        block = diagnosis.blocks is None and first.ratio > BLOCK_LIKE
        title, text = messages.first_step(int(run.steps[0]), first.extra_ns, first.extra_ns / whole, block=block)
        evidence = {"extra_ns": first.extra_ns, "ratio": first.ratio, "steps": int(run.steps[0])}
        begin, end = int(run.begin_ns[0]) + base_ns, int(run.end_ns[0]) + base_ns
        yield Annotation("first_step", title, text, begin, end, _step(int(run.step[0])), evidence)
    shown: dict[str, int] = {}
    for catch in diagnosis.catch_ups:
        shown[catch.kind] = shown.get(catch.kind, 0) + 1
        if shown[catch.kind] <= MOST_OF_A_KIND:
            yield _burst(diagnosis, catch, base_ns)
    caught = {catch.index for catch in diagnosis.catch_ups}
    for pause in diagnosis.stalls:
        if pause.index not in caught:
            yield _stall(run, pause, base_ns)


def _one_of_the_slow(run: Pace, slow: SlowSteps | None) -> bool:
    """Whether the first step is no slower than other slow steps."""
    return slow is not None and float(run.per_step_ns[0]) < LIKE_SLOW * slow.slow_ns


def _burst(diagnosis: Diagnosis, catch: CatchUp, base_ns: int) -> Annotation:
    run = diagnosis.run
    factor = diagnosis.typical_ns * catch.burst_steps / max(catch.burst_ns, 1)
    evidence = {
        "steps": catch.burst_steps,
        "duration_ns": catch.burst_ns,
        "times_faster": factor,
        "paused_ns": catch.paused_ns,
        "net_ns": catch.net_ns,
    }
    burst_begin = int(run.end_ns[catch.index]) + base_ns
    end = burst_begin + catch.burst_ns
    if catch.kind:
        step = _step(int(run.step[min(catch.index + 1, len(run) - 1)]))
        return Annotation("burst", *messages.burst(catch, factor), burst_begin, end, step, evidence)
    begin = int(run.begin_ns[catch.index]) + base_ns
    evidence |= {"extra_ns": catch.net_ns, "burst_steps": catch.burst_steps}
    step = _step(int(run.step[catch.index]))
    return Annotation("burst", *messages.pause_and_burst(catch), begin, end, step, evidence)


def _stall(run: Pace, pause: pauses.Pause, base_ns: int) -> Annotation:
    begin, end = int(run.begin_ns[pause.index]) + base_ns, int(run.end_ns[pause.index]) + base_ns
    evidence = {"extra_ns": pause.extra_ns, "ratio": pause.ratio}
    words = messages.stall(pause.extra_ns, pause.ratio)
    return Annotation("stall", *words, begin, end, _step(int(run.step[pause.index])), evidence)


def _causes(record: Throughput, diagnosis: Diagnosis, base_ns: int) -> Iterator[Annotation]:
    """Slow steps, changes of speed, and what varies without a pattern."""
    if diagnosis.unclear:
        return
    run = diagnosis.run
    if diagnosis.slow is not None:
        yield _slow_steps(diagnosis.slow)
    calm = _longest_without_reset(record, run, np.flatnonzero(~diagnosis.disturbed & ~run.first))
    found = causes.change(run.per_step_ns[calm], run.steps[calm])
    if found is not None:
        yield _change(record, run.only(_mask(calm, len(run))), found, base_ns)
    elif run.stride > 1 and diagnosis.blocks is None:
        share = fluctuation(run, _mask(calm, len(run)))
        if share is not None:
            yield Annotation("fluctuation", *messages.fluctuation(share), evidence={"deviation": share})


def _longest_without_reset(record: Throughput, run: Pace, calm: I64) -> I64:
    """The intervals between two resets that have the most of them: a reset tracker measures something new."""
    resets = record.resets.time_ns[record.resets.kind == ResetKind.RESET]
    if not len(resets) or not len(calm):
        return calm
    part = np.searchsorted(resets, run.begin_ns[calm], side="right")
    longest: I64 = calm[part == np.bincount(part).argmax()]
    return longest


def _mask(chosen: I64, size: int) -> Bools:
    mask = np.zeros(size, np.bool_)
    mask[chosen] = True
    return mask


def _slow_steps(found: SlowSteps) -> Annotation:
    evidence = {
        "share": found.share,
        "time_share": found.time_share,
        "every": found.every,
        "typical_ns": round(found.typical_ns),
        "slow_ns": round(found.slow_ns),
        "extra_ns": round(found.extra_ns),
    }
    return Annotation("slow_steps", *messages.slow_steps(found), evidence=evidence)


def _change(record: Throughput, calm: Pace, found: Change, base_ns: int) -> Annotation:
    low, high = found.low, min(found.high, len(calm)) - 1
    whole_end = found.high >= len(calm)
    low_step = _step(int(calm.step[low])) if low else None
    high_step = None if whole_end else _step(int(calm.step[high]))
    event = _event(record, calm, found) if found.kind == "plateau" else ""
    evidence = {
        "extra_ns": round(found.extra_ns),
        "before_ns": round(found.before_ns),
        "after_ns": round(found.after_ns),
        "event": event,
    }
    words = messages.change(found, low_step, high_step, event)
    begin, end = int(calm.begin_ns[low]) + base_ns, int(calm.end_ns[high]) + base_ns
    return Annotation(found.kind, *words, begin, end, _step(int(calm.step[low])), evidence)


def _event(record: Throughput, calm: Pace, found: Change) -> str:
    """The event that ended shortly before a plateau began, empty where none did."""
    begin_ns = int(calm.begin_ns[found.low])
    slack = NEAR_EVENT * (int(calm.end_ns[-1]) - int(calm.begin_ns[0]))
    nearest, word = slack, ""
    for kind in PAUSE_KINDS:
        ends = span_intervals(record, [kind]).end_ns
        if len(ends):
            away = float(np.abs(ends - begin_ns).min())
            if away < nearest:
                nearest, word = away, kind
    for kind, at in zip(record.resets.kind.tolist(), record.resets.time_ns.tolist(), strict=True):
        if kind == ResetKind.SESSION and abs(at - begin_ns) < nearest:
            nearest, word = abs(at - begin_ns), "resume"
    return word


def _step(step: int) -> int | None:
    return step if step >= 0 else None

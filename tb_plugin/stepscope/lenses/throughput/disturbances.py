"""What disturbed the run, by its marks and spans, with evidence and how to read the rates."""

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


def disturbances(
    record: Throughput,
    points: SamplePoints,
    diagnosis: Diagnosis,
    base_ns: int,
) -> list[Annotation]:
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
    if len(step) < 2:
        return False
    usual = max(float(np.median(np.diff(step))), 1.0)
    return int(step[0]) > LATE * usual


def _restarts(record: Throughput, base_ns: int) -> Iterator[Annotation]:
    resets = record.resets
    for index in range(min(len(resets), MOST_OF_A_KIND)):
        kind = ResetKind(resets.kind[index])
        title, text = messages.RESTARTS[kind]
        at = int(resets.time_ns[index]) + base_ns
        mark = int(resets.mark_end[index])
        step: int | None = None
        if mark < len(record.marks):
            step = int(record.marks.step[mark])
        word = "reset"
        if kind == ResetKind.SESSION:
            word = "resume"
        yield Annotation(
            word,
            title,
            text,
            start_ns=at,
            end_ns=at,
            step=step,
            evidence={"offset_ns": int(resets.offset_ns[index])},
        )


def _clock_steps(record: Throughput, base_ns: int) -> Iterator[Annotation]:
    time = record.marks.time_ns
    if np.array_equal(time, record.samples.time_ns) or not len(record.samples):
        order = time
        steps = record.marks.step
    else:
        # Samples fall between marks: a clock may go back and be seen by them only.
        order = np.insert(time, record.samples.mark_end, record.samples.time_ns)
        steps = np.insert(record.marks.step, record.samples.mark_end, record.samples.step)
    back = np.diff(order)
    for index in np.flatnonzero(back < 0)[:MOST_OF_A_KIND].tolist():
        at = int(order[index + 1]) + base_ns
        back_ns = int(-back[index])
        yield Annotation(
            "clock_step",
            *messages.clock_step(back_ns),
            start_ns=at,
            end_ns=at,
            step=_step(int(steps[index + 1])),
            evidence={"back_ns": back_ns},
        )


def _unknown_batches(record: Throughput) -> Iterator[Annotation]:
    unknown = int((record.marks.count < 0).sum())
    if unknown and not len(record.reported):
        words = messages.unknown_batches(unknown, len(record.marks))
        evidence = {"marks": unknown, "of": len(record.marks)}
        yield Annotation("unknown_batch", *words, evidence=evidence)


def _data_wait(record: Throughput, run: Pace) -> Iterator[Annotation]:
    if not len(run) or "data" not in list(record.strings):
        return
    begin_ns = int(run.begin_ns[0])
    end_ns = int(run.end_ns[-1])
    if end_ns <= begin_ns:
        return
    waited_ns = span_intervals(record, ["data"]).inside(begin_ns, end_ns)
    share = waited_ns / (end_ns - begin_ns)
    if share > DATA_WAIT_SHARE:
        words = messages.data_wait(share, waited_ns)
        evidence = {"share": share, "waited_ns": waited_ns}
        yield Annotation("data_wait", *words, evidence=evidence)


def _arrivals(
    record: Throughput,
    points: SamplePoints,
    diagnosis: Diagnosis,
) -> Iterator[Annotation]:
    """Blocks, and intervals too few to say."""
    if diagnosis.unclear:
        evidence = {"intervals": len(diagnosis.single)}
        yield Annotation("unclear", *messages.UNCLEAR, evidence=evidence)
    found = diagnosis.blocks
    if found is None:
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
    if log_steps % found.steps != 0:
        yield Annotation("aliasing", *messages.aliasing(found, log_steps), evidence=evidence)
    elif found.dispatched and (found.taken % found.steps == 0).all():
        yield Annotation("dispatch_bursts", *messages.dispatch_bursts(found), evidence=evidence)
    else:
        yield Annotation("blocks", *messages.blocks(found), evidence=evidence)


def _log_steps(record: Throughput, points: SamplePoints, run: Pace) -> int:
    """Steps between two samples of the rate."""
    step = points.step
    if len(step) > 1 and int(step[-1]) >= 0:
        return max(round(float(np.median(np.diff(step)))), 1)
    marks = np.diff(points.mark_end)
    if not len(marks):
        return max(record.log_every, 1)
    return max(round(float(np.median(marks))) * run.stride, 1)


def _spans(record: Throughput, diagnosis: Diagnosis, base_ns: int) -> Iterator[Annotation]:
    """Known pauses: each of a few, or all of many together."""
    run = diagnosis.single
    whole_ns = max(int(run.end_ns[-1] - run.begin_ns[0]), 1)
    for kind in PAUSE_KINDS:
        spans = span_intervals(record, [kind])
        inside = (spans.end_ns > run.begin_ns[0]) & (spans.start_ns < run.end_ns[-1])
        start_ns = spans.start_ns[inside]
        end_ns = spans.end_ns[inside]
        if len(start_ns) > MOST_SPANS:
            total_ns = int((end_ns - start_ns).sum())
            lost_ns = total_ns - _caught_up_ns(diagnosis, kind)
            words = messages.spans(kind, len(start_ns), total_ns, lost_ns / whole_ns)
            evidence = {"duration_ns": total_ns, "spans": len(start_ns)}
            yield Annotation(kind, *words, evidence=evidence)
            continue
        for start, end in zip(start_ns.tolist(), end_ns.tolist(), strict=True):
            duration_ns = end - start
            lost_ns = max(duration_ns - _saved_ns(diagnosis, kind, end), 0)
            place = min(int(np.searchsorted(run.end_ns, end)), len(run) - 1)
            yield Annotation(
                kind,
                *messages.span(kind, duration_ns, lost_ns / whole_ns),
                start_ns=start + base_ns,
                end_ns=end + base_ns,
                step=_step(int(run.step[place])),
                evidence={"duration_ns": duration_ns, "net_ns": lost_ns},
            )


def _caught_up_ns(diagnosis: Diagnosis, kind: str) -> int:
    """How much of all pauses of a kind was caught up."""
    catch_ups = [catch for catch in diagnosis.catch_ups if catch.kind == kind]
    return sum(catch.paused_ns - catch.net_ns for catch in catch_ups)


def _saved_ns(diagnosis: Diagnosis, kind: str, end_ns: int) -> int:
    """How much of the pause that ends here was caught up."""
    saved_ns = 0
    for catch in diagnosis.catch_ups:
        if _covers(diagnosis.run, catch, kind, end_ns):
            saved_ns += catch.saved_ns
    return saved_ns


def _covers(run: Pace, catch: CatchUp, kind: str, end_ns: int) -> bool:
    """Whether a catch-up follows the pause of this kind that ends here."""
    if catch.kind != kind:
        return False
    return int(run.begin_ns[catch.index]) < end_ns <= int(run.end_ns[catch.index])


def _pauses(diagnosis: Diagnosis, base_ns: int) -> Iterator[Annotation]:
    """The first step, stalls, and the bursts after pauses."""
    run = diagnosis.run
    first = pauses.first_step(run, diagnosis.disturbed)
    if first is not None and not diagnosis.unclear and not _one_of_the_slow(run, diagnosis.slow):
        yield _first_step(diagnosis, first, base_ns)
    shown: dict[str, int] = {}
    for catch in diagnosis.catch_ups:
        shown[catch.kind] = shown.get(catch.kind, 0) + 1
        if shown[catch.kind] <= MOST_OF_A_KIND:
            yield _burst(diagnosis, catch, base_ns)
    caught = {catch.index for catch in diagnosis.catch_ups}
    for pause in diagnosis.stalls:
        if pause.index not in caught:
            yield _stall(run, pause, base_ns)


def _first_step(diagnosis: Diagnosis, first: pauses.Pause, base_ns: int) -> Annotation:
    run = diagnosis.run
    whole_ns = max(int(run.end_ns[-1] - run.begin_ns[0]), 1)
    steps = int(run.steps[0])
    words = messages.first_step(
        steps,
        first.extra_ns,
        first.extra_ns / whole_ns,
        block=diagnosis.blocks is None and first.ratio > BLOCK_LIKE,
    )
    return Annotation(
        "first_step",
        *words,
        start_ns=int(run.begin_ns[0]) + base_ns,
        end_ns=int(run.end_ns[0]) + base_ns,
        step=_step(int(run.step[0])),
        evidence={"extra_ns": first.extra_ns, "ratio": first.ratio, "steps": steps},
    )


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
    burst_begin_ns = int(run.end_ns[catch.index]) + base_ns
    end_ns = burst_begin_ns + catch.burst_ns
    if catch.kind:
        # The span before it has an annotation of its own: this one is of the burst alone.
        return Annotation(
            "burst",
            *messages.burst(catch, factor),
            start_ns=burst_begin_ns,
            end_ns=end_ns,
            step=_step(int(run.step[min(catch.index + 1, len(run) - 1)])),
            evidence=evidence,
        )
    return Annotation(
        "burst",
        *messages.pause_and_burst(catch),
        start_ns=int(run.begin_ns[catch.index]) + base_ns,
        end_ns=end_ns,
        step=_step(int(run.step[catch.index])),
        evidence=evidence | {"extra_ns": catch.net_ns, "burst_steps": catch.burst_steps},
    )


def _stall(run: Pace, pause: pauses.Pause, base_ns: int) -> Annotation:
    return Annotation(
        "stall",
        *messages.stall(pause.extra_ns, pause.ratio),
        start_ns=int(run.begin_ns[pause.index]) + base_ns,
        end_ns=int(run.end_ns[pause.index]) + base_ns,
        step=_step(int(run.step[pause.index])),
        evidence={"extra_ns": pause.extra_ns, "ratio": pause.ratio},
    )


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
            words = messages.fluctuation(share)
            yield Annotation("fluctuation", *words, evidence={"deviation": share})


def _longest_without_reset(record: Throughput, run: Pace, calm: I64) -> I64:
    """The longest run of intervals between two resets: a reset tracker measures something new."""
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
    low = found.low
    high = min(found.high, len(calm)) - 1
    # Steps are named where the change begins or ends within the run.
    low_step: int | None = None
    if low:
        low_step = _step(int(calm.step[low]))
    high_step: int | None = None
    if found.high < len(calm):
        high_step = _step(int(calm.step[high]))
    event = ""
    if found.kind == "plateau":
        event = _event(record, calm, found)
    return Annotation(
        found.kind,
        *messages.change(found, low_step, high_step, event),
        start_ns=int(calm.begin_ns[low]) + base_ns,
        end_ns=int(calm.end_ns[high]) + base_ns,
        step=_step(int(calm.step[low])),
        evidence={
            "extra_ns": round(found.extra_ns),
            "before_ns": round(found.before_ns),
            "after_ns": round(found.after_ns),
            "event": event,
        },
    )


def _event(record: Throughput, calm: Pace, found: Change) -> str:
    """The event that ended shortly before a plateau began, empty where none did."""
    begin_ns = int(calm.begin_ns[found.low])
    nearest_ns = NEAR_EVENT * (int(calm.end_ns[-1]) - int(calm.begin_ns[0]))
    events = {kind: span_intervals(record, [kind]).end_ns for kind in PAUSE_KINDS}
    events["resume"] = record.resets.time_ns[record.resets.kind == ResetKind.SESSION]
    word = ""
    for event, time_ns in events.items():
        if not len(time_ns):
            continue
        away_ns = float(np.abs(time_ns - begin_ns).min())
        if away_ns < nearest_ns:
            nearest_ns = away_ns
            word = event
    return word


def _step(step: int) -> int | None:
    if step < 0:
        return None
    return step

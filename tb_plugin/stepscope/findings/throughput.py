"""Rules over throughput: what keeps a run from training, and what to know to read its rates."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from stepscope.findings.finding import Certainty, Evidence, Finding
from stepscope.findings.format_time import NS_PER_US
from stepscope.findings.rules import LensResult, Rule
from stepscope.lenses.throughput import ThroughputResult
from stepscope.lenses.throughput.result import Annotation, Series
from stepscope.model.throughput import Throughput

LEAST_SHARE = 0.02
LEAST_STEPS = 100
TOLD_KINDS = ("slow_steps", "drift", "plateau", "warm_up")
"""Annotations whose titles say more than a duration."""


@dataclass(frozen=True)
class _Cause:
    """Something that takes time from training, by the word of its spans or annotations."""

    title: str
    help: str
    advice: str
    certainty: Certainty = "measured"


_SPANS = {
    "data": _Cause(
        "Waiting for input takes",
        "Time in which the loop waits for data",
        "Prefetch more, load with more workers, or move preprocessing ahead",
    ),
    "checkpoint": _Cause(
        "Checkpoints take", "Time in which checkpoints are written", "Save less often, or in the background"
    ),
    "evaluation": _Cause(
        "Evaluation takes",
        "Time of evaluation between training steps",
        "Evaluate less often, on less data, or in a job of its own",
    ),
    "compile": _Cause(
        "Compiling takes", "Time in which programs are compiled", "Keep shapes fixed and the compilation cache on"
    ),
    "pause": _Cause("Pauses take", "Unexplained pauses", "See what the run does there"),
}
_EXTRAS = {
    "first_step": _Cause(
        "The first step takes",
        "Extra time of the first step (compilation and warm-up)",
        "Compilation and warm-up: cache compiled programs between runs",
        "derived",
    ),
    "warm_up": _Cause(
        "Warm-up takes",
        "Extra time of the first part of a run, before its speed is steady",
        "Warm caches, the allocator and the input pipeline up before training, or fix shapes so that less is compiled",
        "derived",
    ),
    "stall": _Cause(
        "Stalls take",
        "Steps of no known cause that take many times as long as others",
        "Log spans around input, checkpoints and evaluation to see what they are",
        "derived",
    ),
    "burst": _Cause(
        "Pauses without a span take",
        "Pauses of the host without a span, less what queued results catch up after them",
        "Log a span around what the host does there: checkpoints and evaluation are the usual causes",
        "derived",
    ),
    "slow_steps": _Cause(
        "Slow steps take",
        "Steps that are slow every n-th time or at random: what they take more than the others",
        "Time the loader with timed_batches. Every n-th step: more loader workers, or fewer hooks every n steps",
        "derived",
    ),
    "drift": _Cause(
        "Slowing down takes",
        "A time per step that drifts over the run: what it costs against the better speed",
        "Look for inputs, logs, caches or memory that grow with the run",
        "derived",
    ),
    "plateau": _Cause(
        "A slower part takes",
        "Steps that are slower from one step on: what this costs against the speed before",
        "See what changed at that step: input, shapes, another job on the host or network, clocks of the device",
        "derived",
    ),
}
_READINGS = {
    "aliasing": "Blocks of results that do not fit into log intervals, so that Rate swings at a constant speed",
    "dispatch_bursts": "Steps that are counted when they are dispatched, so that single steps show no device time",
    "unclear": "Log intervals that differ, too few to say why",
    "per_batch": "Rate sampled every batch: too noisy to compare",
    "clock_step": "A clock that went back, which distorts both rates",
    "unknown_batch": "Batches of unknown size, which make the rates too low",
}
"""Annotations about how to read the rates; nothing is lost to them."""


def whole_ns(series: Series) -> int:
    """The time of a series from its start to its last mark, without what lies between a run and its resumption."""
    training = series.statistics.get("training_only", {})
    return int(training.get("duration_ns") or 0) + sum(_left_out(series).values())


def _left_out(series: Series) -> dict[str, int]:
    """The time of each kind of span."""
    left_out: dict[str, int] = series.statistics.get("training_only", {}).get("left_out_ns", {})
    return left_out


def span_share(series: Series, kind: str) -> float:
    """The share of a series' time that spans of a kind take."""
    whole = whole_ns(series)
    return _left_out(series).get(kind, 0) / whole if whole else 0.0


def shown(subject: LensResult[Any], series: Series, at: Annotation | None = None) -> Evidence:
    """The series in the chart, from a second before to a second after an annotation where it has a time."""
    state = {"key": series.name}
    if at is not None and at.start_ns is not None and at.end_ns is not None and series.clock == "unix":
        low, high = at.start_ns / 1e9 - 1, at.end_ns / 1e9 + 1
        state |= {"x": "wall", "zoom": f"{low:.3f}..{high:.3f}"}
    return subject.evidence(series.name, **state)


def _lost(subject: LensResult[Any], series: Series, kind: str, cause: _Cause, lost_ns: int) -> Iterator[Finding]:
    whole = whole_ns(series)
    if not whole or lost_ns / whole < LEAST_SHARE:
        return
    share = min(lost_ns / whole, 1.0)
    note = _longest(series, kind)
    yield Finding(
        rule=_name(kind),
        title=f"{cause.title} {share:.1%} of {series.name}{_which(note)}",
        cost_share=share,
        cost=lost_ns / NS_PER_US,
        unit="us",
        evidence=(shown(subject, series, note),),
        advice=cause.advice,
        certainty=cause.certainty,
    )


def _longest(series: Series, kind: str) -> Annotation | None:
    """The longest annotation of a kind that has a time, else the first one."""
    notes = [note for note in series.annotations if note.kind == kind]
    timed = [note for note in notes if note.start_ns is not None]
    if timed:
        return max(timed, key=lambda note: (note.end_ns or 0) - (note.start_ns or 0))
    return notes[0] if notes else None


def _which(note: Annotation | None) -> str:
    """What the annotation says of the cause in its title, where that is more than a duration."""
    if note is None or note.kind not in TOLD_KINDS or not note.title:
        return ""
    return f": {note.title[0].lower()}{note.title[1:]}"


def _name(kind: str) -> str:
    word = {"data": "data-wait", "burst": "unnamed-pause"}.get(kind, kind)
    return "lost-to-" + word.replace("_", "-")


def _span_rule(kind: str, cause: _Cause) -> Rule[ThroughputResult]:
    def check(subject: LensResult[ThroughputResult]) -> Iterator[Finding]:
        for series in subject.result.series:
            yield from _lost(subject, series, kind, cause, _left_out(series).get(kind, 0))

    return Rule(_name(kind), "throughput", cause.help, check, cause.certainty)


def _extra_rule(kind: str, cause: _Cause) -> Rule[ThroughputResult]:
    def check(subject: LensResult[ThroughputResult]) -> Iterator[Finding]:
        for series in subject.result.series:
            extra_ns = 0
            for note in series.annotations:
                # A burst after a span is part of the span's cost and has no extra of its own.
                if note.kind == kind:
                    extra_ns += int(note.evidence.get("extra_ns", 0))
            yield from _lost(subject, series, kind, cause, extra_ns)

    return Rule(_name(kind), "throughput", cause.help, check, cause.certainty)


def _reading_rule(kind: str, text: str) -> Rule[ThroughputResult]:
    name = f"reading-{kind.replace('_', '-')}"

    def check(subject: LensResult[ThroughputResult]) -> Iterator[Finding]:
        for series in subject.result.series:
            note = next((note for note in series.annotations if note.kind == kind), None)
            if note is not None:
                title = f"{series.name}: {note.title[0].lower()}{note.title[1:]}"
                yield _hint(subject, series, name, title, note.text, note)

    return Rule(name, "throughput", text, check, "hint")


def _hint(
    subject: LensResult[Any],
    series: Series,
    rule: str,
    title: str,
    advice: str,
    note: Annotation | None = None,
) -> Finding:
    return Finding(
        rule=rule,
        title=title,
        cost_share=None,
        cost=None,
        unit="us",
        evidence=(shown(subject, series, note),),
        advice=advice,
        certainty="hint",
    )


def _untimed_input(subject: LensResult[ThroughputResult]) -> Iterator[Finding]:
    """Series of a training loop whose waits for input are not logged: a slow loader makes every step slow alike."""
    for series in subject.result.series:
        figures = series.statistics
        logged = series.measured_at == Throughput.measured_at and figures.get("step_time")
        if logged and figures.get("data_wait_share") is None and _long(series):
            yield _hint(
                subject,
                series,
                "reading-untimed-input",
                f"{series.name}: waiting for input is not measured",
                "Wrap the loader: for batch in timed_batches(loader, rate). A slow loader makes all steps slow alike",
            )


def _long(series: Series) -> bool:
    return int(series.statistics["step_time"]["count"]) >= LEAST_STEPS


RULES: tuple[Rule[ThroughputResult], ...] = (
    *(_span_rule(kind, cause) for kind, cause in _SPANS.items()),
    *(_extra_rule(kind, cause) for kind, cause in _EXTRAS.items()),
    *(_reading_rule(kind, text) for kind, text in _READINGS.items()),
    Rule(
        "reading-untimed-input",
        "throughput",
        "A loop whose waits for input are not logged, so that a slow loader cannot be told from slow steps",
        _untimed_input,
        "hint",
    ),
)

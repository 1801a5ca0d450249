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

LEAST_SHARE = 0.02


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
    "pause": _Cause("Pauses take", "Pauses whose cause the source does not state", "See what the run does there"),
}
_EXTRAS = {
    "first_step": _Cause(
        "The first step takes",
        "What the first step takes more than others: compilation and warm-up",
        "Compilation and warm-up: cache compiled programs between runs",
        "derived",
    ),
    "stall": _Cause(
        "Stalls take",
        "Steps of no known cause that take many times as long as others",
        "Log spans around input, checkpoints and evaluation to see what they are",
        "derived",
    ),
}
_READINGS = {
    "aliasing": "Blocks of results that do not fit into log intervals, so that Rate swings at a constant speed",
    "period": "Log intervals that alternate in length, as when blocks of results do not fit into them",
    "per_batch": "Rate that is asked for after every batch, so that it follows single batches",
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
    longest = max(
        (note for note in series.annotations if note.kind == kind and note.start_ns is not None),
        key=lambda note: (note.end_ns or 0) - (note.start_ns or 0),
        default=None,
    )
    yield Finding(
        _name(kind),
        f"{cause.title} {share:.1%} of {series.name}",
        share,
        lost_ns / NS_PER_US,
        "us",
        (shown(subject, series, longest),),
        cause.advice,
        cause.certainty,
    )


def _name(kind: str) -> str:
    return "lost-to-" + {"data": "data-wait"}.get(kind, kind).replace("_", "-")


def _span_rule(kind: str, cause: _Cause) -> Rule[ThroughputResult]:
    def check(subject: LensResult[ThroughputResult]) -> Iterator[Finding]:
        for series in subject.result.series:
            yield from _lost(subject, series, kind, cause, _left_out(series).get(kind, 0))

    return Rule(_name(kind), "throughput", cause.help, check, cause.certainty)


def _extra_rule(kind: str, cause: _Cause) -> Rule[ThroughputResult]:
    def check(subject: LensResult[ThroughputResult]) -> Iterator[Finding]:
        for series in subject.result.series:
            extra = sum(int(note.evidence["extra_ns"]) for note in series.annotations if note.kind == kind)
            yield from _lost(subject, series, kind, cause, extra)

    return Rule(_name(kind), "throughput", cause.help, check, cause.certainty)


def _reading_rule(kind: str, text: str) -> Rule[ThroughputResult]:
    name = f"reading-{kind.replace('_', '-')}"

    def check(subject: LensResult[ThroughputResult]) -> Iterator[Finding]:
        for series in subject.result.series:
            note = next((note for note in series.annotations if note.kind == kind), None)
            if note is not None:
                title = f"{series.name}: {note.title[0].lower()}{note.title[1:]}"
                yield Finding(name, title, None, None, "us", (shown(subject, series, note),), note.text, "hint")

    return Rule(name, "throughput", text, check, "hint")


RULES: tuple[Rule[ThroughputResult], ...] = (
    *(_span_rule(kind, cause) for kind, cause in _SPANS.items()),
    *(_extra_rule(kind, cause) for kind, cause in _EXTRAS.items()),
    *(_reading_rule(kind, text) for kind, text in _READINGS.items()),
)

"""Rules over throughput: what keeps a run from training."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from stepscope.findings.finding import Certainty, Finding
from stepscope.findings.rules import Rule, Subject
from stepscope.lenses.throughput import ThroughputResult
from stepscope.lenses.throughput.result import Annotation, Series

NS_PER_US = 1000
_LEAST_SHARE = 0.02


@dataclass(frozen=True)
class _Cause:
    """Something that takes time from training: the figure of its annotations that says how much."""

    figure: str
    title: str
    advice: str
    certainty: Certainty = "measured"


_CAUSES = {
    "data_wait": _Cause(
        "waited_ns", "Waiting for input takes", "Prefetch more, load with more workers, or move preprocessing ahead"
    ),
    "checkpoint": _Cause("duration_ns", "Checkpoints take", "Save less often, or in the background"),
    "evaluation": _Cause(
        "duration_ns", "Evaluation takes", "Evaluate less often, on less data, or in a job of its own"
    ),
    "compile": _Cause("duration_ns", "Compiling takes", "Keep shapes fixed and the compilation cache on"),
    "pause": _Cause("duration_ns", "Pauses take", "See what the run does there"),
    "first_step": _Cause(
        "extra_ns", "The first step takes", "Compilation and warm-up: cache compiled programs between runs", "derived"
    ),
    "stall": _Cause(
        "extra_ns", "Stalls take", "Log spans around input, checkpoints and evaluation to see what they are", "derived"
    ),
}


def _rule(kind: str, cause: _Cause) -> Rule[ThroughputResult]:
    def check(subject: Subject[ThroughputResult]) -> Iterator[Finding]:
        for series in subject.result.series:
            found = [note for note in series.annotations if note.kind == kind and cause.figure in note.evidence]
            if found:
                yield from _finding(subject, series, kind, cause, found)

    return Rule(f"lost-to-{kind.replace('_', '-')}", "throughput", f"Time of the run: {cause.title.lower()} it", check)


def _finding(
    subject: Subject[ThroughputResult], series: Series, kind: str, cause: _Cause, found: list[Annotation]
) -> Iterator[Finding]:
    whole = int(series.time_ns[-1] - series.time_ns[0]) if len(series.time_ns) > 1 else 0
    lost = sum(int(note.evidence[cause.figure]) for note in found)
    share = min(lost / whole, 1.0) if whole > 0 else None
    if share is None or share < _LEAST_SHARE:
        return
    yield Finding(
        f"lost-to-{kind.replace('_', '-')}",
        f"{cause.title} {share:.1%} of {series.name}",
        share,
        lost / NS_PER_US,
        "us",
        (subject.evidence(series.name),),
        cause.advice,
        cause.certainty,
    )


RULES: tuple[Rule[ThroughputResult], ...] = tuple(_rule(kind, cause) for kind, cause in _CAUSES.items())

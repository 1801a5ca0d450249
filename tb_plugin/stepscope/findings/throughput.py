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

NS_PER_SECOND = 1_000_000_000
LEAST_SHARE = 0.02
LEAST_STEPS = 100
TOLD_KINDS = ("slow_steps", "drift", "plateau", "warm_up")
"""Annotations whose titles say more than a duration."""
UNTIMED_ADVICE = "Wrap the loader: for batch in timed_batches(loader, rate). A slow loader makes all steps slow alike"


@dataclass(frozen=True)
class _Cause:
    """Something that takes time from training, by the word of its spans or annotations.

    Attributes:
        title: The start of a finding's title; the share of the run follows.
        help: What the rule looks for.
        advice: What to do.
        changes: Concrete changes.
        certainty: How sure the finding is.
    """

    title: str
    help: str
    advice: str
    changes: tuple[str, ...]
    certainty: Certainty = "measured"


_SPANS = {
    "data": _Cause(
        title="Waiting for input takes",
        help="Time in which the loop waits for data",
        advice="Prefetch more, load with more workers, or move preprocessing ahead",
        changes=(
            "DataLoader with more workers, persistent_workers=True and a larger prefetch_factor",
            "Move decoding and augmentation to a preparing job or to the device",
        ),
    ),
    "checkpoint": _Cause(
        title="Checkpoints take",
        help="Time in which checkpoints are written",
        advice="Save less often, or in the background",
        changes=(
            "Save every n-th time only",
            "torch.distributed.checkpoint.async_save, or orbax's AsyncCheckpointer",
        ),
    ),
    "evaluation": _Cause(
        title="Evaluation takes",
        help="Time of evaluation between training steps",
        advice="Evaluate less often, on less data, or in a job of its own",
        changes=(
            "Evaluate every n-th time only, or on a part of the validation set",
            "Evaluate checkpoints in a separate job",
        ),
    ),
    "compile": _Cause(
        title="Compiling takes",
        help="Time in which programs are compiled",
        advice="Keep shapes fixed and the compilation cache on",
        changes=(
            "Pad or bucket inputs to a few fixed shapes",
            "Keep the cache between runs: TORCHINDUCTOR_CACHE_DIR, or JAX_COMPILATION_CACHE_DIR",
        ),
    ),
    "pause": _Cause(
        title="Pauses take",
        help="Unexplained pauses",
        advice="See what the run does there",
        changes=("Log a span around what the host does there",),
    ),
}
_EXTRAS = {
    "first_step": _Cause(
        title="The first step takes",
        help="Extra time of the first step (compilation and warm-up)",
        advice="Compilation and warm-up: cache compiled programs between runs",
        changes=(
            "Keep the cache between runs: TORCHINDUCTOR_CACHE_DIR, or JAX_COMPILATION_CACHE_DIR",
        ),
        certainty="derived",
    ),
    "warm_up": _Cause(
        title="Warm-up takes",
        help="Extra time of the first part of a run, before its speed is steady",
        advice="Warm caches, the allocator and the input pipeline up before training, "
        "or fix shapes so that less is compiled",
        changes=(
            "Pad or bucket inputs to a few fixed shapes",
            "Keep the cache between runs: TORCHINDUCTOR_CACHE_DIR, or JAX_COMPILATION_CACHE_DIR",
        ),
        certainty="derived",
    ),
    "stall": _Cause(
        title="Stalls take",
        help="Steps of no known cause that take many times as long as others",
        advice="Log spans around input, checkpoints and evaluation to see what they are",
        changes=(
            "Wrap the loader: for batch in timed_batches(loader, rate)",
            "Save within: with rate.span('checkpoint')",
            "Evaluate within: with rate.span('evaluation')",
        ),
        certainty="derived",
    ),
    "burst": _Cause(
        title="Pauses without a span take",
        help="Pauses of the host without a span, less what queued results catch up after them",
        advice="Log a span around what the host does there: checkpoints and evaluation are the usual causes",
        changes=(
            "Save within: with rate.span('checkpoint')",
            "Evaluate within: with rate.span('evaluation')",
        ),
        certainty="derived",
    ),
    "slow_steps": _Cause(
        title="Slow steps take",
        help="Steps that are slow every n-th time or at random: what they take more than the others",
        advice="Time the loader with timed_batches. Every n-th step: more loader workers, or fewer hooks every n steps",
        changes=(
            "Wrap the loader: for batch in timed_batches(loader, rate)",
            "DataLoader with more workers and a larger prefetch_factor",
        ),
        certainty="derived",
    ),
    "drift": _Cause(
        title="Slowing down takes",
        help="A time per step that drifts over the run: what it costs against the better speed",
        advice="Look for inputs, logs, caches or memory that grow with the run",
        changes=(
            "Keep no tensors with gradients across steps: total_loss += loss.detach()",
            "Compare profiles of an early and a late step",
        ),
        certainty="derived",
    ),
    "plateau": _Cause(
        title="A slower part takes",
        help="Steps that are slower from one step on: what this costs against the speed before",
        advice="See what changed at that step: input, shapes, another job on the host or network, clocks of the device",
        changes=("Compare profiles of a step before and a step after the change",),
        certainty="derived",
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
    """The time of a series from its start to its last mark, without gaps before a resumption."""
    training = series.statistics.get("training_only", {})
    return int(training.get("duration_ns") or 0) + sum(_left_out(series).values())


def _left_out(series: Series) -> dict[str, int]:
    """The time of each kind of span."""
    training = series.statistics.get("training_only", {})
    left_out: dict[str, int] = training.get("left_out_ns", {})
    return left_out


def span_share(series: Series, kind: str) -> float:
    """The share of a series' time that spans of a kind take."""
    whole = whole_ns(series)
    if not whole:
        return 0.0
    return _left_out(series).get(kind, 0) / whole


def shown(subject: LensResult[Any], series: Series, at: Annotation | None = None) -> Evidence:
    """The series in the chart, with a second around the annotation where that has a time."""
    state = {"key": series.name}
    if at is None or at.start_ns is None or at.end_ns is None:
        return subject.evidence(series.name, **state)
    if series.clock == "unix":
        low = at.start_ns / NS_PER_SECOND - 1
        high = at.end_ns / NS_PER_SECOND + 1
        state |= {"x": "wall", "zoom": f"{low:.3f}..{high:.3f}"}
    return subject.evidence(series.name, **state)


def _lost(
    subject: LensResult[Any],
    series: Series,
    kind: str,
    cause: _Cause,
    lost_ns: int,
) -> Iterator[Finding]:
    """The finding of a cause, where it takes enough of the run.

    Without the cause the run is shorter by all of its time, so the cost is the most that is saved.
    """
    whole = whole_ns(series)
    if not whole or lost_ns / whole < LEAST_SHARE:
        return
    share = min(lost_ns / whole, 1.0)
    note = _longest(series, kind)
    yield Finding(
        rule=_name(kind),
        title=f"{cause.title} {share:.1%} of {series.name}{_described(note)}",
        cost_share=share,
        cost=lost_ns / NS_PER_US,
        unit="us",
        evidence=(shown(subject, series, note),),
        advice=cause.advice,
        certainty=cause.certainty,
        saving=min(lost_ns, whole) / NS_PER_US,
        saving_share=share,
        whole=whole / NS_PER_US,
        changes=cause.changes,
    )


def _longest(series: Series, kind: str) -> Annotation | None:
    """The longest annotation of a kind that has a time, else the first one."""
    notes = [note for note in series.annotations if note.kind == kind]
    timed = [note for note in notes if note.start_ns is not None]
    if timed:
        return max(timed, key=_duration_ns)
    return next(iter(notes), None)


def _duration_ns(note: Annotation) -> int:
    return (note.end_ns or 0) - (note.start_ns or 0)


def _described(note: Annotation | None) -> str:
    """What the annotation says of the cause in its title, where that is more than a duration."""
    if note is None or note.kind not in TOLD_KINDS or not note.title:
        return ""
    return f": {_lower_first(note.title)}"


def _lower_first(text: str) -> str:
    return text[:1].lower() + text[1:]


def _name(kind: str) -> str:
    word = {"data": "data-wait", "burst": "unnamed-pause"}.get(kind, kind)
    return "lost-to-" + word.replace("_", "-")


def _span_rule(kind: str, cause: _Cause) -> Rule[ThroughputResult]:
    def check(subject: LensResult[ThroughputResult]) -> Iterator[Finding]:
        for series in subject.result.series:
            yield from _lost(subject, series, kind, cause, lost_ns=_left_out(series).get(kind, 0))

    return Rule(
        name=_name(kind),
        lens="throughput",
        help=cause.help,
        check=check,
        certainty=cause.certainty,
    )


def _extra_rule(kind: str, cause: _Cause) -> Rule[ThroughputResult]:
    def check(subject: LensResult[ThroughputResult]) -> Iterator[Finding]:
        for series in subject.result.series:
            extra_ns = 0
            for note in series.annotations:
                # A burst after a span is part of the span's cost and has no extra of its own.
                if note.kind == kind:
                    extra_ns += int(note.evidence.get("extra_ns", 0))
            yield from _lost(subject, series, kind, cause, lost_ns=extra_ns)

    return Rule(
        name=_name(kind),
        lens="throughput",
        help=cause.help,
        check=check,
        certainty=cause.certainty,
    )


def _reading_rule(kind: str, text: str) -> Rule[ThroughputResult]:
    name = f"reading-{kind.replace('_', '-')}"

    def check(subject: LensResult[ThroughputResult]) -> Iterator[Finding]:
        for series in subject.result.series:
            note = next((note for note in series.annotations if note.kind == kind), None)
            if note is None:
                continue
            yield _hint(
                subject,
                series,
                rule=name,
                title=f"{series.name}: {_lower_first(note.title)}",
                advice=note.text,
                note=note,
            )

    return Rule(name=name, lens="throughput", help=text, check=check, certainty="hint")


def _hint(
    subject: LensResult[Any],
    series: Series,
    *,
    rule: str,
    title: str,
    advice: str,
    note: Annotation | None = None,
    changes: tuple[str, ...] = (),
) -> Finding:
    """A finding about how to read the rates. It costs no time, so cost and saving are null."""
    return Finding(
        rule=rule,
        title=title,
        cost_share=None,
        cost=None,
        unit="us",
        evidence=(shown(subject, series, note),),
        advice=advice,
        certainty="hint",
        changes=changes,
    )


def _untimed_input(subject: LensResult[ThroughputResult]) -> Iterator[Finding]:
    """Series of a training loop whose waits for input are not logged."""
    for series in subject.result.series:
        if not _is_long_loop(series) or series.statistics.get("data_wait_share") is not None:
            continue
        yield _hint(
            subject,
            series,
            rule="reading-untimed-input",
            title=f"{series.name}: waiting for input is not measured",
            advice=UNTIMED_ADVICE,
            changes=("for batch in timed_batches(loader, rate)",),
        )


def _is_long_loop(series: Series) -> bool:
    """Whether a series was logged in the training loop itself, over enough steps to tell."""
    step_time = series.statistics.get("step_time")
    if series.measured_at != Throughput.measured_at or not step_time:
        return False
    return int(step_time["count"]) >= LEAST_STEPS


RULES: tuple[Rule[ThroughputResult], ...] = (
    *(_span_rule(kind, cause) for kind, cause in _SPANS.items()),
    *(_extra_rule(kind, cause) for kind, cause in _EXTRAS.items()),
    *(_reading_rule(kind, text) for kind, text in _READINGS.items()),
    Rule(
        name="reading-untimed-input",
        lens="throughput",
        help="A loop whose waits for input are not logged, so that a slow loader cannot be told from slow steps",
        check=_untimed_input,
        certainty="hint",
    ),
)

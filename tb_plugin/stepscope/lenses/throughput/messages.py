"""The plain sentences beside each disturbance: a title, and how to read the rates."""

from __future__ import annotations

from typing import Any

from stepscope.model.throughput import ResetKind

Words = tuple[str, str]

PER_BATCH: Words = (
    "Rate was asked for after every batch",
    "Each question shortens Rate's memory, so this Rate follows single batches and swings far more than one that is "
    "asked for once per log step. Compare GlobalRate between runs, not Rate.",
)
EXCERPT: Words = (
    "The beginning is missing",
    "When counting began is not known, so GlobalRate cannot be computed and the first Rate has nothing before it. "
    "Rates are shown as the source states them, where it does.",
)
RESTARTS: dict[ResetKind, Words] = {
    ResetKind.RESET: (
        "The tracker was reset",
        "Counts, the previous Rate and the start begin anew here. No average spans this point.",
    ),
    ResetKind.RESET_TIME: (
        "The start was moved",
        "Start and last sampling point moved, counts stayed: the next Rate is over another time than has passed.",
    ),
    ResetKind.SESSION: (
        "The run was resumed",
        "A new process goes on with the series. Counts and averages begin anew; the time between counts nowhere.",
    ),
}
_SPANS: dict[str, Words] = {
    "compile": (
        "Compilation",
        "No outputs arrive while the program is compiled. Rate dips; GlobalRate keeps the loss until it is outweighed.",
    ),
    "checkpoint": (
        "Checkpoint",
        "The host writes a checkpoint and takes in no outputs. Rate dips here and may overshoot afterwards; GlobalRate "
        "only falls a little.",
    ),
    "evaluation": (
        "Evaluation",
        "No training samples are counted meanwhile: both rates fall without training being slower.",
    ),
    "profile": (
        "Profiling",
        "The profiler starts, or collects and stores a trace, and no samples are counted meanwhile: both rates fall, "
        "only because of the profiling. Steps that are being profiled may be slower, too.",
    ),
    "pause": (
        "Pause",
        "No samples are counted between two blocks of training. The source does not say why.",
    ),
}


def seconds(duration_ns: float) -> str:
    """A duration in words."""
    value = duration_ns / 1e9
    if value < 1:
        return f"{value * 1000:.3g} ms"
    return f"{value:.3g} s" if value < 1000 else f"{value:.0f} s"


def span(kind: str, duration_ns: int) -> Words:
    """A known pause."""
    title, text = _SPANS[kind]
    return f"{title} of {seconds(duration_ns)}", text


def spans(kind: str, count: int, total_ns: int) -> Words:
    """Many known pauses of a kind."""
    title, text = _SPANS[kind]
    return f"{title} {count} times, {seconds(total_ns)} in all", text


def first_step(steps: int, extra_ns: int) -> Words:
    """A slow start."""
    what = "first step" if steps == 1 else f"first {steps} steps"
    return (
        f"The {what} took {seconds(extra_ns)} longer",
        "Set-up and compilation are in it. Rate forgets it within a few questions; GlobalRate carries it for the whole "
        "run and keeps rising. Leave it out with warm_up.",
    )


def burst(steps: int, factor: float) -> Words:
    """Queued results after a known pause."""
    return (
        f"Burst of {steps} steps, {factor:.3g} times as fast",
        "Results that queued up during the pause arrive at once. Rate shows how fast the host takes them in, far above "
        "the speed of the device; GlobalRate is less disturbed.",
    )


def pause_and_burst(extra_ns: int, evidence: dict[str, Any]) -> Words:
    """A pause of no known cause with queued results after it."""
    return (
        f"Pause of {seconds(extra_ns)}, then a burst of {evidence['burst_steps']} steps",
        "The host took in no outputs while the device went on, as during a checkpoint, and then took in all that had "
        "queued up. Rate dips and overshoots; neither is the speed of the device. Log a span to give it a name.",
    )


def stall(extra_ns: int) -> Words:
    """A pause of no known cause."""
    return (
        f"Stall of {seconds(extra_ns)}",
        "One step took many times as long as usual, and no results had queued up: device or input stood still. Log a "
        "span to give it a name.",
    )


def blocks(block_steps: int) -> Words:
    """Blocks that fit the log interval."""
    return (
        f"Results arrive in blocks of {block_steps} steps",
        "The log interval holds whole blocks, so the rates are flat. Between two blocks nothing can be seen.",
    )


def aliasing(block_steps: int, log_steps: int, flat_steps: int) -> Words:
    """Blocks that do not fit the log interval."""
    return (
        f"Blocks of {block_steps} steps, logged every {log_steps}",
        "Results arrive in blocks, and the log interval holds now one block more and now one less: Rate swings though "
        f"the speed is constant. Log every {flat_steps} steps and it is flat.",
    )


def period(log_steps: int, flat_steps: int, amplitude: float) -> Words:
    """Log intervals whose length repeats."""
    return (
        f"Log intervals alternate by {amplitude:.0%}",
        f"The pattern repeats every {flat_steps} steps, as when results arrive in blocks that do not fit into "
        f"{log_steps} steps. Rate swings though the speed is constant. Log every {flat_steps} steps and it is flat.",
    )


def fluctuation(share: float) -> Words:
    """Log intervals that vary without a pattern."""
    return (
        f"The time per step varies by {share:.0%}",
        "Log intervals differ in length without a regular pattern: shared input, network or host may be busy. A "
        "windowed average says more than single values of Rate.",
    )


def clock_step(back_ns: int) -> Words:
    """A clock that went back."""
    return (
        f"The clock stepped back by {seconds(back_ns)}",
        "Until it passes the last sampling point again Rate is 0 and samples wait; then all of them fall into one "
        "interval. GlobalRate is over too short a time meanwhile.",
    )


def unknown_batches(unknown: int, marks: int) -> Words:
    """Marks without a count."""
    return (
        f"{unknown} of {marks} batches have no known size",
        "They add nothing to the counts while their time passes, so all rates are too low by their share.",
    )


def data_wait(share: float) -> Words:
    """Time spent waiting for input."""
    return (
        f"{share:.0%} of the time the loop waits for data",
        "This is the host's wait in the loop; a device with queued work may not have felt all of it.",
    )

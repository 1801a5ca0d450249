"""The sentences of each disturbance: a title, and how to read the rates."""

from __future__ import annotations

from stepscope.lenses.throughput.arrivals import Blocks
from stepscope.lenses.throughput.causes import Change, SlowSteps
from stepscope.lenses.throughput.pauses import CatchUp
from stepscope.model.throughput import ResetKind

Words = tuple[str, str]
MOST_WORKERS = 64
"""Loaders with more workers are rare."""

PER_BATCH: Words = (
    "Rate was sampled after every batch",
    "Rate is smoothed per sample, not per second: sampled every batch it is very noisy. Compare GlobalRate instead.",
)
EXCERPT: Words = (
    "The start is missing",
    "The log begins after the run did, so GlobalRate cannot be computed. Rates are shown as the source states them.",
)
RESTARTS: dict[ResetKind, Words] = {
    ResetKind.RESET: (
        "The tracker was reset",
        "Counts, the previous Rate and the start begin anew. No average spans this point.",
    ),
    ResetKind.RESET_TIME: (
        "The clock was reset",
        "The clock was reset but the counts were not: the next Rate does not match elapsed time.",
    ),
    ResetKind.SESSION: (
        "The run was resumed",
        "Resumed by a new process. Counters restart; downtime is excluded.",
    ),
}
UNCLEAR: Words = (
    "Too few log intervals to say why they differ",
    "Blocks of results and stalls look alike in so few intervals. Log more often, or for longer, to tell them apart.",
)
_SPANS: dict[str, Words] = {
    "compile": ("Compilation", "No outputs arrive while the program is compiled."),
    "checkpoint": ("Checkpoint", "The host writes a checkpoint and receives no outputs."),
    "evaluation": (
        "Evaluation",
        "No training samples are counted during evaluation; training itself is not slower.",
    ),
    "profile": (
        "Profiling",
        "The profiler starts, or stores a trace, and no samples are counted. Profiled steps may be slower too.",
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
    if value < 1000:
        return f"{value:.3g} s"
    return f"{value:.0f} s"


def span(kind: str, duration_ns: int, drop: float) -> Words:
    """A known pause.

    Args:
        kind: The span's word.
        duration_ns: How long it was.
        drop: How far GlobalRate falls because of it, 0 to 1.
    """
    title, text = _SPANS[kind]
    return f"{title} of {seconds(duration_ns)}", f"{text} {_fall(drop)}"


def spans(kind: str, count: int, total_ns: int, drop: float) -> Words:
    """Many known pauses of a kind."""
    title, text = _SPANS[kind]
    return f"{title} {count} times, {seconds(total_ns)} in total", f"{text} {_fall(drop)}"


def _fall(drop: float) -> str:
    return f"GlobalRate falls by {drop:.1%} because of it."


def first_step(steps: int, extra_ns: int, share: float, *, block: bool) -> Words:
    """A slow start."""
    what = "first step"
    if steps != 1:
        what = f"first {steps} steps"
    text = f"Set-up and compilation are part of it. It is {share:.1%} of the time so far. Exclude it with warm_up."
    if block:
        text = (
            "Either set-up and compilation, or the wait for a first block of results that is longer than this log."
            f" It is {share:.1%} of the time so far."
        )
    return f"The {what} took {seconds(extra_ns)} longer", text


def burst(catch: CatchUp, factor: float) -> Words:
    """Queued results after a known pause."""
    return (
        f"Burst of {catch.burst_steps} steps, {factor:.3g} times as fast",
        "Results that queued up during the pause arrive at once. "
        f"Of {seconds(catch.paused_ns)}, the device lost {seconds(catch.net_ns)}. "
        "Rate overshoots: it shows how fast the host receives, not how fast the device is.",
    )


def pause_and_burst(catch: CatchUp) -> Words:
    """A pause of no known cause with queued results after it."""
    pause = f"Pause of {seconds(catch.paused_ns)}"
    return (
        f"{pause}, then a burst of {catch.burst_steps} steps: {seconds(catch.net_ns)} lost",
        "The host received no outputs while the device went on, as during a checkpoint, "
        "and then received all that had queued up. Rate dips and overshoots. "
        "Log a span to name the pause.",
    )


def stall(extra_ns: int, ratio: float) -> Words:
    """A pause of no known cause."""
    return (
        f"Stall of {seconds(extra_ns)}",
        f"One interval took {ratio:.3g} times as long as usual, and no results had queued up: "
        "device or input stood still. Log a span to name the pause.",
    )


def slow_steps(found: SlowSteps) -> Words:
    """Slow steps among fast ones."""
    title = f"{found.share:.0%} of the steps take {found.time_share:.0%} of the time"
    slow = seconds(found.slow_ns)
    typical = seconds(found.typical_ns)
    text = f"Slow steps take {slow}, others {typical}: {seconds(found.extra_ns)} lost."
    if not found.every:
        where = "Without a regular beat, look at shared input, network, or garbage collection."
        return f"{title}, at random", f"{text} {where}"
    workers = ""
    if found.every <= MOST_WORKERS:
        workers = f"{found.every} loader workers, or of "
    pattern = f"This is the pattern of {workers}work done every {found.every} steps."
    return f"{title}, every {_ordinal(found.every)}", f"{text} {pattern}"


def _ordinal(number: int) -> str:
    if number % 100 in (11, 12, 13):
        return f"{number}th"
    ending = {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"


def change(found: Change, low_step: int | None, high_step: int | None, event: str) -> Words:
    """A speed that changes over the run."""
    ratio = found.after_ns / found.before_ns - 1
    before = seconds(found.before_ns)
    after = seconds(found.after_ns)
    lost = f"{seconds(found.extra_ns)} lost against the better speed."
    if found.kind == "drift":
        word = "longer"
        if ratio <= 0:
            word = "shorter"
        title = f"Steps get {abs(ratio):.0%} {word} over the run"
        text = f"A step takes {before} at first and {after} at the end: {lost}"
        return title, f"{text} Look for growing inputs, memory or logs."
    if found.kind == "warm_up":
        upto = ""
        if high_step is not None:
            upto = f" up to step {high_step}"
        title = f"Warm-up: steps take {found.before_ns / found.after_ns - 1:.0%} longer{upto}"
        text = f"A step takes {before} at first and {after} later: {lost}"
        return title, f"{text} Exclude the first steps with warm_up."
    title = f"Steps take {ratio:.0%} longer"
    if low_step is not None:
        title += f" from step {low_step}"
    if high_step is not None:
        title += f" to step {high_step}"
    if event:
        title += f", after the {event}"
    return title, f"A step takes {before} before and {after} in this part: {lost}"


def _size(found: Blocks) -> str:
    if found.exact:
        return f"{found.steps}"
    return f"{found.low} to {found.high}"


def blocks(found: Blocks) -> Words:
    """Blocks that fit the log interval."""
    return (
        f"Results arrive in blocks of {_size(found)} steps",
        "The log interval holds whole blocks, so the rates are flat. "
        "Nothing can be seen between two blocks. Averages are over whole blocks.",
    )


def dispatch_bursts(found: Blocks) -> Words:
    """Steps that are counted in bursts."""
    return (
        f"Steps are counted in bursts of {found.steps}",
        "The loop dispatches steps ahead and waits for the device "
        f"at every {_ordinal(found.steps)} one. Single steps show the dispatch. "
        "Averages are over whole bursts.",
    )


def aliasing(found: Blocks, log_steps: int) -> Words:
    """Blocks that do not fit the log interval."""
    which = ""
    if not found.exact:
        which = " These log intervals do not tell sizes in this range apart."
    return (
        f"Blocks of {_size(found)} steps, logged every {log_steps}",
        "Results arrive in blocks. The log interval is not a multiple of the block size, "
        f"so Rate oscillates at constant speed. Log every {found.steps} steps to remove it.{which} "
        "Averages are over whole blocks.",
    )


def fluctuation(share: float) -> Words:
    """Log intervals that vary without a pattern."""
    return (
        f"The time per step varies by {share:.0%}",
        "Log intervals differ in length without a regular pattern: "
        "shared input, network or host may be busy. "
        "A windowed average says more than single values of Rate.",
    )


def clock_step(back_ns: int) -> Words:
    """A clock that went back."""
    return (
        f"The clock stepped back by {seconds(back_ns)}",
        "Until the clock catches up, Rate reads 0; the queued samples then land in one interval. "
        "GlobalRate is too high in the meantime.",
    )


def unknown_batches(unknown: int, marks: int) -> Words:
    """Marks without a count."""
    return (
        f"{unknown} of {marks} batches have no known size",
        "Their samples are not counted but their time is: rates read low.",
    )


def data_wait(share: float, waited_ns: int) -> Words:
    """Time spent waiting for input."""
    return (
        f"The loop waits for data {share:.0%} of the time",
        f"{seconds(waited_ns)} of waiting in the loop. A device with queued work may not have felt all of it.",
    )

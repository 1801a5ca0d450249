"""How many samples an MLPerf log says were trained by the end of each block.

Programs disagree on what `samples_count` of a block is: the total at its end, the total at its start (in both of its
lines), or the block's own samples. The other lines decide: `eval_start` and `run_stop` state totals, steps times batch
size are totals, and a block that ends with the count it began with is either counted at its start or per block.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, pairwise

from stepscope.model.diagnostic import Diagnostic
from stepscope.sources.throughput import figures
from stepscope.sources.throughput.mlperf_lines import Line, value_of

TOTAL_KEYS = ("eval_start", "eval_stop", "eval_accuracy", "run_stop")
"""Lines whose `samples_count` is a total of the run."""
LEAST_SAMPLES = 1000
"""An `epoch_num` from here on that is a multiple of the batch size counts samples, as BERT's and GPT-3's do."""


@dataclass
class Block:
    """A block of training, and what the log says of it.

    Attributes:
        totals: Totals that lines after it state, by their keys.
    """

    start_ns: int
    stop_ns: int
    start_count: int | None
    stop_count: int | None
    stop_step: int | None
    epochs: float | None
    totals: list[tuple[str, int]] = field(default_factory=list)


@dataclass(frozen=True)
class Counted:
    """RateSamples at the ends of blocks.

    Attributes:
        start_ns: Where the first block begins.
        before: RateSamples trained before it.
        time_ns: Where blocks end.
        total: RateSamples trained by then, `before` included.
        losses: What lines contradict, or what was left out.
    """

    start_ns: int
    before: int
    time_ns: list[int]
    total: list[int]
    losses: list[Diagnostic]


def counted(lines: Sequence[Line]) -> Counted | None:
    """The samples of a log's blocks, None where no line states any."""
    blocks = _blocks(lines)
    if not blocks:
        return None
    batch = max(figures.whole(value_of(lines, "global_batch_size")) or 0, 0)
    ends = [(block.stop_step or 0) * batch or None for block in blocks]
    best, totals = _best(blocks, ends)
    if totals is None:
        return None
    losses = _contradictions(blocks, ends, totals)
    if best == "at start" and len(totals) < len(blocks):
        what = "nothing says how many samples the last block trained: it is left out"
        losses.append(Diagnostic("last block", what, 1, "Give the log with its run_stop line"))
    start = blocks[0].start_count
    before = start if start is not None and best in ("cumulative", "at start") else 0
    return Counted(
        start_ns=blocks[0].start_ns,
        before=before,
        time_ns=[block.stop_ns for block in blocks[: len(totals)]],
        total=totals,
        losses=losses,
    )


def _blocks(lines: Sequence[Line]) -> list[Block]:
    blocks: list[Block] = []
    opened: Line | None = None
    for line in lines:
        if line.key == "block_start":
            opened = line
        elif line.key == "block_stop" and opened is not None:
            blocks.append(_block(opened, line))
            opened = None
        elif line.key in TOTAL_KEYS and blocks and opened is None:
            total = line.count("samples_count")
            if total:
                blocks[-1].totals.append((line.key, total))
    return blocks


def _block(start: Line, stop: Line) -> Block:
    step = next((stop.count(key) for key in ("step", "step_num") if stop.count(key)), None)
    return Block(
        start_ns=start.time_ns,
        stop_ns=stop.time_ns,
        start_count=start.count("samples_count"),
        stop_count=stop.count("samples_count"),
        stop_step=step,
        epochs=figures.rate(start.metadata.get("epoch_count")),
    )


def _best(blocks: Sequence[Block], ends: Sequence[int | None]) -> tuple[str, list[int] | None]:
    """The reading that the fewest lines contradict; of equals the most usual one."""
    best = ""
    totals: list[int] | None = None
    fewest = -1
    for name, reading in _readings(blocks, ends).items():
        mismatches = len(_mismatches(blocks, ends, reading))
        if fewest < 0 or mismatches < fewest:
            best = name
            totals = reading
            fewest = mismatches
    return best, totals


def _readings(blocks: Sequence[Block], ends: Sequence[int | None]) -> dict[str, list[int]]:
    """Totals at the blocks' ends as each reading has them, the most usual first; those that cannot be are left out."""
    readings: dict[str, list[int]] = {}
    stops = [block.stop_count for block in blocks if block.stop_count is not None]
    starts = [block.start_count for block in blocks if block.start_count is not None]
    complete = len(stops) == len(blocks)
    same = complete and stops == starts
    if complete and not same and stops[0] > 0 and _ascending(stops):
        readings["cumulative"] = stops
    if (
        len(starts) == len(blocks)
        and (same or not stops)
        and (starts[0] == 0 or _ascending(starts))
    ):
        readings["at start"] = _shifted(blocks, ends, starts)
    elif complete and not starts and stops[0] == 0 and _ascending(stops):
        readings["at start"] = _shifted(blocks, ends, stops)
    if complete and min(stops) > 0:
        readings["per block"] = list(accumulate(stops))
    stated = [block.totals[0][1] for block in blocks if block.totals]
    if len(stated) == len(blocks) and _ascending(stated):
        readings["evaluations"] = stated
    stepped = [total for total in ends if total]
    if len(stepped) == len(blocks) and _ascending(stepped):
        readings["steps"] = stepped
    return {name: totals for name, totals in readings.items() if totals and _ascending(totals)}


def _ascending(totals: Sequence[int]) -> bool:
    return all(low < high for low, high in pairwise(totals))


def _shifted(
    blocks: Sequence[Block], ends: Sequence[int | None], starts: Sequence[int]
) -> list[int]:
    """Each block ends where the next one begins; the last one where a later line says, else it is left out."""
    totals = list(starts[1:])
    stated = [total for _, total in blocks[-1].totals]
    last = stated[0] if stated else ends[-1]
    return [*totals, last] if last else totals


def _mismatches(
    blocks: Sequence[Block], ends: Sequence[int | None], totals: Sequence[int]
) -> list[tuple[int, str, int]]:
    """Block, key and stated total of each line that says something else than a reading."""
    mismatches = []
    for number, (block, end, total) in enumerate(zip(blocks, ends, totals, strict=False)):
        for key, stated in block.totals:
            if stated != total:
                mismatches.append((number, key, stated))
        if end and end != total:
            mismatches.append((number, "step x global_batch_size", end))
    return mismatches


def _contradictions(
    blocks: Sequence[Block], ends: Sequence[int | None], totals: Sequence[int]
) -> list[Diagnostic]:
    mismatches = _mismatches(blocks, ends, totals)
    if not mismatches:
        return []
    number, key, stated = mismatches[0]
    what = (
        f"lines contradict each other: {key} says {stated:,} samples, the blocks {totals[number]:,}"
    )
    remedy = "StepScope counts by the blocks; check what the program logs as samples_count"
    return [Diagnostic(f"block {number + 1}", what, len(mismatches), remedy)]


def counted_by_epochs(lines: Sequence[Line]) -> Counted | None:
    """The samples of a log that counts epochs: of its blocks, else of its epochs, else at its evaluations."""
    train_samples = max(figures.whole(value_of(lines, "train_samples")) or 0, 0)
    batch = max(figures.whole(value_of(lines, "global_batch_size")) or 0, 0)

    def samples(epochs: float | None) -> int:
        if epochs is None:
            return 0
        whole = round(epochs)
        if whole >= LEAST_SAMPLES and batch and whole % batch == 0:
            return whole
        return round(epochs * train_samples)

    blocks = _blocks(lines)
    trained = [samples(block.epochs) for block in blocks]
    if blocks and min(trained) > 0 and len(blocks) > 1:
        ends = [block.stop_ns for block in blocks]
        return Counted(
            start_ns=blocks[0].start_ns,
            before=0,
            time_ns=ends,
            total=list(accumulate(trained)),
            losses=[],
        )
    epoch_samples = samples(1.0) if train_samples else 0
    return _of_epochs(lines, epoch_samples) or _of_evaluations(lines, samples)


def _of_epochs(lines: Sequence[Line], epoch_samples: int) -> Counted | None:
    """An end of each epoch: where it stops, else where the next one starts or the run stops."""
    starts = [line.time_ns for line in lines if line.key == "epoch_start"]
    stops = [line.time_ns for line in lines if line.key == "epoch_stop"]
    if not starts or not epoch_samples:
        return None
    if not stops:
        stops = [*starts[1:], *(line.time_ns for line in lines if line.key == "run_stop")]
    if not stops:
        return None
    totals = [epoch_samples * number for number in range(1, len(stops) + 1)]
    return Counted(start_ns=starts[0], before=0, time_ns=stops, total=totals, losses=[])


def _of_evaluations(
    lines: Sequence[Line], samples: Callable[[float | None], int]
) -> Counted | None:
    """The totals that evaluations state, at their starts."""
    start = next((line.time_ns for line in lines if line.key in ("run_start", "block_start")), None)
    begins = {line.time_ns: line for line in lines if line.key == "eval_start"}
    evaluations = list(begins.values()) or [line for line in lines if line.key == "eval_accuracy"]
    times: list[int] = []
    totals: list[int] = []
    for line in evaluations:
        total = line.count("samples_count") or samples(figures.rate(line.metadata.get("epoch_num")))
        if total and (not totals or total > totals[-1]):
            times.append(line.time_ns)
            totals.append(total)
    if start is None or not totals:
        return None
    return Counted(start_ns=start, before=0, time_ns=times, total=totals, losses=[])

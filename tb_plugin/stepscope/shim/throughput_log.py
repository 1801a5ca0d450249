"""A throughput series as a training loop writes it."""

from __future__ import annotations

import dataclasses
import socket
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from operator import index
from typing import Any, Protocol

from stepscope.model.columns import Header, Strings
from stepscope.model.throughput import UNKNOWN_NS, ResetKind, Throughput
from stepscope.shim.buffers import UNKNOWN_COUNT, Rows, SeriesBuffers, Snapshot
from stepscope.shim.rate_tracker import NS_PER_SECOND, RateTracker
from stepscope.shim.settings import SeriesSettings
from stepscope.shim.values import T, integer, shown, tried
from stepscope.store.names import TAIL_BLOCK
from stepscope.store.writing import new_session
from stepscope.version import __version__

FARTHEST_OFFSET_S = 1e9
BLOCK_MARKS = 4096
BLOCK_VERSIONS = 5
TAIL_VERSIONS = 6
TAIL_MARKS = 512


class Owner(Protocol):
    """What a series asks of its writer."""

    def wake(self) -> None:
        """Makes sure that somebody flushes."""

    def failed(self, what: str, error: BaseException) -> None:
        """Notes something that could not be done."""


@dataclass(frozen=True)
class RateScalars:
    """The rates of one sample, by tag, that wait to be written."""

    values: dict[str, float]
    step: int
    wall_time_s: float


@dataclass(frozen=True)
class Block:
    """A version of a block, or of the tail beyond it, ready to be written.

    Attributes:
        number: The block's number, TAIL_BLOCK for a tail.
        closed: Whether no further version follows.
        steps: The first and last training step, None where it holds no mark.
        content: The rows that are stored once it is written.
    """

    record: Throughput
    number: int
    version: int
    closed: bool
    steps: tuple[int, int] | None
    content: Snapshot


class ThroughputLog:
    """Counts what a training loop has received. Made by `Writer.throughput`.

    `add` and `sample` are for one thread; spans may come from several. Nothing here raises into the loop.
    """

    def __init__(
        self,
        owner: Owner,
        settings: SeriesSettings,
        header: Header,
        clock: Callable[[], int] = time.perf_counter_ns,
    ) -> None:
        self.settings = settings
        self._owner = owner
        self._header = header
        self._clock = clock
        self.begin_session()

    def begin_session(self) -> None:
        """Starts the series anew, with a start stamp of now: at construction, and in a forked process."""
        # A signal handler that flushes may interrupt the very thread that holds it.
        self._lock = threading.RLock()
        self._base_ns = self._now_ns = self._clock()
        self._wall_ns = time.time_ns()
        self._session = new_session()
        self._first_ns = UNKNOWN_NS
        self._buffers = SeriesBuffers()
        self._append_count = self._buffers.count.append
        self._append_step = self._buffers.step.append
        self._append_time = self._buffers.time_ns.append
        self.scalars: deque[RateScalars] = deque()
        self._tracker = RateTracker(self.settings.weight, lambda: self._now_ns)
        self._fresh = 0
        self._step = 0
        # The first mark of a session always takes the long way, which wakes the writer's thread.
        self._low, self._high = 0, -1
        self._block = 0
        self._block_versions = 0
        self._tail_versions = 0
        self._versions_since_block = 0
        self._in_block = Rows()
        self._written: tuple[Rows, int] = (Rows(), 0)
        self.closed = False

    def add(self, count: int | None, step: int | None = None) -> None:
        """Counts samples whose outputs have just been received.

        Args:
            count: How many; None where the batch size is not known.
            step: The training step they belong to; None: one more than the last. A step may be added to many times.
        """
        if step is None:
            step = self._step + 1
        try:
            # Plain integers: a numpy scalar overflows, and what is none, None among it, raises and takes the long way.
            number, step = index(count), index(step)  # type: ignore[arg-type]
            self._append_count(number)
            self._append_step(step)
            self._append_time(self._clock())
        except Exception:
            number, step = self._add_other(count, step)
        if number > 0:
            self._fresh += number
        self._step = step
        if not self._low <= step < self._high:
            self._turn(step)

    def _add_other(self, count: Any, step: Any) -> tuple[int, int]:
        """Adds a mark whose count or step is not a plain integer.

        Returns both; 0 at the last step where one of them is invalid.
        """
        with self._lock:
            self._buffers.repair()
        mark = f"count {shown(count)} at step {shown(step)}"
        number = UNKNOWN_COUNT if count is None else self._known(integer, count, mark)
        whole = None if number is None else self._known(integer, step, mark)
        if number is None or whole is None:
            return 0, self._step
        self._append_count(number)
        self._append_step(whole)
        self._append_time(self._clock())
        return number, whole

    def _turn(self, step: int) -> None:
        """Handles a step outside the current interval: the first, one to sample at, or a step back."""
        every = self.settings.every
        first = self._high < self._low
        if first:
            self._owner.wake()
        if first and self.closed:
            self._owner.failed(f"marks of {self.settings.name}", RuntimeError("series is closed"))
        if every is None:
            self._low = -sys.maxsize
            self._high = sys.maxsize
            return
        reached = step // every * every
        due = step == reached if first else step >= self._high
        self._low = reached
        self._high = reached + every
        if due and step > 0:
            self.sample(step)

    def sample(self, step: int | None = None) -> tuple[float, float]:
        """Asks for the rates, now.

        Returns:
            Rate and GlobalRate, per second.
        """
        step = self._known_step(step)
        with self._lock:
            self._now_ns = self._clock()
            self._buffers.add_sample(step, self._now_ns)
            self._tracker.add(self._fresh)
            self._fresh = 0
            local = self._tracker.rate()
            average = self._tracker.global_rate()
        self._note_scalars(step, local, average)
        if self.settings.print_every and step % self.settings.print_every == 0:
            self._print(step, local, average)
        return local, average

    def _known_step(self, step: Any) -> int:
        if step is None:
            return self._step
        known = self._known(integer, step, f"step {shown(step)}")
        if known is None:
            return self._step
        return known

    def _known(self, read: Callable[[Any], T], value: Any, what: str) -> T | None:
        """Reads a value; reports a failure and returns None where it is invalid."""
        result = tried(read, value)
        if isinstance(result, Exception):
            self._owner.failed(f"{what} in {self.settings.name}", result)
            return None
        return result

    def _print(self, step: int, local: float, average: float) -> None:
        try:
            print(console_line(self.settings, step, local, average), flush=True)
        except (OSError, ValueError) as error:
            self._owner.failed("the console line", error)

    def _note_scalars(self, step: int, local: float, average: float) -> None:
        settings = self.settings
        wall_time_s = (self._wall_ns + self._now_ns - self._base_ns) / NS_PER_SECOND
        prefix = settings.scalar_prefix
        unit = settings.unit
        values = {f"{prefix}local_{unit}_per_sec": local, f"{prefix}avg_{unit}_per_sec": average}
        if settings.batch_size:
            values[f"{prefix}avg_steps_per_sec"] = average / settings.batch_size
        self.scalars.append(RateScalars(values, step, wall_time_s))

    @contextmanager
    def span(self, kind: str) -> Iterator[None]:
        """Says that the loop does something else: a word of `stepscope.model.throughput.SPAN_KINDS`, or another."""
        self._owner.wake()
        opened = (kind if isinstance(kind, str) else shown(kind), self._clock())
        self._buffers.open_spans.append(opened)
        try:
            yield
        finally:
            self._end_span(opened)

    def _end_span(self, opened: tuple[str, int]) -> None:
        end_ns = self._clock()
        with self._lock:
            if opened in self._buffers.open_spans:
                self._buffers.open_spans.remove(opened)
                self._buffers.spans.append((*opened, end_ns))

    def reset(self) -> None:
        """Forgets the counts and the previous rate, and starts now. What was logged stays logged."""
        self._reset(ResetKind.RESET, 0.0)

    def reset_time(self, offset: float = 0.0) -> None:
        """Moves the start and the last sampling point to `offset` seconds ago; counts and the previous rate stay."""
        seconds = self._known(_offset_s, offset, f"an offset of {shown(offset)}")
        if seconds is not None:
            self._reset(ResetKind.RESET_TIME, seconds)

    def _reset(self, kind: ResetKind, offset: float) -> None:
        with self._lock:
            self._now_ns = self._clock()
            self._buffers.add_reset(kind, self._now_ns, round(offset * NS_PER_SECOND))
            self._tracker.add(self._fresh)
            self._fresh = 0
            if kind == ResetKind.RESET:
                self._tracker.reset()
            else:
                self._tracker.reset_time(offset)

    def close(self) -> None:
        """Says that nothing follows; the writer's next flush closes the block."""
        for opened in self._buffers.open_spans[:]:
            self._end_span(opened)
        self.closed = True
        # What is added all the same takes the long way, and is said.
        self._low, self._high = 0, -1

    def pending(self) -> list[Block]:
        """What is to be written, in order; empty where everything is.

        Most flushes write the rows that the last version of the block does not hold (the tail). After TAIL_VERSIONS of
        them, the block takes the rows over.
        """
        with self._lock:
            content = self._buffers.snapshot()
            now_ns = self._clock()
        if not self._is_new(content):
            return []
        if self._first_ns == UNKNOWN_NS and content.time_ns:
            self._first_ns = content.time_ns[0]
        if not self._is_block_due(content):
            return [self._tail_version(content.after(self._in_block), now_ns)]
        versions = [self._block_version(content, now_ns)]
        if content.open_spans:
            versions.append(self._tail_version(content.after(content.rows), now_ns))
        return versions

    def _is_new(self, content: Snapshot) -> bool:
        holds_rows = any(content.rows) or bool(content.open_spans)
        written = (content.rows, len(content.open_spans)) == self._written
        return holds_rows and (self.closed or not written)

    def _is_block_due(self, content: Snapshot) -> bool:
        if self.closed or not self._block_versions or self._versions_since_block >= TAIL_VERSIONS:
            return True
        return max(content.after(self._in_block).rows) >= TAIL_MARKS

    def _block_version(self, content: Snapshot, now_ns: int) -> Block:
        last = self._block_versions + 1 >= BLOCK_VERSIONS
        closed = self.closed or last or max(content.rows) >= BLOCK_MARKS
        content = content.without_open_spans()
        return Block(
            record=self._record(content, now_ns, tail_after=()),
            number=self._block,
            version=self._block_versions,
            closed=closed,
            steps=_step_range(content),
            content=content,
        )

    def _tail_version(self, content: Snapshot, now_ns: int) -> Block:
        return Block(
            record=self._record(content, now_ns, tail_after=content.before),
            number=TAIL_BLOCK,
            version=self._tail_versions,
            closed=False,
            steps=_step_range(content),
            content=content,
        )

    def written(self, block: Block) -> None:
        """Takes note that a version was written."""
        rows = block.content.rows
        if block.number == TAIL_BLOCK:
            self._tail_versions += 1
            self._versions_since_block += 1
            self._written = (self._in_block.plus(rows), len(block.content.open_spans))
            return
        self._versions_since_block = 0
        if block.closed:
            with self._lock:
                self._buffers.drop(block.content)
            self._block += 1
            self._block_versions = 0
            rows = Rows()
        else:
            self._block_versions += 1
        self._in_block = rows
        self._written = (rows, 0)

    def _record(self, content: Snapshot, now_ns: int, *, tail_after: tuple[int, ...]) -> Throughput:
        settings = self.settings
        base_ns = self._base_ns
        words, spans = content.span_group(base_ns, now_ns)
        record = Throughput(
            name=settings.name,
            unit=settings.unit,
            base_ns=base_ns,
            start_ns=0,
            session=self._session,
            block=self._block,
            total_before=content.total_before,
            tail_after=tail_after,
            strings=Strings.of(words),
            marks=content.marks(base_ns),
            samples=content.sample_group(base_ns),
            resets=content.reset_group(base_ns),
            spans=spans,
        )
        if not tail_after:
            return self._described(record)
        # The blocks before a tail hold what does not change; without it a tail is half as large.
        return dataclasses.replace(record, smoothing=0.0, sampling_rule="", measured_at="")

    def _described(self, record: Throughput) -> Throughput:
        """The record with the settings of the series."""
        settings = self.settings
        first_known = self._first_ns != UNKNOWN_NS
        return dataclasses.replace(
            record,
            header=self._header_at(self._wall_ns),
            first_sample_ns=self._first_ns - self._base_ns if first_known else UNKNOWN_NS,
            smoothing=settings.weight,
            sampling_rule=settings.sampling_rule,
            log_every=settings.every or 0,
            batch_size=settings.batch_size or 0,
            devices=settings.devices or 0,
            flops_per_sample=settings.flops_per_sample or 0.0,
            peak_flops_per_sec=settings.peak_flops_per_sec or 0.0,
            planned_steps=settings.planned_steps or 0,
            measured_at=settings.measured_at,
        )

    def _header_at(self, wall_ns: int) -> Header:
        header = self._header
        return Header(
            job=header.job,
            run=header.run,
            host=header.host or socket.gethostname(),
            rank=header.rank,
            world_size=header.world_size,
            producer="stepscope",
            producer_version=__version__,
            wall_anchor_ns=wall_ns,
        )


def _step_range(content: Snapshot) -> tuple[int, int] | None:
    if not content.step:
        return None
    return min(content.step), max(content.step)


def _offset_s(value: Any) -> float:
    seconds = float(value)
    if not abs(seconds) < FARTHEST_OFFSET_S:
        raise ValueError("offset must be less than 1e9 seconds")
    return seconds


def console_line(settings: SeriesSettings, step: int, local: float, average: float) -> str:
    """The line that Cerebras's and torch_xla's loops print."""
    unit = settings.unit
    return (
        f"| {settings.name.capitalize()} Step={step}, Rate={format_rate(local)} {unit}/sec, "
        f"GlobalRate={format_rate(average)} {unit}/sec"
    )


def format_rate(rate: float) -> str:
    """A rate below 1 with three significant digits, others with two decimals."""
    if 0 < rate < 1:
        return f"{rate:.3g}"
    return f"{rate:.2f}"

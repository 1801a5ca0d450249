"""The writer of a training loop.

Everything is appended to memory and written by one thread every two seconds. A normal exit, an exception and a fork
lose nothing; a process that is killed loses at most what came since the last flush. After construction nothing here
raises into the loop: a write that fails is logged once, counted in `failures`, and tried again.
"""

from __future__ import annotations

import atexit
import contextlib
import logging
import multiprocessing.util
import os
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path, PurePath
from types import TracebackType
from typing import TYPE_CHECKING, Any

from stepscope.errors import LimitExceeded, OptionError, RecordError
from stepscope.model.columns import Header, Record
from stepscope.model.incore_timing import from_timing
from stepscope.shim import termination
from stepscope.shim.adapters import sink_for
from stepscope.shim.settings import SeriesSettings
from stepscope.shim.throughput_log import Block, ThroughputLog
from stepscope.shim.values import integer, shown, whole, word
from stepscope.store.names import TAIL_BLOCK
from stepscope.store.writing import RecordWriter

if TYPE_CHECKING:
    from numpy.typing import ArrayLike
    from typing_extensions import Unpack

    from stepscope.model.incore_description import Described

LOGGER = logging.getLogger("stepscope")

Pending = Callable[[], None]
_LONGEST_NUMBER = 19


class Writer:
    """Logs records from a training loop.

    Args:
        target: A log directory, which gets an event file of its own, in a folder `rank_<k>` where the job has several
            ranks: one rank is one run. Or a SummaryWriter of torch or tensorboardX, or a writer of
            tf.summary.create_file_writer, through which everything is written.
        flush_secs: Seconds between two flushes.
        job: What all processes of the job share; from TORCHELASTIC_RUN_ID or SLURM_JOB_ID where not given.
        rank: Rank of the process in its job; from RANK or SLURM_PROCID where not given.
        world_size: Number of ranks; from WORLD_SIZE or SLURM_NTASKS where not given.
        flush_on_sigterm: Flush when SIGTERM comes, then do what was done before. Only from the main thread.
        clock: Returns a monotonic time in ns.

    Raises:
        OptionError: The target is nothing to write to, or an argument is of a wrong type or out of its range.
        StoreError: The directory cannot be written.
    """

    def __init__(
        self,
        target: Any,
        *,
        flush_secs: float = 2.0,
        job: str | None = None,
        rank: int | None = None,
        world_size: int | None = None,
        flush_on_sigterm: bool = False,
        clock: Callable[[], int] = time.perf_counter_ns,
    ) -> None:
        self.failures = 0
        self._flush_secs = _interval(flush_secs)
        self._clock = _checked(clock)
        self._header = _header(job, rank, world_size)
        self._sink = sink_for(_of_rank(target, self._header))
        self._records = RecordWriter(self._sink)
        self._logs: list[ThroughputLog] = []
        self._next_block: dict[str, int] = {}
        self._closed = False
        self._begin()
        _open.add(self)
        if flush_on_sigterm:
            termination.flush_on_sigterm(self)

    def _begin(self) -> None:
        """Takes up work in this process: at construction, and in a forked one."""
        self._pid = os.getpid()
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self._pending: list[tuple[str, Pending]] = []
        self._reported = False
        self._blocks: dict[ThroughputLog, int] = {}

    def after_fork(self) -> None:
        """Begins anew in a forked process: what was logged before belongs to the parent."""
        self._begin()
        for log in self._logs:
            log.begin_session()

    def throughput(
        self, name: str = "train", unit: str = "samples", **settings: Any
    ) -> ThroughputLog:
        """A throughput series.

        Args:
            name: Its name; an open series of that name is given back as it is.
            unit: The word for what is counted: samples, tokens, steps.
            **settings: See `stepscope.shim.settings.SeriesSettings`: log_every, print_every, smoothing, batch_size,
                devices, flops_per_sample, peak_flops_per_sec, planned_steps, measured_at.

        Raises:
            OptionError: A setting is out of its range.
        """
        chosen = SeriesSettings(name=name, unit=unit, **settings)
        with self._lock:
            for log in self._logs:
                if log.settings.name == name and not log.closed:
                    return log
            log = ThroughputLog(self, chosen, self._header, self._clock)
            if self._closed:
                log.close()
            else:
                self._logs.append(log)
        return log

    @contextlib.contextmanager
    def span(self, kind: str) -> Iterator[None]:
        """Says on every open throughput series that the loop does something else: see `ThroughputLog.span`."""
        with self._lock:
            open_logs = [log for log in self._logs if not log.closed]
        with contextlib.ExitStack() as spans:
            for log in open_logs:
                spans.enter_context(log.span(kind))
            yield

    def log_profile(
        self, source: Record | str | os.PathLike[str], *, step: int | None = None, name: str = ""
    ) -> None:
        """Logs a profile: a record, or a file of any recognised format."""
        self._log(source, step, name, "profile")

    def log_collectives(
        self, source: Record | str | os.PathLike[str], *, step: int | None = None, name: str = ""
    ) -> None:
        """Logs collectives: a record, or a file of any recognised format."""
        self._log(source, step, name, "collectives")

    def log_incore(
        self,
        timing: Record | str | os.PathLike[str] | ArrayLike | None,
        *,
        step: int | None = None,
        name: str = "incore",
        **described: Unpack[Described],
    ) -> None:
        """Logs the stamps of a fused kernel.

        Args:
            timing: The stamps, [slot, column] or more dimensions before; or a file of any recognised format.
            step: The training step.
            name: The record's name.
            **described: What the rows and columns mean, by the names of `stepscope.model.incore_description`:
                columns, participating, producers, clock_freq_hz and more.
        """
        if isinstance(timing, Record | str | os.PathLike):
            self._log(timing, step, name, "incore")
        else:
            self._attempt(
                "an in-core record",
                lambda: self._log(from_timing(timing, **described), step, name, "incore"),
            )

    def _log(
        self, source: Record | str | os.PathLike[str], step: int | None, name: str, usual_name: str
    ) -> None:
        found: list[tuple[str, int | None, Record]] = []
        self._attempt(
            f"source {shown(source)}",
            lambda: found.extend(_records_of(source, step, name, usual_name)),
        )
        for title, at, record in found:
            self._write_or_keep(
                f"{record.KIND} record {title}", self._record_writer(title, at, record)
            )
        if found:
            self.wake()

    def _record_writer(self, name: str, step: int | None, record: Record) -> Pending:
        steps = None if step is None else (step, step)

        def write() -> None:
            try:
                self._records.write(record, name=name, steps=steps)
            except (RecordError, LimitExceeded, TypeError, ValueError) as error:
                # No later try can mend the record, or it would be one of ever more that wait.
                self.failed(f"{record.KIND} record {name}", error)

        return write

    def _write_or_keep(self, what: str, write: Pending) -> None:
        with self._lock:
            if not self._attempt(what, write) and not self._closed:
                self._pending.append((what, write))

    def flush(self) -> None:
        """Writes everything logged so far and hands it to the operating system."""
        with self._lock:
            self._flush()

    def _flush(self) -> None:
        self._pending = [
            (what, write) for what, write in self._pending if not self._attempt(what, write)
        ]
        for log in self._logs:
            self._attempt(
                f"throughput series {log.settings.name}", partial(self._write_series, log)
            )
        self._logs = [log for log in self._logs if not log.closed or log.pending()]
        self._attempt("flush", self._sink.flush)

    def _write_series(self, log: ThroughputLog) -> None:
        while log.scalars:
            scalars = log.scalars[0]
            self._sink.add_scalars(
                scalars.values, step=scalars.step, wall_time_s=scalars.wall_time_s
            )
            log.scalars.popleft()
        for block in log.pending():
            self._write_block(log, block)
            log.written(block)

    def _write_block(self, log: ThroughputLog, block: Block) -> None:
        name = log.settings.name
        number = block.number
        if number != TAIL_BLOCK:
            # A second series of one name goes on with the numbers of the first.
            number = self._blocks.setdefault(log, self._next_block.get(name, 0))
            self._next_block[name] = max(self._next_block.get(name, 0), number + 1)
        self._records.write(
            block.record,
            name=name,
            block=number,
            version=block.version,
            closed=block.closed,
            steps=block.steps,
        )
        if block.closed:
            del self._blocks[log]

    def _attempt(self, what: str, action: Callable[[], None]) -> bool:
        try:
            action()
        except Exception as error:
            # Whatever a file system, a summary writer of another project or a strange value may raise.
            self.failed(what, error)
            return False
        return True

    def failed(self, what: str, error: BaseException) -> None:
        """Counts something that could not be done, and logs the first."""
        self.failures += 1
        if not self._reported:
            self._reported = True
            with contextlib.suppress(Exception):
                reason = str(error).rstrip(".") or type(error).__name__
                LOGGER.warning(
                    "StepScope could not log %s: %s. Further failures are only counted",
                    what,
                    reason,
                )

    def wake(self) -> None:
        """Starts the flushing thread where this process has none yet."""
        if self._thread is not None or self._closed:
            return
        with self._lock:
            if self._thread is None:
                self._attempt("until close: the flush thread cannot start", self._start_thread)

    def _start_thread(self) -> None:
        thread = threading.Thread(
            target=self._run, args=(self._stop,), name="stepscope", daemon=True
        )
        thread.start()
        self._thread = thread
        if multiprocessing.parent_process() is not None:
            # Processes of multiprocessing leave without running atexit.
            multiprocessing.util.Finalize(None, self.close, exitpriority=10)

    def _run(self, stop: threading.Event) -> None:
        while not stop.wait(self._flush_secs):
            self.flush()

    def flush_before_death(self, wait_secs: float) -> None:
        """Flushes from a signal handler: not at all where the interrupted code holds the lock itself."""
        if self._lock.acquire(timeout=wait_secs):
            try:
                self._flush()
            finally:
                self._lock.release()

    def close(self) -> None:
        """Flushes, ends all series, and gives the file back. Closing twice does nothing."""
        if self._closed:
            return
        self._closed = True
        self._stop.set()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join()
        for log in self._logs:
            log.close()
        self.flush()
        self._attempt("close", self._sink.close)
        _open.discard(self)

    def __enter__(self) -> Writer:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def _records_of(
    source: Record | str | os.PathLike[str], step: int | None, name: str, usual_name: str
) -> Iterator[tuple[str, int | None, Record]]:
    """The records of a source, each with its name and step."""
    at = None if step is None else integer(step)
    title = str(name) or usual_name
    if isinstance(source, Record):
        yield title, at, source
        return
    # Imported when asked for: most loops never read a file.
    from stepscope.sources import content, registry

    with content.without_mapping():
        found = registry.read(Path(source)).records
    for number, named in enumerate(found):
        # Ranks of one file have one name and runs of their own.
        label = PurePath(named.run).name or named.name or str(number)
        own = title if len(found) == 1 else f"{title}/{label}"
        yield own, named.step if at is None else at, named.record


def _of_rank(target: Any, header: Header) -> Any:
    """The directory of one rank of several: one rank is one run."""
    if header.world_size > 1 and header.rank >= 0 and isinstance(target, str | os.PathLike):
        return Path(target) / f"rank_{header.rank}"
    return target


def _header(job: str | None, rank: int | None, world_size: int | None) -> Header:
    """Returns a header with the values given, else those that torchrun or Slurm set."""
    known_job = _environment("TORCHELASTIC_RUN_ID", "SLURM_JOB_ID") or ""
    known_rank = _number("RANK", "SLURM_PROCID", absent=-1)
    known_world_size = _number("WORLD_SIZE", "SLURM_NTASKS", absent=0)
    if job is not None:
        known_job = word("job", job)
    if rank is not None:
        known_rank = whole("rank", rank, -1)
    if world_size is not None:
        known_world_size = whole("world_size", world_size, 0)
    return Header(job=known_job, rank=known_rank, world_size=known_world_size)


def _interval(flush_secs: Any) -> float:
    """Seconds between two flushes that a thread can wait for."""
    if isinstance(flush_secs, int | float) and 0 < flush_secs <= threading.TIMEOUT_MAX:
        return float(flush_secs)
    raise OptionError(f"flush_secs is {shown(flush_secs)}", remedy="Pass seconds greater than 0")


def _checked(clock: Callable[[], int]) -> Callable[[], int]:
    """The clock, which must count: a reading that is a float would make every mark fail."""
    reading = clock()
    if type(reading) is not int:
        raise OptionError(
            f"the clock reads {shown(reading)}",
            remedy="Pass a clock in ns, such as time.perf_counter_ns",
        )
    return clock


def _environment(*names: str) -> str | None:
    return next((os.environ[name] for name in names if os.environ.get(name)), None)


def _number(*names: str, absent: int) -> int:
    text = _environment(*names)
    if text is None or not text.isdecimal() or len(text) >= _LONGEST_NUMBER:
        return absent
    return int(text)


# Strong references: a writer that the user lost still has data to write.
_open: set[Writer] = set()


@atexit.register
def _close_all() -> None:
    for writer in list(_open):
        writer.close()


def _after_fork() -> None:
    for writer in list(_open):
        writer.after_fork()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)

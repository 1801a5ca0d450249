"""A small discrete-event model of training steps: host threads, launch queue, streams and ranks.

It knows how long every step really took and writes what PyTorch's profiler would have recorded of it. Nothing in it is
shared with the analysis: `benchmarks/planted.py` plants causes with it and asks whether the findings name them.

Times are integer nanoseconds.
"""

from __future__ import annotations

import heapq
import itertools
import json
import random
from collections import deque
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

US = 1000
MS = 1000 * US

LAUNCH_CALL = 4 * US
LAUNCH_LATENCY = 6 * US
KERNEL_GAP = 1 * US
SYNC_CALL = 3 * US
QUEUE_LIMIT = 1024
NOISE = 0.02

Wait = Generator["int | Signal", None, None]
"""What a process of the model yields: a delay, or a signal that it waits for."""


@dataclass
class Signal:
    """Something that happens once; processes wait for it."""

    fired: bool = False
    waiters: list[Wait] = field(default_factory=list)


class Clock:
    """Runs processes in order of time."""

    def __init__(self) -> None:
        self.now = 0
        self._events: list[tuple[int, int, Wait]] = []
        self._number = itertools.count()

    def spawn(self, process: Wait, delay: int = 0) -> None:
        """Lets a process go on after a delay."""
        heapq.heappush(self._events, (self.now + delay, next(self._number), process))

    def fire(self, signal: Signal) -> None:
        """Lets everything go on that waits for a signal."""
        signal.fired = True
        for process in signal.waiters:
            self.spawn(process)
        signal.waiters.clear()

    def run(self) -> None:
        """Runs until nothing is left to do."""
        while self._events:
            self.now, _, process = heapq.heappop(self._events)
            self._advance(process)

    def _advance(self, process: Wait) -> None:
        for wanted in process:
            if isinstance(wanted, int):
                self.spawn(process, wanted)
                return
            if not wanted.fired:
                wanted.waiters.append(process)
                return


@dataclass
class Event:
    """One line of the trace."""

    name: str
    category: str
    process: int
    thread: int
    start: int
    end: int = -1
    args: dict[str, object] = field(default_factory=dict)


@dataclass
class Work:
    """Something that a stream runs."""

    name: str
    category: str
    duration: int
    ready: int
    args: dict[str, object]
    after: tuple[Signal, ...] = ()
    meeting: str = ""
    done: Signal = field(default_factory=Signal)


@dataclass
class Meeting:
    """A collective, in which every rank takes part."""

    arrived: int = 0
    complete: Signal = field(default_factory=Signal)


class Job:
    """The ranks of a training job on one clock."""

    def __init__(self, ranks: int, seed: int, names: str = "cuda") -> None:
        self.clock = Clock()
        self.names = names
        self.seed = seed
        self._meetings: dict[str, Meeting] = {}
        self.ranks = [Rank(self, number) for number in range(ranks)]

    def meet(self, key: str) -> Signal:
        """Says that a rank has come to a collective; returns what happens when all have."""
        meeting = self._meetings.setdefault(key, Meeting())
        meeting.arrived += 1
        if meeting.arrived == len(self.ranks):
            self.clock.fire(meeting.complete)
        return meeting.complete


class Rank:
    """One process of the job with its device."""

    def __init__(self, job: Job, number: int) -> None:
        self.job = job
        self.number = number
        self.events: list[Event] = []
        self.instants: list[dict[str, object]] = []
        self.step_starts: list[int] = []
        self.step_ends: list[int] = []
        self.last_work: dict[int, Work] = {}
        self.queued = 0
        self.left_queue = Signal()
        self.correlation = itertools.count(1)
        self.dropped: set[int] = set()
        self._streams: dict[int, deque[Work]] = {}
        self._idle: dict[int, Signal] = {}
        self._noise: dict[str, random.Random] = {}

    def vary(self, what: str, duration: float) -> int:
        """A duration with its noise; each kind of thing has a series of its own, whatever else is in the step."""
        if what not in self._noise:
            self._noise[what] = random.Random(f"{self.job.seed}/{self.number}/{what}")
        factor = 1 + NOISE * max(-2.0, min(2.0, self._noise[what].gauss(0, 1)))
        return max(int(duration * factor), 0)

    def enqueue(self, stream: int, work: Work) -> None:
        """Gives a stream something to run."""
        self.queued += 1
        self.last_work[stream] = work
        if stream not in self._streams:
            self._streams[stream] = deque()
            self._idle[stream] = Signal()
            self.job.clock.spawn(self._run_stream(stream))
        self._streams[stream].append(work)
        idle, self._idle[stream] = self._idle[stream], Signal()
        self.job.clock.fire(idle)

    def _run_stream(self, stream: int) -> Wait:
        clock, queue = self.job.clock, self._streams[stream]
        while True:
            while not queue:
                yield self._idle[stream]
            work = queue.popleft()
            yield from work.after
            yield max(work.ready - clock.now, 0)
            start = clock.now
            if work.meeting:
                yield self.job.meet(work.meeting)
            yield work.duration
            self._record_work(work, stream, start)
            self.queued -= 1
            left, self.left_queue = self.left_queue, Signal()
            clock.fire(left)
            clock.fire(work.done)
            yield KERNEL_GAP

    def _record_work(self, work: Work, stream: int, start: int) -> None:
        if work.args["correlation"] in self.dropped:
            return
        args = {"device": 0, "stream": stream, **work.args}
        event = Event(work.name, work.category, 0, stream, start, self.job.clock.now, args)
        self.events.append(event)

    @property
    def elapsed(self) -> int:
        """From the start of the first step to the end of the last, device included."""
        device = max(
            (e.end for e in self.events if e.category.startswith(("kernel", "gpu_"))), default=0
        )
        return max(self.step_ends[-1], device) - self.step_starts[0]


class Thread:
    """A host thread of a rank. Its methods are parts of a process: `yield from thread.launch(...)`."""

    def __init__(self, rank: Rank, number: int = 1) -> None:
        self.rank = rank
        self.number = number
        self.process = 1000 + rank.number
        self._clock = rank.job.clock

    def work(self, duration: float, what: str = "python") -> Wait:
        """Host work that leaves no event."""
        yield self.rank.vary(what, duration)

    @contextmanager
    def range(self, name: str, category: str = "cpu_op", **args: object) -> Iterator[Event]:
        """An op or a named range around what runs inside."""
        event = Event(name, category, self.process, self.number, self._clock.now, args=args)
        self.rank.events.append(event)
        yield event
        event.end = self._clock.now

    def call(self, name: str, duration: float) -> Wait:
        """A call of the accelerator's library that neither launches nor waits."""
        with self.range(self._named(name), "cuda_runtime", correlation=next(self.rank.correlation)):
            yield self.rank.vary(name, duration)

    def op(self, name: str, host: float, inside: Wait | None = None) -> Wait:
        """An op with half of its host time before what it does and half after."""
        with self.range(name):
            before = self.rank.vary(name, host) // 2
            yield before
            if inside is not None:
                yield from inside
            yield before

    def launch(
        self,
        kernel: str,
        duration: float,
        *,
        stream: int = 7,
        after: tuple[Signal, ...] = (),
        category: str = "kernel",
        meeting: str = "",
        call: str = "cudaLaunchKernel",
        args: dict[str, object] | None = None,
        drop: bool = False,
    ) -> Wait:
        """Launches work; waits while the launch queue is full."""
        rank, number = self.rank, next(self.rank.correlation)
        if drop:
            rank.dropped.add(number)
        with self.range(self._named(call), "cuda_runtime", correlation=number):
            while rank.queued >= QUEUE_LIMIT:
                yield rank.left_queue
            ready = self._clock.now + LAUNCH_LATENCY
            work = Work(
                name=kernel,
                category=category,
                duration=rank.vary(kernel, duration),
                ready=ready,
                args={"correlation": number, **(args or {})},
                after=after,
                meeting=meeting,
            )
            rank.enqueue(stream, work)
            yield rank.vary(call, LAUNCH_CALL)

    def blocking_copy(self, name: str, duration: float, *, stream: int = 7, size: int = 0) -> Wait:
        """A copy that its call waits for."""
        rank, number = self.rank, next(self.rank.correlation)
        with self.range(self._named("cudaMemcpyAsync"), "cuda_runtime", correlation=number):
            ready = self._clock.now + LAUNCH_LATENCY
            args: dict[str, object] = {"correlation": number, "bytes": size}
            work = Work(name, "gpu_memcpy", rank.vary(name, duration), ready, args)
            rank.enqueue(stream, work)
            yield work.done
            yield rank.vary("copy returns", SYNC_CALL)
        yield from self.synchronize(stream)

    def synchronize(self, stream: int | None = None) -> Wait:
        """Waits for a stream, or for all of them."""
        name = "cudaDeviceSynchronize" if stream is None else "cudaStreamSynchronize"
        with self.range(self._named(name), "cuda_runtime", correlation=next(self.rank.correlation)):
            works = list(self.rank.last_work.items())
            for number, work in works:
                if stream is None or number == stream:
                    yield work.done
            yield self.rank.vary(name, SYNC_CALL)

    def free(self) -> Wait:
        """cudaFree, which waits for the device."""
        with self.range(
            self._named("cudaFree"), "cuda_runtime", correlation=next(self.rank.correlation)
        ):
            for work in list(self.rank.last_work.values()):
                yield work.done
            yield self.rank.vary("cudaFree", 90 * US)

    def item(self) -> Wait:
        """tensor.item(): a copy to the host, and the wait for it."""
        with self.range("aten::item"), self.range("aten::_local_scalar_dense"):
            copy = "Memcpy DtoH (Device -> Pageable)"
            yield from self.launch(
                copy, 2 * US, category="gpu_memcpy", call="cudaMemcpyAsync", args={"bytes": 4}
            )
            yield from self.synchronize(7)

    def event(self, stream: int) -> tuple[Signal, ...]:
        """What a stream has to finish before another that waits for this event goes on."""
        work = self.rank.last_work.get(stream)
        return () if work is None else (work.done,)

    def join(self, process: Wait) -> Wait:
        """Runs a process on another thread and waits for it."""
        finished = Signal()
        self._clock.spawn(self._finishing(process, finished))
        yield finished

    def _finishing(self, process: Wait, finished: Signal) -> Wait:
        yield 5 * US
        yield from process
        self._clock.fire(finished)

    @contextmanager
    def step(self, number: int) -> Iterator[None]:
        """A step of the profiler."""
        self.rank.step_starts.append(self._clock.now)
        with self.range(f"ProfilerStep#{number}", "user_annotation"):
            yield
        self.rank.step_ends.append(self._clock.now)

    def memory(self, delta: int, allocated: int, reserved: int) -> None:
        """An event of the caching allocator."""
        args = {
            "Bytes": delta,
            "Addr": 4096 + allocated,
            "Device Type": 1,
            "Device Id": 0,
            "Total Allocated": allocated,
            "Total Reserved": reserved,
        }
        self.rank.instants.append(
            {
                "ph": "i", "s": "t", "cat": "cpu_instant_event", "name": "[memory]", "pid": self.process,
                "tid": self.number, "ts": self._clock.now / US, "args": args,
            }
        )  # fmt: skip

    def _named(self, name: str) -> str:
        return name.replace("cuda", self.rank.job.names, 1)


A100 = {
    "id": 0,
    "name": "NVIDIA A100-SXM4-80GB",
    "totalGlobalMem": 85899345920,
    "computeMajor": 8,
    "computeMinor": 0,
    "numSms": 108,
}


def write_trace(rank: Rank, path: Path, device: dict[str, object] = A100) -> None:
    """Writes what the profiler would have recorded of a rank."""
    lines: list[dict[str, object]] = []
    for event in rank.events:
        line: dict[str, object] = {
            "ph": "X",
            "cat": event.category,
            "name": event.name,
            "pid": event.process,
            "tid": event.thread,
            "ts": event.start / US,
            "dur": (event.end - event.start) / US,
            "args": event.args,
        }
        lines.append(line)
    document: dict[str, object] = {"schemaVersion": 1, "deviceProperties": [device]}
    ranks = len(rank.job.ranks)
    if ranks > 1:
        document["distributedInfo"] = {"backend": "nccl", "rank": rank.number, "world_size": ranks}
    document["traceEvents"] = lines + rank.instants
    path.write_text(json.dumps(document), encoding="utf-8")

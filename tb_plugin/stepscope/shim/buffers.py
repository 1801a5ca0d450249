"""What a throughput series holds until it is in a closed block.

`add` only appends to three arrays, in an order by which another thread can tell how many marks are whole. Nothing else
ever replaces those arrays: a block that is safely written is cut off their front.
"""

from __future__ import annotations

from array import array
from dataclasses import dataclass, field

import numpy as np

from stepscope.model.throughput import Marks, RateSamples, ResetKind, Resets, Spans

UNKNOWN_COUNT = -1


@dataclass
class SeriesBuffers:
    """Marks, samples, resets and spans that are in no closed block. Times are readings of the clock.

    Attributes:
        marks_before: Marks in closed blocks.
        total_before: Samples in closed blocks.
    """

    count: array[int] = field(default_factory=lambda: array("q"))
    step: array[int] = field(default_factory=lambda: array("q"))
    time_ns: array[int] = field(default_factory=lambda: array("q"))
    samples: list[tuple[int, int, int]] = field(default_factory=list)
    resets: list[tuple[int, int, int, int, int]] = field(default_factory=list)
    spans: list[tuple[str, int, int]] = field(default_factory=list)
    open_spans: list[tuple[str, int]] = field(default_factory=list)
    marks_before: int = 0
    samples_before: int = 0
    total_before: int = 0

    def marks_seen(self) -> int:
        """All marks of the session."""
        return self.marks_before + len(self.time_ns)

    def add_sample(self, step: int, time_ns: int) -> None:
        """Notes that the rates were asked for."""
        self.samples.append((step, time_ns, self.marks_seen()))

    def add_reset(self, kind: ResetKind, time_ns: int, offset_ns: int) -> None:
        """Notes a reset of the tracker."""
        samples = self.samples_before + len(self.samples)
        self.resets.append((time_ns, offset_ns, kind, self.marks_seen(), samples))

    def snapshot(self) -> Snapshot:
        """A copy of all that is whole."""
        # time_ns is appended last, so that every mark up to its length is whole.
        size = len(self.time_ns)
        return Snapshot(
            self.step[:size],
            self.time_ns[:size],
            self.count[:size],
            self.samples[:],
            self.resets[:],
            self.spans[:],
            self.open_spans[:],
            self.marks_before,
            self.samples_before,
            self.total_before,
        )

    def drop(self, done: Snapshot) -> None:
        """Forgets what is in a closed block."""
        size = len(done.time_ns)
        for column in (self.count, self.step, self.time_ns):
            del column[:size]
        del self.samples[: len(done.samples)], self.resets[: len(done.resets)], self.spans[: len(done.spans)]
        self.marks_before += size
        self.samples_before += len(done.samples)
        self.total_before += sum(count for count in done.count if count > 0)

    def repair(self) -> None:
        """Takes back what a mark that could not be appended left."""
        size = len(self.time_ns)
        del self.count[size:], self.step[size:]


@dataclass(frozen=True)
class Snapshot:
    """A copy of the buffers of a series."""

    step: array[int]
    time_ns: array[int]
    count: array[int]
    samples: list[tuple[int, int, int]]
    resets: list[tuple[int, int, int, int, int]]
    spans: list[tuple[str, int, int]]
    open_spans: list[tuple[str, int]]
    marks_before: int
    samples_before: int
    total_before: int

    @property
    def size(self) -> tuple[int, ...]:
        """Changes when anything was added."""
        return (
            len(self.time_ns),
            len(self.samples),
            len(self.resets),
            len(self.spans),
            len(self.open_spans),
        )

    def marks(self, base_ns: int) -> Marks:
        """The marks, relative to the base."""
        columns = (np.frombuffer(column, np.int64) for column in (self.step, self.time_ns, self.count))
        step, time_ns, count = columns
        return Marks(step=step, time_ns=time_ns - base_ns, count=np.maximum(count, UNKNOWN_COUNT))

    def sample_group(self, base_ns: int) -> RateSamples:
        """The samples, relative to the base and to the block."""
        step, time_ns, mark_end = np.array(self.samples, np.int64).reshape(-1, 3).T
        return RateSamples(step=step, time_ns=time_ns - base_ns, mark_end=np.maximum(mark_end - self.marks_before, 0))

    def reset_group(self, base_ns: int) -> Resets:
        """The resets, relative to the base and to the block."""
        time_ns, offset_ns, kind, mark_end, sample_end = np.array(self.resets, np.int64).reshape(-1, 5).T
        return Resets(
            time_ns=time_ns - base_ns,
            offset_ns=offset_ns,
            kind=kind,
            mark_end=mark_end - self.marks_before,
            sample_end=sample_end - self.samples_before,
        )

    def span_group(self, base_ns: int, now_ns: int) -> tuple[list[str], Spans]:
        """The words of the spans, and the spans relative to the base; open ones end now."""
        rows = [(*span, 0) for span in self.spans] + [(kind, start, now_ns, 1) for kind, start in self.open_spans]
        words = list(dict.fromkeys(kind for kind, *_ in rows))
        index = {word: number for number, word in enumerate(words)}
        table = [(index[kind], start - base_ns, end - base_ns, still) for kind, start, end, still in rows]
        return words, Spans(*np.array(table, np.int64).reshape(-1, 4).T)

"""What a throughput series holds until it is in a closed block.

`add` only appends to three arrays, in an order by which another thread can tell how many marks are whole. Nothing else
ever replaces those arrays: a block that is safely written is cut off their front.
"""

from __future__ import annotations

from array import array
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from stepscope.model.throughput import Marks, RateSamples, ResetKind, Resets, Spans

UNKNOWN_COUNT = -1


class Rows(NamedTuple):
    """How many rows of each kind."""

    marks: int = 0
    samples: int = 0
    resets: int = 0
    spans: int = 0

    def plus(self, more: Rows) -> Rows:
        """The sums."""
        return Rows(
            marks=self.marks + more.marks,
            samples=self.samples + more.samples,
            resets=self.resets + more.resets,
            spans=self.spans + more.spans,
        )


@dataclass
class SeriesBuffers:
    """Marks, samples, resets and spans that are in no closed block. Times are readings of the clock.

    Attributes:
        before: What is in closed blocks.
        total_before: Samples counted in closed blocks.
    """

    count: array[int] = field(default_factory=lambda: array("q"))
    step: array[int] = field(default_factory=lambda: array("q"))
    time_ns: array[int] = field(default_factory=lambda: array("q"))
    samples: list[tuple[int, int, int]] = field(default_factory=list)
    resets: list[tuple[int, int, int, int, int]] = field(default_factory=list)
    spans: list[tuple[str, int, int]] = field(default_factory=list)
    open_spans: list[tuple[str, int]] = field(default_factory=list)
    before: Rows = Rows()
    total_before: int = 0

    def marks_seen(self) -> int:
        """All marks of the session."""
        return self.before.marks + len(self.time_ns)

    def add_sample(self, step: int, time_ns: int) -> None:
        """Notes that the rates were sampled."""
        self.samples.append((step, time_ns, self.marks_seen()))

    def add_reset(self, kind: ResetKind, time_ns: int, offset_ns: int) -> None:
        """Notes a reset of the tracker."""
        samples = self.before.samples + len(self.samples)
        self.resets.append((time_ns, offset_ns, kind, self.marks_seen(), samples))

    def snapshot(self) -> Snapshot:
        """A copy of all that is whole."""
        # time_ns is appended last, so that every mark up to its length is whole.
        size = len(self.time_ns)
        return Snapshot(
            step=self.step[:size],
            time_ns=self.time_ns[:size],
            count=self.count[:size],
            samples=self.samples[:],
            resets=self.resets[:],
            spans=self.spans[:],
            open_spans=self.open_spans[:],
            before=self.before,
            total_before=self.total_before,
        )

    def drop(self, done: Snapshot) -> None:
        """Forgets the rows of a closed block."""
        rows = done.rows
        for column in (self.count, self.step, self.time_ns):
            del column[: rows.marks]
        del self.samples[: rows.samples]
        del self.resets[: rows.resets]
        del self.spans[: rows.spans]
        self.before = self.before.plus(rows)
        self.total_before += _counted(done.count)

    def repair(self) -> None:
        """Takes back the rest of a mark that could not be appended."""
        size = len(self.time_ns)
        del self.count[size:], self.step[size:]


def _counted(counts: array[int]) -> int:
    return sum(count for count in counts if count > 0)


@dataclass(frozen=True)
class Snapshot:
    """A copy of the buffers of a series, or of their last rows."""

    step: array[int]
    time_ns: array[int]
    count: array[int]
    samples: list[tuple[int, int, int]]
    resets: list[tuple[int, int, int, int, int]]
    spans: list[tuple[str, int, int]]
    open_spans: list[tuple[str, int]]
    before: Rows
    total_before: int

    @property
    def rows(self) -> Rows:
        """How much it holds, without open spans."""
        return Rows(
            marks=len(self.time_ns),
            samples=len(self.samples),
            resets=len(self.resets),
            spans=len(self.spans),
        )

    def after(self, rows: Rows) -> Snapshot:
        """The same without the first rows of each kind."""
        return Snapshot(
            step=self.step[rows.marks :],
            time_ns=self.time_ns[rows.marks :],
            count=self.count[rows.marks :],
            samples=self.samples[rows.samples :],
            resets=self.resets[rows.resets :],
            spans=self.spans[rows.spans :],
            open_spans=self.open_spans,
            before=self.before.plus(rows),
            total_before=self.total_before + _counted(self.count[: rows.marks]),
        )

    def without_open_spans(self) -> Snapshot:
        """The same without the spans that have not ended."""
        return replace(self, open_spans=[])

    def marks(self, base_ns: int) -> Marks:
        """The marks, relative to the base."""
        columns = (
            np.frombuffer(column, np.int64) for column in (self.step, self.time_ns, self.count)
        )
        step, time_ns, count = columns
        return Marks(step=step, time_ns=time_ns - base_ns, count=np.maximum(count, UNKNOWN_COUNT))

    def sample_group(self, base_ns: int) -> RateSamples:
        """The samples, relative to the base and to the block."""
        step, time_ns, mark_end = np.array(self.samples, np.int64).reshape(-1, 3).T
        return RateSamples(
            step=step,
            time_ns=time_ns - base_ns,
            mark_end=np.maximum(mark_end - self.before.marks, 0),
        )

    def reset_group(self, base_ns: int) -> Resets:
        """The resets, relative to the base and to the block."""
        time_ns, offset_ns, kind, mark_end, sample_end = (
            np.array(self.resets, np.int64).reshape(-1, 5).T
        )
        return Resets(
            time_ns=time_ns - base_ns,
            offset_ns=offset_ns,
            kind=kind,
            mark_end=mark_end - self.before.marks,
            sample_end=sample_end - self.before.samples,
        )

    def span_group(self, base_ns: int, now_ns: int) -> tuple[list[str], Spans]:
        """The words of the spans, and the spans relative to the base; open ones end now."""
        rows = [(*span, 0) for span in self.spans] + [
            (kind, start, now_ns, 1) for kind, start in self.open_spans
        ]
        words = list(dict.fromkeys(kind for kind, *_ in rows))
        index = {word: number for number, word in enumerate(words)}
        table = [
            (index[kind], start - base_ns, end - base_ns, still) for kind, start, end, still in rows
        ]
        return words, Spans(*np.array(table, np.int64).reshape(-1, 4).T)

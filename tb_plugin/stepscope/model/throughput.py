"""The throughput record: when samples were counted, when the rate was asked for, and what went on beside training.

All `*_ns` columns are readings of one monotonic clock, relative to `base_ns`. `header.wall_anchor_ns` is the Unix time
at relative time 0. The order of marks, samples and resets is the order in which they happened: a clock may step back,
and two events may share a stamp, so samples and resets say how many marks (and samples) came before them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from stepscope.errors import RecordError
from stepscope.model.arrays import F64, I32, I64
from stepscope.model.columns import Group, Record, Strings, column
from stepscope.pb import throughput_pb2

I8 = NDArray[np.int8]

UNKNOWN_NS = -(2**63)
"""The stamp of something whose time is not known."""

SAME_RATE = 1e-3
"""How far two rates may lie apart, of the greater, and still be one value printed or rounded twice."""

SPAN_KINDS = ("compile", "checkpoint", "evaluation", "profile", "data", "pause")
"""The spans that are not training. `profile` is what profiling itself takes to store a trace, `pause` has a
cause that the source does not state. Any other word is training."""
PAUSE_KINDS = tuple(kind for kind in SPAN_KINDS if kind != "data")
"""The spans in which no outputs are taken in; waits for data are part of every step."""


class ResetKind(IntEnum):
    """What a reset of the tracker forgets."""

    RESET = 0
    """Counts, the previous rate and the start."""
    RESET_TIME = 1
    """Only the start: it moves to now - offset, and so does the last sampling point."""
    SESSION = 2
    """A new process goes on with the series: as RESET."""


@dataclass(frozen=True, eq=False)
class Marks(Group):
    """Samples whose outputs were received."""

    step: I64 = column("int64", "Training step, -1 when unknown", default=-1, grows=True)
    time_ns: I64 = column("int64", "When the outputs were received", grows=True)
    count: I64 = column("int64", "Samples, -1 when the batch size is unknown", grows=True)


@dataclass(frozen=True, eq=False)
class RateSamples(Group):
    """The moments at which the rate was asked for."""

    step: I64 = column("int64", "Training step, -1 when unknown", default=-1, grows=True)
    time_ns: I64 = column("int64", "When it was asked", grows=True)
    mark_end: I64 = column("int64", "How many marks came before", default=0, grows=True)


@dataclass(frozen=True, eq=False)
class Reported(Group):
    """Rates that the source itself states, of samples in ascending order."""

    sample: I64 = column("int64", "In samples")
    local_samples_per_sec: F64 = column("float64", "Rate, -1 where not stated", default=-1)
    avg_samples_per_sec: F64 = column("float64", "GlobalRate, -1 where not stated", default=-1)
    tflops_per_device: F64 = column(
        "float64", "TFLOP/s of one device, -1 where not stated", default=-1
    )
    mfu: F64 = column(
        "float64", "Model FLOP/s utilization, 0 to 1, -1 where not stated", default=-1
    )


@dataclass(frozen=True, eq=False)
class Resets(Group):
    """Resets of the tracker."""

    time_ns: I64 = column("int64", "When it was reset")
    offset_ns: I64 = column("int64", "How far before that the new start lies", default=0)
    kind: I8 = column("int8", "ResetKind", default=0)
    mark_end: I64 = column("int64", "How many marks came before", default=0, grows=True)
    sample_end: I64 = column("int64", "How many samples came before", default=0)


@dataclass(frozen=True, eq=False)
class Spans(Group):
    """What the host did beside waiting for outputs."""

    kind: I32 = column("int32", "The word, in strings")
    start_ns: I64 = column("int64", "Its start")
    end_ns: I64 = column("int64", "Its end, or the last moment seen of an open one")
    open: I8 = column("int8", "1 where it had not ended", default=0)


@dataclass(frozen=True)
class Throughput(Record):
    """A throughput series, or one block of it.

    Attributes:
        name: The series' name.
        unit: The word for what is counted: samples, tokens, steps.
        base_ns: The clock's reading at relative time 0.
        start_ns: When the executable was loaded, UNKNOWN_NS when unknown.
        first_sample_ns: When the first outputs were received, UNKNOWN_NS when unknown.
        smoothing: Weight of the previous rate, 0 to 1.
        sampling_rule: When the rate is asked for: log_step, batch, call.
        log_every: Steps between two samples under the rule log_step, 0 when unknown.
        batch_size: Samples of one step on all devices, 0 when unknown or changing.
        devices: Devices that share the work, 0 when unknown.
        flops_per_sample: Float operations per sample, 0 when unknown.
        peak_flops_per_sec: Peak of one device, 0 when unknown.
        planned_steps: Steps the run is to take, 0 when unknown.
        measured_at: Where the stamps are taken.
        session: Which process wrote it.
        block: Which block of that process's series it is.
        total_before: Samples of the session counted before this block.
        tail_after: Of a tail (see `stepscope.model.throughput_tail`): how many marks, samples, resets and spans of the
            session come before it. Empty in a block.
    """

    KIND: ClassVar[str] = "throughput"
    SCHEMA: ClassVar[int] = 1
    MESSAGE = throughput_pb2.Throughput

    name: str = "train"
    unit: str = "samples"
    base_ns: int = 0
    start_ns: int = UNKNOWN_NS
    first_sample_ns: int = UNKNOWN_NS
    smoothing: float = 0.4
    sampling_rule: str = "log_step"
    log_every: int = 0
    batch_size: int = 0
    devices: int = 0
    flops_per_sample: float = 0.0
    peak_flops_per_sec: float = 0.0
    planned_steps: int = 0
    measured_at: str = "the host that receives outputs"
    session: str = ""
    block: int = 0
    total_before: int = 0
    tail_after: tuple[int, ...] = ()
    strings: Strings = field(default_factory=Strings)
    marks: Marks = field(default_factory=Marks)
    samples: RateSamples = field(default_factory=RateSamples)
    reported: Reported = field(default_factory=Reported)
    resets: Resets = field(default_factory=Resets)
    spans: Spans = field(default_factory=Spans)

    def validate(self) -> None:
        """Raises RecordError where lengths, order or ranges do not hold together."""
        super().validate()
        if not 0.0 <= self.smoothing <= 1.0:
            raise _broken("smoothing", f"a smoothing of {self.smoothing}, which is not from 0 to 1")
        _check_times(self)
        _check_range("marks.count", self.marks.count, -1, 2**63)
        _check_range("samples.mark_end", self.samples.mark_end, 0, len(self.marks) + 1)
        _check_order("samples.mark_end", self.samples.mark_end)
        _check_range("reported.sample", self.reported.sample, 0, len(self.samples))
        _check_range("spans.kind", self.spans.kind, 0, len(self.strings))
        _check_resets(self)


_FARTHEST_NS = 1 << 62
"""Times nearer than this have differences that int64 holds."""
_TIMES = {
    "marks": ("time_ns",),
    "samples": ("time_ns",),
    "resets": ("time_ns", "offset_ns"),
    "spans": ("start_ns", "end_ns"),
}


def _broken(place: str, found: str) -> RecordError:
    return RecordError(
        found, where=f"throughput record, {place}", remedy="Report this to whoever wrote the record"
    )


def _check_range(place: str, values: NDArray[np.signedinteger], low: int, high: int) -> None:
    if len(values) and not (low <= int(values.min()) and int(values.max()) < high):
        bad = int(np.argmax((values < low) | (values.astype(np.float64) >= high)))
        raise _broken(f"{place}[{bad}]", f"{int(values[bad])} is not in [{low}, {high})")


def _check_times(record: Throughput) -> None:
    for place, names in _TIMES.items():
        for name in names:
            _check_range(
                f"{place}.{name}",
                getattr(getattr(record, place), name),
                -_FARTHEST_NS,
                _FARTHEST_NS,
            )
    for name in ("start_ns", "first_sample_ns"):
        time_ns = getattr(record, name)
        if time_ns != UNKNOWN_NS and not -_FARTHEST_NS <= time_ns < _FARTHEST_NS:
            raise _broken(name, f"{time_ns} is farther than 146 years away")


def _check_order(place: str, values: I64) -> None:
    back = values[1:] < values[:-1]
    if back.any():
        bad = int(np.argmax(back)) + 1
        raise _broken(f"{place}[{bad}]", f"{int(values[bad])} after {int(values[bad - 1])}")


def _check_resets(record: Throughput) -> None:
    resets = record.resets
    _check_range("resets.kind", resets.kind, 0, len(ResetKind))
    for name, size in (("mark_end", len(record.marks)), ("sample_end", len(record.samples))):
        ends = getattr(resets, name)
        _check_range(f"resets.{name}", ends, 0, size + 1)
        _check_order(f"resets.{name}", ends)

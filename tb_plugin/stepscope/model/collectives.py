"""The collectives record: what each TPU core did for cross-slice collectives, and what crossed the data center network.

Every index column holds positions in another group or in the string table, -1 for none. Times are integer picoseconds
from a base that the core or host declares in ns since the Unix epoch, or since an unknown origin where the base is 0:
picoseconds since the epoch do not fit 64 bits. Times of two cores compare only through their bases.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from stepscope.errors import RecordError
from stepscope.model.arrays import I32, I64
from stepscope.model.columns import Group, Record, Strings, column
from stepscope.pb import collectives_pb2

I8 = NDArray[np.int8]


class OpKind(IntEnum):
    """Which of the four ops of a host transfer an instruction is."""

    SEND = 0
    SEND_DONE = 1
    RECV = 2
    RECV_DONE = 3


class Identity(IntEnum):
    """How an instruction's rendezvous was found."""

    NONE = 0
    """It was not: neither the HLO proto nor the instruction text names it."""
    HLO = 1
    """From the program's HLO proto, along the operands."""
    TEXT = 2
    """From the instruction text in the profile's event name."""


@dataclass(frozen=True, eq=False)
class Hosts(Group):
    """One row per host."""

    name: I32 = column("int32", "The host's name, in strings")
    source: I32 = column(
        "int32", "The file it was read from, without its folder, in strings", default=-1
    )
    base_ns: I64 = column("int64", "What the host's transfer times are relative to", default=0)


@dataclass(frozen=True, eq=False)
class Cores(Group):
    """One row per TPU core, also those without collectives."""

    host: I32 = column("int32", "In hosts")
    id: I32 = column("int32", "The core's number on its host")
    name: I32 = column("int32", "As the profile calls it, in strings", default=-1)
    device_type: I32 = column("int32", "In strings", default=-1)
    base_ns: I64 = column("int64", "What the core's times are relative to", default=0)
    window_start_ps: I64 = column("int64", "Start of the first event of the core", default=0)
    window_end_ps: I64 = column("int64", "End of the last event of the core", default=0)


@dataclass(frozen=True, eq=False)
class Executions(Group):
    """Executions of XLA modules, per core in order of start."""

    core: I32 = column("int32", "In cores")
    program: I32 = column("int32", "Module name with the program's id, in strings")
    run_id: I64 = column(
        "int64", "The runtime's number of the execution, 0 when unknown", default=0
    )
    start_ps: I64 = column("int64", "Relative to the core's base")
    duration_ps: I64 = column("int64", "Of the whole execution")


@dataclass(frozen=True, eq=False)
class Instructions(Group):
    """The HLO instructions that the ops execute. Other host transfers (host callbacks, infeed) are not here."""

    program: I32 = column("int32", "Module name with the program's id, in strings", default=-1)
    name: I32 = column("int32", "Instruction name without '%', in strings")
    kind: I8 = column("int8", "OpKind")
    identity: I8 = column("int8", "Identity: how the rendezvous was found", default=0)
    rendezvous: I32 = column("int32", "Name of the collective, in strings", default=-1)
    transfer_type: I32 = column("int32", "ALL_REDUCE, ONE_TO_ONE and so on, in strings", default=-1)
    payload_bytes: I64 = column(
        "int64", "Bytes of the data operand or result, -1 when unknown", default=-1
    )
    group_size: I32 = column(
        "int32", "Slices that exchange data, 1 for one-to-one, 0 when unknown", default=0
    )
    scheduled: I32 = column("int32", "The instruction's place in schedule", default=-1)


@dataclass(frozen=True, eq=False)
class Ops(Group):
    """Executions of the instructions, per core in order of start."""

    core: I32 = column("int32", "In cores")
    instruction: I32 = column("int32", "In instructions")
    execution: I32 = column(
        "int32", "The module execution in which it starts, in executions", default=-1
    )
    start_ps: I64 = column("int64", "Relative to the core's base")
    duration_ps: I64 = column("int64", "Time on the core")


@dataclass(frozen=True, eq=False)
class Schedule(Group):
    """Instructions of the computations that hold collectives, in the order in which they are scheduled.

    A computation's rows stand together, so the instructions between a send and its recv-done are a slice.
    """

    program: I32 = column("int32", "Module name with the program's id, in strings")
    computation: I32 = column("int32", "In strings")
    name: I32 = column("int32", "Instruction name without '%', in strings")
    opcode: I32 = column("int32", "In strings", default=-1)
    op_name: I32 = column("int32", "The framework's op, in strings", default=-1)
    run_count: I64 = column("int64", "Executions in the profile, over all cores", default=0)
    total_ps: I64 = column("int64", "Time of these executions", default=0)
    operand_end: I64 = column("int64", "End of the instruction's rows in operands", default=0)


@dataclass(frozen=True, eq=False)
class Operands(Group):
    """Operands of scheduled instructions within their computation."""

    source: I32 = column("int32", "The instruction that produces the operand, in schedule")


@dataclass(frozen=True, eq=False)
class Transfers(Group):
    """Transfers over the network as the hosts saw them."""

    host: I32 = column("int32", "The host that recorded it, in hosts")
    name: I32 = column("int32", "As the profile calls it, in strings")
    label: I32 = column("int32", "The runtime's name of the transfer, in strings", default=-1)
    start_ps: I64 = column("int64", "Relative to the host's base")
    duration_ps: I64 = column("int64", "From send to receipt", default=0)
    payload_bytes: I64 = column("int64", "-1 when unknown", default=-1)
    latency_ps: I64 = column("int64", "Of the network transport, -1 when unknown", default=-1)
    source_slice: I32 = column("int32", "-1 when unknown", default=-1)
    source_device: I32 = column("int32", "Within the slice, -1 when unknown", default=-1)
    destination_slice: I32 = column("int32", "-1 when unknown", default=-1)
    destination_device: I32 = column("int32", "Within the slice, -1 when unknown", default=-1)


@dataclass(frozen=True)
class Collectives(Record):
    """The collectives of one profile, over all its hosts.

    Attributes:
        strings: Every text, by index.
    """

    KIND: ClassVar[str] = "collectives"
    SCHEMA: ClassVar[int] = 1
    MESSAGE = collectives_pb2.Collectives

    strings: Strings = field(default_factory=Strings)
    hosts: Hosts = field(default_factory=Hosts)
    cores: Cores = field(default_factory=Cores)
    executions: Executions = field(default_factory=Executions)
    instructions: Instructions = field(default_factory=Instructions)
    ops: Ops = field(default_factory=Ops)
    schedule: Schedule = field(default_factory=Schedule)
    operands: Operands = field(default_factory=Operands)
    transfers: Transfers = field(default_factory=Transfers)

    @property
    def rows(self) -> int:
        """DCN ops: 0 where the cores exchanged nothing over the data center network."""
        return len(self.ops)

    def validate(self) -> None:
        """Raises RecordError where lengths, indices, offsets or times do not hold together."""
        super().validate()
        for group, name, target, optional in _REFERENCES:
            _check_index(
                self, group, name, len(getattr(self, target)), lowest=-1 if optional else 0
            )
        _check_index(self, "instructions", "kind", len(OpKind))
        _check_index(self, "instructions", "identity", len(Identity))
        for group in ("executions", "ops", "transfers"):
            _check_index(self, group, "duration_ps", None)
        _check_operands(self)


_REFERENCES = (
    ("hosts", "name", "strings", False),
    ("hosts", "source", "strings", True),
    ("cores", "host", "hosts", False),
    ("cores", "name", "strings", True),
    ("cores", "device_type", "strings", True),
    ("executions", "core", "cores", False),
    ("executions", "program", "strings", False),
    ("instructions", "program", "strings", True),
    ("instructions", "name", "strings", False),
    ("instructions", "rendezvous", "strings", True),
    ("instructions", "transfer_type", "strings", True),
    ("instructions", "scheduled", "schedule", True),
    ("ops", "core", "cores", False),
    ("ops", "instruction", "instructions", False),
    ("ops", "execution", "executions", True),
    ("schedule", "program", "strings", False),
    ("schedule", "computation", "strings", False),
    ("schedule", "name", "strings", False),
    ("schedule", "opcode", "strings", True),
    ("schedule", "op_name", "strings", True),
    ("operands", "source", "schedule", False),
    ("transfers", "host", "hosts", False),
    ("transfers", "name", "strings", False),
    ("transfers", "label", "strings", True),
)


def _broken(place: str, found: str) -> RecordError:
    return RecordError(
        found,
        where=f"collectives record, {place}",
        remedy="Report this to whoever wrote the record",
    )


def _check_index(
    record: Collectives, group: str, name: str, size: int | None, *, lowest: int = 0
) -> None:
    values = getattr(getattr(record, group), name)
    wrong = values < lowest
    if size is not None:
        wrong |= values >= size
    if wrong.any():
        bad = int(np.argmax(wrong))
        limit = f"{lowest} or more" if size is None else f"from {lowest} to {size - 1}"
        raise _broken(f"{group}.{name}[{bad}]", f"{int(values[bad])}, which should be {limit}")


def _check_operands(record: Collectives) -> None:
    end, size = record.schedule.operand_end, len(record.operands)
    last = int(end[-1]) if len(end) else 0
    if last != size or bool((np.diff(end, prepend=0) < 0).any()):
        raise _broken(
            "schedule.operand_end", f"end offsets do not divide the {size} rows of operands"
        )

"""The arguments of events, by kind. What is not declared here is left in the file."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import msgspec
from msgspec import Raw

from stepscope.sources.torch_trace.event import UNREADABLE, Event, Id

_NOTHING = Raw(b"")
_EMPTY = Raw(b"{}")

PROPERTIES = (
    "grid",
    "block",
    "registers per thread",
    "shared memory",
    "blocks per SM",
    "warps per SM",
    "est. achieved occupancy %",
    "bytes",
    "Collective name",
    "In msg nelems",
    "Out msg nelems",
    "Group size",
    "dtype",
    "Process Group Name",
    "Process Group Description",
    "Process Group Ranks",
)
"""What a kernel's or collective's arguments say of how it ran."""

_PROPERTY_FIELDS = [
    (f"p{number}", Raw, msgspec.field(name=name, default=_NOTHING))
    for number, name in enumerate(PROPERTIES)
]


class OpArgs(msgspec.Struct, gc=False):
    """Arguments of an op or annotation."""

    dims: Raw = msgspec.field(name="Input Dims", default=_NOTHING)
    old_dims: Raw = msgspec.field(name="Input dims", default=_NOTHING)
    stack: Raw = msgspec.field(name="Call stack", default=_NOTHING)
    sequence: Id = msgspec.field(name="Sequence number", default=None)
    forward_thread: Id = msgspec.field(name="Fwd thread id", default=None)
    rank: Id = None


class PythonArgs(msgspec.Struct, gc=False):
    """Arguments of a Python frame."""

    id: Id = msgspec.field(name="Python id", default=None)
    parent: Id = msgspec.field(name="Python parent id", default=None)


class LaunchArgs(msgspec.Struct, gc=False):
    """Arguments of a call of the accelerator's host library."""

    correlation: Id = None


class DeviceArgs(msgspec.Struct, gc=False):
    """Arguments of work on an accelerator."""

    correlation: Id = None
    device: Id = None
    stream: Id = None
    rank: Id = None


class PlainArgs(msgspec.Struct, gc=False):
    """Arguments of an event without a category, as torch_npu writes those of CANN and the device."""

    connection: Id = msgspec.field(name="connection_id", default=None)
    task: Id = msgspec.field(name="Task Type", default=None)


class CommunicationArgs(msgspec.Struct, gc=False):
    """What tells one call of a collective, a send or a receive from the others."""

    collective_sequence: Id = msgspec.field(name="Seq", default=None)
    source: Id = msgspec.field(name="Src Rank", default=None)
    destination: Id = msgspec.field(name="Dst Rank", default=None)


PropertyArgs = msgspec.defstruct("PropertyArgs", _PROPERTY_FIELDS, gc=False)


class MemoryArgs(msgspec.Struct, gc=False):
    """Arguments of an allocator event."""

    delta: Id = msgspec.field(name="Bytes", default=None)
    address: Id = msgspec.field(name="Addr", default=None)
    device_type: Id = msgspec.field(name="Device Type", default=None)
    device_id: Id = msgspec.field(name="Device Id", default=None)
    allocated: Id = msgspec.field(name="Total Allocated", default=None)
    reserved: Id = msgspec.field(name="Total Reserved", default=None)


class NameArgs(msgspec.Struct, gc=False):
    """Arguments of a metadata event."""

    name: Id = None
    labels: Id = None


A = TypeVar("A", bound=msgspec.Struct)


def decode_args(kind: type[A], events: Sequence[Event]) -> list[A]:
    """The arguments of events, all at once. Where some have values of another type, one by one."""
    texts = [event.args if len(memoryview(event.args)) > 1 else _EMPTY for event in events]
    try:
        decoder = msgspec.json.Decoder(list[kind])  # type: ignore[valid-type]
        return decoder.decode(b"[" + b",".join(texts) + b"]")
    except UNREADABLE:
        return [_decode_one(kind, text) for text in texts]


def _decode_one(kind: type[A], text: Raw) -> A:
    try:
        return msgspec.json.decode(text, type=kind)
    except UNREADABLE:
        return kind()

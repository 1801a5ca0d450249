"""The arguments of events, by kind. What is not declared here is left in the file."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import msgspec
from msgspec import Raw

from stepscope.sources.torch_trace.events import UNREADABLE, Event, Id


class OpArgs(msgspec.Struct, gc=False):
    """Arguments of an op or annotation."""

    dims: Raw = msgspec.field(name="Input Dims", default=Raw(b""))
    old_dims: Raw = msgspec.field(name="Input dims", default=Raw(b""))
    stack: Raw = msgspec.field(name="Call stack", default=Raw(b""))
    sequence: Id = msgspec.field(name="Sequence number", default=None)
    forward_thread: Id = msgspec.field(name="Fwd thread id", default=None)


class PythonArgs(msgspec.Struct, gc=False):
    """Arguments of a Python frame."""

    id: Id = msgspec.field(name="Python id", default=None)
    parent: Id = msgspec.field(name="Python parent id", default=None)


class LaunchArgs(msgspec.Struct, gc=False):
    """Arguments of a call of the accelerator's host library."""

    correlation: Id = None


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
"""What a kernel's or collective's arguments say of how it ran; everything else is left in the file."""

PropertyArgs = msgspec.defstruct(
    "PropertyArgs",
    [(f"p{i}", Raw, msgspec.field(name=name, default=Raw(b""))) for i, name in enumerate(PROPERTIES)],
    gc=False,
)


class DeviceArgs(msgspec.Struct, gc=False):
    """Arguments of work on an accelerator."""

    correlation: Id = None
    device: Id = None
    stream: Id = None


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


A = TypeVar("A", bound=msgspec.Struct)


def decode_args(kind: type[A], events: Sequence[Event]) -> list[A]:
    """The arguments of events, all at once; one by one where some have values of another type, defaults for those."""
    texts = [event.args if len(memoryview(event.args)) > 1 else _EMPTY for event in events]
    try:
        return msgspec.json.Decoder(list[kind]).decode(b"[" + b",".join(texts) + b"]")  # type: ignore[valid-type]
    except UNREADABLE:
        return [_one_args(kind, text) for text in texts]


_EMPTY = Raw(b"{}")


def _one_args(kind: type[A], text: Raw) -> A:
    try:
        return msgspec.json.decode(text, type=kind)
    except UNREADABLE:
        return kind()

"""What leads to what: launches to device work, forward to backward ops, ops to their memory."""

from __future__ import annotations

from dataclasses import dataclass

from stepscope.model.columns import Array
from stepscope.sources.torch_trace.backward import forward_backward
from stepscope.sources.torch_trace.columns import EventColumns
from stepscope.sources.torch_trace.device import DeviceWork, Launches, device_work, launches
from stepscope.sources.torch_trace.memory import MemoryEvents, memory_events
from stepscope.sources.torch_trace.nesting import Nesting


@dataclass(frozen=True)
class EventLinks:
    """Links between the events of a trace.

    Attributes:
        launches: Calls of the accelerator's host library, each with the op around it.
        device: Device work, each piece with its launch and its owner.
        forward, backward: Ops, and the backward op that each leads to.
        memory: Allocator events, each with the op that is running.
    """

    launches: Launches
    device: DeviceWork
    forward: Array
    backward: Array
    memory: MemoryEvents


def link_events(columns: EventColumns, nesting: Nesting) -> EventLinks:
    """Links the events of a trace."""
    launched = launches(columns, nesting.thread, nesting.ops)
    forward, backward = forward_backward(columns, nesting.thread, nesting.ops)
    return EventLinks(
        launches=launched,
        device=device_work(columns, nesting.thread, launched, nesting.ops),
        forward=forward,
        backward=backward,
        memory=memory_events(columns, nesting.thread, nesting.ops),
    )

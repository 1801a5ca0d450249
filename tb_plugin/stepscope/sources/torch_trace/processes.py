"""What the processes of a trace are: host, device, or a picture of other work.

Traces of torch_npu (`trace_view.json`) and exports from before Kineto have ranges without a
category. There the name of the process says what a range is.
"""

from __future__ import annotations

import re
from enum import Enum, auto

import numpy as np

from stepscope.model.columns import Array
from stepscope.sources.torch_trace.columns import PYTHON_GC, EventColumns
from stepscope.sources.torch_trace.event import Id
from stepscope.sources.torch_trace.kinds import ANNOTATION
from stepscope.sources.torch_trace.tables import Table

ASCEND = "npu"
"""The category of device work in traces of torch_npu."""

_LEGACY_DEVICE = "CUDA functions"
_HARDWARE = "Ascend Hardware"
_LIBRARY = "CANN"
_COMMUNICATION = ("Communication", "HCCL")
_PYTHON = "Python"
_PLANE = re.compile(r"Plane\b")
"""Lanes with the tasks of collectives. The lanes of their groups have each collective as a whole."""
_WORK = re.compile(
    r"AI_?C|AI_?V|AI_VECTOR|AICPU|KERNEL|MIX|FFTS|DSA|DVPP|MEMCPY|SDMA", re.IGNORECASE
)
"""Task types that are work. The others wait for events, or notify."""
_NUMBER = re.compile(r"\d+")

_COMMUNICATION_COLUMNS = ("properties", "collective_sequence", "source", "destination")
_OP_COLUMNS = (
    *("start", "name", "thread", "duration", "dims", "stack", "sequence", "forward_thread"),
    *_COMMUNICATION_COLUMNS,
)
_LAUNCH_COLUMNS = ("start", "name", "thread", "duration", "category", "correlation")
_DEVICE_COLUMNS = (*_LAUNCH_COLUMNS, "in_order", *_COMMUNICATION_COLUMNS)


class Role(Enum):
    """What the ranges of a process are."""

    HOST = auto()
    LIBRARY = auto()
    """Calls of the accelerator's host library."""
    DEVICE = auto()
    COMMUNICATION = auto()
    GARBAGE_COLLECTION = auto()
    PICTURE = auto()
    """Sums and rates of other work, such as `Overlap Analysis`."""


def sort_plain_ranges(columns: EventColumns) -> None:
    """Moves the ranges without a category to the tables of ops, launches and device work."""
    plain = columns.plain
    if not len(plain):
        return
    roles = _thread_roles(columns)[plain["thread"]]
    _add_host_ranges(columns, plain.only(roles == Role.HOST.value), "")
    collections = plain.only(roles == Role.GARBAGE_COLLECTION.value)
    if len(collections):
        collections["name"][:] = columns.names.number(PYTHON_GC)
    _add_host_ranges(columns, collections, ANNOTATION)
    _add_launches(columns, plain.only(roles == Role.LIBRARY.value))

    is_communication = roles == Role.COMMUNICATION.value
    is_work = (roles == Role.DEVICE.value) & _is_work(columns, plain)
    _add_device_ranges(columns, plain.only(is_work | is_communication))
    columns.plain = Table()


def is_ascend(columns: EventColumns) -> bool:
    """Whether torch_npu wrote the trace."""
    return _HARDWARE in columns.process_names.values()


def python_process(columns: EventColumns) -> dict[Id, Id]:
    """The process whose threads those of another process are: torch_npu lists CANN's calls apart."""
    processes = {name: pid for pid, name in columns.process_names.items()}
    if _PYTHON not in processes or _LIBRARY not in processes:
        return {}
    return {processes[_LIBRARY]: processes[_PYTHON]}


def _thread_roles(columns: EventColumns) -> Array:
    """The role of each thread, as a number of `Role`."""
    ascend = is_ascend(columns)
    roles = []
    for pid, tid in columns.threads.values():
        process = columns.process_names.get(pid, "")
        thread = columns.thread_names.get((pid, tid), "")
        role = _ascend_role(process, thread) if ascend else _legacy_role(pid)
        roles.append(role.value)
    return np.array(roles, np.int64)


def _legacy_role(pid: Id) -> Role:
    return Role.DEVICE if pid == _LEGACY_DEVICE else Role.HOST


def _ascend_role(process: str, thread: str) -> Role:
    if process in ("", _PYTHON):
        return Role.HOST
    if process == _LIBRARY:
        return Role.LIBRARY
    if process == _HARDWARE:
        return Role.DEVICE
    if process in _COMMUNICATION and not _PLANE.match(thread):
        return Role.COMMUNICATION
    if process == PYTHON_GC:
        return Role.GARBAGE_COLLECTION
    return Role.PICTURE


def _is_work(columns: EventColumns, plain: Table) -> Array:
    """Whether a task of the device computes or copies."""
    works = [not task or bool(_WORK.search(task)) for task in columns.tasks.values()]
    return np.array(works, bool)[plain["task"]]


def _add_host_ranges(columns: EventColumns, ranges: Table, category: str) -> None:
    if not len(ranges):
        return
    selected = {name: ranges[name] for name in _OP_COLUMNS}
    number = columns.categories.number(category)
    selected["category"] = np.full(len(ranges), number, np.int32)
    columns.ops.add(**selected)


def _add_launches(columns: EventColumns, ranges: Table) -> None:
    if not len(ranges):
        return
    columns.launches.add(**{name: ranges[name] for name in _LAUNCH_COLUMNS})


def _add_device_ranges(columns: EventColumns, ranges: Table) -> None:
    if not len(ranges):
        return
    selected = {name: ranges[name] for name in _DEVICE_COLUMNS}
    places = columns.places.values()
    moved = np.full(len(places), -1, np.int32)
    for place in np.unique(ranges["place"]).tolist():
        moved[place] = columns.places.number(_device_place(columns, places[place]))
    selected["place"] = moved[ranges["place"]]
    columns.device.add(**selected)


def _device_place(columns: EventColumns, place: tuple[str | None, Id, Id]) -> tuple[str, Id, Id]:
    """The category, the number of the device, and the stream of device work without a category."""
    _, pid, tid = place
    if not is_ascend(columns):
        return "", pid, tid
    number = _NUMBER.search(columns.process_labels.get(pid, ""))
    stream = columns.thread_names.get((pid, tid), str(tid))
    return ASCEND, int(number[0]) if number else None, stream.removeprefix("Stream ")

"""What an event of a trace is: an op, a launch, a kernel, ..., told by its phase and category.

Categories are those of PyTorch's own list (`libkineto/src/ActivityType.cpp`, up to torch 2.14), the
names that torch 1.8 and 1.9 gave them, and those of torch_npu.
"""

from __future__ import annotations

from enum import Enum, auto

ANNOTATION = "user_annotation"
"""The category of named ranges of the user's."""


class EventKind(Enum):
    """What an event is to the importer."""

    OP = auto()
    """A range on a host thread: an op, or a named range."""
    FRAME = auto()
    """A call of a Python function."""
    COLLECTION = auto()
    """A run of Python's garbage collector."""
    LAUNCH = auto()
    """A call of the accelerator's host library."""
    DEVICE = auto()
    """Work on an accelerator."""
    PLAIN = auto()
    """A range without a category: the process says what it is."""
    MEMORY = auto()
    """An allocation or a release."""
    ARROW = auto()
    """One end of an arrow between two events."""
    MARK = auto()
    """The begin or the end of a range, each an event of its own."""
    NAME = auto()
    """The name of a process or a thread."""
    IGNORED = auto()
    UNKNOWN = auto()


_OPS = frozenset(("cpu_op", "operator", ANNOTATION))
_DEVICE = frozenset(
    (
        "kernel",
        "concurrent_kernel",
        "gpu_memcpy",
        "gpu_memset",
        "memcpy",
        "memset",
        "mtia_ccp_events",
        "hpu_op",
    )
)
_LAUNCH_ENDINGS = ("runtime", "_driver")
_QUEUE = ("enqueue", "dequeue")
"""torch_npu's task queue: one thread puts a launch in, another takes it out."""
_IGNORED = frozenset(
    (
        "trace",
        "gpu_user_annotation",
        "overhead",
        "collective_comm",
        "external_correlation",
        "hardware_counters",
    )
)
_IGNORED_ENDINGS = (
    "_sync",
    "_event",
    "_insight",
    "_counters",
    "_profiler",
    "_profiler_range",
    "_workloadd",
)

BACKWARD_ARROWS = frozenset(("fwdbwd", "forward_backward"))
DEVICE_ARROWS = frozenset(("cpu_to_cuda", "async_npu", "hosttodevice"))
"""Arrows from the host to device work, in traces whose kernels name no launch."""


def event_kind(phase: str, category: str | None) -> EventKind:
    """The kind of an event with this `ph` and `cat`."""
    known = (category or "").lower()
    if phase == "X":
        return _range_kind(known)
    if phase in ("B", "E"):
        return EventKind.MARK
    if phase == "M":
        return EventKind.NAME
    if phase in ("i", "I") and known in ("cpu_instant_event", ""):
        return EventKind.MEMORY
    if phase in ("s", "f") and known in BACKWARD_ARROWS | DEVICE_ARROWS:
        return EventKind.ARROW
    return EventKind.IGNORED


def _range_kind(category: str) -> EventKind:
    if category in _OPS:
        return EventKind.OP
    if category == "python_function":
        return EventKind.FRAME
    if category in _DEVICE:
        return EventKind.DEVICE
    if category.endswith(_LAUNCH_ENDINGS) or category in _QUEUE:
        return EventKind.LAUNCH
    if not category:
        return EventKind.PLAIN
    if category == "gc":
        return EventKind.COLLECTION
    # torch's Python exporter (`use_python_export`) gives instants the rest of the profile as duration.
    if category == "cpu_instant_event":
        return EventKind.MEMORY
    if category in _IGNORED or category.endswith(_IGNORED_ENDINGS):
        return EventKind.IGNORED
    return EventKind.UNKNOWN

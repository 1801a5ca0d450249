"""The profile record: nodes, where they belong, and what their executions cost.

Every index column holds positions in another group, -1 for none. A column `<group>_end` makes rows of a flat group
belong to nodes: those of node i are `[end[i-1], end[i])`. Trees (scopes, traces, callers) are parent columns in which a
parent stands before its children.
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
from stepscope.pb import profile_pb2

I8 = NDArray[np.int8]


class NodeKind(IntEnum):
    """What a node stands for."""

    OP = 0
    SCOPE = 1
    """A named range of the user's: record_function, a profiler step, a module."""
    DEVICE = 2
    """Work on an accelerator: a kernel, copy or set. Its caller is the op that launched it."""
    RUNTIME = 3
    """A call of the accelerator's host library."""


class InputKind(IntEnum):
    """What an input edge carries."""

    DATA = 0
    CONTROL = 1


class LinkKind(IntEnum):
    """Why one node leads to another, beside inputs and callers."""

    LAUNCH = 0
    FORWARD_BACKWARD = 1


class LaneKind(IntEnum):
    """Whose time a lane holds."""

    HOST = 0
    ACCELERATOR = 1
    OTHER = 2
    """Recorded, but in no total: per-stream copies of accelerator time, transfers."""


@dataclass(frozen=True, eq=False)
class Nodes(Group):
    """One row per node: a graph node, or for nested sources a distinct call path."""

    name: I32 = column("int32", "The node's full name, in strings")
    op: I32 = column("int32", "The op, in strings; -1: the first of its op_types", default=-1)
    scope: I32 = column("int32", "The node's own entry in scopes", default=-1)
    kind: I8 = column("int8", "NodeKind", default=0)
    device: I32 = column("int32", "Canonical device, in strings", default=-1)
    trace: I32 = column("int32", "Innermost call site, in traces", default=-1)
    caller: I32 = column("int32", "The node that called this one, in nodes", default=-1)
    parameters: I64 = column("int64", "Number of parameters", default=0)
    float_ops: I64 = column("int64", "Float operations of one run", default=0)
    shape: I32 = column("int32", "Shape of the variable that the node holds, in shapes", default=-1)
    input_shape: I32 = column(
        "int32", "Input shapes as the source prints them, in strings", default=-1
    )
    op_type_end: I64 = column("int64", "End of the node's rows in op_types", default=0)
    input_end: I64 = column("int64", "End of the node's rows in inputs", default=0)
    output_end: I64 = column("int64", "End of the node's rows in outputs", default=0)


@dataclass(frozen=True, eq=False)
class OpTypes(Group):
    """The types of nodes, for accounting: the op first, then the device and custom types as the source lists them."""

    type: I32 = column("int32", "In strings")


@dataclass(frozen=True, eq=False)
class Inputs(Group):
    """The inputs of nodes, in input order."""

    source: I32 = column("int32", "The node that produces the input, in nodes")
    slot: I32 = column("int32", "Which output of the source, -1 when unknown", default=0)
    kind: I8 = column("int8", "InputKind", default=0)


@dataclass(frozen=True, eq=False)
class Outputs(Group):
    """The output slots of nodes."""

    shape: I32 = column("int32", "In shapes", default=-1)
    bytes: I64 = column("int64", "Bytes of the output tensor, -1 when unknown", default=-1)


@dataclass(frozen=True, eq=False)
class Shapes(Group):
    """Distinct tensor shapes."""

    rank: I32 = column("int32", "Number of dimensions, -1 when unknown")
    dim_end: I64 = column("int64", "End of the shape's rows in dims")


@dataclass(frozen=True, eq=False)
class Dims(Group):
    """Dimensions of shapes."""

    size: I64 = column("int64", "Elements along the dimension, -1 when unknown")


@dataclass(frozen=True, eq=False)
class Scopes(Group):
    """The scope tree. The path of an entry is its ancestors' names and its own; in TensorFlow names joined by '/'."""

    parent: I32 = column("int32", "In scopes, -1 at the top")
    name: I32 = column("int32", "The last component, in strings")
    kind: I8 = column("int8", "NodeKind of what the entry groups", default=0)


@dataclass(frozen=True, eq=False)
class Frames(Group):
    """Distinct lines of code."""

    file: I32 = column("int32", "Full path, in strings")
    line: I32 = column("int32", "Line number", default=0)
    function: I32 = column("int32", "Function name, in strings", default=-1)
    first_line: I32 = column(
        "int32", "Line at which the function starts, 0 when unknown", default=0
    )


@dataclass(frozen=True, eq=False)
class Traces(Group):
    """The tree of call stacks, outermost frame at the top."""

    parent: I32 = column("int32", "In traces, -1 at the top")
    frame: I32 = column("int32", "In frames")


@dataclass(frozen=True, eq=False)
class Devices(Group):
    """The accelerators of the host, where the source describes them."""

    name: I32 = column("int32", "As in nodes.device, in strings")
    model: I32 = column("int32", "The product, in strings", default=-1)
    memory_bytes: I64 = column("int64", "Memory of the device, 0 when unknown", default=0)
    compute_major: I32 = column("int32", "Compute capability, before the dot", default=0)
    compute_minor: I32 = column("int32", "Compute capability, behind the dot", default=0)
    multiprocessors: I32 = column(
        "int32", "Streaming multiprocessors or compute units, 0 when unknown", default=0
    )
    multiprocessor_threads: I32 = column(
        "int32", "Most threads on one of them, 0 when unknown", default=0
    )


@dataclass(frozen=True, eq=False)
class Lanes(Group):
    """Where executions run: a thread of a host, or a stream of a device."""

    device: I32 = column("int32", "In strings")
    name: I32 = column("int32", "Thread or stream, in strings", default=-1)
    kind: I8 = column("int8", "LaneKind", default=0)


@dataclass(frozen=True, eq=False)
class Steps(Group):
    """The profiled training steps, in order of time where it is known."""

    id: I64 = column("int64", "The training step's number")
    name: I32 = column("int32", "As the source calls it, in strings", default=-1)
    start_ticks: I64 = column("int64", "Relative to the header's anchor", default=0)
    duration_ticks: I64 = column("int64", "0 when unknown", default=0)


@dataclass(frozen=True, eq=False)
class NodeSteps(Group):
    """What a node cost in one step: sums over its executions. At most one row per node and step."""

    node: I32 = column("int32", "In nodes")
    step: I32 = column("int32", "In steps, -1 outside every step", default=-1)
    run_count: I64 = column("int64", "How often it was called or scheduled", default=0)
    host_ticks: I64 = column("int64", "Host time without what it called", default=0)
    host_total_ticks: I64 = column("int64", "Host time with what it called", default=0)
    accelerator_ticks: I64 = column("int64", "Accelerator time of the node itself", default=0)
    start_ticks: I64 = column("int64", "First start", default=0)
    end_ticks: I64 = column("int64", "Last end", default=0)
    requested_bytes: I64 = column("int64", "Allocated", default=0)
    peak_bytes: I64 = column("int64", "Most held at once", default=0)
    residual_bytes: I64 = column("int64", "Still held at the end", default=0)
    output_bytes: I64 = column("int64", "Of all outputs", default=0)
    bytes_in_use: I64 = column("int64", "Of the allocator, highest seen", default=0)
    uncounted_host_ticks: I64 = column(
        "int64", "Host time that tfprof leaves out: on other devices", default=0
    )
    uncounted_accelerator_ticks: I64 = column(
        "int64", "The same of accelerators: copies, TPUs", default=0
    )
    shared_host_ticks: I64 = column(
        "int64", "Of host_ticks: what is of modules inside, and theirs too", default=0
    )
    enclosed_host_ticks: I64 = column(
        "int64", "Of a module's host_ticks: what an op or range shares", default=0
    )


@dataclass(frozen=True, eq=False)
class Executions(Group):
    """Single executions, or sums of `count` of them."""

    node: I32 = column("int32", "In nodes")
    step: I32 = column("int32", "In steps, -1 outside every step", default=-1)
    lane: I32 = column("int32", "In lanes", default=-1)
    start_ticks: I64 = column("int64", "Relative to the header's anchor", default=0)
    duration_ticks: I64 = column("int64", "With what it called", default=0)
    self_ticks: I64 = column("int64", "Without what it called", default=0)
    count: I32 = column("int32", "Executions in this row", default=1)
    launch: I32 = column(
        "int32", "The call that launched it, in executions, -1 for none", default=-1
    )
    forward: I32 = column(
        "int32", "The call that it is the backward pass of, in executions, -1 for none", default=-1
    )


@dataclass(frozen=True, eq=False)
class Allocations(Group):
    """Allocator events: memory taken and given back."""

    node: I32 = column("int32", "The node during which it happened, in nodes", default=-1)
    step: I32 = column("int32", "In steps, -1 outside every step", default=-1)
    device: I32 = column("int32", "In strings", default=-1)
    allocator: I32 = column("int32", "In strings", default=-1)
    time_ticks: I64 = column("int64", "Relative to the header's anchor")
    delta_bytes: I64 = column("int64", "Negative for a release", default=0)
    total_bytes: I64 = column("int64", "Allocated after the event, -1 when unknown", default=-1)
    reserved_bytes: I64 = column("int64", "Reserved after the event, -1 when unknown", default=-1)
    address: I64 = column("int64", "The 64-bit address, as signed", default=0)


@dataclass(frozen=True, eq=False)
class Links(Group):
    """Edges beside inputs and callers."""

    source: I32 = column("int32", "In nodes")
    target: I32 = column("int32", "In nodes")
    kind: I8 = column("int8", "LinkKind", default=0)
    count: I64 = column("int64", "How often", default=1)


@dataclass(frozen=True, eq=False)
class Communications(Group):
    """Executions that communicate, where the source says what with whom. Ranks pair by these."""

    execution: I32 = column("int32", "In executions")
    collective: I32 = column("int32", "Such as allreduce or send, in strings", default=-1)
    group: I32 = column("int32", "Name of the process group, in strings", default=-1)
    ranks: I32 = column(
        "int32", "Global ranks of the group as the source prints them, in strings", default=-1
    )
    sequence: I64 = column("int64", "Number of the call in its group, -1 when unknown", default=-1)
    input_elements: I64 = column("int64", "Elements of the input, -1 when unknown", default=-1)
    output_elements: I64 = column("int64", "Elements of the output, -1 when unknown", default=-1)
    dtype: I32 = column("int32", "Type of the elements, in strings", default=-1)
    group_size: I32 = column("int32", "Ranks in the group, 0 when unknown", default=0)
    source: I32 = column("int32", "Sending rank in the group, -1 where none is", default=-1)
    destination: I32 = column("int32", "Receiving rank in the group, -1 where none is", default=-1)


@dataclass(frozen=True, eq=False)
class Attributes(Group):
    """What else the source says of a node."""

    node: I32 = column("int32", "In nodes")
    key: I32 = column("int32", "In strings")
    value: I32 = column("int32", "In strings")


@dataclass(frozen=True)
class Profile(Record):
    """A profile.

    Attributes:
        tick_ps: Picoseconds per tick of every `*_ticks` column.
        nested: Whether an execution's time contains what it called, so that totals follow the caller tree.
        has_traces: Whether the source records call stacks.
        strings: Every text, by index.
    """

    KIND: ClassVar[str] = "profile"
    SCHEMA: ClassVar[int] = 1
    MESSAGE = profile_pb2.Profile

    tick_ps: int = 1000
    nested: bool = False
    has_traces: bool = False
    strings: Strings = field(default_factory=Strings)
    nodes: Nodes = field(default_factory=Nodes)
    op_types: OpTypes = field(default_factory=OpTypes)
    inputs: Inputs = field(default_factory=Inputs)
    outputs: Outputs = field(default_factory=Outputs)
    shapes: Shapes = field(default_factory=Shapes)
    dims: Dims = field(default_factory=Dims)
    scopes: Scopes = field(default_factory=Scopes)
    frames: Frames = field(default_factory=Frames)
    traces: Traces = field(default_factory=Traces)
    devices: Devices = field(default_factory=Devices)
    lanes: Lanes = field(default_factory=Lanes)
    steps: Steps = field(default_factory=Steps)
    node_steps: NodeSteps = field(default_factory=NodeSteps)
    executions: Executions = field(default_factory=Executions)
    allocations: Allocations = field(default_factory=Allocations)
    links: Links = field(default_factory=Links)
    attributes: Attributes = field(default_factory=Attributes)
    communications: Communications = field(default_factory=Communications)

    def validate(self) -> None:
        """Raises RecordError where lengths, indices, kinds, trees or offsets do not hold together."""
        super().validate()
        if self.tick_ps <= 0:
            raise _broken("tick_ps", f"a tick of {self.tick_ps} ps")
        for group, name, target in _REFERENCES:
            _check_index(self, group, name, target)
        for group, name, words in _WORDS:
            _check_word(self, group, name, words)
        for group, name in _TREES:
            _check_tree(self, group, name)
        for group, name, target in _OFFSETS:
            _check_offsets(self, group, name, target)
        _check_unique_rows(self)


_REFERENCES = (
    ("nodes", "name", "strings"),
    ("nodes", "op", "strings"),
    ("nodes", "scope", "scopes"),
    ("nodes", "device", "strings"),
    ("nodes", "trace", "traces"),
    ("nodes", "shape", "shapes"),
    ("nodes", "input_shape", "strings"),
    ("op_types", "type", "strings"),
    ("inputs", "source", "nodes"),
    ("outputs", "shape", "shapes"),
    ("scopes", "name", "strings"),
    ("frames", "file", "strings"),
    ("frames", "function", "strings"),
    ("traces", "frame", "frames"),
    ("devices", "name", "strings"),
    ("devices", "model", "strings"),
    ("lanes", "device", "strings"),
    ("lanes", "name", "strings"),
    ("steps", "name", "strings"),
    ("node_steps", "node", "nodes"),
    ("node_steps", "step", "steps"),
    ("executions", "node", "nodes"),
    ("executions", "step", "steps"),
    ("executions", "lane", "lanes"),
    ("executions", "launch", "executions"),
    ("executions", "forward", "executions"),
    ("allocations", "node", "nodes"),
    ("allocations", "step", "steps"),
    ("allocations", "device", "strings"),
    ("allocations", "allocator", "strings"),
    ("links", "source", "nodes"),
    ("links", "target", "nodes"),
    ("attributes", "node", "nodes"),
    ("attributes", "key", "strings"),
    ("attributes", "value", "strings"),
    ("communications", "execution", "executions"),
    ("communications", "collective", "strings"),
    ("communications", "group", "strings"),
    ("communications", "ranks", "strings"),
    ("communications", "dtype", "strings"),
)
_OWNERS = frozenset(
    (
        ("node_steps", "node"),
        ("executions", "node"),
        ("attributes", "node"),
        ("links", "source"),
        ("links", "target"),
        ("communications", "execution"),
    )
)
"""References of rows that tell of a node: there must be one."""
_WORDS: tuple[tuple[str, str, type[IntEnum]], ...] = (
    ("nodes", "kind", NodeKind),
    ("inputs", "kind", InputKind),
    ("scopes", "kind", NodeKind),
    ("lanes", "kind", LaneKind),
    ("links", "kind", LinkKind),
)
_TREES = (("nodes", "caller"), ("scopes", "parent"), ("traces", "parent"))
_OFFSETS = (
    ("nodes", "op_type_end", "op_types"),
    ("nodes", "input_end", "inputs"),
    ("nodes", "output_end", "outputs"),
    ("shapes", "dim_end", "dims"),
)


def _broken(place: str, found: str) -> RecordError:
    return RecordError(
        found, where=f"profile record, {place}", remedy="Report this to whoever wrote the record"
    )


def _check_index(profile: Profile, group: str, name: str, target: str) -> None:
    values, size = getattr(getattr(profile, group), name), len(getattr(profile, target))
    lowest = 0 if (group, name) in _OWNERS else -1
    if len(values) and (int(values.min()) < lowest or int(values.max()) >= size):
        bad = int(np.argmax((values < lowest) | (values >= size)))
        raise _broken(
            f"{group}.{name}[{bad}]", f"index {int(values[bad])}, but {target} has {size} rows"
        )


def _check_word(profile: Profile, group: str, name: str, words: type[IntEnum]) -> None:
    values = getattr(getattr(profile, group), name)
    wrong = (values < 0) | (values >= len(words))
    if wrong.any():
        bad = int(np.argmax(wrong))
        raise _broken(f"{group}.{name}[{bad}]", f"{int(values[bad])} is no {words.__name__}")


def _check_tree(profile: Profile, group: str, name: str) -> None:
    parent = getattr(getattr(profile, group), name)
    wrong = (parent < -1) | (parent >= np.arange(len(parent)))
    if wrong.any():
        bad = int(np.argmax(wrong))
        raise _broken(
            f"{group}.{name}[{bad}]", f"parent {int(parent[bad])} does not stand before its child"
        )


def _check_offsets(profile: Profile, group: str, name: str, target: str) -> None:
    end, size = getattr(getattr(profile, group), name), len(getattr(profile, target))
    last = int(end[-1]) if len(end) else 0
    if last != size or (len(end) and (int(end[0]) < 0 or bool((np.diff(end) < 0).any()))):
        raise _broken(f"{group}.{name}", f"end offsets do not divide the {size} rows of {target}")


def _check_unique_rows(profile: Profile) -> None:
    rows = profile.node_steps
    key = rows.node.astype(np.int64) * (len(profile.steps) + 1) + rows.step
    # Rows come in order, or in a few runs of it: a stable sort joins them ten times faster than a table of all keys.
    ordered = np.sort(key, kind="stable")
    if bool((ordered[1:] == ordered[:-1]).any()):
        raise _broken("node_steps", "two rows for one node and step")

"""The tables of a profile under construction: nodes, scopes, traces, shapes and the graph."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from stepscope.model.arrays import I64
from stepscope.model.columns import StringBuilder
from stepscope.model.profile import (
    Dims,
    Frames,
    Inputs,
    NodeKind,
    Nodes,
    OpTypes,
    Outputs,
    Scopes,
    Shapes,
    Traces,
)
from stepscope.sources.xplane.ops import Frame, OpInfo, ProgramOps
from stepscope.sources.xplane.shapes import Shape


@dataclass
class Tables:
    """Collects rows; equal ones are kept once."""

    strings: StringBuilder = field(default_factory=StringBuilder)
    _nodes: list[tuple[OpInfo, int, int]] = field(default_factory=list)
    _launchers: dict[tuple[str, str], int] = field(default_factory=dict)
    _stand_ins: set[int] = field(default_factory=set)
    _scopes: dict[tuple[int, str], tuple[int, NodeKind]] = field(default_factory=dict)
    _traces: dict[tuple[int, int], int] = field(default_factory=dict)
    _frames: dict[Frame, int] = field(default_factory=dict)
    _shapes: dict[tuple[int, ...], int] = field(default_factory=dict)

    @property
    def has_traces(self) -> bool:
        """Whether anything says where in the code it comes from."""
        return bool(self._traces)

    def trace(self, parent: int, frames: Sequence[Frame]) -> int:
        """The trace of frames below another one, outermost first; the other one where there are none."""
        for frame in frames:
            number = self._frames.setdefault(frame, len(self._frames))
            parent = self._traces.setdefault((parent, number), len(self._traces))
        return parent

    def node(self, info: OpInfo, caller: int, trace: int) -> int:
        """Adds a node."""
        self._nodes.append((info, caller, trace))
        number = len(self._nodes) - 1
        if info.kind is NodeKind.OP:
            self._launchers.setdefault((info.name, ""), number)
            self._launchers.setdefault((info.name, info.device), number)
        return number

    def launcher(self, info: OpInfo) -> int:
        """The node of an op that launched device work: the host's own op of that name, or a node that stands for it."""
        host_op = self._launchers.get((info.name, ""))
        if host_op is not None and not info.program:
            return host_op
        known = self._launchers.get((info.name, info.device))
        if known is None:
            known = self.node(info, -1, self.trace(-1, info.frames))
            self._stand_ins.add(known)
        return known

    def stand_in_of(self, node: I64) -> I64:
        """For each node the op that only stands for it and its like, -1 where there is none."""
        callers = [caller if caller in self._stand_ins else -1 for _, caller, _ in self._nodes]
        column: I64 = np.array([*callers, -1], np.int64)[node]
        return column

    def output_bytes(self, node: I64) -> I64:
        """Bytes of the outputs of nodes, 0 where unknown."""
        sizes = [(info.shape.bytes or 0) if info.shape else 0 for info, _, _ in self._nodes]
        column: I64 = np.array(sizes, np.int64)[node]
        return column

    def groups(self, programs: Mapping[int, ProgramOps]) -> dict[str, Any]:
        """The groups of the profile record; call last, when all rows are in."""
        nodes, op_types = self._node_rows()
        outputs, output_end = self._output_rows()
        inputs, input_end = self._input_rows(programs)
        columns: dict[str, Any] = {
            name: np.array(values, np.int64) for name, values in nodes.items()
        }
        return {
            "nodes": Nodes(**columns, output_end=output_end, input_end=input_end),
            "op_types": OpTypes(type=np.array(op_types, np.int32)),
            "outputs": outputs,
            "inputs": inputs,
            **self._shape_rows(),
            "scopes": self._scope_rows(),
            "traces": Traces(**_columns(list(self._traces), "parent", "frame")),
            "frames": self._frame_rows(),
            "strings": self.strings.build(),
        }

    def _node_rows(self) -> tuple[dict[str, list[int]], list[int]]:
        op_types: list[int] = []
        rows: dict[str, list[int]] = {name: [] for name in _NODE_COLUMNS}
        for info, caller, trace in self._nodes:
            kind = info.kind or NodeKind.OP
            device = self.strings(info.device)
            own = self.strings(info.types[0]) if info.types else self.strings(info.name)
            op_types += [own, device, *(self.strings(t) for t in info.types[1:])]
            values = (
                self.strings(info.name),
                own,
                self._scope(
                    (*info.scope, info.name.rpartition("/")[2] if info.scope else info.name), kind
                ),
                kind,
                device,
                trace,
                caller,
                info.float_ops,
                len(op_types),
            )
            for name, value in zip(_NODE_COLUMNS, values, strict=True):
                rows[name].append(value)
        return rows, op_types

    def _scope(self, path: Sequence[str], kind: NodeKind) -> int:
        parent = -1
        for depth, name in enumerate(path):
            own = kind if depth == len(path) - 1 else NodeKind.SCOPE
            parent = self._scopes.setdefault((parent, name), (len(self._scopes), own))[0]
        return parent

    def _scope_rows(self) -> Scopes:
        rows = [
            (parent, self.strings(name), kind) for (parent, name), (_, kind) in self._scopes.items()
        ]
        return Scopes(**_columns(rows, "parent", "name", "kind"))

    def _frame_rows(self) -> Frames:
        rows = [
            (self.strings(file), line, self.strings(function) if function else -1)
            for file, line, function in self._frames
        ]
        return Frames(**_columns(rows, "file", "line", "function"))

    def _output_rows(self) -> tuple[Outputs, I64]:
        rows: list[tuple[int, int]] = []
        ends = []
        for info, _, _ in self._nodes:
            slots = () if info.shape is None else info.shape.parts or (info.shape,)
            rows += [
                (self._shape(slot), -1 if slot.bytes is None else slot.bytes) for slot in slots
            ]
            ends.append(len(rows))
        return Outputs(**_columns(rows, "shape", "bytes")), np.array(ends, np.int64)

    def _shape(self, shape: Shape) -> int:
        if shape.parts is not None:
            return -1
        return self._shapes.setdefault(shape.dimensions, len(self._shapes))

    def _shape_rows(self) -> dict[str, Any]:
        ranks = np.array([len(dims) for dims in self._shapes], np.int32)
        sizes = np.array([size for dims in self._shapes for size in dims], np.int64)
        return {"shapes": Shapes(rank=ranks, dim_end=np.cumsum(ranks)), "dims": Dims(size=sizes)}

    def _input_rows(self, programs: Mapping[int, ProgramOps]) -> tuple[Inputs, I64]:
        """Operands among the executed instructions of the same program on the same device."""
        executed: dict[tuple[str, int], dict[str, int]] = {}
        for number, (info, _, _) in enumerate(self._nodes):
            if info.program:
                executed.setdefault((info.device, info.program[0]), {}).setdefault(
                    info.program[1], number
                )
        sources: list[int] = []
        ends = []
        for info, _, _ in self._nodes:
            known = programs.get(info.program[0]) if info.program else None
            if info.program and known:
                sources += known.operands(info.program[1], executed[info.device, info.program[0]])
            ends.append(len(sources))
        return Inputs(source=np.array(sources, np.int32)), np.array(ends, np.int64)


_NODE_COLUMNS = (
    "name",
    "op",
    "scope",
    "kind",
    "device",
    "trace",
    "caller",
    "float_ops",
    "op_type_end",
)


def _columns(rows: Sequence[tuple[int, ...]], *names: str) -> dict[str, Any]:
    table = np.array(rows, np.int64).reshape(-1, len(names))
    return {name: table[:, i] for i, name in enumerate(names)}

"""What is known of single rows beside their figures: devices, shapes, graph nodes, code, inputs and outputs."""

from __future__ import annotations

from typing import Any

from stepscope.lenses.views.accounting import RowFigures
from stepscope.lenses.views.layout import Layout
from stepscope.lenses.views.options import Resolved
from stepscope.model.columns import Ints
from stepscope.model.profile import Profile

Shape = list[int] | str


class Details:
    """Answers about rows of a layout, by looking into the profile. Made for few rows at a time."""

    def __init__(self, profile: Profile, layout: Layout, figures: RowFigures, resolved: Resolved) -> None:
        self._profile = profile
        self._layout = layout
        self._figures = figures
        self._resolved = resolved

    def nodes(self, row: int) -> list[int]:
        """The accounted nodes in a row, by name."""
        nodes = self._layout.members(row)
        added = self._figures.accounting.added
        kept: list[int] = nodes[added[nodes]].tolist()
        return kept

    def op_type(self, row: int) -> str:
        """The op of the first node of a row, '' without one."""
        nodes = self._layout.members(row)
        return self.op(int(nodes[0])) if len(nodes) else ""

    def op(self, node: int) -> str:
        """The op of a node."""
        op = int(self._profile.nodes.op[node])
        if op >= 0:
            return self._text(op)
        types = self.types(node)
        if types:
            return types[0]
        return self._text(int(self._profile.nodes.name[node])) if self._profile.nested else ""

    def types(self, node: int) -> list[str]:
        """The op types of a node: op, device and custom types."""
        start, end = _span(self._profile.nodes.op_type_end, node)
        return [self._text(i) for i in self._profile.op_types.type[start:end].tolist()]

    def devices(self, nodes: list[int]) -> list[str]:
        """The devices that nodes ran on, each once, in byte order."""
        ids = {int(self._profile.nodes.device[node]) for node in nodes} - {-1}
        return sorted((self._text(i) for i in ids), key=str.encode)

    def input_shapes(self, node: int) -> dict[str, Shape]:
        """For each input of a node the shape of the output that feeds it, or 'unknown'."""
        inputs = self._profile.inputs
        start, end = _span(self._profile.nodes.input_end, node)
        return {
            str(k): self.output_shape(int(inputs.source[at]), int(inputs.slot[at]))
            for k, at in enumerate(range(start, end))
        }

    def output_shape(self, node: int, slot: int) -> Shape:
        """The shape of an output, 'unknown' where none is recorded."""
        start, end = _span(self._profile.nodes.output_end, node)
        if not 0 <= slot < end - start:
            return "unknown"
        return self.shape(int(self._profile.outputs.shape[start + slot]))

    def shape(self, shape: int) -> Shape:
        """A shape as a list of dimensions, 'unknown' where its rank is."""
        if shape < 0 or self._profile.shapes.rank[shape] < 0:
            return "unknown"
        start, end = _span(self._profile.shapes.dim_end, shape)
        dims: list[int] = self._profile.dims.size[start:end].tolist()
        return dims

    def everything(self, row: int) -> dict[str, Any]:
        """All about a row of the layout; what belongs to one node only where the row has exactly one."""
        nodes = self.nodes(row)
        about: dict[str, Any] = {"devices": self.devices(nodes), "n_graph_nodes": len(nodes)}
        if len(nodes) == 1:
            about |= self._about_node(nodes[0])
        return about

    def _about_node(self, node: int) -> dict[str, Any]:
        start, end = _span(self._profile.nodes.output_end, node)
        outputs = self._profile.outputs
        return {
            "op": self.op(node),
            "op_types": self.types(node),
            "shape": self.shape(int(self._profile.nodes.shape[node])),
            "input_shapes": self.input_shapes(node),
            "inputs": self._inputs(node),
            "outputs": [
                {"slot": k, "shape": self.output_shape(node, k), "bytes": int(outputs.bytes[at])}
                for k, at in enumerate(range(start, end))
            ],
            "code": self.trace(int(self._profile.nodes.trace[node])),
        }

    def _inputs(self, node: int) -> list[dict[str, Any]]:
        inputs = self._profile.inputs
        start, end = _span(self._profile.nodes.input_end, node)
        return [
            {"name": self._node_name(int(inputs.source[at])), "slot": int(inputs.slot[at])} for at in range(start, end)
        ]

    def trace(self, trace: int) -> list[dict[str, Any]]:
        """A call stack, outermost frame first."""
        found = []
        frames = self._profile.frames
        while trace >= 0:
            frame = int(self._profile.traces.frame[trace])
            function = int(frames.function[frame])
            found.append(
                {
                    "file": self._text(int(frames.file[frame])),
                    "line": int(frames.line[frame]),
                    "function": self._text(function) if function >= 0 else "",
                }
            )
            trace = int(self._profile.traces.parent[trace])
        return found[::-1]

    def _node_name(self, node: int) -> str:
        return self._text(int(self._profile.nodes.name[node])) if node >= 0 else ""

    def _text(self, index: int) -> str:
        text: str = self._profile.strings[index]
        return text


def _span(end: Ints, row: int) -> tuple[int, int]:
    return (int(end[row - 1]) if row else 0), int(end[row])

"""What is known of single rows beside their figures: devices, shapes, graph nodes, code, inputs and outputs."""

from __future__ import annotations

from typing import Any

import numpy as np

from stepscope.lenses.views.accounting import RowFigures
from stepscope.lenses.views.layout import Layout
from stepscope.lenses.views.options import Resolved
from stepscope.model.columns import Ints
from stepscope.model.profile import InputKind, LaneKind, LinkKind, Profile

PS_PER_US = 1_000_000
MOST_ROWS = 100
"""How many nodes a row's detail names at most."""

Shape = list[int] | str


class Details:
    """Answers about rows of a layout, by looking into the profile. Made for few rows at a time."""

    def __init__(
        self, profile: Profile, layout: Layout, figures: RowFigures, resolved: Resolved
    ) -> None:
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

    def selected(self, word: str, nodes: list[int]) -> Any:
        """What a word of `select` asks for of the nodes in a row. Input shapes are those of an only node."""
        if word == "device":
            return self.devices(nodes)
        if word == "op_types":
            return sorted({kind for node in nodes for kind in self.types(node)}, key=str.encode)
        if word == "tensor_value":
            return []
        if len(nodes) != 1:
            return {}
        texts = self._text_or_none(int(self._profile.nodes.input_shape[nodes[0]]))
        return self.input_shapes(nodes[0]) or ({"0": texts} if texts else {})

    def input_shapes(self, node: int) -> dict[str, Shape]:
        """For each input of a node the shape of the output that feeds it, or 'unknown'."""
        inputs = self._profile.inputs
        start, end = _span(self._profile.nodes.input_end, node)
        return {
            str(k): self.output_shape(int(inputs.source[at]), int(inputs.slot[at]))
            if self._resolved.tfprof or inputs.kind[at] != InputKind.CONTROL
            else "unknown"
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
        about: dict[str, Any] = {
            "devices": self.devices(nodes),
            "device_times": self.device_times(nodes),
            "n_graph_nodes": len(nodes),
        }
        if len(nodes) == 1:
            return about | self._about_node(nodes[0])
        return about | {"graph_nodes": self._costliest(nodes)}

    def _about_node(self, node: int) -> dict[str, Any]:
        nodes = self._profile.nodes
        return {
            "op": self.op(node),
            "op_types": self.types(node),
            "shape": self.shape(int(nodes.shape[node])),
            "input_shapes": self.input_shapes(node),
            "input_shape": self._text_or_none(int(nodes.input_shape[node])),
            "inputs": self._inputs(node),
            "outputs": self._outputs(node),
            "consumers": self._consumers(node),
            "links": self._links(node),
            "attributes": self._attributes(node),
            "code": self.trace(int(nodes.trace[node])),
        }

    def device_times(self, nodes: list[int]) -> list[dict[str, Any]]:
        """What nodes ran for on each device, from single executions: longest first. Empty where none are kept."""
        calls, lanes = self._profile.executions, self._profile.lanes
        chosen = np.zeros(len(self._profile.nodes), bool)
        chosen[nodes] = True
        rows = chosen[calls.node] & self._figures.nodes.counts_step(calls.step) & (calls.lane >= 0)
        lane = calls.lane[rows]
        ticks, count = np.zeros(len(lanes), np.int64), np.zeros(len(lanes), np.int64)
        np.add.at(ticks, lane, calls.duration_ticks[rows])
        np.add.at(count, lane, calls.count[rows])
        used = np.flatnonzero(count)
        return [
            {
                "device": self._text(int(lanes.device[at])),
                "lane": self._text_or_none(int(lanes.name[at])),
                "kind": LaneKind(int(lanes.kind[at])).name.lower(),
                "micros": int(ticks[at]) * self._profile.tick_ps / PS_PER_US,
                "executions": int(count[at]),
            }
            for at in used[np.argsort(-ticks[used], kind="stable")].tolist()
        ]

    def _costliest(self, nodes: list[int]) -> list[dict[str, Any]]:
        """The nodes of a row that cost the most time themselves."""
        figures = self._figures.nodes
        ticks = figures["exec_micros"][nodes]
        unit = self._profile.tick_ps / PS_PER_US / figures.divisor
        largest = np.argsort(-ticks, kind="stable")[:MOST_ROWS].tolist()
        return [
            {"name": self._node_path(nodes[at]), "exec_micros": int(ticks[at]) * unit}
            for at in largest
        ]

    def _node_path(self, node: int) -> str:
        """The names of a node's callers and its own."""
        names = [self._node_name(node)]
        while (node := int(self._profile.nodes.caller[node])) >= 0:
            names.append(self._node_name(node))
        return " > ".join(reversed(names))

    def _inputs(self, node: int) -> list[dict[str, Any]]:
        inputs = self._profile.inputs
        start, end = _span(self._profile.nodes.input_end, node)
        return [
            {"name": self._node_name(int(inputs.source[at])), "slot": int(inputs.slot[at])}
            for at in range(start, end)
        ]

    def _outputs(self, node: int) -> list[dict[str, Any]]:
        start, end = _span(self._profile.nodes.output_end, node)
        size = self._profile.outputs.bytes[start:end].tolist()
        return [
            {
                "slot": slot,
                "shape": self.output_shape(node, slot),
                "bytes": None if size[slot] < 0 else size[slot],
            }
            for slot in range(end - start)
        ]

    def _consumers(self, node: int) -> list[dict[str, Any]]:
        """The nodes that take an output of a node, in the order of the record."""
        inputs = self._profile.inputs
        rows = np.flatnonzero(inputs.source == node)[:MOST_ROWS]
        owners = np.searchsorted(self._profile.nodes.input_end, rows, side="right")
        slots = inputs.slot[rows].tolist()
        return [
            {"name": self._node_name(at), "slot": slot}
            for at, slot in zip(owners.tolist(), slots, strict=True)
        ]

    def _links(self, node: int) -> list[dict[str, Any]]:
        """The nodes that a node leads to or comes from, beside inputs and callers."""
        links = self._profile.links
        rows = np.flatnonzero((links.source == node) | (links.target == node))[:MOST_ROWS].tolist()
        found = []
        for at in rows:
            leads = int(links.source[at]) == node
            other = int(links.target[at] if leads else links.source[at])
            kind = LinkKind(int(links.kind[at])).name.lower()
            found.append(
                {
                    "kind": kind,
                    "to": leads,
                    "name": self._node_name(other),
                    "count": int(links.count[at]),
                }
            )
        return found

    def _attributes(self, node: int) -> dict[str, str]:
        rows = np.flatnonzero(self._profile.attributes.node == node)
        keys, values = (
            self._profile.attributes.key[rows].tolist(),
            self._profile.attributes.value[rows].tolist(),
        )
        return {self._text(key): self._text(value) for key, value in zip(keys, values, strict=True)}

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

    def _text_or_none(self, index: int) -> str | None:
        return self._text(index) if index >= 0 else None

    def _text(self, index: int) -> str:
        text: str = self._profile.strings[index]
        return text


def _span(end: Ints, row: int) -> tuple[int, int]:
    return (int(end[row - 1]) if row else 0), int(end[row])

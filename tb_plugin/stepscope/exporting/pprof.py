"""The code view as a gzipped pprof profile: one sample per graph node, with the lines of code that made it.

tfprof's profile has locations for calls only, so that top rows have none, and no samples of nodes in rows that have
rows below them. Both are here unless tfprof's ways are asked for.
"""

from __future__ import annotations

import gzip
from collections.abc import Iterator

import numpy as np

from stepscope.errors import OptionError
from stepscope.lenses.views import ViewResult
from stepscope.lenses.views.code_layout import GRADIENT, forward_nodes
from stepscope.lenses.views.fields import OWN_FIELDS, FieldSpec
from stepscope.lenses.views.options import ORDER_FIELDS
from stepscope.model.columns import Ints
from stepscope.pb import pprof_pb2

_COMMENTS = {
    "bytes": "Sum of operation total memory requests, excluding deallocations.",
    "peak_bytes": "Sum of operation peak memory usage.",
    "residual_bytes": "Sum of operation allocated memory after finish.",
    "output_bytes": "Sum of operation output size.",
    "micros": "Sum of accelerator execution time and cpu execution time.",
    "accelerator_micros": "Accelerator execution time.",
    "cpu_micros": "CPU execution time.",
    "params": "Model parameters.",
    "float_ops": "Model float operations (Only available if defined).",
}
_LABEL = "graph node:"


def to_pprof(result: ViewResult) -> bytes:
    """The profile of a code view, gzipped. The one selected figure is its value; time where several are selected.

    Raises:
        OptionError: The view is not the code view, or tfprof's ways are asked for and not one figure is selected.
    """
    if result.view != "code":
        raise OptionError(
            f"the {result.view} view has no pprof profile",
            where="pprof",
            remedy="Ask for the code view",
        )
    return gzip.compress(_Profile(result, _figure(result)).message().SerializeToString(), mtime=0)


def _figure(result: ViewResult) -> str:
    chosen = result.resolved.options.select or ()
    if len(chosen) == 1 and chosen[0] in ORDER_FIELDS:
        return chosen[0]
    if result.resolved.tfprof:
        raise OptionError(
            f"select is {','.join(chosen)!r}",
            where="pprof",
            remedy=f"Select one of {', '.join(ORDER_FIELDS)}",
        )
    return "micros"


def _frames(result: ViewResult) -> Ints:
    """The frame of each row of the layout: that of the node that comes to the row first. -1 for rows without one."""
    profile, layout = result.profile, result.layout
    forward = forward_nodes(profile)
    is_orphan = forward < -1
    maker = np.where(forward >= 0, forward, np.arange(len(forward)))
    order = np.lexsort((layout.node_rank()[maker], forward >= 0))
    trace = np.where(is_orphan, -1, profile.nodes.trace[maker]).tolist()
    above = profile.traces.parent.tolist()
    parent, rows = layout.tree.parent.tolist(), layout.row_of_node.tolist()
    found = [-1] * len(layout)
    for node in order.tolist():
        row, at = rows[node], trace[node]
        while row > 0 and at >= 0 and found[row] < 0:
            found[row] = int(profile.traces.frame[at])
            row, at = parent[row], above[at]
    return np.array(found, np.int64)


class _Profile:
    """Builds the message."""

    def __init__(self, result: ViewResult, word: str) -> None:
        self.result = result
        self.word = word
        self.spec = next(spec for spec in OWN_FIELDS if spec.name == ORDER_FIELDS[word])
        self.tfprof = result.resolved.tfprof
        self.is_time = self.spec.unit == "us" and not self.tfprof
        self.frame = _frames(result)[result.rows]
        self.layout_parent = result.layout.tree.parent
        self._message = pprof_pb2.Profile()
        self._texts: dict[str, int] = {"": 0}
        self._functions: dict[tuple[str, str], int] = {}
        self._locations: dict[tuple[int, str, int], int] = {}

    def message(self) -> pprof_pb2.Profile:
        """The whole message."""
        message, text = self._message, self._text
        unit = (
            "nanoseconds"
            if self.is_time
            else {"us": "microseconds", "bytes": "bytes"}.get(self.spec.unit, "count")
        )
        for kind, kind_unit in (("count", "count"), (self.word, unit)):
            message.sample_type.add(type=text(kind), unit=text(kind_unit))
        message.comment.append(text(_COMMENTS[self.word]))
        stacks = self._stacks()
        for row, node in self._members():
            sample = message.sample.add(
                location_id=stacks[row], value=[1, self._value(self.spec, node)]
            )
            name = self.result.profile.strings[int(self.result.profile.nodes.name[node])]
            sample.label.add(key=text(_LABEL), str=text(name))
        message.string_table.extend(self._texts)
        return message

    def _value(self, spec: FieldSpec, node: int) -> int:
        value = self.result.node_figure(spec, node)
        return round(value * 1000) if self.is_time else int(value)

    def _members(self) -> Iterator[tuple[int, int]]:
        """Each node to be sampled, with the displayed row that it belongs to."""
        details = self.result.details
        owner = self._owner()
        for row in range(len(self.result.layout)):
            if owner[row] >= 0:
                yield from ((owner[row], node) for node in details.nodes(row))

    def _owner(self) -> list[int]:
        """For each row of the layout the displayed row that its nodes are samples of, -1 for none."""
        result = self.result
        displayed = np.full(len(result.layout), -1, np.int64)
        displayed[result.rows] = np.arange(len(result.rows))
        owner: list[int] = displayed.tolist()
        for row, parent in enumerate(self.layout_parent.tolist()):
            if owner[row] < 0 and parent >= 0:
                owner[row] = owner[parent]
        if not self.tfprof:
            return owner
        is_inner = np.zeros(len(result.layout), bool)
        is_inner[self.layout_parent[1:]] = True
        has_rows = np.zeros(len(result.rows), bool)
        has_rows[result.parent[1:]] = True
        has_rows[0] = True
        return [
            -1 if is_inner[row] or has_rows[shown] else shown for row, shown in enumerate(owner)
        ]

    def _stacks(self) -> list[list[int]]:
        """The locations of each displayed row, the innermost first."""
        stacks: list[list[int]] = [[]]
        for row in range(1, len(self.result)):
            parent = int(self.result.parent[row])
            location = self._location(row, parent)
            stacks.append([*([location] if location else []), *stacks[parent]])
        return stacks

    def _location(self, row: int, parent: int) -> int:
        """The place of a row: its own line; for tfprof the line that calls it, and none for a top row."""
        frames = self.result.profile.frames
        own, line_of = int(self.frame[row]), int(self.frame[parent if self.tfprof else row])
        if own < 0 or line_of < 0 or (self.tfprof and not parent):
            return 0
        line, name = int(frames.line[line_of]), self._function_name(row, own)
        # tfprof tells calls apart by the calling line and the called name, wherever what is called is defined.
        owner = int(frames.file[line_of]) if self.tfprof else self._function(name, own)
        key = (owner, name, line)
        number = self._locations.get(key)
        if number is None:
            number = self._locations[key] = len(self._locations) + 1
            self._message.location.add(id=number).line.add(
                function_id=self._function(name, own), line=line
            )
        return number

    def _function_name(self, row: int, frame: int) -> str:
        function = int(self.result.profile.frames.function[frame])
        suffix = GRADIENT if self.result.names([row])[0].endswith(GRADIENT) else ""
        return f"{self.result.profile.strings[function] if function >= 0 else ''}{suffix}"

    def _function(self, function: str, frame: int) -> int:
        frames, strings = self.result.profile.frames, self.result.profile.strings
        path = strings[int(frames.file[frame])]
        file = path.rpartition("/")[2]
        name = f"{file[: file.rfind('.')] if '.' in file else file}:{function}"
        key = (path, name)
        number = self._functions.get(key)
        if number is None:
            number = self._functions[key] = len(self._functions) + 1
            text = self._text(name)
            start = int(frames.first_line[frame])
            self._message.function.add(
                id=number, name=text, system_name=text, filename=self._text(path), start_line=start
            )
        return number

    def _text(self, text: str) -> int:
        return self._texts.setdefault(text, len(self._texts))

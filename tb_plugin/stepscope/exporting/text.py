"""A view as text, as tfprof writes it to a file: the legend, then one line per row, indented by depth."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from stepscope.lenses.views import ViewResult
from stepscope.lenses.views.fields import OWN_FIELDS
from stepscope.lenses.views.tfprof_units import memory_text, number_text, percent, time_text

Format = Callable[[Any], str]

_TITLES = {
    "params": "# parameters",
    "float_ops": "# float_ops",
    "bytes": "requested bytes",
    "peak_bytes": "peak bytes",
    "residual_bytes": "residual bytes",
    "output_bytes": "output bytes",
    "micros": "total execution time",
    "accelerator_micros": "accelerator execution time",
    "cpu_micros": "cpu execution time",
    "device": "assigned devices",
    "op_types": "op types",
    "occurrence": "op occurrence (run|defined)",
    "input_shapes": "input shapes",
}


@dataclass(frozen=True)
class _Figure:
    """A figure that can be selected: its field, how it is printed, and the words behind it in trees and the op view."""

    field: str
    format: Format
    word: str = ""
    op_word: str = ""


_FIGURES = {
    "params": _Figure("parameters", number_text, " params", " params"),
    "float_ops": _Figure("float_ops", number_text, " flops", " float_ops"),
    "bytes": _Figure("requested_bytes", memory_text),
    "peak_bytes": _Figure("peak_bytes", memory_text),
    "residual_bytes": _Figure("residual_bytes", memory_text),
    "output_bytes": _Figure("output_bytes", memory_text),
    "micros": _Figure("exec_micros", time_text),
    "accelerator_micros": _Figure("accelerator_exec_micros", time_text),
    "cpu_micros": _Figure("cpu_exec_micros", time_text),
}
_NAME_BYTES = 25
_COUNTS = ("params", "float_ops")
_MEMORY = ("bytes", "peak_bytes", "residual_bytes", "output_bytes")
_TIMES = ("micros", "accelerator_micros", "cpu_micros")
_SETS = ("device", "op_types", "occurrence", "input_shapes")


def to_text(result: ViewResult) -> str:
    """The text of a view, from the legend on. The options' `select` says which columns it has."""
    return "".join(_lines(result))


def columns(result: ViewResult) -> tuple[str, ...]:
    """The selected columns in the order in which tfprof prints them. `micros` stands for all three times."""
    grouped = result.view in ("op", "code")
    order = (
        (*_MEMORY, *_TIMES, *_COUNTS, *_SETS) if grouped else (*_COUNTS, *_MEMORY, *_TIMES, *_SETS)
    )
    chosen = set(result.resolved.options.select or ())
    if "micros" in chosen:
        chosen |= set(_TIMES)
    return tuple(word for word in order if word in chosen)


def _lines(result: ViewResult) -> Iterator[str]:
    chosen = columns(result)
    titles = dict(_TITLES)
    if result.view in ("scope", "graph"):
        titles["occurrence"] = "op count (run|defined)"
    yield f"node name | {' | '.join(titles[word] for word in chosen)}\n"
    if not len(result):
        return
    printer = _OpPrinter(result, chosen) if result.view == "op" else _TreePrinter(result, chosen)
    for row in range(1 if result.view == "op" else 0, len(result)):
        yield printer.line(row)


class _Printer:
    """What all views share: names and figures of rows."""

    def __init__(self, result: ViewResult, chosen: tuple[str, ...]) -> None:
        self.result = result
        self.chosen = chosen
        self.names = result.paths(range(len(result)))
        fields = [_FIGURES[word].field for word in chosen if word in _FIGURES]
        self.own = {field: result.column(field).tolist() for field in fields}
        self.total = {field: result.column(f"total_{field}").tolist() for field in fields}

    def members(self, row: int) -> list[int]:
        """The accounted nodes in a row itself."""
        return self.result.details.nodes(int(self.result.rows[row]))

    def joined(self, row: int, word: str) -> str:
        """The devices or op types of the nodes in a row, each once. A node that never ran has the device ''."""
        details = self.result.details
        nodes = self.members(row)
        if word == "device":
            texts = {device for node in nodes for device in details.devices([node]) or [""]}
        else:
            texts = {kind for node in nodes for kind in details.types(node)}
        return "|".join(sorted(texts, key=str.encode))


class _TreePrinter(_Printer):
    """Lines of the scope, graph and code views."""

    def __init__(self, result: ViewResult, chosen: tuple[str, ...]) -> None:
        super().__init__(result, chosen)
        self.depth = result.depth.tolist()
        self.accounted = result.accounted.tolist()
        self.is_code = result.view == "code"
        self.counts: dict[str, list[int]] = {}
        if "occurrence" in chosen and not self.is_code:
            names = ("run_count", "total_run_count", "total_definition_count")
            self.counts = {name: result.column(name).tolist() for name in names}

    def line(self, row: int) -> str:
        parts = [part for word in self.chosen for part in self.parts(row, word)]
        return f"{'  ' * self.depth[row]}{self.names[row]} ({', '.join(parts)})\n"

    def parts(self, row: int, word: str) -> list[str]:
        if word in _FIGURES:
            return [*self.variable_shape(row, word), self.figure(row, _FIGURES[word])]
        if self.is_code:
            return self.code_set(row, word)
        if word == "occurrence":
            return [self.occurrence(row)]
        return self.node_set(row, word)

    def figure(self, row: int, figure: _Figure) -> str:
        own = figure.format(self.own[figure.field][row]) if row and self.accounted[row] else "--"
        return f"{own}/{figure.format(self.total[figure.field][row])}{figure.word}"

    def variable_shape(self, row: int, word: str) -> list[str]:
        node = self.node(row)
        if word != "params" or self.is_code or node is None:
            return []
        shape = self.result.details.shape(int(self.result.profile.nodes.shape[node]))
        return [] if isinstance(shape, str) else ["x".join(map(str, shape))]

    def node(self, row: int) -> int | None:
        """The node that a row of the scope or graph view stands for, accounted or not."""
        nodes = self.result.layout.members(int(self.result.rows[row]))
        return int(nodes[0]) if len(nodes) else None

    def node_set(self, row: int, word: str) -> list[str]:
        node, details = self.node(row), self.result.details
        if node is None:
            synthetic = "_kTFScopeParent" if self.result.view == "scope" else "_TFGraphParent"
            return {"device": [], "op_types": [synthetic], "input_shapes": [""]}[word]
        if word == "device":
            return details.devices([node])
        if word == "op_types":
            return ["|".join(sorted(set(details.types(node)), key=str.encode))]
        return ["|".join(_shape_texts(details.input_shapes(node)))]

    def code_set(self, row: int, word: str) -> list[str]:
        if word in ("occurrence", "input_shapes"):
            return [f"{word} N/A in code view"]
        return [self.joined(row, word)] if word == "op_types" or self.members(row) else []

    def occurrence(self, row: int) -> str:
        counted = bool(row) and self.accounted[row]
        runs, definitions = (
            (number_text(self.counts["run_count"][row]), "1") if counted else ("--", "--")
        )
        total_runs, total_definitions = (
            number_text(self.counts[f"total_{w}_count"][row]) for w in ("run", "definition")
        )
        return f"{runs}/{total_runs}|{definitions}/{total_definitions}"


class _OpPrinter(_Printer):
    """Lines of the op view: aligned columns, with each figure's share of the whole."""

    def line(self, row: int) -> str:
        parts = [self.part(row, word) for word in self.chosen if word != "input_shapes"]
        name = self.names[row]
        text = f"{name}{' ' * (_NAME_BYTES - len(name.encode()))}{', '.join(parts)}\n"
        shapes = self.input_shapes(row) if "input_shapes" in self.chosen else ""
        return f"{text}\n{shapes}\n\n" if shapes else text

    def part(self, row: int, word: str) -> str:
        if word in _FIGURES:
            return f"{self.figure(row, word):>30}"
        if word == "occurrence":
            nodes = self.members(row)
            runs = sum(self.of_node("run_count", node) for node in nodes)
            return f"{f'{runs}|{len(nodes)}':>10}"
        return self.joined(row, word)

    def figure(self, row: int, word: str) -> str:
        figure = _FIGURES[word]
        own, total, whole = (
            self.own[figure.field][row],
            self.total[figure.field][row],
            self.total[figure.field][0],
        )
        known = own if word in _MEMORY else total
        shares = (percent(total, whole), percent(own, whole)) if known > 0 else (0.0, 0.0)
        return f"{figure.format(own)}{figure.op_word} ({shares[0]:.2f}%, {shares[1]:.2f}%)"

    def of_node(self, field: str, node: int) -> int | float:
        spec = next(spec for spec in OWN_FIELDS if spec.name == field)
        return self.result.node_figure(spec, node)

    def input_shapes(self, row: int) -> str:
        """One line for each distinct set of input shapes, the most often run first."""
        found: dict[str, list[Any]] = {}
        for node in self.members(row):
            text = "input_type: " + ",\t".join(_shape_texts(self.result.details.input_shapes(node)))
            counts = found.setdefault(text, [0, 0, 0])
            counts[0] += self.of_node("run_count", node)
            counts[1] += 1
            counts[2] += self.of_node("exec_micros", node)
        ordered = sorted(sorted(found.items()), key=lambda item: -item[1][0])
        return "\n".join(
            f"{text}\t(run*{runs}|defined*{defined})\texec_time: {time_text(micros)}"
            for text, (runs, defined, micros) in ordered
        )


def _shape_texts(shapes: dict[str, Any]) -> list[str]:
    return [f"{k}:{s if isinstance(s, str) else 'x'.join(map(str, s))}" for k, s in shapes.items()]

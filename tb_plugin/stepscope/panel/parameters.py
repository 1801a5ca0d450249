"""What the routes take beside the options of the lenses: which record, which shape of answer, and which part of it."""

from __future__ import annotations

from typing import Any

from stepscope.lenses.options import OptionSpec
from stepscope.panel.documents import VIEW_SHAPES
from stepscope.panel.export import FORMATS
from stepscope.panel.trace_documents import SHAPES
from stepscope.session.options import TABLES
from stepscope.version import __version__

ROUTE = "/data/plugin/stepscope/"
RECORD = (
    OptionSpec("run", "str", "", "Run name or pattern"),
    OptionSpec("name", "str", "", "Record name"),
    OptionSpec("record_step", "int", None, "Training step of the record", optional=True),
)
COMPARED = (*RECORD, OptionSpec("compare", "str", "", "Run to compare with"))
_SHAPE = OptionSpec(
    "shape",
    "str",
    "rows",
    "What to answer: rows of the view, an icicle of it, one row (node), who calls it; or of the single executions",
    (*VIEW_SHAPES, *SHAPES),
)
_WINDOW = (
    OptionSpec("start_ps", "int", None, "timeline, memory: start of the window, relative to the anchor", optional=True),
    OptionSpec("end_ps", "int", None, "timeline, memory: its end", optional=True),
    OptionSpec("width_px", "int", 1000, "icicle, timeline, memory: what the answer is as fine as"),
    OptionSpec("device", "str", "", "memory: whose ops and blocks to list; the one with the highest peak by default"),
    OptionSpec("least_bytes", "int", 0, "memory: leaves smaller blocks out"),
    OptionSpec("by", "str", "", "kernels: tells those of one name apart by op and launch", ("", "launch")),
    OptionSpec("path", "str", "", "order: the scope whose parts are put in order of time; the top by default"),
    OptionSpec("id", "int", 0, "node, callers: the row; event: the execution"),
)
VIEWS = (
    _SHAPE,
    OptionSpec("depth", "int", 1, "rows: rows to this depth are open"),
    OptionSpec("toggled", "str", "", "rows: ids whose openness is flipped, with commas"),
    OptionSpec("below", "str", "", "rows: ids of which all below is open, with commas"),
    OptionSpec("offset", "int", 0, "rows: the first visible row"),
    OptionSpec("limit", "int", 100, "rows: how many, at most 500; of a comparison at most 5000"),
    OptionSpec("sort", "str", "", "rows: a figure or `name`, `-` before it for descending"),
    OptionSpec("search", "str", "", "rows: text, or /regex/, /regex/i"),
    OptionSpec("match", "int", 0, "rows: the match to go to"),
    OptionSpec("root", "int", 0, "rows, icicle: the row to start from"),
    OptionSpec("metric", "str", "", "icicle, callers: the total; by default that of the resource"),
    OptionSpec("levels", "int", 50, "icicle: how many are drawn"),
    *_WINDOW,
)
EXPORT = (
    OptionSpec("lens", "str", "views", "Whose rows", tuple(TABLES)),
    OptionSpec("format", "str", "csv", "Of the file; all but csv and json are of views", FORMATS),
    OptionSpec(
        "shape",
        "str",
        "",
        "Of the single executions of a profile, instead of a lens",
        ("", *SHAPES),
    ),
    *_WINDOW,
)


def openapi() -> dict[str, Any]:
    """The OpenAPI description of the routes, made from the option tables."""
    takes: dict[str, tuple[OptionSpec, ...]] = {}
    for lens, table in TABLES.items():
        windows = VIEWS if lens == "views" else ()
        takes[lens] = (*COMPARED, *windows, *table)
    exported = {spec.name: spec for table in TABLES.values() for spec in table}
    exported |= {spec.name: spec for spec in EXPORT}
    takes["index"] = ()
    takes["options"] = ()
    takes["findings"] = COMPARED
    takes["summary"] = COMPARED
    takes["export"] = (*COMPARED, *exported.values())
    paths = {ROUTE + name: _path(name, parameters) for name, parameters in takes.items()}
    return {"openapi": "3.0.3", "info": {"title": "StepScope", "version": __version__}, "paths": paths}


_RESPONSES = {
    "200": {"description": "The document"},
    "400": {"description": "A wrong option"},
    "404": {"description": "No such run, record or row"},
    "413": {"description": "More than can be answered"},
    "422": {"description": "A record that cannot be read"},
}
_TYPES = {"int": "integer", "float": "number", "str": "string", "bool": "boolean", "strings": "array"}


def _path(name: str, parameters: tuple[OptionSpec, ...]) -> dict[str, Any]:
    described = [_parameter(spec) for spec in parameters]
    return {"get": {"operationId": name, "parameters": described, "responses": _RESPONSES}}


def _parameter(spec: OptionSpec) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": _TYPES[spec.type]}
    if spec.type == "strings":
        schema["items"] = {"type": "string"}
    if spec.choices:
        schema["enum"] = list(spec.choices)
    if spec.default not in (None, "", ()):
        schema["default"] = spec.default
    return {"name": spec.name, "in": "query", "required": False, "schema": schema, "description": spec.help}

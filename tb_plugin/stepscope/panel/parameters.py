"""What the routes take beside the options of the lenses, and their OpenAPI description."""

from __future__ import annotations

from typing import Any

from stepscope.lenses.options import OptionSpec
from stepscope.panel.documents import VIEW_SHAPES
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
    name="shape",
    type="str",
    default="rows",
    help="Response shape: rows, icicle, node, callers, or a table of the trace (see the trace route)",
    choices=(*VIEW_SHAPES, *SHAPES),
)
_WINDOW = (
    OptionSpec(
        "start_ps",
        "int",
        None,
        "timeline, memory: window start, relative to the anchor",
        optional=True,
    ),
    OptionSpec("end_ps", "int", None, "timeline, memory: window end", optional=True),
    OptionSpec(
        "width_px",
        "int",
        1000,
        "icicle, timeline, memory: target width in pixels (sets the resolution)",
    ),
    OptionSpec(
        "device",
        "str",
        "",
        "memory: device whose ops and blocks are listed (default: highest peak)",
    ),
    OptionSpec("least_bytes", "int", 0, "memory: leave out smaller blocks"),
    OptionSpec(
        "by",
        "str",
        "",
        "kernels: one row per name, or per op and launch parameters",
        ("", "launch"),
    ),
    OptionSpec(
        "path",
        "str",
        "",
        "order: scope whose parts are listed by their first start (default: the top)",
    ),
    OptionSpec("id", "int", 0, "node, callers: row; event: execution"),
)
VIEWS = (
    _SHAPE,
    OptionSpec("depth", "int", 1, "rows: rows down to this depth are expanded"),
    OptionSpec("toggled", "str", "", "rows: comma-separated ids of rows to expand or collapse"),
    OptionSpec(
        "below",
        "str",
        "",
        "rows: comma-separated ids of rows to expand (minus: collapse) with all below",
    ),
    OptionSpec("offset", "int", 0, "rows: first visible row"),
    OptionSpec("limit", "int", 100, "rows: number of rows, at most 500; comparison: at most 5000"),
    OptionSpec("sort", "str", "", "rows: metric or `name`, `-` in front for descending"),
    OptionSpec("search", "str", "", "rows: text, or /regex/, /regex/i"),
    OptionSpec("match", "int", 0, "rows: match to go to"),
    OptionSpec("root", "int", 0, "rows, icicle: row to start from"),
    OptionSpec("metric", "str", "total_exec_micros", "icicle, callers: metric"),
    OptionSpec("levels", "int", 50, "icicle: number of levels"),
    *_WINDOW,
)
EXPORT = (
    OptionSpec("lens", "str", "views", "Lens whose rows are exported", tuple(TABLES)),
    OptionSpec("format", "str", "csv", "File format", ("csv", "json")),
    OptionSpec("shape", "str", "", "Table of the trace instead of a lens", ("", *SHAPES)),
    *_WINDOW,
)

_RESPONSES = {
    "200": {"description": "The document"},
    "400": {"description": "Invalid option"},
    "404": {"description": "Run, record or row not found"},
    "413": {"description": "Response too large"},
    "422": {"description": "Unreadable record"},
}
_TYPES = {
    "int": "integer",
    "float": "number",
    "str": "string",
    "bool": "boolean",
    "strings": "array",
}


def openapi() -> dict[str, Any]:
    """The OpenAPI description of the routes, made from the option tables."""
    takes: dict[str, tuple[OptionSpec, ...]] = {}
    for lens, table in TABLES.items():
        windows = VIEWS if lens == "views" else ()
        takes[lens] = (*COMPARED, *windows, *table)
    takes["index"] = ()
    takes["options"] = ()
    takes["findings"] = COMPARED
    takes["summary"] = COMPARED
    takes["export"] = (*COMPARED, *_export_parameters())
    return {
        "openapi": "3.0.3",
        "info": {"title": "StepScope", "version": __version__},
        "paths": {ROUTE + name: _path(name, parameters) for name, parameters in takes.items()},
    }


def _export_parameters() -> list[OptionSpec]:
    """Those of the file, and the options of all lenses, each name once."""
    parameters: dict[str, OptionSpec] = {}
    for table in TABLES.values():
        parameters |= {spec.name: spec for spec in table}
    parameters |= {spec.name: spec for spec in EXPORT}
    return list(parameters.values())


def _path(name: str, parameters: tuple[OptionSpec, ...]) -> dict[str, Any]:
    get = {
        "operationId": name,
        "parameters": [_parameter(spec) for spec in parameters],
        "responses": _RESPONSES,
    }
    return {"get": get}


def _parameter(spec: OptionSpec) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": _TYPES[spec.type]}
    if spec.type == "strings":
        schema["items"] = {"type": "string"}
    if spec.choices:
        schema["enum"] = list(spec.choices)
    if spec.default not in (None, "", ()):
        schema["default"] = spec.default
    return {
        "name": spec.name,
        "in": "query",
        "required": False,
        "schema": schema,
        "description": spec.help,
    }

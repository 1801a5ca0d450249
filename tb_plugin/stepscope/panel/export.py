"""All rows of a lens as a file to download."""

from __future__ import annotations

import re
from typing import NamedTuple

import msgspec

from stepscope.errors import OptionError
from stepscope.exporting.csv import to_csv
from stepscope.exporting.tables import document_rows
from stepscope.lenses.registry import lens_named
from stepscope.panel.request import Query
from stepscope.panel.trace_documents import COMPARED_SHAPES, SHAPES, trace_values

_JSON = "application/json; charset=utf-8"
_TABLES = ("csv", "json")
FORMATS = (*_TABLES, "text", "timeline", "pprof", "speedscope")
"""Files of a view: the tables, and what `stepscope views --output` writes."""


class ExportedFile(NamedTuple):
    """A file to download."""

    content: bytes
    content_type: str
    name: str


def export_file(query: Query) -> ExportedFile:
    """The rows of the query's lens with its options.

    Raises:
        OptionError: Unknown lens, or a format that the lens does not have.
    """
    lens = lens_named(query.text("lens", "views"))
    form = query.text("format", "csv")
    shape = query.text("shape")
    baseline = query.baseline()
    has_files = lens.name == "views" and not shape and baseline is None
    known = FORMATS if has_files else _TABLES
    if form not in known:
        raise OptionError(
            f"unknown format {form!r}", where="export", remedy=f"Choose from: {', '.join(known)}"
        )
    if form not in _TABLES:
        return _view_file(query, form)

    if shape in SHAPES:
        lens = lens_named("trace")
        values = trace_values(query, shape)
        baseline = baseline if shape in COMPARED_SHAPES else None
    else:
        values = query.options(lens.name)
    document = query.selected().ask(lens, values, baseline).to_json()

    name = _file_name(shape or lens.name, query.text("run") or "all")
    if form == "json":
        content = msgspec.json.encode(document)
        return ExportedFile(content, _JSON, f"{name}.json")
    rows = document_rows(lens, document, lens.options_type(**values))
    return ExportedFile(to_csv(rows).encode(), "text/csv; charset=utf-8", f"{name}.csv")


def _view_file(query: Query, form: str) -> ExportedFile:
    """A view in a form of the command's `--output`."""
    view = query.selected().views(**query.options("views"))
    name = _file_name("views", query.text("run") or "all")
    if form == "text":
        return ExportedFile(view.to_text().encode(), "text/plain; charset=utf-8", f"{name}.txt")
    if form == "pprof":
        return ExportedFile(view.to_pprof(), "application/gzip", f"{name}.pb.gz")
    if form == "speedscope":
        return ExportedFile(
            msgspec.json.encode(view.to_speedscope()), _JSON, f"{name}.speedscope.json"
        )
    events = []
    for trace in view.to_timeline().values():
        events += trace["traceEvents"]
    return ExportedFile(msgspec.json.encode({"traceEvents": events}), _JSON, f"{name}.trace.json")


def _file_name(subject: str, run: str) -> str:
    title = f"stepscope-{subject}-{run}"
    return re.sub(r"[^\w.-]+", "-", title, flags=re.ASCII).strip("-")

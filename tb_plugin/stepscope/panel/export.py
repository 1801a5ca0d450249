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


class ExportedFile(NamedTuple):
    """A file to download."""

    content: bytes
    content_type: str
    name: str


def export_file(query: Query) -> ExportedFile:
    """The rows of the query's lens with its options.

    Raises:
        OptionError: Unknown lens, or a format other than csv and json.
    """
    lens = lens_named(query.text("lens", "views"))
    form = query.text("format", "csv")
    if form not in ("csv", "json"):
        raise OptionError(f"unknown format {form!r}", where="export", remedy="Choose from: csv, json")

    shape = query.text("shape")
    baseline = query.baseline()
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
        return ExportedFile(content, "application/json; charset=utf-8", f"{name}.json")
    rows = document_rows(lens, document, lens.options_type(**values))
    return ExportedFile(to_csv(rows).encode(), "text/csv; charset=utf-8", f"{name}.csv")


def _file_name(subject: str, run: str) -> str:
    title = f"stepscope-{subject}-{run}"
    return re.sub(r"[^\w.-]+", "-", title, flags=re.ASCII).strip("-")

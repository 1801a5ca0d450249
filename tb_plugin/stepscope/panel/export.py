"""All rows of a lens as a file to keep."""

from __future__ import annotations

import re
from typing import Any

import msgspec

from stepscope.errors import OptionError
from stepscope.exporting.csv import to_csv
from stepscope.exporting.tables import document_rows
from stepscope.exporting.trace_tables import shape_rows
from stepscope.panel.request import Query
from stepscope.panel.trace_documents import SHAPES, answer
from stepscope.session.source import require_lens


def export_file(query: Query) -> tuple[bytes, str, str]:
    """The rows of the query's lens with its options.

    Returns:
        The bytes, the content type and a file name.

    Raises:
        OptionError: No such lens, or a format other than csv and json.
    """
    lens, form = require_lens(query.text("lens", "views")), query.text("format", "csv")
    if form not in ("csv", "json"):
        raise OptionError(f"format is {form!r}", where="export", remedy="Choose from csv, json")
    shape = query.text("shape")
    title = f"stepscope-{shape or lens}-{query.text('run') or 'all'}"
    named = re.sub(r"[^\w.-]+", "-", title, flags=re.ASCII).strip("-")
    document = _document(query, lens, shape)
    if form == "json":
        return msgspec.json.encode(document), "application/json; charset=utf-8", f"{named}.json"
    rows = shape_rows(shape, document) if shape in SHAPES else document_rows(lens, document)
    return to_csv(rows).encode(), "text/csv; charset=utf-8", f"{named}.csv"


def _document(query: Query, lens: str, shape: str) -> dict[str, Any]:
    """What the lens answers; for a shape what the executions do."""
    if shape in SHAPES:
        return answer(query, shape)
    asked = getattr(query.chosen(), lens)
    document: dict[str, Any] = asked(compare=query.baseline(), **query.options(lens)).to_json()
    return document

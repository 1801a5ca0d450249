"""All rows of a lens as a file to keep."""

from __future__ import annotations

import re

import msgspec

from stepscope.errors import OptionError
from stepscope.exporting.csv import to_csv
from stepscope.queries import documents
from stepscope.queries.asking import require_lens
from stepscope.queries.tables import document_rows


def export_file(query: documents.Query) -> tuple[bytes, str, str]:
    """The rows of the query's lens with its options.

    Returns:
        The bytes, the content type and a file name.

    Raises:
        OptionError: No such lens, or a format other than csv and json.
    """
    lens, form = require_lens(query.text("lens", "views")), query.text("format", "csv")
    if form not in ("csv", "json"):
        raise OptionError(f"format is {form!r}", where="export", remedy="Choose from csv, json")
    document = getattr(query.chosen(), lens)(compare=query.baseline(), **query.options(lens)).to_json()
    named = re.sub(r"[^\w.-]+", "-", f"stepscope-{lens}-{query.text('run') or 'all'}").strip("-")
    if form == "json":
        return msgspec.json.encode(document), "application/json; charset=utf-8", f"{named}.json"
    return to_csv(document_rows(lens, document)).encode(), "text/csv; charset=utf-8", f"{named}.csv"

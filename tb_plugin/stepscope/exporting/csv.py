"""Rows as CSV that a spreadsheet can open without running anything."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping, Sequence
from typing import Any

_RUN_BY_SPREADSHEETS = ("=", "+", "-", "@", "\t", "\r")


def neutral(text: str) -> str:
    """A cell's text, with an apostrophe before it where a spreadsheet would take it for a formula. Numbers stay."""
    if not text.startswith(_RUN_BY_SPREADSHEETS):
        return text
    try:
        float(text)
    except ValueError:
        return "'" + text
    return text


def csv_text(rows: Sequence[Mapping[str, Any]]) -> str:
    """Rows as CSV with a header line; a column for every key of any row, in order of first use."""
    columns = list(dict.fromkeys(name for row in rows for name in row))
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow([neutral(name) for name in columns])
    writer.writerows([neutral(_plain(row.get(name))) for name in columns] for row in rows)
    return file.getvalue()


def _plain(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)

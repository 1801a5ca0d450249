"""Tables as CSV that no spreadsheet runs anything of."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

_RUNS = ("=", "+", "-", "@", "\t", "\r")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")


def neutral(cell: str) -> str:
    """A cell that a spreadsheet shows as text: what it would run as a formula gets an apostrophe before it.

    Numbers stay as they are.
    """
    if cell.startswith(_RUNS) and not _NUMBER.fullmatch(cell):
        return f"'{cell}"
    return cell


def to_csv(rows: Iterable[Mapping[str, Any]], columns: Sequence[str] | None = None) -> str:
    """Rows as CSV with a header line.

    Args:
        rows: The cells of each row by column; None and absent cells are empty.
        columns: The columns, in order; without them those of the rows, in order of first appearance.
    """
    table = list(rows)
    names = list(columns) if columns is not None else list(dict.fromkeys(name for row in table for name in row))
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(map(neutral, names))
    for row in table:
        cells = (row.get(name) for name in names)
        writer.writerow("" if cell is None else neutral(str(cell)) for cell in cells)
    return text.getvalue()

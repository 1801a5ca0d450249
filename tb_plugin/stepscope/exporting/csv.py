"""Tables as CSV in which no cell can act as a formula or start a row.

The rules follow OWASP's page on CSV injection.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

# Full-width signs start a formula too where the spreadsheet runs in Chinese or Japanese.
_FORMULA_START = re.compile(r"\s*[=+\-@＝＋－＠]|[\t\r\n]")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
# A spreadsheet may split at semicolons or tabs, by its locale, and takes any of these for a line end.
_QUOTED = re.compile('[",;\t\r\n\v\f\x1c-\x1e\x85\u2028\u2029]')


def neutral(cell: str) -> str:
    """Returns the cell with an apostrophe before it where a spreadsheet would run it as a formula.

    Numbers stay as they are.
    """
    if _FORMULA_START.match(cell) and not _NUMBER.fullmatch(cell):
        return f"'{cell}"
    return cell


def quoted(cell: str) -> str:
    """Returns the cell in quotes where it holds a character that ends a cell or a row in some spreadsheet."""
    if not _QUOTED.search(cell):
        return cell
    escaped = cell.replace('"', '""')
    return f'"{escaped}"'


def to_csv(rows: Iterable[Mapping[str, Any]], columns: Sequence[str] | None = None) -> str:
    """Formats rows as CSV with a header line.

    Args:
        rows: The cells of each row by column; None and absent cells are empty.
        columns: The columns, in order. Without them: the columns of the rows, in order of first appearance.
    """
    table = list(rows)
    names = list(columns) if columns is not None else _names(table)
    lines = [_line(names)]
    lines.extend(_line([row.get(name) for name in names]) for row in table)
    return "".join(lines)


def _names(table: Sequence[Mapping[str, Any]]) -> list[str]:
    names: dict[str, None] = {}
    for row in table:
        names.update(dict.fromkeys(row))
    return list(names)


def _line(cells: Sequence[Any]) -> str:
    texts = ["" if cell is None else quoted(neutral(str(cell))) for cell in cells]
    # An empty line is no row to a reader.
    if texts == [""]:
        return '""\n'
    return ",".join(texts) + "\n"

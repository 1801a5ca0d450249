"""Results as compact HTML tables in a notebook, and as data frames."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from stepscope.errors import OptionError

MOST_ROWS = 30
MOST_TEXT = 120


class HtmlTable:
    """A result that a notebook shows as a table of its rows."""

    @abstractmethod
    def rows(self) -> list[dict[str, Any]]:
        """Returns the rows, each with the same columns."""

    def _repr_html_(self) -> str:
        """Formats the first rows as a table. Every string is escaped."""
        return html_table(self.rows())


def data_frame(rows: Sequence[Mapping[str, Any]]) -> Any:
    """Returns the rows as a pandas DataFrame.

    Raises:
        OptionError: pandas is not installed.
    """
    try:
        import pandas
    except ModuleNotFoundError as error:
        raise OptionError(
            "a DataFrame is asked for, but pandas is not installed", remedy="pip install pandas"
        ) from error
    return pandas.DataFrame(rows)


def html_table(rows: Sequence[Mapping[str, Any]]) -> str:
    """Formats at most 30 rows as an HTML table, without columns that are empty in every row."""
    if not rows:
        return "<p>(nothing)</p>"
    columns = _used_columns(rows)
    head = "".join(f"<th>{escape(name)}</th>" for name in columns)
    body = ""
    for row in rows[:MOST_ROWS]:
        cells = "".join(_cell(row.get(name)) for name in columns)
        body += f"<tr>{cells}</tr>"
    caption = ""
    if len(rows) > MOST_ROWS:
        caption = f"<caption>{MOST_ROWS} of {len(rows):,} rows</caption>"
    return f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _used_columns(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Returns the columns that some row fills, in order of first appearance."""
    is_used: dict[str, bool] = {}
    for row in rows:
        for name, value in row.items():
            is_empty = value in (None, "", [], {})
            is_used[name] = is_used.get(name, False) or not is_empty
    return [name for name, used in is_used.items() if used]


def _cell(value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, int | float | None):
        text = str(value)
        if len(text) > MOST_TEXT:
            text = text[: MOST_TEXT - 1] + "…"
        return f'<td style="text-align:left;white-space:pre">{escape(text)}</td>'
    if value is None:
        text = "—"
    elif isinstance(value, float):
        text = f"{value:,.3f}"
    else:
        text = f"{value:,}"
    return f'<td style="text-align:right">{text}</td>'

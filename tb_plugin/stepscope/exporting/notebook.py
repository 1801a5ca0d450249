"""Answers as compact tables in a notebook, and as data frames."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from stepscope.errors import OptionError

MOST_ROWS = 30
MOST_TEXT = 120


class HtmlTable:
    """What a notebook shows as a table of its rows."""

    @abstractmethod
    def rows(self) -> list[dict[str, Any]]:
        """The rows, each with the same columns."""

    def _repr_html_(self) -> str:
        """The first rows as a table. Every text is escaped."""
        return html_table(self.rows())


def data_frame(rows: Sequence[Mapping[str, Any]]) -> Any:
    """Rows as a pandas DataFrame.

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
    """Rows as an HTML table of at most 30, without columns that are empty throughout."""
    if not rows:
        return "<p>(nothing)</p>"
    columns = list(dict.fromkeys(name for row in rows for name in row))
    used = [name for name in columns if any(row.get(name) not in (None, "", [], {}) for row in rows)]
    head = "".join(f"<th>{escape(name)}</th>" for name in used)
    body = "".join(f"<tr>{''.join(_cell(row.get(name)) for name in used)}</tr>" for row in rows[:MOST_ROWS])
    more = f"<caption>{MOST_ROWS} of {len(rows):,} rows</caption>" if len(rows) > MOST_ROWS else ""
    return f"<table>{more}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _cell(value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, int | float | None):
        text = str(value)
        short = text if len(text) <= MOST_TEXT else text[: MOST_TEXT - 1] + "…"
        return f'<td style="text-align:left;white-space:pre">{escape(short)}</td>'
    text = "—" if value is None else f"{value:,.3f}" if isinstance(value, float) else f"{value:,}"
    return f'<td style="text-align:right">{text}</td>'

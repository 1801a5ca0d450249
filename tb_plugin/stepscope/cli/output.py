"""Printing results: tables for people, JSON and CSV for programs."""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from stepscope.exporting.csv import to_csv
from stepscope.exporting.tables import (
    comparison_notes,
    comparison_rows,
    document_rows,
    is_comparison,
)
from stepscope.lenses.registry import AnyLens
from stepscope.model.diagnostic import Diagnostic

MAX_TEXT = 60
_LEAST_TEXT = 24
_GAP = 2
_MOST_PROBLEMS = 20
_UNPRINTABLE = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff]")


def print_document(lens: AnyLens, document: Mapping[str, Any], options: Any, form: str) -> None:
    """Prints a lens's document."""
    if form == "json":
        print_json(document)
    elif form == "csv":
        print_rows(document_rows(lens, document, options), form)
    elif is_comparison(document):
        print_rows(comparison_rows(lens, document), form)
        print(*comparison_notes(lens, document), sep="\n")
    elif "sources" in document:
        print_rows(document_rows(lens, document, options), form)
    else:
        first, *others = lens.printed(document, options)
        print_rows(first, form)
        for table in others:
            print()
            print_rows(table, form)


def print_json(document: Any) -> None:
    """Prints a document as JSON."""
    print(msgspec.json.encode(document).decode())


def print_rows(rows: Sequence[dict[str, Any]], form: str) -> None:
    """Prints rows that have the same columns."""
    if form == "json":
        print_json(rows)
    elif form == "csv":
        print(to_csv(rows), end="")
    else:
        _print_table(rows)


@dataclass
class _Column:
    """A column of a printed table. Columns without text are aligned to the right."""

    name: str
    cells: list[str]
    has_text: bool
    width: int

    def padded(self, text: str) -> str:
        """The text in the column's width. Long texts lose their end, deep indentation is shortened."""
        if len(text) > self.width:
            words = text.lstrip()
            indent = min(len(text) - len(words), self.width // 2)
            text = " " * indent + words
        if len(text) > self.width:
            text = text[: self.width - 1] + "…"
        return text.ljust(self.width) if self.has_text else text.rjust(self.width)


def _print_table(rows: Sequence[Mapping[str, Any]]) -> None:
    if not rows:
        print("(nothing)")
        return
    columns = _columns(rows)
    limit = terminal_width()
    _fit(columns, limit)
    fitting = _fitting(columns, limit)
    _print_line(fitting, [column.name for column in fitting], limit)
    for place in range(len(rows)):
        _print_line(fitting, [column.cells[place] for column in fitting], limit)
    hidden = [column.name for column in columns[len(fitting) :]]
    if hidden:
        names = ", ".join(hidden)
        say(f"columns hidden to fit the terminal: {names}. Widen it or use --format csv")


def _columns(rows: Sequence[Mapping[str, Any]]) -> list[_Column]:
    """The columns that have a value in any row."""
    names: dict[str, None] = {}
    for row in rows:
        names.update(dict.fromkeys(row))
    columns = []
    for name in names:
        values = [row.get(name) for row in rows]
        if all(value in (None, "", 0, [], {}) for value in values):
            continue
        cells = [_cell(value) for value in values]
        has_text = any(isinstance(value, str) for value in values)
        width = max(len(name), *(len(cell) for cell in cells))
        columns.append(_Column(name=name, cells=cells, has_text=has_text, width=width))
    return columns


def _print_line(columns: Sequence[_Column], texts: Sequence[str], limit: int | None) -> None:
    padded = [column.padded(text) for column, text in zip(columns, texts, strict=True)]
    print((" " * _GAP).join(padded).rstrip()[:limit])


def terminal_width() -> int | None:
    """The columns of the terminal that is printed to; None where it is none."""
    return shutil.get_terminal_size((200, 24)).columns if sys.stdout.isatty() else None


def _fit(columns: Sequence[_Column], limit: int | None) -> None:
    """Narrows the widest column of text by what the table is too wide, as long as it can still be read."""
    if limit is None:
        return
    excess = sum(column.width for column in columns) + _GAP * (len(columns) - 1) - limit
    with_text = [column for column in columns if column.has_text]
    if excess <= 0 or not with_text:
        return
    widest = max(with_text, key=lambda column: column.width)
    least = min(widest.width, _LEAST_TEXT)
    widest.width = max(widest.width - excess, least)


def _fitting(columns: Sequence[_Column], limit: int | None) -> Sequence[_Column]:
    """The first columns, as many as the terminal has room for, but at least one."""
    if limit is None:
        return columns
    used = -_GAP
    for count, column in enumerate(columns):
        used += _GAP + column.width
        if used > limit:
            return columns[: max(count, 1)]
    return columns


def _cell(value: Any) -> str:
    if value is None:
        return "—"
    if isinstance(value, float):
        return f"{value:,.3f}"
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    text = printable(str(value).expandtabs(1).replace("\n", " "))
    indent = len(text) - len(text.lstrip())
    if len(text) - indent <= MAX_TEXT:
        return text
    return text[: indent + MAX_TEXT - 1] + "…"


def printable(text: str) -> str:
    """The text without what would steer a terminal or cannot be printed: names come from files."""
    return _UNPRINTABLE.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


def say(text: str) -> None:
    """Says something on the error stream."""
    print(f"stepscope: {printable(text)}".rstrip(), file=sys.stderr)


def print_problems(problems: Sequence[Diagnostic]) -> None:
    """Says on the error stream what could not be read."""
    for problem in problems[:_MOST_PROBLEMS]:
        tells_count = problem.count < 2 or str(problem.count) in problem.what
        count = "" if tells_count else f" ({problem.count:,})"
        say(f"{problem.where}: {problem.what}{count}. {problem.remedy}")
    if len(problems) > _MOST_PROBLEMS:
        say(f"and {len(problems) - _MOST_PROBLEMS} more")


def problems_of(answer: Any) -> list[Diagnostic]:
    """What an answer says is not in it. The in-core lens's problems are its result, and not meant."""
    found = getattr(getattr(answer, "result", answer), "problems", ())
    if not isinstance(found, tuple):
        return []
    problems = [
        Diagnostic(**problem) if isinstance(problem, dict) else problem for problem in found
    ]
    return [problem for problem in problems if isinstance(problem, Diagnostic)]

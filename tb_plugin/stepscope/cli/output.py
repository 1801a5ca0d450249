"""Printing results: tables for people, JSON and CSV for programs."""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import Any

import msgspec

from stepscope.exporting.csv import to_csv
from stepscope.exporting.tables import comparison_notes, comparison_rows, document_rows, is_comparison
from stepscope.lenses.registry import AnyLens
from stepscope.model.diagnostic import Diagnostic

MAX_TEXT = 60
_LEAST_TEXT = 24
_GAP = 2
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


def _columns(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    names: dict[str, None] = {}
    for row in rows:
        names.update(dict.fromkeys(row))
    return list(names)


def _print_table(rows: Sequence[Mapping[str, Any]]) -> None:
    if not rows:
        print("(nothing)")
        return
    used = [c for c in _columns(rows) if any(row.get(c) not in (None, "", 0, [], {}) for row in rows)]
    cells = [[_cell(row.get(column)) for column in used] for row in rows]
    right = [all(not isinstance(row.get(c), str) for row in rows) for c in used]
    widths = [max(len(name), *(len(row[i]) for row in cells)) for i, name in enumerate(used)]
    limit = terminal_width()
    _fit(widths, right, limit)
    ends = accumulate(width + _GAP for width in widths)
    fitting = max(1, sum(limit is None or end - _GAP <= limit for end in ends))
    for line in (used, *cells):
        print("  ".join(map(_padded, line[:fitting], widths, right)).rstrip()[:limit])
    if fitting < len(used):
        say(f"left out, see a wider terminal or --format csv: {', '.join(used[fitting:])}")


def _padded(text: str, width: int, right: bool) -> str:
    """A cell of that width. What is too long loses its end, and what is indented deeply some of that."""
    if len(text) > width:
        words = text.lstrip()
        text = " " * min(len(text) - len(words), width // 2) + words
    cut = text if len(text) <= width else text[: width - 1] + "…"
    return cut.rjust(width) if right else cut.ljust(width)


def terminal_width() -> int | None:
    """The columns of the terminal that is printed to; None where it is none."""
    return shutil.get_terminal_size((200, 24)).columns if sys.stdout.isatty() else None


def _fit(widths: list[int], right: Sequence[bool], limit: int | None) -> None:
    """Takes from the widest column of words what a table is too wide by, as long as it can still be read."""
    over = 0 if limit is None else sum(widths) + _GAP * (len(widths) - 1) - limit
    words = [at for at, is_right in enumerate(right) if not is_right]
    if over > 0 and words:
        widest = max(words, key=widths.__getitem__)
        widths[widest] = max(widths[widest] - over, min(widths[widest], _LEAST_TEXT))


def _cell(value: Any) -> str:
    if value is None:
        return "—"
    if isinstance(value, float):
        return f"{value:,.3f}"
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    text = printable(str(value).expandtabs(1).replace("\n", " "))
    indent = len(text) - len(text.lstrip())
    return text if len(text) - indent <= MAX_TEXT else text[: indent + MAX_TEXT - 1] + "…"


def printable(text: str) -> str:
    """The text without what would steer a terminal or cannot be printed: names come from files."""
    return _UNPRINTABLE.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


def say(text: str) -> None:
    """Says something on the error stream."""
    print(f"stepscope: {printable(text)}".rstrip(), file=sys.stderr)


def print_problems(problems: Sequence[Diagnostic]) -> None:
    """Says on the error stream what could not be read."""
    for problem in problems[:20]:
        count = f" ({problem.count:,})" if problem.count > 1 and str(problem.count) not in problem.what else ""
        say(f"{problem.where}: {problem.what}{count}. {problem.remedy}")
    if len(problems) > 20:
        say(f"and {len(problems) - 20} more")


def problems_of(answer: Any) -> list[Diagnostic]:
    """What an answer says is not in it. The in-core lens's problems are its result, and not meant."""
    found = getattr(getattr(answer, "result", answer), "problems", ())
    if not isinstance(found, tuple):
        return []
    problems = [Diagnostic(**problem) if isinstance(problem, dict) else problem for problem in found]
    return [problem for problem in problems if isinstance(problem, Diagnostic)]
